/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ebb doctor` looks at: configuration, policies, catalogs, tables' folders, clocks, zone database, state folder,
 * store, daemon, limits and libraries. Changes nothing; may be done beside a daemon, but not in its process.
 */
#ifndef EBB_SERVICE_DOCTOR_H
#define EBB_SERVICE_DOCTOR_H

#include "base/clock.h"
#include "service/config.h"

enum ebb_doctor_level { EBB_DOCTOR_OK, EBB_DOCTOR_WARN, EBB_DOCTOR_FAIL };
/* "ok", "warn", "fail" */
const char *ebb_doctor_level_name(enum ebb_doctor_level level);

/* One thing that was looked at. check: "configuration", "policies", "catalog", "table", "storage", "engine", "clock",
 * "zones", "state", "store", "daemon", "serve", "limits", "versions". Secrets are masked. Borrowed. */
struct ebb_doctor_line {
    enum ebb_doctor_level level;
    const char *check, *message;
    const char *hint; /* what to mend, "" none */
};
typedef void ebb_doctor_cb(void *data, const struct ebb_doctor_line *line);

struct ebb_doctor_options {
    const char *config;    /* file; NULL: look for one */
    const char *state_dir; /* NULL: the usual one */
    struct ebb_clock clock;
    ebb_doctor_cb *tell;
    void *data;
};
/* Look at everything; what is wrong is told, not returned. *config gets the configuration, NULL when it can't be read;
 * the caller frees. *worst gets the gravest level. EBB_ENOMEM. */
int ebb_doctor_run(const struct ebb_doctor_options *options, struct ebb_config **config, enum ebb_doctor_level *worst,
                   struct ebb_err *err);

#endif
