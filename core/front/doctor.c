/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb doctor
 */
#include "service/doctor.h"

#include "front/commands.h"
#include "front/print.h"

#define MESSAGE_COLUMN 22

static const struct ebb_option OPTIONS[] = {
    {"effective", 0, NULL, NULL, false, "print the configuration as it is understood, too, with secrets masked"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb doctor", "is everything in order, and what is to be mended"},
    {"ebb doctor --json", "for monitoring: exit status 1 when something is broken"},
    {"ebb doctor --effective", "which value counts for each key"},
    {NULL, NULL},
};

struct telling {
    struct ebb_cli *cli;
    struct ebb_jsonw w;
};

static void tell_json(struct telling *t, const struct ebb_doctor_line *line)
{
    ebb_jsonw_begin(&t->w, '{');
    ebb_jsonw_kstr(&t->w, "check", line->check);
    ebb_jsonw_kstr(&t->w, "level", ebb_doctor_level_name(line->level));
    ebb_jsonw_kstr(&t->w, "message", line->message);
    if (line->hint[0])
        ebb_jsonw_kstr(&t->w, "hint", line->hint);
    ebb_jsonw_end(&t->w, '}');
}

static void tell_people(struct ebb_cli *cli, const struct ebb_doctor_line *line)
{
    static const enum ebb_print_colour COLOURS[] = {EBB_PRINT_GREEN, EBB_PRINT_YELLOW, EBB_PRINT_RED};
    const char *word = ebb_doctor_level_name(line->level);
    struct ebb_buf *out = &cli->out;

    ebb_print_word(cli, COLOURS[line->level], word);
    ebb_buf_printf(out, "%*s", 6 - (int)strlen(word), "");
    ebb_buf_printf(out, "%-*s", MESSAGE_COLUMN - 6, line->check);
    ebb_print_text(out, line->message);
    ebb_buf_putc(out, '\n');
    if (line->hint[0]) {
        ebb_buf_puts(out, "        hint: ");
        ebb_print_text(out, line->hint);
        ebb_buf_putc(out, '\n');
    }
}

static void tell(void *data, const struct ebb_doctor_line *line)
{
    struct telling *t = data;

    if (t->cli->is_json)
        tell_json(t, line);
    else
        tell_people(t->cli, line);
}

/* JSON text with a line for each member; its own blanks are in texts only. */
static void print_indented(struct ebb_buf *out, const char *json)
{
    bool in_text = false;
    int depth = 0;

    for (const char *p = json; *p; p++) {
        bool is_empty = (*p == '{' && p[1] == '}') || (*p == '[' && p[1] == ']');

        if (*p == '"' || (in_text && *p == '\\')) {
            in_text = *p == '"' ? !in_text : in_text;
            ebb_buf_append(out, p, *p == '"' ? 1 : 2);
            p += *p != '"';
        } else if (in_text) {
            ebb_buf_putc(out, *p);
        } else if (is_empty) {
            ebb_buf_append(out, p++, 2);
        } else {
            depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
            if (*p == '}' || *p == ']')
                ebb_buf_printf(out, "\n%*s", 2 * depth, "");
            ebb_buf_puts(out, *p == ':' ? ": " : (char[2]){*p, '\0'});
            if (*p == '{' || *p == '[' || *p == ',')
                ebb_buf_printf(out, "\n%*s", 2 * depth, "");
        }
    }
}

static int print_end(struct telling *t, const struct ebb_config *config, enum ebb_doctor_level worst,
                     struct ebb_err *err)
{
    struct ebb_buf text;
    int rc = 0;

    ebb_buf_init(&text, (size_t)16 << 20);
    if (config)
        rc = ebb_config_show(config, &text, err);
    if (!rc && t->cli->is_json) {
        ebb_jsonw_end(&t->w, ']');
        ebb_jsonw_kstr(&t->w, "worst", ebb_doctor_level_name(worst));
        ebb_jsonw_key(&t->w, "configuration");
        ebb_jsonw_raw(&t->w, config ? ebb_buf_cstr(&text) : "null", config ? text.len : 4);
        ebb_jsonw_end(&t->w, '}');
        ebb_buf_putc(&t->cli->out, '\n');
    } else if (!rc && config && ebb_args_has(&t->cli->args, "effective")) {
        print_indented(&t->cli->out, ebb_buf_cstr(&text));
        ebb_buf_putc(&t->cli->out, '\n');
    }
    ebb_buf_fini(&text);
    return rc;
}

static int run_doctor(struct ebb_cli *cli, struct ebb_err *err)
{
    struct telling t = {.cli = cli};
    struct ebb_doctor_options options = {.config = ebb_args_get(&cli->args, "config"),
                                         .state_dir = ebb_args_get(&cli->args, "state"),
                                         .clock = ebb_clock_system(),
                                         .tell = tell,
                                         .data = &t};
    struct ebb_config *config = NULL;
    enum ebb_doctor_level worst = EBB_DOCTOR_OK;
    int rc;

    if (cli->is_json) {
        ebb_jsonw_init(&t.w, &cli->out);
        ebb_jsonw_begin(&t.w, '{');
        ebb_jsonw_key(&t.w, "checks");
        ebb_jsonw_begin(&t.w, '[');
    }
    rc = ebb_doctor_run(&options, &config, &worst, err);
    if (!rc)
        rc = print_end(&t, config, worst, err);
    ebb_config_free(config);
    cli->exit_status = worst == EBB_DOCTOR_FAIL;
    return rc;
}

const struct ebb_command ebb_command_doctor = {
    .name = "doctor",
    .args = "",
    .summary = "look at everything ebb depends on, and tell what to mend",
    .about = "Configuration, policies, catalogs (each is listed, and metadata of up to 50 tables read), clocks, zone "
             "database, state folder, store (all of it is read), daemon, limits and libraries. Changes nothing. Exit "
             "status 1 when a line says fail.",
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_doctor,
};
