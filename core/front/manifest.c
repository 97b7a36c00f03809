/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb manifest: the data part of a policy, one key a line, so that two revisions can be compared.
 */
#include "engine/policy.h"
#include "front/commands.h"
#include "front/cli.h"

static const struct ebb_example EXAMPLES[] = {
    {"ebb manifest policies/orphans.lua | jq .triggers", "what the file declares"},
    {"diff <(ebb manifest old.lua) <(ebb manifest new.lua)", "what a revision changes, key by key"},
    {NULL, NULL},
};

static void new_line(struct ebb_buf *out, int depth)
{
    ebb_buf_putc(out, '\n');
    for (int i = 0; i < depth; i++)
        ebb_buf_puts(out, "  ");
}

/* Append a string of JSON, quotes included; gives the index behind it. */
static size_t put_string(struct ebb_buf *out, const char *json, size_t i)
{
    do {
        if (json[i] == '\\')
            ebb_buf_putc(out, json[i++]);
        ebb_buf_putc(out, json[i++]);
    } while (json[i] != '"');
    ebb_buf_putc(out, '"');
    return i + 1;
}

/* Append compact JSON with a line for each member. */
static void put_pretty(struct ebb_buf *out, const char *json)
{
    int depth = 0;

    for (size_t i = 0; json[i];) {
        char c = json[i];

        if (c == '"') {
            i = put_string(out, json, i);
            continue;
        }
        if (c == '}' || c == ']')
            new_line(out, --depth);
        ebb_buf_putc(out, c);
        if (c == ':')
            ebb_buf_putc(out, ' ');
        i++;
        if ((c == '{' || c == '[') && (json[i] == '}' || json[i] == ']'))
            ebb_buf_putc(out, json[i++]);
        else if (c == '{' || c == '[')
            new_line(out, ++depth);
        else if (c == ',')
            new_line(out, depth);
    }
}

static int run_manifest(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    int rc = ebb_policy_load(ebb_args_word(&cli->args, 0), &policy, NULL, err);

    if (!rc) {
        put_pretty(&cli->out, ebb_policy_get_manifest_json(policy));
        ebb_buf_putc(&cli->out, '\n');
    }
    ebb_policy_free(policy);
    return rc;
}

const struct ebb_command ebb_command_manifest = {
    .name = "manifest",
    .args = "FILE",
    .summary = "the data part of a policy as JSON",
    .arg_min = 1,
    .arg_max = 1,
    .examples = EXAMPLES,
    .run = run_manifest,
};
