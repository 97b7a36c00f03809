/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading ahead in object stores: objects that are wanted soon are asked for at the same time and kept until they are
 * read. What fails ahead is simply read again when its time comes.
 */
#include <stdlib.h>

#include "io/s3_place_priv.h"
#include "io/s3_priv.h"
#include "io/storage_priv.h"

#define SLOTS 24
#define OBJECT_MAX ((size_t)64 << 20) /* a larger one is read when its time comes */
#define QUEUE_MAX 100000

enum state { FREE, ASKED, CAME };
struct slot {
    enum state state;
    bool has_failed;
    char *target;      /* "s3://bucket/key" */
    struct ebb_s3 *s3; /* that was asked: it alone brings the answer */
    struct ebb_buf bytes;
    struct ebb_stat st;
};

struct ebb__storage_ahead {
    struct slot slots[SLOTS];
    struct ebb_strs queue; /* targets, in the order in which they will be read */
    size_t next;           /* of the queue */
};

int ebb__storage_ahead_new(struct ebb__storage_ahead **out, struct ebb_err *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : ebb_err_nomem(err);
}

static void slot_clear(struct slot *slot)
{
    free(slot->target);
    ebb_buf_fini(&slot->bytes);
    memset(slot, 0, sizeof *slot);
}

void ebb__storage_ahead_free(struct ebb__storage_ahead *ahead)
{
    if (!ahead)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        slot_clear(&ahead->slots[i]);
    ebb_strs_fini(&ahead->queue);
    free(ahead);
}

static void on_answer(void *data, const struct ebb__s3_answer *answer)
{
    struct slot *slot = data;
    struct ebb_s3_object object;

    slot->state = CAME;
    slot->has_failed = true;
    if (answer->err->error || answer->status != 200 || ebb__s3_object_of(answer, "object", &object, NULL) ||
        answer->body.n != object.size_bytes)
        return;
    ebb_buf_add_str(&slot->bytes, answer->body);
    ebb__s3_place_stat(&object, &slot->st);
    slot->has_failed = slot->bytes.bad;
}

/* Ask for one; what can't be asked is left for its time. */
static void ask(struct ebb__storage_remote *remote, struct slot *slot, const char *target)
{
    struct ebb__s3_call call = {.method = "GET", .answer_bytes = OBJECT_MAX};
    char bucket[256];

    slot->target = strdup(target);
    ebb_buf_init(&slot->bytes, OBJECT_MAX);
    call.bucket = bucket;
    if (slot->target && !ebb__storage_split(slot->target, bucket, sizeof bucket, &call.key, NULL) &&
        !ebb__storage_client(remote, slot->target, &slot->s3, NULL) &&
        !ebb__s3_start(slot->s3, &call, on_answer, slot, NULL))
        slot->state = ASKED;
    else
        slot_clear(slot);
}

static void fill(struct ebb__storage_remote *remote, struct ebb__storage_ahead *ahead)
{
    for (size_t i = 0; i < SLOTS && ahead->next < ahead->queue.count; i++)
        if (ahead->slots[i].state == FREE)
            ask(remote, &ahead->slots[i], ahead->queue.items[ahead->next++]);
}

int ebb__storage_ahead_want(struct ebb__storage_remote *remote, struct ebb__storage_ahead *ahead,
                            const struct ebb_strs *targets, struct ebb_err *err)
{
    int rc = 0;

    if (ahead->next == ahead->queue.count) {
        ebb_strs_fini(&ahead->queue);
        ebb_strs_init(&ahead->queue);
        ahead->next = 0;
    }
    for (size_t i = 0; !rc && i < targets->count && ahead->queue.count < QUEUE_MAX; i++)
        rc = ebb_strs_add(&ahead->queue, targets->items[i], err);
    fill(remote, ahead);
    return rc;
}

/* Those that nobody read, since others were: they make room. */
static void drop_others(struct ebb__storage_ahead *ahead)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (ahead->slots[i].state == CAME)
            slot_clear(&ahead->slots[i]);
}

static struct slot *find(struct ebb__storage_ahead *ahead, const char *target)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (ahead->slots[i].state != FREE && !strcmp(ahead->slots[i].target, target))
            return &ahead->slots[i];
    return NULL;
}

/* Whether it is the next of the queue, for which no slot was free; then it is none any more. */
static bool skip_queued(struct ebb__storage_ahead *ahead, const char *target)
{
    bool is_next = ahead->next < ahead->queue.count && !strcmp(ahead->queue.items[ahead->next], target);

    ahead->next += is_next;
    return is_next;
}

int ebb__storage_ahead_take(struct ebb__storage_remote *remote, struct ebb__storage_ahead *ahead, const char *target,
                            struct ebb_buf *out, struct ebb_stat *st, bool *is_taken, struct ebb_err *err)
{
    struct slot *slot = find(ahead, target);
    int rc = 0;

    *is_taken = false;
    if (!slot) {
        if (!skip_queued(ahead, target) && ahead->next == ahead->queue.count)
            drop_others(ahead);
        return 0;
    }
    while (!rc && slot->state == ASKED && ebb__s3_pending(slot->s3))
        rc = ebb__s3_turn(slot->s3, err);
    *is_taken = !rc && slot->state == CAME && !slot->has_failed && slot->bytes.len <= out->max;
    if (*is_taken) {
        ebb_buf_add_str(out, ebb_buf_str(&slot->bytes));
        *st = slot->st;
        rc = ebb_buf_check(out, target, err);
    }
    if (slot->state == CAME || !ebb__s3_pending(slot->s3)) /* else its answer is still to come */
        slot_clear(slot);
    fill(remote, ahead);
    return rc;
}
