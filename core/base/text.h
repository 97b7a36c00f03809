/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for people and for JSON: escaping, UTF-8 checks, base64, and a small streaming JSON writer on a buffer. No
 * state.
 */
#ifndef EBB_BASE_TEXT_H
#define EBB_BASE_TEXT_H

#include "base/buf.h"

/* Append bytes for a terminal or a log line: control characters (C0, DEL, C1), what turns the direction of writing or
 * separates lines in Unicode, and bytes that are not UTF-8 become \xHH, a backslash becomes \\, all else stays. */
void ebb_text_escape(struct ebb_buf *out, const char *bytes, size_t n);
/* Whether the bytes are well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool ebb_text_is_utf8(const char *bytes, size_t n);
/* Append standard base64 with padding. */
void ebb_text_base64(struct ebb_buf *out, const void *bytes, size_t n);
/* Append what the base64 text stands for; false when it is not strict base64. */
bool ebb_text_unbase64(struct ebb_buf *out, const char *text, size_t n);
/* Append lower-case hex. */
void ebb_text_hex(struct ebb_buf *out, const void *bytes, size_t n);
/* Append "1.5 GiB" style size for people. */
void ebb_text_size(struct ebb_buf *out, uint64_t bytes);
/* The number that a text of digits alone stands for; false when it is NULL, anything else, or larger than int64_t. */
bool ebb_text_count(const char *text, int64_t *out);
/* The candidate nearest to `word` within an edit distance of 2 (3 for words over 8 bytes), or NULL: for "did you mean".
 */
const char *ebb_text_nearest(const char *word, const char *const *candidates, size_t count);

/* JSON writer: appends one compact JSON value to a buffer. Commas and quoting are its business; nesting at most
 * EBB_JSONW_DEPTH. Strings must be UTF-8; bytes that are not are replaced by U+FFFD (use ebb_jsonw_path for names). */
#define EBB_JSONW_DEPTH 32

struct ebb_jsonw {
    struct ebb_buf *out;
    int depth;
    bool has_items[EBB_JSONW_DEPTH];
    bool after_key;
};

/* Begin a value in `out` (borrowed); errors show there. Every begin is matched by an end, every value in an object
 * follows a key. */
void ebb_jsonw_init(struct ebb_jsonw *w, struct ebb_buf *out);
void ebb_jsonw_begin(struct ebb_jsonw *w, char open); /* '{' or '[' */
void ebb_jsonw_end(struct ebb_jsonw *w, char close);  /* '}' or ']' */
void ebb_jsonw_key(struct ebb_jsonw *w, const char *key);
void ebb_jsonw_str(struct ebb_jsonw *w, const char *text); /* NULL is written as null */
void ebb_jsonw_strn(struct ebb_jsonw *w, const char *bytes, size_t n);
void ebb_jsonw_int(struct ebb_jsonw *w, int64_t value);
void ebb_jsonw_uint(struct ebb_jsonw *w, uint64_t value);
void ebb_jsonw_bool(struct ebb_jsonw *w, bool value);
void ebb_jsonw_null(struct ebb_jsonw *w);
/* Splice a value that is JSON already. */
void ebb_jsonw_raw(struct ebb_jsonw *w, const char *json, size_t n);
/* Write `"<key>": text`, or `"<key>_b64": base64` when the bytes are not UTF-8 (plan files, orphan-removal.md 3). */
void ebb_jsonw_path(struct ebb_jsonw *w, const char *key, const char *bytes, size_t n);

/* Short forms: key and value at once. */
void ebb_jsonw_kstr(struct ebb_jsonw *w, const char *key, const char *text);
void ebb_jsonw_kint(struct ebb_jsonw *w, const char *key, int64_t value);
void ebb_jsonw_kbool(struct ebb_jsonw *w, const char *key, bool value);

#endif
