/* SPDX-License-Identifier: Apache-2.0 */
#include "base/location.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Length of what a path can not climb above: 2 for a drive, else 0. */
static size_t drive_length(struct ebb_str path)
{
    return path.n >= 2 && path.p[1] == ':' && is_letter(path.p[0]) ? 2 : 0;
}

static bool is_absolute(struct ebb_str path)
{
    size_t drive = drive_length(path);

    return path.n > drive && path.p[drive] == '/';
}

/* Whether what follows a '/' can stay: not empty, not "." and not "..". */
static bool is_plain_component(const char *p, size_t n)
{
    if (n == 0 || p[0] == '/')
        return false;
    if (p[0] != '.')
        return true;
    if (n == 1 || p[1] == '/')
        return false;
    return p[1] != '.' || (n > 2 && p[2] != '/');
}

bool ebb_path_is_normal(struct ebb_str path)
{
    size_t drive = drive_length(path);
    const char *end = path.p + path.n;
    const char *slash;

    if (!is_absolute(path))
        return false;
    if (path.n == drive + 1)
        return true;
    slash = path.p + drive;
    while (slash) {
        slash++;
        if (!is_plain_component(slash, (size_t)(end - slash)))
            return false;
        slash = memchr(slash, '/', (size_t)(end - slash));
    }
    return true;
}

/* Take the last component off; false when there is none above floor. */
static bool pop(struct ebb_buf *out, size_t floor)
{
    if (out->len == floor)
        return false;
    while (out->data[--out->len] != '/')
        continue;
    out->data[out->len] = '\0';
    return true;
}

/* Put the components of an absolute path behind out; the room is reserved. */
static bool resolve(struct ebb_str path, struct ebb_buf *out)
{
    size_t floor = out->len;
    size_t i = 0;

    while (i < path.n) {
        size_t from;

        while (i < path.n && path.p[i] == '/')
            i++;
        from = i;
        while (i < path.n && path.p[i] != '/')
            i++;
        if (is_plain_component(path.p + from, i - from)) {
            ebb_buf_putc(out, '/');
            ebb_buf_append(out, path.p + from, i - from);
        } else if (i - from == 2 && !pop(out, floor)) {
            return false;
        }
    }
    if (out->len == floor)
        ebb_buf_putc(out, '/');
    return true;
}

/* As many bytes as a message shows. */
static int shown(struct ebb_str path)
{
    return path.n < EBB_ERR_MESSAGE_MAX ? (int)path.n : EBB_ERR_MESSAGE_MAX;
}

int ebb_path_normalise(struct ebb_str path, struct ebb_buf *out, struct ebb_err *err)
{
    size_t base = out->len;
    size_t drive = drive_length(path);
    struct ebb_str rest = {path.p + drive, path.n - drive};

    if (!is_absolute(path))
        return ebb_err_set(err, EBB_ELOCATION, "location '%.*s': is relative, resolve it against a root first",
                           shown(path), path.n ? path.p : "");
    if (!ebb_buf_reserve(out, path.n))
        return ebb_buf_check(out, "location", err);
    if (ebb_path_is_normal(path)) {
        ebb_buf_add_str(out, path);
        return 0;
    }
    ebb_buf_append(out, path.p, drive);
    if (!resolve(rest, out)) {
        out->len = base;
        out->data[base] = '\0';
        return ebb_err_set(err, EBB_ELOCATION, "location '%.*s': climbs above its root", shown(path), path.p);
    }
    return 0;
}
