/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded JSON pull reader (RFC 8259) over bytes in memory. Integers are exact to 64 bits; a key repeated in one object is an
 * error; depth, total nodes and string lengths are limited. Used for table metadata, Avro schemas, plans and run records. No
 * allocation but one scratch buffer for strings with escapes and one for key hashes. Not thread safe per reader.
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
    EBB_JSON_INT,   /* number = value; an integer that does not fit int64 is EBB_JSON_FLOAT */
    EBB_JSON_FLOAT, /* text = the number as written */
    EBB_JSON_TRUE,
    EBB_JSON_FALSE,
    EBB_JSON_NULL
};

#define EBB_JSON_DEPTH 64

struct ebb_json {
    const char *name; /* for messages: file or thing that is read; borrowed */
    const char *p, *start, *end;
    enum ebb_json_kind kind;
    struct ebb_str text; /* valid until the next call */
    int64_t number;
    size_t token_at;     /* byte offset of the current token */
    /* private: */
    int depth;
    unsigned char state[EBB_JSON_DEPTH];
    size_t key_base[EBB_JSON_DEPTH];
    struct ebb_buf scratch;
    struct ebb_buf keys; /* hashes of the keys of the open objects */
    uint64_t seed;
    bool failed;
};

/* Start reading bytes (borrowed until fini). name is used in messages. Only UTF-8 is read. */
void ebb_json_init(struct ebb_json *j, const char *name, const void *bytes, size_t n);
void ebb_json_fini(struct ebb_json *j);
/* Advance to the next token. EBB_ECORRUPT with offset and reason; after an error every call fails. */
int ebb_json_next(struct ebb_json *j, struct ebb_err *err);
/* Skip the value that the current token begins (or, at a KEY, its value). Afterwards the current token is its last one. */
int ebb_json_skip(struct ebb_json *j, struct ebb_err *err);
/* As ebb_json_skip, and give the bytes of the value as they stand in the document. */
int ebb_json_raw(struct ebb_json *j, struct ebb_str *out, struct ebb_err *err);
/* Make an error of kind EBB_ECORRUPT at the current token: "<name>: offset N: <text>". */
int ebb_json_fail(struct ebb_json *j, struct ebb_err *err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Convenience: read the next token and demand its kind; copy or borrow its value. `what` names the field in messages. */
int ebb_json_expect(struct ebb_json *j, enum ebb_json_kind kind, const char *what, struct ebb_err *err);
int ebb_json_read_int(struct ebb_json *j, const char *what, int64_t *out, struct ebb_err *err);
int ebb_json_read_str(struct ebb_json *j, const char *what, struct ebb_arena *arena, char **out, struct ebb_err *err);
int ebb_json_read_bool(struct ebb_json *j, const char *what, bool *out, struct ebb_err *err);

#endif
