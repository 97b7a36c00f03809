/* SPDX-License-Identifier: Apache-2.0
 *
 * require "ebb.session": worlds in memory as Lua values, and the little that the Lua part of ebb.testing can't do
 * itself. What a session decides is kept until take() asks for it, since no callback may raise through the session.
 */
#include <regex.h>
#include <stdlib.h>

#include "front/lua/policy_priv.h"
#include "service/pass.h"
#include "service/session.h"

#define EBB__LUA_SESSION "ebb.module.session"
#define EBB__LUA_STRS "ebb.module.strs"
#define EBB__LUA_REGEX "ebb.module.regex"

struct session_box {
    struct ebb_session *session; /* NULL: closed */
    struct ebb_value *made;      /* list of entries */
    struct ebb__shared_policy **policies;
    size_t policy_count;
};

static int l_session_gc(lua_State *L)
{
    struct session_box *box = luaL_checkudata(L, 1, EBB__LUA_SESSION);

    ebb_session_free(box->session);
    ebb_value_free(box->made);
    for (size_t i = 0; i < box->policy_count; i++)
        ebb__shared_policy_drop(box->policies[i]);
    free(box->policies);
    memset(box, 0, sizeof *box);
    return 0;
}

static struct session_box *check_box(lua_State *L)
{
    struct session_box *box = luaL_checkudata(L, 1, EBB__LUA_SESSION);

    luaL_argcheck(L, box->session, 1, "the session is closed");
    return box;
}

static struct ebb_session *check_session(lua_State *L)
{
    return check_box(L)->session;
}

/* Tables are numbered from 1 in Lua. */
static size_t check_table(lua_State *L, int index)
{
    int64_t number = ebb__lua_check_int(L, index);

    luaL_argcheck(L, number >= 1 && (uint64_t)number <= ebb_session_table_count(check_session(L)), index,
                  "there is no such table");
    return (size_t)number - 1;
}

static const char *check_name(lua_State *L, int index)
{
    luaL_checktype(L, index, LUA_TSTRING);
    return lua_tostring(L, index);
}

static int done(lua_State *L, int rc, const struct ebb_err *err)
{
    if (rc)
        return ebb__lua_fail(L, err);
    lua_pushboolean(L, true);
    return 1;
}

/* ---- decisions as entries ---- */

static void put_decision(struct ebb_value *entry, const struct ebb_decision *decision)
{
    const char *record = ebb_decision_get_record(decision);

    ebb_value_put_str(entry, "verdict", ebb_verdict_name(ebb_decision_get_verdict(decision)));
    ebb_value_put_str(entry, "by", ebb_decision_get_by(decision));
    ebb_value_put_str(entry, "record", record);
    ebb_value_put_copy(entry, "action", ebb_decision_get_action(decision));
    if (ebb_decision_get_verdict(decision) == EBB_VERDICT_DEFER && ebb_decision_get_until_ms(decision))
        ebb_value_put_int(entry, "until_", ebb_decision_get_until_ms(decision));
}

static void put_error(struct ebb_value *entry, const struct ebb_err *error)
{
    struct ebb_value *map = ebb_value_put_map(entry, "error");

    ebb_value_put_str(map, "code", ebb_error_code(error->error));
    ebb_value_put_str(map, "message", error->message);
    if (error->hint[0])
        ebb_value_put_str(map, "hint", error->hint);
}

static void on_decided(void *data, const struct ebb_session_decision *d)
{
    struct session_box *box = data;
    struct ebb_value *entry = ebb_value_add_map(box->made);

    ebb_value_put_str(entry, "policy", d->policy);
    ebb_value_put_int(entry, "table", (int64_t)d->table + 1);
    ebb_value_put_int(entry, "now", d->at_ms);
    if (d->dropped)
        ebb_value_put_str(entry, "dropped", d->dropped);
    if (d->decision)
        put_decision(entry, d->decision);
    if (d->error)
        put_error(entry, d->error);
}

/* Push an entry with its record as tables. */
static void push_entry(lua_State *L, const struct ebb_value *entry)
{
    struct ebb_str record = ebb_value_get_bytes(ebb_value_get(entry, "record"));
    int top = lua_gettop(L) + 1;

    ebb__lua_push_value(L, entry);
    if (!record.p)
        return;
    if (ebb__lua_return_json(L, "decision", record.p, record.n) != 1)
        luaL_error(L, "a decision's record can't be read");
    lua_setfield(L, top, "record");
    lua_settop(L, top);
}

/* session:take() -> list of what was decided since */
static int l_take(lua_State *L)
{
    struct session_box *box = check_box(L);
    struct ebb_value **tree = ebb__lua_tree(L), *next = ebb_value_new_list(NULL);
    struct ebb_err err;

    *tree = box->made;
    box->made = next;
    if (ebb_value_check(*tree, "decisions", &err) || ebb_value_check(next, "decisions", &err))
        return ebb__lua_fail(L, &err);
    lua_newtable(L);
    for (size_t i = 0; i < ebb_value_get_count(*tree); i++) {
        push_entry(L, ebb_value_get_at(*tree, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* ---- policies and tables ---- */

static uint8_t *lines_of(void *data, const struct ebb_policy *policy, size_t *count)
{
    struct session_box *box = data;

    for (size_t i = 0; i < box->policy_count; i++)
        if (box->policies[i]->policy == policy) {
            *count = sizeof box->policies[i]->lines * 8;
            return box->policies[i]->lines;
        }
    return NULL;
}

static int hold_policy(struct session_box *box, struct ebb__shared_policy *shared, struct ebb_err *err)
{
    struct ebb__shared_policy **bigger = realloc(box->policies, (box->policy_count + 1) * sizeof *bigger);

    if (!bigger)
        return ebb_err_nomem(err);
    box->policies = bigger;
    box->policies[box->policy_count++] = shared;
    shared->refs++;
    return 0;
}

/* session:bind(policy, { mode =, params =, blackouts =, guard =, … }) */
static int l_bind(lua_State *L)
{
    static const char *const KEYS[] = {
        "mode", "params", "blackouts", "blackout_tz", "guard", "allow_below_floor", "allow_override_quiet"};
    struct session_box *box = check_box(L);
    struct ebb__shared_policy *shared = ebb__lua_check_policy(L, 2);
    struct ebb_session_binding binding;
    struct ebb__lua_binding given;
    const struct ebb_value *map;
    struct ebb_err err;
    int rc;

    lua_settop(L, 3);
    map = ebb_value_get(ebb__lua_check_value(L, 3), EBB__LUA_KEY);
    ebb__lua_check_keys(L, 3, map, KEYS, sizeof KEYS / sizeof *KEYS);
    ebb__lua_check_binding(L, 3, map, &given);
    memset(&binding, 0, sizeof binding);
    binding.mode = given.mode;
    binding.params = given.params;
    binding.blackouts = given.blackouts;
    binding.blackout_tz = given.blackout_tz;
    binding.guard = given.guard;
    binding.allow_below_floor = given.allow_below_floor;
    binding.allow_override_quiet = given.allow_override_quiet;
    rc = hold_policy(box, shared, &err);
    if (!rc)
        rc = ebb_session_bind(box->session, shared->policy, &binding, &err);
    return done(L, rc, &err);
}

/* session:add(facts | file) -> number of the table */
static int l_add(lua_State *L)
{
    struct ebb_session *session = check_session(L);
    const struct ebb_value *facts = NULL;
    struct ebb_err err;
    size_t index = 0;
    int rc = ebb__lua_check_facts(L, 2, ebb_session_now(session), &facts, &err);

    if (!rc)
        rc = ebb_session_add_table(session, facts, &index, &err);
    return ebb__lua_return_int(L, (int64_t)index + 1, rc, &err);
}

/* session:facts(table [, policy]) */
static int l_facts(lua_State *L)
{
    const char *policy = lua_isnoneornil(L, 3) ? NULL : check_name(L, 3);
    struct ebb_err err;
    const struct ebb_value *facts = ebb_session_facts(check_session(L), check_table(L, 2), policy, &err);

    if (!facts)
        return ebb__lua_fail(L, &err);
    ebb__lua_push_value(L, facts);
    return 1;
}

/* ---- the clock ---- */

static int move(lua_State *L, int (*by)(struct ebb_session *, int64_t, struct ebb_err *))
{
    struct ebb_session *session = check_session(L);
    struct ebb_err err;

    return done(L, by(session, ebb__lua_check_int(L, 2), &err), &err);
}

static int l_at(lua_State *L)
{
    return move(L, ebb_session_at);
}

static int l_step(lua_State *L)
{
    return move(L, ebb_session_step);
}

static int l_asleep(lua_State *L)
{
    return move(L, ebb_session_asleep);
}

static int l_clock_step(lua_State *L)
{
    return move(L, ebb_session_clock_step);
}

static int l_now(lua_State *L)
{
    lua_pushinteger(L, ebb_session_now(check_session(L)));
    return 1;
}

static int l_pause(lua_State *L)
{
    ebb_session_pause(check_session(L));
    return 0;
}

static int l_resume(lua_State *L)
{
    struct ebb_err err;

    return done(L, ebb_session_resume(check_session(L), &err), &err);
}

/* ---- the world ---- */

/* session:event(table, map) -> id */
static int l_event(lua_State *L)
{
    struct ebb_session *session = check_session(L);
    size_t table = check_table(L, 2);
    char id[40] = "";
    struct ebb_err err;
    int rc;

    luaL_checktype(L, 3, LUA_TTABLE);
    rc = ebb_session_event(session, table, ebb_value_get(ebb__lua_check_value(L, 3), EBB__LUA_KEY), id, &err);
    if (rc)
        return ebb__lua_fail(L, &err);
    lua_pushstring(L, id);
    return 1;
}

/* session:commits(table, n) */
static int l_commits(lua_State *L)
{
    struct ebb_session *session = check_session(L);
    size_t table = check_table(L, 2);
    struct ebb_err err;

    return done(L, ebb_session_commits(session, table, ebb__lua_check_int(L, 3), &err), &err);
}

/* session:set(table, path, value) */
static int l_set(lua_State *L)
{
    struct ebb_session *session = check_session(L);
    size_t table = check_table(L, 2);
    const char *path = check_name(L, 3);
    const struct ebb_value *box;
    struct ebb_err err;

    lua_settop(L, 4);
    box = ebb__lua_check_value(L, 4);
    return done(L, ebb_session_set(session, table, path, box, EBB__LUA_KEY, &err), &err);
}

/* session:manual(table, policy) */
static int l_manual(lua_State *L)
{
    struct ebb_session *session = check_session(L);
    size_t table = check_table(L, 2);
    struct ebb_err err;

    return done(L, ebb_session_manual(session, table, check_name(L, 3), &err), &err);
}

/* session:finish(table, policy, outcome) */
static int l_finish(lua_State *L)
{
    struct ebb_session *session = check_session(L);
    size_t table = check_table(L, 2);
    const char *policy = check_name(L, 3);
    struct ebb_err err;

    return done(L, ebb_session_finish(session, table, policy, check_name(L, 4), &err), &err);
}

/* session:decide(table, policy) -> entry */
static int l_decide(lua_State *L)
{
    struct ebb_session *session = check_session(L);
    size_t table = check_table(L, 2);
    const char *policy = check_name(L, 3);
    struct ebb_decision **decision = ebb__lua_decision(L);
    struct ebb_value **entry = ebb__lua_tree(L);
    struct ebb_err err;
    int rc = ebb_session_decide(session, table, policy, decision, &err);

    if (rc && !*decision)
        return ebb__lua_fail(L, &err);
    *entry = ebb_value_new_map(NULL);
    ebb_value_put_str(*entry, "policy", policy);
    ebb_value_put_int(*entry, "table", (int64_t)table + 1);
    ebb_value_put_int(*entry, "now", ebb_session_now(session));
    put_decision(*entry, *decision);
    if (rc)
        put_error(*entry, &err);
    if (ebb_value_check(*entry, "decision", &err))
        return ebb__lua_fail(L, &err);
    push_entry(L, *entry);
    return 1;
}

static const luaL_Reg METHODS[] = {
    {"bind", l_bind},   {"add", l_add},       {"facts", l_facts},   {"at", l_at},
    {"step", l_step},   {"asleep", l_asleep}, {"now", l_now},       {"clock_step", l_clock_step},
    {"pause", l_pause}, {"resume", l_resume}, {"event", l_event},   {"commits", l_commits},
    {"set", l_set},     {"manual", l_manual}, {"finish", l_finish}, {"decide", l_decide},
    {"take", l_take},   {NULL, NULL},
};

/* session.new(now) -> session; runs last until finish, but for those that are only observed */
static int l_new(lua_State *L)
{
    struct ebb_session_options options;
    struct session_box *box;
    struct ebb_err err;
    int rc;

    memset(&options, 0, sizeof options);
    options.now_ms = ebb__lua_check_int(L, 1);
    box = ebb__lua_box(L, EBB__LUA_SESSION, sizeof *box, l_session_gc);
    ebb__lua_methods(L, METHODS);
    options.decided = on_decided;
    options.lines = lines_of;
    options.data = box;
    box->made = ebb_value_new_list(NULL);
    rc = box->made ? ebb_session_new(&options, &box->session, &err) : ebb_err_nomem(&err);
    return rc ? ebb__lua_fail(L, &err) : 1;
}

/* ---- beside sessions ---- */

/* session.lines(policy) -> list of the lines that were executed */
static int l_lines(lua_State *L)
{
    struct ebb__shared_policy *shared = ebb__lua_check_policy(L, 1);
    lua_Integer count = 0;

    lua_newtable(L);
    for (size_t i = 0; i < sizeof shared->lines * 8; i++)
        if (shared->lines[i / 8] & (1u << i % 8)) {
            lua_pushinteger(L, (lua_Integer)i);
            lua_rawseti(L, -2, ++count);
        }
    return 1;
}

static int l_strs_gc(lua_State *L)
{
    ebb_strs_fini(luaL_checkudata(L, 1, EBB__LUA_STRS));
    return 0;
}

/* session.files(dir) -> list of the policy files in a folder */
static int l_files(lua_State *L)
{
    struct ebb_strs *files;
    struct ebb_err err;
    const char *dir;
    int rc = ebb__lua_check_text(L, 1, EBB_EUSAGE, &dir, &err);

    files = ebb__lua_box(L, EBB__LUA_STRS, sizeof *files, l_strs_gc);
    ebb_strs_init(files);
    if (!rc)
        rc = ebb_policy_files(dir, files, &err);
    if (rc)
        return ebb__lua_fail(L, &err);
    lua_newtable(L);
    for (size_t i = 0; i < files->count; i++) {
        lua_pushstring(L, files->items[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* session.json(value) -> JSON text */
static int l_json(lua_State *L)
{
    const struct ebb_value *value;
    struct ebb_buf *out;
    struct ebb_err err;

    luaL_checktype(L, 1, LUA_TTABLE);
    value = ebb_value_get(ebb__lua_check_value(L, 1), EBB__LUA_KEY);
    out = ebb__lua_buf(L);
    ebb_buf_init(out, (size_t)64 << 20);
    return ebb__lua_return_buf(L, out, ebb_value_to_json(value, out, &err), &err);
}

struct regex_box {
    regex_t regex;
    bool is_set;
};

static int l_regex_gc(lua_State *L)
{
    struct regex_box *box = luaL_checkudata(L, 1, EBB__LUA_REGEX);

    if (box->is_set)
        regfree(&box->regex);
    box->is_set = false;
    return 0;
}

/* session.matches(regex, text) -> boolean; POSIX extended */
static int l_matches(lua_State *L)
{
    const char *pattern = check_name(L, 1), *text = check_name(L, 2);
    struct regex_box *box = ebb__lua_box(L, EBB__LUA_REGEX, sizeof *box, l_regex_gc);

    if (regcomp(&box->regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return luaL_argerror(L, 1, "not a regular expression");
    box->is_set = true;
    lua_pushboolean(L, regexec(&box->regex, text, 0, NULL, 0) == 0);
    return 1;
}

static const luaL_Reg FUNCTIONS[] = {
    {"new", l_new}, {"lines", l_lines}, {"files", l_files}, {"json", l_json}, {"matches", l_matches}, {NULL, NULL},
};

__attribute__((visibility("default"))) int luaopen_ebb_session(lua_State *L);

int luaopen_ebb_session(lua_State *L)
{
    luaL_checkversion(L);
    luaL_newlib(L, FUNCTIONS);
    return 1;
}
