/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb gravitino register, ebb gravitino sync, ebb gravitino status.
 */
#include <stdio.h>
#include <stdlib.h>

#include "front/commands.h"
#include "front/print.h"
#include "service/metalake_policies.h"

static const struct ebb_option REGISTER_OPTIONS[] = {
    {"catalog", 0, "NAME", NULL, false, "configured catalog of type gravitino (default: the only one)"},
    {"program", 0, "FILE", NULL, false, "ebb on the server's machine (default: this one)"},
    {"program-config", 0, "FILE", NULL, false, "its configuration there (default: the one in use)"},
    {"program-state", 0, "DIR", NULL, false, "its state folder there (default: what --state says, else its user's)"},
    EBB_OPTIONS_END,
};

static const struct ebb_option OPTIONS[] = {
    {"catalog", 0, "NAME", NULL, false, "configured catalog of type gravitino (default: all)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example REGISTER_EXAMPLES[] = {
    {"ebb gravitino register", "on the server's machine: jobs run this program with this configuration"},
    {"ebb gravitino register --program /usr/bin/ebb --program-config /etc/ebb/ebb.lua", "from another machine"},
    {NULL, NULL},
};

static const struct ebb_example SYNC_EXAMPLES[] = {
    {"ebb gravitino sync", "take over what the server's policies say now; the daemon does it by itself"},
    {NULL, NULL},
};

static const struct ebb_example STATUS_EXAMPLES[] = {
    {"ebb gravitino status", "server, job template, policies and what becomes of each"},
    {NULL, NULL},
};

/* ---- which catalogs ---- */

static bool is_gravitino(const struct ebb_config_catalog *c)
{
    return !strcmp(c->type, "gravitino");
}

static int none_there(struct ebb_err *err)
{
    ebb_err_set(err, EBB_ECATALOG_UNKNOWN, "no catalog of type gravitino is configured");
    ebb_err_hint(err,
                 "catalogs = { grav = { type = \"gravitino\", uri = …, metalake = …, catalog = …, backing = … } }");
    return -(int)EBB_ECATALOG_UNKNOWN;
}

/* The catalogs to work on; is_one: exactly one is wanted. */
static int choose(struct ebb_cli *cli, bool is_one, struct ebb_strs *out, struct ebb_err *err)
{
    const struct ebb_config *config = ebb_workspace_config(cli->ws);
    const char *given = ebb_args_get(&cli->args, "catalog");
    int rc = 0;

    for (size_t i = 0; !rc && i < config->catalog_count; i++)
        if (given ? !strcmp(config->catalogs[i].name, given) : is_gravitino(&config->catalogs[i]))
            rc = ebb_strs_add(out, config->catalogs[i].name, err);
    if (rc || (out->count && (!is_one || out->count == 1)))
        return rc;
    if (given)
        return ebb_err_set(err, EBB_ECATALOG_UNKNOWN, "--catalog %s: is not configured", given);
    return out->count
               ? ebb_err_set(err, EBB_EUSAGE, "--catalog: is wanted, there are %zu of type gravitino", out->count)
               : none_there(err);
}

/* Work on each catalog in turn: one whose server does not answer keeps nobody from the others. The first error counts.
 */
static int each_catalog(struct ebb_cli *cli, bool is_one,
                        int (*work)(struct ebb_cli *cli, const char *catalog, struct ebb_err *err), struct ebb_err *err)
{
    struct ebb_strs names;
    struct ebb_err why;
    int rc, one = 0, first = 0;

    ebb_strs_init(&names);
    cli->progress = EBB_PROGRESS_NONE;
    rc = ebb_cli_start(cli, false, err);
    if (!rc)
        rc = choose(cli, is_one, &names, err);
    for (size_t i = 0; !rc && one != -(int)EBB_ECANCELLED && i < names.count; i++) {
        one = work(cli, names.items[i], first ? &why : err);
        first = first ? first : one;
    }
    ebb_strs_fini(&names);
    return rc ? rc : first;
}

/* ---- register ---- */

/* A path as the server's machine has it; NULL: the one in use here. Owned by the caller. */
static int absolute(const char *option, const char *given, const char *here, char **out, struct ebb_err *err)
{
    *out = NULL;
    if (given && given[0] != '/')
        return ebb_err_set(err, EBB_EUSAGE, "--%s %s: an absolute path is wanted: it is one of the server's machine",
                           option, given);
    if (!given && !here)
        return 0;
    *out = given ? strdup(given) : realpath(here, NULL);
    if (*out)
        return 0;
    return given ? ebb_err_nomem(err)
                 : ebb_err_set(err, EBB_EUSAGE, "--%s: is wanted: %s can't be found", option, here);
}

static int print_registered(struct ebb_cli *cli, const char *catalog, const char *template,
                            const struct ebb_metalake_program *p, enum ebb_registered what, struct ebb_err *err)
{
    static const char *const WORDS[] = {"registered", "changed", "is registered already"};
    static const char *const CODES[] = {"registered", "changed", "unchanged"};
    struct ebb_jsonw w;

    if (cli->is_json) {
        ebb_jsonw_init(&w, &cli->out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_kstr(&w, "catalog", catalog);
        ebb_jsonw_kstr(&w, "template", template);
        ebb_jsonw_kstr(&w, "status", CODES[what]);
        ebb_jsonw_kstr(&w, "program", p->program);
        ebb_jsonw_end(&w, '}');
        ebb_buf_putc(&cli->out, '\n');
    } else {
        ebb_buf_puts(&cli->out, "Job template ");
        ebb_print_text(&cli->out, template);
        ebb_buf_printf(&cli->out, " %s:\n  ", WORDS[what]);
        ebb_print_text(&cli->out, p->program);
        if (p->config) {
            ebb_buf_puts(&cli->out, " --config ");
            ebb_print_text(&cli->out, p->config);
        }
        if (p->state) {
            ebb_buf_puts(&cli->out, " --state ");
            ebb_print_text(&cli->out, p->state);
        }
        ebb_buf_puts(&cli->out, " job remove-orphan-files …\n");
    }
    return ebb_cli_emit(cli, err);
}

static const char *template_name(struct ebb_cli *cli)
{
    const char *name = ebb_workspace_config(cli->ws)->engines.gravitino.template;

    return name ? name : EBB_JOB_TEMPLATE;
}

static int register_one(struct ebb_cli *cli, const char *catalog, struct ebb_err *err)
{
    const struct ebb_args *a = &cli->args;
    char *program = NULL, *config = NULL, *state = NULL;
    struct ebb_gravitino *g = NULL;
    enum ebb_registered what;
    int rc = absolute("program", ebb_args_get(a, "program"), "/proc/self/exe", &program, err);

    if (!rc)
        rc = absolute("program-config", ebb_args_get(a, "program-config"), ebb_workspace_config(cli->ws)->file, &config,
                      err);
    if (!rc)
        rc = absolute("program-state", ebb_args_get(a, "program-state"), ebb_args_get(a, "state"), &state, err);
    if (!rc)
        rc = ebb_metalake_open(cli->ws, catalog, &g, err);
    if (!rc) {
        const struct ebb_metalake_program p = {program, config, state};

        rc = ebb_metalake_register(g, template_name(cli), &p, &what, err);
        if (!rc)
            rc = print_registered(cli, catalog, template_name(cli), &p, what, err);
    }
    ebb_gravitino_free(g);
    free(program);
    free(config);
    free(state);
    return rc;
}

static int run_register(struct ebb_cli *cli, struct ebb_err *err)
{
    return each_catalog(cli, true, register_one, err);
}

/* ---- sync ---- */

static int sync_one(struct ebb_cli *cli, const char *catalog, struct ebb_err *err)
{
    struct ebb_metalake_synced synced;
    struct ebb_jsonw w;
    int rc = ebb_metalake_sync(cli->ws, catalog, false, &synced, err);

    if (rc)
        return rc;
    if (cli->is_json) {
        ebb_jsonw_init(&w, &cli->out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_kstr(&w, "catalog", catalog);
        ebb_jsonw_kint(&w, "policies", (int64_t)synced.policies);
        ebb_jsonw_kint(&w, "running", (int64_t)synced.running);
        ebb_jsonw_kbool(&w, "changed", synced.changed);
        ebb_jsonw_end(&w, '}');
        ebb_buf_putc(&cli->out, '\n');
    } else {
        ebb_buf_printf(&cli->out, "%s: %zu policies about orphan files, %zu of them run; %s\n", catalog,
                       synced.policies, synced.running, synced.changed ? "taken over" : "nothing changed");
    }
    return ebb_cli_emit(cli, err);
}

static int run_sync(struct ebb_cli *cli, struct ebb_err *err)
{
    return each_catalog(cli, false, sync_one, err);
}

/* ---- status ---- */

struct status {
    struct ebb_cli *cli;
    const char *catalog;
    char version[64];
    const char *template; /* registered, missing, foreign */
    struct ebb_jsonw w;
    struct ebb_buf policies; /* of JSON the whole: half of it is not told */
    struct ebb_metalake_synced synced;
};

static int ask_version(struct ebb_gravitino *g, struct status *s, struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.path = "/version", .what = "version", .is_bare = true};
    struct ebb_value *answer = NULL;
    int rc = ebb_metalake_ask(g, &call, "version", &answer, err);
    const char *text = ebb_value_text_of(ebb_value_get(answer, "version"), "version");

    snprintf(s->version, sizeof s->version, "%s", text ? text : "unknown");
    ebb_value_free(answer);
    return rc;
}

static int look_at_template(struct ebb_gravitino *g, struct status *s, struct ebb_err *err)
{
    struct ebb_value *template = NULL;
    int rc = ebb_metalake_get_template(g, template_name(s->cli), &template, err);

    s->template = !template ? "missing" : ebb_metalake_is_ours(template) ? "registered" : "foreign";
    ebb_value_free(template);
    return rc;
}

static const char *verdict_of(const struct ebb_metalake_policy *p)
{
    return !p->is_ours       ? "not for ebb"
           : p->problem      ? "not understood"
           : !p->is_enabled  ? "disabled"
           : !p->ties->count ? "attached to nothing here"
                             : "runs";
}

static int print_policy(void *data, const struct ebb_metalake_policy *p, struct ebb_err *err)
{
    struct status *s = data;
    const char *verdict = verdict_of(p);

    if (s->cli->is_json) {
        ebb_jsonw_begin(&s->w, '{');
        ebb_jsonw_kstr(&s->w, "name", p->name);
        ebb_jsonw_kstr(&s->w, "type", p->type);
        ebb_jsonw_kstr(&s->w, "verdict", verdict);
        if (p->problem)
            ebb_jsonw_kstr(&s->w, "problem", p->problem);
        if (p->is_ours)
            ebb_jsonw_kstr(&s->w, "engine", p->engine);
        ebb_print_strs_json(&s->w, "ties", p->ties);
        ebb_print_strs_json(&s->w, "ignored", p->ignored);
        ebb_jsonw_end(&s->w, '}');
        return ebb_buf_check(&s->policies, "status", err);
    }
    ebb_buf_puts(&s->policies, "    ");
    ebb_print_text(&s->policies, p->name);
    ebb_buf_printf(&s->policies, ": %s", verdict);
    if (!strcmp(verdict, "runs"))
        ebb_buf_printf(&s->policies, ", %s", p->engine);
    if (p->problem) {
        ebb_buf_puts(&s->policies, ": ");
        ebb_print_text(&s->policies, p->problem);
    }
    for (size_t i = 0; i < p->ties->count; i++) {
        ebb_buf_puts(&s->policies, i ? ", " : ", on ");
        ebb_print_text(&s->policies, p->ties->items[i]);
    }
    ebb_buf_putc(&s->policies, '\n');
    for (size_t i = 0; i < p->ignored->count; i++) {
        ebb_buf_puts(&s->policies, "      left out: ");
        ebb_print_text(&s->policies, p->ignored->items[i]);
        ebb_buf_putc(&s->policies, '\n');
    }
    return ebb_buf_check(&s->policies, "status", err);
}

static void print_people(struct status *s)
{
    struct ebb_buf *out = &s->cli->out;
    const struct ebb_catalog_config *config = ebb_config_catalog(ebb_workspace_config(s->cli->ws), s->catalog);

    ebb_print_text(out, s->catalog);
    ebb_buf_putc(out, '\n');
    ebb_print_field(out, "server", config->uri);
    ebb_print_field(out, "version", s->version);
    ebb_print_field(out, "metalake", config->metalake);
    ebb_print_name(out, "template");
    ebb_print_text(out, template_name(s->cli));
    ebb_buf_putc(out, ' ');
    ebb_print_word(s->cli, strcmp(s->template, "registered") ? EBB_PRINT_YELLOW : EBB_PRINT_GREEN, s->template);
    ebb_buf_putc(out, '\n');
    ebb_print_name(out, "policies");
    ebb_buf_printf(out, "%zu about orphan files; ", s->synced.policies);
    ebb_print_word(s->cli, s->synced.changed ? EBB_PRINT_YELLOW : EBB_PRINT_GREEN,
                   s->synced.changed ? "changed since they were read: ebb gravitino sync" : "as they were read");
    ebb_buf_putc(out, '\n');
    ebb_buf_add_str(out, ebb_buf_str(&s->policies));
}

static void begin_json(struct status *s)
{
    ebb_jsonw_init(&s->w, &s->policies);
    ebb_jsonw_begin(&s->w, '{');
    ebb_jsonw_kstr(&s->w, "catalog", s->catalog);
    ebb_jsonw_kstr(&s->w, "version", s->version);
    ebb_jsonw_kstr(&s->w, "template", template_name(s->cli));
    ebb_jsonw_kstr(&s->w, "template_status", s->template);
    ebb_jsonw_kbool(&s->w, "in_step", !s->synced.changed);
    ebb_jsonw_key(&s->w, "policies");
    ebb_jsonw_begin(&s->w, '[');
}

static int print_status(struct status *s, struct ebb_gravitino *g, struct ebb_err *err)
{
    int rc;

    if (s->cli->is_json)
        begin_json(s);
    rc = ebb_metalake_each_policy(s->cli->ws, g, s->catalog, print_policy, s, err);
    if (rc)
        return rc;
    if (s->cli->is_json) {
        ebb_jsonw_end(&s->w, ']');
        ebb_jsonw_end(&s->w, '}');
        ebb_buf_putc(&s->policies, '\n');
        ebb_buf_add_str(&s->cli->out, ebb_buf_str(&s->policies));
    } else {
        print_people(s);
    }
    if (strcmp(s->template, "registered") || s->synced.changed)
        s->cli->exit_status = 1;
    return ebb_cli_emit(s->cli, err);
}

static int status_one(struct ebb_cli *cli, const char *catalog, struct ebb_err *err)
{
    struct status s = {.cli = cli, .catalog = catalog};
    struct ebb_gravitino *g = NULL;
    int rc = ebb_metalake_open(cli->ws, catalog, &g, err);

    ebb_buf_init(&s.policies, (size_t)64 << 20);
    if (!rc)
        rc = ask_version(g, &s, err);
    if (!rc)
        rc = look_at_template(g, &s, err);
    if (!rc)
        rc = ebb_metalake_sync(cli->ws, catalog, true, &s.synced, err);
    if (!rc)
        rc = print_status(&s, g, err);
    ebb_buf_fini(&s.policies);
    ebb_gravitino_free(g);
    return rc;
}

static int run_status(struct ebb_cli *cli, struct ebb_err *err)
{
    return each_catalog(cli, false, status_one, err);
}

const struct ebb_command ebb_command_gravitino_register = {
    .name = "gravitino register",
    .args = "",
    .summary = "register ebb's job template with a Gravitino server",
    .about =
        "The server then can run ebb job remove-orphan-files, for itself or asked by ebb (engine = \"gravitino\"). "
        "Repeating it does no harm; a template of the same name that ebb did not register is left alone. Program, "
        "configuration and state folder are those of the server's machine.",
    .options = REGISTER_OPTIONS,
    .examples = REGISTER_EXAMPLES,
    .run = run_register,
};

const struct ebb_command ebb_command_gravitino_sync = {
    .name = "gravitino sync",
    .args = "",
    .summary = "read the policies that a Gravitino server keeps",
    .about =
        "Those about orphan files are judged and kept in the state folder, from where ebb serve runs them. Nothing "
        "is written to the server.",
    .options = OPTIONS,
    .examples = SYNC_EXAMPLES,
    .run = run_sync,
};

const struct ebb_command ebb_command_gravitino_status = {
    .name = "gravitino status",
    .args = "",
    .summary = "compare a Gravitino server with what ebb knows of it",
    .about =
        "Shows the server, ebb's job template there, and what becomes of each policy. Exit status 1: the template is "
        "not there, or policies were changed since they were read.",
    .options = OPTIONS,
    .examples = STATUS_EXAMPLES,
    .run = run_status,
};
