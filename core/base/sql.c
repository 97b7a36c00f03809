/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sql.h"

#include <inttypes.h>

#include "base/text.h"
#include "base/time.h"

#define IDENTIFIER_MAX_BYTES 65536
#define SECOND_MS 1000
/* 0001-01-01 and the end of 9999: what a timestamp literal of four digits can say. */
#define TIMESTAMP_MIN_MS (-INT64_C(62135596800000))
#define TIMESTAMP_MAX_MS INT64_C(253402300799999)

/* End of a function that appends: a failed one leaves out as it was. */
static int finish(struct ebb_buf *out, size_t base, int rc, struct ebb_err *err)
{
    if (!rc)
        rc = ebb_buf_check(out, "SQL text", err);
    if (rc && out->data) {
        out->len = base;
        out->data[base] = '\0';
    }
    return rc;
}

static int check_text(struct ebb_str text, const char *what, struct ebb_err *err)
{
    if (text.n && memchr(text.p, '\0', text.n))
        return ebb_err_set(err, EBB_ESQL, "%s: holds a NUL character", what);
    if (!ebb_text_is_utf8(text.p, text.n))
        return ebb_err_set(err, EBB_ESQL, "%s: is not UTF-8 text", what);
    return 0;
}

static void put_spark(struct ebb_buf *out, char c)
{
    if (c == '\\' || c == '\'')
        ebb_buf_printf(out, "\\%c", c);
    else if (c == '\n')
        ebb_buf_puts(out, "\\n");
    else if (c == '\r')
        ebb_buf_puts(out, "\\r");
    else if (c == '\t')
        ebb_buf_puts(out, "\\t");
    else if ((unsigned char)c < 0x20 || c == '$')
        ebb_buf_printf(out, "\\u%04x", (unsigned)c);
    else
        ebb_buf_putc(out, c);
}

/* Append text between quotes, each quote inside doubled. */
static void put_doubled(struct ebb_buf *out, struct ebb_str text, char quote)
{
    ebb_buf_putc(out, quote);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == quote)
            ebb_buf_putc(out, quote);
        ebb_buf_putc(out, text.p[i]);
    }
    ebb_buf_putc(out, quote);
}

int ebb_sql_literal(enum ebb_sql_dialect dialect, struct ebb_str value, struct ebb_buf *out, struct ebb_err *err)
{
    size_t base = out->len;
    int rc = check_text(value, "SQL literal", err);

    if (rc)
        return rc;
    if (dialect == EBB_SQL_TRINO) {
        put_doubled(out, value, '\'');
    } else {
        ebb_buf_putc(out, '\'');
        for (size_t i = 0; i < value.n; i++)
            put_spark(out, value.p[i]);
        ebb_buf_putc(out, '\'');
    }
    return finish(out, base, 0, err);
}

int ebb_sql_identifier(enum ebb_sql_dialect dialect, const struct ebb_str *parts, size_t count, struct ebb_buf *out,
                       struct ebb_err *err)
{
    size_t base = out->len;
    int rc = 0;

    if (!count)
        return ebb_err_set(err, EBB_ESQL, "SQL identifier: has no parts");
    for (size_t i = 0; i < count && !rc; i++) {
        if (!parts[i].n)
            rc = ebb_err_set(err, EBB_ESQL, "SQL identifier: part %zu is empty", i + 1);
        else
            rc = check_text(parts[i], "SQL identifier", err);
        if (i)
            ebb_buf_putc(out, '.');
        if (!rc)
            put_doubled(out, parts[i], dialect == EBB_SQL_TRINO ? '"' : '`');
    }
    return finish(out, base, rc, err);
}

int ebb_sql_spark_table_arg(const struct ebb_str *parts, size_t count, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_buf identifier;
    int rc;

    ebb_buf_init(&identifier, IDENTIFIER_MAX_BYTES);
    rc = ebb_sql_identifier(EBB_SQL_SPARK, parts, count, &identifier, err);
    if (!rc)
        rc = ebb_sql_literal(EBB_SQL_SPARK, ebb_buf_str(&identifier), out, err);
    ebb_buf_fini(&identifier);
    return rc;
}

static int check_plain(const char *name, const char *what, struct ebb_err *err)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz_");

    if (!n || name[n])
        return ebb_err_set(err, EBB_ESQL, "%s '%s': must be lower-case letters and '_'", what, name);
    return 0;
}

static int put_timestamp(int64_t ms, struct ebb_buf *out, struct ebb_err *err)
{
    if (ms < TIMESTAMP_MIN_MS || ms > TIMESTAMP_MAX_MS)
        return ebb_err_set(err, EBB_ESQL, "SQL timestamp: %" PRId64 " ms is outside the years 1 to 9999", ms);
    ebb_buf_puts(out, "TIMESTAMP '");
    ebb_time_sql(out, ms);
    ebb_buf_puts(out, "Z'");
    return 0;
}

static int put_value(const struct ebb_sql_arg *arg, struct ebb_buf *out, struct ebb_err *err)
{
    switch (arg->kind) {
    case EBB_SQL_TEXT:
        return ebb_sql_literal(EBB_SQL_SPARK, arg->text, out, err);
    case EBB_SQL_TABLE:
        return ebb_sql_spark_table_arg(arg->parts, arg->part_count, out, err);
    case EBB_SQL_TIMESTAMP_MS:
        return put_timestamp(arg->number, out, err);
    case EBB_SQL_BOOL:
        ebb_buf_puts(out, arg->number ? "true" : "false");
        return 0;
    case EBB_SQL_LONG:
        ebb_buf_printf(out, "%" PRId64 "L", arg->number);
        return 0;
    case EBB_SQL_INT:
        break;
    }
    if (arg->number < INT32_MIN || arg->number > INT32_MAX)
        return ebb_err_set(err, EBB_ESQL, "SQL argument '%s': %" PRId64 " does not fit 32 bits", arg->name,
                           arg->number);
    ebb_buf_printf(out, "%" PRId64, arg->number);
    return 0;
}

/* Spark substitutes variables before it parses; an identifier has no escape against that. */
static int check_catalog(struct ebb_str catalog, struct ebb_err *err)
{
    if (catalog.n && memmem(catalog.p, catalog.n, "${", 2))
        return ebb_err_set(err, EBB_ESQL, "SQL catalog: holds '${', which Spark would replace");
    return 0;
}

static int put_args(const struct ebb_sql_arg *args, size_t count, struct ebb_buf *out, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        rc = check_plain(args[i].name, "SQL argument", err);
        ebb_buf_printf(out, "%s%s => ", i ? ", " : "", args[i].name);
        if (!rc)
            rc = put_value(&args[i], out, err);
    }
    return rc;
}

int ebb_sql_call(enum ebb_sql_dialect dialect, const char *procedure, struct ebb_str catalog,
                 const struct ebb_sql_arg *args, size_t count, struct ebb_buf *out, struct ebb_err *err)
{
    size_t base = out->len;
    int rc;

    if (dialect != EBB_SQL_SPARK)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "SQL call: only Spark has maintenance procedures to call");
    rc = check_plain(procedure, "SQL procedure", err);
    if (!rc)
        rc = check_catalog(catalog, err);
    if (rc)
        return rc;
    ebb_buf_puts(out, "CALL ");
    rc = ebb_sql_identifier(EBB_SQL_SPARK, &catalog, 1, out, err);
    if (!rc) {
        ebb_buf_printf(out, ".system.%s(", procedure);
        rc = put_args(args, count, out, err);
        ebb_buf_putc(out, ')');
    }
    return finish(out, base, rc, err);
}

static void put_duration(struct ebb_buf *out, int64_t ms)
{
    int64_t seconds = ms / SECOND_MS + (ms % SECOND_MS != 0);

    if (seconds && seconds % 86400 == 0)
        ebb_buf_printf(out, "'%" PRId64 "d'", seconds / 86400);
    else if (seconds && seconds % 3600 == 0)
        ebb_buf_printf(out, "'%" PRId64 "h'", seconds / 3600);
    else if (seconds && seconds % 60 == 0)
        ebb_buf_printf(out, "'%" PRId64 "m'", seconds / 60);
    else
        ebb_buf_printf(out, "'%" PRId64 "s'", seconds);
}

int ebb_sql_trino_execute(const char *procedure, const struct ebb_str *parts, size_t count, int64_t retention_ms,
                          struct ebb_buf *out, struct ebb_err *err)
{
    size_t base = out->len;
    int rc = check_plain(procedure, "SQL procedure", err);

    if (rc)
        return rc;
    if (retention_ms < 0)
        return ebb_err_set(err, EBB_ESQL, "SQL retention_threshold: %" PRId64 " ms is negative", retention_ms);
    ebb_buf_puts(out, "ALTER TABLE ");
    rc = ebb_sql_identifier(EBB_SQL_TRINO, parts, count, out, err);
    ebb_buf_printf(out, " EXECUTE %s(retention_threshold => ", procedure);
    put_duration(out, retention_ms);
    ebb_buf_putc(out, ')');
    return finish(out, base, rc, err);
}
