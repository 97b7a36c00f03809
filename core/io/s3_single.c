/* SPDX-License-Identifier: Apache-2.0
 *
 * One request from beginning to end.
 */
#include <stdio.h>

#include "io/s3_priv.h"

struct single {
    struct ebb__s3_got *out;
    struct ebb_err err;
    bool is_done;
};

static void on_single(void *data, const struct ebb__s3_answer *answer)
{
    struct single *s = data;
    int rc = 0;

    s->is_done = true;
    s->err = *answer->err;
    s->out->status = answer->status;
    s->out->is_unsure = answer->is_unsure;
    snprintf(s->out->code, sizeof s->out->code, "%s", answer->code);
    for (size_t i = 0; !rc && i < answer->headers->count; i++)
        rc = ebb_strs_add(&s->out->headers, answer->headers->items[i], &s->err);
    s->out->body = *answer->bytes; /* which may be long: not copied */
    ebb_buf_init(answer->bytes, 0);
}

int ebb__s3_do(struct ebb_s3 *s3, const struct ebb__s3_call *call, struct ebb__s3_got *out, struct ebb_err *err)
{
    struct single single = {.out = out};
    int rc;

    memset(out, 0, sizeof *out);
    ebb_strs_init(&out->headers);
    ebb_buf_init(&out->body, SIZE_MAX / 2);
    rc = ebb__s3_start(s3, call, on_single, &single, err);
    while (!rc && !single.is_done)
        rc = ebb__s3_turn(s3, err);
    if (rc) {
        ebb__s3_drop(s3);
        return rc;
    }
    if (single.err.error && err)
        *err = single.err;
    return single.err.error ? -(int)single.err.error : 0;
}

void ebb__s3_got_fini(struct ebb__s3_got *got)
{
    ebb_strs_fini(&got->headers);
    ebb_buf_fini(&got->body);
    memset(got, 0, sizeof *got);
}
