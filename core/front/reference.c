/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference of the policy guide, from the table of the API.
 */
#include "engine/api.h"
#include "front/api_print.h"
#include "front/commands.h"
#include "front/cli.h"

static bool has_prefix(const char *name, const char *prefix)
{
    return !strncmp(name, prefix, strlen(prefix));
}

/* Text in a table of Markdown, where '|' ends a cell. */
static void put_cell(struct ebb_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            ebb_buf_putc(out, '\\');
        ebb_buf_putc(out, *text);
    }
}

static void put_row(struct ebb_buf *out, const struct ebb_api_entry *e)
{
    bool is_call = e->type[0] == '(';

    ebb_buf_puts(out, "| `");
    put_cell(out, e->name);
    if (is_call)
        put_cell(out, e->type);
    ebb_buf_puts(out, "` | ");
    if (!is_call) {
        ebb_buf_putc(out, '`');
        put_cell(out, e->type);
        ebb_buf_puts(out, "` | ");
    }
    put_cell(out, e->doc);
    ebb_buf_puts(out, " |\n");
}

typedef bool wants_cb(const struct ebb_api_entry *e);

static void put_section(struct ebb_buf *out, const char *title, const char *head, wants_cb *wants)
{
    size_t count;
    const struct ebb_api_entry *entries = ebb_api_get(&count);

    ebb_buf_printf(out, "\n### %s\n\n%s\n", title, head);
    for (size_t i = 0; i < count; i++)
        if (wants(&entries[i]))
            put_row(out, &entries[i]);
}

static bool is_policy_key(const struct ebb_api_entry *e)
{
    return !strcmp(e->kind, "key") && has_prefix(e->name, "policy.");
}

static bool is_trigger(const struct ebb_api_entry *e)
{
    return !strcmp(e->kind, "key") && (has_prefix(e->name, "time.") || has_prefix(e->name, "on."));
}

static bool is_action_key(const struct ebb_api_entry *e)
{
    return !strcmp(e->kind, "key") && has_prefix(e->name, "action.");
}

static bool is_fact(const struct ebb_api_entry *e)
{
    return !strcmp(e->kind, "field") && !has_prefix(e->name, "math.");
}

static bool is_method(const struct ebb_api_entry *e)
{
    return !strcmp(e->kind, "method");
}

static bool is_header_function(const struct ebb_api_entry *e)
{
    return !strcmp(e->kind, "function") && !strcmp(e->phase, "header");
}

static bool is_decide_function(const struct ebb_api_entry *e)
{
    return !strcmp(e->kind, "function") && (!strcmp(e->phase, "decide") || has_prefix(e->name, "action."));
}

static bool is_helper(const struct ebb_api_entry *e)
{
    return !strcmp(e->kind, "function") && !strcmp(e->phase, "both") && !has_prefix(e->name, "action.") &&
           !has_prefix(e->name, "math.");
}

static void put_math(struct ebb_buf *out)
{
    size_t count;
    const struct ebb_api_entry *entries = ebb_api_get(&count);
    const char *comma = "";

    ebb_buf_puts(out, "\nOf `math`, as in Lua:");
    for (size_t i = 0; i < count; i++)
        if (has_prefix(entries[i].name, "math.")) {
            ebb_buf_printf(out, "%s `%s`", comma, entries[i].name + 5);
            comma = ",";
        }
    ebb_buf_puts(out, ".\n");
}

void ebb_api_print_reference(struct ebb_buf *out)
{
    static const char KEYS[] = "| key | value | meaning |\n| --- | --- | --- |";
    static const char FIELDS[] = "| field | type | meaning |\n| --- | --- | --- |";
    static const char CALLS[] = "| call | meaning |\n| --- | --- |";

    put_section(out, "Keys of the file", KEYS, is_policy_key);
    put_section(out, "Constructors of the data part", CALLS, is_header_function);
    put_section(out, "Keys of triggers", KEYS, is_trigger);
    put_section(out, "Facts", FIELDS, is_fact);
    put_section(out, "Facts that are asked for", CALLS, is_method);
    put_section(out, "Inside decide", CALLS, is_decide_function);
    put_section(out, "Arguments of actions", KEYS, is_action_key);
    put_section(out, "Helpers", CALLS, is_helper);
    put_math(out);
}

static int run_stubs(struct ebb_cli *cli, struct ebb_err *err)
{
    (void)err;
    ebb_api_print_stubs(&cli->out);
    return 0;
}

static int run_reference(struct ebb_cli *cli, struct ebb_err *err)
{
    (void)err;
    ebb_api_print_reference(&cli->out);
    return 0;
}

const struct ebb_command ebb_command_stubs = {
    .name = "__stubs", .args = "", .summary = "print definitions for editors", .run = run_stubs, .is_hidden = true};
const struct ebb_command ebb_command_reference = {.name = "__reference",
                                                  .args = "",
                                                  .summary = "print the reference of policies",
                                                  .run = run_reference,
                                                  .is_hidden = true};
