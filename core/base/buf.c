/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

int ebb_str_compare(struct ebb_str a, struct ebb_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    if (c)
        return c;
    return a.n < b.n ? -1 : a.n > b.n;
}

void ebb_buf_init(struct ebb_buf *b, size_t max)
{
    memset(b, 0, sizeof *b);
    b->max = max < SIZE_MAX - 1 ? max : SIZE_MAX - 1;
}

void ebb_buf_fini(struct ebb_buf *b)
{
    free(b->data);
    ebb_buf_init(b, b->max);
}

void ebb_buf_reset(struct ebb_buf *b)
{
    b->len = 0;
    b->bad = false;
    b->full = false;
    if (b->data)
        b->data[0] = '\0';
}

static bool grow(struct ebb_buf *b, size_t need)
{
    size_t cap = b->cap ? b->cap : 64;
    char *data;

    while (cap < need)
        cap = cap > b->max / 2 ? b->max + 1 : cap * 2;
    data = realloc(b->data, cap);
    if (!data)
        return false;
    b->data = data;
    b->cap = cap;
    return true;
}

char *ebb_buf_reserve(struct ebb_buf *b, size_t extra)
{
    if (b->bad)
        return NULL;
    b->full = extra > b->max - b->len;
    if (b->full || (b->len + extra + 1 > b->cap && !grow(b, b->len + extra + 1))) {
        b->bad = true;
        return NULL;
    }
    return b->data + b->len;
}

void ebb_buf_append(struct ebb_buf *b, const void *bytes, size_t n)
{
    char *to = ebb_buf_reserve(b, n);

    if (!to)
        return;
    if (n)
        memcpy(to, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void ebb_buf_add_str(struct ebb_buf *b, struct ebb_str s)
{
    ebb_buf_append(b, s.p, s.n);
}

void ebb_buf_puts(struct ebb_buf *b, const char *text)
{
    ebb_buf_append(b, text, strlen(text));
}

void ebb_buf_putc(struct ebb_buf *b, char c)
{
    ebb_buf_append(b, &c, 1);
}

void ebb_buf_printf(struct ebb_buf *b, const char *format, ...)
{
    size_t room = b->bad || !b->data ? 0 : b->cap - b->len;
    va_list args;
    int n;
    char *to;

    if (room > b->max - b->len + 1)
        room = b->max - b->len + 1;
    va_start(args, format);
    n = vsnprintf(room ? b->data + b->len : NULL, room, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < room) {
        b->len += (size_t)n;
        return;
    }
    if (room)
        b->data[b->len] = '\0';
    if (n < 0) {
        b->bad = true;
        return;
    }
    to = ebb_buf_reserve(b, (size_t)n);
    if (!to)
        return;
    va_start(args, format);
    vsnprintf(to, (size_t)n + 1, format, args);
    va_end(args);
    b->len += (size_t)n;
}

const char *ebb_buf_cstr(struct ebb_buf *b)
{
    return b->data && b->len ? b->data : "";
}

struct ebb_str ebb_buf_str(const struct ebb_buf *b)
{
    struct ebb_str s = {b->data, b->len};

    return s;
}

char *ebb_buf_take(struct ebb_buf *b)
{
    char *data;

    ebb_buf_append(b, "", 0);
    if (b->bad)
        return NULL;
    data = b->data;
    ebb_buf_init(b, b->max);
    return data;
}

int ebb_buf_check(const struct ebb_buf *b, const char *what, struct ebb_err *err)
{
    if (!b->bad)
        return 0;
    if (b->full)
        return ebb_err_set(err, EBB_ELIMIT, "%s: longer than %zu bytes", what, b->max);
    return ebb_err_nomem(err);
}

void ebb_strs_init(struct ebb_strs *s)
{
    memset(s, 0, sizeof *s);
}

void ebb_strs_fini(struct ebb_strs *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->items[i]);
    free(s->items);
    ebb_strs_init(s);
}

int ebb_strs_addn(struct ebb_strs *s, const char *bytes, size_t n, struct ebb_err *err)
{
    char *copy;

    if (s->count == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 8;
        char **items = realloc(s->items, cap * sizeof *items);

        if (!items)
            return ebb_err_nomem(err);
        s->items = items;
        s->cap = cap;
    }
    copy = malloc(n + 1);
    if (!copy)
        return ebb_err_nomem(err);
    if (n)
        memcpy(copy, bytes, n);
    copy[n] = '\0';
    s->items[s->count++] = copy;
    return 0;
}

int ebb_strs_add(struct ebb_strs *s, const char *text, struct ebb_err *err)
{
    return ebb_strs_addn(s, text, strlen(text), err);
}

bool ebb_strs_has(const struct ebb_strs *s, const char *text)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->items[i], text))
            return true;
    return false;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void ebb_strs_sort(struct ebb_strs *s)
{
    if (s->count > 1)
        qsort(s->items, s->count, sizeof(char *), by_bytes);
}

#define ARENA_FIRST_BYTES ((size_t)960)       /* blocks grow from this … */
#define ARENA_BLOCK_BYTES ((size_t)64 * 1024) /* … to this */

struct ebb_arena_block {
    struct ebb_arena_block *next;
    size_t size;
    size_t used;
    size_t pad;
    char data[];
};

void ebb_arena_init(struct ebb_arena *a, size_t max_bytes)
{
    memset(a, 0, sizeof *a);
    a->max_bytes = max_bytes;
}

void ebb_arena_fini(struct ebb_arena *a)
{
    while (a->blocks) {
        struct ebb_arena_block *next = a->blocks->next;

        free(a->blocks);
        a->blocks = next;
    }
    a->used_bytes = 0;
}

static bool add_block(struct ebb_arena *a, size_t bytes)
{
    size_t size = a->used_bytes < ARENA_FIRST_BYTES ? ARENA_FIRST_BYTES : a->used_bytes;
    struct ebb_arena_block *block;

    if (size > ARENA_BLOCK_BYTES)
        size = ARENA_BLOCK_BYTES;
    if (size < bytes)
        size = bytes;
    if (size > a->max_bytes - a->used_bytes) {
        size = bytes;
        if (size > a->max_bytes - a->used_bytes)
            return false;
    }
    block = size <= SIZE_MAX - sizeof *block ? calloc(1, sizeof *block + size) : NULL;
    if (!block)
        return false;
    block->size = size;
    block->next = a->blocks;
    a->blocks = block;
    a->used_bytes += size;
    return true;
}

void *ebb_arena_alloc(struct ebb_arena *a, size_t bytes)
{
    size_t need;
    void *p;

    if (bytes > SIZE_MAX - 16)
        return NULL;
    need = (bytes + 15) & ~(size_t)15;
    if (!a->blocks || a->blocks->size - a->blocks->used < need)
        if (!add_block(a, need))
            return NULL;
    p = a->blocks->data + a->blocks->used;
    a->blocks->used += need;
    return p;
}

char *ebb_arena_dup(struct ebb_arena *a, const char *bytes, size_t n)
{
    char *copy = n < SIZE_MAX ? ebb_arena_alloc(a, n + 1) : NULL;

    if (copy && n)
        memcpy(copy, bytes, n);
    return copy;
}
