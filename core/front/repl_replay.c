/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaying a saved session, and comparing what comes out with what was saved.
 */
#include <ctype.h>
#include <stdlib.h>

#include "base/time.h"
#include "front/print.h"
#include "front/repl_priv.h"
#include "io/file.h"

struct replay {
    struct ebb_repl *repl;
    const char *file;
    bool check, *differs;
    struct ebb_buf input, wanted, shown;
    size_t line, input_line;
};

/* What may differ between two runs: ids, and how long something took. */
static void write_comparable(struct ebb_buf *out, const char *line, size_t n)
{
    bool is_gas = n > 4 && !memcmp(line, "gas ", 4);

    for (size_t i = 0; i < n; i++) {
        bool starts = i == 0 || !isalnum((unsigned char)line[i - 1]);

        if (starts && i + 10 < n && strchr("dpr", line[i]) && line[i + 1] == '-' &&
            isdigit((unsigned char)line[i + 2])) {
            ebb_buf_append(out, line + i, 2);
            ebb_buf_putc(out, '*');
            while (i + 1 < n && (isalnum((unsigned char)line[i + 1]) || line[i + 1] == '-'))
                i++;
        } else if (starts && isdigit((unsigned char)line[i])) {
            size_t end = i;

            while (end < n && (isdigit((unsigned char)line[end]) || line[end] == '.'))
                end++;
            if (is_gas || (end + 2 < n && (!memcmp(line + end, " ms", 3) || !memcmp(line + end, " us", 3))))
                ebb_buf_putc(out, '*');
            else
                ebb_buf_append(out, line + i, end - i);
            i = end - 1;
        } else {
            ebb_buf_putc(out, line[i]);
        }
    }
    ebb_buf_putc(out, '\n');
}

static bool is_same_line(const char *a, size_t an, const char *b, size_t bn)
{
    struct ebb_buf x, y;
    bool same;

    ebb_buf_init(&x, EBB__REPL_ENTRY_MAX * 2);
    ebb_buf_init(&y, EBB__REPL_ENTRY_MAX * 2);
    write_comparable(&x, a, an);
    write_comparable(&y, b, bn);
    same = !x.bad && !y.bad && ebb_str_is_equal(ebb_buf_str(&x), ebb_buf_str(&y));
    ebb_buf_fini(&x);
    ebb_buf_fini(&y);
    return same;
}

static bool is_same(const char *a, const char *b)
{
    while (*a && *b) {
        size_t an = strcspn(a, "\n"), bn = strcspn(b, "\n");

        if (!is_same_line(a, an, b, bn))
            return false;
        a += an + (a[an] == '\n');
        b += bn + (b[bn] == '\n');
    }
    return !*a && !*b;
}

/* Part of a file for the terminal: control characters are escaped, backslashes stay as they are. */
static void say_part(struct ebb_buf *out, const char *text, size_t n)
{
    while (n) {
        const char *slash = memchr(text, '\\', n);
        size_t part = slash ? (size_t)(slash - text) : n;

        ebb_text_escape(out, text, part);
        ebb_buf_puts(out, slash ? "\\" : "");
        text += part + (slash != NULL);
        n -= part + (slash != NULL);
    }
}

/* Its lines behind a mark: first, then next. */
static void say_marked(struct ebb_buf *out, const char *first, const char *next, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        ebb_buf_puts(out, first);
        say_part(out, text, n);
        ebb_buf_putc(out, '\n');
        text += n + (text[n] == '\n');
        first = next;
    }
}

static int judge(struct replay *r, const char *output)
{
    struct ebb_buf *out = ebb__repl_out(r->repl);
    char *plain = ebb__repl_plain_copy(output);

    if (!plain)
        return -(int)EBB_ENOMEM;
    if (!is_same(ebb_buf_cstr(&r->wanted), plain)) {
        *r->differs = true;
        ebb_print_text(&r->shown, r->file);
        ebb_buf_printf(&r->shown, ":%zu: ", r->input_line);
        say_part(&r->shown, ebb_buf_cstr(&r->input), strcspn(ebb_buf_cstr(&r->input), "\n"));
        ebb_buf_putc(&r->shown, '\n');
        say_marked(&r->shown, "-", "-", ebb_buf_cstr(&r->wanted));
        say_marked(&r->shown, "+", "+", plain);
    }
    free(plain);
    ebb_buf_reset(out);
    return ebb_buf_check(&r->shown, r->file, NULL);
}

/* Run what was gathered. */
static int play(struct replay *r, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(r->repl);
    bool incomplete = false;
    int rc;

    if (!r->input.len || r->repl->quits)
        return 0;
    rc = ebb__repl_run(r->repl, ebb_buf_cstr(&r->input), r->input.len, &incomplete, err);
    if (!rc && incomplete)
        ebb_buf_puts(out, "error: the input ends within a block\n");
    if (!rc)
        rc = ebb__repl_remember(r->repl, ebb_buf_cstr(&r->input), r->input.len, ebb_buf_cstr(out), err);
    if (!rc && r->check) {
        rc = judge(r, ebb_buf_cstr(out));
        rc = rc ? ebb_err_nomem(err) : 0;
    } else if (!rc) {
        say_marked(&r->shown, EBB__REPL_FIRST, EBB__REPL_NEXT, ebb_buf_cstr(&r->input));
        ebb_buf_add_str(&r->shown, ebb_buf_str(out));
        ebb_buf_reset(out);
    }
    ebb_buf_reset(&r->input);
    ebb_buf_reset(&r->wanted);
    return rc;
}

static int set_clock(struct replay *r, const char *text, size_t n, struct ebb_err *err)
{
    char instant[64];
    int64_t at;
    int rc = 0;

    if (n >= sizeof instant || r->repl->entry_count)
        return 0; /* a session that has begun keeps its clock */
    memcpy(instant, text, n);
    instant[n] = '\0';
    rc = ebb_time_parse(instant, NULL, &at, err);
    if (!rc)
        rc = ebb_session_at(r->repl->session, at, err);
    if (!rc)
        r->repl->started_ms = at;
    return rc;
}

static int no_session(const struct replay *r, struct ebb_err *err)
{
    ebb_err_set(err, EBB_EUSAGE, "%s:%zu: is no saved session: a line that begins with \"%s\" is wanted", r->file,
                r->line, EBB__REPL_FIRST);
    ebb_err_hint(err, "make one with :save FILE");
    return -(int)EBB_EUSAGE;
}

static int take_line(struct replay *r, const char *line, size_t n, struct ebb_err *err)
{
    int rc = 0;

    r->line++;
    if (n >= 4 && !memcmp(line, EBB__REPL_FIRST, 4)) {
        rc = play(r, err);
        r->input_line = r->line;
        ebb_buf_append(&r->input, line + (n > 4 ? 5 : 4), n > 4 ? n - 5 : 0);
    } else if (n >= 4 && !memcmp(line, EBB__REPL_NEXT, 4)) {
        ebb_buf_putc(&r->input, '\n');
        ebb_buf_append(&r->input, line + (n > 4 ? 5 : 4), n > 4 ? n - 5 : 0);
    } else if (n && line[0] == '#') {
        if (n > sizeof EBB__REPL_CLOCK - 1 && !memcmp(line, EBB__REPL_CLOCK, sizeof EBB__REPL_CLOCK - 1))
            rc = set_clock(r, line + sizeof EBB__REPL_CLOCK - 1, n - (sizeof EBB__REPL_CLOCK - 1), err);
    } else if (!r->input_line) {
        return n ? no_session(r, err) : 0;
    } else {
        size_t skip = n && line[0] == '\\';

        ebb_buf_append(&r->wanted, line + skip, n - skip);
        ebb_buf_putc(&r->wanted, '\n');
    }
    return rc ? rc : ebb_buf_check(&r->input, r->file, err);
}

static int play_all(struct replay *r, const char *text, size_t n, struct ebb_err *err)
{
    size_t at = 0;
    int rc = 0;

    while (!rc && at < n) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end ? (size_t)(end - text) - at : n - at;

        rc = take_line(r, text + at, length, err);
        at += length + 1;
    }
    if (!rc && !r->input_line)
        rc = no_session(r, err);
    return rc ? rc : play(r, err);
}

int ebb__repl_replay(struct ebb_repl *repl, const char *file, bool check, bool *differs, struct ebb_err *err)
{
    struct replay r = {.repl = repl, .file = file, .check = check, .differs = differs};
    struct ebb_buf text, before;
    int rc;

    ebb_buf_init(&text, EBB__REPL_FILE_MAX);
    ebb_buf_init(&r.input, EBB__REPL_LINE_MAX);
    ebb_buf_init(&r.wanted, EBB__REPL_FILE_MAX);
    ebb_buf_init(&r.shown, EBB__REPL_FILE_MAX * 2);
    before = *ebb__repl_out(repl);
    ebb_buf_init(ebb__repl_out(repl), before.max);
    rc = ebb_file_read(file, &text, err);
    if (!rc)
        rc = play_all(&r, ebb_buf_cstr(&text), text.len, err);
    ebb_buf_fini(ebb__repl_out(repl));
    *ebb__repl_out(repl) = before;
    ebb_buf_add_str(ebb__repl_out(repl), ebb_buf_str(&r.shown));
    ebb_buf_fini(&r.shown);
    ebb_buf_fini(&r.wanted);
    ebb_buf_fini(&r.input);
    ebb_buf_fini(&text);
    return rc;
}
