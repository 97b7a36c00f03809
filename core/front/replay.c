/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb replay: a recorded decision, made again.
 */
#include "engine/replay.h"

#include <stdio.h>

#include "front/commands.h"
#include "front/print.h"
#include "service/bundles.h"

static const struct ebb_example EXAMPLES[] = {
    {"ebb replay d-01K5Z7", "exit status 0: it came out the same"},
    {"ebb decisions --json | jq -r .id | xargs -n1 ebb replay", "all that is recorded, in CI"},
    {NULL, NULL},
};

struct stored {
    struct ebb_value *record;
    char id[64];
};

static int take(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct stored *s = data;

    snprintf(s->id, sizeof s->id, "%s", r->id);
    return ebb_value_of_json(r->id, r->json, strlen(r->json), NULL, &s->record, err);
}

static void print_people(struct ebb_cli *cli, const struct stored *s, const struct ebb_strs *differences)
{
    struct ebb_buf *out = &cli->out;

    ebb_buf_printf(out, "decision %s: ", s->id);
    ebb_print_text(out, ebb_value_text_of(s->record, "policy"));
    ebb_buf_puts(out, " on ");
    ebb_print_text(out, ebb_value_text_of(s->record, "table"));
    ebb_buf_puts(out, ", verdict ");
    ebb_print_text(out, ebb_value_text_of(s->record, "verdict"));
    ebb_buf_puts(out, ": ");
    ebb_print_word(cli, differences->count ? EBB_PRINT_RED : EBB_PRINT_GREEN,
                   differences->count ? "comes out differently" : "comes out the same");
    ebb_buf_putc(out, '\n');
    for (size_t i = 0; i < differences->count; i++) {
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, differences->items[i]);
        ebb_buf_putc(out, '\n');
    }
}

static void print_json(struct ebb_cli *cli, const struct stored *s, const struct ebb_strs *differences)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "decision", s->id);
    ebb_jsonw_kbool(&w, "equal", !differences->count);
    ebb_print_strs_json(&w, "differences", differences);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&cli->out, '\n');
}

static int replay(struct ebb_cli *cli, const struct stored *s, struct ebb_strs *differences, struct ebb_err *err)
{
    const char *bundle = ebb_value_text_of(s->record, "bundle");
    const char *name = ebb_value_text_of(s->record, "policy");
    struct ebb_policy *policy = NULL;
    int rc = bundle ? ebb_bundles_get(ebb_cli_site(cli)->store, bundle, &policy, err)
                    : ebb_err_set(err, EBB_ERECORD, "decision %s: names no bundle", s->id);

    if (rc == -(int)EBB_ENOT_FOUND)
        ebb_err_hint(err, "decisions of earlier versions were recorded without their policy");
    if (!rc && name && strchr(name, ':')) /* a policy object: what is built in, under its name */
        rc = ebb_policy_set_name(policy, name, NULL, err);
    if (!rc)
        rc = ebb_replay(policy, s->record, differences, err);
    ebb_policy_free(policy);
    return rc;
}

static int run_replay(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *id = ebb_args_word(&cli->args, 0);
    struct stored s = {NULL, ""};
    struct ebb_strs differences;
    int rc = ebb_cli_open(cli, false, err);

    ebb_strs_init(&differences);
    if (!rc && strncmp(id, "d-", 2) != 0)
        rc = ebb_err_set(err, EBB_EUSAGE, "replay %.100s: the id of a decision (d-…) is wanted", id);
    if (!rc)
        rc = ebb_store_get(ebb_cli_site(cli)->store, EBB_RECORD_DECISION, id, take, &s, err);
    if (!rc)
        rc = replay(cli, &s, &differences, err);
    if (!rc && cli->is_json)
        print_json(cli, &s, &differences);
    else if (!rc)
        print_people(cli, &s, &differences);
    if (!rc && differences.count)
        cli->exit_status = 1;
    ebb_value_free(s.record);
    ebb_strs_fini(&differences);
    return rc;
}

const struct ebb_command ebb_command_replay = {
    .name = "replay",
    .args = "ID",
    .summary = "make a recorded decision again and compare",
    .about = "From what was recorded alone: the policy as it was, and what it had read. Exit status 1 when anything "
             "comes out differently: then the program, a library or the policy is not deterministic. The beginning of "
             "an id is enough.",
    .arg_min = 1,
    .arg_max = 1,
    .examples = EXAMPLES,
    .run = run_replay,
};
