/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb diff: two plans, merged as they are read; both are sorted by path.
 */
#include "front/commands.h"
#include "front/print.h"

#define ARENA_BYTES ((size_t)4 << 20)

static const struct ebb_example EXAMPLES[] = {
    {"ebb diff p-01K5Z9 p-01K60C", "+ only in the second, - only in the first, ~ another size or time"},
    {NULL, NULL},
};

struct side {
    struct ebb_plan_file *plan;
    struct ebb_arena arena; /* of the candidate at hand */
    struct ebb_plan_candidate at;
    bool is_end;
};

static int side_next(struct side *s, struct ebb_err *err)
{
    ebb_arena_fini(&s->arena);
    ebb_arena_init(&s->arena, ARENA_BYTES);
    return ebb_plan_file_next(s->plan, &s->arena, &s->at, &s->is_end, err);
}

static int side_open(struct ebb_cli *cli, struct side *s, const char *name, struct ebb_err *err)
{
    int rc = ebb_plan_file_open(ebb_cli_site(cli), name, &s->plan, err);

    if (!rc)
        rc = ebb_plan_file_rewind(s->plan, err);
    return rc ? rc : side_next(s, err);
}

static void side_fini(struct side *s)
{
    ebb_arena_fini(&s->arena);
    ebb_plan_file_close(s->plan);
}

static int tell(struct ebb_cli *cli, char mark, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct ebb_buf *out = &cli->out;
    struct ebb_jsonw w;

    cli->exit_status = 1;
    if (cli->is_json) {
        ebb_jsonw_init(&w, out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_kstr(&w, "change", mark == '+' ? "added" : mark == '-' ? "removed" : "changed");
        ebb_jsonw_path(&w, "path", c->path.p, c->path.n);
        ebb_jsonw_end(&w, '}');
    } else {
        ebb_buf_putc(out, mark);
        ebb_buf_putc(out, ' ');
        ebb_text_escape(out, c->path.p, c->path.n);
        ebb_buf_puts(out, "  ");
        ebb_text_size(out, c->size_bytes);
    }
    ebb_buf_putc(out, '\n');
    return ebb_cli_emit(cli, err);
}

/* Take the smaller path of both, or both when they are equal. */
static int step(struct ebb_cli *cli, struct side *a, struct side *b, struct ebb_err *err)
{
    int order = a->is_end ? 1 : b->is_end ? -1 : ebb_str_compare(a->at.path, b->at.path);
    int rc = 0;

    if (order < 0)
        rc = tell(cli, '-', &a->at, err);
    else if (order > 0)
        rc = tell(cli, '+', &b->at, err);
    else if (a->at.size_bytes != b->at.size_bytes || a->at.mtime_ns != b->at.mtime_ns)
        rc = tell(cli, '~', &b->at, err);
    if (!rc && order <= 0)
        rc = side_next(a, err);
    if (!rc && order >= 0)
        rc = side_next(b, err);
    return rc;
}

static int run_diff(struct ebb_cli *cli, struct ebb_err *err)
{
    struct side a, b;
    int rc;

    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    rc = ebb_cli_open(cli, false, err);
    if (!rc)
        rc = side_open(cli, &a, ebb_args_word(&cli->args, 0), err);
    if (!rc)
        rc = side_open(cli, &b, ebb_args_word(&cli->args, 1), err);
    while (!rc && !(a.is_end && b.is_end))
        rc = step(cli, &a, &b, err);
    side_fini(&b);
    side_fini(&a);
    return rc;
}

const struct ebb_command ebb_command_diff = {
    .name = "diff",
    .args = "PLAN PLAN",
    .summary = "what changed from one plan to another",
    .about = "Exit status 1 when the plans differ, 0 when both would remove the same files.",
    .arg_min = 2,
    .arg_max = 2,
    .examples = EXAMPLES,
    .run = run_diff,
};
