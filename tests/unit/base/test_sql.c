/* SPDX-License-Identifier: Apache-2.0 */
#include "../tsv.h"

#include "base/sql.h"

static enum ebb_sql_dialect dialect_of(const char *name)
{
    return strcmp(name, "trino") ? EBB_SQL_SPARK : EBB_SQL_TRINO;
}

/* Compare with a verdict cell: "error" or the JSON of the text. */
static void assert_cell(struct ebb_buf *out, int rc, const char *cell)
{
    struct tsv_text want;

    if (!strcmp(cell, "error")) {
        assert_int_equal(rc, -EBB_ESQL);
        assert_string_equal(ebb_buf_cstr(out), "");
        return;
    }
    tsv_string(cell, &want);
    assert_int_equal(rc, 0);
    assert_string_equal(ebb_buf_cstr(out), want.bytes);
}

static void check_literal(char **cells, int line)
{
    struct tsv_text value;
    struct ebb_buf out;

    (void)line;
    tsv_string(cells[1], &value);
    ebb_buf_init(&out, 4096);
    assert_cell(&out, ebb_sql_literal(dialect_of(cells[0]), (struct ebb_str){value.bytes, value.n}, &out, NULL),
                cells[2]);
    ebb_buf_fini(&out);
}

static void table_of_literals(void **state)
{
    (void)state;
    assert_int_equal(tsv_each("sql_literals.tsv", 4, check_literal), 47);
}

static void check_identifier(char **cells, int line)
{
    static struct tsv_text texts[TSV_LIST_MAX];
    struct ebb_str parts[TSV_LIST_MAX];
    size_t count = tsv_list(cells[1], texts);
    struct ebb_buf out;
    int rc;

    (void)line;
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct ebb_str){texts[i].bytes, texts[i].n};
    ebb_buf_init(&out, 4096);
    if (!strcmp(cells[0], "spark_arg"))
        rc = ebb_sql_spark_table_arg(parts, count, &out, NULL);
    else
        rc = ebb_sql_identifier(dialect_of(cells[0]), parts, count, &out, NULL);
    assert_cell(&out, rc, cells[2]);
    ebb_buf_fini(&out);
}

static void table_of_identifiers(void **state)
{
    (void)state;
    assert_int_equal(tsv_each("identifiers.tsv", 4, check_identifier), 42);
}

static void text_that_is_not_utf8_is_refused(void **state)
{
    struct ebb_str bad = EBB_STR("s3://lake/\xFF");
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 4096);
    ebb_buf_puts(&out, "x");
    assert_int_equal(ebb_sql_literal(EBB_SQL_SPARK, bad, &out, NULL), -EBB_ESQL);
    assert_int_equal(ebb_sql_literal(EBB_SQL_TRINO, bad, &out, NULL), -EBB_ESQL);
    assert_int_equal(ebb_sql_identifier(EBB_SQL_TRINO, &bad, 1, &out, NULL), -EBB_ESQL);
    assert_string_equal(ebb_buf_cstr(&out), "x");
    ebb_buf_fini(&out);
}

static void too_long_text_is_refused(void **state)
{
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 8);
    ebb_buf_puts(&out, "ab");
    assert_int_equal(ebb_sql_literal(EBB_SQL_SPARK, EBB_STR("12345"), &out, NULL), -EBB_ELIMIT);
    assert_string_equal(ebb_buf_cstr(&out), "ab");
    ebb_buf_fini(&out);
}

/* SB1, SB2: 2026-01-10T12:00:00.500Z minus three days, cut down to seconds, with its zone. */
static void call_of_orphan_removal(void **state)
{
    const struct ebb_str table[] = {EBB_STR("spark_catalog"), EBB_STR("db-1"), EBB_STR("t-2")};
    const struct ebb_sql_arg args[] = {
        {.name = "table", .kind = EBB_SQL_TABLE, .parts = table, .part_count = 3},
        {.name = "older_than", .kind = EBB_SQL_TIMESTAMP_MS, .number = INT64_C(1767787200500)},
        {.name = "location", .kind = EBB_SQL_TEXT, .text = EBB_STR("s3://lake/d'eau/$1")},
        {.name = "dry_run", .kind = EBB_SQL_BOOL, .number = 1},
        {.name = "max_concurrent_deletes", .kind = EBB_SQL_INT, .number = 4},
        {.name = "snapshot_id", .kind = EBB_SQL_LONG, .number = INT64_C(4611686018427387905)},
    };
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 4096);
    assert_int_equal(ebb_sql_call(EBB_SQL_SPARK, "remove_orphan_files", EBB_STR("spark_catalog"), args, 6, &out, NULL),
                     0);
    assert_string_equal(ebb_buf_cstr(&out),
                        "CALL `spark_catalog`.system.remove_orphan_files(table => '`spark_catalog`.`db-1`.`t-2`', "
                        "older_than => TIMESTAMP '2026-01-07 12:00:00Z', location => 's3://lake/d\\'eau/\\u00241', "
                        "dry_run => true, max_concurrent_deletes => 4, snapshot_id => 4611686018427387905L)");
    ebb_buf_fini(&out);
}

static void assert_no_call(const char *procedure, struct ebb_str catalog, struct ebb_sql_arg arg)
{
    struct ebb_buf out;

    ebb_buf_init(&out, 4096);
    assert_int_equal(ebb_sql_call(EBB_SQL_SPARK, procedure, catalog, &arg, 1, &out, NULL), -EBB_ESQL);
    assert_string_equal(ebb_buf_cstr(&out), "");
    ebb_buf_fini(&out);
}

static void bad_calls_are_refused(void **state)
{
    const struct ebb_sql_arg good = {.name = "x", .kind = EBB_SQL_INT, .number = 1};
    const struct ebb_str lake = EBB_STR("lake");
    struct ebb_buf out;

    (void)state;
    assert_no_call("Remove", lake, good);
    assert_no_call("a(", lake, good);
    assert_no_call("", lake, good);
    assert_no_call("a", EBB_STR(""), good);
    assert_no_call("a", EBB_STR("${env:X}"), good);
    assert_no_call("a", lake, (struct ebb_sql_arg){.name = "x => 1, y", .kind = EBB_SQL_INT});
    assert_no_call("a", lake, (struct ebb_sql_arg){.name = "", .kind = EBB_SQL_INT});
    assert_no_call("a", lake, (struct ebb_sql_arg){.name = "x", .kind = EBB_SQL_INT, .number = INT64_C(2147483648)});
    assert_no_call("a", lake, (struct ebb_sql_arg){.name = "x", .kind = EBB_SQL_TIMESTAMP_MS, .number = INT64_MAX});
    assert_no_call("a", lake, (struct ebb_sql_arg){.name = "x", .kind = EBB_SQL_TABLE});
    assert_no_call("a", lake, (struct ebb_sql_arg){.name = "x", .kind = EBB_SQL_TEXT, .text = {"\0", 1}});
    ebb_buf_init(&out, 100);
    assert_int_equal(ebb_sql_call(EBB_SQL_TRINO, "a", lake, &good, 1, &out, NULL), -EBB_EUNSUPPORTED);
    ebb_buf_fini(&out);
}

static void assert_retention(int64_t ms, const char *want)
{
    const struct ebb_str parts[] = {EBB_STR("lake"), EBB_STR("shop"), EBB_STR("or\"ders")};
    char text[256];
    struct ebb_buf out;

    snprintf(text, sizeof text,
             "ALTER TABLE \"lake\".\"shop\".\"or\"\"ders\" EXECUTE remove_orphan_files(retention_threshold => '%s')",
             want);
    ebb_buf_init(&out, 4096);
    assert_int_equal(ebb_sql_trino_execute("remove_orphan_files", parts, 3, ms, &out, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&out), text);
    ebb_buf_fini(&out);
}

/* SB2, SB6: a duration is never shorter than asked for. */
static void retention_is_rounded_up_only(void **state)
{
    const int64_t hour = 3600 * 1000;
    const struct ebb_str parts[] = {EBB_STR("t")};
    struct ebb_buf out;

    (void)state;
    assert_retention(47 * hour, "47h");
    assert_retention(48 * hour, "2d");
    assert_retention(hour / 2, "30m");
    assert_retention(90 * 1000, "90s");
    assert_retention(1, "1s");
    assert_retention(47 * hour + 1, "169201s");
    assert_retention(59999, "1m");
    assert_retention(0, "0s");
    assert_retention(INT64_MAX, "9223372036854776s");
    ebb_buf_init(&out, 4096);
    assert_int_equal(ebb_sql_trino_execute("remove_orphan_files", parts, 1, -1, &out, NULL), -EBB_ESQL);
    assert_int_equal(ebb_sql_trino_execute("remove_orphan_files", parts, 0, 1, &out, NULL), -EBB_ESQL);
    assert_int_equal(ebb_sql_trino_execute("x y", parts, 1, 1, &out, NULL), -EBB_ESQL);
    assert_string_equal(ebb_buf_cstr(&out), "");
    ebb_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_of_literals),
        cmocka_unit_test(table_of_identifiers),
        cmocka_unit_test(text_that_is_not_utf8_is_refused),
        cmocka_unit_test(too_long_text_is_refused),
        cmocka_unit_test(call_of_orphan_removal),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(retention_is_rounded_up_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
