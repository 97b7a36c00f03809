/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb test: the specs beside policies.
 */
#include "front/test.h"

#include <regex.h>

#include "front/commands.h"

static const struct ebb_option OPTIONS[] = {
    {"update-golden", 0, NULL, NULL, false, "write the explanations that specs compare with, instead of comparing"},
    {"filter", 0, "REGEX", NULL, false, "only tests whose full name this extended regular expression takes"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb test", "every *_spec.lua of the configured folder (or ./policies)"},
    {"ebb test policies/orphans_on_event.lua", "the spec beside one policy"},
    {"ebb test --filter 'quiet hours' --json", "some tests, for an editor or CI"},
    {NULL, NULL},
};

static int gather(struct ebb_cli *cli, struct ebb_strs *paths, struct ebb_err *err)
{
    const char *dir;
    int rc = 0;

    for (size_t i = 0; !rc && i < cli->args.word_count; i++)
        rc = ebb_strs_add(paths, cli->args.words[i], err);
    if (rc || paths->count)
        return rc;
    rc = ebb_cli_open(cli, true, err);
    if (rc)
        return rc;
    dir = ebb_workspace_config(cli->ws)->policies;
    return ebb_strs_add(paths, dir ? dir : "./policies", err);
}

static int check_filter(const char *filter, struct ebb_err *err)
{
    regex_t regex;

    if (!filter)
        return 0;
    if (regcomp(&regex, filter, REG_EXTENDED | REG_NOSUB))
        return ebb_err_set(err, EBB_EUSAGE, "--filter '%s': not an extended regular expression", filter);
    regfree(&regex);
    return 0;
}

/* A filter that takes nothing must not look like a success. */
static int check_any(const struct ebb_value *report, const char *filter, struct ebb_err *err)
{
    if (ebb_value_get_count(ebb_value_get(report, "tests")))
        return 0;
    if (filter)
        return ebb_err_set(err, EBB_EUSAGE, "--filter '%s': takes the name of no test", filter);
    return ebb_err_set(err, EBB_EUSAGE, "specs: there is no test in them");
}

static int test(struct ebb_cli *cli, struct ebb_strs *paths, struct ebb_err *err)
{
    struct ebb_test_options o = {.paths = paths,
                                 .filter = ebb_args_get(&cli->args, "filter"),
                                 .update_golden = ebb_args_has(&cli->args, "update-golden"),
                                 .is_silent = cli->is_json,
                                 .cancelled = cli->cancelled};
    struct ebb_value *report = NULL;
    int rc = check_filter(o.filter, err);

    if (!rc)
        rc = gather(cli, paths, err);
    if (!rc)
        rc = ebb_test_run(&o, &report, err);
    if (!rc)
        rc = check_any(report, o.filter, err);
    if (!rc && cli->is_json)
        ebb_test_json(report, &cli->out);
    else if (!rc)
        ebb_test_print(cli, report);
    if (!rc)
        cli->exit_status = ebb_test_count(report, "failed") > 0;
    ebb_value_free(report);
    return rc;
}

static int run_test(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_strs paths;
    int rc;

    ebb_strs_init(&paths);
    rc = test(cli, &paths, err);
    ebb_strs_fini(&paths);
    return rc;
}

const struct ebb_command ebb_command_test = {
    .name = "test",
    .args = "[DIR|FILE…]",
    .summary = "run the specs beside policies",
    .about = "Specs are files *_spec.lua for busted that use the module ebb.testing. Beside what passed and failed it "
             "tells which named checks were seen true, false and unknown, and which lines of a policy were never "
             "executed. Exit status 1 when a test failed, 3 when busted can't be run.",
    .arg_max = (size_t)-1,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_test,
};
