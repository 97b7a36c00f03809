/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_help.h"

static unsigned mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static struct ebb_record record(const char *id, const char *status, int64_t at_ms)
{
    struct ebb_record r = {id, "lake.db.t", "u-1", "weekly", status, at_ms, 0, "", "{\"a\":1}"};

    return r;
}

/* What callbacks saw. */
struct seen {
    struct ebb_buf ids;
    struct ebb_store *write_to;
    int64_t count;
};

static int note(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct seen *s = data;

    (void)err;
    ebb_buf_printf(&s->ids, "%s:%s ", r->id, r->status);
    s->count++;
    return 0;
}

static const char *list(struct fixture *f, enum ebb_record_kind kind, const struct ebb_record_filter *filter)
{
    static char text[1024];
    struct seen s = {.write_to = NULL};

    ebb_buf_init(&s.ids, 1000);
    assert_int_equal(ebb_store_list(f->store, kind, filter, note, &s, &f->err), 0);
    snprintf(text, sizeof text, "%s", ebb_buf_cstr(&s.ids));
    ebb_buf_fini(&s.ids);
    return text;
}

static void put(struct fixture *f, enum ebb_record_kind kind, struct ebb_record r)
{
    assert_int_equal(ebb_store_put(f->store, kind, &r, &f->err), 0);
}

static void test_modes_do_not_depend_on_umask(void **state)
{
    struct fixture *f = *state;
    mode_t old = umask(0);
    char wal[160];

    open_store(f);
    put(f, EBB_RECORD_RUN, record("r-1", "started", 5));
    umask(old);
    snprintf(wal, sizeof wal, "%s-wal", f->file);
    assert_int_equal(mode_of(f->dir), 0700);
    assert_int_equal(mode_of(f->file), 0600);
    assert_int_equal(mode_of(wal), 0600);
}

static void test_wide_mode_is_narrowed(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    ebb_store_close(f->store);
    chmod(f->file, 0666);
    open_store(f);
    assert_int_equal(mode_of(f->file), 0600);
}

static void test_seed_is_drawn_once(void **state)
{
    struct fixture *f = *state, other = *f;
    uint64_t seed;

    open_store(f);
    seed = ebb_store_seed(f->store);
    ebb_store_close(f->store);
    open_store(f);
    assert_true(seed == ebb_store_seed(f->store));
    assert_string_equal(ebb_store_dir(f->store), f->dir);
    snprintf(other.dir, sizeof other.dir, "%s/b", f->root);
    open_store(&other);
    assert_true(seed != ebb_store_seed(other.store));
    ebb_store_close(other.store);
}

static void test_ids_sort_by_time(void **state)
{
    struct fixture *f = *state;
    char a[40], b[40], c[40];

    open_store(f);
    ebb_store_new_id(f->store, "p", 1780272000000, a);
    ebb_store_new_id(f->store, "p", 1780272000001, b);
    ebb_store_new_id(f->store, "p", 1780272000001, c);
    assert_int_equal(strlen(a), 2 + 26);
    assert_memory_equal(a, "p-01KT07NV00", 12); /* 1780272000000 in Crockford base32, 10 digits */
    assert_true(strcmp(a, b) < 0);
    assert_string_not_equal(b, c);
    assert_int_equal(strspn(a + 2, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"), 26);
    ebb_store_new_id(f->store, "p", -1, a);
    assert_memory_equal(a, "p-0000000000", 12);
    ebb_store_new_id(f->store, "p", INT64_MAX, a);
    assert_memory_equal(a, "p-7ZZZZZZZZZ", 12);
}

static int keep(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    (void)err;
    snprintf(data, 256, "%s|%s|%s|%s|%s|%d|%d|%s|%s", r->id, r->table, r->uuid, r->policy, r->status, (int)r->at_ms,
             (int)r->end_ms, r->parent, r->json);
    return 0;
}

static void test_put_and_get(void **state)
{
    struct fixture *f = *state;
    struct ebb_record r = {"r-1", "lake.a'b.\"t\"", "u", "p", "started", 7, 0, "p-1", "{}"};
    char got[256];

    open_store(f);
    put(f, EBB_RECORD_RUN, r);
    ebb_store_close(f->store);
    open_store(f);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_RUN, "r-1", keep, got, &f->err), 0);
    assert_string_equal(got, "r-1|lake.a'b.\"t\"|u|p|started|7|0|p-1|{}");
    r.status = "done";
    r.end_ms = 9;
    r.policy = NULL;
    put(f, EBB_RECORD_RUN, r);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_RUN, "r-1", keep, got, &f->err), 0);
    assert_string_equal(got, "r-1|lake.a'b.\"t\"|u||done|7|9|p-1|{}");
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_PLAN, "r-1", keep, got, &f->err), -EBB_ENOT_FOUND);
    r.id = "";
    assert_int_equal(ebb_store_put(f->store, EBB_RECORD_RUN, &r, &f->err), -EBB_EINTERNAL);
}

static void test_get_by_prefix(void **state)
{
    struct fixture *f = *state;
    char got[256];

    open_store(f);
    put(f, EBB_RECORD_PLAN, record("p-01AAAA1", "ready", 1));
    put(f, EBB_RECORD_PLAN, record("p-01AAAA2", "ready", 1));
    put(f, EBB_RECORD_PLAN, record("p-01AB", "ready", 1));
    put(f, EBB_RECORD_PLAN, record("p-01ABCD", "ready", 1));
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_PLAN, "p-01ABC", keep, got, &f->err), 0);
    assert_memory_equal(got, "p-01ABCD|", 9);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_PLAN, "p-01AB", keep, got, &f->err), 0); /* the whole id */
    assert_memory_equal(got, "p-01AB|", 7);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_PLAN, "p-01AAAA", keep, got, &f->err), -EBB_ENOT_FOUND);
    assert_non_null(strstr(f->err.message, "several"));
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_PLAN, "p-01A", keep, got, &f->err), -EBB_ENOT_FOUND);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_PLAN, "p-01%__", keep, got, &f->err), -EBB_ENOT_FOUND);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_PLAN, "", keep, got, &f->err), -EBB_ENOT_FOUND);
}

static void test_list_filters(void **state)
{
    struct fixture *f = *state;
    struct ebb_record r;

    open_store(f);
    put(f, EBB_RECORD_RUN, record("r-2", "done", 20));
    put(f, EBB_RECORD_RUN, record("r-1", "started", 10));
    put(f, EBB_RECORD_RUN, record("r-3", "done", 20));
    r = record("r-4", "done", 30);
    r.table = "lake.db.[x]?";
    r.uuid = "u-2";
    r.policy = "";
    r.parent = "p-9";
    put(f, EBB_RECORD_RUN, r);
    put(f, EBB_RECORD_DECISION, record("d-1", "run", 1));

    assert_string_equal(list(f, EBB_RECORD_RUN, NULL), "r-1:started r-2:done r-3:done r-4:done ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.newest_first = true}),
                        "r-4:done r-3:done r-2:done r-1:started ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.newest_first = true, .limit = 2}),
                        "r-4:done r-3:done ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.status = "started"}), "r-1:started ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.uuid = "u-2"}), "r-4:done ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.policy = ""}), "r-4:done ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.parent = "p-9"}), "r-4:done ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.since_ms = 20, .limit = 2}),
                        "r-2:done r-3:done ");
    assert_string_equal(list(f, EBB_RECORD_PLAN, NULL), "");
}

static void test_table_globs_know_only_the_star(void **state)
{
    struct fixture *f = *state;
    struct ebb_record r;

    open_store(f);
    put(f, EBB_RECORD_RUN, record("r-1", "done", 1)); /* lake.db.t */
    r = record("r-2", "done", 2);
    r.table = "lake.db.[t]?";
    put(f, EBB_RECORD_RUN, r);
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.table = "lake.*"}), "r-1:done r-2:done ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.table = "*.***t"}), "r-1:done ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.table = "lake.db.[t]?"}), "r-2:done ");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.table = "lake.db.?"}), "");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.table = "LAKE.*"}), "");
    assert_string_equal(list(f, EBB_RECORD_RUN, &(struct ebb_record_filter){.table = "' OR 1=1 --"}), "");
}

static int finish(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct seen *s = data;
    struct ebb_record changed = *r;

    s->count++;
    changed.status = "interrupted";
    return ebb_store_put(s->write_to, EBB_RECORD_RUN, &changed, err);
}

static void test_callback_of_list_may_write(void **state)
{
    struct fixture *f = *state;
    struct seen s = {.count = 0};

    open_store(f);
    s.write_to = f->store;
    put(f, EBB_RECORD_RUN, record("r-1", "started", 1));
    put(f, EBB_RECORD_RUN, record("r-2", "started", 2));
    put(f, EBB_RECORD_RUN, record("r-3", "done", 3));
    assert_int_equal(
        ebb_store_list(f->store, EBB_RECORD_RUN, &(struct ebb_record_filter){.status = "started"}, finish, &s, &f->err),
        0);
    assert_int_equal(s.count, 2);
    assert_string_equal(list(f, EBB_RECORD_RUN, NULL), "r-1:interrupted r-2:interrupted r-3:done ");
}

static int refuse(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    (void)data;
    return ebb_err_set(err, EBB_ECANCELLED, "%s: enough", r->id);
}

static void test_callback_error_ends_the_list(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    put(f, EBB_RECORD_RUN, record("r-1", "started", 1));
    assert_int_equal(ebb_store_list(f->store, EBB_RECORD_RUN, NULL, refuse, NULL, &f->err), -EBB_ECANCELLED);
    assert_string_equal(f->err.message, "r-1: enough");
}

static void test_plan_is_claimed_once(void **state)
{
    struct fixture *f = *state;
    struct ebb_record plan = record("p-1", "ready", 1), run = record("r-1", "started", 2);

    open_store(f);
    put(f, EBB_RECORD_PLAN, plan);
    assert_int_equal(ebb_store_claim_plan(f->store, &plan, &run, &f->err), 0);
    assert_string_equal(list(f, EBB_RECORD_PLAN, NULL), "p-1:applied ");
    assert_string_equal(list(f, EBB_RECORD_RUN, NULL), "r-1:started ");
    run.id = "r-2";
    assert_int_equal(ebb_store_claim_plan(f->store, &plan, &run, &f->err), -EBB_EPLAN_APPLIED);
    assert_string_equal(list(f, EBB_RECORD_RUN, NULL), "r-1:started ");
}

static void test_claim_of_other_plans(void **state)
{
    struct fixture *f = *state;
    struct ebb_record plan = record("p-1", "held", 1), run = record("r-1", "started", 2);

    open_store(f);
    assert_int_equal(ebb_store_claim_plan(f->store, &plan, &run, &f->err), 0); /* a plan from elsewhere */
    assert_string_equal(list(f, EBB_RECORD_PLAN, NULL), "p-1:applied ");
    plan.id = "p-2";
    assert_int_not_equal(ebb_store_claim_plan(f->store, &plan, &run, &f->err), 0); /* the run exists */
    assert_string_equal(list(f, EBB_RECORD_PLAN, NULL), "p-1:applied ");
    run.id = "r-2";
    plan.status = "empty";
    put(f, EBB_RECORD_PLAN, plan);
    assert_int_equal(ebb_store_claim_plan(f->store, &plan, &run, &f->err), -EBB_ERUN_STATE);
    assert_string_equal(list(f, EBB_RECORD_RUN, NULL), "r-1:started ");
}

#define MOVES 1000

static void fill_moves(struct ebb_move *moves, char names[][32])
{
    for (int i = 0; i < MOVES; i++) {
        snprintf(names[i], 32, "data/\xFF\n%04d", i);
        moves[i] = (struct ebb_move){
            .batch = 3,
            .seq = i,
            .path = {names[i], strlen(names[i])},
            .target = {names[i] + 5, strlen(names[i]) - 5},
            .id = "1:2:3",
            .size_bytes = i ? (uint64_t)i : UINT64_MAX,
            .mtime_ns = -5 + i,
            .state = EBB_MOVE_PLANNED,
            .why = "",
        };
    }
}

struct moves_seen {
    struct ebb_store *store;
    struct ebb_store *other; /* a second connection that writes meanwhile */
    int64_t next;
    int64_t count;
};

static int check_move(void *data, const struct ebb_move *m, struct ebb_err *err)
{
    struct moves_seen *s = data;
    char name[32];

    (void)err;
    snprintf(name, sizeof name, "data/\xFF\n%04d", (int)m->seq);
    assert_int_equal(m->seq, s->next++);
    assert_int_equal(m->batch, 3);
    assert_int_equal(m->path.n, strlen(name));
    assert_memory_equal(m->path.p, name, m->path.n);
    assert_memory_equal(m->target.p, name + 5, m->target.n);
    assert_true(m->size_bytes == (m->seq ? (uint64_t)m->seq : UINT64_MAX));
    assert_int_equal(m->mtime_ns, -5 + m->seq);
    assert_string_equal(m->id, "1:2:3");
    return 0;
}

static int mark_moved(void *data, const struct ebb_move *m, struct ebb_err *err)
{
    struct moves_seen *s = data;
    struct ebb_move changed = *m;
    struct ebb_record r = record("r-other", "started", m->seq);

    changed.state = EBB_MOVE_MOVED;
    changed.why = "it's moved";
    s->count++;
    if (ebb_store_put(s->other, EBB_RECORD_RUN, &r, err))
        return -EBB_ESTORE;
    return ebb_store_set_moves(s->store, "r-1", &changed, 1, err);
}

static int count_moves(void *data, const struct ebb_move *m, struct ebb_err *err)
{
    (void)m;
    (void)err;
    ++*(int64_t *)data;
    return 0;
}

static int64_t moves_in(struct fixture *f, const char *run, int state)
{
    int64_t count = 0;

    assert_int_equal(ebb_store_list_moves(f->store, run, state, count_moves, &count, &f->err), 0);
    return count;
}

static void test_moves(void **state)
{
    struct fixture *f = *state;
    static struct ebb_move moves[MOVES];
    static char names[MOVES][32];
    struct moves_seen s = {.next = 0};

    open_store(f);
    fill_moves(moves, names);
    assert_int_equal(ebb_store_put_moves(f->store, "r-1", moves, MOVES, &f->err), 0);
    assert_int_equal(ebb_store_put_moves(f->store, "r-10", moves, 2, &f->err), 0);
    assert_int_equal(ebb_store_list_moves(f->store, "r-1", -1, check_move, &s, &f->err), 0);
    assert_int_equal(s.next, MOVES);
    s.store = f->store;
    assert_int_equal(ebb_store_open(f->dir, &s.other, &f->err), 0);
    assert_int_equal(ebb_store_list_moves(f->store, "r-1", EBB_MOVE_PLANNED, mark_moved, &s, &f->err), 0);
    ebb_store_close(s.other);
    assert_int_equal(s.count, MOVES);
    assert_int_equal(moves_in(f, "r-1", EBB_MOVE_PLANNED), 0);
    assert_int_equal(moves_in(f, "r-1", EBB_MOVE_MOVED), MOVES);
    assert_int_equal(moves_in(f, "r-10", EBB_MOVE_PLANNED), 2);
    assert_int_equal(moves_in(f, "r-2", -1), 0);
    assert_int_equal(ebb_store_put_moves(f->store, "r-1", NULL, 0, &f->err), 0);
}

static void test_moves_are_all_or_none(void **state)
{
    struct fixture *f = *state;
    static struct ebb_move moves[MOVES];
    static char names[MOVES][32];

    open_store(f);
    fill_moves(moves, names);
    assert_int_equal(ebb_store_put_moves(f->store, "r-1", moves + 5, 1, &f->err), 0);
    assert_int_equal(ebb_store_put_moves(f->store, "r-1", moves, 10, &f->err), -EBB_ESTORE);
    assert_int_equal(moves_in(f, "r-1", -1), 1);
    moves[5].state = moves[6].state = EBB_MOVE_BACK;
    assert_int_equal(ebb_store_set_moves(f->store, "r-1", moves + 5, 2, &f->err), -EBB_ESTORE);
    assert_int_equal(moves_in(f, "r-1", EBB_MOVE_PLANNED), 1);
}

static void test_values(void **state)
{
    struct fixture *f = *state;
    struct ebb_buf out;
    bool found = true;

    open_store(f);
    ebb_buf_init(&out, 16);
    assert_int_equal(ebb_store_get_value(f->store, "s", "k", &out, &found, &f->err), 0);
    assert_false(found);
    assert_int_equal(ebb_store_put_value(f->store, "s", "k", "{}", &f->err), 0);
    assert_int_equal(ebb_store_put_value(f->store, "s", "k", "[1]", &f->err), 0);
    assert_int_equal(ebb_store_put_value(f->store, "s2", "k", "", &f->err), 0);
    assert_int_equal(ebb_store_get_value(f->store, "s", "k", &out, &found, &f->err), 0);
    assert_true(found);
    assert_string_equal(ebb_buf_cstr(&out), "[1]");
    assert_int_equal(ebb_store_get_value(f->store, "s2", "k", &out, &found, &f->err), 0);
    assert_true(found);
    assert_int_equal(ebb_store_put_value(f->store, "s", "k", NULL, &f->err), 0);
    assert_int_equal(ebb_store_get_value(f->store, "s", "k", &out, &found, &f->err), 0);
    assert_false(found);
    assert_int_equal(ebb_store_put_value(f->store, "s", "k", "12345678901234567890", &f->err), 0);
    assert_int_equal(ebb_store_get_value(f->store, "s", "k", &out, &found, &f->err), -EBB_ELIMIT);
    ebb_buf_fini(&out);
}

static void run_sql(const char *file, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_newer_schema_is_refused(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    ebb_store_close(f->store);
    run_sql(f->file, "PRAGMA user_version = 77");
    assert_int_equal(ebb_store_open(f->dir, &f->store, &f->err), -EBB_ESTORE);
    assert_null(f->store);
    assert_non_null(strstr(f->err.message, "77"));
    assert_non_null(strstr(f->err.message, "up to 2"));
    assert_string_not_equal(f->err.hint, "");
}

static void test_foreign_database_is_refused(void **state)
{
    struct fixture *f = *state;

    snprintf(f->dir, sizeof f->dir, "%s", f->root);
    snprintf(f->file, sizeof f->file, "%s/ebb.db", f->dir);
    run_sql(f->file, "CREATE TABLE cats (name TEXT)");
    assert_int_equal(ebb_store_open(f->dir, &f->store, &f->err), -EBB_ESTORE);
    assert_non_null(strstr(f->err.message, "another program"));
}

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void test_garbage_is_corrupt(void **state)
{
    struct fixture *f = *state;
    char text[4097];

    open_store(f);
    ebb_store_close(f->store);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    write_file(f->file, text);
    assert_int_equal(ebb_store_open(f->dir, &f->store, &f->err), -EBB_ESTORE_CORRUPT);
    assert_non_null(strstr(f->err.message, f->file));
    assert_string_not_equal(f->err.hint, "");
}

static void test_odd_places_are_refused(void **state)
{
    struct fixture *f = *state;
    char path[160];

    assert_int_equal(ebb_store_open("", &f->store, &f->err), -EBB_EUSAGE);
    snprintf(path, sizeof path, "%s/file", f->root);
    write_file(path, "x");
    assert_int_not_equal(ebb_store_open(path, &f->store, &f->err), 0);
    snprintf(path, sizeof path, "%s/ebb.db", f->root);
    assert_int_equal(symlink("/tmp/ebb-nowhere.db", path), 0);
    assert_int_equal(ebb_store_open(f->root, &f->store, &f->err), -EBB_ESTORE);
    assert_int_equal(access("/tmp/ebb-nowhere.db", F_OK), -1);
}

/* A process that writes and dies without closing. */
static void die_with_open_store(struct fixture *f, int records)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        char id[16];

        if (ebb_store_open(f->dir, &f->store, NULL))
            _exit(1);
        for (int i = 0; i < records; i++) {
            struct ebb_record r = {id, "c.n.t", "", "", "started", i, 0, "", "{}"};

            snprintf(id, sizeof id, "r-%03d", i);
            if (ebb_store_put(f->store, EBB_RECORD_RUN, &r, NULL))
                _exit(1);
        }
        kill(getpid(), SIGKILL);
    }
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_what_was_put_survives_a_kill(void **state)
{
    struct fixture *f = *state;

    die_with_open_store(f, 3);
    open_store(f);
    assert_string_equal(list(f, EBB_RECORD_RUN, NULL), "r-000:started r-001:started r-002:started ");
}

/* Make pages that belong to nothing: only an integrity check sees that. */
static void damage(const char *file)
{
    run_sql(file, "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'record_uuid'");
}

static void test_unclean_stop_is_checked(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    put(f, EBB_RECORD_RUN, record("r-1", "done", 1));
    ebb_store_close(f->store);
    damage(f->file);
    assert_int_equal(ebb_store_open(f->dir, &f->store, &f->err), 0); /* no unclean stop: not looked at */
    ebb_store_close(f->store);
    f->store = NULL;
    die_with_open_store(f, 1);
    assert_int_equal(ebb_store_open(f->dir, &f->store, &f->err), -EBB_ESTORE_CORRUPT);
    assert_non_null(strstr(f->err.message, f->file));
}

static void test_a_live_second_process_is_no_unclean_stop(void **state)
{
    struct fixture *f = *state;
    struct ebb_store *second = NULL;

    open_store(f);
    put(f, EBB_RECORD_RUN, record("r-1", "started", 1));
    assert_int_equal(ebb_store_open(f->dir, &second, &f->err), 0);
    assert_true(ebb_store_seed(second) == ebb_store_seed(f->store));
    ebb_store_close(second);
    assert_string_equal(list(f, EBB_RECORD_RUN, NULL), "r-1:started ");
}

static void test_a_store_that_cannot_grow_says_so(void **state)
{
    struct fixture *f = *state;
    struct rlimit old, small = {0, 0};
    struct ebb_record r = record("r-2", "started", 2);
    char *big = malloc(1 << 20);

    assert_non_null(big);
    memset(big, ' ', (1 << 20) - 1);
    big[(1 << 20) - 1] = '\0';
    open_store(f);
    put(f, EBB_RECORD_RUN, record("r-1", "started", 1));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_cur = 256 * 1024;
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    r.json = big;
    assert_int_equal(ebb_store_put(f->store, EBB_RECORD_RUN, &r, &f->err), -EBB_EIO);
    setrlimit(RLIMIT_FSIZE, &old);
    free(big);
    assert_string_equal(list(f, EBB_RECORD_RUN, NULL), "r-1:started ");
    r.json = "{}";
    put(f, EBB_RECORD_RUN, r);
}

static void test_no_permission(void **state)
{
    struct fixture *f = *state;

    if (geteuid() == 0)
        skip();
    assert_int_equal(chmod(f->root, 0500), 0);
    assert_int_equal(ebb_store_open(f->dir, &f->store, &f->err), -EBB_EPERMISSION);
    chmod(f->root, 0700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_modes_do_not_depend_on_umask, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wide_mode_is_narrowed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_seed_is_drawn_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ids_sort_by_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_put_and_get, setup, teardown),
        cmocka_unit_test_setup_teardown(test_get_by_prefix, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list_filters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_table_globs_know_only_the_star, setup, teardown),
        cmocka_unit_test_setup_teardown(test_callback_of_list_may_write, setup, teardown),
        cmocka_unit_test_setup_teardown(test_callback_error_ends_the_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plan_is_claimed_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_claim_of_other_plans, setup, teardown),
        cmocka_unit_test_setup_teardown(test_moves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_moves_are_all_or_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_newer_schema_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_foreign_database_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_garbage_is_corrupt, setup, teardown),
        cmocka_unit_test_setup_teardown(test_odd_places_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_was_put_survives_a_kill, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unclean_stop_is_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_live_second_process_is_no_unclean_stop, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_store_that_cannot_grow_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_permission, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
