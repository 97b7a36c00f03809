/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "front/cli.h"

#define EMIT_BYTES ((size_t)64 << 10)

static int write_all(const char *p, size_t n, struct ebb_err *err)
{
    while (n) {
        ssize_t wrote = write(STDOUT_FILENO, p, n);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            ebb_err_errno(err, wrote < 0 ? errno : EIO, "standard output");
            return ebb_err_as(err, EBB_EIO, NULL);
        }
        p += wrote;
        n -= (size_t)wrote;
    }
    return 0;
}

int ebb_cli_flush(struct ebb_cli *cli, struct ebb_err *err)
{
    int rc = ebb_buf_check(&cli->out, "standard output", err);

    ebb_cli_clear_progress(cli);
    if (!rc)
        rc = write_all(cli->out.data, cli->out.len, err);
    ebb_buf_reset(&cli->out);
    return rc;
}

int ebb_cli_emit(struct ebb_cli *cli, struct ebb_err *err)
{
    if (cli->keeps_out || (cli->out.len < EMIT_BYTES && !cli->out.bad))
        return 0;
    return ebb_cli_flush(cli, err);
}

void ebb_cli_error_json(struct ebb_jsonw *w, const struct ebb_err *err)
{
    const char *class_ = ebb_error_class(err->error);

    ebb_jsonw_key(w, "error");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "code", ebb_error_code(err->error));
    ebb_jsonw_kstr(w, "message", err->message);
    ebb_jsonw_kstr(w, "hint", err->hint[0] ? err->hint : NULL);
    ebb_jsonw_kbool(w, "retryable", err->retryable);
    if (class_[0])
        ebb_jsonw_kstr(w, "class", class_);
    ebb_jsonw_end(w, '}');
}

static void report_json(const struct ebb_err *err, struct ebb_buf *text)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, text);
    ebb_jsonw_begin(&w, '{');
    ebb_cli_error_json(&w, err);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(text, '\n');
}

static void report_text(const struct ebb_err *err, struct ebb_buf *text)
{
    ebb_buf_puts(text, "ebb: ");
    ebb_text_escape(text, err->message, strlen(err->message));
    ebb_buf_putc(text, '\n');
    if (!err->hint[0])
        return;
    ebb_buf_puts(text, "  hint: ");
    ebb_text_escape(text, err->hint, strlen(err->hint));
    ebb_buf_putc(text, '\n');
}

void ebb_cli_report(struct ebb_cli *cli, const struct ebb_err *err)
{
    struct ebb_buf text;

    ebb_cli_clear_progress(cli);
    ebb_buf_init(&text, 65536);
    if (cli->is_json)
        report_json(err, &text);
    else
        report_text(err, &text);
    fputs(ebb_buf_cstr(&text), stderr);
    ebb_buf_fini(&text);
}
