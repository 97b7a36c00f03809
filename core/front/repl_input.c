/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the lines of the interactive session come from: a terminal (libedit) or anything else.
 */
#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "front/repl_priv.h"

#define HISTORY_MAX 1000      /* inputs */
#define HISTORY_TEXT_MAX 8192 /* bytes of one */
#define HISTORY_FILE_MAX 4000000
#define POLL_MS 200
#define PIECE 4096
#define COLUMNS_MIN 20
#define ROWS_MIN 3

struct ebb__repl_input {
    struct ebb_repl *repl;
    EditLine *edit; /* NULL: no terminal */
    History *history;
    locale_t locale;
    struct ebb_buf file; /* of the history */
    struct winsize size;
    bool goes_on, was_dropped;
    struct ebb_buf line;
    char piece[PIECE];
    size_t at, end;
    bool is_over, is_dumb; /* dumb: a terminal that can't be written to at will */
};

/* ---- from anything but a terminal ---- */

/* Wait until there is something to read; false when the program is told to stop. */
static bool wait_for_input(struct ebb__repl_input *in)
{
    struct pollfd fd = {STDIN_FILENO, POLLIN, 0};

    while (poll(&fd, 1, POLL_MS) <= 0)
        if (atomic_load(in->repl->cli->cancelled))
            return false;
    return !atomic_load(in->repl->cli->cancelled);
}

static bool fill(struct ebb__repl_input *in)
{
    ssize_t n;

    if (!wait_for_input(in))
        return false;
    do
        n = read(STDIN_FILENO, in->piece, sizeof in->piece);
    while (n < 0 && errno == EINTR);
    in->at = 0;
    in->end = n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* At a terminal an interruption drops the line, elsewhere it ends the session. */
static int end_plain(struct ebb__repl_input *in, struct ebb_err *err)
{
    if (!atomic_load(in->repl->cli->cancelled))
        return ebb_err_set(err, EBB_ENOENT, "input: is at its end");
    if (in->is_dumb && !ebb__repl_is_ended(in->repl) && atomic_exchange(in->repl->cli->cancelled, false))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted");
    in->repl->cli->exit_status = ebb_error_exit(EBB_ECANCELLED);
    return ebb_err_set(err, EBB_ENOENT, "interrupted");
}

static int read_plain(struct ebb__repl_input *in, struct ebb_str *out, struct ebb_err *err)
{
    bool any = false, ends = false;

    ebb_buf_reset(&in->line);
    if (in->is_dumb) {
        fputs(in->goes_on ? EBB__REPL_NEXT : EBB__REPL_FIRST, stdout);
        fflush(stdout);
    }
    while (!ends) {
        const char *stop;
        size_t n;

        if (in->at == in->end && !fill(in))
            break;
        any = true;
        stop = memchr(in->piece + in->at, '\n', in->end - in->at);
        n = (stop ? (size_t)(stop - in->piece) : in->end) - in->at;
        ebb_buf_append(&in->line, in->piece + in->at, n);
        in->at += n + (stop != NULL);
        ends = stop != NULL;
    }
    if (!any || atomic_load(in->repl->cli->cancelled))
        return end_plain(in, err);
    *out = (struct ebb_str){ebb_buf_cstr(&in->line), in->line.len};
    return ebb_buf_check(&in->line, "input", err);
}

/* ---- from a terminal ---- */

static char *prompt(EditLine *edit)
{
    static const char FIRST[] = EBB__REPL_FIRST, NEXT[] = EBB__REPL_NEXT;
    struct ebb__repl_input *in = NULL;

    el_get(edit, EL_CLIENTDATA, &in);
    return (char *)(uintptr_t)(in->goes_on ? NEXT : FIRST);
}

/* Whether libedit can draw on a terminal of this size. */
static bool is_roomy(const struct winsize *size)
{
    return size->ws_col >= COLUMNS_MIN && size->ws_row >= ROWS_MIN;
}

/* Only between lines: libedit loses its place when the size changes under a line. */
static void follow_size(struct ebb__repl_input *in)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !memcmp(&size, &in->size, sizeof size) || !is_roomy(&size))
        return;
    in->size = size;
    el_resize(in->edit);
}

/* Wait for a byte; false when there is none any more, or the program is told to end. */
static bool next_byte(struct ebb__repl_input *in, char *byte)
{
    struct pollfd fd = {STDIN_FILENO, POLLIN, 0};

    for (;;) {
        int ready = poll(&fd, 1, POLL_MS);

        if (ebb__repl_is_ended(in->repl))
            return false;
        atomic_store(in->repl->cli->cancelled, false); /* was meant for what ran before */
        if (ready > 0) {
            ssize_t n = read(STDIN_FILENO, byte, 1);

            if (n == 1)
                return true;
            if (n == 0 || errno != EINTR)
                return false;
        } else if (ready < 0 && errno != EINTR)
            return false;
    }
}

/* One character; bytes that are none become U+FFFD. */
static int get_char(EditLine *edit, wchar_t *out)
{
    struct ebb__repl_input *in = NULL;
    mbstate_t state;
    char byte;

    el_get(edit, EL_CLIENTDATA, &in);
    memset(&state, 0, sizeof state);
    for (;;) {
        size_t n;

        if (!next_byte(in, &byte)) {
            in->is_over = true;
            return 0;
        }
        n = mbrtowc(out, &byte, 1, &state);
        if (n == (size_t)-2)
            continue;
        if (n == (size_t)-1)
            *out = 0xFFFD;
        if (n == 0)
            *out = L'\0';
        return 1;
    }
}

static unsigned char on_interrupt(EditLine *edit, int c)
{
    struct ebb__repl_input *in = NULL;
    const LineInfo *info = el_line(edit);

    (void)c;
    el_get(edit, EL_CLIENTDATA, &in);
    in->was_dropped = true;
    el_cursor(edit, (int)(info->lastchar - info->cursor));
    fputs("^C", stdout);
    return CC_EOF;
}

static unsigned char on_tab(EditLine *edit, int c);

static int read_edited(struct ebb__repl_input *in, struct ebb_str *out, struct ebb_err *err)
{
    const char *line;
    locale_t before;
    int n = 0;

    in->was_dropped = in->is_over = false;
    before = uselocale(in->locale);
    follow_size(in);
    line = el_gets(in->edit, &n);
    uselocale(before);
    if (in->was_dropped) {
        fputs("\n", stdout);
        fflush(stdout);
        el_reset(in->edit);
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted");
    }
    if (!line || n <= 0 || in->is_over) {
        if (ebb__repl_is_ended(in->repl))
            in->repl->cli->exit_status = ebb_error_exit(EBB_ECANCELLED);
        fputs("\n", stdout);
        fflush(stdout);
        return ebb_err_set(err, EBB_ENOENT, "input: is at its end");
    }
    if (line[n - 1] == '\n')
        n--;
    *out = (struct ebb_str){line, (size_t)n};
    return (size_t)n > EBB__REPL_LINE_MAX
               ? ebb_err_set(err, EBB_ELIMIT, "input: longer than %zu bytes", EBB__REPL_LINE_MAX)
               : 0;
}

int ebb__repl_input_read(struct ebb__repl_input *in, bool goes_on, struct ebb_str *out, struct ebb_err *err)
{
    in->goes_on = goes_on;
    return in->edit ? read_edited(in, out, err) : read_plain(in, out, err);
}

/* ---- completion ---- */

static void say_candidates(const struct ebb_strs *found)
{
    fputs("\n", stdout);
    for (size_t i = 0; i < found->count && i < 60; i++)
        fprintf(stdout, "%s%s", i ? "  " : "", found->items[i]);
    fputs(found->count > 60 ? "  …\n" : "\n", stdout);
}

static size_t common_length(const struct ebb_strs *found)
{
    size_t n = found->count ? strlen(found->items[0]) : 0;

    for (size_t i = 1; i < found->count; i++) {
        size_t k = 0;

        while (k < n && found->items[i][k] == found->items[0][k])
            k++;
        n = k;
    }
    return n;
}

static bool is_command(const LineInfo *info)
{
    const char *p = info->buffer;

    while (p < info->lastchar && *p == ' ')
        p++;
    return p < info->lastchar && *p == ':';
}

static unsigned char on_tab(EditLine *edit, int c)
{
    struct ebb__repl_input *in = NULL;
    const LineInfo *info = el_line(edit);
    size_t n = (size_t)(info->cursor - info->buffer), start = n, common;
    unsigned char result = CC_REFRESH_BEEP;
    struct ebb_strs found;

    (void)c;
    el_get(edit, EL_CLIENTDATA, &in);
    ebb_strs_init(&found);
    if (!ebb__repl_complete(in->repl, info->buffer, n, &start, &found) && found.count) {
        common = common_length(&found);
        if (common > n - start) {
            char *text = strndup(found.items[0], common);

            if (text && !el_insertstr(edit, text + (n - start)))
                result = CC_REFRESH;
            free(text);
        } else if (found.count > 1) {
            say_candidates(&found);
            result = CC_REDISPLAY;
        }
        if (found.count == 1 && is_command(info) && found.items[0][common - 1] != '/') {
            el_insertstr(edit, " ");
            result = CC_REFRESH;
        }
    }
    ebb_strs_fini(&found);
    return result;
}

/* ---- history ---- */

static void history_path(struct ebb__repl_input *in)
{
    const char *dir = ebb_args_get(&in->repl->cli->args, "state"), *xdg = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    if (dir)
        ebb_buf_printf(&in->file, "%s/history", dir);
    else if (xdg && xdg[0] == '/')
        ebb_buf_printf(&in->file, "%s/ebb/history", xdg);
    else if (home && home[0] == '/')
        ebb_buf_printf(&in->file, "%s/.local/state/ebb/history", home);
}

/* Only a regular file of bounded size is read. */
static void load_history(struct ebb__repl_input *in)
{
    struct stat st;
    HistEvent event;

    if (in->file.len && !stat(ebb_buf_cstr(&in->file), &st) && S_ISREG(st.st_mode) && st.st_size < HISTORY_FILE_MAX)
        history(in->history, &event, H_LOAD, ebb_buf_cstr(&in->file));
}

/* Beside it and then in its place, readable for its owner alone. */
static void save_history(struct ebb__repl_input *in)
{
    char name[4200];
    HistEvent event;
    FILE *file;
    int fd, saved;

    if (!in->file.len ||
        snprintf(name, sizeof name, "%s.new-%ld", ebb_buf_cstr(&in->file), (long)getpid()) >= (int)sizeof name)
        return;
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        if (fd >= 0)
            close(fd);
        return;
    }
    saved = history(in->history, &event, H_SAVE_FP, file);
    if (fclose(file) || saved < 0 || rename(name, ebb_buf_cstr(&in->file)))
        unlink(name);
}

void ebb__repl_input_add(struct ebb__repl_input *in, const char *text)
{
    HistEvent event;
    locale_t before;

    if (!in->history || !text[0] || strlen(text) > HISTORY_TEXT_MAX)
        return;
    before = uselocale(in->locale);
    history(in->history, &event, H_ENTER, text);
    uselocale(before);
}

/* ---- both ---- */

static int open_edit(struct ebb__repl_input *in, struct ebb_err *err)
{
    HistEvent event;

    in->history = history_init();
    in->edit = el_init("ebb", stdin, stdout, stderr);
    if (!in->history || !in->edit)
        return ebb_err_nomem(err);
    history(in->history, &event, H_SETSIZE, HISTORY_MAX);
    history(in->history, &event, H_SETUNIQUE, 1);
    el_set(in->edit, EL_CLIENTDATA, in);
    el_set(in->edit, EL_PROMPT, prompt);
    el_set(in->edit, EL_EDITOR, "emacs");
    el_set(in->edit, EL_HIST, history, in->history);
    el_set(in->edit, EL_GETCFN, get_char);
    el_wset(in->edit, EL_ADDFN, L"ebb-interrupt", L"Drop the line", on_interrupt);
    el_wset(in->edit, EL_ADDFN, L"ebb-complete", L"Complete the word", on_tab);
    el_set(in->edit, EL_BIND, "^C", "ebb-interrupt", NULL);
    el_set(in->edit, EL_BIND, "^I", "ebb-complete", NULL);
    el_set(in->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(in->edit, EL_SETTY, "-d", "-isig", NULL);
    el_set(in->edit, EL_SETTY, "-d", "-ixon", NULL);
    history_path(in);
    load_history(in);
    return 0;
}

int ebb__repl_input_open(struct ebb_repl *repl, struct ebb__repl_input **out, struct ebb_err *err)
{
    struct ebb__repl_input *in = calloc(1, sizeof *in);
    const char *term = getenv("TERM");
    locale_t before;
    int rc = 0;

    if (!in)
        return ebb_err_nomem(err);
    in->repl = repl;
    ebb_buf_init(&in->line, EBB__REPL_LINE_MAX);
    ebb_buf_init(&in->file, 4096);
    in->is_dumb = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (in->is_dumb && term && strcmp(term, "dumb") && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &in->size) &&
        (is_roomy(&in->size) || !in->size.ws_col)) {
        in->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
        before = in->locale ? uselocale(in->locale) : (locale_t)0;
        rc = in->locale ? open_edit(in, err) : ebb_err_nomem(err);
        if (in->locale)
            uselocale(before);
    }
    if (rc) {
        ebb__repl_input_close(in);
        in = NULL;
    }
    *out = in;
    return rc;
}

void ebb__repl_input_close(struct ebb__repl_input *in)
{
    locale_t before = (locale_t)0;

    if (!in)
        return;
    if (in->locale)
        before = uselocale(in->locale);
    if (in->history && in->edit)
        save_history(in);
    if (in->edit)
        el_end(in->edit);
    if (in->history)
        history_end(in->history);
    if (in->locale) {
        uselocale(before);
        freelocale(in->locale);
    }
    ebb_buf_fini(&in->file);
    ebb_buf_fini(&in->line);
    free(in);
}
