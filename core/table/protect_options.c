/* SPDX-License-Identifier: Apache-2.0
 *
 * Protection options in a plan's header: written by plan, read by apply, so that both protect the same things.
 */
#include <stdlib.h>

#include "format/json.h"
#include "table/protect.h"

static const char *const MISMATCH[] = {"error", "ignore", "delete"};

void ebb_protect_options_init(struct ebb_protect_options *options)
{
    memset(options, 0, sizeof *options);
}

void ebb_protect_options_fini(struct ebb_protect_options *options)
{
    ebb_strs_fini(&options->equal_schemes);
    ebb_strs_fini(&options->equal_authorities);
    ebb_strs_fini(&options->with);
    ebb_strs_fini(&options->dropped);
    ebb_strs_fini(&options->read_also);
    ebb_strs_fini(&options->exclude);
    free(options->scanned);
    ebb_protect_options_init(options);
}

static void write_list(struct ebb_jsonw *w, const char *key, const struct ebb_strs *list)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < list->count; i++)
        ebb_jsonw_str(w, list->items[i]);
    ebb_jsonw_end(w, ']');
}

void ebb_protect_options_write(const struct ebb_protect_options *options, struct ebb_jsonw *w)
{
    ebb_jsonw_kstr(w, "prefix_mismatch", MISMATCH[options->mismatch]);
    write_list(w, "equal_schemes", &options->equal_schemes);
    write_list(w, "equal_authorities", &options->equal_authorities);
    write_list(w, "with", &options->with);
    write_list(w, "dropped", &options->dropped);
    write_list(w, "read_also", &options->read_also);
    write_list(w, "exclude", &options->exclude);
    ebb_jsonw_kstr(w, "scanned", options->scanned);
    ebb_jsonw_kbool(w, "keep_deleted_entries", options->keep_deleted_entries);
}

static int read_list(struct ebb_json *j, const char *key, struct ebb_strs *out, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_ARRAY, key, err);

    while (!rc) {
        rc = ebb_json_next(j, err);
        if (rc || j->kind == EBB_JSON_ARRAY_END)
            break;
        if (j->kind != EBB_JSON_STRING)
            return ebb_json_fail(j, err, "%s: a list of strings is wanted", key);
        rc = ebb_strs_addn(out, j->text.p, j->text.n, err);
    }
    return rc;
}

static int read_mismatch(struct ebb_json *j, struct ebb_protect_options *out, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_STRING, "prefix_mismatch", err);

    for (size_t i = 0; !rc && i < 3; i++)
        if (ebb_str_is_equal(j->text, ebb_str_of(MISMATCH[i]))) {
            out->mismatch = (enum ebb_mismatch_mode)i;
            return 0;
        }
    return rc ? rc : ebb_json_fail(j, err, "prefix_mismatch: unknown value");
}

static int read_scanned(struct ebb_json *j, struct ebb_protect_options *out, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == EBB_JSON_NULL)
        return rc;
    if (j->kind != EBB_JSON_STRING)
        return ebb_json_fail(j, err, "scanned: a string is wanted");
    free(out->scanned);
    out->scanned = strndup(j->text.p, j->text.n);
    return out->scanned ? 0 : ebb_err_nomem(err);
}

struct list_member {
    const char *key;
    size_t offset;
};

static const struct list_member LISTS[] = {
    {"equal_schemes", offsetof(struct ebb_protect_options, equal_schemes)},
    {"equal_authorities", offsetof(struct ebb_protect_options, equal_authorities)},
    {"with", offsetof(struct ebb_protect_options, with)},
    {"dropped", offsetof(struct ebb_protect_options, dropped)},
    {"read_also", offsetof(struct ebb_protect_options, read_also)},
    {"exclude", offsetof(struct ebb_protect_options, exclude)},
};

static int read_member(struct ebb_json *j, struct ebb_protect_options *out, struct ebb_err *err)
{
    struct ebb_str key = j->text;

    for (size_t i = 0; i < sizeof LISTS / sizeof LISTS[0]; i++)
        if (ebb_str_is_equal(key, ebb_str_of(LISTS[i].key)))
            return read_list(j, LISTS[i].key, (struct ebb_strs *)(void *)((char *)out + LISTS[i].offset), err);
    if (ebb_str_is_equal(key, EBB_STR("prefix_mismatch")))
        return read_mismatch(j, out, err);
    if (ebb_str_is_equal(key, EBB_STR("scanned")))
        return read_scanned(j, out, err);
    if (ebb_str_is_equal(key, EBB_STR("keep_deleted_entries")))
        return ebb_json_read_bool(j, "keep_deleted_entries", &out->keep_deleted_entries, err);
    return ebb_json_skip(j, err);
}

int ebb_protect_options_read(struct ebb_str json, struct ebb_protect_options *out, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "plan options", json.p, json.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "options", err);
    while (!rc) {
        rc = ebb_json_next(&j, err);
        if (rc || j.kind == EBB_JSON_OBJECT_END)
            break;
        rc = read_member(&j, out, err);
    }
    ebb_json_fini(&j);
    return rc == -(int)EBB_ECORRUPT ? ebb_err_as(err, EBB_EPLAN, NULL) : rc;
}
