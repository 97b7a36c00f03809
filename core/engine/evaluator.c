/* SPDX-License-Identifier: Apache-2.0
 *
 * Images: a state that has loaded a policy is kept as a copy of its pool and put back for each evaluation. A script
 * that fills the pool runs once more, in a collected state with the same gas.
 */
#include "engine/evaluator_priv.h"

#include <stdlib.h>

#define IMAGES_MAX 64
#define COLLECTED_BYTES (6 * EBB__MEMORY_BYTES) /* of addresses: sizes that are not used again leave gaps */

struct ebb__image {
    const struct ebb_policy *policy; /* NULL: free */
    char hash[80];
    struct ebb__sandbox sb; /* as it was when the copy was made */
    char *bytes;
    size_t size;
    uint64_t used_at;
};

struct ebb_evaluator {
    struct ebb__pool pool;
    struct ebb__sandbox sb; /* states in the pool know it by its address */
    struct ebb__eval eval;
    struct ebb__image images[IMAGES_MAX];
    uint64_t clock;
    char tzdata[16];
};

static void drop(struct ebb__image *image)
{
    for (size_t i = 0; i < image->sb.kept_count; i++)
        ebb_value_free(image->sb.actions[i]);
    free(image->bytes);
    memset(image, 0, sizeof *image);
}

int ebb_evaluator_new(struct ebb_evaluator **out, struct ebb_err *err)
{
    struct ebb_evaluator *ev = malloc(sizeof *ev);
    int rc;

    *out = NULL;
    if (!ev)
        return ebb_err_nomem(err);
    memset(ev->images, 0, sizeof ev->images);
    ev->clock = 0;
    ebb_tz_version(ev->tzdata);
    rc = ebb__pool_init(&ev->pool, EBB__MEMORY_BYTES, false, err);
    if (rc)
        free(ev);
    else
        *out = ev;
    return rc;
}

void ebb_evaluator_free(struct ebb_evaluator *ev)
{
    if (!ev)
        return;
    for (size_t i = 0; i < IMAGES_MAX; i++)
        drop(&ev->images[i]);
    ebb__pool_fini(&ev->pool);
    free(ev);
}

void ebb_evaluator_forget(struct ebb_evaluator *ev, const struct ebb_policy *policy)
{
    for (size_t i = 0; i < IMAGES_MAX; i++)
        if (ev->images[i].policy == policy)
            drop(&ev->images[i]);
}

static struct ebb__image *find(struct ebb_evaluator *ev, const struct ebb_policy *policy)
{
    for (size_t i = 0; i < IMAGES_MAX; i++)
        if (ev->images[i].policy == policy && !strcmp(ev->images[i].hash, ebb_policy_get_bundle(policy)))
            return &ev->images[i];
    return NULL;
}

/* A free place, or the one that was not used for longest. */
static struct ebb__image *place(struct ebb_evaluator *ev)
{
    struct ebb__image *oldest = &ev->images[0];

    for (size_t i = 0; i < IMAGES_MAX && oldest->policy; i++)
        if (!ev->images[i].policy || ev->images[i].used_at < oldest->used_at)
            oldest = &ev->images[i];
    drop(oldest);
    return oldest;
}

/* Take the state in the pool as the image of the policy. */
static int keep(struct ebb_evaluator *ev, const struct ebb_policy *policy, struct ebb__image **out, struct ebb_err *err)
{
    struct ebb__image *image = place(ev);

    image->bytes = malloc(ev->pool.used);
    if (!image->bytes)
        return ebb_err_nomem(err);
    memcpy(image->bytes, ev->pool.base, ev->pool.used);
    memcpy(image->hash, ebb_policy_get_bundle(policy), sizeof image->hash);
    image->size = ev->pool.used;
    image->sb = ev->sb;
    image->policy = policy;
    *out = image;
    return 0;
}

static int make(struct ebb_evaluator *ev, struct ebb__eval *e, struct ebb__image **out, struct ebb_err *err)
{
    int rc;

    ev->pool.used = 0;
    rc = ebb__sandbox_open_in(&ev->sb, &ev->pool, EBB__PHASE_HEADER, NULL, ebb__open_policy, err);
    if (rc)
        return rc;
    rc = ebb__eval_load(&ev->sb, e->policy, err);
    e->gas = ebb__sandbox_gas_used(&ev->sb);
    e->mem_peak = (int64_t)ev->sb.mem_peak;
    if (!rc)
        rc = keep(ev, e->policy, out, err);
    if (rc) {
        ev->sb.kept_count = 0;
        ebb__sandbox_close(&ev->sb);
    }
    return rc;
}

/* From the image; the pool may turn out too small. */
static int run_image(struct ebb_evaluator *ev, struct ebb__eval *e, struct ebb_err *err)
{
    struct ebb__image *image = find(ev, e->policy);
    int rc = image ? 0 : make(ev, e, &image, err);

    e->state = "image";
    if (rc)
        return rc;
    image->used_at = ++ev->clock;
    memcpy(ev->pool.base, image->bytes, image->size);
    ev->pool.used = image->size;
    ev->sb = image->sb;
    rc = ebb__eval_call(e, &ev->sb, err);
    ebb__sandbox_drop(&ev->sb);
    return rc;
}

int ebb__evaluator_begin(struct ebb_evaluator *ev, const struct ebb_policy *policy, const struct ebb_settings *settings,
                         const struct ebb_decide_input *input, struct ebb__eval **out, struct ebb_err *err)
{
    int rc = ebb__eval_init(&ev->eval, policy, settings, input, err);

    ev->eval.tzdata = ev->tzdata;
    *out = &ev->eval;
    return rc;
}

/* The same evaluation from its beginning. */
static int begin_again(struct ebb__eval *e, struct ebb_err *err)
{
    const char *tzdata = e->tzdata;
    int rc;

    ebb__eval_fini(e);
    rc = ebb__eval_init(e, e->policy, e->settings, e->input, err);
    e->tzdata = tzdata;
    return rc;
}

static int run_collected(struct ebb__eval *e, uint8_t *lines, size_t line_count, struct ebb_err *err)
{
    struct ebb__pool pool;
    struct ebb__sandbox sb;
    int rc = begin_again(e, err);

    if (!rc)
        rc = ebb__pool_init(&pool, COLLECTED_BYTES, true, err);
    if (rc)
        return rc;
    rc = ebb__eval_run(e, &sb, &pool, lines, line_count, err);
    ebb__pool_fini(&pool);
    return rc;
}

int ebb__evaluator_run(struct ebb_evaluator *ev, struct ebb_err *err)
{
    struct ebb__eval *e = &ev->eval;
    int rc = 0;

    /* Watching lines costs other gas: that is a run of its own, whose outcome does not count. */
    if (e->input->lines) {
        run_collected(e, e->input->lines, e->input->line_count, NULL);
        rc = begin_again(e, err);
    }
    if (rc)
        return rc;
    rc = run_image(ev, e, err);
    return rc == -(int)EBB_EPOLICY_MEMORY ? run_collected(e, NULL, 0, err) : rc;
}
