/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CUSTOM "custom-"

/* What a request says, in memory of its own. */
struct reading {
    struct ebb_api_call *call;
    struct ebb__subject subject;
    struct ebb__place place;
    struct ebb_json j;
    struct ebb_arena arena;
    struct ebb_statistic *items;
    size_t count, cap;
};

static int begin(struct reading *r, struct ebb_api_call *call, const char *operation, struct ebb_err *err)
{
    int rc;

    memset(r, 0, sizeof *r);
    r->call = call;
    r->subject = (struct ebb__subject){"statistic(s)", NULL, operation, "object", ebb__gravitino_arg(call, 2)};
    ebb_arena_init(&r->arena, EBB__GRAVITINO_BODY_MAX);
    ebb_json_init(&r->j, "request", call->body.p, call->body.n);
    rc = ebb__gravitino_place(call, "statistic(s)", operation, &r->place, err);
    if (!rc && r->place.kind != EBB__PLACE_TABLE)
        rc = ebb__gravitino_fail(call, EBB__FAULT_UNSUPPORTED, &r->subject,
                                 "Statistics are only supported for tables, not for %s", ebb__gravitino_arg(call, 1));
    return rc;
}

static int end(struct reading *r, int rc)
{
    ebb_json_fini(&r->j);
    ebb_arena_fini(&r->arena);
    free(r->items);
    ebb__place_fini(&r->place);
    return ebb__gravitino_done(rc);
}

static int malformed(struct reading *r, const struct ebb_err *err)
{
    return ebb__gravitino_malformed(r->call, "%s", err->message);
}

static int next(struct reading *r)
{
    struct ebb_err err;

    return ebb_json_next(&r->j, &err) ? malformed(r, &err) : 0;
}

static int need(struct reading *r, enum ebb_json_kind kind, const char *what)
{
    int rc = next(r);

    if (!rc && r->j.kind != kind)
        rc = ebb__gravitino_malformed(r->call, "%s: is missing or of the wrong kind", what);
    return rc;
}

/* A text without NUL, kept in the arena. */
static int keep(struct reading *r, struct ebb_str text, char **out)
{
    if (text.n && memchr(text.p, '\0', text.n))
        return ebb__gravitino_malformed(r->call, "NUL in a text");
    *out = ebb_arena_dup(&r->arena, text.p ? text.p : "", text.n);
    return *out ? 0 : -(int)EBB_ENOMEM;
}

static int add(struct reading *r, const char *partition, const char *name, const char *json)
{
    struct ebb_statistic *items = r->items;

    if (r->count == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 64;

        items = realloc(items, cap * sizeof *items);
        if (!items)
            return -(int)EBB_ENOMEM;
        r->items = items;
        r->cap = cap;
    }
    r->items[r->count++] = (struct ebb_statistic){.table = r->place.full_name,
                                                  .partition = partition,
                                                  .name = name,
                                                  .json = json,
                                                  .creator = r->call->who.name,
                                                  .modifier = r->call->who.name,
                                                  .created_ms = r->call->now_ms,
                                                  .modified_ms = r->call->now_ms};
    return 0;
}

/* An integer of more than 64 bits keeps its last 64, as it does there. */
static bool wrap(struct ebb_str text, char out[32])
{
    bool is_negative = text.n && text.p[0] == '-';
    uint64_t value = 0;

    for (size_t i = is_negative ? 1 : 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text.p[i] - '0');
    }
    value = is_negative ? 0 - value : value;
    snprintf(out, 32, "%" PRId64, value > INT64_MAX ? -(int64_t)(UINT64_MAX - value) - 1 : (int64_t)value);
    return true;
}

/* The value at hand as JSON text; null is no value. */
static int keep_value(struct reading *r, const char *name, char **out)
{
    struct ebb_str raw;
    struct ebb_err err;
    char number[32];

    if (r->j.kind == EBB_JSON_NULL)
        return ebb__gravitino_fail(r->call, EBB__FAULT_ARGUMENT, &r->subject,
                                   "Statistic value of %.200s must not be null", name);
    if (r->j.kind == EBB_JSON_FLOAT && wrap(r->j.text, number))
        return keep(r, ebb_str_of(number), out);
    if (ebb_json_raw(&r->j, &raw, &err))
        return malformed(r, &err);
    return keep(r, raw, out);
}

static int check_custom(struct reading *r, const char *name)
{
    if (!strncmp(name, CUSTOM, strlen(CUSTOM)))
        return 0;
    return ebb__gravitino_fail(r->call, EBB__FAULT_STATISTIC_NAME, &r->subject,
                               "Statistic name must start with " CUSTOM ", but got: %.200s", name);
}

/* {"custom-x": 1, …}; j is at its begin. */
static int read_values(struct reading *r, const char *partition)
{
    size_t before = r->count;
    int rc = 0;

    while (!rc) {
        char *name = NULL, *value = NULL;

        rc = next(r);
        if (rc || r->j.kind == EBB_JSON_OBJECT_END)
            break;
        rc = keep(r, r->j.text, &name);
        if (!rc)
            rc = next(r);
        if (!rc)
            rc = check_custom(r, name);
        if (!rc)
            rc = keep_value(r, name, &value);
        if (!rc)
            rc = add(r, partition, name, value);
    }
    if (!rc && r->count == before)
        rc = ebb__gravitino_fail(r->call, EBB__FAULT_ARGUMENT, &r->subject, "\"updates\" must not be empty");
    return rc;
}

/* Texts of a list as items without value; j is at its begin. */
static int read_names(struct reading *r, const char *partition)
{
    int rc = 0;

    while (!rc) {
        char *name = NULL;

        rc = next(r);
        if (rc || r->j.kind == EBB_JSON_ARRAY_END)
            break;
        if (r->j.kind != EBB_JSON_STRING)
            return ebb__gravitino_malformed(r->call, "a list of texts is wanted");
        rc = keep(r, r->j.text, &name);
        if (!rc)
            rc = add(r, partition, name, "null");
    }
    return rc;
}

/* The one member of the body. */
static int open_body(struct reading *r, const char *member, enum ebb_json_kind kind)
{
    int rc = need(r, EBB_JSON_OBJECT, "request");

    if (!rc)
        rc = need(r, EBB_JSON_KEY, member);
    if (!rc && !ebb_json_is_text(&r->j, member))
        rc = ebb__gravitino_malformed(r->call, "%s: is missing", member);
    return rc ? rc : need(r, kind, member);
}

static int close_body(struct reading *r)
{
    int rc = need(r, EBB_JSON_OBJECT_END, "end of the request");

    return rc ? rc : need(r, EBB_JSON_END, "end of the request");
}

/* {"partitionName": s, <member>: …}, in any order: the values are read when the name is known. */
static int read_partition(struct reading *r, const char *member, enum ebb_json_kind kind,
                          int (*read)(struct reading *, const char *))
{
    char *name = NULL;
    struct ebb_json at;
    bool has_at = false;
    int rc = 0;

    memset(&at, 0, sizeof at);
    while (!rc) {
        struct ebb_err err;

        rc = next(r);
        if (rc || r->j.kind == EBB_JSON_OBJECT_END)
            break;
        if (ebb_json_is_text(&r->j, "partitionName")) {
            rc = need(r, EBB_JSON_STRING, "partitionName");
            if (!rc)
                rc = keep(r, r->j.text, &name);
        } else if (ebb_json_is_text(&r->j, member)) {
            struct ebb_str raw;

            rc = need(r, kind, member);
            if (!rc && ebb_json_raw(&r->j, &raw, &err))
                rc = malformed(r, &err);
            if (!rc) {
                ebb_json_fini(&at);
                ebb_json_init(&at, "request", raw.p, raw.n);
                has_at = true;
            }
        } else
            rc = ebb__gravitino_malformed(r->call, "Unrecognized field \"%.*s\"",
                                          (int)(r->j.text.n < 200 ? r->j.text.n : 200), r->j.text.p);
    }
    if (!rc && (!name || !has_at))
        rc = ebb__gravitino_malformed(r->call, "partitionName and %s are wanted", member);
    if (!rc) {
        struct ebb_json outer = r->j;

        r->j = at;
        rc = next(r);
        if (!rc)
            rc = read(r, name);
        at = r->j;
        r->j = outer;
    }
    if (has_at)
        ebb_json_fini(&at);
    return rc;
}

static int read_partitions(struct reading *r, const char *list, const char *member, enum ebb_json_kind kind,
                           int (*read)(struct reading *, const char *))
{
    int rc = open_body(r, list, EBB_JSON_ARRAY);

    while (!rc) {
        rc = next(r);
        if (rc || r->j.kind == EBB_JSON_ARRAY_END)
            break;
        if (r->j.kind != EBB_JSON_OBJECT)
            return ebb__gravitino_malformed(r->call, "%s: a list of objects is wanted", list);
        rc = read_partition(r, member, kind, read);
    }
    if (!rc && !r->count)
        rc = ebb__gravitino_fail(r->call, EBB__FAULT_ARGUMENT, &r->subject, "\"%s\" must not be empty", list);
    return rc ? rc : close_body(r);
}

/* ---- handlers that change ---- */

static int put(struct reading *r, struct ebb_err *err)
{
    int rc = ebb_store_put_statistics(ebb__gravitino_store(r->call), r->items, r->count, err);

    return rc ? rc : ebb__gravitino_ok(r->call, err);
}

static int drop(struct reading *r, struct ebb_err *err)
{
    bool dropped = false;
    int rc = r->count ? ebb_store_drop_statistics(ebb__gravitino_store(r->call), r->items, r->count, &dropped, err) : 0;

    return rc ? rc : ebb__gravitino_dropped(r->call, dropped, err);
}

static int no_memory(int rc, struct ebb_err *err)
{
    return rc == -(int)EBB_ENOMEM ? ebb_err_nomem(err) : rc;
}

int ebb__gravitino_statistics_put(struct ebb_api_call *call, struct ebb_err *err)
{
    struct reading r;
    int rc = begin(&r, call, "UPDATE", err);

    if (!rc)
        rc = open_body(&r, "updates", EBB_JSON_OBJECT);
    if (!rc)
        rc = read_values(&r, "");
    if (!rc)
        rc = close_body(&r);
    rc = rc ? no_memory(rc, err) : put(&r, err);
    return end(&r, rc);
}

int ebb__gravitino_statistics_drop(struct ebb_api_call *call, struct ebb_err *err)
{
    struct reading r;
    int rc = begin(&r, call, "DROP", err);

    if (!rc)
        rc = open_body(&r, "names", EBB_JSON_ARRAY);
    if (!rc)
        rc = read_names(&r, "");
    if (!rc)
        rc = close_body(&r);
    if (!rc && !r.count)
        rc = ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, &r.subject, "\"names\" must not be empty");
    rc = rc ? no_memory(rc, err) : drop(&r, err);
    return end(&r, rc);
}

int ebb__gravitino_part_statistics_put(struct ebb_api_call *call, struct ebb_err *err)
{
    struct reading r;
    int rc = begin(&r, call, "UPDATE", err);

    if (!rc)
        rc = read_partitions(&r, "updates", "statistics", EBB_JSON_OBJECT, read_values);
    rc = rc ? no_memory(rc, err) : put(&r, err);
    return end(&r, rc);
}

int ebb__gravitino_part_statistics_drop(struct ebb_api_call *call, struct ebb_err *err)
{
    struct reading r;
    int rc = begin(&r, call, "DROP", err);

    if (!rc)
        rc = read_partitions(&r, "drops", "statisticNames", EBB_JSON_ARRAY, read_names);
    rc = rc ? no_memory(rc, err) : drop(&r, err);
    return end(&r, rc);
}

/* ---- handlers that list ---- */

struct listing {
    struct ebb_jsonw w;
    char *partition; /* that is open, NULL none */
};

static void write_statistic(struct ebb_jsonw *w, const struct ebb_statistic *s)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "name", s->name);
    ebb_jsonw_key(w, "value");
    ebb_jsonw_raw(w, s->json, strlen(s->json));
    ebb_jsonw_kbool(w, "reserved", false);
    ebb_jsonw_kbool(w, "modifiable", true);
    ebb__gravitino_audit(w, s->creator, s->created_ms, s->modifier, s->modified_ms);
    ebb_jsonw_end(w, '}');
}

static int list_one(void *data, const struct ebb_statistic *s, struct ebb_err *err)
{
    (void)err;
    write_statistic(data, s);
    return 0;
}

static void close_partition(struct listing *l)
{
    if (l->partition) {
        ebb_jsonw_end(&l->w, ']');
        ebb_jsonw_end(&l->w, '}');
    }
    free(l->partition);
    l->partition = NULL;
}

static int list_part(void *data, const struct ebb_statistic *s, struct ebb_err *err)
{
    struct listing *l = data;

    if (!l->partition || strcmp(l->partition, s->partition) != 0) {
        close_partition(l);
        l->partition = strdup(s->partition);
        if (!l->partition)
            return ebb_err_nomem(err);
        ebb_jsonw_begin(&l->w, '{');
        ebb_jsonw_kstr(&l->w, "partitionName", s->partition);
        ebb_jsonw_key(&l->w, "statistics");
        ebb_jsonw_begin(&l->w, '[');
    }
    write_statistic(&l->w, s);
    return 0;
}

int ebb__gravitino_statistics_list(struct ebb_api_call *call, struct ebb_err *err)
{
    struct reading r;
    struct ebb_jsonw w;
    int rc = begin(&r, call, "LIST", err);
    struct ebb_statistic_filter f = {.table = r.place.full_name};

    if (!rc) {
        ebb__gravitino_begin(call, &w);
        ebb_jsonw_key(&w, "statistics");
        ebb_jsonw_begin(&w, '[');
        rc = ebb_store_list_statistics(ebb__gravitino_store(call), &f, list_one, &w, err);
        ebb_jsonw_end(&w, ']');
        if (!rc)
            rc = ebb__gravitino_end(call, &w, err);
    }
    return end(&r, rc);
}

static bool says(const struct ebb_api_call *call, const char *key, const char *word)
{
    const char *text = ebb_value_text_of(call->query, key);

    return text && !strcmp(text, word);
}

int ebb__gravitino_part_statistics_list(struct ebb_api_call *call, struct ebb_err *err)
{
    struct reading r;
    struct listing l = {.partition = NULL};
    int rc = begin(&r, call, "LIST", err);
    struct ebb_statistic_filter f = {.table = r.place.full_name,
                                     .of_partitions = true,
                                     .from = ebb_value_text_of(call->query, "from"),
                                     .to = ebb_value_text_of(call->query, "to"),
                                     .is_from_open = says(call, "fromInclusive", "false"),
                                     .is_to_closed = says(call, "toInclusive", "true")};

    if (!rc) {
        ebb__gravitino_begin(call, &l.w);
        ebb_jsonw_key(&l.w, "partitionStatistics");
        ebb_jsonw_begin(&l.w, '[');
        rc = ebb_store_list_statistics(ebb__gravitino_store(call), &f, list_part, &l, err);
        close_partition(&l);
        ebb_jsonw_end(&l.w, ']');
        if (!rc)
            rc = ebb__gravitino_end(call, &l.w, err);
    }
    return end(&r, rc);
}
