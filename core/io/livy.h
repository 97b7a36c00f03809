/* SPDX-License-Identifier: Apache-2.0
 *
 * Livy's batches: a job script with arguments. One thread. Only an id that a 201 gave is one: a refused request may
 * leave a batch behind that never runs.
 */
#ifndef EBB_IO_LIVY_H
#define EBB_IO_LIVY_H

#include "base/clock.h"
#include "base/buf.h"

struct ebb_livy_options {
    const char *uri;                     /* http(s)://HOST:PORT, no slash at the end */
    const char *user, *password, *token; /* NULL: none */
    struct ebb_log log;
};
struct ebb_livy;
/* Copies what it needs. */
int ebb_livy_new(const struct ebb_livy_options *options, struct ebb_livy **out, struct ebb_err *err);
void ebb_livy_free(struct ebb_livy *livy);

enum ebb_livy_state { EBB_LIVY_RUNNING, EBB_LIVY_SUCCESS, EBB_LIVY_DEAD, EBB_LIVY_KILLED, EBB_LIVY_GONE };
/* Begin a batch; request: the JSON object that is sent, whose "name" is this one: names are unique among batches that
 * live, so when the answer was lost the batch is looked for by it instead of being begun again. EBB_EENGINE. */
int ebb_livy_start(struct ebb_livy *livy, const char *name, const char *request, int64_t *id, struct ebb_err *err);
/* The batch of a name; -1: there is none. */
int ebb_livy_find(struct ebb_livy *livy, const char *name, int64_t *id, struct ebb_err *err);
/* EBB_EENGINE (retryable). GONE: the server does not know it (any more). */
int ebb_livy_state(struct ebb_livy *livy, int64_t id, enum ebb_livy_state *state, struct ebb_err *err);
/* Every line of its log that is kept. Non-zero of cb ends it. */
typedef int ebb_livy_line_cb(void *data, struct ebb_str line, struct ebb_err *err);
int ebb_livy_log(struct ebb_livy *livy, int64_t id, ebb_livy_line_cb *cb, void *data, struct ebb_err *err);
/* End it; one that is over, or unknown, is fine. */
int ebb_livy_delete(struct ebb_livy *livy, int64_t id, struct ebb_err *err);

#endif
