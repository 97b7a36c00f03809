/* SPDX-License-Identifier: Apache-2.0 */
#include "service/config_priv.h"

#include <stdio.h>
#include <stdlib.h>

static int read_mode(const struct ebb__config_reader *r, const struct ebb_value *v, enum ebb_bind_mode *out,
                     struct ebb_err *err)
{
    static const char *const MODES[] = {"observe", "approve", "enforce"};
    const char *text = ebb_value_text_of(v, "mode");

    *out = EBB_BIND_OBSERVE;
    if (!ebb_value_get(v, "mode"))
        return 0;
    for (size_t i = 0; text && i < 3; i++)
        if (!strcmp(text, MODES[i])) {
            *out = (enum ebb_bind_mode)i;
            return 0;
        }
    return ebb__config_fail(r, err, "bind.mode", "observe, approve or enforce is wanted");
}

static int read_blackouts(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                          struct ebb_binding *b, struct ebb_err *err)
{
    struct ebb_blackout days[EBB_POLICY_BLACKOUTS_MAX];
    const struct ebb_value *zone = ebb_value_get(v, "blackout_tz");
    struct ebb_tz *tz = NULL;
    size_t count;
    int rc;

    b->blackouts = ebb_value_get(v, "blackouts");
    b->blackout_tz = ebb__config_text(zone);
    if (zone && !b->blackout_tz)
        return ebb__config_fail(r, err, "bind.blackout_tz", "text is wanted");
    if (zone && !b->blackouts)
        return ebb__config_fail(r, err, "bind.blackout_tz", "goes with blackouts only");
    rc = ebb_blackouts_parse(b->blackouts, days, &count, err);
    if (!rc && zone)
        rc = ebb_tz_load(b->blackout_tz, &tz, err);
    ebb_tz_free(tz);
    return rc == 0 || rc == -(int)EBB_ENOMEM ? rc : ebb_err_as(err, EBB_ECONFIG, where);
}

/* What a binding says to guards. */
static int read_guards(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_binding *b,
                       struct ebb_err *err)
{
    char where[512];
    int rc = 0;

    snprintf(where, sizeof where, "%.400s: bind[%zu]", r->c->file, r->c->binding_count);
    b->guard = ebb_value_get(v, "guard");
    if (b->guard)
        rc = ebb_guard_check_site(where, b->guard, err);
    return rc ? rc : read_blackouts(r, v, where, b, err);
}

static const char *const ENGINES[EBB_JOB_ENGINES] = {"native", "spark", "livy", "trino", "gravitino"};

const char *ebb_job_engine_name(enum ebb_job_engine engine)
{
    return ENGINES[engine];
}

enum ebb_job_engine ebb_job_engine_of(const char *name)
{
    size_t i = 0;

    while (i < EBB_JOB_ENGINES && strcmp(ENGINES[i], name) != 0)
        i++;
    return (enum ebb_job_engine)i;
}

static int take_engine(const struct ebb__config_reader *r, const struct ebb_value *v, enum ebb_job_engine *out,
                       struct ebb_err *err)
{
    const char *name = ebb__config_text(v);

    *out = name ? ebb_job_engine_of(name) : EBB_JOB_ENGINES;
    return *out < EBB_JOB_ENGINES
               ? 0
               : ebb__config_fail(r, err, "bind.engine", "native, spark, livy, trino or gravitino is wanted");
}

/* "50M files", "100k files", "1000 files", 1000 */
static int take_above(const struct ebb__config_reader *r, const struct ebb_value *v, int64_t *out, struct ebb_err *err)
{
    const char *text = ebb__config_text(v);
    size_t n = text ? strspn(text, "0123456789") : 0;
    int64_t factor = 1;

    *out = ebb_value_get_int(v, 0);
    if (n && n < 10) {
        *out = strtoll(text, NULL, 10);
        if (text[n] == 'k' || text[n] == 'M')
            factor = text[n++] == 'k' ? 1000 : 1000000;
        if (strcmp(text + n, " files") != 0)
            *out = 0;
    }
    *out *= factor;
    return *out > 0 ? 0
                    : ebb__config_fail(r, err, "bind.engine.above",
                                       "a number of files is wanted, as \"50M files\" or \"100k files\"");
}

/* "spark" for all tables, or { "native", above = "50M files", use = "spark" }. */
static int read_engine(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_binding *b,
                       struct ebb_err *err)
{
    const char *otherwise = ebb__config_text(ebb_value_get(v, "1"));
    int rc;

    if (!v)
        return 0;
    if (ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return take_engine(r, v, &b->engine, err);
    rc = ebb__config_check_keys(r, v, "bind.engine", (const char *const[]){"1", "above", "use"}, 3, err);
    if (!rc && (!otherwise || strcmp(otherwise, "native") != 0))
        rc = ebb__config_fail(r, err, "bind.engine", "{ \"native\", above = …, use = … } is wanted");
    if (!rc)
        rc = take_above(r, ebb_value_get(v, "above"), &b->engine_above, err);
    return rc ? rc : take_engine(r, ebb_value_get(v, "use"), &b->engine, err);
}

static int read_binding(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {
        "policy", "tables",    "mode",        "params", "allow_below_floor", "allow_override_quiet",
        "guard",  "blackouts", "blackout_tz", "engine", "irreversible"};
    struct ebb_binding *b = &r->c->bindings[r->c->binding_count++];
    int rc = ebb__config_check_keys(r, v, "bind", KEYS, sizeof KEYS / sizeof KEYS[0], err);

    if (!rc)
        rc = ebb__config_take_text(r, v, "bind", "policy", true, &b->policy, err);
    if (!rc)
        rc = ebb__config_take_texts(r, ebb_value_get(v, "tables"), "bind.tables", &b->tables, err);
    if (!rc)
        rc = read_mode(r, v, &b->mode, err);
    if (!rc)
        rc = ebb__config_take_bool(r, v, "bind", "allow_below_floor", &b->allow_below_floor, err);
    if (!rc)
        rc = ebb__config_take_bool(r, v, "bind", "allow_override_quiet", &b->allow_override_quiet, err);
    if (!rc)
        rc = ebb__config_take_bool(r, v, "bind", "irreversible", &b->irreversible, err);
    if (!rc)
        rc = read_engine(r, ebb_value_get(v, "engine"), b, err);
    b->params = ebb_value_get(v, "params");
    if (!rc && b->params && ebb_value_get_kind(b->params) != EBB_VALUE_MAP)
        rc = ebb__config_fail(r, err, "bind.params", "a table with named keys is wanted");
    return rc ? rc : read_guards(r, v, b, err);
}

int ebb__config_read_bindings(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    size_t n = ebb_value_get_count(v);
    int rc = 0;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_LIST && (n || ebb_value_get_kind(v) != EBB_VALUE_MAP))
        return ebb__config_fail(r, err, "bind", "a list of bindings is wanted");
    r->c->bindings = calloc(n + 1, sizeof *r->c->bindings);
    if (!r->c->bindings)
        return ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_binding(r, ebb_value_get_at(v, i), err);
    return rc;
}

void ebb_binding_site(const struct ebb_binding *binding, struct ebb_settings_site *out)
{
    memset(out, 0, sizeof *out);
    if (!binding)
        return;
    out->params = binding->params;
    out->guard = binding->guard;
    out->blackouts = binding->blackouts;
    out->blackout_tz = binding->blackout_tz;
}
