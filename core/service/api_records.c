/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans, runs and decisions as they are recorded: lists, and one with its document.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "service/api_priv.h"

struct list {
    struct ebb__api_page page;
    enum ebb_record_kind kind;
    bool is_ascending;
};

static void put_members(struct ebb_jsonw *w, const struct ebb_value *map, const char *const *keys)
{
    for (; *keys; keys++)
        if (ebb_value_get(map, *keys)) {
            ebb_jsonw_key(w, *keys);
            ebb_value_write(ebb_value_get(map, *keys), w);
        }
}

static void put_known(struct ebb_jsonw *w, enum ebb_record_kind kind, const struct ebb_record *r)
{
    static const char *const AT[] = {"created", "started", "at"};

    ebb_jsonw_kstr(w, "id", r->id);
    ebb_jsonw_kstr(w, "table", r->table);
    ebb__api_text(w, "uuid", r->uuid);
    ebb__api_text(w, "policy", r->policy);
    ebb_jsonw_kstr(w, kind == EBB_RECORD_DECISION ? "verdict" : "status", r->status);
    ebb__api_time(w, AT[kind], r->at_ms);
    if (kind == EBB_RECORD_RUN)
        ebb__api_time(w, "ended", r->end_ms);
    if (r->parent[0])
        ebb_jsonw_kstr(w, strncmp(r->parent, "p-", 2) ? strncmp(r->parent, "d-", 2) ? "job" : "decision" : "plan",
                       r->parent);
}

void ebb__api_record(struct ebb_jsonw *w, enum ebb_record_kind kind, const struct ebb_record *r, bool is_whole)
{
    static const char *const PLAN[] = {"held_by", "candidates", "candidate_bytes", "cutoff", "location", NULL};
    static const char *const RUN[] = {"moved", "deleted", "returned", "quarantine", "kind", NULL};
    static const char *const DECISION[] = {"by", "until", "why", "mode", NULL};
    static const char *const *const MEMBERS[] = {PLAN, RUN, DECISION};
    struct ebb_value *map = NULL;

    ebb_jsonw_begin(w, '{');
    put_known(w, kind, r);
    if (!ebb_value_of_json(r->id, r->json, strlen(r->json), NULL, &map, NULL))
        put_members(w, map, MEMBERS[kind]);
    if (is_whole && map) {
        ebb_jsonw_key(w, "record");
        ebb_value_write(map, w);
    }
    ebb_jsonw_end(w, '}');
    ebb_value_free(map);
}

/* ---- lists ---- */

static int on_record(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct list *l = data;
    char position[96];

    (void)err;
    snprintf(position, sizeof position, "%c %" PRId64 " %s", l->is_ascending ? 'a' : 'd', r->at_ms, r->id);
    if (ebb__api_page_add(&l->page, position))
        ebb__api_record(&l->page.w, l->kind, r, false);
    return 0;
}

int ebb__api_since(const struct ebb_api_call *call, int64_t *out, struct ebb_err *err)
{
    const char *text = ebb__api_query_of(call, "since");

    *out = 0;
    if (!text)
        return 0;
    if (strlen(text) < sizeof "2026-01-01T00:00Z" - 1 || text[4] != '-' || (text[10] != 'T' && text[10] != 't'))
        return ebb_err_set(err, EBB_EUSAGE, "since: an instant is wanted, as 2026-01-01T00:00:00Z");
    return ebb_time_parse(text, NULL, out, err) ? ebb_err_as(err, EBB_EUSAGE, "since") : 0;
}

bool ebb__api_is_ascending(const struct ebb_api_call *call)
{
    const char *order = ebb__api_query_of(call, "order");

    return order && !strcmp(order, "asc");
}

/* "d 1750000000000 p-…": order, instant, id. */
static int read_position(struct ebb_buf *position, bool is_ascending, struct ebb_record_filter *f, struct ebb_err *err)
{
    char *end = NULL;
    const char *text = ebb_buf_cstr(position);

    if (text[0] == (is_ascending ? 'a' : 'd') && text[1] == ' ')
        f->after_ms = strtoll(text + 2, &end, 10);
    if (!end || end == text + 2 || *end != ' ' || !end[1])
        return ebb_err_set(err, EBB_EUSAGE, "cursor: not one that this list gave in this order");
    f->after = end + 1;
    return 0;
}

static int list(struct ebb_api_call *call, enum ebb_record_kind kind, const char *parent, struct ebb_err *err)
{
    struct list l = {.kind = kind, .is_ascending = ebb__api_is_ascending(call)};
    struct ebb_record_filter f = {.newest_first = !l.is_ascending, .parent = parent};
    struct ebb_buf position;
    bool found;
    int rc;

    ebb_buf_init(&position, 512);
    f.table = ebb__api_query_of(call, "table");
    f.policy = ebb__api_query_of(call, "policy");
    f.status = ebb__api_query_of(call, kind == EBB_RECORD_DECISION ? "verdict" : "status");
    rc = ebb__api_since(call, &f.since_ms, err);
    if (!rc)
        rc = ebb__api_cursor(call, &position, &found, err);
    if (!rc && found)
        rc = read_position(&position, l.is_ascending, &f, err);
    if (!rc) {
        ebb__api_page_begin(&l.page, call);
        f.limit = l.page.limit + 1;
        rc = ebb_store_list(ebb__api_store(call), kind, &f, on_record, &l, err);
        ebb__api_page_end(&l.page);
    }
    ebb_buf_fini(&position);
    return rc;
}

int ebb__api_plans_get(struct ebb_api_call *call, struct ebb_err *err)
{
    return list(call, EBB_RECORD_PLAN, ebb__api_query_of(call, "decision"), err);
}

int ebb__api_runs_get(struct ebb_api_call *call, struct ebb_err *err)
{
    return list(call, EBB_RECORD_RUN, ebb__api_query_of(call, "plan"), err);
}

int ebb__api_decisions_get(struct ebb_api_call *call, struct ebb_err *err)
{
    return list(call, EBB_RECORD_DECISION, NULL, err);
}

/* ---- one ---- */

struct taking {
    struct ebb__api_taken *out;
    const char *id;
};

static int take(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct taking *t = data;
    struct ebb__api_taken *out = t->out;

    if (strcmp(r->id, t->id) != 0) /* here an id is whole */
        return 0;
    ebb_arena_init(&out->arena, (size_t)256 << 20);
    out->record = *r;
    out->record.id = ebb_arena_dup(&out->arena, r->id, strlen(r->id));
    out->record.table = ebb_arena_dup(&out->arena, r->table, strlen(r->table));
    out->record.uuid = ebb_arena_dup(&out->arena, r->uuid, strlen(r->uuid));
    out->record.policy = ebb_arena_dup(&out->arena, r->policy, strlen(r->policy));
    out->record.status = ebb_arena_dup(&out->arena, r->status, strlen(r->status));
    out->record.parent = ebb_arena_dup(&out->arena, r->parent, strlen(r->parent));
    out->record.json = ebb_arena_dup(&out->arena, r->json, strlen(r->json));
    if (!out->record.id || !out->record.table || !out->record.uuid || !out->record.policy || !out->record.status ||
        !out->record.parent || !out->record.json)
        return ebb_err_nomem(err);
    out->is_there = true;
    return 0;
}

int ebb__api_take(const struct ebb_api_call *call, enum ebb_record_kind kind, const char *id,
                  struct ebb__api_taken *out, struct ebb_err *err)
{
    static const char *const NAMES[] = {"plan", "run", "decision"};
    struct taking t = {out, id};
    int rc;

    memset(out, 0, sizeof *out);
    rc = ebb_store_get(ebb__api_store(call), kind, id, take, &t, err);
    if (rc == -(int)EBB_ENOT_FOUND || (!rc && !out->is_there))
        rc = ebb__api_not_found(err, NAMES[kind], id);
    if (rc)
        ebb__api_taken_fini(out);
    return rc;
}

void ebb__api_taken_fini(struct ebb__api_taken *taken)
{
    ebb_arena_fini(&taken->arena);
    memset(taken, 0, sizeof *taken);
}

static int show(struct ebb_api_call *call, enum ebb_record_kind kind, struct ebb_err *err)
{
    struct ebb__api_taken taken;
    struct ebb_jsonw w;
    int rc = ebb__api_take(call, kind, call->args->items[0], &taken, err);

    if (rc)
        return rc;
    ebb_jsonw_init(&w, &call->out);
    ebb__api_record(&w, kind, &taken.record, true);
    ebb_buf_putc(&call->out, '\n');
    ebb__api_taken_fini(&taken);
    return 0;
}

int ebb__api_run_get(struct ebb_api_call *call, struct ebb_err *err)
{
    return show(call, EBB_RECORD_RUN, err);
}

int ebb__api_decision_get(struct ebb_api_call *call, struct ebb_err *err)
{
    return show(call, EBB_RECORD_DECISION, err);
}

/* ---- why: what belongs together ---- */

static int put_parent(struct ebb_api_call *call, struct ebb_jsonw *w, enum ebb_record_kind kind, const char *key,
                      const char *id, char next[64], struct ebb_err *err)
{
    struct ebb__api_taken taken;
    int rc = ebb__api_take(call, kind, id, &taken, err);

    next[0] = '\0';
    if (rc == -(int)EBB_ENOT_FOUND) /* dropped, or from elsewhere */
        return 0;
    if (rc)
        return rc;
    ebb_jsonw_key(w, key);
    ebb__api_record(w, kind, &taken.record, true);
    snprintf(next, 64, "%s", taken.record.parent);
    ebb__api_taken_fini(&taken);
    return 0;
}

struct children {
    struct ebb_jsonw *w;
    enum ebb_record_kind kind;
};

static int on_child(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct children *c = data;

    (void)err;
    ebb__api_record(c->w, c->kind, r, false);
    return 0;
}

static int put_children(struct ebb_api_call *call, struct ebb_jsonw *w, enum ebb_record_kind kind, const char *key,
                        const char *parent, struct ebb_err *err)
{
    struct ebb_record_filter f = {.parent = parent, .limit = EBB__API_LIMIT};
    struct children c = {w, kind};
    int rc;

    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '[');
    rc = ebb_store_list(ebb__api_store(call), kind, &f, on_child, &c, err);
    ebb_jsonw_end(w, ']');
    return rc;
}

/* A decision with the plans and runs that came of it; a run or plan with what it came from. */
int ebb__api_explain_get(struct ebb_api_call *call, struct ebb_err *err)
{
    const char *id = call->args->items[0];
    struct ebb__api_taken taken;
    struct ebb_jsonw w;
    char next[64];
    int rc = ebb__api_take(call, EBB_RECORD_DECISION, id, &taken, err);

    if (rc)
        return rc;
    ebb_jsonw_init(&w, &call->out);
    ebb_jsonw_begin(&w, '{');
    ebb__api_taken_fini(&taken);
    rc = put_parent(call, &w, EBB_RECORD_DECISION, "decision", id, next, err);
    if (!rc)
        rc = put_children(call, &w, EBB_RECORD_PLAN, "plans", id, err);
    if (!rc)
        rc = put_children(call, &w, EBB_RECORD_RUN, "runs", id, err);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&call->out, '\n');
    return rc;
}
