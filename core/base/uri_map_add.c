/* SPDX-License-Identifier: Apache-2.0 */
#include "base/uri_map_priv.h"

#include <stdlib.h>

/* Whether a text that should be a local path looks like a URI. */
static bool is_foreign(const char *to)
{
    struct ebb_location l;

    return !ebb_location_split(to, strlen(to), &l, NULL) && l.scheme.n && (l.authority.n || l.path.p[0] == '/');
}

/* "s3://bucket" or "s3://bucket/prefix". */
static bool is_object_store(const char *to)
{
    return !strncmp(to, "s3://", 5) && to[5] && to[5] != '/';
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
        return ebb_err_set(err, EBB_EUSAGE, "map target '%s': is neither a local path nor a file: URI nor s3:", to);
    return 0;
}

static int dup_str(struct ebb_str s, char **out, struct ebb_err *err)
{
    *out = strndup(s.n ? s.p : "", s.n);
    return *out ? 0 : ebb_err_nomem(err);
}

static int fill_from(struct ebb__uri_entry *e, const char *from, struct ebb_err *err)
{
    struct ebb_buf text;
    struct ebb__uri u;
    int rc;

    ebb_buf_init(&text, EBB_LOCATION_MAX_BYTES);
    ebb__uri_init(&u);
    rc = ebb__uri_parse(&u, from, err);
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
    ebb__uri_fini(&u);
    ebb_buf_fini(&text);
    return rc;
}

static int fill_to(struct ebb__uri_entry *e, const char *to, struct ebb_err *err)
{
    struct ebb_buf absolute, normal;
    const char *path;
    int rc;

    if (is_object_store(to))
        return dup_str(ebb__trim_slash(ebb_str_of(to)), &e->to, err);
    ebb_buf_init(&absolute, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&normal, EBB_LOCATION_MAX_BYTES);
    rc = target_path(to, &path, err);
    if (!rc)
        rc = ebb__make_absolute(path, &absolute, err);
    if (rc)
        goto out;
    rc = ebb_path_normalise(ebb_buf_str(&absolute), &normal, err);
    if (rc) {
        rc = ebb_err_as(err, EBB_EUSAGE, "map target");
        goto out;
    }
    rc = dup_str(ebb__trim_slash(ebb_buf_str(&absolute)), &e->to, err);
    if (!rc)
        rc = dup_str(ebb_buf_str(&normal), &e->to_path, err);
out:
    ebb_buf_fini(&normal);
    ebb_buf_fini(&absolute);
    return rc;
}

static struct ebb__uri_entry *find_same(struct ebb_uri_map *map, const struct ebb__uri_entry *like)
{
    for (size_t i = 0; i < map->count; i++)
        if (!strcmp(map->items[i].path, like->path) && ebb_prefix_is_equal(NULL, &map->items[i].prefix, &like->prefix))
            return &map->items[i];
    return NULL;
}

static int insert(struct ebb_uri_map *map, const struct ebb__uri_entry *e, struct ebb_err *err)
{
    struct ebb__uri_entry *old = find_same(map, e);

    if (old) {
        ebb__uri_entry_fini(old);
        *old = *e;
        return 0;
    }
    if (map->count == map->cap) {
        size_t cap = map->cap ? map->cap * 2 : 8;
        struct ebb__uri_entry *items = realloc(map->items, cap * sizeof *items);

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
    struct ebb__uri_entry e;
    int rc;

    memset(&e, 0, sizeof e);
    rc = fill_from(&e, from, err);
    if (!rc)
        rc = fill_to(&e, to, err);
    if (!rc)
        rc = insert(map, &e, err);
    if (rc)
        ebb__uri_entry_fini(&e);
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
