/* SPDX-License-Identifier: Apache-2.0
 *
 * Two records of one decision, member by member.
 */
#include <stdio.h>

#include "engine/replay_priv.h"

#define TEXT_MAX ((size_t)64 * 1024)
#define SHOWN_MAX 200
#define DIFFERENCES_MAX 200

struct comparison {
    bool other_engine; /* the same work may cost something else */
    struct ebb_strs *out;
    struct ebb_buf path;
    struct ebb_err *err;
    int rc;
};

/* No part of the answer: inputs themselves, and in which memory the script ran. */
static bool is_aside(const struct comparison *c, struct ebb_str key)
{
    static const char *const KEYS[] = {"inputs", "inputs_dropped", "inputs_masked", "state", "mem_peak",
                                       "id",     "engine",         "tzdata"};

    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (ebb_str_is_equal(key, ebb_str_of(KEYS[i])))
            return true;
    return c->other_engine && ebb_str_is_equal(key, EBB_STR("gas"));
}

static void put_shown(struct ebb_buf *out, const struct ebb_value *value)
{
    struct ebb_buf text;

    if (!value) {
        ebb_buf_puts(out, "missing");
        return;
    }
    ebb_buf_init(&text, (size_t)16 * 1024 * 1024);
    if (ebb_value_get_kind(value) >= EBB_VALUE_LIST)
        ebb_value_to_json(value, &text, NULL);
    else {
        struct ebb_jsonw w;

        ebb_jsonw_init(&w, &text);
        ebb_value_write(value, &w);
    }
    ebb_buf_append(out, ebb_buf_cstr(&text), text.len < SHOWN_MAX ? text.len : SHOWN_MAX);
    if (text.len > SHOWN_MAX)
        ebb_buf_puts(out, "…");
    ebb_buf_fini(&text);
}

/* "checks[2].r: "true", was "false"". */
static void add(struct comparison *c, const struct ebb_value *now, const struct ebb_value *before)
{
    struct ebb_buf text;

    if (c->rc || c->out->count >= DIFFERENCES_MAX)
        return;
    ebb_buf_init(&text, TEXT_MAX);
    ebb_buf_printf(&text, "%s: ", ebb_buf_cstr(&c->path));
    put_shown(&text, now);
    ebb_buf_puts(&text, ", was ");
    put_shown(&text, before);
    c->rc = ebb_buf_check(&text, "difference", c->err);
    if (!c->rc)
        c->rc = ebb_strs_addn(c->out, ebb_buf_cstr(&text), text.len, c->err);
    ebb_buf_fini(&text);
}

static void compare(struct comparison *c, const struct ebb_value *now, const struct ebb_value *before, bool is_top);

static void compare_member(struct comparison *c, struct ebb_str key, const struct ebb_value *now,
                           const struct ebb_value *before)
{
    size_t length = c->path.len;

    if (length)
        ebb_buf_putc(&c->path, '.');
    ebb_buf_add_str(&c->path, key);
    compare(c, now, before, false);
    if (!c->path.bad) {
        c->path.len = length;
        c->path.data[length] = '\0';
    }
}

static void compare_maps(struct comparison *c, const struct ebb_value *now, const struct ebb_value *before, bool is_top)
{
    for (size_t i = 0; i < ebb_value_get_count(before); i++) {
        struct ebb_str key = ebb_value_get_key(before, i);

        if (!is_top || !is_aside(c, key))
            compare_member(c, key, ebb_value_getn(now, key.p, key.n), ebb_value_get_at(before, i));
    }
    for (size_t i = 0; i < ebb_value_get_count(now); i++) {
        struct ebb_str key = ebb_value_get_key(now, i);

        if ((!is_top || !is_aside(c, key)) && !ebb_value_getn(before, key.p, key.n))
            compare_member(c, key, ebb_value_get_at(now, i), NULL);
    }
}

static void compare_lists(struct comparison *c, const struct ebb_value *now, const struct ebb_value *before)
{
    size_t count = ebb_value_get_count(now), other = ebb_value_get_count(before), length = c->path.len;

    for (size_t i = 0; i < (count > other ? count : other); i++) {
        ebb_buf_printf(&c->path, "[%zu]", i);
        compare(c, ebb_value_get_at(now, i), ebb_value_get_at(before, i), false);
        if (c->path.bad)
            return;
        c->path.len = length;
        c->path.data[length] = '\0';
    }
}

/* Depth is bounded by the trees', EBB_VALUE_DEPTH_MAX. */
static void compare(struct comparison *c, const struct ebb_value *now, const struct ebb_value *before, bool is_top)
{
    enum ebb_value_kind kind = ebb_value_get_kind(now);

    if (kind != ebb_value_get_kind(before) || (!now) != (!before))
        add(c, now, before);
    else if (kind == EBB_VALUE_MAP)
        compare_maps(c, now, before, is_top);
    else if (kind == EBB_VALUE_LIST)
        compare_lists(c, now, before);
    else if (now && !ebb_value_is_equal(now, before))
        add(c, now, before);
}

/* Told only where something else differs: by what it may have come. */
static void compare_engines(struct comparison *c, const struct ebb_value *now, const struct ebb_value *before)
{
    static const char *const KEYS[] = {"engine", "tzdata"};

    for (size_t i = 0; i < 2; i++) {
        const struct ebb_value *mine = ebb_value_get(now, KEYS[i]), *its = ebb_value_get(before, KEYS[i]);

        if (!ebb_value_is_equal(mine, its))
            compare_member(c, ebb_str_of(KEYS[i]), mine, its);
    }
}

int ebb__records_compare(const struct ebb_value *now, const struct ebb_value *before, struct ebb_strs *out,
                         struct ebb_err *err)
{
    struct comparison c = {.out = out, .err = err};

    c.other_engine = !ebb_value_is_equal(ebb_value_get(now, "engine"), ebb_value_get(before, "engine"));
    ebb_buf_init(&c.path, TEXT_MAX);
    compare(&c, now, before, true);
    if (!c.rc && out->count)
        compare_engines(&c, now, before);
    if (!c.rc)
        c.rc = ebb_buf_check(&c.path, "difference", err);
    ebb_buf_fini(&c.path);
    return c.rc;
}
