/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "base/text.h"
#include "io/inventory.h"
#include "io/inventory_priv.h"
#include "place_help.h"

struct rows {
    struct ebb_strs lines; /* "<path>|<size>|<mtime>|<id>" */
    int stop_after;
};

static int on_row(void *data, const struct ebb_inventory_row *row, struct ebb_err *err)
{
    struct rows *r = data;
    char line[512];

    if (r->stop_after && (int)r->lines.count == r->stop_after)
        return ebb_err_set(err, EBB_ECANCELLED, "stopped");
    snprintf(line, sizeof line, "%.*s|%" PRId64 "|%" PRId64 "|%.*s", (int)row->path.n, row->path.p, row->size_bytes,
             row->mtime_ms, (int)row->id.n, row->id.n ? row->id.p : "");
    return ebb_strs_add(&r->lines, line, err);
}

static const char *at(struct place_fixture *f, const char *name)
{
    static char path[200];

    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return path;
}

static void expect(struct place_fixture *f, const char *name, int rc, const char *const *lines)
{
    struct rows r = {0};
    size_t n = 0;
    int got = ebb_inventory_read(at(f, name), on_row, &r, &f->err);

    if (got != rc)
        print_error("%s\n", got ? f->err.message : "no error");
    assert_int_equal(got, rc);
    for (; lines && lines[n]; n++) {
        assert_true(n < r.lines.count);
        assert_string_equal(r.lines.items[n], lines[n]);
    }
    if (!rc)
        assert_int_equal(r.lines.count, n);
    ebb_strs_fini(&r.lines);
}
#define EXPECT(f, ...) EXPECT_(f, __VA_ARGS__, NULL)
#define EXPECT_(f, name, ...) expect(f, name, 0, (const char *const[]){__VA_ARGS__})

static void text_file(struct place_fixture *f, const char *name, const char *text)
{
    unlinkat(f->dir, name, 0);
    fixture_file(f, name, text);
}

static void test_tsv(void **state)
{
    struct place_fixture *f = *state;

    text_file(f, "l", "path\tsize\tmtime\ns3://b/t/a\t12\t2026-01-10T00:00:00Z\n\"odd, name\"\t\t\n");
    expect(f, "l", -EBB_EINVENTORY, NULL); /* a quote is part of a TSV cell: not a full URI */
    assert_non_null(strstr(f->err.message, "line 3: column path"));
    text_file(f, "l", "owner\tmtime\tpath\tsize\nx\t1768003200000\ts3://b/t/a \"b\",c\t12\ny\t\ts3://b/t/b\t\n");
    EXPECT(f, "l", "s3://b/t/a \"b\",c|12|1768003200000|", "s3://b/t/b|-1|0|");
    text_file(f, "l", "path\tsize\tmtime\tid\r\nfile:/t/a\t0\t2026-01-10T01:00:00+01:00\tabc\r\n");
    EXPECT(f, "l", "file:/t/a|0|1768003200000|abc");
    text_file(f, "l", "\xef\xbb\xbfpath\tsize\tmtime\n/t/a\t1\t0\n");
    EXPECT(f, "l", "/t/a|1|0|");
    text_file(f, "l", "path\tsize\tmtime\n");
    EXPECT(f, "l");
}

/* RFC 4180 section 2: quotes, doubled quotes, line ends inside quotes, CR LF. */
static void test_csv(void **state)
{
    struct place_fixture *f = *state;

    text_file(f, "l",
              "path,size,mtime\r\n\"s3://b/t/a,\"\"b\"\"\r\nc\",\"12\",2026-01-10T00:00:00.5Z\r\ns3://b/t/d,,\r\n");
    EXPECT(f, "l", "s3://b/t/a,\"b\"\r\nc|12|1768003200500|", "s3://b/t/d|-1|0|");
    text_file(f, "l", "\"size\",\"path\",\"mtime\"\n1,s3://b/a\rb,1768003200000\n");
    EXPECT(f, "l", "s3://b/a\rb|1|1768003200000|");
}

static void refuse(struct place_fixture *f, const char *text, const char *says)
{
    text_file(f, "l", text);
    expect(f, "l", -EBB_EINVENTORY, NULL);
    if (!strstr(f->err.message, says))
        fail_msg("%s: wanted %s", f->err.message, says);
    assert_non_null(strstr(f->err.message, at(f, "l")));
}

static void test_refused(void **state)
{
    struct place_fixture *f = *state;

    refuse(f, "", "line 1: no header");
    refuse(f, "\n", "line 1: no header");
    refuse(f, "s3://b/t/a\t1\t1768003200000\n", "line 1: column path: missing");
    refuse(f, "path,size\n", "line 1: column mtime: missing");
    refuse(f, "path,size,mtime,path\n", "column path: twice");
    refuse(f, "path,size,mtime\ns3://b/a,1\n", "line 2: 2 columns where 3 are named");
    refuse(f, "path,size,mtime\ns3://b/a,1,1768003200000,x\n", "line 2: 4 columns");
    refuse(f, "path,size,mtime\n\ns3://b/a,1,1768003200000\n", "line 2: 1 columns");
    refuse(f, "path,size,mtime\ns3://b/a,1x,\n", "line 2: column size");
    refuse(f, "path,size,mtime\ns3://b/a,-1,\n", "line 2: column size");
    refuse(f, "path,size,mtime\ns3://b/a,9223372036854775808,\n", "line 2: column size");
    refuse(f, "path,size,mtime\n\"s3://b/\n\",1,\ns3://b/c,1,2026-01-10T00:00:00\n",
           "line 4: column mtime"); /* no zone */
    refuse(f, "path,size,mtime\ns3://b/a,1,yesterday\n", "column mtime");
    refuse(f, "path,size,mtime\ns3://b/a,1,1768003200\n", "column mtime: not plausible");       /* seconds */
    refuse(f, "path,size,mtime\ns3://b/a,1,1768003200000000\n", "column mtime: not plausible"); /* microseconds */
    refuse(f, "path,size,mtime\ndata/a.parquet,1,1768003200000\n", "column path: not a full URI");
    refuse(f, "path,size,mtime\n,1,1768003200000\n", "column path: not a full URI");
    refuse(f, "path,size,mtime\n\"s3://b/a\"x,1,\n", "line 2: text after a closing quote");
    refuse(f, "path,size,mtime\n\"s3://b/a\"\rx,1,\n", "line 2: text after a closing quote");
    refuse(f, "path,size,mtime\ns3://b/\"a\",1,\n", "line 2: a quote in a cell");
    refuse(f, "path,size,mtime\n\"s3://b/a,1,\n", "line 2: the file ends inside quotes");
    fixture_run(f, "printf 'path,size,mtime\\ns3://b/a\\000b,1,\\n' > nul");
    expect(f, "nul", -EBB_EINVENTORY, NULL);
    fixture_run(f, "(printf 'path,size,mtime\\ns3://b/'; head -c 70000 /dev/zero | tr '\\0' a; echo ,1,) > long");
    expect(f, "long", -EBB_EINVENTORY, NULL);
    assert_non_null(strstr(f->err.message, "line 2: longer than"));
    fixture_run(f, "head -c 70000 /dev/zero | tr '\\0' a > long");
    expect(f, "long", -EBB_EINVENTORY, NULL);
    fixture_run(f, "(printf path,size,mtime; head -c 300 /dev/zero | tr '\\0' ,; echo) > wide");
    expect(f, "wide", -EBB_EINVENTORY, NULL);
    expect(f, "none", -EBB_ENOENT, NULL);
    fixture_dir(f, "folder");
    expect(f, "folder", -EBB_EIO, NULL);
}

/* A plain list without a last line end may have been cut: what could be half a value counts as unknown. */
static void test_unterminated(void **state)
{
    struct place_fixture *f = *state;

    text_file(f, "l", "path,size,mtime\ns3://b/a,1,1768003200000\ns3://b/c,12,1768003200000");
    EXPECT(f, "l", "s3://b/a|1|1768003200000|", "s3://b/c|-1|0|");
    fixture_run(f, "gzip -c l > l.gz");
    EXPECT(f, "l.gz", "s3://b/a|1|1768003200000|", "s3://b/c|12|1768003200000|");
}

static void test_stop(void **state)
{
    struct place_fixture *f = *state;
    struct rows r = {.stop_after = 1};

    text_file(f, "l", "path,size,mtime\ns3://b/a,1,\ns3://b/b,1,\ns3://b/c,1,\n");
    assert_int_equal(ebb_inventory_read(at(f, "l"), on_row, &r, &f->err), -EBB_ECANCELLED);
    assert_int_equal(r.lines.count, 1);
    ebb_strs_fini(&r.lines);
}

static void test_gzip(void **state)
{
    struct place_fixture *f = *state;
    struct rows r = {0};

    fixture_run(f, "(printf 'path\\tsize\\tmtime\\n'; seq -f 's3://b/t/file-%.0f\t7\t1768003200000' 1 50000) > l && "
                   "gzip -c l > l.gz && (head -n 20000 l | gzip; tail -n +20001 l | gzip) > two.gz");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ebb_inventory_read(at(f, i == 0 ? "l" : i == 1 ? "l.gz" : "two.gz"), on_row, &r, &f->err), 0);
        assert_int_equal(r.lines.count, 50000);
        assert_string_equal(r.lines.items[49999], "s3://b/t/file-50000|7|1768003200000|");
        ebb_strs_fini(&r.lines);
    }
    fixture_run(f, "s=$(stat -c %s l.gz); for cut in 1 8 9 100 $((s - 20)); do "
                   "head -c $((s - cut)) l.gz > cut$cut.gz; done; mv cut$((s - 20)).gz cut-head.gz; "
                   "(cat l.gz; echo rubbish) > tail.gz; (head -c 2000 l.gz; printf x; tail -c +2002 l.gz) > bad.gz; "
                   "head -c 10 l.gz > header.gz");
    expect(f, "cut1.gz", -EBB_EINVENTORY, NULL);
    assert_non_null(strstr(f->err.message, "cut off"));
    expect(f, "cut8.gz", -EBB_EINVENTORY, NULL);
    expect(f, "cut9.gz", -EBB_EINVENTORY, NULL);
    expect(f, "cut100.gz", -EBB_EINVENTORY, NULL);
    expect(f, "cut-head.gz", -EBB_EINVENTORY, NULL);
    expect(f, "header.gz", -EBB_EINVENTORY, NULL);
    expect(f, "tail.gz", -EBB_EINVENTORY, NULL);
    expect(f, "bad.gz", -EBB_EINVENTORY, NULL);
}

/* ---- S3 Inventory ---- */

#define SCHEMA "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass"

static void s3_fixture(struct place_fixture *f)
{
    fixture_run(
        f, "mkdir -p inv/2026-01-11T01-00Z inv/data && cd inv && { "
           "printf '\"lake\",\"t/data/a%%20b%%252F.parquet\",\"v1\",\"true\",\"false\",\"12\","
           "\"2026-01-10T00:00:00.000Z\",\"e1\",\"STANDARD\"\\n';"
           "printf "
           "'\"lake\",\"t/data/old\",\"v1\",\"false\",\"false\",\"12\",\"2026-01-10T00:00:00.000Z\",\"e\",\"S\"\\n';"
           "printf '\"lake\",\"t/data/gone\",\"v1\",\"true\",\"true\",\"\",\"\",\"\",\"\"\\n';"
           "} | gzip > data/one.csv.gz && "
           "printf "
           "'\"lake\",\"t/p%%3D1/x+y%%2B\",\"\",\"true\",\"false\",\"5\",\"2026-01-10T00:00:00.000Z\",\"e2\",\"S\"\\n' "
           "| gzip > 2026-01-11T01-00Z/two.csv.gz");
}

static void s3_manifest(struct place_fixture *f, const char *format, const char *schema)
{
    char command[2000];

    snprintf(
        command, sizeof command,
        "cd inv && file() { printf '{\"key\":\"inv/lake/c/data/%%s\",\"size\":%%s,\"MD5checksum\":\"%%s\"}' "
        "$(basename $1) $(stat -c %%s $1) $(md5sum < $1 | cut -c 1-32); } && "
        "printf '{\"sourceBucket\":\"lake\",\"destinationBucket\":\"arn:aws:s3:::inv\",\"version\":\"2016-11-30\","
        "\"creationTimestamp\":\"1768093200000\",\"fileFormat\":\"%s\",\"fileSchema\":\"%s\",\"files\":[%%s,%%s]}' "
        "\"$(file data/one.csv.gz)\" \"$(file 2026-01-11T01-00Z/two.csv.gz)\" > 2026-01-11T01-00Z/manifest.json",
        format, schema);
    fixture_run(f, command);
}

#define MANIFEST "inv/2026-01-11T01-00Z/manifest.json"

static void test_s3(void **state)
{
    struct place_fixture *f = *state;

    s3_fixture(f);
    s3_manifest(f, "CSV", SCHEMA);
    EXPECT(f, MANIFEST, "s3://lake/t/data/a b%2F.parquet|12|1768003200000|e1",
           "s3://lake/t/p=1/x y+|5|1768003200000|e2");
}

static void test_s3_refused(void **state)
{
    struct place_fixture *f = *state;

    s3_fixture(f);
    s3_manifest(f, "ORC", SCHEMA);
    expect(f, MANIFEST, -EBB_EINVENTORY, NULL);
    assert_non_null(strstr(f->err.message, "ORC"));
    s3_manifest(f, "Parquet", SCHEMA);
    expect(f, MANIFEST, -EBB_EINVENTORY, NULL);
    assert_non_null(strstr(f->err.message, "Parquet"));
    s3_manifest(f, "CSV", "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, X, ETag, StorageClass");
    expect(f, MANIFEST, -EBB_EINVENTORY, NULL);
    assert_non_null(strstr(f->err.message, "LastModifiedDate"));
    s3_manifest(f, "CSV", SCHEMA ", More");
    expect(f, MANIFEST, -EBB_EINVENTORY, NULL);
    s3_manifest(f, "CSV", SCHEMA);
    fixture_run(f, "cd inv/data && cp one.csv.gz kept && zcat kept | sed s/12/13/ | gzip > one.csv.gz");
    expect(f, MANIFEST, -EBB_EINVENTORY, NULL);
    assert_non_null(strstr(f->err.message, "MD5"));
    fixture_run(f, "rm inv/data/one.csv.gz");
    expect(f, MANIFEST, -EBB_EINVENTORY, NULL);
    assert_non_null(strstr(f->err.message, "one.csv.gz lies neither"));
}

static void refuse_manifest(const char *text)
{
    struct ebb__s3_manifest m;
    struct ebb_err err;

    assert_int_equal(ebb__s3_manifest_parse("m", text, strlen(text), &m, &err), -EBB_EINVENTORY);
    ebb__s3_manifest_fini(&m);
}

static void test_s3_manifest(void **state)
{
    (void)state;
    refuse_manifest("");
    refuse_manifest("[]");
    refuse_manifest("{}");
    refuse_manifest("{\"fileFormat\":\"CSV\"}");
    refuse_manifest("{\"fileFormat\":\"CSV\",\"files\":[]}");
    refuse_manifest("{\"fileFormat\":\"CSV\",\"fileSchema\":\"\",\"files\":{}}");
    refuse_manifest("{\"fileFormat\":\"CSV\",\"fileSchema\":\"\",\"files\":[1]}");
    refuse_manifest("{\"fileFormat\":\"CSV\",\"fileSchema\":\"\",\"files\":[{}]}");
    refuse_manifest("{\"fileFormat\":\"CSV\",\"fileSchema\":\"\",\"files\":[{\"key\":\"a\",\"size\":1}]}");
    refuse_manifest("{\"fileFormat\":\"CSV\",\"fileSchema\":\"\",\"files\":[{\"key\":\"a\",\"MD5checksum\":"
                    "\"00000000000000000000000000000000\"}]}");
    refuse_manifest("{\"fileFormat\":\"CSV\",\"fileSchema\":\"\",\"files\":[]} x");
}

static void s3_row(const char *line, int rc, const char *want)
{
    struct ebb__rows rows;
    struct rows r = {0};
    struct ebb_err err;
    int got;

    got = ebb__inventory_rows_init_s3(&rows, "d", EBB_STR("Bucket,Key,Size,LastModifiedDate"), on_row, &r, &err);
    if (!got)
        got = ebb__inventory_rows_feed(&rows, line, strlen(line), &err);
    if (!got)
        got = ebb__inventory_rows_end(&rows, &err);
    assert_int_equal(got, rc);
    if (want)
        assert_string_equal(r.lines.items[0], want);
    ebb_strs_fini(&r.lines);
    ebb__inventory_rows_fini(&rows);
}

static void test_s3_keys(void **state)
{
    (void)state;
    s3_row("b,a%2fb,1,", 0, "s3://b/a/b|1|0|");
    s3_row("b,%E2%82%AC%ff,1,", 0, "s3://b/\xe2\x82\xac\xff|1|0|");
    s3_row("b,/x//y/,1,", 0, "s3://b//x//y/|1|0|");
    s3_row("b,a%2,1,", -EBB_EINVENTORY, NULL);
    s3_row("b,a%,1,", -EBB_EINVENTORY, NULL);
    s3_row("b,a%zz,1,", -EBB_EINVENTORY, NULL);
    s3_row("b,a%00,1,", -EBB_EINVENTORY, NULL);
    s3_row("b,,1,", -EBB_EINVENTORY, NULL);
    s3_row(",a,1,", -EBB_EINVENTORY, NULL);
    s3_row("b/c,a,1,", -EBB_EINVENTORY, NULL);
}

/* The same rows come out however the bytes are cut into pieces. */
static void test_pieces(void **state)
{
    static const char text[] = "path,size,mtime\r\n\"s3://b/a\"\"x\"\"\r\n,\",1,1768003200000\r\ns3://b/c,2,\r\n";

    (void)state;
    for (size_t piece = 1; piece < sizeof text; piece++) {
        struct ebb__rows rows;
        struct rows r = {0};
        struct ebb_err err;

        ebb__inventory_rows_init(&rows, "l", false, on_row, &r);
        for (size_t i = 0; i < sizeof text - 1; i += piece)
            assert_int_equal(ebb__inventory_rows_feed(&rows, text + i,
                                                      i + piece < sizeof text - 1 ? piece : sizeof text - 1 - i, &err),
                             0);
        assert_int_equal(ebb__inventory_rows_end(&rows, &err), 0);
        assert_int_equal(r.lines.count, 2);
        assert_string_equal(r.lines.items[0], "s3://b/a\"x\"\r\n,|1|1768003200000|");
        assert_string_equal(r.lines.items[1], "s3://b/c|2|0|");
        ebb_strs_fini(&r.lines);
        ebb__inventory_rows_fini(&rows);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_tsv),
        T(test_csv),
        T(test_refused),
        T(test_unterminated),
        T(test_stop),
        T(test_gzip),
        T(test_s3),
        T(test_s3_refused),
        cmocka_unit_test(test_s3_manifest),
        cmocka_unit_test(test_s3_keys),
        cmocka_unit_test(test_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
