/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the daemon_*.c files: the daemon on its loop. But for views, workers and the log, all of it belongs to the
 * loop's thread; tasks of the pools get what they need in structs of their own.
 */
#ifndef EBB_SERVICE_DAEMON_PRIV_H
#define EBB_SERVICE_DAEMON_PRIV_H

#include <pthread.h>
#include <stdio.h>

#include "service/api.h"
#include "service/daemon.h"
#include "service/generation_priv.h"
#include "service/notify.h"

#define EBB__WORKERS_MAX 128
#define EBB__CHUNK_MAX 64 /* tables of one look */
#define EBB__LOOKS_MAX 2  /* looks at once */
#define EBB__TICK_MS 1000
#define EBB__STORE_RETRY_MS 10000
#define EBB__STORE_DOUBT_MS 1000 /* after it was found sound */
#define EBB__HOUSEKEEPING_MS (10 * 60 * 1000)
#define EBB__RELOAD_QUIET_MS 500

/* ---- the log ---- */

/* What a line is about; NULL or "": nothing. */
struct ebb__subject {
    const char *job, *run, *policy, *table;
};
/* Data of the daemon's struct ebb_log. */
struct ebb__log_target {
    void (*line)(void *data, const struct ebb_daemon_line *line);
    void *data;
};
void ebb__target_line(const struct ebb__log_target *target, enum ebb_log_level level,
                      const struct ebb__subject *subject, const char *message);
struct ebb_log ebb__target_log(struct ebb__log_target *target, enum ebb_log_level level);
/* A line about something, formatted and escaped. Any thread. */
void ebb__say(const struct ebb_log *log, enum ebb_log_level level, const struct ebb__subject *subject,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- workers ---- */

struct ebb__worker_seen {
    const struct ebb_worker *worker;
    const char *pool;
    char hash[80];
    bool is_busy;
};
struct ebb_worker_list {
    pthread_mutex_t lock;
    struct ebb__worker_seen items[EBB__WORKERS_MAX];
    size_t count;
};
struct ebb_worker_list *ebb__worker_list_new(void);
void ebb__worker_list_free(struct ebb_worker_list *list);
/* What the worker's log lines are about from now on; its texts must live until the next call. NULL: nothing. */
void ebb__worker_about(struct ebb_worker *worker, const struct ebb__subject *subject);
/* A task of it is over. */
void ebb__worker_done(struct ebb_worker *worker);

/* ---- views: what the catalogs hold, immutable, shared ---- */

struct ebb__entry {
    const char *label; /* "catalog.namespace.name" */
    const char *catalog, *namespace_, *name;
    const char *metadata_uri, *folder_uri; /* NULL unknown */
    const char *location, *uuid;           /* of the metadata, NULL unknown */
    int64_t overlaps;                      /* other known tables that overlap; -1 unknown */
    bool needs_load;                       /* the reference is more than its URIs: ask the catalog before use */
    int watch;                             /* of its metadata folder, -1 none */
};
struct ebb__view {
    atomic_int refs;
    struct ebb_arena arena;
    struct ebb__entry *entries; /* by label, each once */
    size_t count;
    bool is_unknown;        /* some table or catalog could not be read */
    struct ebb_err problem; /* of the first catalog that could not be listed; EBB_OK none */
    bool is_watched;        /* whatever changes in it is told by the kernel */
    int watch_errno;        /* why it is not, 0: there is no reason but its catalogs */
    size_t watched;         /* folders */
    int64_t took_ms;
};
/* List all catalogs; what stands in `before` (NULL none) with the same metadata is not read again, and stays where a
 * catalog can't be listed. Worker's thread. EBB_ENOMEM, EBB_ELIMIT, EBB_ECANCELLED. */
int ebb__view_new(struct ebb_workspace *ws, const struct ebb__view *before, struct ebb__view **out,
                  struct ebb_err *err);
struct ebb__view *ebb__view_ref(struct ebb__view *view);
void ebb__view_unref(struct ebb__view *view);
/* Number those that overlap. locations of NULL overlap nothing. EBB_ENOMEM. */
int ebb__view_overlaps(struct ebb__view *view, struct ebb_err *err);
const struct ebb__entry *ebb__view_find(const struct ebb__view *view, const char *label);

/* ---- tables ---- */

struct ebb__table {
    const struct ebb__entry *entry; /* in the view at hand */
    struct ebb__table *next;        /* in the queue of looks */
    int64_t wake_ms;                /* wall clock, INT64_MAX never */
    size_t heap_at;                 /* SIZE_MAX: not in the heap */
    int64_t listed_ms;              /* elapsed clock: when its pointer was last read */
    uint32_t problems;              /* failed looks in a row */
    uint32_t early;                 /* looks in a row that were due again at once */
    int64_t slot_since_ms;          /* elapsed clock: since when it waits for a slot that others hold, 0 it does not */
    bool is_queued, is_looking, is_noted, is_gone;
};
struct ebb__tables {
    struct ebb__table **items; /* by label */
    size_t count;
    struct ebb__table **heap; /* by wake_ms, the least first */
    size_t heap_count, heap_cap;
    struct ebb__table *first, *last; /* to be looked at */
    size_t waiting;
};
void ebb__tables_fini(struct ebb__tables *t);
struct ebb__table *ebb__tables_find(const struct ebb__tables *t, const char *label);
/* Take over a view: new tables and those whose metadata changed are queued for a look; those that are gone leave. The
 * tables' entries are of `view` afterwards. EBB_ENOMEM: nothing is changed. */
int ebb__tables_merge(struct ebb__tables *t, const struct ebb__view *view, int64_t listed_ms, size_t *fresh,
                      size_t *gone, struct ebb_err *err);
/* Set the wake time. Room was made by the merge: never fails. */
void ebb__tables_wake(struct ebb__tables *t, struct ebb__table *table, int64_t wake_ms);
/* Queue for a look; one that is being looked at is looked at again afterwards. */
void ebb__tables_queue(struct ebb__tables *t, struct ebb__table *table);
/* Queue all that are due at now. */
void ebb__tables_due(struct ebb__tables *t, int64_t now_ms);
struct ebb__table *ebb__tables_take(struct ebb__tables *t);
/* The look is over. A table that is gone is freed. */
void ebb__tables_looked(struct ebb__tables *t, struct ebb__table *table, int64_t wake_ms);
/* A slot became free: queue those that wait for one, the longest waiting first; not all, since few places are free. */
void ebb__tables_slot_free(struct ebb__tables *t);
/* The least wake time and its table, or NULL. */
const struct ebb__table *ebb__tables_next(const struct ebb__tables *t);

/* ---- the daemon ---- */

struct ebb__daemon;
struct ebb__running; /* a job that runs: daemon_jobs.c */

struct ebb__fault { /* of the store, or of a reload */
    bool is_set;
    int64_t since_ms;
    struct ebb_err err;
};
struct ebb__watch; /* daemon_watch.c */

struct ebb__daemon {
    const struct ebb_daemon_options *options;
    struct ebb__log_target target;
    struct ebb_log log;
    struct ebb_clock clock;
    char *config_file, *state_dir; /* state_dir: real path */
    uv_loop_t loop;
    uv_timer_t tick, alarm, debounce;
    uv_signal_t signals[3];
    uv_check_t check;
    unsigned open_handles; /* of these */
    struct ebb_store *lead_store;
    bool is_leader, is_recovered, is_listed, is_serving, is_draining, is_ending, is_failed;
    int64_t epoch, started_ms, started_elapsed_ms, drain_elapsed_ms;
    struct ebb_err failure; /* why it ends */
    char address[280], token[128];

    pthread_mutex_t generation_lock;
    bool has_generation_lock;
    struct ebb_generation *generation; /* active */
    struct ebb_generation *boot;       /* whose serve section counts */
    int64_t reloads;
    bool is_reloading, wants_reload, wants_force, is_switching;
    struct ebb__fault reload_fault;
    char reload_file[1024];
    int reload_line, reload_column;
    char reload_code[64];
    char sync_problem[EBB_ERR_MESSAGE_MAX]; /* why policies of a server could not be read, "" they were */
    int64_t sync_changes;                   /* of those policies, when they were loaded */
    struct ebb_generation *next;            /* loaded, waits for the looks to end */

    struct ebb_hub *hub;
    struct ebb_metrics *metrics;
    struct ebb_worker_list *workers;
    struct ebb_worker_options look_options, job_options, api_options;
    struct ebb_pool *look_pool, *job_pool, *api_pool;
    struct ebb_http_client *client;
    struct ebb_notify *notify;
    struct ebb_intake *intake;
    struct ebb_api *api;
    struct ebb_http_server *server;
    unsigned closing; /* parts whose end is waited for */
    atomic_bool stop; /* ends listings and looks */

    struct ebb__view *view;
    struct ebb__tables tables;
    bool is_listing, wants_listing;
    int64_t list_at_elapsed_ms, listed_at_ms;
    size_t looks; /* tasks under way */
    int64_t look_since_ms;

    struct ebb_work_queue *queue;
    struct ebb__running *running;
    bool is_syncing, wants_sync;
    bool must_withdraw; /* what is queued may be of other policies: nothing starts before that is known */
    int64_t sync_at_ms; /* elapsed clock: not before, after a failure */
    int64_t ended[3];   /* succeeded, failed, cancelled */

    struct ebb_strs paused; /* "all", "policy x", "table y" */
    bool is_saving_pause, wants_pause_saved;
    struct ebb__fault store_fault;
    int64_t store_try_ms; /* elapsed clock: no probe before */
    bool wants_probe;     /* somebody could not write since the last one */
    int64_t clean_at_ms;  /* elapsed clock */
    bool is_cleaning;
    int64_t wall_ms, elapsed_ms; /* at the last tick */
    int64_t steps, last_step_ms;
    int64_t ahead_elapsed_ms; /* elapsed clock: when it was set forward by far, 0 never */
    struct ebb__watch *watch;
    bool is_dirty; /* the status is to be written anew */
};

int64_t ebb__now(const struct ebb__daemon *d);
/* Whether something new may begin. */
bool ebb__daemon_may_start(const struct ebb__daemon *d);
/* Run a task; d->closing never counts it. Frees nothing. An error ends the daemon when fatal. */
int ebb__daemon_post(struct ebb__daemon *d, struct ebb_pool *pool, ebb_pool_work_cb *work, ebb_pool_done_cb *done,
                     void *data);
void ebb__daemon_dirty(struct ebb__daemon *d);
/* Something failed at the store: nothing new begins until it can be written. */
void ebb__daemon_store_failed(struct ebb__daemon *d, const struct ebb_err *err);
bool ebb__is_store_error(const struct ebb_err *err);
/* End everything with this error. */
void ebb__daemon_fail(struct ebb__daemon *d, const struct ebb_err *err);
/* News with pairs of texts, NULL at the end. Any thread. */
void ebb__daemon_news(struct ebb__daemon *d, const char *type, ...) __attribute__((sentinel));

/* daemon_start.c: what is there while it leads. */
int ebb__daemon_open(struct ebb__daemon *d, struct ebb_err *err);
void ebb__daemon_lead(struct ebb__daemon *d);
void ebb__daemon_drain(struct ebb__daemon *d);
void ebb__daemon_close_more(struct ebb__daemon *d); /* goes on with the end when nothing is under way */
/* daemon_http.c */
int ebb__daemon_serve(struct ebb__daemon *d, struct ebb_err *err);
/* Nobody can use the token of this run any more. */
void ebb__token_end(struct ebb__daemon *d);
void ebb__place_write(struct ebb__daemon *d);
void ebb__place_remove(struct ebb__daemon *d);
/* daemon_looks.c */
void ebb__daemon_list(struct ebb__daemon *d);
void ebb__daemon_look(struct ebb__daemon *d);
void ebb__daemon_look_all(struct ebb__daemon *d);
void ebb__daemon_arm(struct ebb__daemon *d);
/* daemon_jobs.c */
void ebb__daemon_sync(struct ebb__daemon *d);
void ebb__daemon_work(struct ebb__daemon *d);
void ebb__daemon_cancel(struct ebb__daemon *d, const char *id);
void ebb__daemon_stop_jobs(struct ebb__daemon *d);
void ebb__daemon_jobs_tick(struct ebb__daemon *d);
/* daemon_reload.c */
void ebb__daemon_reload(struct ebb__daemon *d, const char *who, bool force);
void ebb__daemon_switch(struct ebb__daemon *d);
void ebb__generation_gauges(struct ebb__daemon *d);
struct ebb_generation *ebb__daemon_generation(void *daemon);
void ebb__diagnose_reload(struct ebb__daemon *d, const struct ebb_diagnostics *diags, const struct ebb_err *err);
/* daemon_pause.c */
int ebb__pause_load(struct ebb__daemon *d, struct ebb_err *err);
void ebb__daemon_pause(struct ebb__daemon *d, const char *what, bool is_pause);
void ebb__pause_save(struct ebb__daemon *d);
/* A pause of a policy goes on under its new name. */
void ebb__pause_renamed(struct ebb__daemon *d);
bool ebb__pause_has(const struct ebb_strs *paused, const char *kind, const char *name);
/* daemon_watch.c */
void ebb__watch_open(struct ebb__daemon *d);
void ebb__watch_update(struct ebb__daemon *d);
int ebb__watch_fd(const struct ebb__daemon *d); /* -1 none */
/* Watch the folders of a new view. Worker's thread. */
void ebb__watch_view(int fd, struct ebb_workspace *ws, struct ebb__view *view);
bool ebb__watch_is_complete(const struct ebb__daemon *d);
size_t ebb__watch_count(const struct ebb__daemon *d);
void ebb__watch_close(struct ebb__daemon *d);
/* daemon_clock.c, daemon_status.c, daemon_systemd.c, daemon_signals.c, daemon_housekeeping.c */
void ebb__clock_tick(struct ebb__daemon *d);
void ebb__status_write(struct ebb__daemon *d);
int ebb__systemd_socket(void); /* -1: none was handed over */
void ebb__systemd_tell(struct ebb__daemon *d, const char *state);
void ebb__systemd_tick(struct ebb__daemon *d);
int ebb__signals_open(struct ebb__daemon *d, struct ebb_err *err);
void ebb__daemon_clean(struct ebb__daemon *d);
/* Try whether the store can be written again. */
void ebb__daemon_probe(struct ebb__daemon *d);
void ebb__daemon_notice(struct ebb__daemon *d, const char *kind, const char *key, const struct ebb__subject *subject,
                        const char *id, const char *message, const char *hint);

#endif
