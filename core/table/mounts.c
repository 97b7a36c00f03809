/* SPDX-License-Identifier: Apache-2.0 */
#include "table/mounts_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOUNTINFO_MAX ((size_t)16 << 20)

/* The next field of a line, fields being parted by one blank. */
static struct ebb_str next_field(struct ebb_str *line)
{
    const char *blank = line->n ? memchr(line->p, ' ', line->n) : NULL;
    struct ebb_str field = {line->p, blank ? (size_t)(blank - line->p) : line->n};
    size_t skip = field.n + (blank != NULL);

    line->p += skip;
    line->n -= skip;
    return field;
}

static bool is_octal(const char *p)
{
    for (int i = 0; i < 3; i++)
        if (p[i] < '0' || p[i] > (i ? '7' : '3'))
            return false;
    return true;
}

/* Blanks and backslashes are written as \ooo. */
static void add_unescaped(struct ebb_buf *out, struct ebb_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        const char *p = text.p + i;

        if (*p == '\\' && i + 3 < text.n && is_octal(p + 1)) {
            ebb_buf_putc(out, (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0')));
            i += 3;
        } else {
            ebb_buf_putc(out, *p);
        }
    }
}

static char *take_text(struct ebb_str before, struct ebb_str text)
{
    struct ebb_buf b;
    char *out;

    ebb_buf_init(&b, MOUNTINFO_MAX);
    ebb_buf_add_str(&b, before);
    if (text.n != 1 || text.p[0] != '/') /* "/" adds nothing to what lies below it */
        add_unescaped(&b, text);
    ebb_buf_cstr(&b);
    out = ebb_buf_take(&b);
    ebb_buf_fini(&b);
    return out;
}

static int add(struct ebb_mounts *m, struct ebb_str device, struct ebb_str root, struct ebb_str point,
               struct ebb_err *err)
{
    struct ebb_mount *item;

    if (m->count == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 64;
        struct ebb_mount *items = realloc(m->items, cap * sizeof *items);

        if (!items)
            return ebb_err_nomem(err);
        m->items = items;
        m->cap = cap;
    }
    item = &m->items[m->count++];
    item->point = take_text((struct ebb_str){"", 0}, point);
    item->disk = take_text(device, root);
    return item->point && item->disk ? 0 : ebb_err_nomem(err);
}

/* "36 35 98:0 /folder /point options…"; what is not of this form is passed over. */
static int parse_line(struct ebb_mounts *m, struct ebb_str line, struct ebb_err *err)
{
    struct ebb_str device, root, point;

    next_field(&line);
    next_field(&line);
    device = next_field(&line);
    root = next_field(&line);
    point = next_field(&line);
    if (!device.n || !root.n || root.p[0] != '/' || !point.n || point.p[0] != '/')
        return 0;
    return add(m, device, root, point, err);
}

int ebb__mounts_parse(struct ebb_mounts *m, struct ebb_str text, struct ebb_err *err)
{
    int rc = 0;

    while (!rc && text.n > 0) {
        const char *end = memchr(text.p, '\n', text.n);
        struct ebb_str line = {text.p, end ? (size_t)(end - text.p) : text.n};
        size_t skip = line.n + (end != NULL);

        rc = parse_line(m, line, err);
        text.p += skip;
        text.n -= skip;
    }
    return rc;
}

int ebb__mounts_read(struct ebb_mounts *m, struct ebb_err *err)
{
    struct ebb_buf text;
    int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    ssize_t got = 1;
    int rc = 0;

    memset(m, 0, sizeof *m);
    ebb_buf_init(&text, MOUNTINFO_MAX);
    while (fd >= 0 && !rc && got > 0) {
        char *to = ebb_buf_reserve(&text, 65536);

        if (!to)
            rc = ebb_err_nomem(err);
        got = to ? read(fd, to, 65536) : 0;
        if (got > 0)
            text.len += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    if (fd >= 0)
        close(fd);
    if (!rc)
        rc = ebb__mounts_parse(m, ebb_buf_str(&text), err);
    ebb_buf_fini(&text);
    return rc;
}

void ebb__mounts_fini(struct ebb_mounts *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->items[i].point);
        free(m->items[i].disk);
    }
    free(m->items);
    memset(m, 0, sizeof *m);
}

static bool is_at_or_below(const char *outer, const char *path)
{
    size_t n = strlen(outer);

    return !strncmp(outer, path, n) && (path[n] == '/' || path[n] == '\0' || n == 0);
}

bool ebb__mounts_disk(const struct ebb_mounts *m, const char *real, char out[PATH_MAX])
{
    const struct ebb_mount *best = NULL;

    for (size_t i = 0; i < m->count; i++)
        if (is_at_or_below(m->items[i].point, real) && (!best || strlen(m->items[i].point) >= strlen(best->point)))
            best = &m->items[i];
    if (!best)
        return false;
    return snprintf(out, PATH_MAX, "%s%s", best->disk, real + strlen(best->point)) < PATH_MAX;
}
