/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "format/plan.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define HEADER_LINE                                                                                                    \
    "{\"ebb_plan\":1,\"id\":\"p1\",\"table\":{\"catalog\":\"lake\",\"namespace\":\"db\",\"name\":\"t\",\"uuid\":"      \
    "\"5e0c\","                                                                                                        \
    "\"location\":\"s3://lake/t\",\"metadata\":\"s3://lake/t/metadata/v3.metadata.json\","                             \
    "\"snapshot_id\":7301987312340117781},\"cutoff\":\"2026-06-01T00:00:00Z\",\"older_than\":\"3d\","                  \
    "\"location\":\"s3://lake/t/data\",\"scanned\":\"s3://lake/t/data\",\"ownership\":\"full\",\"listing\":\"\","      \
    "\"engine_version\":\"0.1.0\",\"policy\":null,\"limits\":{\"max_share\":0.5},\"options\":{\"table\":\"lake.db."    \
    "t\"},"                                                                                                            \
    "\"created\":\"2026-06-04T00:00:00.250Z\"}\n"
#define CANDIDATE_LINE                                                                                                 \
    "{\"path\":\"s3://lake/t/data/a b%2F.parquet\",\"size\":1024,\"mtime\":1769904000123456789,"                       \
    "\"id\":\"64769:12345:1769904000123456789\",\"kind\":\"data\",\"why\":\"unreferenced\"}\n"
#define SUMMARY_LINE                                                                                                   \
    "{\"listed\":10,\"reachable\":5,\"reachable_listed\":4,\"too_young\":1,\"hidden\":2,\"kept\":0,\"links\":1,"       \
    "\"mounts\":0,\"candidates\":2,\"candidate_bytes\":9007199254740993,\"metadata_files_read\":7,"                    \
    "\"status\":\"held\",\"held_by\":[\"max_share\",\"zero_overlap\"],\"sha256\":\"" SHA "\"}\n"

enum line { HEADER, CANDIDATE, SUMMARY };

static struct ebb_arena arena;

static int set_up(void **state)
{
    (void)state;
    ebb_arena_init(&arena, 1 << 24);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ebb_arena_fini(&arena);
    return 0;
}

static int parse_any(enum line kind, struct ebb_str line, struct ebb_err *err)
{
    struct ebb_plan_header h;
    struct ebb_plan_candidate c;
    struct ebb_plan_summary s;
    int rc;

    if (kind == HEADER)
        return ebb_plan_parse_header("x.plan", line, &arena, &h, err);
    if (kind == CANDIDATE)
        return ebb_plan_parse_candidate("x.plan", 17, line, &arena, &c, err);
    rc = ebb_plan_parse_summary("x.plan", 18, line, &arena, &s, err);
    if (!rc)
        ebb_strs_fini(&s.held_by);
    return rc;
}

/* The line with `old` replaced; without line feed. The caller frees. */
static char *with(const char *line, const char *old, const char *new_text)
{
    const char *at = strstr(line, old);
    struct ebb_buf b;

    assert_non_null(at);
    ebb_buf_init(&b, SIZE_MAX);
    ebb_buf_append(&b, line, (size_t)(at - line));
    ebb_buf_puts(&b, new_text);
    ebb_buf_append(&b, at + strlen(old), strlen(at + strlen(old)) - 1);
    return ebb_buf_take(&b);
}

static const char *const PREFIX[] = {"x.plan:1: ", "x.plan:17: ", "x.plan:18: "};
static const char *const LINES[] = {HEADER_LINE, CANDIDATE_LINE, SUMMARY_LINE};

static void bad(enum line kind, const char *old, const char *new_text)
{
    struct ebb_err err;
    char *line = with(LINES[kind], old, new_text);

    if (parse_any(kind, ebb_str_of(line), &err) != -EBB_EPLAN)
        fail_msg("accepted: %s", line);
    assert_int_equal(err.error, EBB_EPLAN);
    assert_int_equal(strncmp(err.message, PREFIX[kind], strlen(PREFIX[kind])), 0);
    free(line);
}

static void fine(enum line kind, const char *old, const char *new_text)
{
    struct ebb_err err;
    char *line = with(LINES[kind], old, new_text);

    if (parse_any(kind, ebb_str_of(line), &err))
        fail_msg("%s: %s", line, err.message);
    free(line);
}

static struct ebb_plan_header sample_header(void)
{
    struct ebb_plan_header h = {
        .id = "p1",
        .catalog = "lake",
        .namespace_ = "db",
        .name = "t",
        .uuid = "5e0c",
        .location = "s3://lake/t",
        .metadata = "s3://lake/t/metadata/v3.metadata.json",
        .has_snapshot = true,
        .snapshot_id = 7301987312340117781,
        .cutoff_ms = 1780272000000,
        .older_than = "3d",
        .scanned = "s3://lake/t/data",
        .ownership = "full",
        .listing = "",
        .engine_version = "0.1.0",
        .created_ms = 1780531200250,
        .limits = EBB_STR("{\"max_share\":0.5}"),
        .options = EBB_STR("{\"table\":\"lake.db.t\"}"),
    };

    return h;
}

static void test_write_header(void **state)
{
    struct ebb_plan_header h = sample_header();
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 1 << 16);
    ebb_plan_write_header(&out, &h);
    assert_string_equal(ebb_buf_cstr(&out), HEADER_LINE);
    ebb_buf_fini(&out);
}

static struct ebb_str line_of(struct ebb_buf *out)
{
    struct ebb_str line = ebb_buf_str(out);

    assert_true(line.n > 0 && line.p[line.n - 1] == '\n');
    line.n--;
    assert_null(memchr(line.p, '\n', line.n));
    return line;
}

static void check_headers_equal(const struct ebb_plan_header *a, const struct ebb_plan_header *b)
{
    assert_string_equal(a->id, b->id);
    assert_string_equal(a->catalog, b->catalog);
    assert_string_equal(a->namespace_, b->namespace_);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->uuid, b->uuid);
    assert_string_equal(a->location, b->location);
    assert_string_equal(a->metadata, b->metadata);
    assert_int_equal(a->has_snapshot, b->has_snapshot);
    assert_true(a->snapshot_id == b->snapshot_id && a->cutoff_ms == b->cutoff_ms && a->created_ms == b->created_ms);
    assert_string_equal(a->older_than, b->older_than);
    assert_string_equal(a->scanned, b->scanned);
    assert_string_equal(a->ownership, b->ownership);
    assert_string_equal(a->listing, b->listing);
    assert_string_equal(a->engine_version, b->engine_version);
    assert_true(ebb_str_is_equal(a->policy, b->policy));
    assert_true(ebb_str_is_equal(a->limits, b->limits));
    assert_true(ebb_str_is_equal(a->options, b->options));
}

static void test_header_round_trip(void **state)
{
    struct ebb_plan_header h = sample_header(), got;
    struct ebb_err err;
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 1 << 16);
    ebb_plan_write_header(&out, &h);
    assert_int_equal(ebb_plan_parse_header("x", line_of(&out), &arena, &got, &err), 0);
    check_headers_equal(&h, &got);
    h.has_snapshot = false;
    h.snapshot_id = 0;
    h.uuid = "";
    h.name = "t\"\\\n\x01\xFF";
    h.location = h.scanned = "file:/w/\xFE\xFF/t";
    h.listing = "/tmp/\n\xC3(.csv";
    h.policy = EBB_STR("{\"a\":[1,{\"b\":\"c\\n\"}]}");
    h.cutoff_ms = 1;
    ebb_buf_reset(&out);
    ebb_plan_write_header(&out, &h);
    assert_int_equal(ebb_plan_parse_header("x", line_of(&out), &arena, &got, &err), 0);
    check_headers_equal(&h, &got);
    ebb_buf_fini(&out);
}

/* JSON over several lines is put on one. */
static void test_header_with_pretty_json(void **state)
{
    struct ebb_plan_header h = sample_header(), got;
    struct ebb_err err;
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 1 << 16);
    h.policy = EBB_STR("{\r\n  \"a\": 1\n}");
    h.limits = h.options = (struct ebb_str){NULL, 0};
    ebb_plan_write_header(&out, &h);
    assert_int_equal(ebb_plan_parse_header("x", line_of(&out), &arena, &got, &err), 0);
    assert_true(ebb_str_is_equal(got.policy, EBB_STR("{    \"a\": 1 }")));
    assert_true(ebb_str_is_equal(got.limits, EBB_STR("{}")));
    assert_true(ebb_str_is_equal(got.options, EBB_STR("{}")));
    ebb_buf_fini(&out);
}

static void test_bad_headers(void **state)
{
    static const char *const REQUIRED[] = {"\"ebb_plan\":1,",
                                           "\"id\":\"p1\",",
                                           "\"catalog\":\"lake\",",
                                           "\"namespace\":\"db\",",
                                           "\"name\":\"t\",",
                                           "\"uuid\":\"5e0c\",",
                                           ",\"snapshot_id\":7301987312340117781",
                                           "\"cutoff\":\"2026-06-01T00:00:00Z\",",
                                           "\"older_than\":\"3d\",",
                                           "\"location\":\"s3://lake/t/data\",",
                                           "\"scanned\":\"s3://lake/t/data\",",
                                           "\"ownership\":\"full\",",
                                           "\"listing\":\"\",",
                                           "\"policy\":null,",
                                           "\"limits\":{\"max_share\":0.5},",
                                           "\"options\":{\"table\":\"lake.db.t\"},",
                                           ",\"created\":\"2026-06-04T00:00:00.250Z\""};

    (void)state;
    for (size_t i = 0; i < sizeof REQUIRED / sizeof REQUIRED[0]; i++)
        bad(HEADER, REQUIRED[i], "");
    bad(HEADER, "\"ebb_plan\":1", "\"ebb_plan\":2");
    bad(HEADER, "\"ebb_plan\":1", "\"ebb_plan\":\"1\"");
    bad(HEADER, "\"ebb_plan\":1", "\"ebb_plan\":1,\"new\":0");
    bad(HEADER, "\"ebb_plan\":1", "\"ebb_plan\":1,\"ebb_plan\":1");
    bad(HEADER, "\"id\":\"p1\"", "\"id\":\"\"");
    bad(HEADER, "\"id\":\"p1\"", "\"id\":null");
    bad(HEADER, "\"id\":\"p1\"", "\"id\":\"p\\u0000\"");
    bad(HEADER, "7301987312340117781", "7301987312340117781.0");
    bad(HEADER, "7301987312340117781", "9223372036854775808");
    bad(HEADER, "2026-06-01T00:00:00Z", "2026-06-01 00:00:00Z");
    bad(HEADER, "2026-06-01T00:00:00Z", "2026-06-01T02:00:00+02:00");
    bad(HEADER, "2026-06-01T00:00:00Z", "1780272000000");
    bad(HEADER, "2026-06-01T00:00:00Z", "");
    bad(HEADER, "\"full\"", "\"FULL\"");
    bad(HEADER, "\"full\"", "\"\"");
    bad(HEADER, "\"policy\":null", "\"policy\":[]");
    bad(HEADER, "{\"max_share\":0.5}", "null");
    bad(HEADER, "{\"table\":\"lake.db.t\"}", "\"x\"");
    bad(HEADER, "\"scanned\":\"s3://lake/t/data\"", "\"scanned\":\"s3://lake/t\"");
    bad(HEADER, "\"uuid\":\"5e0c\"", "\"uuid\":\"5e0c\",\"x\":1");
    bad(HEADER, "{\"ebb_plan\"", "[{\"ebb_plan\"");
    bad(HEADER, ".250Z\"}", ".250Z\"} x");
    fine(HEADER, "7301987312340117781", "null");
    fine(HEADER, "\"policy\":null", "\"policy\":{}");
    fine(HEADER, "\"name\":\"t\"", "\"name_b64\":\"/w==\"");
}

static void test_write_candidate(void **state)
{
    struct ebb_plan_candidate c = {.path = EBB_STR("s3://lake/t/data/a b%2F.parquet"),
                                   .size_bytes = 1024,
                                   .mtime_ns = 1769904000123456789,
                                   .id = EBB_STR("64769:12345:1769904000123456789"),
                                   .kind = EBB_PLAN_DATA};
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 1 << 16);
    ebb_plan_write_candidate(&out, &c);
    assert_string_equal(ebb_buf_cstr(&out), CANDIDATE_LINE);
    ebb_buf_reset(&out);
    c.path = EBB_STR("file:/t/\xFF");
    c.id.n = 0;
    c.kind = EBB_PLAN_METADATA;
    c.near_name = EBB_STR("file:/t/a");
    ebb_plan_write_candidate(&out, &c);
    assert_string_equal(ebb_buf_cstr(&out),
                        "{\"path_b64\":\"ZmlsZTovdC//\",\"size\":1024,\"mtime\":1769904000123456789,\"id\":null,"
                        "\"kind\":\"metadata\",\"why\":\"unreferenced\",\"near\":\"file:/t/a\"}\n");
    ebb_buf_fini(&out);
}

static void round_trip(struct ebb_str path, struct ebb_str near_name, enum ebb_plan_kind kind)
{
    struct ebb_plan_candidate c = {.path = path, .size_bytes = INT64_MAX, .mtime_ns = INT64_MAX, .kind = kind};
    struct ebb_plan_candidate got;
    struct ebb_err err;
    struct ebb_buf out;

    c.near_name = near_name;
    c.id = path;
    ebb_buf_init(&out, 1 << 20);
    ebb_plan_write_candidate(&out, &c);
    if (ebb_plan_parse_candidate("x", 2, line_of(&out), &arena, &got, &err))
        fail_msg("%s", err.message);
    assert_true(ebb_str_is_equal(got.path, path));
    assert_int_equal(got.path.p[got.path.n], '\0');
    assert_true(ebb_str_is_equal(got.near_name, near_name));
    assert_true(ebb_str_is_equal(got.id, path));
    assert_true(got.size_bytes == INT64_MAX && got.mtime_ns == INT64_MAX);
    assert_int_equal(got.kind, kind);
    ebb_buf_fini(&out);
}

static void test_hostile_names(void **state)
{
    static const char *const NAMES[] = {"/t/\"quoted\"",
                                        "/t/back\\slash",
                                        "/t/line\nfeed\r\t",
                                        "/t/\x01\x1B[31m\x7F",
                                        "/t/%20+%2F",
                                        "/t/ lead and trail ",
                                        "/t/\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\x8A",
                                        "/t/\xEF\xBF\xBD",
                                        "/t/\xC2\x85\xE2\x80\xA8",
                                        "/t/\xFF\xFE",
                                        "/t/\xC0\xAF",
                                        "/t/\xED\xA0\x80",
                                        "/t/half\xC3",
                                        "/t/{\"path\":\"/x\"}",
                                        "/t/\\u0000",
                                        "x",
                                        "\xFF",
                                        "/t/../../etc",
                                        "//t///a"};

    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; k++)
            round_trip(ebb_str_of(NAMES[i]), ebb_str_of(NAMES[k]), (enum ebb_plan_kind)(k % 3));
}

/* Every byte but NUL, alone and in a name. */
static void test_every_byte(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        char name[] = {'/', (char)c, 'x'};

        round_trip((struct ebb_str){name + 1, 1}, (struct ebb_str){name, 3}, EBB_PLAN_OTHER);
    }
}

static void test_bad_candidates(void **state)
{
    static const char *const REQUIRED[] = {
        "\"path\":\"s3://lake/t/data/a b%2F.parquet\",", "\"size\":1024,",     "\"mtime\":1769904000123456789,",
        "\"id\":\"64769:12345:1769904000123456789\",",   "\"kind\":\"data\",", ",\"why\":\"unreferenced\""};

    (void)state;
    for (size_t i = 0; i < sizeof REQUIRED / sizeof REQUIRED[0]; i++)
        bad(CANDIDATE, REQUIRED[i], "");
    bad(CANDIDATE, "s3://lake/t/data/a b%2F.parquet", "");
    bad(CANDIDATE, "s3://lake/t/data/a b%2F.parquet", "a\\u0000b");
    bad(CANDIDATE, "s3://lake/t/data/a b%2F.parquet", "a\xFF");
    bad(CANDIDATE, "\"path\":\"s3://lake/t/data/a b%2F.parquet\"", "\"path\":null");
    bad(CANDIDATE, "\"path\":\"s3://lake/t/data/a b%2F.parquet\"", "\"path_b64\":\"YQ==\""); /* needs no base64 */
    bad(CANDIDATE, "\"path\":\"s3://lake/t/data/a b%2F.parquet\"", "\"path_b64\":\"/w\"");
    bad(CANDIDATE, "\"path\":\"s3://lake/t/data/a b%2F.parquet\"", "\"path_b64\":\"/wA=\""); /* NUL */
    bad(CANDIDATE, "\"path\":\"s3://lake/t/data/a b%2F.parquet\"", "\"path_b64\":\"\"");
    bad(CANDIDATE, "\"size\":1024", "\"size\":1024,\"path_b64\":\"/w==\"");
    bad(CANDIDATE, "\"size\":1024", "\"size\":1024,\"size\":1024");
    bad(CANDIDATE, "\"size\":1024", "\"size\":-1");
    bad(CANDIDATE, "\"size\":1024", "\"size\":1e3");
    bad(CANDIDATE, "\"size\":1024", "\"size\":99999999999999999999");
    bad(CANDIDATE, "1769904000123456789,", "0,");
    bad(CANDIDATE, "1769904000123456789,", "-5,");
    bad(CANDIDATE, "1769904000123456789,", "\"1\",");
    bad(CANDIDATE, "\"id\":\"64769:12345:1769904000123456789\"", "\"id\":\"\"");
    bad(CANDIDATE, "\"data\"", "\"dirs\"");
    bad(CANDIDATE, "\"unreferenced\"", "\"why not\"");
    bad(CANDIDATE, "\"unreferenced\"", "\"unreferenced\",\"near\":\"\"");
    bad(CANDIDATE, "\"unreferenced\"", "\"unreferenced\",\"extra\":\"\"");
    bad(CANDIDATE, "{\"path\"", "\"path\"");
    fine(CANDIDATE, "\"unreferenced\"", "\"unreferenced\",\"near\":\"a\"");
    fine(CANDIDATE, "\"id\":\"64769:12345:1769904000123456789\"", "\"id\":null");
}

static void test_cut_lines(void **state)
{
    struct ebb_err err;

    (void)state;
    for (int kind = HEADER; kind <= SUMMARY; kind++)
        for (size_t n = 0; n < strlen(LINES[kind]) - 1; n++)
            assert_int_equal(parse_any((enum line)kind, (struct ebb_str){LINES[kind], n}, &err), -EBB_EPLAN);
}

static void test_long_line(void **state)
{
    struct ebb_err err;
    struct ebb_buf b;

    (void)state;
    ebb_buf_init(&b, SIZE_MAX);
    ebb_buf_append(&b, CANDIDATE_LINE, strlen(CANDIDATE_LINE) - 1);
    while (b.len < EBB_PLAN_MAX_LINE_BYTES)
        ebb_buf_putc(&b, ' ');
    assert_int_equal(parse_any(CANDIDATE, ebb_buf_str(&b), &err), 0);
    ebb_buf_putc(&b, ' ');
    assert_int_equal(parse_any(CANDIDATE, ebb_buf_str(&b), &err), -EBB_EPLAN);
    ebb_buf_fini(&b);
}

static void test_summary(void **state)
{
    struct ebb_plan_summary s, got;
    struct ebb_err err;
    struct ebb_buf out;

    (void)state;
    memset(&s, 0, sizeof s);
    ebb_buf_init(&out, 1 << 16);
    assert_int_equal(ebb_plan_parse_summary("x", 9, EBB_STR(SUMMARY_LINE), &arena, &got, &err), 0);
    assert_int_equal(got.listed, 10);
    assert_int_equal(got.reachable, 5);
    assert_int_equal(got.reachable_listed, 4);
    assert_int_equal(got.too_young, 1);
    assert_int_equal(got.hidden, 2);
    assert_int_equal(got.links, 1);
    assert_int_equal(got.candidates, 2);
    assert_true(got.candidate_bytes == 9007199254740993);
    assert_int_equal(got.metadata_files_read, 7);
    assert_string_equal(got.status, "held");
    assert_int_equal(got.held_by.count, 2);
    assert_string_equal(got.held_by.items[1], "zero_overlap");
    assert_string_equal(got.sha256, SHA);
    ebb_plan_write_summary(&out, &got);
    assert_string_equal(ebb_buf_cstr(&out), SUMMARY_LINE);
    ebb_strs_fini(&got.held_by);
    ebb_buf_fini(&out);
}

static void test_bad_summaries(void **state)
{
    static const char *const REQUIRED[] = {"\"listed\":10,",
                                           "\"reachable\":5,",
                                           "\"reachable_listed\":4,",
                                           "\"too_young\":1,",
                                           "\"hidden\":2,",
                                           "\"kept\":0,",
                                           "\"links\":1,",
                                           "\"mounts\":0,",
                                           "\"candidates\":2,",
                                           "\"candidate_bytes\":9007199254740993,",
                                           "\"metadata_files_read\":7,",
                                           "\"status\":\"held\",",
                                           "\"held_by\":[\"max_share\",\"zero_overlap\"],",
                                           ",\"sha256\":\"" SHA "\""};

    (void)state;
    for (size_t i = 0; i < sizeof REQUIRED / sizeof REQUIRED[0]; i++)
        bad(SUMMARY, REQUIRED[i], "");
    bad(SUMMARY, "\"listed\":10", "\"listed\":-10");
    bad(SUMMARY, "\"listed\":10", "\"listed\":\"10\"");
    bad(SUMMARY, "\"status\":\"held\"", "\"status\":\"ready\"");
    bad(SUMMARY, "\"status\":\"held\"", "\"status\":\"done\"");
    bad(SUMMARY, "[\"max_share\",\"zero_overlap\"]", "[]");
    bad(SUMMARY, "[\"max_share\",\"zero_overlap\"]", "[1]");
    bad(SUMMARY, "[\"max_share\",\"zero_overlap\"]", "[\"\"]");
    bad(SUMMARY, "[\"max_share\",\"zero_overlap\"]", "\"max_share\"");
    bad(SUMMARY, SHA, "");
    bad(SUMMARY, "0123456789abcdef", "0123456789ABCDEF");
    bad(SUMMARY, "0123456789abcdef", "0123456789abcdefg");
    fine(SUMMARY, "\"held\",\"held_by\":[\"max_share\",\"zero_overlap\"]", "\"ready\",\"held_by\":[]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_header),
        cmocka_unit_test(test_header_round_trip),
        cmocka_unit_test(test_header_with_pretty_json),
        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_write_candidate),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_bad_candidates),
        cmocka_unit_test(test_cut_lines),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_bad_summaries),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
