/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"
#include "table/plan_priv.h"

static int refuse_floor(const struct ebb_planning *p, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_ECUTOFF_FLOOR,
                         "older-than %s: less than 24 hours ago: writers may not have committed such files yet",
                         p->older_than);

    if (p->site->allow_below_floor)
        ebb_err_hint(err, "below the floor only the written zero is accepted: --older-than 0d");
    else
        ebb_err_hint(err, "the floor is 24 h, the default 3 days; only an explicit 0d with allow_below_floor = true in "
                          "the configuration goes below");
    return rc;
}

static int check(const struct ebb_planning *p, bool is_written_zero, struct ebb_err *err)
{
    const struct ebb_plan_options *o = p->options;

    if (p->cutoff_ms > p->now_ms)
        return ebb_err_set(err, EBB_ECUTOFF_FUTURE, "older-than %s: lies in the future", p->older_than);
    if (p->now_ms - p->cutoff_ms >= EBB_PLAN_FLOOR_MS)
        return 0;
    if (p->site->allow_below_floor && (is_written_zero || o->is_job)) {
        ebb_log_say(&p->site->log, EBB_LOG_WARN,
                    "BELOW THE FLOOR: older-than %s and allow_below_floor: files of running writers are at risk",
                    p->older_than);
        return 0;
    }
    return refuse_floor(p, err);
}

/* What the storage said last is whole seconds, and was said a moment ago. */
#define CLOCK_NOISE_MS 2000
#define CLOCK_MAX_MS ((int64_t)5 * 60 * 1000)

int ebb__plan_follow_clock(struct ebb_planning *p, struct ebb_err *err)
{
    int64_t ahead = ebb_storage_ahead_ms(p->site->storage, p->table->metadata->location);
    int64_t age_ms;
    int rc;

    if (ahead == INT64_MIN || (ahead <= CLOCK_NOISE_MS && ahead >= -CLOCK_NOISE_MS))
        return 0;
    if (ahead > CLOCK_MAX_MS || ahead < -CLOCK_MAX_MS) {
        rc = ebb_err_set(err, EBB_ECLOCK, "%s: the storage's clock is %lld s %s ours", p->table->label,
                         (long long)(ahead < 0 ? -ahead : ahead) / 1000, ahead < 0 ? "behind" : "ahead of");
        ebb_err_hint(err, "set both clocks right; more than five minutes apart no age can be trusted");
        return rc;
    }
    ebb_log_say(&p->site->log, EBB_LOG_INFO, "%s: the storage's clock is %lld ms %s ours: ages go by it",
                p->table->label, (long long)(ahead < 0 ? -ahead : ahead), ahead < 0 ? "behind" : "ahead of");
    p->now_ms += ahead;
    if (ebb_duration_parse(p->older_than, &age_ms, NULL))
        return check(p, false, err);
    p->cutoff_ms = p->now_ms - age_ms;
    return check(p, age_ms == 0, err);
}

int ebb__plan_cutoff(struct ebb_planning *p, struct ebb_err *err)
{
    const char *text = p->options->older_than ? p->options->older_than : "3d";
    int64_t age_ms = 0;
    bool is_age = ebb_duration_parse(text, &age_ms, NULL) == 0;
    int rc;

    p->older_than = strdup(text);
    if (!p->older_than)
        return ebb_err_nomem(err);
    p->now_ms = ebb_clock_now(&p->site->clock);
    if (is_age) {
        if (age_ms < 0 || age_ms > p->now_ms)
            return ebb_err_set(err, EBB_ETIME, "older-than %s: is before 1970", text);
        p->cutoff_ms = p->now_ms - age_ms;
        return check(p, age_ms == 0, err);
    }
    rc = ebb_time_parse(text, NULL, &p->cutoff_ms, err);
    if (rc) {
        rc = ebb_err_as(err, EBB_ETIME, "older-than");
        ebb_err_hint(err, "an age (3d, 36h) or an instant with its zone (2026-06-01T00:00:00Z)");
        return rc;
    }
    return check(p, false, err);
}
