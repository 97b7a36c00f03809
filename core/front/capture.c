/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb capture
 */
#include "front/cli.h"
#include "front/commands.h"
#include "service/pass.h"

static const struct ebb_option OPTIONS[] = {
    {"policy", 0, "POLICY", NULL, true, "keep what this one reads (default: every policy that takes the table)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb capture lake.prod.clicks > clicks.json", "a table to try policies on"},
    {"ebb capture lake.prod.clicks --policy policies/orphans.lua > clicks.json", "for one policy"},
    {"ebb decide policies/orphans.lua clicks.json", "what it decides on the captured table"},
    {NULL, NULL},
};

/* Whether all members are plain values: such a map or list stands on one line. */
static bool is_flat(const struct ebb_value *v)
{
    for (size_t i = 0; i < ebb_value_get_count(v); i++) {
        enum ebb_value_kind kind = ebb_value_get_kind(ebb_value_get_at(v, i));

        if (kind == EBB_VALUE_LIST || kind == EBB_VALUE_MAP)
            return false;
    }
    return true;
}

static void put_plain(struct ebb_buf *out, const struct ebb_value *v)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_value_write(v, &w);
}

static void put_indent(struct ebb_buf *out, int depth)
{
    ebb_buf_putc(out, '\n');
    for (int i = 0; i < depth; i++)
        ebb_buf_puts(out, "  ");
}

/* JSON to be read and edited by people. Depth is bounded by the tree's, EBB_VALUE_DEPTH_MAX. */
static void put_pretty(struct ebb_buf *out, const struct ebb_value *v, int depth)
{
    bool is_map = ebb_value_get_kind(v) == EBB_VALUE_MAP;
    struct ebb_jsonw w;

    if (depth > 0 && is_flat(v)) {
        put_plain(out, v);
        return;
    }
    ebb_buf_putc(out, is_map ? '{' : '[');
    for (size_t i = 0; i < ebb_value_get_count(v); i++) {
        struct ebb_str key = ebb_value_get_key(v, i);

        if (i)
            ebb_buf_putc(out, ',');
        put_indent(out, depth + 1);
        if (is_map) {
            ebb_jsonw_init(&w, out);
            ebb_jsonw_strn(&w, key.p, key.n);
            ebb_buf_puts(out, ": ");
        }
        put_pretty(out, ebb_value_get_at(v, i), depth + 1);
    }
    put_indent(out, depth);
    ebb_buf_putc(out, is_map ? '}' : ']');
}

static int run_capture(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_value *captured = NULL;
    struct ebb_strs policies;
    int rc;

    ebb_strs_init(&policies);
    rc = ebb_args_all(&cli->args, "policy", &policies, err);
    if (!rc)
        rc = ebb_cli_start(cli, false, err);
    if (!rc)
        rc = ebb_pass_capture(cli->ws, ebb_args_word(&cli->args, 0), &policies, &captured, err);
    if (!rc && cli->is_json)
        put_plain(&cli->out, captured);
    else if (!rc)
        put_pretty(&cli->out, captured, 0);
    if (!rc)
        ebb_buf_putc(&cli->out, '\n');
    ebb_value_free(captured);
    ebb_strs_fini(&policies);
    return rc;
}

const struct ebb_command ebb_command_capture = {
    .name = "capture",
    .args = "TABLE",
    .summary = "a table as a file to try policies on, with what they read",
    .about =
        "Writes the table's identity, what the policies read of it, and what guards go by; of its properties only "
        "those that a policy names, and never one whose name is like that of a secret. Without any policy, or with "
        "one that does not take the table, it is everything else. The file stands for the table in decide, whynot, "
        "next and simulate, and in specs. With "
        "--json it is one line.",
    .arg_min = 1,
    .arg_max = 1,
    .shared = EBB_TAKES_MAP | EBB_TAKES_AT,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_capture,
};
