/* SPDX-License-Identifier: Apache-2.0
 *
 * A small real table in a temporary folder: no snapshots; `statistics` entries name whatever a test wants to be
 * reachable. With it a site: storage, store, audit log, a clock that a test can hook (it is read at known steps, so a
 * hook can act as a writer that commits in the middle).
 *
 *   TOP/wh/ns/t/metadata/vN.metadata.json, version-hint.text    TOP/wh/ns/t/data/…    TOP/state
 */
#ifndef TEST_TABLE_HELP_H
#define TEST_TABLE_HELP_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "table/apply.h"
#include "table/plan.h"

#define UUID_A "11111111-2222-4333-8444-555555555555"
#define UUID_B "99999999-2222-4333-8444-555555555555"
#define TEN_DAYS_MS ((int64_t)10 * 24 * 3600 * 1000)
#define HOUR_MS ((int64_t)3600 * 1000)

struct table_fixture {
    char top[32], location[128], uri[160], state[96];
    struct ebb_uri_map *map;
    struct ebb_storage *storage;
    struct ebb_store *store;
    struct ebb_audit *audit;
    struct ebb_site site;
    struct ebb_err err;
    int version;
    char plan[40], plan_path[512];
    int64_t shift_ms;                      /* added to the clock */
    void (*hook)(struct table_fixture *f); /* called whenever the clock is read */
    int hook_state;
    bool in_hook;
};

#define assert_ok(f, call)                                                                                             \
    do {                                                                                                               \
        int assert_rc_ = (call);                                                                                       \
        if (assert_rc_)                                                                                                \
            fail_msg("%s: %s", ebb_error_code((f)->err.error), (f)->err.message);                                      \
    } while (0)
#define assert_error(f, call, symbol)                                                                                  \
    do {                                                                                                               \
        int assert_rc_ = (call);                                                                                       \
        if (assert_rc_ != -EBB_##symbol)                                                                               \
            fail_msg("expected %s, got %d: %s", #symbol, assert_rc_, assert_rc_ ? (f)->err.message : "success");       \
    } while (0)

static inline void path_of(struct table_fixture *f, const char *name, char out[512])
{
    snprintf(out, 512, "%s/%s", f->location, name);
}

static inline bool has_file(struct table_fixture *f, const char *name)
{
    char path[512];
    struct stat st;

    path_of(f, name, path);
    return lstat(path, &st) == 0;
}

static inline bool holds(struct table_fixture *f, const char *name, const char *text)
{
    char path[512], bytes[4096] = "";
    FILE *file;
    size_t n;

    path_of(f, name, path);
    file = fopen(path, "r");
    if (!file)
        return false;
    n = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    bytes[n] = '\0';
    return strcmp(bytes, text) == 0;
}

static inline void write_path(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void set_age(const char *path, int64_t age_ms)
{
    int64_t at = ebb_clock_now(&(struct ebb_clock){ebb_clock_system().now_ms, NULL}) - age_ms;
    struct timespec times[2] = {{at / 1000, 0}, {at / 1000, 123456789}};

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* The folders above a path. */
static inline void make_parents(const char *path)
{
    char part[512];

    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (mkdir(part, 0755))
            assert_int_equal(errno, EEXIST);
    }
}

/* A file of the given age below the location; its folder is made. The content is the name. */
static inline void put_file_aged(struct table_fixture *f, const char *name, int64_t age_ms)
{
    char path[512];

    path_of(f, name, path);
    make_parents(path);
    write_path(path, name);
    set_age(path, age_ms);
}

static inline void put_file(struct table_fixture *f, const char *name)
{
    put_file_aged(f, name, TEN_DAYS_MS);
}

/* Commit a metadata version that references these names (space separated, below the location). */
static inline void commit_as(struct table_fixture *f, const char *uuid, const char *names)
{
    char path[512], text[8192], hint[16], copy[1024];
    char *save = NULL, *name;
    int n, id = 1;

    f->version++;
    n = snprintf(
        text, sizeof text,
        "{\"format-version\":2,\"table-uuid\":\"%s\",\"location\":\"%s\",\"last-sequence-number\":0,"
        "\"last-updated-ms\":%d,\"last-column-id\":1,\"current-schema-id\":0,"
        "\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"a\",\"required\":false,"
        "\"type\":\"int\"}]}],\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[]}],"
        "\"last-partition-id\":999,\"default-sort-order-id\":0,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],"
        "\"properties\":{},\"current-snapshot-id\":-1,\"refs\":{},\"snapshots\":[],\"snapshot-log\":[],"
        "\"metadata-log\":[",
        uuid, f->uri, 1767225600 + f->version);
    for (int v = 1; v < f->version; v++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "%s{\"timestamp-ms\":1,\"metadata-file\":\"%s/metadata/v%d.metadata.json\"}", v > 1 ? "," : "",
                      f->uri, v);
    n += snprintf(text + n, sizeof text - (size_t)n, "],\"statistics\":[");
    snprintf(copy, sizeof copy, "%s", names);
    for (name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save), id++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "%s{\"snapshot-id\":%d,\"statistics-path\":\"%s/%s\",\"file-size-in-bytes\":1,"
                      "\"file-footer-size-in-bytes\":1,\"blob-metadata\":[]}",
                      id > 1 ? "," : "", id, f->uri, name);
    n += snprintf(text + n, sizeof text - (size_t)n, "]}");
    assert_true((size_t)n < sizeof text);
    snprintf(path, sizeof path, "%s/metadata/v%d.metadata.json", f->location, f->version);
    write_path(path, text);
    set_age(path, TEN_DAYS_MS);
    snprintf(path, sizeof path, "%s/metadata/version-hint.text", f->location);
    snprintf(hint, sizeof hint, "%d", f->version);
    write_path(path, hint);
    set_age(path, TEN_DAYS_MS);
}

static inline void commit_names(struct table_fixture *f, const char *names)
{
    commit_as(f, UUID_A, names);
}

static inline int64_t fixture_now(void *data)
{
    struct table_fixture *f = data;

    if (f->hook && !f->in_hook) {
        f->in_hook = true;
        f->hook(f);
        f->in_hook = false;
    }
    return ebb_clock_system().now_ms(NULL) + f->shift_ms;
}

static inline void open_site(struct table_fixture *f)
{
    assert_ok(f, ebb_uri_map_new(&f->map, &f->err));
    assert_ok(f, ebb_storage_new(f->map, NULL, &f->storage, &f->err));
    assert_ok(f, ebb_store_open(f->state, &f->store, &f->err));
    assert_ok(f, ebb_audit_open(f->state, &f->audit, &f->err));
    memset(&f->site, 0, sizeof f->site);
    f->site.clock.now_ms = fixture_now;
    f->site.clock.data = f;
    f->site.storage = f->storage;
    f->site.store = f->store;
    f->site.audit = f->audit;
}

static inline void close_site(struct table_fixture *f)
{
    ebb_audit_close(f->audit);
    ebb_store_close(f->store);
    ebb_storage_free(f->storage);
    ebb_uri_map_free(f->map);
}

static inline struct table_fixture *make_table(void)
{
    struct table_fixture *f = calloc(1, sizeof *f);
    char path[512];

    assert_non_null(f);
    snprintf(f->top, sizeof f->top, "/tmp/ebb-table-XXXXXX");
    assert_non_null(mkdtemp(f->top));
    snprintf(f->location, sizeof f->location, "%s/wh/ns/t", f->top);
    snprintf(f->uri, sizeof f->uri, "file:%s", f->location);
    snprintf(f->state, sizeof f->state, "%s/state", f->top);
    path_of(f, "metadata/", path);
    make_parents(path);
    path_of(f, "data/", path);
    make_parents(path);
    assert_int_equal(mkdir(f->state, 0700), 0);
    snprintf(path, sizeof path, "%s/plans", f->state);
    assert_int_equal(mkdir(path, 0700), 0);
    commit_names(f, "");
    open_site(f);
    return f;
}

static inline void remove_table(struct table_fixture *f)
{
    char command[128];

    close_site(f);
    snprintf(command, sizeof command, "chmod -R u+rwX %s; rm -rf %s", f->top, f->top);
    assert_int_equal(system(command), 0);
    free(f);
}

static inline int table_setup(void **state)
{
    *state = make_table();
    return 0;
}

static inline int table_teardown(void **state)
{
    remove_table(*state);
    return 0;
}

/* Plan everything that is three days old. */
static inline void make_plan(struct table_fixture *f)
{
    struct ebb_plan_options options;
    struct ebb_plan_result result;

    memset(&result, 0, sizeof result);
    ebb_plan_options_init(&options);
    options.max_share = 1;
    assert_ok(f, ebb_plan_make(&f->site, f->location, &options, &result, &f->err));
    snprintf(f->plan, sizeof f->plan, "%s", result.id);
    snprintf(f->plan_path, sizeof f->plan_path, "%s", result.file);
    ebb_plan_result_fini(&result);
    ebb_plan_options_fini(&options);
}

static inline struct ebb_apply_options apply_options(void)
{
    struct ebb_apply_options options = {0};

    return options;
}

/* The name of a file in a run's quarantine, below the location. */
static inline const char *in_quarantine(const char *run, const char *name, char out[512])
{
    snprintf(out, 512, ".ebb-quarantine/%s/%s", run, name);
    return out;
}

struct status_text {
    char text[32];
};

static inline int take_status(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    (void)err;
    snprintf(((struct status_text *)data)->text, sizeof(struct status_text), "%s", record->status);
    return 0;
}

static inline bool has_status(struct table_fixture *f, const char *run, const char *status)
{
    struct status_text t = {""};

    assert_ok(f, ebb_store_get(f->store, EBB_RECORD_RUN, run, take_status, &t, &f->err));
    return strcmp(t.text, status) == 0;
}

#endif
