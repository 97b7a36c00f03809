/* SPDX-License-Identifier: Apache-2.0 */
#include "table/plan_find_priv.h"

#include <stdlib.h>
#include <unistd.h>

#include "table/record_text_priv.h"

struct found {
    struct ebb_buf id;
    struct ebb_buf file;
    struct ebb_buf sha256;
};

static void found_init(struct found *f)
{
    ebb_buf_init(&f->id, 64);
    ebb_buf_init(&f->file, 8192);
    ebb_buf_init(&f->sha256, 128);
}

static void found_fini(struct found *f)
{
    ebb_buf_fini(&f->sha256);
    ebb_buf_fini(&f->file);
    ebb_buf_fini(&f->id);
}

static int read_record(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct found *f = data;
    int rc;

    ebb_buf_puts(&f->id, record->id);
    rc = ebb__record_text(record->json, "file", &f->file, err);
    return rc ? rc : ebb__record_text(record->json, "sha256", &f->sha256, err);
}

static bool is_path(const char *plan)
{
    size_t n = strlen(plan);

    return strchr(plan, '/') || (n > 5 && strcmp(plan + n - 5, ".plan") == 0) || access(plan, F_OK) == 0;
}

static int find_by_id(const struct ebb_site *site, const char *plan, struct ebb_buf *path, struct ebb_err *err)
{
    struct found f;
    int rc;

    if (!site->store)
        return ebb_err_set(err, EBB_ENOT_FOUND, "plan %s: no such file, and there is no state folder to look in", plan);
    found_init(&f);
    rc = ebb_store_get(site->store, EBB_RECORD_PLAN, plan, read_record, &f, err);
    if (!rc && f.file.len > 0 && access(ebb_buf_cstr(&f.file), F_OK) == 0)
        ebb_buf_add_str(path, ebb_buf_str(&f.file));
    else if (!rc)
        ebb_buf_printf(path, "%s/plans/%s.plan", ebb_store_dir(site->store), ebb_buf_cstr(&f.id));
    found_fini(&f);
    return rc;
}

int ebb__plan_find(const struct ebb_site *site, const char *plan, char **path, struct ebb_err *err)
{
    struct ebb_buf b;
    int rc = 0;

    *path = NULL;
    ebb_buf_init(&b, 8192);
    if (is_path(plan))
        ebb_buf_puts(&b, plan);
    else
        rc = find_by_id(site, plan, &b, err);
    if (!rc)
        rc = ebb_buf_check(&b, "plan", err);
    if (!rc) {
        *path = ebb_buf_take(&b);
        if (!*path)
            rc = ebb_err_nomem(err);
    }
    ebb_buf_fini(&b);
    return rc;
}

int ebb__plan_check_record(const struct ebb_site *site, const struct ebb_plan_header *header, const char *sha256,
                           struct ebb_err *err)
{
    struct ebb_err not_found;
    struct found f;
    int rc;

    if (!site->store)
        return 0;
    found_init(&f);
    rc = ebb_store_get(site->store, EBB_RECORD_PLAN, header->id, read_record, &f, &not_found);
    if (rc == -EBB_ENOT_FOUND)
        rc = 0;
    else if (rc && err)
        *err = not_found;
    else if (f.sha256.len > 0 && strcmp(ebb_buf_cstr(&f.sha256), sha256) != 0 &&
             strcmp(ebb_buf_cstr(&f.id), header->id) == 0)
        rc = ebb_err_set(err, EBB_EPLAN, "plan %s: the store knows another content under this id", header->id);
    found_fini(&f);
    return rc;
}
