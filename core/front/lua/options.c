/* SPDX-License-Identifier: Apache-2.0 */
#include "front/lua/table_priv.h"

const struct ebb_value *ebb__lua_option(const struct ebb__lua_options *o, const char *key)
{
    const struct ebb_value *value = ebb_value_get(o->own, key);

    return value ? value : ebb_value_get(o->table, key);
}

/* A string of Lua may hold NUL; then it is not what a C string would say. */
static const char *check_text(lua_State *L, const struct ebb__lua_options *o, const char *key,
                              const struct ebb_value *value)
{
    const char *text = ebb_value_get_str(value);

    if (!text || strlen(text) != ebb_value_get_bytes(value).n)
        luaL_argerror(L, o->arg, lua_pushfstring(L, "%s: a text is wanted", key));
    return text;
}

EBB_LJMP const char *ebb__lua_option_text(lua_State *L, const struct ebb__lua_options *o, const char *key)
{
    const struct ebb_value *value = ebb__lua_option(o, key);

    return value ? EBB_MAY_LJMP(check_text(L, o, key, value)) : NULL;
}

EBB_LJMP bool ebb__lua_option_bool(lua_State *L, const struct ebb__lua_options *o, const char *key)
{
    const struct ebb_value *value = ebb__lua_option(o, key);

    if (value && ebb_value_get_kind(value) != EBB_VALUE_BOOL)
        luaL_argerror(L, o->arg, lua_pushfstring(L, "%s: true or false is wanted", key));
    return ebb_value_get_bool(value, false);
}

EBB_LJMP int ebb__lua_option_choice(lua_State *L, const struct ebb__lua_options *o, const char *key,
                                    const char *const *names, int otherwise)
{
    const char *text = EBB_MAY_LJMP(ebb__lua_option_text(L, o, key));

    if (!text)
        return otherwise;
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], text))
            return i;
    return luaL_argerror(L, o->arg, lua_pushfstring(L, "%s: '%s' is no choice", key, text));
}

static int add_pair(struct ebb_str key, const char *value, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_buf pair;
    int rc;

    ebb_buf_init(&pair, EBB__LUA_TEXT_MAX);
    ebb_buf_add_str(&pair, key);
    ebb_buf_printf(&pair, "=%s", value);
    rc = ebb_buf_check(&pair, "option", err);
    if (!rc)
        rc = ebb_strs_add(out, ebb_buf_cstr(&pair), err);
    ebb_buf_fini(&pair);
    return rc;
}

EBB_LJMP int ebb__lua_option_list(lua_State *L, const struct ebb__lua_options *o, const char *key, struct ebb_strs *out,
                                  struct ebb_err *err)
{
    const struct ebb_value *list = ebb__lua_option(o, key);
    int rc = 0;

    if (list && ebb_value_get_kind(list) < EBB_VALUE_LIST)
        luaL_argerror(L, o->arg, lua_pushfstring(L, "%s: a table of texts is wanted", key));
    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++) {
        const char *text = EBB_MAY_LJMP(check_text(L, o, key, ebb_value_get_at(list, i)));

        if (ebb_value_get_kind(list) == EBB_VALUE_MAP)
            rc = add_pair(ebb_value_get_key(list, i), text, out, err);
        else
            rc = ebb_strs_add(out, text, err);
    }
    return rc;
}

EBB_LJMP int ebb__lua_open_workspace(lua_State *L, const struct ebb__lua_options *o, bool without_store,
                                     struct ebb_workspace **out, struct ebb_err *err)
{
    const struct ebb_value *config = ebb__lua_option(o, "config");
    struct ebb_workspace_options options;

    memset(&options, 0, sizeof options);
    options.no_config = ebb_value_get_kind(config) == EBB_VALUE_BOOL && !ebb_value_get_bool(config, true);
    if (!options.no_config)
        options.config = EBB_MAY_LJMP(ebb__lua_option_text(L, o, "config"));
    options.state_dir = EBB_MAY_LJMP(ebb__lua_option_text(L, o, "state"));
    return ebb_workspace_open(&options, without_store, out, err);
}

EBB_LJMP int ebb__lua_connect(lua_State *L, const struct ebb__lua_options *o, struct ebb_workspace *ws,
                              const struct ebb_strs *recorded, struct ebb_strs *maps, struct ebb_err *err)
{
    int rc = EBB_MAY_LJMP(ebb__lua_option_list(L, o, "map", maps, err));

    return rc ? rc : ebb_workspace_connect(ws, maps, recorded, err);
}
