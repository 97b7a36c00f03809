/* SPDX-License-Identifier: Apache-2.0
 *
 * libebb: keeps Apache Iceberg tables clean. The public C interface: a host opens the engine with its own clock and
 * log, loads policies, decides, plans, applies and restores. Link with -lebb (pkg-config ebb).
 *
 * Rules. No function prints, exits, starts a thread, or changes locale, signals or environment. One struct ebb_host per
 * thread. Functions return 0 or a negative number; then *err (may be NULL) tells what happened. Text given back through
 * char ** is owned by the caller: ebb_host_free_text. JSON documents are those of the command line's --json. Instants
 * are milliseconds since 1970-01-01T00:00:00Z.
 */
#ifndef EBB_H
#define EBB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EBB_API __attribute__((visibility("default")))

struct ebb_host;

/* What went wrong, safe to print. code is stable ("location.foreign_table"); exit_status is what the command line would
 * end with: 2 refused for safety, 3 failed or partly done, 4 a policy went wrong, 5 interrupted, 64 usage or
 * configuration. */
struct ebb_host_error {
    int exit_status;
    bool retryable;
    char code[64];
    char message[1024];
    char hint[512];
};

enum ebb_host_level { EBB_HOST_ERROR, EBB_HOST_WARN, EBB_HOST_INFO, EBB_HOST_DEBUG };

/* All pointers are borrowed during ebb_host_open, but clock_data, log_data and cancelled, which must live as long as
 * the host. Zeroed: the defaults. */
struct ebb_host_options {
    const char *config;      /* ebb.lua; NULL: none is read */
    const char *state_dir;   /* NULL: $XDG_STATE_HOME/ebb, else ~/.local/state/ebb */
    const char *scripts_dir; /* strategies and adapters; NULL: the installed ones */
    const char *const *maps; /* "FROM=TO": where URI prefixes are reachable here */
    size_t map_count;
    int64_t (*now_ms)(void *clock_data); /* NULL: the system's clock */
    void *clock_data;
    void (*log)(void *log_data, enum ebb_host_level level,
                const char *message); /* one line, safe to print; NULL: silent */
    void *log_data;
    const volatile bool *cancelled; /* set by the host to stop at the next safe point; NULL: never */
};

/* The version ("0.1.0"); what is written to *out belongs to the caller: ebb_host_close and ebb_host_free_text, which
 * take NULL too. Opening reads the configuration and makes the state folder when it is not there. */
EBB_API const char *ebb_host_version(void);
EBB_API int ebb_host_open(const struct ebb_host_options *options, struct ebb_host **out, struct ebb_host_error *err);
EBB_API void ebb_host_close(struct ebb_host *host);
EBB_API void ebb_host_free_text(char *text);

/* Load every policy of a folder (or one file), and remember the folder for ebb_host_run. *manifest (may be NULL) gets a
 * JSON list of their data parts. The first file that is wrong is an error: nothing is loaded half. */
EBB_API int ebb_host_load_policies(struct ebb_host *host, const char *path, char **manifest,
                                   struct ebb_host_error *err);

/* One decision of a loaded policy on a table ("catalog.namespace.table", a path, or a captured fixture *.json), as of
 * the host's clock; nothing is done. *record gets the decision record. When the policy goes wrong the call fails and
 * *record tells (it may be NULL). */
EBB_API int ebb_host_decide(struct ebb_host *host, const char *policy, const char *table, char **record,
                            struct ebb_host_error *err);

/* Plan the removal of orphan files: read only for the table. older_than: "3d" or an instant with zone, NULL = 3 days.
 * max_share: greatest part of the listed files that may be candidates before the plan is held, 0 = 0.5. *plan gets the
 * summary, with the plan's id and file. A held plan is no error here: its status tells. */
EBB_API int ebb_host_plan(struct ebb_host *host, const char *table, const char *older_than, double max_share,
                          char **plan, struct ebb_host_error *err);
/* Apply a plan (id or file): files go to quarantine. *result is set also when only a part was done (exit_status 3). */
EBB_API int ebb_host_apply(struct ebb_host *host, const char *plan, char **result, struct ebb_host_error *err);
/* End an interrupted run. */
EBB_API int ebb_host_resume(struct ebb_host *host, const char *run, char **result, struct ebb_host_error *err);
/* Put back what a run moved. */
EBB_API int ebb_host_restore(struct ebb_host *host, const char *run, char **result, struct ebb_host_error *err);

/* One pass over everything that is due for the bound policies. report gets one JSON object per policy and table; may be
 * NULL. */
typedef void ebb_host_report_cb(void *data, const char *json);
EBB_API int ebb_host_run(struct ebb_host *host, bool dry_run, ebb_host_report_cb *report, void *data,
                         struct ebb_host_error *err);

#ifdef __cplusplus
}
#endif

#endif
