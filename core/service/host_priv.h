/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the public interface share.
 */
#ifndef EBB_SERVICE_HOST_PRIV_H
#define EBB_SERVICE_HOST_PRIV_H

#include <stdatomic.h>

#include "ebb.h"
#include "engine/evaluator.h"

/* Copy an error for the host, safe to print; gives rc. */
int ebb__host_tell(int rc, const struct ebb_err *from, struct ebb_host_error *to);

struct ebb_host_bundle {
    atomic_size_t holds;
    struct ebb_policy **policies;
    size_t count;
};
struct ebb_host_bundle *ebb__host_bundle_hold(struct ebb_host_bundle *bundle);
/* A policy by name. EBB_ENOT_FOUND. */
int ebb__host_bundle_find(const struct ebb_host_bundle *bundle, const char *name, const struct ebb_policy **out,
                          struct ebb_err *err);

struct ebb_host_facts {
    struct ebb_value *value;
};
/* A JSON object given as text; NULL text gives NULL. what names it in messages. */
int ebb__host_json(const char *text, const char *what, struct ebb_value **out, struct ebb_err *err);
/* Engine and host count modes and verdicts alike. */
enum ebb_mode ebb__host_mode(enum ebb_host_mode mode);
enum ebb_host_verdict ebb__host_verdict(enum ebb_verdict verdict);

#endif
