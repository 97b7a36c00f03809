/* SPDX-License-Identifier: Apache-2.0 */
#include "table/name_priv.h"

#include <strings.h>

#include "table/quarantine.h"

bool ebb__name_is_safe(struct ebb_str name)
{
    size_t i, start = 0, n;

    if (name.n == 0 || memchr(name.p, '\0', name.n))
        return false;
    for (i = 0; i <= name.n; i++) {
        if (i < name.n && name.p[i] != '/')
            continue;
        n = i - start;
        if (n == 0 || (n == 1 && name.p[start] == '.') || (n == 2 && memcmp(name.p + start, "..", 2) == 0))
            return false;
        start = i + 1;
    }
    return true;
}

struct ebb_str ebb__name_dir(struct ebb_str name)
{
    while (name.n > 0 && name.p[name.n - 1] != '/')
        name.n--;
    if (name.n > 0)
        name.n--;
    return name;
}

void ebb__name_uri(const char *location, struct ebb_str name, struct ebb_buf *out)
{
    size_t n = strlen(location);

    while (n > 0 && location[n - 1] == '/')
        n--;
    ebb_buf_append(out, location, n);
    ebb_buf_putc(out, '/');
    ebb_buf_add_str(out, name);
}

/* Without case: on a file system that folds, another spelling is the same folder. */
static bool is_own(struct ebb_str name)
{
    size_t n = strlen(EBB_QUARANTINE_DIR);

    return name.n >= n && strncasecmp(name.p, EBB_QUARANTINE_DIR, n) == 0 && (name.n == n || name.p[n] == '/');
}

static int outside(const char *location, struct ebb_str uri, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_EOUTSIDE, "%.*s: %s (table location %s)", (int)(uri.n > 400 ? 400 : uri.n), uri.p, why,
                       location);
}

/* What follows "<base>/" in a path; n == 0: it does not begin so. */
static struct ebb_str below(struct ebb_str base, struct ebb_str path)
{
    struct ebb_str rest = {NULL, 0};

    while (base.n > 0 && base.p[base.n - 1] == '/')
        base.n--;
    if (!ebb_str_has_prefix(path, base) || path.n <= base.n + 1 || path.p[base.n] != '/')
        return rest;
    rest.p = path.p + base.n + 1;
    rest.n = path.n - base.n - 1;
    return rest;
}

/* The location may stand as it is written in the metadata or in normal form; what comes after it is taken as it is. */
static int find_name(const struct ebb_location *base, struct ebb_str path, struct ebb_str *name, struct ebb_err *err)
{
    struct ebb_buf normal;
    int rc;

    *name = below(base->path, path);
    if (name->n > 0)
        return 0;
    ebb_buf_init(&normal, EBB_LOCATION_MAX_BYTES);
    rc = ebb_path_normalise(base->path, &normal, err);
    if (!rc)
        *name = below(ebb_buf_str(&normal), path);
    ebb_buf_fini(&normal);
    return rc;
}

int ebb__name_of(const char *location, struct ebb_str uri, const struct ebb_prefix_rules *rules, struct ebb_buf *out,
                 struct ebb_err *err)
{
    struct ebb_location base, file;
    struct ebb_str name;
    int rc;

    rc = ebb_location_split(location, strlen(location), &base, err);
    if (!rc)
        rc = ebb_location_split(uri.p, uri.n, &file, err);
    if (!rc)
        rc = find_name(&base, file.path, &name, err);
    if (rc)
        return ebb_err_as(err, EBB_EOUTSIDE, NULL);
    if (!ebb_prefix_is_equal(rules, &base, &file) || name.n == 0)
        return outside(location, uri, "not inside the table", err);
    if (!ebb__name_is_safe(name))
        return outside(location, uri, "not a plain name", err);
    if (is_own(name))
        return outside(location, uri, "lies in the quarantine", err);
    ebb_buf_add_str(out, name);
    return ebb_buf_check(out, "file name", err);
}
