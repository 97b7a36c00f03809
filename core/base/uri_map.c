/* SPDX-License-Identifier: Apache-2.0 */
#include "base/uri_map.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LOCAL_MAX_BYTES EBB_LOCATION_MAX_BYTES

/* All texts are owned. `prefix` borrows from `from`. */
struct entry {
    char *from; /* normal form: "file:/warehouse", "s3://lake/" */
    struct ebb_location prefix;
    char *path;    /* normal path of from */
    char *to;      /* absolute, as opened, without a slash at its end ("" is the root) */
    char *to_path; /* normal form of to, for the way back */
};

struct ebb_uri_map {
    struct entry *items;
    size_t count;
    size_t cap;
};

/* A URI that was taken apart. */
struct uri {
    struct ebb_location location;
    struct ebb_buf path; /* normal form */
};

int ebb_uri_map_new(struct ebb_uri_map **out, struct ebb_err *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : ebb_err_nomem(err);
}

static void entry_fini(struct entry *e)
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
        entry_fini(&map->items[i]);
    free(map->items);
    free(map);
}

static void uri_init(struct uri *u)
{
    memset(&u->location, 0, sizeof u->location);
    ebb_buf_init(&u->path, EBB_LOCATION_MAX_BYTES);
}

static int uri_parse(struct uri *u, const char *text, struct ebb_err *err)
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

static struct ebb_str trim_slash(struct ebb_str s)
{
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

/* The part of a normal path below root (normal, too): "" or "/…". False when it lies outside. */
static bool rest_below(struct ebb_str root, struct ebb_str path, struct ebb_str *out)
{
    root = trim_slash(root);
    if (!ebb_str_has_prefix(path, root) || (path.n > root.n && path.p[root.n] != '/'))
        return false;
    out->p = path.p + root.n;
    out->n = path.n - root.n;
    return true;
}

static const struct entry *find(const struct ebb_uri_map *map, const struct uri *u, struct ebb_str *rest)
{
    const struct entry *best = NULL;
    struct ebb_str found;

    for (size_t i = 0; map && i < map->count; i++) {
        const struct entry *e = &map->items[i];

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
static struct ebb_str written_rest(const struct uri *u, const struct entry *e, struct ebb_str normal_rest)
{
    if (has_dot_segment(u->location.path))
        return normal_rest;
    return skip_components(u->location.path, count_components(ebb_str_of(e->path)));
}

static int unmapped_local(const struct uri *u, const char *uri, struct ebb_buf *out, struct ebb_err *err)
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

int ebb_uri_map_local(const struct ebb_uri_map *map, const char *uri, struct ebb_buf *out, struct ebb_err *err)
{
    struct uri u;
    struct ebb_str rest = {"", 0};
    const struct entry *e;
    int rc;

    uri_init(&u);
    rc = uri_parse(&u, uri, err);
    if (rc)
        goto out;
    e = find(map, &u, &rest);
    if (e) {
        rest = written_rest(&u, e, rest);
        ebb_buf_puts(out, e->to);
        ebb_buf_add_str(out, rest);
        if (!e->to[0] && !rest.n)
            ebb_buf_putc(out, '/');
    } else {
        rc = unmapped_local(&u, uri, out, err);
    }
    if (!rc)
        rc = ebb_buf_check(out, "local path", err);
out:
    ebb_buf_fini(&u.path);
    return rc;
}

bool ebb_uri_map_has(const struct ebb_uri_map *map, const char *uri)
{
    struct uri u;
    struct ebb_str rest;
    bool found;

    uri_init(&u);
    found = !uri_parse(&u, uri, NULL) && find(map, &u, &rest);
    ebb_buf_fini(&u.path);
    return found;
}

static int add_cwd(struct ebb_buf *out, struct ebb_err *err)
{
    char *cwd = getcwd(NULL, 0);

    if (!cwd)
        return ebb_err_errno(err, errno, "working directory");
    ebb_buf_add_str(out, trim_slash(ebb_str_of(cwd)));
    ebb_buf_putc(out, '/');
    free(cwd);
    return 0;
}

/* Append the absolute form of a local path, not normalised. */
static int make_absolute(const char *path, struct ebb_buf *out, struct ebb_err *err)
{
    int rc = path[0] == '/' ? 0 : add_cwd(out, err);

    if (rc)
        return rc;
    ebb_buf_puts(out, path);
    return ebb_buf_check(out, "local path", err);
}

int ebb_uri_map_uri(const struct ebb_uri_map *map, const char *local, struct ebb_buf *out, struct ebb_err *err)
{
    const struct entry *best = NULL;
    struct ebb_str rest = {"", 0}, found;
    struct ebb_buf absolute, normal;
    int rc;

    ebb_buf_init(&absolute, LOCAL_MAX_BYTES);
    ebb_buf_init(&normal, LOCAL_MAX_BYTES);
    rc = make_absolute(local, &absolute, err);
    if (!rc)
        rc = ebb_path_normalise(ebb_buf_str(&absolute), &normal, err);
    if (rc)
        goto out;
    for (size_t i = 0; map && i < map->count; i++) {
        const struct entry *e = &map->items[i];

        if (rest_below(ebb_str_of(e->to_path), ebb_buf_str(&normal), &found) &&
            (!best || strlen(e->to_path) > strlen(best->to_path))) {
            best = e;
            rest = found;
        }
    }
    ebb_buf_add_str(out, best && rest.n ? trim_slash(ebb_str_of(best->from)) : ebb_str_of(best ? best->from : "file:"));
    ebb_buf_add_str(out, best ? rest : ebb_buf_str(&normal));
    rc = ebb_buf_check(out, "location", err);
out:
    ebb_buf_fini(&normal);
    ebb_buf_fini(&absolute);
    return rc;
}

/* Whether a text that should be a local path looks like a URI. */
static bool is_foreign(const char *to)
{
    struct ebb_location l;

    return !ebb_location_split(to, strlen(to), &l, NULL) && l.scheme.n && (l.authority.n || l.path.p[0] == '/');
}

/* The local path that TO means. Borrows from to. */
static int target_path(const char *to, const char **out, struct ebb_err *err)
{
    struct ebb_location l;
    int rc;

    *out = to;
    if (!strncmp(to, "file:", 5)) {
        rc = ebb_location_split(to, strlen(to), &l, err);
        if (rc)
            return ebb_err_as(err, EBB_EUSAGE, "map target");
        if (l.authority.n || !l.path.n || l.path.p[0] != '/')
            return ebb_err_set(err, EBB_EUSAGE, "map target '%s': is not a path of this machine", to);
        *out = l.path.p;
        return 0;
    }
    if (!to[0])
        return ebb_err_set(err, EBB_EUSAGE, "map target: is empty");
    if (is_foreign(to))
        return ebb_err_set(err, EBB_EUSAGE, "map target '%s': is neither a local path nor a file: URI", to);
    return 0;
}

static int dup_str(struct ebb_str s, char **out, struct ebb_err *err)
{
    *out = strndup(s.n ? s.p : "", s.n);
    return *out ? 0 : ebb_err_nomem(err);
}

static int fill_from(struct entry *e, const char *from, struct ebb_err *err)
{
    struct ebb_buf text;
    struct uri u;
    int rc;

    ebb_buf_init(&text, EBB_LOCATION_MAX_BYTES);
    uri_init(&u);
    rc = uri_parse(&u, from, err);
    if (!rc)
        rc = ebb_location_normalise(from, strlen(from), &text, err);
    if (rc) {
        rc = ebb_err_as(err, EBB_EUSAGE, "map source");
        goto out;
    }
    rc = dup_str(ebb_buf_str(&u.path), &e->path, err);
    if (!rc)
        rc = dup_str(ebb_buf_str(&text), &e->from, err);
    if (!rc)
        rc = ebb_location_split(e->from, strlen(e->from), &e->prefix, err);
out:
    ebb_buf_fini(&u.path);
    ebb_buf_fini(&text);
    return rc;
}

static int fill_to(struct entry *e, const char *to, struct ebb_err *err)
{
    struct ebb_buf absolute, normal;
    const char *path;
    int rc;

    ebb_buf_init(&absolute, LOCAL_MAX_BYTES);
    ebb_buf_init(&normal, LOCAL_MAX_BYTES);
    rc = target_path(to, &path, err);
    if (!rc)
        rc = make_absolute(path, &absolute, err);
    if (rc)
        goto out;
    rc = ebb_path_normalise(ebb_buf_str(&absolute), &normal, err);
    if (rc) {
        rc = ebb_err_as(err, EBB_EUSAGE, "map target");
        goto out;
    }
    rc = dup_str(trim_slash(ebb_buf_str(&absolute)), &e->to, err);
    if (!rc)
        rc = dup_str(ebb_buf_str(&normal), &e->to_path, err);
out:
    ebb_buf_fini(&normal);
    ebb_buf_fini(&absolute);
    return rc;
}

static struct entry *find_same(struct ebb_uri_map *map, const struct entry *like)
{
    for (size_t i = 0; i < map->count; i++)
        if (!strcmp(map->items[i].path, like->path) && ebb_prefix_is_equal(NULL, &map->items[i].prefix, &like->prefix))
            return &map->items[i];
    return NULL;
}

static int insert(struct ebb_uri_map *map, const struct entry *e, struct ebb_err *err)
{
    struct entry *old = find_same(map, e);

    if (old) {
        entry_fini(old);
        *old = *e;
        return 0;
    }
    if (map->count == map->cap) {
        size_t cap = map->cap ? map->cap * 2 : 8;
        struct entry *items = realloc(map->items, cap * sizeof *items);

        if (!items)
            return ebb_err_nomem(err);
        map->items = items;
        map->cap = cap;
    }
    map->items[map->count++] = *e;
    return 0;
}

int ebb_uri_map_add(struct ebb_uri_map *map, const char *from, const char *to, struct ebb_err *err)
{
    struct entry e;
    int rc;

    memset(&e, 0, sizeof e);
    rc = fill_from(&e, from, err);
    if (!rc)
        rc = fill_to(&e, to, err);
    if (!rc)
        rc = insert(map, &e, err);
    if (rc)
        entry_fini(&e);
    return rc;
}

int ebb_uri_map_add_text(struct ebb_uri_map *map, const char *from_to, struct ebb_err *err)
{
    size_t n = strlen(from_to);
    struct ebb_err why;
    int rc = -EBB_EUSAGE;

    ebb_err_set(&why, EBB_EUSAGE, "map '%s': must read FROM=TO", from_to);
    for (size_t i = n; i > 0 && rc == -EBB_EUSAGE; i--) {
        char *from;

        if (from_to[i - 1] != '=')
            continue;
        from = strndup(from_to, i - 1);
        if (!from)
            return ebb_err_nomem(err);
        rc = ebb_uri_map_add(map, from, from_to + i, &why);
        free(from);
    }
    if (rc && err)
        *err = why;
    return rc;
}
