/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <stdlib.h>
#include <strings.h>

static const char *const NAMES[] = {"catalog", "schema", "table"};
/* Types of Gravitino that are none of ours. */
static const char *const OTHERS[] = {"metalake", "column", "fileset",      "topic", "model",    "role", "tag",
                                     "policy",   "job",    "job_template", "view",  "function", "user", "group"};

const char *ebb__place_name(enum ebb__place_kind kind)
{
    return kind < EBB__PLACE_OTHER ? NAMES[kind] : "other";
}

void ebb__place_fini(struct ebb__place *place)
{
    free(place->full_name);
    free(place->catalog);
    free(place->namespace_);
    free(place->table);
    memset(place, 0, sizeof *place);
}

static bool read_kind(const char *text, enum ebb__place_kind *out)
{
    for (size_t i = 0; i < 3; i++)
        if (!strcasecmp(text, NAMES[i])) {
            *out = (enum ebb__place_kind)i;
            return true;
        }
    *out = EBB__PLACE_OTHER;
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (!strcasecmp(text, OTHERS[i]))
            return true;
    return false;
}

/* Take "lake.shop.orders" apart by the kind; false when it has too few or empty parts, or characters that no name of
 * ours has. */
static bool split(struct ebb__place *p, const char *name)
{
    const char *first = strchr(name, '.'), *last = strrchr(name, '.');
    size_t n = strlen(name);

    if (!n || strpbrk(name, "/:*?") || strstr(name, "..") || name[0] == '.' || name[n - 1] == '.')
        return false;
    p->full_name = strdup(name);
    p->catalog = first ? strndup(name, (size_t)(first - name)) : strdup(name);
    if (!p->full_name || !p->catalog)
        return false;
    if (p->kind == EBB__PLACE_CATALOG)
        return !first;
    if (!first || (p->kind == EBB__PLACE_TABLE && first == last))
        return false;
    if (p->kind == EBB__PLACE_SCHEMA)
        p->namespace_ = strdup(first + 1);
    else {
        p->namespace_ = strndup(first + 1, (size_t)(last - first - 1));
        p->table = strdup(last + 1);
    }
    return p->namespace_ && (p->kind == EBB__PLACE_SCHEMA || p->table);
}

static int has_table(const struct ebb_api_call *call, const struct ebb__place *p, bool *out, struct ebb_err *err)
{
    struct ebb_table_ref ref;
    struct ebb_err local;
    int rc;

    memset(&ref, 0, sizeof ref);
    rc = ebb_catalog_load(ebb__gravitino_find_catalog(call, p->catalog), p->namespace_, p->table, &ref, &local);
    ebb_table_ref_fini(&ref);
    *out = rc == 0 || ebb_error_exit(local.error) == 2; /* a table that can't be read is there all the same */
    if (!rc || local.error == EBB_ETABLE_NOT_FOUND || *out)
        return 0;
    if (err)
        *err = local;
    return rc;
}

static int exists(const struct ebb_api_call *call, const struct ebb__place *p, bool *out, struct ebb_err *err)
{
    *out = ebb__gravitino_find_catalog(call, p->catalog) != NULL;
    if (!*out || p->kind == EBB__PLACE_CATALOG)
        return 0;
    if (p->kind == EBB__PLACE_SCHEMA)
        return ebb__gravitino_has_schema(call, p->catalog, p->namespace_, out, err);
    return has_table(call, p, out, err);
}

int ebb__gravitino_place(struct ebb_api_call *call, const char *noun, const char *operation, struct ebb__place *out,
                         struct ebb_err *err)
{
    const char *type = ebb__gravitino_arg(call, 1), *name = ebb__gravitino_arg(call, 2);
    struct ebb__subject subject = {noun, NULL, operation, "object", name};
    struct ebb_err local;
    bool found = false;
    int rc = ebb__gravitino_metalake(call);

    (void)err;
    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    if (!read_kind(type, &out->kind))
        return ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, &subject,
                                   "No enum constant org.apache.gravitino.MetadataObject.Type.%s", type);
    if (out->kind == EBB__PLACE_OTHER)
        return 0;
    if (split(out, name) && exists(call, out, &found, &local))
        return ebb__gravitino_fail_err(call, &subject, &local);
    if (found)
        return 0;
    return ebb__gravitino_fail(call, EBB__FAULT_NO_OBJECT, &subject, "Metadata object %s type %s doesn't exist", name,
                               ebb__place_name(out->kind));
}
