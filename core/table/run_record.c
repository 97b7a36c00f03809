/* SPDX-License-Identifier: Apache-2.0 */
#include "table/run_priv.h"

#include <stdio.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/time.h"
#include "format/json.h"
#include "table/notes_priv.h"

#define RECORD_BYTES ((size_t)64 << 20)
#define NOTES_KEPT 1000

static const char *const VERIFY[] = {"full", "sample", "none"};
static const char *const STATUS[] = {"started", "done", "partial", "failed", "interrupted", "restored", "purged"};

static void write_time(struct ebb_jsonw *w, const char *key, int64_t ms)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 64);
    ebb_time_iso(&text, ms);
    ebb_jsonw_kstr(w, key, ms > 0 ? ebb_buf_cstr(&text) : NULL);
    ebb_buf_fini(&text);
}

static void write_result(struct ebb_jsonw *w, const struct ebb_apply_result *r)
{
    ebb_jsonw_kint(w, "moved", r->moved);
    ebb_jsonw_kint(w, "deleted", r->deleted);
    ebb_jsonw_kint(w, "returned", r->returned);
    ebb_jsonw_kint(w, "already_gone", r->already_gone);
    ebb_jsonw_key(w, "skipped");
    ebb__notes_write(&r->skipped, NOTES_KEPT, w);
    ebb_jsonw_key(w, "failed");
    ebb__notes_write(&r->failed, NOTES_KEPT, w);
}

static void write_host(struct ebb_jsonw *w)
{
    char host[256] = "";

    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    ebb_jsonw_kstr(w, "host", host);
    ebb_jsonw_kstr(w, "engine_version", EBB_VERSION);
}

static void write_json(const struct ebb__run *run, const struct ebb_apply_result *result, struct ebb_buf *out)
{
    static const struct ebb_apply_result NOTHING;
    const struct ebb__run_record *r = &run->record;
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "id", r->id);
    ebb_jsonw_kstr(&w, "kind", "apply");
    ebb_jsonw_kstr(&w, "plan", r->plan);
    ebb_jsonw_kstr(&w, "table", r->table);
    ebb_jsonw_kstr(&w, "uuid", r->uuid);
    ebb_jsonw_kstr(&w, "location", r->location);
    ebb_jsonw_kstr(&w, "quarantine", run->quarantine.uri);
    ebb_jsonw_kstr(&w, "outside", r->outside);
    ebb_jsonw_key(&w, "options");
    ebb_jsonw_raw(&w, r->options.p, r->options.n);
    ebb_jsonw_kbool(&w, "delete", r->is_delete);
    ebb_jsonw_kstr(&w, "verify", VERIFY[r->verify]);
    ebb_jsonw_kint(&w, "batch", r->batch_count);
    ebb_jsonw_kstr(&w, "plan_file", r->plan_file);
    ebb_jsonw_kstr(&w, "plan_sha256", r->plan_sha256);
    ebb_jsonw_kstr(&w, "status", r->status);
    write_time(&w, "started", r->started_ms);
    write_time(&w, "ended", r->ended_ms);
    write_result(&w, result ? result : &NOTHING);
    write_host(&w);
    ebb_jsonw_end(&w, '}');
}

int ebb__run_describe(const struct ebb__run *run, const struct ebb_apply_result *result, struct ebb_buf *json,
                      struct ebb_record *out, struct ebb_err *err)
{
    ebb_buf_init(json, RECORD_BYTES);
    write_json(run, result, json);
    memset(out, 0, sizeof *out);
    out->id = run->record.id;
    out->table = run->record.table;
    out->uuid = run->record.uuid;
    out->policy = run->record.policy;
    out->status = run->record.status;
    out->at_ms = run->record.started_ms;
    out->end_ms = run->record.ended_ms;
    out->parent = run->record.plan;
    out->json = ebb_buf_cstr(json);
    return ebb_buf_check(json, "run record", err);
}

int ebb__run_save(struct ebb__run *run, const char *status, const struct ebb_apply_result *result, struct ebb_err *err)
{
    struct ebb_record record;
    struct ebb_buf json;
    int rc;

    run->record.status = status;
    rc = ebb__run_describe(run, result, &json, &record, err);
    EBB_FAILPOINT("journal.run_record.before");
    if (!rc)
        rc = ebb_store_put(run->site.store, EBB_RECORD_RUN, &record, err);
    EBB_FAILPOINT("journal.run_record.after");
    ebb_buf_fini(&json);
    return rc;
}

/* ---- reading ---- */

struct text_member {
    const char *key;
    const char **to;
};

static int dup_text(struct ebb__run *run, const char *p, size_t n, const char **out, struct ebb_err *err)
{
    *out = ebb_arena_dup(&run->arena, p ? p : "", n);
    return *out ? 0 : ebb_err_nomem(err);
}

static int read_text(struct ebb__run *run, struct ebb_json *j, const char **to, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == EBB_JSON_NULL)
        return rc;
    if (j->kind != EBB_JSON_STRING)
        return ebb_json_fail(j, err, "a text is expected");
    return dup_text(run, j->text.p, j->text.n, to, err);
}

static int read_verify(struct ebb__run *run, struct ebb_json *j, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_STRING, "verify", err);
    int i;

    for (i = 0; i < 3 && !rc; i++)
        if (ebb_str_is_equal(j->text, ebb_str_of(VERIFY[i])))
            run->record.verify = (enum ebb_verify_mode)i;
    return rc;
}

static int read_options(struct ebb__run *run, struct ebb_json *j, struct ebb_err *err)
{
    struct ebb_str raw;
    int rc = ebb_json_raw(j, &raw, err);

    if (!rc)
        rc = dup_text(run, raw.p, raw.n, &run->record.options.p, err);
    if (!rc)
        run->record.options.n = raw.n;
    return rc;
}

static int read_member(struct ebb__run *run, struct ebb_json *j, struct ebb_err *err)
{
    struct ebb__run_record *r = &run->record;
    const struct text_member texts[] = {
        {"location", &r->location},
        {"outside", &r->outside},
        {"plan_file", &r->plan_file},
        {"plan_sha256", &r->plan_sha256},
    };
    size_t i;

    for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (ebb_str_is_equal(j->text, ebb_str_of(texts[i].key)))
            return read_text(run, j, texts[i].to, err);
    if (ebb_str_is_equal(j->text, EBB_STR("options")))
        return read_options(run, j, err);
    if (ebb_str_is_equal(j->text, EBB_STR("delete")))
        return ebb_json_read_bool(j, "delete", &r->is_delete, err);
    if (ebb_str_is_equal(j->text, EBB_STR("batch")))
        return ebb_json_read_int(j, "batch", &r->batch_count, err);
    if (ebb_str_is_equal(j->text, EBB_STR("verify")))
        return read_verify(run, j, err);
    return ebb_json_skip(j, err);
}

static int read_json(struct ebb__run *run, const char *json, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "run record", json, strlen(json));
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "run record", err);
    while (!rc) {
        rc = ebb_json_next(&j, err);
        if (rc || j.kind != EBB_JSON_KEY)
            break;
        rc = read_member(run, &j, err);
    }
    ebb_json_fini(&j);
    if (!rc && (!run->record.location || run->record.options.n == 0))
        rc = ebb_err_set(err, EBB_ERUN_STATE, "run %s: not a run that moved files", run->record.id);
    return rc == -EBB_ECORRUPT ? ebb_err_as(err, EBB_ESTORE_CORRUPT, run->record.id) : rc;
}

static int read_status(struct ebb__run *run, const char *status, struct ebb_err *err)
{
    size_t i;

    for (i = 0; i < sizeof STATUS / sizeof STATUS[0]; i++)
        if (strcmp(status, STATUS[i]) == 0) {
            run->record.status = STATUS[i];
            return 0;
        }
    return ebb_err_set(err, EBB_ESTORE_CORRUPT, "run %s: unknown status \"%s\"", run->record.id, status);
}

static int take_record(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct ebb__run *run = data;
    struct ebb__run_record *r = &run->record;
    int rc;

    snprintf(r->id, sizeof r->id, "%s", record->id);
    r->started_ms = record->at_ms;
    r->ended_ms = record->end_ms;
    rc = read_status(run, record->status, err);
    if (!rc)
        rc = dup_text(run, record->table, strlen(record->table), &r->table, err);
    if (!rc)
        rc = dup_text(run, record->uuid, strlen(record->uuid), &r->uuid, err);
    if (!rc)
        rc = dup_text(run, record->policy, strlen(record->policy), &r->policy, err);
    if (!rc)
        rc = dup_text(run, record->parent, strlen(record->parent), &r->plan, err);
    return rc ? rc : read_json(run, record->json, err);
}

int ebb__run_load(struct ebb__run *run, const char *id, struct ebb_err *err)
{
    int rc;

    if (!run->site.store)
        return ebb_err_set(err, EBB_ENOT_FOUND, "run %s: there is no state folder to look in", id);
    rc = ebb_store_get(run->site.store, EBB_RECORD_RUN, id, take_record, run, err);
    if (!rc && run->name == NULL)
        rc = ebb__run_set_options(run, run->record.options, err);
    return rc;
}
