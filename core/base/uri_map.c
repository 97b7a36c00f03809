/* SPDX-License-Identifier: Apache-2.0 */
#include "base/uri_map_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int ebb_uri_map_new(struct ebb_uri_map **out, struct ebb_err *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : ebb_err_nomem(err);
}

void ebb__uri_entry_fini(struct ebb__uri_entry *e)
{
    free(e->from);
    free(e->path);
    free(e->to);
    free(e->to_path);
    memset(e, 0, sizeof *e);
}

void ebb_uri_map_free(struct ebb_uri_map *map)
{
    if (!map)
        return;
    for (size_t i = 0; i < map->count; i++)
        ebb__uri_entry_fini(&map->items[i]);
    free(map->items);
    free(map);
}

void ebb__uri_init(struct ebb__uri *u)
{
    memset(&u->location, 0, sizeof u->location);
    ebb_buf_init(&u->path, EBB_LOCATION_MAX_BYTES);
}

void ebb__uri_fini(struct ebb__uri *u)
{
    ebb_buf_fini(&u->path);
}

int ebb__uri_parse(struct ebb__uri *u, const char *text, struct ebb_err *err)
{
    struct ebb_str path;
    int rc = ebb_location_split(text, strlen(text), &u->location, err);

    if (rc)
        return rc;
    path = u->location.path;
    if (!path.n && u->location.authority.n)
        path = EBB_STR("/");
    return ebb_path_normalise(path, &u->path, err);
}

struct ebb_str ebb__trim_slash(struct ebb_str s)
{
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

/* The part of a normal path below root (normal, too): "" or "/…". False when it lies outside. */
static bool rest_below(struct ebb_str root, struct ebb_str path, struct ebb_str *out)
{
    root = ebb__trim_slash(root);
    if (!ebb_str_has_prefix(path, root) || (path.n > root.n && path.p[root.n] != '/'))
        return false;
    out->p = path.p + root.n;
    out->n = path.n - root.n;
    return true;
}

static const struct ebb__uri_entry *find(const struct ebb_uri_map *map, const struct ebb__uri *u, struct ebb_str *rest)
{
    const struct ebb__uri_entry *best = NULL;
    struct ebb_str found;

    for (size_t i = 0; map && i < map->count; i++) {
        const struct ebb__uri_entry *e = &map->items[i];

        if (!ebb_prefix_is_equal(NULL, &e->prefix, &u->location) ||
            !rest_below(ebb_str_of(e->path), ebb_buf_str(&u->path), &found))
            continue;
        if (!best || strlen(e->path) > strlen(best->path)) {
            best = e;
            *rest = found;
        }
    }
    return best;
}

static size_t count_components(struct ebb_str path)
{
    size_t count = 0;

    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] != '/' && (i == 0 || path.p[i - 1] == '/'))
            count++;
    return count;
}

static bool has_dot_segment(struct ebb_str path)
{
    for (size_t i = 0; i < path.n;) {
        struct ebb_str c = {path.p + i, 0};

        while (i + c.n < path.n && c.p[c.n] != '/')
            c.n++;
        if (ebb_str_is_equal(c, EBB_STR(".")) || ebb_str_is_equal(c, EBB_STR("..")))
            return true;
        i += c.n + 1;
    }
    return false;
}

/* The written form of what lies `components` deep in the path. */
static struct ebb_str skip_components(struct ebb_str path, size_t components)
{
    size_t i = 0;

    while (components--) {
        while (i < path.n && path.p[i] == '/')
            i++;
        while (i < path.n && path.p[i] != '/')
            i++;
    }
    path.p += i;
    path.n -= i;
    return path;
}

/* What to open below FROM: as written, or, when dots must be resolved, the normal form. */
static struct ebb_str written_rest(const struct ebb__uri *u, const struct ebb__uri_entry *e, struct ebb_str normal_rest)
{
    if (has_dot_segment(u->location.path))
        return normal_rest;
    return skip_components(u->location.path, count_components(ebb_str_of(e->path)));
}

static int unmapped_local(const struct ebb__uri *u, const char *uri, struct ebb_buf *out, struct ebb_err *err)
{
    static const struct ebb_location LOCAL = {{"file", 4}, {"", 0}, {"", 0}};
    struct ebb_str path = u->location.path;
    int rc;

    if (!ebb_prefix_is_equal(NULL, &LOCAL, &u->location)) {
        rc = ebb_err_set(err, EBB_ESCHEME, "location '%s': %s '%.*s' is not reachable from here", uri,
                         u->location.scheme.n ? "scheme" : "authority",
                         (int)(u->location.scheme.n ? u->location.scheme.n : u->location.authority.n),
                         u->location.scheme.n ? u->location.scheme.p : u->location.authority.p);
        ebb_err_hint(err, "tell where it is reachable with --map FROM=TO");
        return rc;
    }
    if (path.p[0] != '/')
        return ebb_err_set(err, EBB_ELOCATION, "location '%s': a drive is not reachable from here", uri);
    ebb_buf_add_str(out, has_dot_segment(path) ? ebb_buf_str(&u->path) : path);
    return 0;
}

/* s3: URIs of which no entry speaks are themselves; s3a: and s3n: are other names of the same. */
static bool is_object_store(const struct ebb__uri *u)
{
    static const char *const SCHEMES[] = {"s3", "s3a", "s3n"};

    for (size_t i = 0; i < 3; i++)
        if (ebb_str_is_equal(u->location.scheme, ebb_str_of(SCHEMES[i])))
            return u->location.authority.n > 0;
    return false;
}

static int unmapped(const struct ebb__uri *u, const char *uri, struct ebb_buf *out, bool *is_remote,
                    struct ebb_err *err)
{
    *is_remote = is_object_store(u);
    if (!*is_remote)
        return unmapped_local(u, uri, out, err);
    ebb_buf_puts(out, "s3://");
    ebb_buf_add_str(out, u->location.authority);
    ebb_buf_add_str(out, u->location.path);
    return 0;
}

int ebb_uri_map_target(const struct ebb_uri_map *map, const char *uri, struct ebb_buf *out, bool *is_remote,
                       struct ebb_err *err)
{
    struct ebb__uri u;
    struct ebb_str rest = {"", 0};
    const struct ebb__uri_entry *e;
    int rc;

    *is_remote = false;
    ebb__uri_init(&u);
    rc = ebb__uri_parse(&u, uri, err);
    if (rc)
        goto out;
    e = find(map, &u, &rest);
    if (e) {
        *is_remote = !e->to_path;
        rest = written_rest(&u, e, rest);
        ebb_buf_puts(out, e->to);
        ebb_buf_add_str(out, rest);
        if (!e->to[0] && !rest.n)
            ebb_buf_putc(out, '/');
    } else {
        rc = unmapped(&u, uri, out, is_remote, err);
    }
    if (!rc)
        rc = ebb_buf_check(out, "local path", err);
out:
    ebb__uri_fini(&u);
    return rc;
}

int ebb_uri_map_local(const struct ebb_uri_map *map, const char *uri, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_buf target;
    bool is_remote;
    int rc;

    ebb_buf_init(&target, out->max);
    rc = ebb_uri_map_target(map, uri, &target, &is_remote, err);
    if (!rc && is_remote) {
        rc = ebb_err_set(err, EBB_ESCHEME, "location '%s': is not reachable as a local path", uri);
        ebb_err_hint(err, "tell where it is reachable with --map FROM=TO");
    }
    if (!rc) {
        ebb_buf_add_str(out, ebb_buf_str(&target));
        rc = ebb_buf_check(out, "local path", err);
    }
    ebb_buf_fini(&target);
    return rc;
}

bool ebb_uri_map_has(const struct ebb_uri_map *map, const char *uri)
{
    struct ebb__uri u;
    struct ebb_str rest;
    bool found;

    ebb__uri_init(&u);
    found = !ebb__uri_parse(&u, uri, NULL) && find(map, &u, &rest);
    ebb__uri_fini(&u);
    return found;
}

static int add_cwd(struct ebb_buf *out, struct ebb_err *err)
{
    char *cwd = getcwd(NULL, 0);

    if (!cwd)
        return ebb_err_errno(err, errno, "working directory");
    ebb_buf_add_str(out, ebb__trim_slash(ebb_str_of(cwd)));
    ebb_buf_putc(out, '/');
    free(cwd);
    return 0;
}

int ebb__make_absolute(const char *path, struct ebb_buf *out, struct ebb_err *err)
{
    int rc = path[0] == '/' ? 0 : add_cwd(out, err);

    if (rc)
        return rc;
    ebb_buf_puts(out, path);
    return ebb_buf_check(out, "local path", err);
}

int ebb_uri_map_uri(const struct ebb_uri_map *map, const char *local, struct ebb_buf *out, struct ebb_err *err)
{
    const struct ebb__uri_entry *best = NULL;
    struct ebb_str rest = {"", 0}, found;
    struct ebb_buf absolute, normal;
    int rc;

    ebb_buf_init(&absolute, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&normal, EBB_LOCATION_MAX_BYTES);
    rc = ebb__make_absolute(local, &absolute, err);
    if (!rc)
        rc = ebb_path_normalise(ebb_buf_str(&absolute), &normal, err);
    if (rc)
        goto out;
    for (size_t i = 0; map && i < map->count; i++) {
        const struct ebb__uri_entry *e = &map->items[i];

        if (e->to_path && rest_below(ebb_str_of(e->to_path), ebb_buf_str(&normal), &found) &&
            (!best || strlen(e->to_path) > strlen(best->to_path))) {
            best = e;
            rest = found;
        }
    }
    ebb_buf_add_str(out,
                    best && rest.n ? ebb__trim_slash(ebb_str_of(best->from)) : ebb_str_of(best ? best->from : "file:"));
    ebb_buf_add_str(out, best ? rest : ebb_buf_str(&normal));
    rc = ebb_buf_check(out, "location", err);
out:
    ebb_buf_fini(&normal);
    ebb_buf_fini(&absolute);
    return rc;
}
