/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the notices. A notice to one target is an item: claimed in the store, waiting, being sent, recorded. All on
 * the loop's thread, but for what touches the store: that runs in a pool of one thread, and an item is in one task at a
 * time.
 */
#ifndef EBB_SERVICE_NOTIFY_PRIV_H
#define EBB_SERVICE_NOTIFY_PRIV_H

#include "io/pool.h"
#include "service/notify.h"

#define EBB__NOTIFY_SCOPE "notice"
#define EBB__NOTIFY_HASH 33
#define EBB__NOTIFY_GIVE_UP_MS ((int64_t)24 * 3600 * 1000)
#define EBB__NOTIFY_KEEP_MS ((int64_t)90 * 24 * 3600 * 1000)
#define EBB__NOTIFY_ITEMS_MAX 1000
#define EBB__NOTIFY_PAYLOAD_MAX 65536

/* A way of the configuration, shared by items that go there. */
struct ebb__notify_target {
    struct ebb__notify_target *next;
    size_t refs;
    char *url; /* NULL: command */
    struct ebb_strs command, headers, on;
    struct ebb_strs secrets;   /* what the log must not hold of the output of a command */
    char id[EBB__NOTIFY_HASH]; /* hash of where it goes, without headers */
    char label[128];           /* host or program, for the log */
};

enum ebb__notify_state {
    EBB__NOTIFY_CLAIMING, /* in the pool */
    EBB__NOTIFY_WAITING,
    EBB__NOTIFY_SENDING,
    EBB__NOTIFY_RECORDING, /* in the pool, will wait again */
    EBB__NOTIFY_ENDING     /* in the pool, told or given up */
};
struct ebb__notify_command;
struct ebb__notify_item {
    struct ebb__notify_item *next, **at;
    struct ebb_notify *notify;
    struct ebb__notify_target *target;
    enum ebb__notify_state state;
    char id[EBB__NOTIFY_HASH];  /* key in the store */
    char key[EBB__NOTIFY_HASH]; /* Idempotency-Key: the same for all targets */
    char kind[24];
    char *payload; /* JSON */
    char *record;  /* JSON to be put; NULL none */
    int64_t tries, first_ms;
    int64_t next_at; /* monotonic ms */
    bool is_known;   /* what the claim found */
    bool is_unrecorded;
    struct ebb_err err; /* of the store, or of the last try */
    struct ebb_http_request *request;
    struct ebb__notify_command *command;
};

struct ebb_notify {
    uv_loop_t *loop;
    struct ebb_pool *pool;
    struct ebb_http_client *client;
    struct ebb_metrics *metrics;
    struct ebb_log log;
    struct ebb_clock clock;
    char *state_dir;
    char host[256];
    unsigned first_wait_ms, command_ms;
    struct ebb__notify_target *targets;
    struct ebb__notify_item *items, **end; /* oldest first */
    size_t item_count, sending;
    bool is_full; /* said so */
    uv_timer_t timer;
    uv_timer_t grace;
    unsigned open; /* timers, while closing */
    bool is_closing, is_pool_closing;
    void (*closed)(void *data);
    void *data;
};

/* ---- notify_target.c ---- */
/* Lower-case hex of 16 bytes of SHA-256 over texts, each with its NUL. */
void ebb__notify_hash(const char *const *texts, size_t count, char out[EBB__NOTIFY_HASH]);
int ebb__notify_targets(const struct ebb_config *config, struct ebb__notify_target **out, struct ebb_err *err);
void ebb__notify_targets_unref(struct ebb__notify_target *targets);
void ebb__notify_target_unref(struct ebb__notify_target *target);
bool ebb__notify_target_wants(const struct ebb__notify_target *target, const char *kind);

/* ---- notify_item.c ---- */
/* An item at the end of the list, with a reference to its target; NULL without memory or when there are too many. */
struct ebb__notify_item *ebb__notify_item_new(struct ebb_notify *n, struct ebb__notify_target *target,
                                              const char id[EBB__NOTIFY_HASH], const char *kind, const char *key,
                                              char *payload);
void ebb__notify_item_free(struct ebb__notify_item *item);
bool ebb__notify_has(const struct ebb_notify *n, const char *id);
/* What is sent: {"kind","policy","table","id","message","hint","at","host","key"}; free(). NULL without memory. */
char *ebb__notify_payload(const struct ebb_notify *n, const struct ebb_notice *notice);
/* Make item->record: state "waiting", "told" or "given-up". */
void ebb__notify_record(struct ebb__notify_item *item, const char *state, int64_t wait_ms);

/* ---- notify_store.c: what runs in the pool ---- */
void *ebb__notify_store_open(void *state_dir);
void ebb__notify_store_close(void *store);
/* See whether the item is in the store; if not, put its record there. */
void ebb__notify_claim(void *store, void *item);
void ebb__notify_put(void *store, void *item);
/* Notices that wait in the store; what was told long ago is forgotten. */
struct ebb__notify_found {
    struct ebb__notify_found *next;
    char id[EBB__NOTIFY_HASH], key[EBB__NOTIFY_HASH], target[EBB__NOTIFY_HASH];
    char kind[24];
    char *payload;
    int64_t tries, first_ms, next_ms;
};
struct ebb__notify_load {
    struct ebb_notify *notify;
    int64_t now_ms;
    struct ebb__notify_found *found;
    size_t count;
    struct ebb_err err;
};
void ebb__notify_load(void *store, void *load);
void ebb__notify_load_free(struct ebb__notify_load *load);

/* ---- notify_send.c, notify_command.c ---- */
/* Try once. ebb__notify_tried comes later, exactly once, also after a cancel. Errors: it does not come. */
int ebb__notify_send(struct ebb__notify_item *item, struct ebb_err *err);
int ebb__notify_command_start(struct ebb__notify_item *item, struct ebb_err *err);
void ebb__notify_command_kill(struct ebb__notify_command *command);
/* item->err tells how it went. */
void ebb__notify_tried(struct ebb__notify_item *item);

#endif
