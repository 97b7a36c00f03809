/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/data.h"

#include <fcntl.h>
#include <lauxlib.h>
#include <stdlib.h>

#include "engine/bundle_priv.h"
#include "engine/sandbox_priv.h"
#include "engine/bind_priv.h"

struct reading {
    struct ebb_str source;
    ebb_env_cb *env;
    void *env_data;
    struct ebb_value *value;
    bool has_started;
    struct ebb_err err;
    int rc;
};

/* env "NAME" */
static int l_env(lua_State *L)
{
    struct reading *r = ebb__sandbox_of(L)->host;
    const char *value;

    if (lua_type(L, 1) != LUA_TSTRING)
        return luaL_error(L, "env: the name of a variable is due, not %s", ebb__type_name(L, 1));
    value = r->env(r->env_data, lua_tostring(L, 1));
    if (!value)
        return luaL_error(L, "env: %s is not set", lua_tostring(L, 1));
    lua_pushstring(L, value);
    return 1;
}

static int open_data(lua_State *L)
{
    struct reading *r = ebb__sandbox_of(L)->host;

    lua_newtable(L);
    EBB_MAY_LJMP(ebb__bind_pure(L));
    if (r->env) {
        EBB_MAY_LJMP(ebb__push_function(L, l_env));
        lua_setfield(L, -2, "env");
    }
    return 1;
}

static int run_file(lua_State *L)
{
    struct reading *r = lua_touserdata(L, 1);
    struct ebb__value_rules rules = {ebb_value_limits_wide(), "result", NULL, NULL, true};

    rules.limits.depth = 16;
    ebb__load_chunk(L, r->source.p, r->source.n, "=policy");
    r->has_started = true;
    lua_call(L, 0, 1);
    r->rc = ebb__value_of_lua(L, -1, &rules, &r->value, &r->err);
    return 0;
}

static int evaluate(struct reading *r, const char *file, struct ebb_err *err)
{
    struct ebb__sandbox sb;
    int rc = ebb__sandbox_open(&sb, EBB__PHASE_DATA, r, open_data, err);

    if (rc)
        return rc;
    rc = ebb__sandbox_run(&sb, run_file, r, file, NULL, err);
    ebb__sandbox_close(&sb);
    if (rc)
        return ebb_err_as(err, r->has_started ? EBB_ECONFIG : EBB_ECONFIG_SYNTAX, NULL);
    if (r->rc && err)
        *err = r->err;
    return r->rc == -(int)EBB_EPOLICY_RESULT ? ebb_err_as(err, EBB_ECONFIG, file) : r->rc;
}

int ebb_data_load(const char *file, ebb_env_cb *env, void *env_data, struct ebb_value **out, struct ebb_err *err)
{
    struct reading r = {.env = env, .env_data = env_data};
    char *source;
    int rc = ebb__source_read(AT_FDCWD, file, file, 0, &source, &r.source.n, err);

    *out = NULL;
    if (rc)
        return rc == -(int)EBB_EPOLICY_SCHEMA ? ebb_err_as(err, EBB_ECONFIG, NULL) : rc;
    r.source.p = source;
    rc = evaluate(&r, file, err);
    free(source);
    if (rc)
        ebb_value_free(r.value);
    else
        *out = r.value;
    return rc;
}
