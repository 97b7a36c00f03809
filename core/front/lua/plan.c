/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb.plan, ebb.apply, ebb.restore: as the commands, with their options; results as tables.
 */
#include "front/lua/table_priv.h"

#include "base/time.h"
#include "table/result_json.h"

/* All that a call holds; freed as one. */
struct job {
    struct ebb_workspace *ws;
    struct ebb_table *table;
    struct ebb_plan_file *file;
    struct ebb_strs maps, recorded, paths;
    struct ebb_plan_options plan_options;
    struct ebb_plan_result planned;
    struct ebb_apply_options apply_options;
    struct ebb_apply_result applied;
    struct ebb_restore_result restored;
};

static int l_job_gc(lua_State *L)
{
    struct job *job = luaL_checkudata(L, 1, EBB__LUA_JOB);

    ebb_plan_file_close(job->file);
    ebb_table_free(job->table);
    ebb_workspace_close(job->ws);
    ebb_plan_options_fini(&job->plan_options);
    ebb_plan_result_fini(&job->planned);
    ebb_strs_fini(&job->apply_options.overrides);
    ebb_apply_result_fini(&job->applied);
    ebb_restore_result_fini(&job->restored);
    ebb_strs_fini(&job->maps);
    ebb_strs_fini(&job->recorded);
    ebb_strs_fini(&job->paths);
    memset(job, 0, sizeof *job);
    return 0;
}

static struct job *new_job(lua_State *L)
{
    struct job *job = EBB_MAY_LJMP(ebb__lua_box(L, EBB__LUA_JOB, sizeof *job, l_job_gc));

    ebb_plan_options_init(&job->plan_options);
    ebb_strs_init(&job->maps);
    ebb_strs_init(&job->recorded);
    ebb_strs_init(&job->paths);
    ebb_strs_init(&job->apply_options.overrides);
    return job;
}

/* The options at index 2, with these keys and those of every call. Pushes what owns them. */
static struct ebb__lua_options check_options(lua_State *L, const char *const *names, size_t count)
{
    struct ebb__lua_options o = {2, NULL, NULL};

    luaL_argcheck(L, lua_isnoneornil(L, 2) || lua_istable(L, 2), 2, "a table of options is wanted");
    lua_settop(L, 2);
    o.own = ebb_value_get(EBB_MAY_LJMP(ebb__lua_check_value(L, 2)), EBB__LUA_KEY);
    EBB_MAY_LJMP(ebb__lua_check_keys(L, 2, o.own, names, count));
    return o;
}

/* The work is done: store and lock are let go now, not when the collector comes by. */
static int finish(lua_State *L, int results)
{
    for (int i = lua_gettop(L) - results; i > 0; i--)
        if (luaL_testudata(L, i, EBB__LUA_JOB)) {
            lua_pushcfunction(L, l_job_gc);
            lua_pushvalue(L, i);
            lua_call(L, 1, 0);
            break;
        }
    return results;
}

typedef void write_cb(struct ebb_jsonw *w, const struct job *job);

/* The result as tables; or nil, the error, and the result of what did happen, when there is one. */
static int give(lua_State *L, struct job *job, int rc, const struct ebb_err *err, bool has_result, write_cb *write)
{
    struct ebb_jsonw w;
    struct ebb_buf *json;
    int results = 0;

    if (rc)
        results = ebb__lua_fail(L, err);
    if (!has_result)
        return finish(L, results);
    json = ebb__lua_buf(L);
    ebb_buf_init(json, (size_t)1 << 30);
    ebb_jsonw_init(&w, json);
    write(&w, job);
    if (ebb__lua_return_json(L, "result", ebb_buf_cstr(json), json->len) != 1)
        return luaL_error(L, "the result can't be read");
    if (rc) { /* nil, error, buffer, tree, result: the boxes go */
        lua_replace(L, -3);
        lua_pop(L, 1);
    }
    return finish(L, results + 1);
}

/* ---- plan ---- */

static int read_lists(lua_State *L, const struct ebb__lua_options *o, struct ebb_protect_options *p,
                      struct ebb_err *err)
{
    int rc = ebb__lua_option_list(L, o, "equal_schemes", &p->equal_schemes, err);

    if (!rc)
        rc = ebb__lua_option_list(L, o, "equal_authorities", &p->equal_authorities, err);
    if (!rc)
        rc = ebb__lua_option_list(L, o, "with", &p->with, err);
    if (!rc)
        rc = ebb__lua_option_list(L, o, "dropped", &p->dropped, err);
    if (!rc)
        rc = ebb__lua_option_list(L, o, "read_also", &p->read_also, err);
    if (!rc)
        rc = ebb__lua_option_list(L, o, "exclude", &p->exclude, err);
    return rc;
}

/* A number from 1 on, or a size as text. */
static int read_bytes(lua_State *L, const struct ebb__lua_options *o, uint64_t *out, struct ebb_err *err)
{
    const struct ebb_value *value = ebb__lua_option(o, "max_bytes");

    if (ebb_value_get_str(value))
        return ebb_size_parse(ebb_value_get_str(value), out, err);
    luaL_argcheck(L, !value || (ebb_value_get_kind(value) == EBB_VALUE_INT && ebb_value_get_int(value, 0) > 0), o->arg,
                  "max_bytes: a size is wanted");
    *out = (uint64_t)ebb_value_get_int(value, 0);
    return 0;
}

static void read_fuses(lua_State *L, const struct ebb__lua_options *o, struct ebb_plan_options *p)
{
    const struct ebb_value *files = ebb__lua_option(o, "max_files"), *share = ebb__lua_option(o, "max_share");
    double part = ebb_value_get_float(share, 0);

    luaL_argcheck(L, !files || (ebb_value_get_kind(files) == EBB_VALUE_INT && ebb_value_get_int(files, 0) > 0), o->arg,
                  "max_files: a number from 1 on is wanted");
    luaL_argcheck(L, !share || (part > 0 && part <= 1), o->arg, "max_share: a share in (0, 1] is wanted");
    p->max_files = ebb_value_get_int(files, 0);
    p->max_share = part;
}

static int read_plan_options(lua_State *L, const struct ebb__lua_options *o, struct ebb_plan_options *p,
                             struct ebb_err *err)
{
    static const char *const MODES[] = {"error", "ignore", "delete", NULL}, *const AGES[] = {"mtime", "latest", NULL};
    int rc = read_lists(L, o, &p->protect, err);

    read_fuses(L, o, p);
    if (!rc)
        rc = read_bytes(L, o, &p->max_bytes, err);
    p->older_than = ebb__lua_option_text(L, o, "older_than");
    p->location = ebb__lua_option_text(L, o, "location");
    luaL_argcheck(L, !p->location || p->location[0], o->arg, "location: is empty");
    p->listing = ebb__lua_option_text(L, o, "listing");
    p->output = ebb__lua_option_text(L, o, "output");
    p->protect.mismatch = (enum ebb_mismatch_mode)ebb__lua_option_choice(L, o, "prefix_mismatch", MODES, 0);
    p->protect.keep_deleted_entries = ebb__lua_option_bool(L, o, "keep_deleted_entries");
    p->age_latest = ebb__lua_option_choice(L, o, "age", AGES, 0) == 1;
    return rc;
}

/* The configuration may let this table go below the floor. */
static int set_floor(struct job *job, const char *name, struct ebb_err *err)
{
    const struct ebb_config *config = ebb_workspace_config(job->ws);
    struct ebb_site *site = ebb_workspace_site(job->ws);
    int rc;

    if (!config->below_floor.count)
        return 0;
    rc = ebb_table_open(site, name, &job->table, err);
    if (!rc)
        site->allow_below_floor = ebb_config_allows_below_floor(config, job->table->label);
    return rc;
}

static void write_plan(struct ebb_jsonw *w, const struct job *job)
{
    const struct ebb_plan_result *r = &job->planned;

    ebb_plan_json(w, r->id, r->file, r->table, r->uuid, r->location, r->cutoff_ms, &r->summary);
}

int ebb__lua_plan(lua_State *L)
{
    static const char *const KEYS[] = {"map",
                                       "state",
                                       "config",
                                       "older_than",
                                       "location",
                                       "listing",
                                       "output",
                                       "max_files",
                                       "max_bytes",
                                       "max_share",
                                       "prefix_mismatch",
                                       "equal_schemes",
                                       "with",
                                       "exclude",
                                       "read_also",
                                       "dropped",
                                       "keep_deleted_entries",
                                       "equal_authorities",
                                       "age"};
    struct ebb__lua_table *t = ebb__lua_test_table(L, 1);
    struct ebb__lua_options o = check_options(L, KEYS, sizeof KEYS / sizeof *KEYS);
    struct job *job = new_job(L);
    const char *name = NULL;
    struct ebb_err err;
    int rc = 0;

    if (t) {
        name = t->table->opened_as;
        o.table = ebb_value_get(t->options, EBB__LUA_KEY);
    } else {
        rc = ebb__lua_check_text(L, 1, EBB_EUSAGE, &name, &err);
    }
    if (!rc)
        rc = read_plan_options(L, &o, &job->plan_options, &err);
    if (!rc)
        rc = ebb__lua_open_workspace(L, &o, false, &job->ws, &err);
    if (!rc)
        rc = ebb__lua_connect(L, &o, job->ws, NULL, &job->maps, &err);
    if (!rc)
        rc = set_floor(job, name, &err);
    if (!rc)
        rc = ebb_plan_make(ebb_workspace_site(job->ws), name, &job->plan_options, &job->planned, &err);
    return give(L, job, rc, &err, !rc, write_plan);
}

/* ---- apply ---- */

static int read_apply_options(lua_State *L, const struct ebb__lua_options *o, struct ebb_apply_options *a,
                              struct ebb_err *err)
{
    static const char *const MODES[] = {"full", "sample", "none", NULL};
    const char *age = ebb__lua_option_text(L, o, "max_age");
    int rc = ebb__lua_option_list(L, o, "override", &a->overrides, err);

    a->delete_for_good = ebb__lua_option_bool(L, o, "delete");
    a->quarantine = ebb__lua_option_text(L, o, "quarantine");
    luaL_argcheck(L, !a->delete_for_good || !a->quarantine, o->arg, "delete or quarantine, not both");
    a->verify = (enum ebb_verify_mode)ebb__lua_option_choice(L, o, "verify", MODES, EBB_VERIFY_FULL);
    if (!rc && age)
        rc = ebb_duration_parse(age, &a->max_age_ms, err);
    luaL_argcheck(L, rc || !age || a->max_age_ms > 0, o->arg, "max_age: an age is wanted");
    return rc;
}

/* Maps and floor of a plan. */
static int look_at_plan(struct job *job, const char *plan, struct ebb_err *err)
{
    const struct ebb_plan_header *h;
    struct ebb_buf name;
    int rc = ebb_plan_file_open(ebb_workspace_site(job->ws), plan, &job->file, err);

    if (rc)
        return rc;
    h = ebb_plan_file_header(job->file);
    ebb_buf_init(&name, EBB__LUA_TEXT_MAX);
    ebb_buf_printf(&name, "%s.%s%s%s", h->catalog, h->namespace_, h->namespace_[0] ? "." : "", h->name);
    ebb_workspace_site(job->ws)->allow_below_floor =
        !name.bad && ebb_config_allows_below_floor(ebb_workspace_config(job->ws), ebb_buf_cstr(&name));
    ebb_buf_fini(&name);
    return ebb_workspace_recorded_maps(h->options, &job->recorded, err);
}

static void write_applied(struct ebb_jsonw *w, const struct job *job)
{
    ebb_apply_json(w, &job->applied);
}

/* A file or id as text, or this member of an earlier result. Stays on the stack. */
static int name_of(lua_State *L, const char *member, const char **out, struct ebb_err *err)
{
    if (lua_istable(L, 1)) {
        lua_getfield(L, 1, member);
        lua_replace(L, 1);
    }
    return ebb__lua_check_text(L, 1, EBB_EUSAGE, out, err);
}

int ebb__lua_apply(lua_State *L)
{
    static const char *const KEYS[] = {"map",        "state",    "config",  "delete",
                                       "quarantine", "override", "max_age", "verify"};
    struct ebb__lua_options o = check_options(L, KEYS, sizeof KEYS / sizeof *KEYS);
    struct job *job = new_job(L);
    const char *plan;
    struct ebb_err err;
    int rc = name_of(L, "file", &plan, &err);

    if (!rc)
        rc = read_apply_options(L, &o, &job->apply_options, &err);
    if (!rc)
        rc = ebb__lua_open_workspace(L, &o, false, &job->ws, &err);
    if (!rc)
        rc = look_at_plan(job, plan, &err);
    if (!rc)
        rc = ebb__lua_connect(L, &o, job->ws, &job->recorded, &job->maps, &err);
    if (!rc)
        rc = ebb_apply(ebb_workspace_site(job->ws), plan, &job->apply_options, &job->applied, &err);
    return give(L, job, rc, &err, job->applied.run[0] != '\0', write_applied);
}

/* ---- restore ---- */

static int record_maps(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    return ebb_workspace_recorded_maps(ebb_str_of(record->json), data, err);
}

static void write_restored(struct ebb_jsonw *w, const struct job *job)
{
    ebb_restore_json(w, &job->restored);
}

int ebb__lua_restore(lua_State *L)
{
    static const char *const KEYS[] = {"map", "state", "config", "paths"};
    struct ebb__lua_options o = check_options(L, KEYS, sizeof KEYS / sizeof *KEYS);
    struct job *job = new_job(L);
    struct ebb_err err;
    const char *run;
    int rc = name_of(L, "run", &run, &err);

    if (!rc)
        rc = ebb__lua_option_list(L, &o, "paths", &job->paths, &err);
    if (!rc)
        rc = ebb__lua_open_workspace(L, &o, false, &job->ws, &err);
    if (!rc)
        rc = ebb_store_get(ebb_workspace_site(job->ws)->store, EBB_RECORD_RUN, run, record_maps, &job->recorded, &err);
    if (!rc)
        rc = ebb__lua_connect(L, &o, job->ws, &job->recorded, &job->maps, &err);
    if (!rc)
        rc = ebb_restore(ebb_workspace_site(job->ws), run, &job->paths, &job->restored, &err);
    return give(L, job, rc, &err, job->restored.run[0] != '\0', write_restored);
}
