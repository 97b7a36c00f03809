/* SPDX-License-Identifier: Apache-2.0
 *
 * check, check_each, all, any, none, note. Three values: false, true, unknown; nothing short-circuits.
 */
#include <lauxlib.h>
#include <math.h>

#include "engine/eval_priv.h"

#define IN_MAX 16

static const char OPS[] = "==|~=|<|<=|>|>=|in|matches|exists|unknown";

struct ebb__eval *ebb__eval_of(lua_State *L)
{
    return ebb__sandbox_of(L)->host;
}

const char *ebb__truth_name(enum ebb__truth truth)
{
    static const char *const NAMES[] = {"false", "true", "unknown"};

    return NAMES[truth];
}

enum ebb__truth ebb__truth_join(char op, const enum ebb__truth *parts, size_t count)
{
    enum ebb__truth decisive = op == 'A' ? EBB__FALSE : EBB__TRUE;
    bool unknown = false, decided = false;

    for (size_t i = 0; i < count; i++) {
        decided = decided || parts[i] == decisive;
        unknown = unknown || parts[i] == EBB__UNKNOWN;
    }
    if (!decided && unknown)
        return EBB__UNKNOWN;
    return decided == (op == 'O') ? EBB__TRUE : EBB__FALSE;
}

static int node_index(lua_State *L)
{
    static const char *const NAMES[] = {"ok", "result", "name"};
    struct ebb__node *node = ebb__check_node(L, 1, "check");
    const char *key = luaL_checkstring(L, 2);

    if (!strcmp(key, "ok"))
        lua_pushboolean(L, node->truth == EBB__TRUE);
    else if (!strcmp(key, "result"))
        lua_pushstring(L, ebb__truth_name(node->truth));
    else if (!strcmp(key, "name"))
        lua_pushlstring(L, node->name, strlen(node->name)); /* lua_pushstring remembers some by their address */
    else
        return EBB_MAY_LJMP(ebb__unknown_name(L, "check", key, NAMES, 3));
    return 1;
}

static int node_newindex(lua_State *L)
{
    return luaL_error(L, "check: results are read only");
}

EBB_LJMP struct ebb__node *ebb__check_node(lua_State *L, int index, const char *what)
{
    int *at = ebb__object_test(L, index, EBB__NODE);

    if (!at)
        luaL_error(L, "%s: the result of check, all, any or none is due, not %s", what,
                   lua_isnoneornil(L, index) ? "nil" : ebb__type_name(L, index));
    return &ebb__eval_of(L)->nodes[*at];
}

static const luaL_Reg NODE_METHODS[] = {{"__index", node_index}, {"__newindex", node_newindex}, {NULL, NULL}};

/* Push the userdata of a fresh node. */
static struct ebb__node *push_node(lua_State *L, char op)
{
    struct ebb__eval *e = ebb__eval_of(L);
    int *at = lua_newuserdatauv(L, sizeof *at, 0);

    ebb__object_init(L, EBB__NODE, NODE_METHODS);
    if (e->node_count == EBB__NODES_MAX)
        luaL_error(L, "check: more than %d checks and combinations", EBB__NODES_MAX);
    *at = e->node_count++;
    e->nodes[*at] = (struct ebb__node){.op = op, .height = 1};
    return &e->nodes[*at];
}

static bool is_nan(lua_State *L, int index)
{
    return lua_type(L, index) == LUA_TNUMBER && isnan(lua_tonumber(L, index));
}

static enum ebb__truth is_in(lua_State *L, int actual, int list)
{
    lua_Integer n = ebb__list_length(L, list, "check: in");

    for (lua_Integer i = 1; i <= n; i++) {
        bool equal;

        EBB_MAY_LJMP(ebb__charge(L, 2));
        EBB_MAY_LJMP(ebb__list_push(L, list, i));
        equal = lua_compare(L, actual, -1, LUA_OPEQ);
        lua_pop(L, 1);
        if (equal)
            return EBB__TRUE;
    }
    return EBB__FALSE;
}

static enum ebb__truth is_match(lua_State *L, int actual, int pattern)
{
    struct ebb_str text, glob;

    if (lua_type(L, actual) != LUA_TSTRING || lua_type(L, pattern) != LUA_TSTRING)
        luaL_error(L, "check: matches compares texts");
    text.p = lua_tolstring(L, actual, &text.n);
    glob.p = lua_tolstring(L, pattern, &glob.n);
    if (glob.n > 256)
        luaL_error(L, "check: the pattern is longer than 256 bytes");
    EBB_MAY_LJMP(ebb__charge(L, (glob.n + 1) * (text.n / 8 + 1)));
    return ebb_glob_is_match(glob, text) ? EBB__TRUE : EBB__FALSE;
}

static bool is_ordered(lua_State *L, int a, const char *op, int b)
{
    if (!strcmp(op, "<"))
        return lua_compare(L, a, b, LUA_OPLT);
    if (!strcmp(op, "<="))
        return lua_compare(L, a, b, LUA_OPLE);
    if (!strcmp(op, ">"))
        return lua_compare(L, b, a, LUA_OPLT);
    return lua_compare(L, b, a, LUA_OPLE);
}

/* nil, or a map of facts that is not there: it can be handed on, but not compared. */
static bool is_missing(lua_State *L, int index)
{
    struct ebb__view *v = lua_isnoneornil(L, index) ? NULL : ebb__view_test(L, index);

    return v ? !v->value : lua_isnoneornil(L, index);
}

/* Compare the values at a and b. */
static enum ebb__truth judge(lua_State *L, int a, const char *op, int b)
{
    bool equal;

    if (!strcmp(op, "exists"))
        return is_missing(L, a) ? EBB__FALSE : EBB__TRUE;
    if (!strcmp(op, "unknown"))
        return is_missing(L, a) ? EBB__TRUE : EBB__FALSE;
    if (is_missing(L, a) || is_missing(L, b) || is_nan(L, a) || is_nan(L, b))
        return EBB__UNKNOWN;
    if (!strcmp(op, "in"))
        return is_in(L, a, b);
    if (!strcmp(op, "matches"))
        return is_match(L, a, b);
    if (!strcmp(op, "==") || !strcmp(op, "~=")) {
        equal = lua_compare(L, a, b, LUA_OPEQ);
        return equal == (op[0] == '=') ? EBB__TRUE : EBB__FALSE;
    }
    if (lua_type(L, a) != lua_type(L, b) || (lua_type(L, a) != LUA_TNUMBER && lua_type(L, a) != LUA_TSTRING))
        luaL_error(L, "check: can't compare %s %s %s", ebb__type_name(L, a), op, ebb__type_name(L, b));
    return is_ordered(L, a, op, b) ? EBB__TRUE : EBB__FALSE;
}

static const char *check_name(lua_State *L, int index, const char *what)
{
    size_t n;
    const char *name;

    if (lua_type(L, index) != LUA_TSTRING)
        luaL_error(L, "%s: a name is due, not %s", what, ebb__type_name(L, index));
    name = lua_tolstring(L, index, &n);
    if (n == 0 || n > EBB__NAME_MAX || strlen(name) != n)
        luaL_error(L, "%s: a name has 1 to %d bytes", what, EBB__NAME_MAX);
    return name;
}

static const char *check_op(lua_State *L, int index)
{
    const char *op = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;

    if (!op || !op[0] || !ebb__is_choice(OPS, '|', op))
        luaL_error(L, "check: the third value is one of %s", "== ~= < <= > >= in matches exists unknown");
    return op;
}

static bool takes_limit(const char *op)
{
    return strcmp(op, "exists") != 0 && strcmp(op, "unknown") != 0;
}

/* Add to the record; a is the index of the first operand, followed by operator and second. key: index of the key, 0
 * none. */
static void record(lua_State *L, const char *name, int a, int key, enum ebb__truth truth)
{
    struct ebb__eval *e = ebb__eval_of(L);
    struct ebb_value *entry;

    if (ebb_value_get_count(e->checks) >= (key ? EBB__CHECKS_EACH_MAX : EBB__CHECKS_MAX)) {
        e->dropped_checks++;
        return;
    }
    entry = ebb_value_add_map(e->checks);
    ebb_value_put_str(entry, "n", name);
    if (key)
        ebb__operand_put(L, key, key, e, entry, "key");
    ebb__operand_put(L, a, a + 2, e, entry, "a");
    ebb_value_put_str(entry, "op", lua_tostring(L, a + 1));
    if (!lua_isnoneornil(L, a + 2) || takes_limit(lua_tostring(L, a + 1)))
        ebb__operand_put(L, a + 2, a, e, entry, "b");
    ebb_value_put_str(entry, "r", ebb__truth_name(truth));
}

/* check(name, actual, op, limit) */
static int l_check(lua_State *L)
{
    struct ebb__node *node;
    enum ebb__truth truth;
    const char *name;

    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_DECIDE, "check"));
    EBB_MAY_LJMP(ebb__charge(L, 30));
    lua_settop(L, 4);
    name = check_name(L, 1, "check");
    truth = judge(L, 2, check_op(L, 3), 4);
    node = push_node(L, 'C');
    ebb__changes_check(L, name, 2, lua_tostring(L, 3));
    node->truth = truth;
    snprintf(node->name, sizeof node->name, "%s", name);
    record(L, name, 2, 0, truth);
    return 1;
}

/* check_each(name, key, actual, op, limit): true or false (unknown counts as false). */
static int l_check_each(lua_State *L)
{
    enum ebb__truth truth;
    const char *name;

    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_DECIDE, "check_each"));
    EBB_MAY_LJMP(ebb__charge(L, 30));
    lua_settop(L, 5);
    name = check_name(L, 1, "check_each");
    truth = judge(L, 3, check_op(L, 4), 5);
    ebb__changes_check(L, name, 3, lua_tostring(L, 4));
    record(L, name, 3, 2, truth);
    lua_pushboolean(L, truth == EBB__TRUE);
    return 1;
}

static int count_parts(lua_State *L, const char *what)
{
    int count = 0;

    luaL_argcheck(L, lua_type(L, 1) == LUA_TTABLE, 1, "a list of checks is due");
    EBB_MAY_LJMP(ebb__charge_walk(L));
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        if (!lua_isinteger(L, -1))
            return luaL_error(L, "%s: takes a list of checks, without names", what);
        count++;
    }
    return count;
}

static int combine(lua_State *L, char op, const char *what)
{
    struct ebb__eval *e = ebb__eval_of(L);
    enum ebb__truth parts[EBB__NODES_MAX];
    struct ebb__node *node;
    int count;

    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_DECIDE, what));
    lua_settop(L, 1);
    count = count_parts(L, what);
    EBB_MAY_LJMP(ebb__charge(L, (size_t)count * 5 + 20));
    if (count > EBB__NODES_MAX || count > EBB__CHILDREN_MAX - e->child_count)
        return luaL_error(L, "%s: too many checks", what);
    node = push_node(L, op);
    node->first = e->child_count;
    for (int i = 0; i < count; i++) {
        struct ebb__node *part;

        if (lua_rawgeti(L, 1, i + 1) == LUA_TNIL)
            return luaL_error(L, "%s: the list of checks has holes", what);
        part = ebb__check_node(L, -1, what);
        parts[i] = part->truth;
        e->children[node->first + i] = (int)(part - e->nodes);
        if (part->height >= node->height)
            node->height = part->height + 1;
        lua_pop(L, 1);
    }
    if (node->height > EBB__HEIGHT_MAX)
        return luaL_error(L, "%s: nested deeper than %d", what, EBB__HEIGHT_MAX);
    e->child_count += count;
    node->count = count;
    node->truth = ebb__truth_join(op, parts, (size_t)count);
    return 1;
}

static int l_all(lua_State *L)
{
    return combine(L, 'A', "all");
}

static int l_any(lua_State *L)
{
    return combine(L, 'O', "any");
}

static int l_none(lua_State *L)
{
    return combine(L, 'N', "none");
}

/* note(…): one line of the explanation; further ones are dropped and counted. */
static int l_note(lua_State *L)
{
    struct ebb__eval *e = ebb__eval_of(L);
    int args = lua_gettop(L);
    luaL_Buffer b;
    size_t n;
    const char *text;

    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_DECIDE, "note"));
    luaL_buffinit(L, &b);
    for (int i = 1; i <= args; i++) {
        if (i > 1)
            luaL_addchar(&b, ' ');
        EBB_MAY_LJMP(ebb__push_text(L, i, &n));
        EBB_MAY_LJMP(ebb__charge(L, n / 4 + 20));
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    text = lua_tolstring(L, -1, &n);
    EBB_MAY_LJMP(ebb__charge(L, 20));
    if (ebb_value_get_count(e->notes) >= EBB__NOTES_MAX || n > EBB__NOTES_BYTES - e->note_bytes) {
        e->dropped_notes++;
        return 0;
    }
    e->note_bytes += n;
    ebb_value_add_strn(e->notes, text, n);
    return 0;
}

static const luaL_Reg FUNCTIONS[] = {
    {"check", l_check}, {"check_each", l_check_each},
    {"all", l_all},     {"any", l_any},
    {"none", l_none},   {"note", l_note},
    {NULL, NULL},
};

EBB_LJMP void ebb__bind_check(lua_State *L)
{
    ebb__set_functions(L, FUNCTIONS);
    EBB_MAY_LJMP(ebb__class_make(L, EBB__NODE, NODE_METHODS));
}
