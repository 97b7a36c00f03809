/* SPDX-License-Identifier: Apache-2.0
 *
 * Byte slices, growable buffers with a limit, and lists of strings. Used everywhere. A buffer takes its limit at init;
 * going past it, or running out of memory, makes it *bad*: appends become no-ops and ebb_buf_check tells. Not thread
 * safe.
 */
#ifndef EBB_BASE_BUF_H
#define EBB_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

/* Borrowed bytes, not NUL terminated. */
struct ebb_str {
    const char *p;
    size_t n;
};

#define EBB_STR(literal) ((struct ebb_str){(literal), sizeof(literal) - 1})

static inline struct ebb_str ebb_str_of(const char *text)
{
    struct ebb_str s = {text, strlen(text)};
    return s;
}

static inline bool ebb_str_is_equal(struct ebb_str a, struct ebb_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool ebb_str_has_prefix(struct ebb_str s, struct ebb_str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

/* Byte order, shorter first on a tie; for qsort-like uses. */
int ebb_str_compare(struct ebb_str a, struct ebb_str b);

/* data[0..len) are the bytes; data[len] is always '\0' once anything was appended or ebb_buf_cstr was called. */
struct ebb_buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;
    bool bad;
    bool full; /* bad because of the limit */
};

/* max: greatest length in bytes it may reach. Holds no memory until the first append. */
void ebb_buf_init(struct ebb_buf *b, size_t max);
void ebb_buf_fini(struct ebb_buf *b);
/* Empty it, keep the memory, clear `bad`. */
void ebb_buf_reset(struct ebb_buf *b);
/* Make room for `extra` more bytes. Returns where they go (then add to len), or NULL when bad. */
char *ebb_buf_reserve(struct ebb_buf *b, size_t extra);
void ebb_buf_append(struct ebb_buf *b, const void *bytes, size_t n);
void ebb_buf_add_str(struct ebb_buf *b, struct ebb_str s);
void ebb_buf_puts(struct ebb_buf *b, const char *text);
void ebb_buf_putc(struct ebb_buf *b, char c);
void ebb_buf_printf(struct ebb_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text of the buffer, "" when empty. Borrowed until the next change. */
const char *ebb_buf_cstr(struct ebb_buf *b);
/* The bytes as a slice. Borrowed. */
struct ebb_str ebb_buf_str(const struct ebb_buf *b);
/* Give the memory to the caller (free()), NUL terminated; the buffer is empty afterwards. NULL when bad. */
char *ebb_buf_take(struct ebb_buf *b);
/* 0, or EBB_ELIMIT ("<what>: longer than N bytes") / EBB_ENOMEM when the buffer went bad. */
int ebb_buf_check(const struct ebb_buf *b, const char *what, struct ebb_err *err);

/* A list of owned, NUL terminated strings (which may hold any byte but NUL). */
struct ebb_strs {
    char **items;
    size_t count;
    size_t cap;
};

/* An empty list; _fini frees the strings and may be called twice. */
void ebb_strs_init(struct ebb_strs *s);
void ebb_strs_fini(struct ebb_strs *s);
/* Copies. EBB_ENOMEM only. */
int ebb_strs_add(struct ebb_strs *s, const char *text, struct ebb_err *err);
int ebb_strs_addn(struct ebb_strs *s, const char *bytes, size_t n, struct ebb_err *err);
bool ebb_strs_has(const struct ebb_strs *s, const char *text);
void ebb_strs_sort(struct ebb_strs *s); /* by bytes */

/* Memory that is freed all at once; for parsed documents. */
struct ebb_arena {
    struct ebb_arena_block *blocks;
    size_t used_bytes;
    size_t max_bytes;
};

/* Nothing is allocated yet; _fini frees all that was, and may be called twice. */
void ebb_arena_init(struct ebb_arena *a, size_t max_bytes);
void ebb_arena_fini(struct ebb_arena *a);
/* Zeroed, 16-byte aligned. NULL when memory or the limit is exhausted. */
void *ebb_arena_alloc(struct ebb_arena *a, size_t bytes);
/* NUL terminated copy, or NULL. */
char *ebb_arena_dup(struct ebb_arena *a, const char *bytes, size_t n);

#endif
