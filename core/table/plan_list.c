/* SPDX-License-Identifier: Apache-2.0
 *
 * Listing and join: for each listed file, is it hidden, reachable, or else old enough to be a candidate. A file that is
 * reachable is never stat'ed.
 */
#include "io/inventory.h"
#include "table/plan_priv.h"

/* ---- one unreferenced, visible file ---- */

static bool has_suffix(struct ebb_str s, const char *suffix)
{
    size_t n = strlen(suffix);

    return s.n >= n && !memcmp(s.p + s.n - n, suffix, n);
}

static const char *const KNOWN_KINDS[] = {".parquet",         ".orc", ".avro", ".puffin", ".stats", ".metadata.json",
                                          ".metadata.json.gz"};

static bool is_known_kind(struct ebb_str name)
{
    for (size_t i = 0; i < sizeof KNOWN_KINDS / sizeof KNOWN_KINDS[0]; i++)
        if (has_suffix(name, KNOWN_KINDS[i]))
            return true;
    return false;
}

static bool is_directory_marker(const struct ebb_listed *f)
{
    return !f->entry && (f->name.n == 0 || has_suffix(f->name, "_$folder$"));
}

static enum ebb_plan_kind kind_of(const struct ebb_listed *f)
{
    static const struct ebb_str METADATA = {"metadata", 8};

    if (has_suffix(f->name, ".metadata.json") || has_suffix(f->name, ".metadata.json.gz") ||
        ebb_str_is_equal(f->dir, METADATA))
        return EBB_PLAN_METADATA;
    return is_known_kind(f->name) ? EBB_PLAN_DATA : EBB_PLAN_OTHER;
}

static int64_t latest_time(const struct ebb_planning *p, const struct ebb_stat *st)
{
    int64_t t = st->mtime_ns;

    if (!p->options->age_latest)
        return t;
    if (st->ctime_ns > t)
        t = st->ctime_ns;
    return st->btime_ns > t ? st->btime_ns : t;
}

/* Whole ms, cut down (never up): a file is old when its time is strictly before the cutoff. */
static int64_t ms_of_ns(int64_t ns)
{
    return ns >= 0 ? ns / 1000000 : -((-ns + 999999) / 1000000);
}

static int add_candidate(struct ebb_planning *p, const struct ebb_listed *f, struct ebb_err *err)
{
    struct ebb_plan_candidate c = {f->uri, f->size_bytes, f->mtime_ns, f->id, kind_of(f), {NULL, 0}};

    return ebb__spool_add(p->spool, &c, err);
}

/* An inventory may name a file twice: then its newest time counts, so the young ones are not forgotten. */
static int add_row(struct ebb_planning *p, const struct ebb_listed *f, int64_t mtime_ns, struct ebb_err *err)
{
    struct ebb_listed row = *f;

    row.mtime_ns = mtime_ns;
    return f->entry ? 0 : add_candidate(p, &row, err);
}

static int judge_age(struct ebb_planning *p, const struct ebb_listed *f, int64_t age_ns, struct ebb_err *err)
{
    int64_t ms = ms_of_ns(age_ns);

    if (ms_of_ns(f->mtime_ns) <= 0 || ms <= 0) {
        p->summary.kept++; /* unknown time: never eligible */
        return add_row(p, f, INT64_MAX, err);
    }
    if (ms > p->now_ms + EBB_PLAN_SKEW_MS && ms - p->now_ms > p->skew_ms)
        p->skew_ms = ms - p->now_ms;
    if (ms >= p->cutoff_ms) {
        p->summary.too_young++;
        return add_row(p, f, f->mtime_ns, err);
    }
    return add_candidate(p, f, err);
}

int ebb__plan_consider(struct ebb_planning *p, struct ebb_listed *f, struct ebb_err *err)
{
    struct ebb_stat st;
    char id[EBB_STAT_ID_MAX];
    bool is_litter = true;
    int64_t age_ns;
    int rc;

    rc = ebb__plan_check_foreign(p, f, &is_litter, err);
    if (rc)
        return rc;
    if (!is_litter || is_directory_marker(f) || (f->dir.n == 0 && !is_known_kind(f->name)) ||
        has_suffix(f->name, ".plan") || ebb__plan_is_flink(p, f) ||
        (p->options->keeps && p->options->keeps(p->options->keeps_data, f->dir, f->name))) {
        p->summary.kept++;
        return 0;
    }
    if (!f->entry)
        return judge_age(p, f, f->mtime_ns, err);
    rc = ebb_walk_stat(f->entry, &st, err);
    if (rc == -(int)EBB_ENOENT)
        return 0; /* gone since it was listed */
    if (rc)
        return rc;
    ebb_stat_id(&st, id);
    f->size_bytes = st.size_bytes;
    f->mtime_ns = st.mtime_ns;
    f->id = ebb_str_of(id);
    age_ns = latest_time(p, &st);
    rc = judge_age(p, f, st.is_file ? age_ns : 0, err);
    f->id = (struct ebb_str){NULL, 0};
    return rc;
}

/* What lies in `metadata` is named by the place where the table was found: only the rest tells whether names and place
 * fit. */
static void count_reachable(struct ebb_planning *p, struct ebb_str dir, struct ebb_str name)
{
    p->summary.reachable_listed++;
    if (!ebb_str_is_equal(dir, EBB_STR("metadata")) && !has_suffix(name, ".metadata.json") &&
        !has_suffix(name, ".metadata.json.gz") && !has_suffix(name, "version-hint.text"))
        p->fitting++;
}

/* ---- walking storage ---- */

struct walk {
    struct ebb_planning *p;
    struct ebb_buf uri;    /* location/dir/ then the name */
    struct ebb_buf normal; /* the same as normal path */
    size_t uri_dir, normal_dir;
    bool is_hidden;
    int64_t reported;
};

static void join_dir(struct ebb_buf *out, struct ebb_str root, struct ebb_str dir)
{
    ebb_buf_reset(out);
    ebb_buf_add_str(out, root);
    if (!root.n || root.p[root.n - 1] != '/')
        ebb_buf_putc(out, '/');
    ebb_buf_add_str(out, dir);
    if (dir.n)
        ebb_buf_putc(out, '/');
}

/* A name so long is in no metadata, and no call can name it: what lies there stays. */
static bool is_only_long(const struct ebb_buf *b)
{
    return b->full || b->len > EBB_LOCATION_MAX_BYTES;
}

static bool on_enter(void *data, struct ebb_str dir)
{
    struct walk *w = data;

    if (ebb_str_is_equal(dir, EBB_STR(EBB_QUARANTINE_NAME)))
        return false;
    if (!w->p->protect_options->exclude.count)
        return true;
    join_dir(&w->uri, ebb_str_of(w->p->table->metadata->location), dir);
    return w->uri.bad || !ebb__plan_is_excluded(w->p, ebb_buf_cstr(&w->uri));
}

static int on_dir(void *data, struct ebb_str dir, struct ebb_err *err)
{
    struct walk *w = data;
    struct ebb_planning *p = w->p;
    int rc;

    join_dir(&w->uri, ebb_str_of(p->table->metadata->location), dir);
    join_dir(&w->normal, ebb_buf_str(&p->root_path), dir);
    w->uri_dir = w->uri.len;
    w->normal_dir = w->normal.len;
    w->is_hidden = ebb_location_is_hidden(dir, &p->hidden);
    rc = is_only_long(&w->uri) || is_only_long(&w->normal) ? 0 : ebb_buf_check(&w->uri, "a listed folder", err);
    if (!rc && ebb_site_is_cancelled(p->site))
        rc = ebb_err_set(err, EBB_ECANCELLED, "interrupted: while listing %s", p->table->label);
    if (!rc && p->summary.listed - w->reported > 10000) {
        w->reported = p->summary.listed;
        ebb_site_progress(p->site, "listing", p->summary.listed, 0);
    }
    return rc;
}

static int on_file(struct walk *w, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    struct ebb_planning *p = w->p;
    struct ebb_listed f = {{NULL, 0}, e->dir, e->name, e, 0, 0, {NULL, 0}};
    struct ebb_location at = p->root;
    enum ebb_judged verdict;
    int rc;

    p->summary.listed++;
    if (w->is_hidden || ebb_component_is_hidden(e->name, &p->hidden)) {
        p->summary.hidden++;
        return 0;
    }
    w->normal.len = w->normal_dir;
    ebb_buf_add_str(&w->normal, e->name);
    w->uri.len = w->uri_dir;
    ebb_buf_add_str(&w->uri, e->name);
    if (is_only_long(&w->uri) || is_only_long(&w->normal)) {
        p->summary.kept++;
        return 0;
    }
    at.path = ebb_buf_str(&w->normal);
    rc = ebb_protect_judge_normal(p->protect, &at, &verdict, err);
    if (rc)
        return rc;
    if (verdict == EBB_JUDGED_REACHABLE) {
        count_reachable(p, e->dir, e->name);
        return 0;
    }
    rc = ebb_buf_check(&w->uri, "a listed name", err);
    if (rc)
        return rc;
    if (verdict != EBB_JUDGED_FREE ||
        (p->protect_options->exclude.count && ebb__plan_is_excluded(p, ebb_buf_cstr(&w->uri)))) {
        p->summary.kept++;
        return 0;
    }
    f.uri = ebb_buf_str(&w->uri);
    return ebb__plan_consider(p, &f, err);
}

static int on_entry(void *data, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    struct walk *w = data;

    switch (e->kind) {
    case EBB_WALK_FILE:
        return on_file(w, e, err);
    case EBB_WALK_LINK:
        return ebb__plan_note_link(w->p, e, err);
    case EBB_WALK_MOUNT:
        w->p->summary.mounts++;
        ebb_log_say(&w->p->site->log, EBB_LOG_WARN, "%s: %.*s%s%.*s is another file system: not entered",
                    w->p->table->label, (int)e->dir.n, e->dir.p, e->dir.n ? "/" : "", (int)e->name.n, e->name.p);
        return 0;
    case EBB_WALK_ODD:
        w->p->summary.listed++;
        w->p->summary.kept++;
        return 0;
    case EBB_WALK_OTHER:
        break;
    }
    return 0;
}

int ebb__plan_walk(struct ebb_planning *p, struct ebb_place *place, const char *below, struct ebb_err *err)
{
    static const struct ebb_walk_ops OPS = {on_enter, on_dir, on_entry};
    struct walk w;
    int rc;

    memset(&w, 0, sizeof w);
    w.p = p;
    ebb_buf_init(&w.uri, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&w.normal, 4 * EBB_LOCATION_MAX_BYTES);
    rc = ebb_place_walk(place, below, &OPS, &w, err);
    ebb_buf_fini(&w.uri);
    ebb_buf_fini(&w.normal);
    return rc;
}

/* ---- an inventory ---- */

struct rows {
    struct ebb_planning *p;
    struct ebb_buf normal;
};

bool ebb__plan_relative(const struct ebb_planning *p, struct ebb_str normal, struct ebb_str *rel)
{
    struct ebb_str scanned = ebb_buf_str(&p->scanned_path), root = ebb_buf_str(&p->root_path);
    size_t slash = root.n == 1 ? 0 : 1; /* "/" ends in its own slash */

    if (!ebb_str_has_prefix(normal, scanned) ||
        (scanned.n > 1 && (normal.n <= scanned.n || normal.p[scanned.n] != '/')))
        return false;
    if (normal.n <= root.n + slash)
        return false;
    rel->p = normal.p + root.n + slash;
    rel->n = normal.n - root.n - slash;
    return true;
}

static void split_rel(struct ebb_str rel, struct ebb_listed *f)
{
    size_t i = rel.n;

    while (i > 0 && rel.p[i - 1] != '/')
        i--;
    f->dir = (struct ebb_str){rel.p, i ? i - 1 : 0};
    f->name = (struct ebb_str){rel.p + i, rel.n - i};
}

static int judge_row(struct rows *r, const struct ebb_inventory_row *row, struct ebb_location *at, struct ebb_str rel,
                     struct ebb_err *err)
{
    struct ebb_planning *p = r->p;
    struct ebb_listed f = {row->path, {NULL, 0}, {NULL, 0}, NULL, row->size_bytes > 0 ? (uint64_t)row->size_bytes : 0,
                           0,         row->id};
    enum ebb_judged verdict;
    int rc;

    p->summary.listed++;
    if (ebb_location_is_hidden(rel, &p->hidden)) {
        p->summary.hidden++;
        return 0;
    }
    rc = ebb_protect_judge_normal(p->protect, at, &verdict, err);
    if (rc)
        return rc;
    split_rel(rel, &f);
    if (verdict == EBB_JUDGED_REACHABLE) {
        count_reachable(p, f.dir, f.name);
        return 0;
    }
    if (row->path.p[row->path.n - 1] == '/')
        f.name.n = 0; /* a marker of an empty folder */
    if (row->mtime_ms > 0 && row->mtime_ms < INT64_MAX / 1000000)
        f.mtime_ns = row->mtime_ms * 1000000;
    if (verdict != EBB_JUDGED_FREE) {
        p->summary.kept++;
        return 0;
    }
    return ebb__plan_consider(p, &f, err);
}

/* A row under another scheme or authority is no candidate; if the metadata names its path, the listing may be of the
 * same files. */
static int judge_stranger(struct rows *r, const struct ebb_location *at, struct ebb_err *err)
{
    enum ebb_judged verdict;

    return r->p->options->protect.mismatch == EBB_MISMATCH_ERROR
               ? ebb_protect_judge_normal(r->p->protect, at, &verdict, err)
               : 0;
}

static bool is_row_excluded(const struct ebb_planning *p, struct ebb_str path)
{
    struct ebb_buf text;
    bool skip;

    if (!p->protect_options->exclude.count)
        return false;
    ebb_buf_init(&text, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_add_str(&text, path);
    skip = text.bad || ebb__plan_is_excluded(p, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
    return skip;
}

static int on_row(void *data, const struct ebb_inventory_row *row, struct ebb_err *err)
{
    struct rows *r = data;
    struct ebb_location at;
    struct ebb_str rel;

    if (ebb_location_split(row->path.p, row->path.n, &at, NULL))
        return 0;
    ebb_buf_reset(&r->normal);
    if (ebb_path_normalise(at.path, &r->normal, NULL))
        return 0;
    at.path = ebb_buf_str(&r->normal);
    if (!ebb__plan_relative(r->p, at.path, &rel))
        return 0;
    if (!ebb_prefix_is_equal(ebb_protect_rules(r->p->protect), &r->p->root, &at))
        return judge_stranger(r, &at, err);
    return is_row_excluded(r->p, row->path) ? 0 : judge_row(r, row, &at, rel, err);
}

int ebb__plan_inventory(struct ebb_planning *p, struct ebb_err *err)
{
    struct rows r;
    int rc;

    r.p = p;
    ebb_buf_init(&r.normal, 4 * EBB_LOCATION_MAX_BYTES);
    rc = ebb_inventory_read(p->options->listing, on_row, &r, err);
    ebb_buf_fini(&r.normal);
    return rc;
}
