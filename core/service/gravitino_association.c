/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

/* What a place and the ones above it are tied to: its own first, then from the nearest on. */
struct ties {
    struct ebb_api_call *call;
    const struct ebb__place *place;
    struct ebb_strs names;
    size_t direct; /* how many of them are its own */
};

static int add_from(struct ties *t, enum ebb__place_kind kind, const char *full_name, struct ebb_err *err)
{
    struct ebb_strs found;
    int rc;

    ebb_strs_init(&found);
    rc = ebb_store_tied_objects(ebb__gravitino_store(t->call), EBB_OBJECT_POLICY, ebb__place_name(kind), full_name,
                                &found, err);
    for (size_t i = 0; !rc && i < found.count; i++)
        if (!ebb_strs_has(&t->names, found.items[i]))
            rc = ebb_strs_add(&t->names, found.items[i], err);
    ebb_strs_fini(&found);
    return rc;
}

/* "lake.a.b", "lake.a", and then the catalog; a schema itself is not above itself. */
static int add_above(struct ties *t, struct ebb_err *err)
{
    struct ebb_buf name;
    char *text, *dot;
    int rc = 0;

    ebb_buf_init(&name, 65536);
    ebb_buf_puts(&name, t->place->full_name);
    rc = ebb_buf_check(&name, "name", err);
    text = rc ? NULL : name.data;
    while (!rc && (dot = strrchr(text, '.')) != NULL) {
        *dot = '\0';
        rc = add_from(t, strchr(text, '.') ? EBB__PLACE_SCHEMA : EBB__PLACE_CATALOG, text, err);
    }
    ebb_buf_fini(&name);
    return rc;
}

static int gather(struct ties *t, struct ebb_err *err)
{
    int rc = add_from(t, t->place->kind, t->place->full_name, err);

    t->direct = t->names.count;
    return rc ? rc : add_above(t, err);
}

static int refuse_kind(struct ebb_api_call *call, const struct ebb__subject *subject)
{
    return ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, subject,
                               "Cannot associate policies for unsupported metadata object type %s",
                               ebb__gravitino_arg(call, 1));
}

/* The place of the path, that policies can be tied to. */
static int find_place(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb__place *out,
                      struct ebb_err *err)
{
    int rc = ebb__gravitino_place(call, "policy(s)", subject->operation, out, err);

    if (!rc && out->kind == EBB__PLACE_OTHER)
        rc = refuse_kind(call, subject);
    return rc;
}

static struct ebb__subject subject_of(const struct ebb_api_call *call, const char *name, const char *operation)
{
    return (struct ebb__subject){"policy(s)", name, operation, "object", ebb__gravitino_arg(call, 2)};
}

static int write_policy(const struct ties *t, struct ebb_jsonw *w, size_t index, struct ebb_err *err)
{
    struct ebb__entity e;
    int rc = ebb__entity_get(t->call, EBB_OBJECT_POLICY, t->names.items[index], &e, err);

    if (!rc)
        rc = ebb__gravitino_write_policy(w, &e.object, index < t->direct ? "false" : "true", err);
    ebb__entity_fini(&e);
    return rc == -(int)EBB_ENOT_FOUND ? 0 : rc; /* dropped meanwhile */
}

static int answer_details(const struct ties *t, struct ebb_err *err)
{
    struct ebb_jsonw w;
    int rc = 0;

    ebb__gravitino_begin(t->call, &w);
    ebb_jsonw_key(&w, "policies");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; !rc && i < t->names.count; i++)
        rc = write_policy(t, &w, i, err);
    ebb_jsonw_end(&w, ']');
    return rc ? rc : ebb__gravitino_end(t->call, &w, err);
}

static int answer_names(struct ebb_api_call *call, const struct ebb_strs *names, struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb__gravitino_begin(call, &w);
    ebb__gravitino_names(&w, names);
    return ebb__gravitino_end(call, &w, err);
}

int ebb__gravitino_ties_list(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__subject subject = subject_of(call, NULL, "LIST");
    struct ebb__place place;
    struct ties t = {.call = call, .place = &place};
    int rc = find_place(call, &subject, &place, err);

    ebb_strs_init(&t.names);
    if (!rc)
        rc = gather(&t, err);
    if (!rc)
        rc = ebb__gravitino_asks(call, "details") ? answer_details(&t, err) : answer_names(call, &t.names, err);
    ebb_strs_fini(&t.names);
    ebb__place_fini(&place);
    return ebb__gravitino_done(rc);
}

int ebb__gravitino_tie_get(struct ebb_api_call *call, struct ebb_err *err)
{
    const char *name = ebb__gravitino_arg(call, 3);
    struct ebb__subject subject = subject_of(call, name, "GET");
    struct ebb__place place;
    struct ties t = {.call = call, .place = &place};
    struct ebb_jsonw w;
    size_t at = 0;
    int rc = find_place(call, &subject, &place, err);

    ebb_strs_init(&t.names);
    if (!rc)
        rc = gather(&t, err);
    while (!rc && at < t.names.count && strcmp(t.names.items[at], name) != 0)
        at++;
    if (!rc && at == t.names.count)
        rc = ebb__gravitino_fail_bare(call, EBB__FAULT_NO_POLICY, &subject, "Policy %s is not associated with %s", name,
                                      place.full_name);
    if (!rc) {
        ebb__gravitino_begin(call, &w);
        ebb_jsonw_key(&w, "policy");
        rc = write_policy(&t, &w, at, err);
        if (!rc)
            rc = ebb__gravitino_end(call, &w, err);
    }
    ebb_strs_fini(&t.names);
    ebb__place_fini(&place);
    return ebb__gravitino_done(rc);
}

/* ---- change ---- */

struct change {
    struct ebb_strs add, remove; /* as asked */
};

/* Names that stand in one list and not in the other. */
static int without(const struct ebb_strs *list, const struct ebb_strs *other, struct ebb_strs *out, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < list->count; i++)
        if (!ebb_strs_has(other, list->items[i]) && !ebb_strs_has(out, list->items[i]))
            rc = ebb_strs_add(out, list->items[i], err);
    return rc;
}

static int read_change(struct ebb_api_call *call, const struct ebb__subject *subject, const struct ebb_value *body,
                       struct change *c, struct ebb_err *err)
{
    struct ebb_strs add, remove;
    int rc;

    ebb_strs_init(&add);
    ebb_strs_init(&remove);
    rc = ebb__gravitino_texts(call, body, "policiesToAdd", &add, err);
    if (!rc)
        rc = ebb__gravitino_texts(call, body, "policiesToRemove", &remove, err);
    if (!rc && !ebb_value_get(body, "policiesToAdd") && !ebb_value_get(body, "policiesToRemove"))
        rc = ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, subject,
                                 "policiesToAdd and policiesToRemove cannot both be null");
    if (!rc)
        rc = without(&add, &remove, &c->add, err);
    if (!rc)
        rc = without(&remove, &add, &c->remove, err);
    ebb_strs_fini(&remove);
    ebb_strs_fini(&add);
    return rc;
}

static int tie(struct ebb_api_call *call, const struct ebb__subject *subject, const struct ebb__place *place,
               const struct change *c, struct ebb_err *err)
{
    struct ebb_buf names;
    int rc = ebb_store_tie_objects(ebb__gravitino_store(call), EBB_OBJECT_POLICY, ebb__place_name(place->kind),
                                   place->full_name, &c->add, &c->remove, err);

    if (rc != -(int)EBB_EEXIST) {
        if (!rc)
            ebb__gravitino_tell(call, EBB_NOTE_OBJECTS, NULL);
        return rc;
    }
    ebb_buf_init(&names, 512);
    for (size_t i = 0; i < c->add.count; i++)
        ebb_buf_printf(&names, "%s%s", i ? ", " : "", c->add.items[i]);
    rc = ebb__gravitino_fail(
        call, EBB__FAULT_POLICY_TIED, subject,
        "Failed to associate policies for metadata object %s, some policies already associated: [%s]", place->full_name,
        names.bad ? "…" : ebb_buf_cstr(&names));
    ebb_buf_fini(&names);
    return rc;
}

static int answer_direct(struct ebb_api_call *call, const struct ebb__place *place, struct ebb_err *err)
{
    struct ebb_strs names;
    int rc;

    ebb_strs_init(&names);
    rc = ebb_store_tied_objects(ebb__gravitino_store(call), EBB_OBJECT_POLICY, ebb__place_name(place->kind),
                                place->full_name, &names, err);
    if (!rc)
        rc = answer_names(call, &names, err);
    ebb_strs_fini(&names);
    return rc;
}

int ebb__gravitino_ties_change(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__subject subject = subject_of(call, NULL, "ASSOCIATE");
    struct ebb_value *body = NULL;
    struct ebb__place place = {0};
    struct change c;
    int rc = ebb__gravitino_body(call, "|policiesToAdd|policiesToRemove|", &body, err);

    ebb_strs_init(&c.add);
    ebb_strs_init(&c.remove);
    if (!rc)
        rc = read_change(call, &subject, body, &c, err);
    if (!rc)
        rc = find_place(call, &subject, &place, err);
    if (!rc)
        rc = tie(call, &subject, &place, &c, err);
    if (!rc)
        rc = answer_direct(call, &place, err);
    ebb_strs_fini(&c.remove);
    ebb_strs_fini(&c.add);
    ebb__place_fini(&place);
    ebb_value_free(body);
    return ebb__gravitino_done(rc);
}
