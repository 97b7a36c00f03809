/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects that are the image of those of another server: brought up to date in one transaction.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/store_priv.h"

#define SCOPE "mirrored"

struct mirror {
    struct ebb_store *store;
    enum ebb_object_kind kind;
    const char *prefix;
    const struct ebb_object_image *images;
    size_t count;
    int64_t now_ms;
    bool *is_there;      /* of each image: there is an object of its name */
    bool *is_same;       /* and it says the same */
    struct ebb_strs old; /* names that are to go */
};

static int by_name(const void *name, const void *image)
{
    return strcmp(name, ((const struct ebb_object_image *)image)->name);
}

static int note(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    const struct ebb_object_image *image;
    struct mirror *m = data;

    if (strncmp(object->name, m->prefix, strlen(m->prefix)) != 0)
        return 0;
    image = m->count ? bsearch(object->name, m->images, m->count, sizeof *m->images, by_name) : NULL;
    if (!image)
        return ebb_strs_add(&m->old, object->name, err);
    m->is_there[image - m->images] = true;
    m->is_same[image - m->images] = !strcmp(image->json, object->json);
    return 0;
}

static int drop_old(struct mirror *m, struct ebb_err *err)
{
    bool found;
    int rc = 0;

    for (size_t i = 0; !rc && i < m->old.count; i++)
        rc = ebb_store_drop_object(m->store, m->kind, m->old.items[i], &found, err);
    return rc;
}

static int write_object(const struct mirror *m, size_t i, bool *changed, struct ebb_err *err)
{
    const struct ebb_object object = {.kind = m->kind,
                                      .name = m->images[i].name,
                                      .json = m->images[i].json,
                                      .creator = "",
                                      .modifier = "",
                                      .created_ms = m->now_ms,
                                      .modified_ms = m->now_ms};

    if (m->is_same[i])
        return 0;
    *changed = true;
    return m->is_there[i] ? ebb__store_update_object(m->store, object.name, &object, err)
                          : ebb__store_insert_object(m->store, &object, err);
}

/* ---- ties ---- */

static bool are_equal(const struct ebb_strs *a, const struct ebb_strs *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

static int untie(const struct mirror *m, const char *name, struct ebb_err *err)
{
    static const char SQL[] =
        "DELETE FROM tie WHERE object = (SELECT number FROM object WHERE kind = ?1 AND name = ?2)";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(m->store, SQL, &stmt, err);

    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)m->kind);
    ebb__store_bind_text(stmt, 2, name);
    return ebb__store_run(m->store, stmt, "cannot untie an object", err);
}

/* place: "type full_name" */
static int tie(const struct mirror *m, const char *name, const char *place, struct ebb_err *err)
{
    static const char SQL[] = "INSERT INTO tie (object, type, full_name)"
                              " SELECT number, substr(?3, 1, instr(?3, ' ') - 1), substr(?3, instr(?3, ' ') + 1)"
                              " FROM object WHERE kind = ?1 AND name = ?2";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(m->store, SQL, &stmt, err);

    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)m->kind);
    ebb__store_bind_text(stmt, 2, name);
    ebb__store_bind_text(stmt, 3, place);
    return ebb__store_run(m->store, stmt, "cannot tie an object", err);
}

static int write_ties(const struct mirror *m, const struct ebb_object_image *image, bool *changed, struct ebb_err *err)
{
    struct ebb_strs have;
    int rc;

    ebb_strs_init(&have);
    rc = ebb_store_object_ties(m->store, m->kind, image->name, &have, err);
    if (!rc && !are_equal(&have, image->ties)) {
        *changed = true;
        rc = untie(m, image->name, err);
        for (size_t i = 0; !rc && i < image->ties->count; i++)
            rc = tie(m, image->name, image->ties->items[i], err);
    }
    ebb_strs_fini(&have);
    return rc;
}

/* ---- how often ---- */

int ebb_store_count_mirrored(struct ebb_store *store, const char *prefix, int64_t *out, struct ebb_err *err)
{
    struct ebb_buf text;
    bool found = false;
    int rc;

    ebb_buf_init(&text, 64);
    rc = ebb_store_get_value(store, SCOPE, prefix, &text, &found, err);
    *out = !rc && found ? strtoll(ebb_buf_cstr(&text), NULL, 10) : 0;
    ebb_buf_fini(&text);
    return rc;
}

static int count_change(const struct mirror *m, struct ebb_err *err)
{
    char text[32];
    int64_t count;
    int rc = ebb_store_count_mirrored(m->store, m->prefix, &count, err);

    snprintf(text, sizeof text, "%" PRId64, count + 1);
    return rc ? rc : ebb__store_write_value(m->store, SCOPE, m->prefix, text, err);
}

/* ---- the whole ---- */

static int bring_up(struct mirror *m, bool *changed, struct ebb_err *err)
{
    int rc = ebb_store_list_objects(m->store, m->kind, note, m, err);

    if (!rc)
        rc = drop_old(m, err);
    *changed = m->old.count != 0;
    for (size_t i = 0; !rc && i < m->count; i++) {
        rc = write_object(m, i, changed, err);
        if (!rc)
            rc = write_ties(m, &m->images[i], changed, err);
    }
    if (!rc && *changed)
        rc = count_change(m, err);
    return rc ? rc : ebb__store_check_objects(m->store, m->kind, err);
}

int ebb_store_mirror_objects(struct ebb_store *store, enum ebb_object_kind kind, const char *prefix,
                             const struct ebb_object_image *images, size_t count, int64_t now_ms, bool is_dry,
                             bool *changed, struct ebb_err *err)
{
    struct mirror m = {.store = store,
                       .kind = kind,
                       .prefix = prefix,
                       .images = images,
                       .count = count,
                       .now_ms = now_ms,
                       .is_there = calloc(count + 1, sizeof(bool)),
                       .is_same = calloc(count + 1, sizeof(bool))};
    int rc = m.is_there && m.is_same ? ebb__store_begin(store, err) : ebb_err_nomem(err);

    *changed = false;
    ebb_strs_init(&m.old);
    if (!rc) {
        rc = bring_up(&m, changed, err);
        if (!rc && is_dry)
            ebb__store_end(store, -(int)EBB_ECANCELLED, NULL); /* all of it is taken back */
        else
            rc = ebb__store_end(store, rc, err);
    }
    *changed = *changed && !rc;
    ebb_strs_fini(&m.old);
    free(m.is_there);
    free(m.is_same);
    return rc;
}
