/* SPDX-License-Identifier: Apache-2.0
 *
 * :save :load :capture :more :explain :quit, and the transcript.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "engine/mask.h"
#include "front/print.h"
#include "front/repl_priv.h"
#include "io/file.h"
#include "service/facts.h"

#define ENTRIES_MAX 20000
#define LOAD_DEPTH 8

/* ---- remembering ---- */

char *ebb__repl_plain_copy(const char *text)
{
    size_t n = strnlen(text, EBB__REPL_ENTRY_MAX), to = 0;
    char *copy = malloc(n + 1);

    for (size_t i = 0; copy && i < n; i++) {
        if (text[i] == '\033') {
            while (i < n && text[i] != 'm')
                i++;
            continue;
        }
        copy[to++] = text[i];
    }
    if (copy)
        copy[to] = '\0';
    return copy;
}

static bool is_about_session(const char *input)
{
    static const char *const WORDS[] = {":save", ":load", ":more", ":quit", ":help"};

    while (isspace((unsigned char)*input))
        input++;
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (!strncmp(input, WORDS[i], strlen(WORDS[i])))
            return true;
    return false;
}

int ebb__repl_remember(struct ebb_repl *repl, const char *input, size_t n, const char *output, struct ebb_err *err)
{
    struct ebb__repl_entry *all;

    if (!n || strlen(input) != n || is_about_session(input))
        return 0;
    repl->kept_bytes += n + strnlen(output, EBB__REPL_ENTRY_MAX);
    repl->is_cut = repl->is_cut || repl->entry_count >= ENTRIES_MAX || repl->kept_bytes > EBB__REPL_FILE_MAX / 2;
    if (repl->is_cut)
        return 0;
    all = realloc(repl->entries, (repl->entry_count + 1) * sizeof *all);
    if (!all)
        return ebb_err_nomem(err);
    repl->entries = all;
    all[repl->entry_count].input = strndup(input, n);
    all[repl->entry_count].output = ebb__repl_plain_copy(output);
    if (!all[repl->entry_count].input || !all[repl->entry_count].output) {
        free(all[repl->entry_count].input);
        free(all[repl->entry_count].output);
        return ebb_err_nomem(err);
    }
    repl->entry_count++;
    return 0;
}

/* ---- save ---- */

static int refuse_target(const char *file, const char *what, struct ebb_err *err)
{
    ebb_err_set(err, EBB_EUSAGE, "%s: is there and is no %s; it is not written over", file, what);
    ebb_err_hint(err, "take another name");
    return -(int)EBB_EUSAGE;
}

/* A slip of the keyboard must not cost a file: what is written over is a saved session. */
static int check_target(const char *file, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, EBB__REPL_FILE_MAX);
    rc = ebb_file_read(file, &text, err);
    if (!rc && text.len && strncmp(text.data, EBB__REPL_HEAD, strlen(EBB__REPL_HEAD)))
        rc = refuse_target(file, "saved session", err);
    ebb_buf_fini(&text);
    return rc == -(int)EBB_ENOENT ? 0 : rc;
}

/* The same for a captured table; never one of a table's own files. */
static int check_fixture(const char *file, struct ebb_err *err)
{
    struct ebb_value *facts = NULL;
    int rc;

    if (access(file, F_OK) && errno == ENOENT && ebb_facts_is_fixture(file))
        return 0;
    if (!ebb_facts_is_fixture(file)) {
        ebb_err_set(err, EBB_EUSAGE, ":capture %s: the name of a fixture ends in .json, and not in .metadata.json",
                    file);
        return -(int)EBB_EUSAGE;
    }
    rc = ebb_facts_load(file, NULL, 0, &facts, err);
    ebb_value_free(facts);
    return rc ? refuse_target(file, "captured table", err) : 0;
}

/* Append lines behind prompts (first NULL: as output); gives their number. */
static size_t write_lines(struct ebb_buf *out, const char *text, const char *first, const char *next)
{
    size_t lines = 0;

    while (*text) {
        size_t n = strcspn(text, "\n");
        bool escape = !first && (!strncmp(text, EBB__REPL_FIRST, 4) || !strncmp(text, EBB__REPL_NEXT, 4) ||
                                 *text == '#' || *text == '\\');

        ebb_buf_puts(out, first ? (lines ? next : first) : escape ? "\\" : "");
        ebb_buf_append(out, text, n);
        ebb_buf_putc(out, '\n');
        text += n + (text[n] == '\n');
        lines++;
    }
    return lines;
}

static int run_save(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    struct ebb_buf text;
    size_t lines = 0;
    int rc = check_target(words->items[1], err);

    if (!rc && repl->is_cut)
        rc = ebb_err_set(err, EBB_ELIMIT, ":save: the session is longer than what is remembered of it");
    if (rc)
        return rc;
    ebb_buf_init(&text, EBB__REPL_FILE_MAX);
    ebb_buf_printf(&text, "%s; replay with: ebb repl --load FILE --check\n", EBB__REPL_HEAD);
    ebb_buf_puts(&text, EBB__REPL_CLOCK);
    ebb_print_time(&text, repl->started_ms);
    ebb_buf_putc(&text, '\n');
    for (size_t i = 0; i < repl->entry_count; i++) {
        lines += write_lines(&text, repl->entries[i].input, EBB__REPL_FIRST, EBB__REPL_NEXT);
        write_lines(&text, repl->entries[i].output, NULL, NULL);
    }
    rc = ebb_buf_check(&text, words->items[1], err);
    if (!rc)
        rc = ebb_file_replace(words->items[1], text.data, text.len, err);
    ebb_buf_fini(&text);
    if (rc)
        return rc;
    ebb_buf_printf(ebb__repl_out(repl), "saved %zu lines; replay with: ebb repl --load ", lines);
    ebb_print_shell(ebb__repl_out(repl), words->items[1]);
    ebb_buf_puts(ebb__repl_out(repl), " --check\n");
    return 0;
}

/* ---- the rest ---- */

static int run_load(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    bool differs = false;
    int rc;

    if (repl->load_depth == LOAD_DEPTH)
        return ebb_err_set(err, EBB_ELIMIT, ":load: sessions load each other %d deep", LOAD_DEPTH);
    repl->load_depth++;
    rc = ebb__repl_replay(repl, words->items[1], false, &differs, err);
    repl->load_depth--;
    return rc;
}

/* Facts without members whose names are like those of secrets. Depth is bounded by that of the facts. */
static void copy_open(struct ebb_value *to, const struct ebb_value *from)
{
    for (size_t i = 0; i < ebb_value_get_count(from); i++) {
        struct ebb_str key = ebb_value_get_key(from, i);
        const struct ebb_value *v = ebb_value_get_at(from, i);

        if (ebb_is_secret_name(key))
            continue;
        if (ebb_value_get_kind(v) == EBB_VALUE_MAP)
            copy_open(ebb_value_put_map(to, key.p), v);
        else
            ebb_value_put_copy(to, key.p, v);
    }
}

static int write_facts(const struct ebb_value *facts, const char *file, size_t *n, struct ebb_err *err)
{
    struct ebb_value *open = ebb_value_new_map(NULL);
    struct ebb_buf json;
    int rc;

    ebb_buf_init(&json, EBB__REPL_FILE_MAX);
    copy_open(open, facts);
    ebb_value_put_int(open, "format", EBB_FACTS_FORMAT);
    rc = ebb_value_check(open, file, err);
    if (!rc)
        rc = ebb_value_to_json(open, &json, err);
    ebb_buf_putc(&json, '\n');
    if (!rc)
        rc = ebb_buf_check(&json, file, err);
    if (!rc)
        rc = check_fixture(file, err);
    if (!rc)
        rc = ebb_file_replace(file, json.data, json.len, err);
    *n = json.len;
    ebb_buf_fini(&json);
    ebb_value_free(open);
    return rc;
}

static int run_capture(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const char *file = words->items[words->count - 1];
    const struct ebb_policy *meant = ebb__repl_policy_meant(repl);
    struct ebb_buf *out = ebb__repl_out(repl);
    const struct ebb_value *facts;
    size_t n;
    int rc = ebb__repl_facts(repl, meant ? ebb_policy_get_name(meant) : NULL, &facts, err);

    if (!rc && words->count == 3 && strcmp(words->items[1], ">"))
        rc = ebb_err_set(err, EBB_EUSAGE, ":capture: write :capture > FILE");
    file += file[0] == '>';
    if (!rc)
        rc = write_facts(facts, file, &n, err);
    if (rc)
        return rc;
    ebb_buf_puts(out, "captured ");
    ebb_print_text(out, repl->tables[repl->current].label);
    ebb_buf_printf(out, " as it is in this session: %zu bytes in ", n);
    ebb_print_text(out, file);
    ebb_buf_putc(out, '\n');
    return 0;
}

static int run_more(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    (void)words;
    if (!repl->more.len)
        return ebb_err_set(err, EBB_EUSAGE, ":more: nothing was left out");
    ebb_buf_add_str(ebb__repl_out(repl), ebb_buf_str(&repl->more));
    ebb_buf_reset(&repl->more);
    repl->shows_whole = true;
    return 0;
}

static int run_explain(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const char *args[] = {"explain", words->items[1]};

    return ebb__repl_program(repl, args, 2, err);
}

static int run_quit(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    (void)words;
    (void)err;
    repl->quits = true;
    return 0;
}

const struct ebb__repl_command EBB__REPL_SESSION[] = {
    {"save", "session", "FILE", "write this session; ebb repl --load FILE --check is a test of it", 1, 1,
     EBB__REPL_FILE, run_save},
    {"load", "session", "FILE", "replay a saved session", 1, 1, EBB__REPL_FILE, run_load},
    {"capture", "session", "> FILE", "write the table as it is in this session as a fixture", 1, 2, EBB__REPL_FILE,
     run_capture},
    {"more", "session", "", "what did not fit", 0, 0, EBB__REPL_OTHER, run_more},
    {"explain", "session", "ID", "why a recorded decision, plan or run came out as it did", 1, 1, EBB__REPL_OTHER,
     run_explain},
    {"quit", "session", "", "end; so does Ctrl-D", 0, 0, EBB__REPL_OTHER, run_quit},
    {NULL, NULL, NULL, NULL, 0, 0, EBB__REPL_OTHER, NULL},
};
