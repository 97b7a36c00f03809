/* SPDX-License-Identifier: Apache-2.0
 *
 * :tables :use :policies :show :params: what there is.
 */
#include <stdlib.h>

#include "base/time.h"
#include "front/print.h"
#include "front/repl_priv.h"
#include "front/tables.h"

/* ---- tables ---- */

static int on_table(void *data, const char *name, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(data);
    size_t start = out->len;

    (void)err;
    ebb_print_text(out, name);
    if (!ref->metadata_uri) {
        ebb_print_pad(out, start, 40);
        ebb_print_text(out, ebb_error_code(ref->problem.error));
    }
    ebb_buf_putc(out, '\n');
    return 0;
}

static int run_tables(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const char *glob = words->count > 1 ? words->items[1] : NULL;
    struct ebb_buf *out = ebb__repl_out(repl);
    size_t before = out->len;
    int rc = 0;

    for (size_t i = 0; i < repl->table_count; i++)
        if (repl->tables[i].is_fixture && (!glob || ebb_table_glob_is_match(glob, repl->tables[i].label))) {
            size_t start = out->len;

            ebb_print_text(out, repl->tables[i].label);
            ebb_print_pad(out, start, 40);
            ebb_print_text(out, repl->tables[i].opened);
            ebb_buf_putc(out, '\n');
        }
    if (ebb_cli_site(repl->cli)->catalog_count)
        rc = ebb_tables_each(repl->cli, glob, on_table, repl, err);
    if (!rc && out->len == before)
        ebb_buf_puts(out, "no tables\n");
    return rc;
}

/* "prod.events.clicks  v2  uuid 7d1e…  current snapshot 377…  policies: a, b" */
int ebb__repl_say_table(struct ebb_repl *repl, struct ebb_err *err)
{
    const struct ebb_value *facts, *t;
    struct ebb_buf *out = ebb__repl_out(repl);
    const struct ebb_policy *p;
    const char *uuid;
    bool any = false;
    int rc = ebb__repl_facts(repl, NULL, &facts, err);

    if (rc)
        return rc;
    t = ebb_value_get(facts, "table");
    uuid = ebb_value_text_of(t, "uuid");
    ebb_print_text(out, repl->tables[repl->current].label);
    if (ebb_value_get(t, "format_version"))
        ebb_buf_printf(out, "  v%d", (int)ebb_value_int_of(t, "format_version", 0));
    if (uuid) {
        ebb_buf_puts(out, "  uuid ");
        ebb_text_escape(out, uuid, strnlen(uuid, 4));
        ebb_buf_puts(out, "…");
    }
    if (ebb_value_get(ebb_value_get(t, "current_snapshot"), "id"))
        ebb_buf_printf(out, "  current snapshot %lld",
                       (long long)ebb_value_int_of(ebb_value_get(t, "current_snapshot"), "id", 0));
    else
        ebb_buf_puts(out, "  no snapshot");
    for (size_t i = 0; (p = ebb__repl_policy_at(repl, i)); i++)
        if (ebb__repl_takes(repl, p)) {
            ebb_buf_puts(out, any ? ", " : "  policies: ");
            ebb_print_text(out, ebb_policy_get_name(p));
            any = true;
        }
    ebb_buf_putc(out, '\n');
    return 0;
}

static int run_use(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    int rc = ebb__repl_use(repl, words->items[1], err);

    return rc ? rc : ebb__repl_say_table(repl, err);
}

/* ---- policies ---- */

static int run_policies(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl);
    const struct ebb_policy *p;

    (void)words;
    (void)err;
    for (size_t i = 0; (p = ebb__repl_policy_at(repl, i)); i++) {
        const char *doc = ebb_value_text_of(ebb_policy_get_manifest(p), "doc");
        size_t start = out->len;

        ebb_buf_putc(out, ' ');
        ebb_print_text(out, ebb_policy_get_name(p));
        ebb_print_pad(out, start, 24);
        ebb_buf_puts(out, repl->current == EBB__REPL_NONE ? ""
                          : ebb__repl_takes(repl, p)      ? "takes it  "
                                                          : "–         ");
        ebb_print_text(out, doc);
        ebb_buf_putc(out, '\n');
    }
    if (!ebb__repl_policy_count(repl))
        ebb_buf_puts(out, "no policies: start with --bundle DIR, or add policies = \"./policies\" to ebb.lua\n");
    return 0;
}

static int run_show(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const char *name = words->count > 1 ? words->items[1] : NULL;
    struct ebb_buf *out = ebb__repl_out(repl);
    const struct ebb_policy *policy;
    int rc = ebb__repl_policy(repl, name, &policy, err);

    if (rc)
        return rc;
    ebb_print_text(out, ebb_policy_get_file(policy));
    ebb_buf_puts(out, "  ");
    ebb_print_text(out, ebb_policy_get_bundle(policy));
    ebb_buf_putc(out, '\n');
    ebb_console_write(out, NULL, ebb_policy_get_manifest(policy));
    ebb_buf_putc(out, '\n');
    return 0;
}

void ebb__repl_say_param(struct ebb_buf *out, const struct ebb_value *definition, const struct ebb_value *value)
{
    const char *type = ebb_value_text_of(definition, "type");

    if (type && !strcmp(type, "duration"))
        ebb_duration_format(out, ebb_value_get_int(value, 0));
    else if (type && !strcmp(type, "bytes"))
        ebb_text_size(out, (uint64_t)ebb_value_get_int(value, 0));
    else
        ebb_console_write(out, NULL, value);
}

static void say_params(struct ebb_repl *repl, const struct ebb_policy *policy, const struct ebb_value *params)
{
    const struct ebb_value *defs = ebb_value_get(ebb_policy_get_manifest(policy), "params");
    struct ebb_buf *out = ebb__repl_out(repl);

    ebb_print_text(out, ebb_policy_get_name(policy));
    ebb_buf_puts(out, ebb_value_get_count(params) ? "\n" : " has no parameters\n");
    for (size_t i = 0; i < ebb_value_get_count(params); i++) {
        struct ebb_str key = ebb_value_get_key(params, i);
        const struct ebb_value *def = ebb_value_getn(defs, key.p, key.n), *v = ebb_value_get_at(params, i);
        const char *type = ebb_value_text_of(def, "type");
        size_t start = out->len;

        ebb_buf_putc(out, ' ');
        ebb_text_escape(out, key.p, key.n);
        ebb_print_pad(out, start, 16);
        ebb__repl_say_param(out, def, v);
        ebb_print_pad(out, start, 32);
        ebb_print_text(out, type);
        if (ebb_value_text_of(def, "doc")) {
            ebb_buf_puts(out, "  ");
            ebb_print_text(out, ebb_value_text_of(def, "doc"));
        }
        ebb_buf_putc(out, '\n');
    }
}

static int run_params(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const struct ebb__repl_table *table;
    const struct ebb_schedule *schedule;
    const struct ebb_policy *policy;
    struct ebb_schedule_input in;
    int rc = ebb__repl_policy(repl, words->count > 1 ? words->items[1] : NULL, &policy, err);

    if (!rc)
        rc = ebb__repl_table(repl, &table, err);
    if (!rc)
        rc = ebb_session_schedule(repl->session, table->index, ebb_policy_get_name(policy), &in, &schedule, err);
    if (!rc)
        say_params(repl, policy, ebb_settings_get_params(in.settings));
    return rc;
}

const struct ebb__repl_command EBB__REPL_LOOK[] = {
    {"tables", "look", "[glob]", "tables that the catalogs know, and fixtures in use", 0, 1, EBB__REPL_OTHER,
     run_tables},
    {"use", "look", "TABLE", "take a table: a name, a path, or a captured fixture (fixture.json)", 1, 1,
     EBB__REPL_TABLE, run_use},
    {"policies", "look", "", "the policies, and which of them take the table", 0, 0, EBB__REPL_OTHER, run_policies},
    {"show", "look", "POLICY", "the data part of a policy", 0, 1, EBB__REPL_POLICY, run_show},
    {"params", "look", "", "parameters of the policy spoken of, as they are for this table; or of POLICY", 0, 1,
     EBB__REPL_POLICY, run_params},
    {"stats", "look", "", "statistics of the table", 0, 0, EBB__REPL_OTHER, ebb__repl_stats},
    {"parts", "look", "[n]", "its partitions, by key", 0, 1, EBB__REPL_OTHER, ebb__repl_parts},
    {"history", "look", "[n]", "its latest snapshots, and runs of the policy spoken of", 0, 1, EBB__REPL_OTHER,
     ebb__repl_history},
    {"events", "look", "[n]", "its latest events", 0, 1, EBB__REPL_OTHER, ebb__repl_events},
    {NULL, NULL, NULL, NULL, 0, 0, EBB__REPL_OTHER, NULL},
};
