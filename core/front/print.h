/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of text for people. File names and all else that others may have written is escaped.
 */
#ifndef EBB_FRONT_PRINT_H
#define EBB_FRONT_PRINT_H

#include "base/text.h"
#include "front/cli.h"

/* "1,234,567" */
void ebb_print_count(struct ebb_buf *out, int64_t n);
/* "12 files, 3.4 MiB" */
void ebb_print_files(struct ebb_buf *out, int64_t count, uint64_t bytes);
/* Escaped text; NULL is "". */
void ebb_print_text(struct ebb_buf *out, const char *text);
void ebb_print_time(struct ebb_buf *out, int64_t ms);
/* "  name        " up to the column of the values; "  name        text\n" with escaped text. */
void ebb_print_name(struct ebb_buf *out, const char *name);
void ebb_print_field(struct ebb_buf *out, const char *name, const char *text);
void ebb_print_count_field(struct ebb_buf *out, const char *name, int64_t n);
/* Fill up with blanks until `column` characters (UTF-8) stand since `start`, at least one blank. */
void ebb_print_pad(struct ebb_buf *out, size_t start, size_t column);
/* A word in colour where there is colour: good, doubtful or bad. */
enum ebb_print_colour { EBB_PRINT_GREEN = 32, EBB_PRINT_YELLOW = 33, EBB_PRINT_RED = 31 };
void ebb_print_word(struct ebb_cli *cli, enum ebb_print_colour colour, const char *word);
/* An argument as a shell takes it. */
void ebb_print_shell(struct ebb_buf *out, const char *arg);
/* How to call this program again: "ebb" where that finds it, else its path. */
void ebb_print_self(struct ebb_buf *out);
/* The same with the options that must be given again: --config, --state. */
void ebb_print_program(struct ebb_cli *cli, struct ebb_buf *out);
/* A list of texts as a JSON array. */
void ebb_print_strs_json(struct ebb_jsonw *w, const char *key, const struct ebb_strs *list);
/* "  skipped   path: why" for each note, at most 20, then how many more. */
void ebb_print_notes(struct ebb_buf *out, const char *name, const struct ebb_file_notes *notes);

#endif
