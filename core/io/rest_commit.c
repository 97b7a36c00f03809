/* SPDX-License-Identifier: Apache-2.0
 *
 * Snapshots are taken out of a table by a commit that requires what was judged. A server drops a ref whose snapshot
 * goes without a word, and no requirement says "and no other refs": so the table is loaded right before and right
 * after.
 */
#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "io/catalog_rest_priv.h"

#define BODY_MAX ((size_t)64 << 20)

struct commit {
    struct ebb__rest_catalog *catalog;
    const struct ebb_commit_removal *removal;
    struct ebb_strs levels;
    char *before; /* metadata file that was current right before */
    char *token;  /* of the table */
    size_t present;
    int status;
    struct ebb_err answer; /* why the commit was not plainly done */
};

static int fail(const struct commit *c, struct ebb_err *err, enum ebb_error error, const char *why)
{
    return ebb_err_set(err, error, "catalog '%s': table %s.%s: %s", c->catalog->rest->name, c->removal->namespace_,
                       c->removal->name, why);
}

static int conflict(const struct commit *c, struct ebb_err *err, const char *why)
{
    fail(c, err, EBB_ECOMMIT_CONFLICT, why);
    if (err)
        err->retryable = true;
    ebb_err_hint(err, "nothing was changed; try again");
    return -(int)EBB_ECOMMIT_CONFLICT;
}

/* ---- what the table is ---- */

static const struct ebb__rest_ref *find_ref(const struct ebb__rest_table *t, const char *name)
{
    for (size_t i = 0; i < t->ref_count; i++)
        if (!strcmp(t->refs[i].name, name))
            return &t->refs[i];
    return NULL;
}

static bool is_to_go(const struct ebb_commit_removal *r, int64_t id)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->snapshots[i] == id)
            return true;
    return false;
}

static size_t count_present(const struct ebb_commit_removal *r, const struct ebb__rest_table *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->snapshot_count; i++)
        n += is_to_go(r, t->snapshots[i]);
    return n;
}

/* A table may have a current snapshot and no refs at all (version 1): that counts as main. */
static bool has_same_refs(const struct ebb_commit_removal *r, const struct ebb__rest_table *t)
{
    if (!t->ref_count && t->current >= 0)
        return r->ref_count == 1 && !strcmp(r->refs[0].name, "main") && r->refs[0].snapshot == t->current;
    if (r->ref_count != t->ref_count)
        return false;
    for (size_t i = 0; i < r->ref_count; i++) {
        const struct ebb__rest_ref *ref = find_ref(t, r->refs[i].name);

        if (!ref || ref->snapshot != r->refs[i].snapshot)
            return false;
    }
    return true;
}

static int check_before(struct commit *c, const struct ebb__rest_table *t, struct ebb_err *err)
{
    if (!t->uuid || strcasecmp(t->uuid, c->removal->uuid))
        return conflict(c, err, "another table has this name now");
    if (!t->collects)
        return fail(c, err, EBB_EGC_DISABLED, "gc.enabled is false: its snapshots stay");
    if (!t->metadata_uri)
        return fail(c, err, EBB_EPOINTER_UNKNOWN, "it has no metadata file (yet)");
    if (!has_same_refs(c->removal, t))
        return conflict(c, err, "its branches or tags changed meanwhile");
    if (t->current >= 0 && is_to_go(c->removal, t->current))
        return fail(c, err, EBB_EUSAGE, "the current snapshot stays");
    c->present = count_present(c->removal, t);
    c->before = strdup(t->metadata_uri);
    c->token = t->token ? strdup(t->token) : NULL;
    return c->before && !t->token == !c->token ? 0 : ebb_err_nomem(err);
}

/* ---- the commit ---- */

static void put_requirements(struct ebb_jsonw *w, const struct commit *c)
{
    const struct ebb_commit_removal *r = c->removal;

    ebb_jsonw_key(w, "requirements");
    ebb_jsonw_begin(w, '[');
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "type", "assert-table-uuid");
    ebb_jsonw_kstr(w, "uuid", r->uuid);
    ebb_jsonw_end(w, '}');
    for (size_t i = 0; i < r->ref_count; i++) {
        ebb_jsonw_begin(w, '{');
        ebb_jsonw_kstr(w, "type", "assert-ref-snapshot-id");
        ebb_jsonw_kstr(w, "ref", r->refs[i].name);
        ebb_jsonw_kint(w, "snapshot-id", r->refs[i].snapshot);
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, ']');
}

static void put_body(struct ebb_buf *out, const struct commit *c)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_key(&w, "identifier");
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_key(&w, "namespace");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < c->levels.count; i++)
        ebb_jsonw_str(&w, c->levels.items[i]);
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_kstr(&w, "name", c->removal->name);
    ebb_jsonw_end(&w, '}');
    put_requirements(&w, c);
    ebb_jsonw_key(&w, "updates");
    ebb_jsonw_begin(&w, '[');
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "action", "remove-snapshots");
    ebb_jsonw_key(&w, "snapshot-ids");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < c->removal->count; i++)
        ebb_jsonw_int(&w, c->removal->snapshots[i]);
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_end(&w, '}');
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_end(&w, '}');
}

/* Sent once, whatever the answer: what became of it is left in c. */
static int send_commit(struct commit *c, struct ebb_err *err)
{
    struct ebb__rest *rest = c->catalog->rest;
    struct ebb__rest_ask ask;
    struct ebb_buf body;
    int rc;

    ebb_buf_init(&body, BODY_MAX);
    put_body(&body, c);
    ebb__rest_ask_init(&ask, "commit");
    ask.method = "POST";
    ask.body = ebb_buf_str(&body);
    ask.token = c->token;
    ask.answer_bytes = EBB__REST_LARGE;
    ebb__rest_put_table(rest, &ask.path, &c->levels, c->removal->name);
    rc = ebb_buf_check(&body, "commit", err);
    if (!rc) {
        struct ebb_err why = {0};

        rc = ebb__rest_ask_one(rest, &ask, &why);
        c->status = ask.status;
        c->answer = why;
        /* a token that can't be had: nothing was sent */
        if (rc && !ask.status && !ask.err.error && why.error != EBB_ECANCELLED && err)
            *err = why;
        else
            rc = 0;
    }
    ebb__rest_ask_fini(&ask);
    ebb_buf_fini(&body);
    return rc;
}

/* ---- afterwards ---- */

static int unknown(const struct commit *c, struct ebb_err *err, const char *why)
{
    fail(c, err, EBB_ECOMMIT_UNKNOWN, why);
    ebb_err_hint(err, "look at the table's snapshots before anything else; files stay in any case");
    return -(int)EBB_ECOMMIT_UNKNOWN;
}

static bool has_all_refs(const struct ebb_commit_removal *r, const struct ebb__rest_table *t)
{
    if (!t->ref_count && t->current >= 0)
        return r->ref_count == 1 && !strcmp(r->refs[0].name, "main");
    for (size_t i = 0; i < r->ref_count; i++)
        if (!find_ref(t, r->refs[i].name))
            return false;
    return true;
}

/* The server said no, and is believed: the table is as it was. */
static int refused(const struct commit *c, struct ebb_err *err)
{
    if (c->status == 409)
        return conflict(c, err, "somebody else changed it at the same time");
    if (err)
        *err = c->answer;
    return -(int)c->answer.error;
}

static bool is_open(const struct commit *c)
{
    return c->status >= 500 || c->status == 408 || c->status == 0;
}

/* An answer of 500 or 503 was given by the server itself: what is not there then, will not come. */
static int not_done(const struct commit *c, struct ebb_err *err)
{
    if (c->status != 500 && c->status != 501 && c->status != 503)
        return unknown(c, err, "the commit got no answer, and is not there (yet)");
    fail(c, err, EBB_ECATALOG, "");
    if (err) {
        *err = c->answer;
        err->error = EBB_ECATALOG;
    }
    ebb_err_hint(err, "the table was loaded again: nothing was changed");
    return -(int)EBB_ECATALOG;
}

static int judge(struct commit *c, const struct ebb__rest_table *t, struct ebb_commit_done *out, struct ebb_err *err)
{
    size_t left = count_present(c->removal, t);

    if (!t->uuid || strcasecmp(t->uuid, c->removal->uuid))
        return unknown(c, err, "another table has this name now");
    if (!has_all_refs(c->removal, t))
        return unknown(c, err, "a branch or tag is gone since the commit");
    if (left == c->present && c->present && is_open(c))
        return not_done(c, err);
    if (left)
        return unknown(c, err, "some of the snapshots are still there after the commit");
    out->removed = c->present;
    out->was_seen_by_reload = is_open(c);
    out->metadata_uri = t->metadata_uri ? strdup(t->metadata_uri) : NULL;
    return out->metadata_uri ? 0 : unknown(c, err, "it has no metadata file after the commit");
}

static int look_after(struct commit *c, struct ebb_commit_done *out, struct ebb_err *err)
{
    struct ebb__rest_table *t;
    struct ebb_err why = {0};
    int rc = ebb__rest_load_one(c->catalog, &c->levels, c->removal->name, true, &t, &why);

    if (!rc)
        return judge(c, t, out, err);
    unknown(c, err, "the commit was sent, and the table can't be loaded since");
    return -(int)EBB_ECOMMIT_UNKNOWN;
}

static int run(struct commit *c, struct ebb_commit_done *out, struct ebb_err *err)
{
    struct ebb__rest_table *t;
    int rc = ebb__rest_load_one(c->catalog, &c->levels, c->removal->name, true, &t, err);

    if (!rc)
        rc = check_before(c, t, err);
    if (!rc && !c->present) {
        out->metadata_uri = strdup(c->before);
        return out->metadata_uri ? 0 : ebb_err_nomem(err); /* somebody was first */
    }
    if (!rc)
        rc = send_commit(c, err);
    if (rc)
        return rc;
    if (c->status >= 300 && c->status < 500 && c->status != 408)
        return refused(c, err);
    return look_after(c, out, err);
}

int ebb__rest_remove_snapshots(struct ebb_catalog *catalog, const struct ebb_commit_removal *removal,
                               struct ebb_commit_done *out, struct ebb_err *err)
{
    struct commit c = {.catalog = catalog->state, .removal = removal};
    int rc = ebb__rest_ready(c.catalog->rest, err);

    ebb_strs_init(&c.levels);
    if (!rc)
        rc = ebb__rest_split(removal->namespace_, &c.levels, err);
    if (!rc)
        rc = run(&c, out, err);
    ebb_strs_fini(&c.levels);
    free(c.before);
    free(c.token);
    return rc;
}
