/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb show
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "front/commands.h"
#include "front/plan_print.h"
#include "front/print.h"

#define DEFAULT_LIMIT 20
#define COPY_BYTES ((size_t)64 << 10)
#define SIZE_COLUMN 34

static const struct ebb_option OPTIONS[] = {
    {"limit", 0, "N", NULL, false, "candidates to print (default 20, 0 = all)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb show p-01K5Z9 --limit 100", "a plan by the beginning of its id"},
    {"ebb show nightly.plan --json | jq -r .path", "the lines of the plan itself"},
    {NULL, NULL},
};

struct list {
    struct ebb_cli *cli;
    const char *location;
    int64_t limit, count;
};

/* The name below the table's location, where it is plainly below it. */
static struct ebb_str short_name(struct ebb_str path, const char *location)
{
    size_t n = strlen(location);

    while (n && location[n - 1] == '/')
        n--;
    if (n && path.n > n + 1 && !memcmp(path.p, location, n) && path.p[n] == '/')
        return (struct ebb_str){path.p + n + 1, path.n - n - 1};
    return path;
}

static int on_candidate(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct list *l = data;
    struct ebb_buf *out = &l->cli->out;
    struct ebb_str name = short_name(c->path, l->location);
    size_t start = out->len;

    if (l->limit && l->count >= l->limit)
        return 0;
    l->count++;
    ebb_buf_puts(out, "  ");
    ebb_print_time(out, c->mtime_ns / 1000000000 * 1000);
    ebb_buf_puts(out, "  ");
    ebb_text_size(out, c->size_bytes);
    ebb_print_pad(out, start, SIZE_COLUMN);
    ebb_text_escape(out, name.p, name.n);
    if (c->near_name.n) {
        ebb_buf_puts(out, "  (near ");
        ebb_text_escape(out, c->near_name.p, c->near_name.n);
        ebb_buf_putc(out, ')');
    }
    ebb_buf_putc(out, '\n');
    return ebb_cli_emit(l->cli, err);
}

static int show_people(struct ebb_cli *cli, struct ebb_plan_file *plan, struct ebb_err *err)
{
    const struct ebb_plan_header *h = ebb_plan_file_header(plan);
    const struct ebb_plan_summary *s = ebb_plan_file_summary(plan);
    struct list l = {cli, h->location, DEFAULT_LIMIT, 0};
    int rc = ebb_args_int(&cli->args, "limit", 0, &l.limit, err);

    if (rc)
        return rc;
    ebb_buf_puts(&cli->out, "plan ");
    ebb_print_text(&cli->out, h->id);
    ebb_buf_putc(&cli->out, '\n');
    ebb_plan_print_header(cli, h);
    ebb_plan_print_counts(cli, s);
    if (s->candidates)
        ebb_buf_putc(&cli->out, '\n');
    rc = ebb_plan_file_each(plan, on_candidate, &l, err);
    if (!rc && l.count < s->candidates) {
        ebb_buf_puts(&cli->out, "  and ");
        ebb_print_count(&cli->out, s->candidates - l.count);
        ebb_buf_puts(&cli->out, " more (--limit 0 shows all)\n");
    }
    return rc;
}

static int copy_file(struct ebb_cli *cli, int fd, const char *path, struct ebb_err *err)
{
    int rc = 0;

    while (!rc) {
        char *to = ebb_buf_reserve(&cli->out, COPY_BYTES);
        ssize_t n = to ? read(fd, to, COPY_BYTES) : 0;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ebb_err_errno(err, errno, "%s", path);
        if (n == 0)
            break;
        cli->out.len += (size_t)n;
        rc = ebb_cli_flush(cli, err);
    }
    return rc;
}

/* The lines as they stand in the file, which was read and found whole. */
static int show_json(struct ebb_cli *cli, const char *path, struct ebb_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return ebb_err_errno(err, errno, "%s", path);
    rc = copy_file(cli, fd, path, err);
    close(fd);
    return rc;
}

static int run_show(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_plan_file *plan = NULL;
    int rc;

    if (cli->is_json && ebb_args_has(&cli->args, "limit"))
        return ebb_err_set(err, EBB_EUSAGE, "show: --json gives the whole plan, --limit is for people");
    rc = ebb_cli_open(cli, false, err);
    if (!rc)
        rc = ebb_plan_file_open(ebb_cli_site(cli), ebb_args_word(&cli->args, 0), &plan, err);
    if (!rc)
        rc = cli->is_json ? show_json(cli, ebb_plan_file_path(plan), err) : show_people(cli, plan, err);
    ebb_plan_file_close(plan);
    return rc;
}

const struct ebb_command ebb_command_show = {
    .name = "show",
    .args = "PLAN",
    .summary = "a plan: what it was made of, what would go",
    .about = "PLAN is an id (its beginning is enough) or a file. With --json the lines of the plan file: header, one "
             "line for each "
             "candidate, summary.",
    .arg_min = 1,
    .arg_max = 1,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_show,
};
