/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL text for Spark and Trino, built from values, never by concatenation of text that came from outside. Rules and
 * their sources: reference engines 3, 4, 5, 11; case tables sql_literals.tsv, identifiers.tsv. Pure. A function that
 * fails leaves `out` as it was.
 */
#ifndef EBB_BASE_SQL_H
#define EBB_BASE_SQL_H

#include "base/buf.h"

enum ebb_sql_dialect { EBB_SQL_SPARK, EBB_SQL_TRINO };

/* Append a string literal. EBB_ESQL: NUL inside, not UTF-8. */
int ebb_sql_literal(enum ebb_sql_dialect dialect, struct ebb_str value, struct ebb_buf *out, struct ebb_err *err);
/* Append a quoted, dotted identifier. EBB_ESQL: no parts, an empty part, NUL inside, not UTF-8. */
int ebb_sql_identifier(enum ebb_sql_dialect dialect, const struct ebb_str *parts, size_t count, struct ebb_buf *out,
                       struct ebb_err *err);
/* Append the value of Spark's `table =>`: the identifier as a string literal (the string is parsed twice). */
int ebb_sql_spark_table_arg(const struct ebb_str *parts, size_t count, struct ebb_buf *out, struct ebb_err *err);

/* One argument of a procedure call. */
enum ebb_sql_kind { EBB_SQL_TEXT, EBB_SQL_TABLE, EBB_SQL_TIMESTAMP_MS, EBB_SQL_BOOL, EBB_SQL_INT, EBB_SQL_LONG };
struct ebb_sql_arg {
    const char *name;
    enum ebb_sql_kind kind;
    struct ebb_str text;         /* TEXT */
    const struct ebb_str *parts; /* TABLE */
    size_t part_count;
    int64_t number; /* TIMESTAMP_MS (cut down to whole seconds, UTC, written with Z), INT, LONG; BOOL: 0 or 1 */
};
/* Append "CALL `catalog`.system.procedure(name => value, …)", no semicolon. Spark only: Trino is EBB_EUNSUPPORTED. The
 * procedure and argument names must be plain ([a-z_]+); a catalog may not hold "${", which Spark substitutes even in
 * names. */
int ebb_sql_call(enum ebb_sql_dialect dialect, const char *procedure, struct ebb_str catalog,
                 const struct ebb_sql_arg *args, size_t count, struct ebb_buf *out, struct ebb_err *err);
/* Append Trino's "ALTER TABLE … EXECUTE procedure(name => 'value')" for the one argument retention_threshold, a
 * duration in ms, rounded up to whole seconds at least and printed in the largest unit that is exact (cases SB2, SB6).
 * EBB_ESQL: negative. */
int ebb_sql_trino_execute(const char *procedure, const struct ebb_str *parts, size_t count, int64_t retention_ms,
                          struct ebb_buf *out, struct ebb_err *err);

#endif
