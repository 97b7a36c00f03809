/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs that were asked for by hand: apply, restore, purge. Each works with the URI maps of the plan or run.
 */
#include <stdio.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/time.h"
#include "service/work_priv.h"

/* An id, never a path: what looks like one would be opened as one. */
static int check_id(const struct ebb__work *w, const char *key, const char *id, const char *prefix, struct ebb_err *err)
{
    static const char LETTERS[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    size_t n = strlen(prefix);

    if (id && !strncmp(id, prefix, n) && strlen(id) == n + 26 && strspn(id + n, LETTERS) == 26)
        return 0;
    return ebb_err_set(err, EBB_EUSAGE, "%s: %s: an id %s… is wanted", w->job->id, key, prefix);
}

static int read_texts(const struct ebb__work *w, const char *key, struct ebb_strs *out, struct ebb_err *err)
{
    const struct ebb_value *list = ebb_value_get(w->json, key);
    int rc = 0;

    if (list && ebb_value_get_kind(list) != EBB_VALUE_LIST)
        return ebb_err_set(err, EBB_EUSAGE, "%s: %s: a list is wanted", w->job->id, key);
    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++) {
        const char *text = ebb_value_get_str(ebb_value_get_at(list, i));

        rc = text ? ebb_strs_add(out, text, err)
                  : ebb_err_set(err, EBB_EUSAGE, "%s: %s: texts are wanted", w->job->id, key);
    }
    return rc;
}

/* A duration as text; *out stays when there is none. */
static int read_duration(const struct ebb__work *w, const char *key, int64_t *out, struct ebb_err *err)
{
    const struct ebb_value *v = ebb_value_get(w->json, key);
    const char *text = ebb_value_get_str(v);

    if (!v)
        return 0;
    if (!text)
        return ebb_err_set(err, EBB_EUSAGE, "%s: %s: a duration is wanted", w->job->id, key);
    return ebb_duration_parse(text, out, err);
}

/* ---- apply ---- */

static int read_verify(const struct ebb__work *w, struct ebb_apply_options *o, struct ebb_err *err)
{
    static const char *const MODES[] = {"full", "sample", "none"};
    const char *text = ebb_value_text_of(w->json, "verify");

    for (size_t i = 0; text && i < 3; i++)
        if (!strcmp(text, MODES[i])) {
            o->verify = (enum ebb_verify_mode)i;
            return 0;
        }
    return text ? ebb_err_set(err, EBB_EUSAGE, "%s: verify: full, sample or none is wanted", w->job->id) : 0;
}

static int read_options(const struct ebb__work *w, struct ebb_apply_options *o, struct ebb_err *err)
{
    int rc = read_texts(w, "overrides", &o->overrides, err);

    o->delete_for_good = ebb_value_bool_of(w->json, "delete", false);
    o->quarantine = ebb_value_text_of(w->json, "quarantine");
    o->policy = w->job->policy[0] ? w->job->policy : NULL;
    if (!rc)
        rc = read_duration(w, "max_age", &o->max_age_ms, err);
    if (!rc && ebb_value_get(w->json, "max_age") && o->max_age_ms <= 0)
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: max_age: an age is wanted", w->job->id);
    if (!rc && o->delete_for_good && o->quarantine)
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: delete or quarantine, not both", w->job->id);
    return rc ? rc : read_verify(w, o, err);
}

/* The maps of the plan, and whether its table may go below the floor. */
static int look_at_plan(struct ebb__work *w, const char *id, struct ebb_strs *maps, struct ebb_err *err)
{
    const struct ebb_plan_header *h;
    struct ebb_plan_file *plan;
    struct ebb_buf name;
    int rc = ebb_plan_file_open(w->site, id, &plan, err);

    if (rc)
        return rc;
    h = ebb_plan_file_header(plan);
    rc = ebb_workspace_recorded_maps(h->options, maps, err);
    ebb_buf_init(&name, 65536);
    ebb_buf_printf(&name, "%s.%s%s%s", h->catalog, h->namespace_, h->namespace_[0] ? "." : "", h->name);
    w->site->allow_below_floor =
        !name.bad && ebb_config_allows_below_floor(ebb_workspace_config(w->context->ws), ebb_buf_cstr(&name));
    ebb_buf_fini(&name);
    w->out->candidates = ebb_plan_file_summary(plan)->candidates;
    ebb_plan_file_close(plan);
    return rc;
}

static int apply(struct ebb__work *w, const char *plan, const struct ebb_apply_options *o, struct ebb_err *err)
{
    struct ebb_apply_result result;
    struct ebb_workspace *ws = NULL;
    struct ebb_strs maps;
    int rc;

    memset(&result, 0, sizeof result);
    ebb_strs_init(&maps);
    rc = look_at_plan(w, plan, &maps, err);
    if (!rc)
        rc = ebb__work_connect(w, &maps, &ws, err);
    EBB_FAILPOINT("work.apply.before");
    if (!rc)
        rc = ebb_apply(ebb_workspace_site(ws), plan, o, &result, err);
    EBB_FAILPOINT("work.apply.after");
    w->has_begun = result.run[0];
    if (result.run[0])
        ebb__work_tell(w, &result);
    ebb_apply_result_fini(&result);
    ebb_workspace_close(ws);
    ebb_strs_fini(&maps);
    return rc;
}

int ebb__work_apply(struct ebb__work *w, struct ebb_err *err)
{
    const char *plan = ebb_value_text_of(w->json, "plan");
    struct ebb_apply_options o;
    struct ebb__work_left left;
    int rc = check_id(w, "plan", plan, "p-", err);

    memset(&left, 0, sizeof left);
    memset(&o, 0, sizeof o);
    if (rc)
        return rc;
    snprintf(w->out->plan, sizeof w->out->plan, "%s", plan);
    rc = read_options(w, &o, err);
    if (!rc && w->job->attempt > 1)
        rc = ebb__work_find_run(w, plan, &left, err);
    snprintf(left.plan, sizeof left.plan, "%s", plan);
    if (!rc && left.run[0])
        rc = ebb__work_end(w, &left, err);
    else if (!rc)
        rc = apply(w, plan, &o, err);
    ebb_strs_fini(&o.overrides);
    return rc;
}

/* ---- restore ---- */

static int restore(struct ebb__work *w, const char *run, const struct ebb_strs *paths, struct ebb_err *err)
{
    struct ebb_restore_result result;
    struct ebb_workspace *ws = NULL;
    int rc = ebb__work_connect_run(w, run, &ws, err);

    memset(&result, 0, sizeof result);
    EBB_FAILPOINT("work.restore.before");
    if (!rc)
        rc = ebb_restore(ebb_workspace_site(ws), run, paths->count ? paths : NULL, &result, err);
    EBB_FAILPOINT("work.restore.after");
    w->out->restored = result.restored;
    snprintf(w->out->status, sizeof w->out->status, "%s", rc ? "partial" : "restored");
    ebb_restore_result_fini(&result);
    ebb_workspace_close(ws);
    return rc;
}

/* Files that are back already stay: it may be done again. */
int ebb__work_restore(struct ebb__work *w, struct ebb_err *err)
{
    const char *run = ebb_value_text_of(w->json, "run");
    struct ebb_strs paths;
    int rc = check_id(w, "run", run, "r-", err);

    if (rc)
        return rc;
    snprintf(w->out->run, sizeof w->out->run, "%s", run);
    ebb_site_began(w->site, run);
    ebb_strs_init(&paths);
    rc = read_texts(w, "paths", &paths, err);
    if (!rc)
        rc = restore(w, run, &paths, err);
    ebb_strs_fini(&paths);
    return rc;
}

/* ---- purge ---- */

/* Each run finds its own place by its record; the maps of one serve the catalogs. */
static int purge(struct ebb__work *w, const struct ebb_strs *runs, const struct ebb_purge_options *o,
                 struct ebb_err *err)
{
    struct ebb_purge_result result;
    struct ebb_workspace *ws = NULL;
    int rc = ebb__work_connect_run(w, runs->count == 1 ? runs->items[0] : NULL, &ws, err);

    memset(&result, 0, sizeof result);
    EBB_FAILPOINT("work.purge.before");
    if (!rc)
        rc = ebb_purge(ebb_workspace_site(ws), runs, o, &result, err);
    EBB_FAILPOINT("work.purge.after");
    w->out->deleted = result.deleted;
    w->out->restored = result.restored;
    ebb_purge_result_fini(&result);
    ebb_workspace_close(ws);
    return rc;
}

int ebb__work_purge(struct ebb__work *w, struct ebb_err *err)
{
    struct ebb_purge_options o = {-1, ebb_value_bool_of(w->json, "dropped", false)};
    struct ebb_strs runs;
    int rc;

    ebb_strs_init(&runs);
    rc = read_texts(w, "runs", &runs, err);
    for (size_t i = 0; !rc && i < runs.count; i++)
        rc = check_id(w, "runs", runs.items[i], "r-", err);
    if (!rc)
        rc = read_duration(w, "older_than", &o.older_than_ms, err);
    if (!rc && runs.count == 1) {
        snprintf(w->out->run, sizeof w->out->run, "%s", runs.items[0]);
        ebb_site_began(w->site, runs.items[0]);
    }
    if (!rc)
        rc = purge(w, &runs, &o, err);
    ebb_strs_fini(&runs);
    return rc;
}
