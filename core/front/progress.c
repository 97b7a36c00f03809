/* SPDX-License-Identifier: Apache-2.0 */
#include "front/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "front/cli.h"

#define LINE_EVERY_MS 100
#define JSON_EVERY_MS 1000
#define RATE_AFTER_MS 1000

/* For intervals only: a wall clock may jump. */
static int64_t ticks_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void write_json(const struct ebb_progress *p)
{
    struct ebb_buf text;
    struct ebb_jsonw w;

    ebb_buf_init(&text, 4096);
    ebb_jsonw_init(&w, &text);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_key(&w, "progress");
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "phase", p->phase);
    ebb_jsonw_kint(&w, "done", p->done);
    if (p->total > 0)
        ebb_jsonw_kint(&w, "total", p->total);
    ebb_jsonw_end(&w, '}');
    ebb_jsonw_end(&w, '}');
    fprintf(stderr, "%s\n", ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static void write_line(const struct ebb_progress *p, int64_t spent_ms)
{
    fprintf(stderr, "\r\033[K%s: %" PRId64, p->phase, p->done);
    if (p->total > 0)
        fprintf(stderr, " of %" PRId64, p->total);
    if (spent_ms >= RATE_AFTER_MS && p->done > 0) {
        double per_s = (double)p->done * 1000 / (double)spent_ms;

        fprintf(stderr, ", %.0f/s", per_s);
        if (p->total > p->done)
            fprintf(stderr, ", about %.0f s left", (double)(p->total - p->done) / per_s);
    }
    fflush(stderr);
}

void ebb_progress_show(void *data, const struct ebb_progress *progress)
{
    struct ebb_cli *cli = data;
    bool is_json = cli->progress == EBB_PROGRESS_JSON;
    int64_t now;

    if (cli->progress == EBB_PROGRESS_NONE || (!is_json && (cli->is_json || !isatty(STDERR_FILENO))))
        return;
    now = ticks_ms();
    if (!cli->phase || strcmp(cli->phase, progress->phase)) {
        cli->phase = progress->phase;
        cli->phase_ms = now;
    } else if (now - cli->line_ms < (is_json ? JSON_EVERY_MS : LINE_EVERY_MS)) {
        return;
    }
    cli->line_ms = now;
    if (is_json) {
        write_json(progress);
        return;
    }
    write_line(progress, now - cli->phase_ms);
    cli->has_line = true;
}

void ebb_cli_clear_progress(struct ebb_cli *cli)
{
    if (cli->has_line)
        fputs("\r\033[K", stderr);
    cli->has_line = false;
}
