/* SPDX-License-Identifier: Apache-2.0 */
#include "io/catalog_priv.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const SPELLINGS[] = {".metadata.json", ".gz.metadata.json", ".metadata.json.gz"};

struct version {
    int64_t number;
    int rank;
    const char *name;
};

bool ebb__hadoop_is_name(const char *name, int64_t *version, int *rank)
{
    const char *p = name + 1;
    int64_t number = 0;

    if (name[0] != 'v' || *p < '0' || *p > '9' || (*p == '0' && p[1] >= '0' && p[1] <= '9'))
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (number > (INT64_MAX - 9) / 10)
            return false;
        number = number * 10 + (*p - '0');
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(p, SPELLINGS[i]) != 0)
            continue;
        *version = number;
        *rank = i;
        return true;
    }
    return false;
}

bool ebb__hadoop_is_layout(const struct ebb__metadata_dir *dir)
{
    int64_t version;
    int rank;

    for (size_t i = 0; i < dir->names.count; i++)
        if (ebb__hadoop_is_name(dir->names.items[i], &version, &rank))
            return true;
    return dir->has_hint;
}

static int by_number_and_rank(const void *a, const void *b)
{
    const struct version *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->rank - y->rank;
}

/* The versions that have a file, ascending, each once. *out is freed by the caller. */
static int collect(const struct ebb__metadata_dir *dir, struct version **out, size_t *count, struct ebb_err *err)
{
    struct version *all = calloc(dir->names.count + 1, sizeof *all);
    size_t n = 0, kept = 0;

    if (!all)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < dir->names.count; i++) {
        all[n].name = dir->names.items[i];
        n += ebb__hadoop_is_name(all[n].name, &all[n].number, &all[n].rank);
    }
    qsort(all, n, sizeof *all, by_number_and_rank);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || all[i].number != all[kept - 1].number)
            all[kept++] = all[i];
    *out = all;
    *count = kept;
    return 0;
}

static int wrong_hint(const struct ebb__metadata_dir *dir, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EHINT, "%s/version-hint.text: says version %" PRId64 ", which has no metadata file",
                         dir->uri, dir->hint);

    ebb_err_hint(err, "restore the missing file, or write the number of the last committed version into the hint");
    return rc;
}

/* Where to start: the hint's version, believed even if it is wrong, else the greatest. */
static int find_start(const struct ebb__metadata_dir *dir, const struct version *versions, size_t count, size_t *at,
                      struct ebb_err *err)
{
    if (dir->has_number) {
        for (*at = 0; *at < count; ++*at)
            if (versions[*at].number == dir->hint)
                return 0;
        return wrong_hint(dir, err);
    }
    if (!count)
        return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "%s: holds no metadata file", dir->uri);
    *at = count - 1;
    return 0;
}

static int add_lagging(const char *dir_uri, const char *name, struct ebb_strs *out, struct ebb_err *err)
{
    char *uri = NULL;
    int rc = ebb__uri_join(dir_uri, name, &uri, err);

    if (!rc)
        rc = ebb_strs_add(out, uri, err);
    free(uri);
    return rc;
}

int ebb__hadoop_choose(const struct ebb__metadata_dir *dir, struct ebb_hadoop_version *out, struct ebb_err *err)
{
    struct version *versions = NULL;
    size_t count = 0, at = 0;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_strs_init(&out->lagging);
    rc = collect(dir, &versions, &count, err);
    if (!rc)
        rc = find_start(dir, versions, count, &at, err);
    while (!rc && at + 1 < count && versions[at + 1].number == versions[at].number + 1)
        rc = add_lagging(dir->uri, versions[at++].name, &out->lagging, err);
    if (!rc)
        rc = ebb__uri_join(dir->uri, versions[at].name, &out->metadata_uri, err);
    if (!rc) {
        out->version = versions[at].number;
        out->hint_version = dir->has_number ? dir->hint : -1;
    }
    free(versions);
    if (rc)
        ebb_hadoop_version_fini(out);
    return rc;
}

int ebb_hadoop_resolve(struct ebb_storage *storage, const char *folder_uri, struct ebb_hadoop_version *out,
                       struct ebb_err *err)
{
    struct ebb__metadata_dir dir;
    char *uri = NULL;
    int rc;

    memset(out, 0, sizeof *out);
    ebb__metadata_dir_init(&dir);
    rc = ebb__uri_join(folder_uri, "metadata", &uri, err);
    if (!rc)
        rc = ebb__metadata_dir_read(storage, uri, &dir, err);
    if (!rc)
        rc = ebb__hadoop_choose(&dir, out, err);
    ebb__metadata_dir_fini(&dir);
    free(uri);
    return rc;
}

void ebb_hadoop_version_fini(struct ebb_hadoop_version *v)
{
    free(v->metadata_uri);
    ebb_strs_fini(&v->lagging);
    memset(v, 0, sizeof *v);
}
