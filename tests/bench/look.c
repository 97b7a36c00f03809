/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a tick of the daemon takes: every table of a configuration is looked at by some threads, as the daemon does
 * it, at instants that are set: when all is new, when everything is due, when it is due again and nothing changed, and
 * when nothing is due.
 *
 *     bench_look ebb.lua STATE [THREADS]
 *
 * tests/bench/make_tables.py makes tables; the state folder should be empty.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "service/look.h"

#define CHUNK 64
#define THREADS_MAX 16
#define HOUR ((int64_t)3600000)

struct bench {
    const char *state;
    struct ebb_generation *generation;
    struct ebb_table_ref *refs;
    size_t count;
    atomic_size_t next;
    int64_t now_ms;
    int64_t decisions, unchanged, jobs, problems;
    pthread_mutex_t lock;
};

static double now_s(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int64_t bench_now(void *data)
{
    return ((struct bench *)data)->now_ms;
}

static void die(const struct ebb_err *err)
{
    fprintf(stderr, "bench_look: %s\n", err->message);
    exit(1);
}

static struct ebb_workspace *open_workspace(struct bench *b)
{
    struct ebb_workspace_options o = {.shared = b->generation->config, .state_dir = b->state, .clock = {bench_now, b}};
    struct ebb_workspace *ws = NULL;
    struct ebb_err err;

    if (ebb_workspace_open(&o, false, &ws, &err) || ebb_workspace_connect(ws, NULL, NULL, &err))
        die(&err);
    return ws;
}

static int dup_into(char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to;
}

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct bench *b = data;
    struct ebb_table_ref *to;

    if ((b->count & (b->count + 1)) == 0) {
        void *grown = realloc(b->refs, (2 * b->count + 2) * sizeof *b->refs);

        if (!grown)
            return ebb_err_nomem(err);
        b->refs = grown;
    }
    to = &b->refs[b->count++];
    memset(to, 0, sizeof *to);
    ebb_strs_init(&to->lagging);
    to->problem = ref->problem;
    return dup_into(&to->catalog, ref->catalog) || dup_into(&to->namespace_, ref->namespace_) ||
                   dup_into(&to->name, ref->name) || dup_into(&to->metadata_uri, ref->metadata_uri) ||
                   dup_into(&to->folder_uri, ref->folder_uri)
               ? ebb_err_nomem(err)
               : 0;
}

static void add(struct bench *b, const struct ebb_look *looks, size_t n)
{
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < n; i++) {
        b->decisions += looks[i].decisions;
        b->unchanged += looks[i].unchanged;
        b->jobs += looks[i].jobs;
        if (looks[i].problem.error && !b->problems++)
            fprintf(stderr, "%s\n", looks[i].problem.message);
    }
    pthread_mutex_unlock(&b->lock);
}

static void *work(void *data)
{
    struct bench *b = data;
    struct ebb_workspace *ws = open_workspace(b);
    struct ebb_look_options o = {.overlaps = 0};
    struct ebb_looker *looker = NULL;
    struct ebb_look looks[CHUNK];
    struct ebb_err err;

    if (ebb_looker_new(ws, NULL, NULL, &looker, &err))
        die(&err);
    for (size_t at; (at = atomic_fetch_add(&b->next, CHUNK)) < b->count;) {
        size_t n = b->count - at < CHUNK ? b->count - at : CHUNK;

        if (ebb_look_tables(looker, b->generation, b->refs + at, n, &o, looks, &err))
            die(&err);
        add(b, looks, n);
        for (size_t i = 0; i < n; i++)
            ebb_look_fini(&looks[i]);
    }
    ebb_looker_free(looker);
    ebb_workspace_close(ws);
    return NULL;
}

static void tick(struct bench *b, const char *name, int threads)
{
    double began = now_s(CLOCK_MONOTONIC), cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
    pthread_t ids[THREADS_MAX];

    atomic_store(&b->next, 0);
    b->decisions = b->unchanged = b->jobs = b->problems = 0;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, b))
            exit(1);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    began = now_s(CLOCK_MONOTONIC) - began;
    cpu = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("%-22s %6.2f s  cpu %6.2f s  %6.3f ms a table  decisions %lld, unchanged %lld, jobs %lld, problems %lld\n",
           name, began, cpu, b->count ? 1000 * began / (double)b->count : 0, (long long)b->decisions,
           (long long)b->unchanged, (long long)b->jobs, (long long)b->problems);
    fflush(stdout);
}

static void load(struct bench *b, const char *config)
{
    struct ebb_generation_options o = {.config = config, .now_ms = b->now_ms};
    struct ebb_workspace *ws;
    struct ebb_site *site;
    struct ebb_err err;

    if (ebb_generation_load(&o, &b->generation, NULL, &err))
        die(&err);
    ws = open_workspace(b);
    site = ebb_workspace_site(ws);
    for (size_t i = 0; i < site->catalog_count; i++)
        if (ebb_catalog_list(site->catalogs[i], on_table, b, &err))
            die(&err);
    ebb_workspace_close(ws);
}

int main(int argc, char **argv)
{
    struct bench b = {.now_ms = ebb_clock_system().now_ms(NULL) / HOUR * HOUR + 1};
    int threads = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 2;

    if (argc < 3 || threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "bench_look ebb.lua STATE [THREADS]\n");
        return 64;
    }
    pthread_mutex_init(&b.lock, NULL);
    b.state = argv[2];
    load(&b, argv[1]);
    printf("%zu tables, %zu bindings, %d threads\n", b.count, b.generation->bound_count, threads);
    tick(&b, "all is new", threads);
    b.now_ms += 24 * HOUR;
    tick(&b, "everything is due", threads);
    b.now_ms += 24 * HOUR;
    tick(&b, "due again, unchanged", threads);
    b.now_ms += 60000;
    tick(&b, "nothing is due", threads);
    for (size_t i = 0; i < b.count; i++)
        ebb_table_ref_fini(&b.refs[i]);
    free(b.refs);
    ebb_generation_unref(b.generation);
    pthread_mutex_destroy(&b.lock);
    return 0;
}
