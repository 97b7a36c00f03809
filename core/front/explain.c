/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb explain: why a plan, run or decision came out as it did, and what it came from. Told from the records, nothing is
 * looked at again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "front/commands.h"
#include "front/decision_print.h"
#include "front/plan_print.h"
#include "front/print.h"

static const struct ebb_example EXAMPLES[] = {
    {"ebb explain p-01K5Z9", "what a plan counted, why files stay, what holds it"},
    {"ebb explain r-01K5ZB", "a run, its plan and the decision behind it"},
    {"ebb explain d-01K5Z7 --json", "the records themselves"},
    {NULL, NULL},
};

/* A record taken out of the store. */
struct taken {
    bool is_there;
    char id[64], status[32], parent[64];
    int64_t at_ms, end_ms;
    struct ebb_value *json;
};

static int take(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct taken *t = data;

    t->is_there = true;
    snprintf(t->id, sizeof t->id, "%s", r->id);
    snprintf(t->status, sizeof t->status, "%s", r->status);
    snprintf(t->parent, sizeof t->parent, "%s", r->parent);
    t->at_ms = r->at_ms;
    t->end_ms = r->end_ms;
    return ebb_value_of_json(r->id, r->json, strlen(r->json), NULL, &t->json, err);
}

/* What belongs together: a run, its plan, the decision of either. */
struct chain {
    struct taken run, plan, decision;
};

static int get(struct ebb_cli *cli, enum ebb_record_kind kind, const char *id, struct taken *out, struct ebb_err *err)
{
    return ebb_store_get(ebb_cli_site(cli)->store, kind, id, take, out, err);
}

/* A parent may be missing: a plan file from elsewhere, a decision that was dropped. */
static int get_parent(struct ebb_cli *cli, struct chain *c, const char *id, struct ebb_err *err)
{
    int rc = 0;

    if (!strncmp(id, "p-", 2) && !c->plan.is_there)
        rc = get(cli, EBB_RECORD_PLAN, id, &c->plan, err);
    else if (!strncmp(id, "d-", 2) && !c->decision.is_there)
        rc = get(cli, EBB_RECORD_DECISION, id, &c->decision, err);
    return rc == -(int)EBB_ENOT_FOUND ? 0 : rc;
}

static int gather(struct ebb_cli *cli, const char *id, struct chain *c, struct ebb_err *err)
{
    int rc;

    if (!strncmp(id, "r-", 2))
        rc = get(cli, EBB_RECORD_RUN, id, &c->run, err);
    else if (!strncmp(id, "p-", 2))
        rc = get(cli, EBB_RECORD_PLAN, id, &c->plan, err);
    else if (!strncmp(id, "d-", 2))
        rc = get(cli, EBB_RECORD_DECISION, id, &c->decision, err);
    else
        return ebb_err_set(err, EBB_EUSAGE, "explain %s: an id of a plan (p-…), run (r-…) or decision (d-…) is wanted",
                           id);
    if (!rc && c->run.is_there)
        rc = get_parent(cli, c, c->run.parent, err);
    if (!rc && c->run.is_there && !c->plan.is_there && ebb_value_text_of(c->run.json, "plan"))
        rc = get_parent(cli, c, ebb_value_text_of(c->run.json, "plan"), err);
    if (!rc && c->plan.is_there)
        rc = get_parent(cli, c, c->plan.parent, err);
    return rc;
}

/* ---- runs ---- */

static void print_notes(struct ebb_buf *out, const struct ebb_value *json, const char *key)
{
    const struct ebb_value *list = ebb_value_get(json, key);

    for (size_t i = 0; i < ebb_value_get_count(list) && i < 20; i++) {
        const struct ebb_value *note = ebb_value_get_at(list, i);
        const char *path = ebb_value_text_of(note, "path");

        ebb_print_name(out, key);
        ebb_print_text(out, path ? path : ebb_value_text_of(note, "path_b64"));
        ebb_buf_puts(out, ": ");
        ebb_print_text(out, ebb_value_text_of(note, "why"));
        ebb_buf_putc(out, '\n');
    }
    if (ebb_value_get_count(list) > 20) {
        ebb_print_name(out, key);
        ebb_buf_printf(out, "and %zu more\n", ebb_value_get_count(list) - 20);
    }
}

static void print_optional(struct ebb_buf *out, const struct ebb_value *json, const char *key, const char *name)
{
    if (ebb_value_text_of(json, key))
        ebb_print_field(out, name, ebb_value_text_of(json, key));
}

static void print_if_any(struct ebb_buf *out, const struct ebb_value *json, const char *key, const char *name)
{
    if (ebb_value_int_of(json, key, 0))
        ebb_print_count_field(out, name, ebb_value_int_of(json, key, 0));
}

static const char *run_means(const char *status)
{
    static const char *const WORDS[][2] = {
        {"started", "it is running, or it stopped in the middle: ebb apply --resume ends it"},
        {"done", "everything that the plan named was dealt with"},
        {"partial", "something was skipped, failed or had to go back; what was done is below"},
        {"failed", "it ended with an error before everything was done"},
        {"interrupted", "it was stopped; ebb apply --resume goes on"},
        {"restored", "its files were put back"},
        {"purged", "its files were deleted for good"},
        {"observed", "the binding's mode is observe: the decision was recorded, nothing else"},
    };

    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (!strcmp(status, WORDS[i][0]))
            return WORDS[i][1];
    return "";
}

static void print_time(struct ebb_buf *out, const char *name, int64_t ms)
{
    ebb_print_name(out, name);
    ebb_print_time(out, ms);
    ebb_buf_putc(out, '\n');
}

static void print_run(struct ebb_cli *cli, const struct taken *t)
{
    struct ebb_buf *out = &cli->out;

    ebb_buf_printf(out, "run %s: %s\n", t->id, t->status);
    ebb_print_field(out, "which means", run_means(t->status));
    print_optional(out, t->json, "table", "table");
    print_time(out, "started", t->at_ms);
    if (t->end_ms)
        print_time(out, "ended", t->end_ms);
    print_if_any(out, t->json, "moved", "moved");
    print_if_any(out, t->json, "deleted", "deleted");
    print_if_any(out, t->json, "returned", "put back");
    print_if_any(out, t->json, "already_gone", "already gone");
    print_notes(out, t->json, "skipped");
    print_notes(out, t->json, "failed");
    print_optional(out, t->json, "quarantine", "quarantine");
    print_optional(out, t->json, "code", "error");
    print_optional(out, t->json, "message", "because");
}

/* ---- plans ---- */

static void say_count(struct ebb_buf *out, const struct ebb_value *json, const char *key, const char *one,
                      const char *many)
{
    int64_t n = ebb_value_int_of(json, key, 0);

    if (!n)
        return;
    ebb_buf_puts(out, "  ");
    ebb_print_count(out, n);
    ebb_buf_printf(out, " %s\n", n == 1 ? one : many);
}

static void say_fuse(struct ebb_buf *out, const char *fuse, const struct ebb_value *json,
                     const struct ebb_value *limits)
{
    int64_t listed = ebb_value_int_of(json, "listed", 0), candidates = ebb_value_int_of(json, "candidates", 0);

    ebb_buf_puts(out, "  held by ");
    ebb_print_text(out, fuse);
    if (!strcmp(fuse, "zero_overlap"))
        ebb_buf_puts(
            out,
            ": nothing that was listed is referenced, though the table has files: most likely the paths do not match");
    if (!strcmp(fuse, "max_share") && listed > 0)
        ebb_buf_printf(out, ": %.1f%% of the listed files would go", 100.0 * (double)candidates / (double)listed);
    if (!strcmp(fuse, "max_files"))
        ebb_buf_printf(out, ": %" PRId64 " files would go", candidates);
    if (!strcmp(fuse, "max_bytes")) {
        ebb_buf_puts(out, ": files of ");
        ebb_text_size(out, (uint64_t)ebb_value_int_of(json, "candidate_bytes", 0));
        ebb_buf_puts(out, " would go");
    }
    if (ebb_value_get(limits, fuse)) {
        ebb_buf_puts(out, "; the limit is ");
        ebb_decision_print_value(out, ebb_value_get(limits, fuse));
    }
    ebb_buf_putc(out, '\n');
}

static void say_why(struct ebb_buf *out, const struct ebb_value *json, const struct ebb_value *limits)
{
    const struct ebb_value *fuses = ebb_value_get(json, "held_by");

    say_count(out, json, "listed", "file was listed", "files were listed");
    say_count(out, json, "reachable_listed", "of them stays: metadata references it",
              "of them stay: metadata references them");
    say_count(out, json, "hidden", "stays: it is hidden, or lies in a hidden folder",
              "stay: they are hidden, or lie in hidden folders");
    say_count(out, json, "too_young", "stays: it is not older than the cutoff",
              "stay: they are not older than the cutoff");
    say_count(out, json, "kept", "stays for another reason: unknown time, an uncommitted or own file, a neighbour's",
              "stay for another reason: unknown time, uncommitted or own files, a neighbour's");
    say_count(out, json, "links", "link was met and not followed", "links were met and not followed");
    say_count(out, json, "mounts", "mount point was met and not entered", "mount points were met and not entered");
    say_count(out, json, "candidates", "is left: nothing references it", "are left: nothing references them");
    for (size_t i = 0; i < ebb_value_get_count(fuses); i++)
        if (ebb_value_get_str(ebb_value_get_at(fuses, i)))
            say_fuse(out, ebb_value_get_str(ebb_value_get_at(fuses, i)), json, limits);
}

/* The header tells more than the record, where the file is still there. */
static int read_limits(struct ebb_cli *cli, const char *id, struct ebb_value **limits)
{
    struct ebb_plan_file *plan;
    int rc = ebb_plan_file_open(ebb_cli_site(cli), id, &plan, NULL);

    *limits = NULL;
    if (rc)
        return rc;
    ebb_plan_print_header(cli, ebb_plan_file_header(plan));
    rc = ebb_value_of_json("limits", ebb_plan_file_header(plan)->limits.p, ebb_plan_file_header(plan)->limits.n, NULL,
                           limits, NULL);
    ebb_plan_file_close(plan);
    return rc;
}

static void print_plan(struct ebb_cli *cli, const struct taken *t)
{
    struct ebb_buf *out = &cli->out;
    struct ebb_value *limits = NULL;

    ebb_buf_printf(out, "plan %s: %s\n", t->id, t->status);
    if (read_limits(cli, t->id, &limits)) {
        print_optional(out, t->json, "table", "table");
        print_optional(out, t->json, "location", "location");
        print_time(out, "made", t->at_ms);
        ebb_print_field(out, "file", "is gone or can't be read; this is from the record");
    }
    say_why(out, t->json, limits);
    ebb_value_free(limits);
}

/* ---- what came of it ---- */

struct children {
    struct ebb_cli *cli;
    const char *name;
};

static int on_child(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct children *c = data;
    struct ebb_buf *out = &c->cli->out;

    (void)err;
    ebb_print_name(out, c->name);
    ebb_print_text(out, r->id);
    ebb_buf_puts(out, ": ");
    ebb_print_text(out, r->status);
    ebb_buf_putc(out, '\n');
    return 0;
}

static int print_children(struct ebb_cli *cli, enum ebb_record_kind kind, const char *name, const char *parent,
                          struct ebb_err *err)
{
    struct ebb_record_filter filter;
    struct children c = {cli, name};

    memset(&filter, 0, sizeof filter);
    filter.parent = parent;
    return ebb_store_list(ebb_cli_site(cli)->store, kind, &filter, on_child, &c, err);
}

static int print_people(struct ebb_cli *cli, const struct chain *c, struct ebb_err *err)
{
    struct ebb_buf *out = &cli->out;
    int rc = 0;

    if (c->run.is_there)
        print_run(cli, &c->run);
    if (c->run.is_there && c->plan.is_there)
        ebb_buf_puts(out, "\nfrom ");
    if (c->plan.is_there)
        print_plan(cli, &c->plan);
    if (c->plan.is_there && !c->run.is_there)
        rc = print_children(cli, EBB_RECORD_RUN, "run", c->plan.id, err);
    if (c->decision.is_there && (c->plan.is_there || c->run.is_there))
        ebb_buf_puts(out, "\nfrom ");
    if (c->decision.is_there)
        ebb_decision_print(cli, c->decision.json);
    if (!rc && c->decision.is_there && !c->plan.is_there && !c->run.is_there)
        rc = print_children(cli, EBB_RECORD_PLAN, "plan", c->decision.id, err);
    if (!rc && c->decision.is_there && !c->plan.is_there && !c->run.is_there)
        rc = print_children(cli, EBB_RECORD_RUN, "run", c->decision.id, err);
    return rc;
}

static void print_json(struct ebb_cli *cli, const struct chain *c)
{
    const struct taken *all[] = {&c->run, &c->plan, &c->decision};
    static const char *const KEYS[] = {"run", "plan", "decision"};
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_jsonw_begin(&w, '{');
    for (size_t i = 0; i < 3; i++) {
        if (!all[i]->is_there)
            continue;
        ebb_jsonw_key(&w, KEYS[i]);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_kstr(&w, "id", all[i]->id);
        ebb_jsonw_kstr(&w, "status", all[i]->status);
        ebb_jsonw_key(&w, "record");
        ebb_value_write(all[i]->json, &w);
        ebb_jsonw_end(&w, '}');
    }
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&cli->out, '\n');
}

static int run_explain(struct ebb_cli *cli, struct ebb_err *err)
{
    struct chain c;
    int rc = ebb_cli_open(cli, false, err);

    memset(&c, 0, sizeof c);
    if (!rc)
        rc = gather(cli, ebb_args_word(&cli->args, 0), &c, err);
    if (!rc && cli->is_json)
        print_json(cli, &c);
    else if (!rc)
        rc = print_people(cli, &c, err);
    ebb_value_free(c.run.json);
    ebb_value_free(c.plan.json);
    ebb_value_free(c.decision.json);
    return rc;
}

const struct ebb_command ebb_command_explain = {
    .name = "explain",
    .args = "ID",
    .summary = "why a decision, plan or run came out as it did",
    .about = "Told from what was recorded; nothing is evaluated or looked at again. The beginning of an id is enough.",
    .arg_min = 1,
    .arg_max = 1,
    .examples = EXAMPLES,
    .run = run_explain,
};
