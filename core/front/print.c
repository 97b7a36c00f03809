/* SPDX-License-Identifier: Apache-2.0 */
#include "front/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"

#define NAME_COLUMN 18
#define NOTES_MAX 20

void ebb_print_count(struct ebb_buf *out, int64_t n)
{
    char digits[32];
    int count = snprintf(digits, sizeof digits, "%" PRId64, n);

    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0 && digits[i - 1] != '-')
            ebb_buf_putc(out, ',');
        ebb_buf_putc(out, digits[i]);
    }
}

void ebb_print_files(struct ebb_buf *out, int64_t count, uint64_t bytes)
{
    ebb_print_count(out, count);
    ebb_buf_puts(out, count == 1 ? " file, " : " files, ");
    ebb_text_size(out, bytes);
}

void ebb_print_text(struct ebb_buf *out, const char *text)
{
    if (text)
        ebb_text_escape(out, text, strlen(text));
}

void ebb_print_time(struct ebb_buf *out, int64_t ms)
{
    ebb_time_iso(out, ms);
}

static bool is_start(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

void ebb_print_pad(struct ebb_buf *out, size_t start, size_t column)
{
    size_t n = 0;

    for (size_t i = start; i < out->len; i++)
        n += is_start(out->data[i]);
    do
        ebb_buf_putc(out, ' ');
    while (++n < column);
}

void ebb_print_name(struct ebb_buf *out, const char *name)
{
    size_t start = out->len;

    ebb_buf_puts(out, "  ");
    ebb_buf_puts(out, name);
    ebb_print_pad(out, start, NAME_COLUMN);
}

void ebb_print_field(struct ebb_buf *out, const char *name, const char *text)
{
    ebb_print_name(out, name);
    ebb_print_text(out, text);
    ebb_buf_putc(out, '\n');
}

void ebb_print_count_field(struct ebb_buf *out, const char *name, int64_t n)
{
    ebb_print_name(out, name);
    ebb_print_count(out, n);
    ebb_buf_putc(out, '\n');
}

void ebb_print_word(struct ebb_cli *cli, enum ebb_print_colour colour, const char *word)
{
    if (cli->has_colour)
        ebb_buf_printf(&cli->out, "\033[%dm", (int)colour);
    ebb_print_text(&cli->out, word);
    if (cli->has_colour)
        ebb_buf_puts(&cli->out, "\033[0m");
}

void ebb_print_shell(struct ebb_buf *out, const char *arg)
{
    static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,%+@";
    size_t n = strlen(arg);

    if (n > 0 && strspn(arg, SAFE) == n) {
        ebb_buf_puts(out, arg);
        return;
    }
    ebb_buf_putc(out, '\'');
    while (*arg) {
        size_t part = strcspn(arg, "'\\");

        ebb_text_escape(out, arg, part);
        arg += part;
        if (*arg)
            ebb_buf_puts(out, *arg++ == '\'' ? "'\\''" : "\\");
    }
    ebb_buf_putc(out, '\'');
}

/* Whether a shell that is told `ebb` runs this very program. */
static bool is_on_path(const struct stat *self)
{
    const char *path = getenv("PATH");
    char name[4096];
    struct stat st;

    while (path && *path) {
        size_t n = strcspn(path, ":");

        if (n && snprintf(name, sizeof name, "%.*s/ebb", (int)n, path) < (int)sizeof name && !access(name, X_OK) &&
            !stat(name, &st))
            return st.st_dev == self->st_dev && st.st_ino == self->st_ino;
        path += n + (path[n] == ':');
    }
    return false;
}

void ebb_print_self(struct ebb_buf *out)
{
    char exe[4096];
    struct stat self;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

    if (n <= 0 || stat("/proc/self/exe", &self) || is_on_path(&self)) {
        ebb_buf_puts(out, "ebb");
        return;
    }
    exe[n] = '\0';
    ebb_print_shell(out, exe);
}

void ebb_print_program(struct ebb_cli *cli, struct ebb_buf *out)
{
    static const char *const AGAIN[] = {"config", "state"};

    ebb_print_self(out);
    for (size_t i = 0; i < 2; i++)
        if (ebb_args_has(&cli->args, AGAIN[i])) {
            ebb_buf_printf(out, " --%s ", AGAIN[i]);
            ebb_print_shell(out, ebb_args_get(&cli->args, AGAIN[i]));
        }
}

void ebb_print_strs_json(struct ebb_jsonw *w, const char *key, const struct ebb_strs *list)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < list->count; i++)
        ebb_jsonw_str(w, list->items[i]);
    ebb_jsonw_end(w, ']');
}

void ebb_print_notes(struct ebb_buf *out, const char *name, const struct ebb_file_notes *notes)
{
    for (size_t i = 0; i < notes->count && i < NOTES_MAX; i++) {
        ebb_print_name(out, name);
        ebb_print_text(out, notes->items[i].path);
        ebb_buf_puts(out, ": ");
        ebb_print_text(out, notes->items[i].why);
        ebb_buf_putc(out, '\n');
    }
    if (notes->count > NOTES_MAX) {
        ebb_print_name(out, "");
        ebb_buf_printf(out, "and %zu more\n", notes->count - NOTES_MAX);
    }
}
