/* SPDX-License-Identifier: Apache-2.0
 *
 * A small warehouse with a configuration: TOP/wh/db/NAME in Hadoop layout, TOP/ebb.lua, TOP/policies, TOP/state. Each
 * table has a live file data/live.parquet and old litter data/old-N.parquet. The clock is the system's plus shift_ms.
 */
#ifndef EBB_TESTS_SERVICE_HELP_H
#define EBB_TESTS_SERVICE_HELP_H

#include "../table/table_help.h"

#include "service/pass.h"

#define DAY_MS ((int64_t)86400000)
#define CONFIG_HEAD "return { catalogs = { lake = { type = 'directory', path = './wh' } }, policies = './policies', "
/* Due every hour, wants to run. */
#define POLICY_RUN                                                                                                     \
    "return policy { api = 1, name = 'sweep', triggers = { time.every { '1h', anchor = 'epoch' } },\n"                 \
    "decide = function(t, ctx) return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 "   \
    "}) end }\n"

struct told {
    char policy[64], table[64], due[16], verdict[16], status[64], code[64], message[512], decision[40], plan[40],
        run[40];
    int64_t candidates, moved;
};

struct world {
    char top[64];
    struct table_fixture tables[4];
    size_t table_count;
    int64_t shift_ms;
    atomic_bool cancelled;
    int cancel_at; /* this reading of the clock, from 1; 0 never */
    struct ebb_workspace *ws;
    struct told told[32];
    size_t told_count;
    bool dry_run;
    const char *only_policy, *only_table, *scripts;
    struct ebb_err err;
};

static inline int64_t world_now(void *data)
{
    struct world *w = data;

    if (w->cancel_at > 0 && --w->cancel_at == 0)
        atomic_store(&w->cancelled, true);
    return ebb_clock_system().now_ms(NULL) + w->shift_ms;
}

static inline void world_path(const struct world *w, const char *name, char out[512])
{
    snprintf(out, 512, "%s/%s", w->top, name);
}

static inline void world_put(const struct world *w, const char *name, const char *text)
{
    char path[512];

    world_path(w, name, path);
    make_parents(path);
    write_path(path, text);
}

static inline void open_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    snprintf(w->top, sizeof w->top, "/tmp/ebb-service-XXXXXX");
    assert_non_null(mkdtemp(w->top));
    w->scripts = EBB_SOURCE_DIR "/scripts";
    world_put(w, "wh/db/.keep", "");
    world_put(w, "policies/.keep", "");
}

static inline void close_world(struct world *w)
{
    char command[128];

    ebb_workspace_close(w->ws);
    snprintf(command, sizeof command, "chmod -R u+rwX %s; rm -rf %s", w->top, w->top);
    assert_int_equal(system(command), 0);
}

/* A table with a live file, `litter` old files and a young one. */
static inline struct table_fixture *add_table(struct world *w, const char *name, int litter)
{
    struct table_fixture *f = &w->tables[w->table_count];
    char uuid[64], file[64], path[512], base[128];

    memset(f, 0, sizeof *f);
    world_path(w, "wh/db/", path);
    snprintf(base, sizeof base, "%s%s", path, name);
    snprintf(uuid, sizeof uuid, "0000000%zu-2222-4333-8444-555555555555", ++w->table_count);
    snprintf(f->location, sizeof f->location, "%s", base);
    snprintf(f->uri, sizeof f->uri, "file:%s", base);
    path_of(f, "metadata/", path);
    make_parents(path);
    put_file(f, "data/live.parquet");
    put_file_aged(f, "data/young.parquet", HOUR_MS);
    for (int i = 0; i < litter; i++) {
        snprintf(file, sizeof file, "data/old-%d.parquet", i);
        put_file(f, file);
    }
    commit_as(f, uuid, "data/live.parquet");
    return f;
}

/* Replace a part of the current metadata file. */
static inline void edit_metadata(struct table_fixture *f, const char *from, const char *to)
{
    char path[512], text[65536], out[131072];
    char *at;
    size_t n;
    FILE *file;

    snprintf(path, sizeof path, "%s/metadata/v%d.metadata.json", f->location, f->version);
    file = fopen(path, "r");
    assert_non_null(file);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    at = strstr(text, from);
    assert_non_null(at);
    snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    write_path(path, out);
    set_age(path, TEN_DAYS_MS);
}

/* Open (again) as of now + shift. config NULL: without a file. */
static inline int try_open(struct world *w, int64_t shift_ms)
{
    struct ebb_workspace_options o;
    char config[512], state[512];
    int rc;

    ebb_workspace_close(w->ws);
    w->ws = NULL;
    w->shift_ms = shift_ms;
    memset(&o, 0, sizeof o);
    world_path(w, "ebb.lua", config);
    world_path(w, "state", state);
    o.config = config;
    o.state_dir = state;
    o.clock = (struct ebb_clock){world_now, w};
    o.cancelled = &w->cancelled;
    memset(&w->err, 0, sizeof w->err);
    rc = ebb_workspace_open(&o, false, &w->ws, &w->err);
    if (!rc)
        rc = ebb_workspace_connect(w->ws, NULL, NULL, &w->err);
    return rc;
}

static inline void keep(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

static inline void on_report(void *data, const struct ebb_pass_report *r)
{
    struct world *w = data;
    struct told *t = &w->told[w->told_count];

    assert_true(w->told_count < 32);
    w->told_count++;
    memset(t, 0, sizeof *t);
    keep(t->policy, sizeof t->policy, r->policy);
    keep(t->table, sizeof t->table, r->table);
    keep(t->due, sizeof t->due, r->due);
    keep(t->verdict, sizeof t->verdict, r->verdict);
    keep(t->status, sizeof t->status, r->status);
    keep(t->code, sizeof t->code, r->error ? ebb_error_code(r->error->error) : "");
    keep(t->message, sizeof t->message, r->error ? r->error->message : "");
    keep(t->decision, sizeof t->decision, r->decision);
    keep(t->plan, sizeof t->plan, r->plan);
    keep(t->run, sizeof t->run, r->run);
    t->candidates = r->candidates;
    t->moved = r->moved;
}

/* One pass as of now + shift. */
static inline int pass(struct world *w, int64_t shift_ms)
{
    struct ebb_pass_options o = {w->only_policy, w->only_table, w->dry_run, w->scripts, on_report, w};

    assert_ok(w, try_open(w, shift_ms));
    w->told_count = 0;
    return ebb_pass_run(w->ws, &o, &w->err);
}

static inline const struct told *told_of(const struct world *w, const char *table)
{
    for (size_t i = 0; i < w->told_count; i++)
        if (!strcmp(w->told[i].table, table))
            return &w->told[i];
    fail_msg("%s: nothing was told of it", table);
    return NULL;
}

static inline int count_one(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    (void)record;
    (void)err;
    (*(int *)data)++;
    return 0;
}

static inline int count_records(struct world *w, enum ebb_record_kind kind, const char *status)
{
    struct ebb_record_filter filter = {.status = status};
    int n = 0;

    assert_ok(w, ebb_store_list(ebb_workspace_site(w->ws)->store, kind, &filter, count_one, &n, &w->err));
    return n;
}

#endif
