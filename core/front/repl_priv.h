/* SPDX-License-Identifier: Apache-2.0
 *
 * The interactive session (`ebb repl`), shared by the repl*.c files: its world (policies, tables, virtual clock), its
 * commands, its input and what it shows. Nothing here reaches a table: all that changes is in memory. One thread.
 */
#ifndef EBB_FRONT_REPL_PRIV_H
#define EBB_FRONT_REPL_PRIV_H

#include "engine/console.h"
#include "front/cli.h"
#include "service/session.h"

#define EBB__REPL_NONE SIZE_MAX
#define EBB__REPL_LINE_MAX ((size_t)128 << 10) /* bytes of one input, with all its lines */
#define EBB__REPL_WORDS_MAX 64

/* A table that was used: facts of a fixture, or of a real table as they were then. */
struct ebb__repl_table {
    char *label;  /* "catalog.namespace.name" */
    char *opened; /* as it was asked for */
    bool is_fixture;
    size_t index; /* in the session */
};

/* One input and what came of it. */
struct ebb__repl_entry {
    char *input, *output;
};

/* The policies that loaded. */
struct ebb__repl_bundle {
    struct ebb_policy **items;
    size_t count;
    size_t error_count;
    char hash[16]; /* "sha256:9f2c41" */
};
struct ebb__repl_input;

/* The latest decision of a policy on a table, as its record (JSON). */
struct ebb__repl_told {
    char policy[64];
    size_t table; /* in the session */
    char *record;
};

struct ebb_repl {
    struct ebb_cli *cli;
    struct ebb_session *session;
    struct ebb__repl_bundle *bundle;
    struct ebb__repl_table *tables;
    size_t table_count, current; /* EBB__REPL_NONE: no table is used */
    char policy[64];             /* the one spoken of last, or "" */
    struct ebb__repl_entry *entries;
    size_t entry_count, kept_bytes;
    bool is_cut; /* the transcript lacks something */
    struct ebb__repl_told *told;
    size_t told_count;
    int64_t started_ms;      /* clock of the session when it began */
    struct ebb_buf more;     /* what is still to be shown */
    bool is_terminal;        /* standard output is one */
    bool quits, shows_whole; /* whole: lines are not cut this time */
    bool is_checked;         /* a saved session is loaded: what it begins with is in it */
    int load_depth;
    int64_t gas; /* of the last evaluation; -1 none */
    int decided; /* decisions told since it was set to 0 */
    int64_t day; /* (UTC) on which a step began: instants of that day are told without it */
};

struct ebb__repl_words {
    const char *items[EBB__REPL_WORDS_MAX];
    size_t count;
    char *kept;
    const char *rest; /* of the line, behind the command's name */
    const char *last; /* of the line, behind the second word */
};

/* What TAB offers as arguments. */
enum ebb__repl_kind {
    EBB__REPL_OTHER,
    EBB__REPL_TABLE,
    EBB__REPL_POLICY,
    EBB__REPL_FILE,
    EBB__REPL_PATH,
    EBB__REPL_COMMAND
};

struct ebb__repl_command {
    const char *name, *group, *args, *help;
    size_t min, max; /* words */
    enum ebb__repl_kind kind;
    int (*run)(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err);
};
/* Lists of a group, NULL name at the end. */
extern const struct ebb__repl_command EBB__REPL_LOOK[], EBB__REPL_DECIDE[], EBB__REPL_TIME[], EBB__REPL_CHANGE[],
    EBB__REPL_CHECK[], EBB__REPL_SESSION[];

/* Commands (repl_commands.c). Run one input (a command or a chunk of Lua) and append what it says to the output; errors
 * are said too. *incomplete: more lines must come, nothing was said. EBB_ENOMEM, EBB_EIO. */
int ebb__repl_run(struct ebb_repl *repl, const char *input, size_t n, bool *incomplete, struct ebb_err *err);
/* Whether the program was told to end, not merely interrupted. */
bool ebb__repl_is_ended(const struct ebb_repl *repl);
/* Every command in order; NULL past the end. */
const struct ebb__repl_command *ebb__repl_command_at(size_t index);
/* Run a command of the program with these arguments (the first is its name) and append its output. */
int ebb__repl_program(struct ebb_repl *repl, const char *const *args, size_t count, struct ebb_err *err);
/* :stats :parts :history :events (repl_facts.c). */
int ebb__repl_stats(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err);
int ebb__repl_parts(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err);
int ebb__repl_history(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err);
int ebb__repl_events(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err);
/* Lua (repl_lua.c). */
int ebb__repl_lua(struct ebb_repl *repl, struct ebb_str source, bool *incomplete, struct ebb_err *err);
/* "gas 412 of 2 000 000" */
void ebb__repl_say_gas(struct ebb_buf *out, int64_t gas);
/* The value of an expression as a map with "value"; what is no Lua counts as a text; with units also as an instant, a
 * duration, a size. */
int ebb__repl_value(struct ebb_repl *repl, const char *text, bool units, struct ebb_value **out, struct ebb_err *err);
void ebb__repl_say_error(struct ebb_repl *repl, const struct ebb_err *err);

/* Policies (repl_bundle.c). Load all of the folder; what is wrong with those that do not load is said. */
int ebb__repl_bundle_load(struct ebb_repl *repl, struct ebb__repl_bundle **out, struct ebb_err *err);
void ebb__repl_bundle_free(struct ebb__repl_bundle *bundle);
const struct ebb_policy *ebb__repl_bundle_find(const struct ebb__repl_bundle *bundle, const char *name);

/* World (repl_world.c). */
int ebb__repl_open(struct ebb_repl *repl, struct ebb_err *err);
void ebb__repl_close(struct ebb_repl *repl);
/* Load the policies again; diagnostics are said. Nothing changes unless all are good. */
int ebb__repl_reload(struct ebb_repl *repl, struct ebb_err *err);
size_t ebb__repl_policy_count(const struct ebb_repl *repl);
const struct ebb_policy *ebb__repl_policy_at(const struct ebb_repl *repl, size_t index);
/* Errors of the policies that did not load. */
size_t ebb__repl_error_count(const struct ebb_repl *repl);
/* "sha256:9f2c41", of all policies together. */
const char *ebb__repl_hash(const struct ebb_repl *repl);
/* Take a table (name, path or fixture) into the session, or the one that is there already. */
int ebb__repl_use(struct ebb_repl *repl, const char *name, struct ebb_err *err);
/* The table in use; EBB_EUSAGE without one. */
int ebb__repl_table(struct ebb_repl *repl, const struct ebb__repl_table **out, struct ebb_err *err);
/* The policy of this name, or (NULL) the one meant: spoken of last, or the only one of the table. It becomes the one
 * spoken of. EBB_ENOT_FOUND, EBB_EUSAGE. */
int ebb__repl_policy(struct ebb_repl *repl, const char *name, const struct ebb_policy **out, struct ebb_err *err);
/* The one meant, or NULL. */
const struct ebb_policy *ebb__repl_policy_meant(const struct ebb_repl *repl);
/* Whether the policy takes the table in use. */
bool ebb__repl_takes(struct ebb_repl *repl, const struct ebb_policy *policy);
/* Input of a decision of that policy (NULL: none) on the table in use, or on nothing. */
int ebb__repl_decide_input(struct ebb_repl *repl, const struct ebb_policy *policy, struct ebb_decide_input *out,
                           struct ebb_err *err);
/* Facts of the table in use, with the runs of a policy or NULL. */
int ebb__repl_facts(struct ebb_repl *repl, const char *policy, const struct ebb_value **out, struct ebb_err *err);

/* A parameter's value by its definition: durations and sizes as they are written (repl_look.c). */
void ebb__repl_say_param(struct ebb_buf *out, const struct ebb_value *definition, const struct ebb_value *value);
/* The line of the table in use (repl_look.c). */
int ebb__repl_say_table(struct ebb_repl *repl, struct ebb_err *err);

/* Showing (repl_show.c). */
struct ebb_buf *ebb__repl_out(struct ebb_repl *repl);
/* "  (Sun 01:00 CET, Europe/Berlin)": the wall time where the table's owner lives; "" without a zone. */
void ebb__repl_say_wall(struct ebb_repl *repl, int64_t at_ms, int64_t before_ms);
void ebb__repl_say_now(struct ebb_repl *repl, int64_t before_ms);
/* A decision in one line, as it is told by the session. */
void ebb__repl_say_decision(struct ebb_repl *repl, const struct ebb_session_decision *decision);
/* Keep a decision for :why, and forget them all. EBB_ENOMEM. */
int ebb__repl_keep(struct ebb_repl *repl, const char *policy, size_t table, const char *record, struct ebb_err *err);
void ebb__repl_forget(struct ebb_repl *repl);
/* The record of the latest one, or NULL. */
const char *ebb__repl_latest(const struct ebb_repl *repl, const char *policy, size_t table);
/* "RUN remove_orphan_files", "DEFER until …", "SKIP  by guard.quiet". */
void ebb__repl_say_verdict(struct ebb_buf *out, const struct ebb_decision *decision);
/* In capital letters. */
void ebb__repl_say_word(struct ebb_buf *out, const char *text);
/* "12 345": as counts stand in tables. */
void ebb__repl_say_count(struct ebb_buf *out, int64_t n);
/* Print the output, as much as fits; the rest waits for :more. EBB_EIO. */
int ebb__repl_flush(struct ebb_repl *repl, struct ebb_err *err);
/* Lines and columns of the terminal. */
void ebb__repl_size(const struct ebb_repl *repl, int *rows, int *columns);

/* Transcript (repl_session.c). A saved session is text: inputs behind the prompts, what came out below them; a line of
 * output that could be taken for an input has a backslash before it. */
#define EBB__REPL_HEAD "# a session of ebb repl"
#define EBB__REPL_CLOCK "# now "
#define EBB__REPL_FIRST "ebb> "
#define EBB__REPL_NEXT " ..> "
#define EBB__REPL_ENTRY_MAX ((size_t)1 << 20)
#define EBB__REPL_FILE_MAX ((size_t)64 << 20)
/* A copy without the escape sequences of colours; NULL when memory ran out. */
char *ebb__repl_plain_copy(const char *text);
int ebb__repl_remember(struct ebb_repl *repl, const char *input, size_t n, const char *output, struct ebb_err *err);
/* Replay a saved session (repl_replay.c); with check, outputs that differ are said and *differs is set. */
int ebb__repl_replay(struct ebb_repl *repl, const char *file, bool check, bool *differs, struct ebb_err *err);

/* Input (repl_input.c): lines from a terminal, with editing, history and completion, or from a pipe. */
int ebb__repl_input_open(struct ebb_repl *repl, struct ebb__repl_input **out, struct ebb_err *err);
void ebb__repl_input_close(struct ebb__repl_input *input);
/* The next line without its line feed; borrowed until the next call. goes_on: it continues a block. EBB_ECANCELLED: the
 * line was dropped; EBB_ENOENT: the input is at its end; EBB_ELIMIT: longer than a line may be (skipped). */
int ebb__repl_input_read(struct ebb__repl_input *input, bool goes_on, struct ebb_str *out, struct ebb_err *err);
/* Remember a whole input. */
void ebb__repl_input_add(struct ebb__repl_input *input, const char *text);
/* Candidates (repl_complete.c) for the word that ends at n: *start is where it begins. */
int ebb__repl_complete(struct ebb_repl *repl, const char *line, size_t n, size_t *start, struct ebb_strs *out);

#endif
