/* SPDX-License-Identifier: Apache-2.0 */
#include "table/apply_priv.h"

#include <stdlib.h>

#include "base/time.h"
#include "table/name_priv.h"
#include "table/plan.h"

#define DEFAULT_MAX_AGE_MS ((int64_t)7 * 24 * 3600 * 1000)
#define FUTURE_TOLERANCE_MS ((int64_t)5 * 60 * 1000)

static const char *const FUSES[] = {"max_files", "max_bytes", "max_share", "zero_overlap", "missing_files"};

static int check_overrides(const struct ebb_strs *overrides, struct ebb_err *err)
{
    size_t i, j;
    int rc;

    for (i = 0; i < overrides->count; i++) {
        for (j = 0; j < sizeof FUSES / sizeof FUSES[0]; j++)
            if (strcmp(overrides->items[i], FUSES[j]) == 0)
                break;
        if (j == sizeof FUSES / sizeof FUSES[0]) {
            rc = ebb_err_set(err, EBB_EUSAGE, "override \"%s\": no such fuse", overrides->items[i]);
            ebb_err_hint(err, "fuses are max_files, max_bytes, max_share, zero_overlap, missing_files");
            return rc;
        }
    }
    return 0;
}

static int check_fuses(const struct ebb_plan_file *plan, const struct ebb_strs *overrides, struct ebb_err *err)
{
    const struct ebb_plan_summary *s = ebb_plan_file_summary(plan);
    size_t i;
    int rc;

    if (strcmp(s->status, "held") != 0)
        return 0;
    for (i = 0; i < s->held_by.count; i++)
        if (!ebb_strs_has(overrides, s->held_by.items[i])) {
            rc =
                ebb_err_set(err, EBB_EFUSE, "plan %s: held by %s", ebb_plan_file_header(plan)->id, s->held_by.items[i]);
            ebb_err_hint(err, "look at it with ebb show; if it is right: --override %s", s->held_by.items[i]);
            return rc;
        }
    if (s->held_by.count == 0)
        return ebb_err_set(err, EBB_EPLAN, "plan %s: held, but no fuse is named", ebb_plan_file_header(plan)->id);
    return 0;
}

static int check_age(const struct ebb_site *site, const struct ebb_plan_header *h, int64_t max_age_ms,
                     struct ebb_err *err)
{
    int64_t now = ebb_clock_now(&site->clock);
    int64_t max = max_age_ms > 0 ? max_age_ms : DEFAULT_MAX_AGE_MS;
    int rc;

    if (h->created_ms > now + FUTURE_TOLERANCE_MS)
        return ebb_err_set(err, EBB_EPLAN_STALE, "plan %s: made in the future; a clock is wrong", h->id);
    if (h->created_ms >= now - max)
        return 0;
    rc = ebb_err_set(err, EBB_EPLAN_STALE, "plan %s: %lld h old", h->id, (long long)((now - h->created_ms) / 3600000));
    ebb_err_hint(err, "plan again, or allow more with --max-age");
    return rc;
}

int ebb__apply_check_plan(const struct ebb_site *site, const struct ebb_plan_file *plan,
                          const struct ebb_apply_options *options, struct ebb_err *err)
{
    const struct ebb_plan_header *h = ebb_plan_file_header(plan);
    int rc;

    if (h->listing && h->listing[0]) {
        rc = ebb_err_set(err, EBB_EPLAN, "plan %s: made from the listing %s, not from the storage", h->id, h->listing);
        ebb_err_hint(err, "plan again without --listing: apply needs each file's identity");
        return rc;
    }
    rc = check_overrides(&options->overrides, err);
    if (!rc)
        rc = check_fuses(plan, &options->overrides, err);
    if (!rc)
        rc = check_age(site, h, options->max_age_ms, err);
    return rc;
}

static int check_cutoff(const struct ebb_site *site, const struct ebb_plan_header *h, struct ebb_err *err)
{
    int64_t now = ebb_clock_now(&site->clock);
    int rc;

    if (h->cutoff_ms > now)
        return ebb_err_set(err, EBB_ECUTOFF_FUTURE, "plan %s: its cutoff lies in the future", h->id);
    if (site->allow_below_floor || h->cutoff_ms <= now - EBB_PLAN_FLOOR_MS)
        return 0;
    rc = ebb_err_set(err, EBB_ECUTOFF_FLOOR, "plan %s: its cutoff is less than 24 h ago", h->id);
    ebb_err_hint(err, "files of writers that have not committed yet may be among them; allow_below_floor = true in the "
                      "configuration allows it");
    return rc;
}

struct file_check {
    struct ebb__run *run;
    const struct ebb_plan_header *header;
    const struct ebb_prefix_rules *rules;
};

static int refuse(const struct ebb_plan_candidate *c, enum ebb_error error, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, error, "%.*s: %s", (int)(c->path.n > 600 ? 600 : c->path.n), c->path.p, why);
}

/* path must hold no NUL: checked by ebb__name_of before. */
static int check_place(const struct file_check *check, const struct ebb_plan_candidate *c, const char *path,
                       struct ebb_err *err)
{
    const struct ebb_strs *exclude = &check->run->protect_options.exclude;
    bool inside = false;
    size_t i;
    int rc;

    rc = ebb_location_contains(check->header->scanned, path, check->rules, &inside, err);
    if (rc || !inside)
        return rc ? rc : refuse(c, EBB_EOUTSIDE, "not inside the folder that was scanned", err);
    for (i = 0; i < exclude->count; i++) {
        rc = ebb_location_contains(exclude->items[i], path, check->rules, &inside, err);
        if (rc || inside)
            return rc ? rc : refuse(c, EBB_EOUTSIDE, "in a folder that was excluded", err);
    }
    return 0;
}

static int check_file(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct file_check *check = data;
    struct ebb_buf name, path;
    int rc;

    if (c->mtime_ns <= 0 || c->mtime_ns / 1000000 >= check->header->cutoff_ms)
        return refuse(c, EBB_EPLAN, "its time is unknown or not before the cutoff", err);
    if (c->id.n == 0 || c->id.n >= EBB_STAT_ID_MAX)
        return refuse(c, EBB_EPLAN, "it has no identity", err);
    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&path, EBB_LOCATION_MAX_BYTES);
    rc = ebb__name_of(check->run->record.location, c->path, check->rules, &name, err);
    ebb_buf_add_str(&path, c->path);
    if (!rc)
        rc = ebb_buf_check(&path, "path", err);
    if (!rc)
        rc = check_place(check, c, ebb_buf_cstr(&path), err);
    ebb_buf_fini(&path);
    ebb_buf_fini(&name);
    return rc;
}

/* The protection was built for this very folder. */
static int check_scanned(struct ebb__run *run, const struct file_check *check, struct ebb_err *err)
{
    const char *scanned = check->header->scanned;
    const char *watched = run->protect_options.scanned ? run->protect_options.scanned : run->record.location;
    bool inside = false;
    int rc;

    if (strcmp(scanned, watched) != 0)
        return ebb_err_set(err, EBB_EPLAN, "plan %s: scanned %s, but its options say %s", check->header->id, scanned,
                           watched);
    rc = ebb_location_contains(run->record.location, scanned, check->rules, &inside, err);
    if (rc || inside)
        return rc;
    return ebb_err_set(err, EBB_EOUTSIDE, "plan %s: scanned %s, which is not inside the table's location %s",
                       check->header->id, scanned, run->record.location);
}

int ebb__apply_check_files(struct ebb__run *run, struct ebb_plan_file *plan, struct ebb_err *err)
{
    struct file_check check = {run, ebb_plan_file_header(plan), ebb_protect_rules(run->protect)};
    int rc;

    rc = check_cutoff(&run->site, check.header, err);
    if (!rc)
        rc = check_scanned(run, &check, err);
    return rc ? rc : ebb_plan_file_each(plan, check_file, &check, err);
}
