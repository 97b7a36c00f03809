/* SPDX-License-Identifier: Apache-2.0
 *
 * Planning from the answer of another engine, that listed the storage and would remove these files. Nothing of the
 * answer is believed: each file must be what ebb itself would let go, is looked at, and then stands in the plan as any
 * other. One that must stay, and the whole answer is refused: who offers one live file may delete another.
 */
#include "table/plan_priv.h"

#define TRIED_MAX 20

struct offers {
    struct ebb_planning *p;
    struct ebb_place *place;
    struct ebb_buf normal, uri, name;
    int64_t count;
};

static const struct {
    const char *name, *text;
} RULES[] = {
    [EBB_OFFER_NO_LOCATION] = {"no-location", "is no location"},
    [EBB_OFFER_OUTSIDE] = {"outside", "does not lie inside of the table's location"},
    [EBB_OFFER_HIDDEN] = {"hidden", "is hidden"},
    [EBB_OFFER_REACHABLE] = {"reachable", "is part of the table"},
    [EBB_OFFER_NEIGHBOUR] = {"neighbour", "is part of another table"},
    [EBB_OFFER_CONFLICT] = {"conflict", "has a path of the table's under another scheme or authority"},
    [EBB_OFFER_MISSING] = {"missing", "is not there"},
    [EBB_OFFER_NO_FILE] = {"no-file", "is no plain file"},
    [EBB_OFFER_NO_TIME] = {"no-time", "has no known time"},
    [EBB_OFFER_YOUNG] = {"young", "is too young"},
    [EBB_OFFER_KEPT] = {"kept", "ebb keeps whatever its age"},
};

const char *ebb_offer_rule_text(enum ebb_offer_rule rule)
{
    return RULES[rule].text;
}

const char *ebb_offer_rule_name(enum ebb_offer_rule rule)
{
    return RULES[rule].name;
}

static int refuse(const struct offers *o, struct ebb_str offered, enum ebb_offer_rule rule, struct ebb_err *err)
{
    const struct ebb_plan_options *options = o->p->options;
    int rc;

    if (options->refused)
        return options->refused(options->refused_data, offered, rule, err);
    rc = ebb_err_set(err, EBB_EENGINE_UNSAFE, "%s: %s would remove %.*s, which %s", o->p->table->label, options->engine,
                     (int)(offered.n < 600 ? offered.n : 600), offered.p, RULES[rule].text);
    ebb_err_hint(err, "nothing was removed; ebb plan shows what may go, and why the rest stays");
    return rc;
}

static enum ebb_offer_rule rule_of(enum ebb_judged verdict)
{
    if (verdict == EBB_JUDGED_REACHABLE)
        return EBB_OFFER_REACHABLE;
    return verdict == EBB_JUDGED_NEIGHBOUR ? EBB_OFFER_NEIGHBOUR : EBB_OFFER_CONFLICT;
}

static void split_name(struct ebb_str rel, struct ebb_listed *f)
{
    size_t i = rel.n;

    while (i > 0 && rel.p[i - 1] != '/')
        i--;
    f->dir = (struct ebb_str){rel.p, i ? i - 1 : 0};
    f->name = (struct ebb_str){rel.p + i, rel.n - i};
}

/* Look at it: there, a plain file, old. *good: it is. */
static int look(struct offers *o, struct ebb_str offered, struct ebb_str rel, struct ebb_stat *st, bool *good,
                struct ebb_err *err)
{
    int rc;

    *good = false;
    ebb_buf_reset(&o->name);
    ebb_buf_add_str(&o->name, rel);
    rc = ebb_buf_check(&o->name, "a file's name", err);
    if (!rc)
        rc = ebb_place_stat(o->place, ebb_buf_cstr(&o->name), st, err);
    if (rc == -(int)EBB_ENOENT)
        return refuse(o, offered, EBB_OFFER_MISSING, err);
    if (rc)
        return rc;
    if (!st->is_file)
        return refuse(o, offered, EBB_OFFER_NO_FILE, err);
    if (st->mtime_ns <= 0)
        return refuse(o, offered, EBB_OFFER_NO_TIME, err);
    if (st->mtime_ns / 1000000 >= o->p->cutoff_ms)
        return refuse(o, offered, EBB_OFFER_YOUNG, err);
    *good = true;
    return 0;
}

static int consider(struct offers *o, struct ebb_str offered, struct ebb_str rel, struct ebb_err *err)
{
    struct ebb_planning *p = o->p;
    struct ebb_listed f = {{NULL, 0}, {NULL, 0}, {NULL, 0}, NULL, 0, 0, {NULL, 0}};
    int64_t kept = p->summary.kept, young = p->summary.too_young;
    char id[EBB_STAT_ID_MAX];
    struct ebb_stat st;
    bool good;
    int rc = look(o, offered, rel, &st, &good, err);

    if (rc || !good)
        return rc;
    ebb_buf_reset(&o->uri);
    ebb_buf_printf(&o->uri, "%s/", p->table->metadata->location);
    ebb_buf_add_str(&o->uri, rel);
    rc = ebb_buf_check(&o->uri, "a file's name", err);
    ebb_stat_id(&st, id);
    f.uri = ebb_buf_str(&o->uri);
    split_name(rel, &f);
    f.size_bytes = st.size_bytes;
    f.mtime_ns = st.mtime_ns;
    f.id = ebb_str_of(id);
    if (!rc)
        rc = ebb__plan_consider(p, &f, err);
    if (!rc && (p->summary.kept != kept || p->summary.too_young != young))
        rc = refuse(o, offered, EBB_OFFER_KEPT, err);
    return rc;
}

static int on_offer(void *data, struct ebb_str offered, struct ebb_err *err)
{
    struct offers *o = data;
    struct ebb_planning *p = o->p;
    enum ebb_judged verdict;
    struct ebb_location at;
    struct ebb_str rel;
    int rc;

    if (++o->count % 1000 == 0) {
        ebb_site_progress(p->site, "listing", o->count, 0);
        if (ebb_site_is_cancelled(p->site))
            return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while looking at the answer of %s",
                               p->options->engine);
    }
    p->summary.listed++;
    ebb_buf_reset(&o->normal);
    if (ebb_location_split(offered.p, offered.n, &at, NULL) || ebb_path_normalise(at.path, &o->normal, NULL))
        return refuse(o, offered, EBB_OFFER_NO_LOCATION, err);
    at.path = ebb_buf_str(&o->normal);
    if (!ebb__plan_relative(p, at.path, &rel) || !ebb_prefix_is_equal(ebb_protect_rules(p->protect), &p->root, &at))
        return refuse(o, offered, EBB_OFFER_OUTSIDE, err);
    if (ebb_location_is_hidden(rel, &p->hidden))
        return refuse(o, offered, EBB_OFFER_HIDDEN, err);
    rc = ebb_protect_judge_normal(p->protect, &at, &verdict, err);
    if (rc)
        return rc;
    return verdict == EBB_JUDGED_FREE ? consider(o, offered, rel, err) : refuse(o, offered, rule_of(verdict), err);
}

/* ---- do names and place fit? ---- */

struct fitting {
    struct offers *o;
    int tried;
};

static int on_name(void *data, enum ebb_reach_kind kind, struct ebb_str name, struct ebb_err *err)
{
    struct fitting *f = data;
    struct ebb_planning *p = f->o->p;
    struct ebb_location at;
    struct ebb_stat st;
    struct ebb_str rel;

    (void)err;
    if (kind != EBB_REACH_DATA && kind != EBB_REACH_DELETES)
        return 0;
    ebb_buf_reset(&f->o->normal);
    if (ebb_location_split(name.p, name.n, &at, NULL) || ebb_path_normalise(at.path, &f->o->normal, NULL) ||
        !ebb__plan_relative(p, ebb_buf_str(&f->o->normal), &rel))
        return 0;
    ebb_buf_reset(&f->o->name);
    ebb_buf_add_str(&f->o->name, rel);
    if (!f->o->name.bad && !ebb_place_stat(f->o->place, ebb_buf_cstr(&f->o->name), &st, NULL))
        p->fitting = 1;
    return p->fitting || ++f->tried == TRIED_MAX; /* enough */
}

/* Who lists can't tell how much was listed: the answer and what the table names stand for it. */
static int weigh(struct offers *o, struct ebb_err *err)
{
    struct fitting f = {o, 0};
    int rc = ebb_protect_each_name(o->p->protect, on_name, &f, err);

    o->p->summary.listed += ebb_protect_reachable_count(o->p->protect);
    o->p->summary.reachable_listed = ebb_protect_reachable_count(o->p->protect);
    return rc > 0 ? 0 : rc;
}

static int take_all(struct offers *o, struct ebb_err *err)
{
    struct ebb_planning *p = o->p;
    bool changed;
    int rc = ebb__plan_check_case(p, o->place, err);

    if (!rc)
        rc = p->options->offers(p->options->offers_data, on_offer, o, err);
    if (!rc)
        rc = weigh(o, err);
    return rc ? rc : ebb_protect_refresh(p->protect, &changed, err);
}

int ebb__plan_take_offers(struct ebb_planning *p, struct ebb_err *err)
{
    struct offers o = {.p = p};
    int rc;

    ebb_buf_init(&o.normal, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&o.uri, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&o.name, 4 * EBB_LOCATION_MAX_BYTES);
    rc = ebb_place_open(p->site->storage, p->table->metadata->location, EBB_PLACE_READ, &o.place, err);
    if (!rc)
        rc = take_all(&o, err);
    ebb_place_close(o.place);
    ebb_buf_fini(&o.name);
    ebb_buf_fini(&o.uri);
    ebb_buf_fini(&o.normal);
    return rc;
}
