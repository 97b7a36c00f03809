/* SPDX-License-Identifier: Apache-2.0
 *
 * Values as text for a person: like Lua, sorted, bounded, escaped.
 */
#include <lauxlib.h>
#include <stdio.h>

#include "base/time.h"
#include "engine/bind_priv.h"
#include "engine/console_priv.h"
#include "engine/number_priv.h"

#define NODES_MAX 100000
/* Instead of functions and the like, which are no plain data. */
#define OPAQUE "\1opaque\1"

/* ---- plain data ---- */

static void write_text(struct ebb_buf *out, struct ebb_str s)
{
    size_t n = s.n > EBB__CONSOLE_TEXT ? EBB__CONSOLE_TEXT : s.n;

    while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
        n--;
    ebb_buf_putc(out, '"');
    for (size_t i = 0, from = 0; i <= n; i++)
        if (i == n || s.p[i] == '"') {
            ebb_text_escape(out, s.p + from, i - from);
            ebb_buf_puts(out, i < n ? "\\\"" : "");
            from = i + 1;
        }
    ebb_buf_putc(out, '"');
    if (n < s.n)
        ebb_buf_printf(out, "… (%zu bytes)", s.n);
}

static bool is_one_of(const char *key, const char *const *names)
{
    for (; key && *names; names++)
        if (!strcmp(key, *names))
            return true;
    return false;
}

/* What a number means, by the name it has in the facts. */
static void write_meaning(struct ebb_buf *out, const char *key, int64_t n, const char *before, const char *after)
{
    static const char *const INSTANTS[] = {"at",    "now",           "as_of",      "last_write", "started",
                                           "ended", "scheduled_for", "older_than", NULL};
    static const char *const DURATIONS[] = {"age", "longest_write", NULL};

    if (is_one_of(key, INSTANTS)) {
        ebb_buf_puts(out, before);
        ebb_time_iso(out, n);
        ebb_buf_puts(out, after);
    } else if (is_one_of(key, DURATIONS)) {
        ebb_buf_puts(out, before);
        ebb_duration_format(out, n);
        ebb_buf_puts(out, after);
    }
}

static void write_scalar(struct ebb_buf *out, const char *key, const struct ebb_value *value)
{
    char number[EBB__NUMBER_MAX];

    switch (ebb_value_get_kind(value)) {
    case EBB_VALUE_BOOL:
        ebb_buf_puts(out, ebb_value_get_bool(value, false) ? "true" : "false");
        break;
    case EBB_VALUE_INT:
        ebb_buf_printf(out, "%lld", (long long)ebb_value_get_int(value, 0));
        write_meaning(out, key, ebb_value_get_int(value, 0), " (", ")");
        break;
    case EBB_VALUE_FLOAT:
        ebb__number_format(ebb_value_get_float(value, 0), number);
        ebb_buf_puts(out, number);
        break;
    case EBB_VALUE_STRING:
        if (!strcmp(ebb_value_get_str(value), OPAQUE))
            ebb_buf_puts(out, "function");
        else
            write_text(out, ebb_value_get_bytes(value));
        break;
    default:
        ebb_buf_puts(out, "nil");
    }
}

static bool is_name(struct ebb_str key)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    if (!key.n || (key.p[0] >= '0' && key.p[0] <= '9'))
        return false;
    for (size_t i = 0; i < key.n; i++)
        if (!key.p[i] || !strchr(LETTERS, key.p[i]))
            return false;
    return true;
}

static void write_key(struct ebb_buf *out, struct ebb_str key)
{
    if (is_name(key)) {
        ebb_buf_add_str(out, key);
    } else {
        ebb_buf_putc(out, '[');
        write_text(out, key);
        ebb_buf_putc(out, ']');
    }
    ebb_buf_puts(out, " = ");
}

/* On one line; stops when the buffer is full. Depth is bounded. */
static void write_inline(struct ebb_buf *out, const char *key, const struct ebb_value *value, int depth)
{
    enum ebb_value_kind kind = ebb_value_get_kind(value);
    size_t count = ebb_value_get_count(value);

    if (kind < EBB_VALUE_LIST) {
        write_scalar(out, key, value);
        return;
    }
    if (!count || depth == EBB__CONSOLE_DEPTH) {
        ebb_buf_puts(out, count ? "{…}" : "{}");
        return;
    }
    ebb_buf_puts(out, "{ ");
    for (size_t i = 0; i < count && !out->bad; i++) {
        ebb_buf_puts(out, i ? ", " : "");
        if (kind == EBB_VALUE_MAP)
            write_key(out, ebb_value_get_key(value, i));
        write_inline(out, kind == EBB_VALUE_MAP ? ebb_value_get_key(value, i).p : NULL, ebb_value_get_at(value, i),
                     depth + 1);
    }
    ebb_buf_puts(out, " }");
}

static bool try_inline(struct ebb_buf *out, const char *key, const struct ebb_value *value, int depth)
{
    struct ebb_buf line;
    bool fits;

    ebb_buf_init(&line, EBB__CONSOLE_WIDTH - (size_t)depth * 2);
    write_inline(&line, key, value, depth);
    fits = !line.bad;
    if (fits)
        ebb_buf_add_str(out, ebb_buf_str(&line));
    ebb_buf_fini(&line);
    return fits;
}

static void indent(struct ebb_buf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        ebb_buf_puts(out, "  ");
}

static void write_value(struct ebb_buf *out, const char *key, const struct ebb_value *value, int depth)
{
    enum ebb_value_kind kind = ebb_value_get_kind(value);

    if (kind < EBB_VALUE_LIST || depth >= EBB__CONSOLE_DEPTH) {
        write_inline(out, key, value, depth);
        return;
    }
    if (try_inline(out, key, value, depth))
        return;
    ebb_buf_puts(out, "{\n");
    for (size_t i = 0; i < ebb_value_get_count(value) && !out->bad; i++) {
        indent(out, depth + 1);
        if (kind == EBB_VALUE_MAP)
            write_key(out, ebb_value_get_key(value, i));
        write_value(out, kind == EBB_VALUE_MAP ? ebb_value_get_key(value, i).p : NULL, ebb_value_get_at(value, i),
                    depth + 1);
        ebb_buf_puts(out, ",\n");
    }
    indent(out, depth);
    ebb_buf_putc(out, '}');
}

void ebb__console_write(struct ebb_buf *out, const char *key, const struct ebb_value *value)
{
    write_value(out, key, value, 0);
}

/* ---- facts ---- */

static void write_missing(struct ebb_buf *out, const struct ebb_value *value, const struct ebb__shape *shape)
{
    bool any = false;

    for (size_t i = 0; i < shape->count; i++) {
        const struct ebb__field *f = &shape->fields[i];

        if (f->method || f->always || ebb_value_get(value, f->name))
            continue;
        ebb_buf_puts(out, any ? ", " : "  -- unknown: ");
        ebb_buf_puts(out, f->name);
        any = true;
    }
    if (any)
        ebb_buf_putc(out, '\n');
}

static void write_member(struct ebb_buf *out, const struct ebb_value *value, const struct ebb__field *field)
{
    const struct ebb_value *member = ebb_value_get(value, field->name);

    if (!member && !field->method)
        return;
    indent(out, 1);
    write_key(out, ebb_str_of(field->name));
    if (field->method && ebb_value_get_kind(member) == EBB_VALUE_LIST)
        ebb_buf_printf(out, "function, %zu known", ebb_value_get_count(member));
    else if (field->method)
        ebb_buf_puts(out, "function");
    else
        write_value(out, field->name, member, 1);
    ebb_buf_puts(out, ",\n");
}

void ebb__console_write_view(struct ebb_buf *out, const struct ebb_value *value, const struct ebb__shape *shape)
{
    if (ebb_value_get_kind(value) == EBB_VALUE_LIST || !shape || shape->open) {
        if (value)
            ebb__console_write(out, NULL, value);
        else
            ebb_buf_puts(out, "{}");
        return;
    }
    ebb_buf_puts(out, "{\n");
    for (size_t i = 0; i < shape->count && !out->bad; i++)
        write_member(out, value, &shape->fields[i]);
    write_missing(out, value, shape);
    ebb_buf_putc(out, '}');
}

/* ---- Lua values ---- */

static int copy_special(void *data, lua_State *L, int index, struct ebb_value *box, struct ebb_str key,
                        struct ebb_err *err)
{
    const struct ebb_value *action = ebb__action_test(L, index);
    int rc = action ? 1 : ebb__view_copy(data, L, index, box, key, err);

    if (rc != 1)
        return rc;
    if (action && key.p)
        ebb_value_put_copy(box, key.p, action);
    else if (action)
        ebb_value_add_copy(box, action);
    else
        ebb__value_set_text(ebb__value_make(box, key, EBB_VALUE_STRING), OPAQUE, sizeof OPAQUE - 1);
    return ebb_value_check(box, "value", err);
}

static void show_copy(lua_State *L, int index, struct ebb_buf *out)
{
    struct ebb__value_rules rules = {{16, NODES_MAX, (size_t)1 << 20}, "value", copy_special, NULL, false};
    struct ebb_value *list = ebb_value_new_list(&rules.limits);
    struct ebb_err err;

    if (ebb__value_add_lua(L, index, &rules, list, (struct ebb_str){NULL, 0}, &err)) {
        ebb_buf_puts(out, "table   -- ");
        ebb_text_escape(out, err.message, strlen(err.message));
    } else {
        ebb__console_write(out, NULL, ebb_value_get_at(list, 0));
    }
    ebb_value_free(list);
}

EBB_LJMP int ebb__console_take(lua_State *L, int index, struct ebb_value *map)
{
    struct ebb__value_rules rules = {ebb_value_limits_wide(), "value", ebb__view_copy, NULL, false};
    struct ebb_err err;

    if (ebb__value_add_lua(L, index, &rules, map, EBB_STR("value"), &err))
        luaL_error(L, "%s", err.message);
    return 0;
}

static void show_number(lua_State *L, int index, struct ebb__console *c)
{
    size_t path = ebb__console_path(c->source), n;
    char name[EBB__NAME_MAX + 1] = "";
    const char *text = ebb__push_text(L, index, &n);

    ebb_text_escape(&c->result->out, text, n);
    lua_pop(L, 1);
    for (size_t i = path; i > 0 && path - i < EBB__NAME_MAX; i--)
        if (c->source.p[i - 1] == '.') {
            snprintf(name, sizeof name, "%.*s", (int)(path - i), c->source.p + i);
            break;
        }
    if (lua_isinteger(L, index))
        write_meaning(&c->result->out, name, lua_tointeger(L, index), "   -- ", "");
}

static void show_check(struct ebb_buf *out, const struct ebb__node *node, const struct ebb__eval *e, int depth)
{
    static const char *const JOINS[] = {"all", "any", "none"};
    const char *join = node->op == 'A' ? JOINS[0] : node->op == 'O' ? JOINS[1] : JOINS[2];

    indent(out, depth);
    ebb_buf_puts(out, node->op == 'C' ? "" : join);
    ebb_text_escape(out, node->name, strlen(node->name));
    ebb_buf_printf(out, "   %s", ebb__truth_name(node->truth));
    for (int i = 0; i < node->count && depth < EBB__CONSOLE_DEPTH; i++) {
        ebb_buf_putc(out, '\n');
        show_check(out, &e->nodes[e->children[node->first + i]], e, depth + 1);
    }
}

static bool show_object(lua_State *L, int index, struct ebb__console *c)
{
    struct ebb_buf *out = &c->result->out;
    struct ebb__view *v = ebb__view_test(L, index);
    int *node = ebb__object_test(L, index, EBB__NODE);

    if (v)
        ebb__console_write_view(out, v->value, v->shape);
    else if (node)
        show_check(out, &c->eval.nodes[*node], &c->eval, 0);
    else if (ebb__object_test(L, index, EBB__RESULT))
        ebb_buf_puts(out, "a result: only decide can return it");
    else if (ebb__object_test(L, index, EBB__FROZEN))
        ebb_buf_puts(out, "a library: see :help");
    else if (ebb__action_test(L, index))
        ebb__console_write(out, NULL, ebb__action_test(L, index));
    else
        return false;
    return true;
}

EBB_LJMP void ebb__console_show(lua_State *L, int index, struct ebb__console *c)
{
    struct ebb_buf *out = &c->result->out;
    size_t path = ebb__console_path(c->source);

    luaL_checkstack(L, 10, "value");
    if (lua_isnil(L, index)) {
        ebb_buf_puts(out, "nil");
        if (path && c->is_expression)
            ebb__console_unknown(out, (struct ebb_str){c->source.p, path});
    } else if (lua_type(L, index) == LUA_TNUMBER) {
        show_number(L, index, c);
    } else if (!show_object(L, index, c)) {
        show_copy(L, index, out);
    }
    ebb_buf_putc(out, '\n');
}
