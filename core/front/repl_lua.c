/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines that are Lua.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/time.h"
#include "front/print.h"
#include "front/repl_priv.h"

void ebb__repl_say_gas(struct ebb_buf *out, int64_t gas)
{
    ebb_buf_puts(out, "gas ");
    ebb__repl_say_count(out, gas);
    ebb_buf_puts(out, " of ");
    ebb__repl_say_count(out, EBB_DECIDE_GAS);
    ebb_buf_putc(out, '\n');
}

static struct ebb_str line_of(struct ebb_str source, int line)
{
    const char *end;

    for (; line > 1 && (end = memchr(source.p, '\n', source.n)); line--) {
        source.n -= (size_t)(end + 1 - source.p);
        source.p = end + 1;
    }
    end = memchr(source.p, '\n', source.n);
    return (struct ebb_str){source.p, end ? (size_t)(end - source.p) : source.n};
}

/* The message behind "input:1: ". */
static const char *reason_of(const char *message)
{
    const char *p = strncmp(message, "input:", 6) ? NULL : strstr(message, ": ");

    return p ? p + 2 : message;
}

static void say_syntax(struct ebb_repl *repl, struct ebb_str source, const struct ebb_console_result *r,
                       const struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl);
    struct ebb_str line = line_of(source, r->line);
    size_t start, column = (size_t)r->column;

    ebb_buf_printf(out, "syntax error, line %d", r->line);
    if (column)
        ebb_buf_printf(out, ", column %d", r->column);
    ebb_buf_puts(out, ": ");
    ebb_print_text(out, reason_of(err->message));
    ebb_buf_puts(out, "\n  ");
    ebb_text_escape(out, line.p, line.n);
    ebb_buf_putc(out, '\n');
    if (!column || column > line.n)
        return;
    start = out->len;
    ebb_buf_puts(out, "  ");
    ebb_text_escape(out, line.p, column - 1);
    for (size_t i = start, n = out->len; i < n && !out->bad; i++)
        out->data[i] = ((unsigned char)out->data[i] & 0xC0) == 0x80 ? '\1' : ' ';
    for (size_t i = start; i < out->len && !out->bad;)
        if (out->data[i] == '\1')
            memmove(out->data + i, out->data + i + 1, out->len-- - i);
        else
            i++;
    ebb_buf_puts(out, "^\n");
}

static void say_abort(struct ebb_repl *repl, const struct ebb_console_result *r, const struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl);

    if (err->error == EBB_EPOLICY_GAS) {
        ebb_buf_puts(out, "aborted: gas ");
        ebb__repl_say_count(out, EBB_DECIDE_GAS);
        ebb_buf_puts(out, " used up");
    } else {
        ebb_buf_puts(out, "aborted: ");
        ebb_print_text(out, reason_of(err->message));
    }
    ebb_buf_printf(out, " in %" PRId64 " ms.  session unchanged\n", r->cpu_ms);
}

static bool is_abort(const struct ebb_err *err)
{
    return err->error == EBB_EPOLICY_GAS || err->error == EBB_EPOLICY_MEMORY || err->error == EBB_EPOLICY_DEADLINE;
}

int ebb__repl_lua(struct ebb_repl *repl, struct ebb_str source, bool *incomplete, struct ebb_err *err)
{
    const struct ebb_policy *policy = ebb__repl_policy_meant(repl);
    struct ebb_buf *out = ebb__repl_out(repl);
    struct ebb_console_result r;
    struct ebb_decide_input input;
    int rc = ebb__repl_decide_input(repl, policy, &input, err);

    if (rc)
        return rc;
    ebb_console_result_init(&r);
    rc = ebb_console_run(policy, &input, source, &r, err);
    *incomplete = rc && r.is_incomplete;
    repl->gas = r.gas;
    if (!*incomplete)
        ebb_buf_add_str(out, ebb_buf_str(&r.out));
    if (!rc && !r.is_expression)
        ebb__repl_say_gas(out, r.gas);
    if (*incomplete) {
        rc = 0;
    } else if (rc && r.line) {
        say_syntax(repl, source, &r, err);
        rc = 0;
    } else if (rc && is_abort(err)) {
        say_abort(repl, &r, err);
        rc = 0;
    }
    ebb_console_result_fini(&r);
    return rc;
}

/* ---- values of commands ---- */

static bool read_units(const char *text, int64_t *out)
{
    uint64_t size;

    if (!ebb_duration_parse(text, out, NULL) || !ebb_time_parse(text, NULL, out, NULL))
        return true;
    if (ebb_size_parse(text, &size, NULL) || size > INT64_MAX)
        return false;
    *out = (int64_t)size;
    return true;
}

int ebb__repl_value(struct ebb_repl *repl, const char *text, bool units, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_decide_input input;
    int rc = ebb__repl_decide_input(repl, NULL, &input, err);
    int64_t n;

    *out = NULL;
    if (!rc)
        rc = ebb_console_value(NULL, &input, ebb_str_of(text), out, err);
    if (rc != -(int)EBB_EPOLICY_ERROR)
        return rc;
    *out = ebb_value_new_map(NULL);
    if (units && read_units(text, &n))
        ebb_value_put_int(*out, "value", n);
    else
        ebb_value_put_str(*out, "value", text);
    rc = ebb_value_check(*out, "value", err);
    if (rc) {
        ebb_value_free(*out);
        *out = NULL;
    }
    return rc;
}
