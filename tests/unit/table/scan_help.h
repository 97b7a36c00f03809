/* SPDX-License-Identifier: Apache-2.0
 *
 * Planning in tests: options with defaults, a plan read back as names below the location, other tables beside the one
 * of table_help.h.
 */
#ifndef TEST_SCAN_HELP_H
#define TEST_SCAN_HELP_H

#include "table_help.h"

#include "table/plan_file.h"

struct scan {
    struct ebb_plan_options options;
    struct ebb_plan_result result;
    struct ebb_strs names; /* candidates, below the location where they are */
};

static inline struct scan *scan_new(void)
{
    struct scan *s = calloc(1, sizeof *s);

    assert_non_null(s);
    ebb_plan_options_init(&s->options);
    s->options.max_share = 1;
    return s;
}

static inline void scan_free(struct scan *s)
{
    ebb_plan_options_fini(&s->options);
    ebb_plan_result_fini(&s->result);
    ebb_strs_fini(&s->names);
    free(s);
}

struct scan_names {
    struct ebb_strs *out;
    const char *root;
};

static inline int scan_take(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct scan_names *t = data;
    size_t n = strlen(t->root);
    bool inside = c->path.n > n && !memcmp(c->path.p, t->root, n) && c->path.p[n] == '/';

    return inside ? ebb_strs_addn(t->out, c->path.p + n + 1, c->path.n - n - 1, err)
                  : ebb_strs_addn(t->out, c->path.p, c->path.n, err);
}

static inline int scan_run(struct table_fixture *f, struct scan *s, const char *table)
{
    struct ebb_plan_file *file = NULL;
    struct scan_names names = {&s->names, f->uri};
    int rc;

    ebb_plan_result_fini(&s->result);
    ebb_strs_fini(&s->names);
    rc = ebb_plan_make(&f->site, table ? table : f->location, &s->options, &s->result, &f->err);
    if (rc)
        return rc;
    assert_ok(f, ebb_plan_file_open(&f->site, s->result.file, &file, &f->err));
    assert_ok(f, ebb_plan_file_each(file, scan_take, &names, &f->err));
    ebb_plan_file_close(file);
    assert_int_equal(s->names.count, s->result.summary.candidates);
    return 0;
}

/* Plan, and compare the candidates (sorted, parted by blanks). */
#define assert_candidates(f, s, expected)                                                                              \
    do {                                                                                                               \
        char assert_got_[4096] = "";                                                                                   \
        assert_ok(f, scan_run(f, s, NULL));                                                                            \
        for (size_t assert_i_ = 0; assert_i_ < (s)->names.count; assert_i_++)                                          \
            snprintf(assert_got_ + strlen(assert_got_), sizeof assert_got_ - strlen(assert_got_), "%s%s",              \
                     assert_i_ ? " " : "", (s)->names.items[assert_i_]);                                               \
        assert_string_equal(assert_got_, expected);                                                                    \
    } while (0)

/* No plan file and no record may be left of a failure. */
static inline void assert_nothing_left(struct table_fixture *f)
{
    char command[256];

    snprintf(command, sizeof command, "test -z \"$(ls -A %s/plans)\"", f->state);
    assert_int_equal(system(command), 0);
}

/* Another table: a Hadoop folder TOP/<folder> whose metadata has this uuid and location, and names this URI (or "") as
 * statistics. */
static inline void other_table(struct table_fixture *f, const char *folder, const char *uuid, const char *location,
                               const char *names_uri)
{
    char path[512], command[600], text[4096];

    snprintf(command, sizeof command, "mkdir -p '%s/%s/metadata'", f->top, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/%s/metadata/version-hint.text", f->top, folder);
    write_path(path, "1");
    snprintf(path, sizeof path, "%s/%s/metadata/v1.metadata.json", f->top, folder);
    snprintf(text, sizeof text,
             "{\"format-version\":2,\"table-uuid\":\"%s\",\"location\":\"%s\",\"last-sequence-number\":0,\"last-"
             "updated-ms\":1,"
             "\"partition-specs\":[],\"properties\":{},\"statistics\":[%s%s%s]}",
             uuid, location, names_uri[0] ? "{\"snapshot-id\":1,\"statistics-path\":\"" : "", names_uri,
             names_uri[0] ? "\"}" : "");
    write_path(path, text);
}

/* A directory catalog on TOP/wh. */
static inline struct ebb_catalog *add_catalog(struct table_fixture *f, struct ebb_catalog **list)
{
    char path[128];
    struct ebb_catalog_config config = {.name = "files", .type = "directory", .path = path};
    const struct ebb_catalog_site site = {.storage = f->storage};

    snprintf(path, sizeof path, "%s/wh", f->top);
    assert_ok(f, ebb_catalog_new(&config, &site, list, &f->err));
    f->site.catalogs = list;
    f->site.catalog_count = 1;
    return *list;
}

#endif
