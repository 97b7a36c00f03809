/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded JSON pull reader (RFC 8259) over bytes in memory. Integers are exact to 64 bits; a key repeated in one
 * object is an error; depth and open keys are limited. Used for table metadata, Avro schemas, plans and run records.
 * Strings are checked to be UTF-8 and lone surrogates are errors. Memory: one scratch buffer for a string with escapes,
 * and the hashes of open keys. Not thread safe per reader.
 */
#ifndef EBB_FORMAT_JSON_H
#define EBB_FORMAT_JSON_H

#include "base/buf.h"

enum ebb_json_kind {
    EBB_JSON_END, /* the document is over; nothing but white space followed */
    EBB_JSON_OBJECT,
    EBB_JSON_OBJECT_END,
    EBB_JSON_ARRAY,
    EBB_JSON_ARRAY_END,
    EBB_JSON_KEY, /* text = the key; its value comes next */
    EBB_JSON_STRING,
    EBB_JSON_INT,   /* number = value, text as written; an integer that does not fit int64 is EBB_JSON_FLOAT */
    EBB_JSON_FLOAT, /* text = the number as written */
    EBB_JSON_TRUE,
    EBB_JSON_FALSE,
    EBB_JSON_NULL
};

#define EBB_JSON_DEPTH 64
#define EBB_JSON_MAX_KEYS ((size_t)1 << 20) /* in all objects that are open at one time */

/* Private to the reader: 64-bit hashes of the keys of the open objects, a stack and, once an object is large, a seeded
 * hash set. Two different keys of one object with equal hashes (never by chance) refuse like a repeated key. */
struct ebb_json_keys {
    uint64_t *hashes;
    size_t count, cap;
    uint64_t *slots;
    int slot_bits;
    uint64_t seed;
};

struct ebb_json {
    const char *name; /* for messages: file or thing that is read; borrowed */
    const char *p, *start, *end;
    enum ebb_json_kind kind;
    struct ebb_str text; /* valid until the next call */
    int64_t number;
    size_t token_at; /* byte offset of the current token */
    bool is_cut;     /* reading failed because the bytes end too early, all before was right */
    /* private: */
    int depth;
    unsigned char state[EBB_JSON_DEPTH + 1];
    size_t key_base[EBB_JSON_DEPTH + 1];
    struct ebb_buf scratch;
    struct ebb_json_keys keys;
    bool failed;
};

/* Start reading bytes (borrowed until fini). name is used in messages. Only UTF-8 is read. */
void ebb_json_init(struct ebb_json *j, const char *name, const void *bytes, size_t n);
void ebb_json_fini(struct ebb_json *j);
/* Advance to the next token. EBB_ECORRUPT with offset and reason, EBB_ENOMEM; after an error every call fails. */
int ebb_json_next(struct ebb_json *j, struct ebb_err *err);
/* Skip the value that the current token begins (or, at a KEY, its value). Afterwards the current token is its last one.
 */
int ebb_json_skip(struct ebb_json *j, struct ebb_err *err);
/* As ebb_json_skip, and give the bytes of the value as they stand in the document. */
int ebb_json_raw(struct ebb_json *j, struct ebb_str *out, struct ebb_err *err);
/* Make an error of kind EBB_ECORRUPT at the current token: "<name>: offset N: <text>". */
int ebb_json_fail(struct ebb_json *j, struct ebb_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the text of the current token (KEY, STRING) is exactly this. */
bool ebb_json_is_text(const struct ebb_json *j, const char *text);

/* Convenience: read the next token and demand its kind; copy or borrow its value. `what` names the field in messages. A
 * string that holds NUL is EBB_ECORRUPT for read_str. */
int ebb_json_expect(struct ebb_json *j, enum ebb_json_kind kind, const char *what, struct ebb_err *err);
int ebb_json_read_int(struct ebb_json *j, const char *what, int64_t *out, struct ebb_err *err);
int ebb_json_read_str(struct ebb_json *j, const char *what, struct ebb_arena *arena, char **out, struct ebb_err *err);
int ebb_json_read_bool(struct ebb_json *j, const char *what, bool *out, struct ebb_err *err);

#endif
