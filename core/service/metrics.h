/* SPDX-License-Identifier: Apache-2.0
 *
 * Metrics of the daemon: counters, gauges and histograms, one list; written as Prometheus text (names and units by its
 * conventions). Adding is lock free and may be done on any thread; a NULL set is fine: nothing is counted.
 */
#ifndef EBB_SERVICE_METRICS_H
#define EBB_SERVICE_METRICS_H

#include "base/buf.h"

/* X(symbol, name, type, labels, help). Labels: name of the one label, values below; "" none. Durations in seconds. */
#define EBB_METRICS(X)                                                                                                 \
    X(DECISIONS, "ebb_decisions_total", COUNTER, "verdict", "Decisions made")                                          \
    X(UNCHANGED, "ebb_decisions_unchanged_total", COUNTER, "", "Evaluations skipped, since nothing read had changed")  \
    X(DROPPED_OCCURRENCES, "ebb_occurrences_dropped_total", COUNTER, "", "Occurrences that came too late")             \
    X(JOBS_ENDED, "ebb_jobs_ended_total", COUNTER, "state", "Jobs that ended")                                         \
    X(JOBS, "ebb_jobs", GAUGE, "state", "Jobs that are not final")                                                     \
    X(JOB_SECONDS, "ebb_job_duration_seconds", HISTOGRAM, "", "Duration of jobs")                                      \
    X(FILES_MOVED, "ebb_files_moved_total", COUNTER, "", "Files moved to quarantine")                                  \
    X(FILES_DELETED, "ebb_files_deleted_total", COUNTER, "", "Files deleted for good")                                 \
    X(FILES_RESTORED, "ebb_files_restored_total", COUNTER, "", "Files put back")                                       \
    X(EVENTS, "ebb_events_received_total", COUNTER, "result", "Events taken in")                                       \
    X(EVENTS_WAITING, "ebb_events_waiting", GAUGE, "", "Events that are not durable yet")                              \
    X(LOOKS, "ebb_table_looks_total", COUNTER, "", "Tables looked at")                                                 \
    X(LOOK_SECONDS, "ebb_table_look_duration_seconds", HISTOGRAM, "", "Duration of looking at tables")                 \
    X(LOOK_ERRORS, "ebb_table_look_errors_total", COUNTER, "", "Tables that could not be looked at")                   \
    X(TABLES, "ebb_tables", GAUGE, "", "Tables known")                                                                 \
    X(POLICIES, "ebb_policies", GAUGE, "", "Policies active")                                                          \
    X(RELOADS, "ebb_reloads_total", COUNTER, "result", "Loads of configuration and policies")                          \
    X(GENERATION, "ebb_generation_timestamp_seconds", GAUGE, "", "When the active generation was loaded")              \
    X(CLOCK_STEPS, "ebb_clock_steps_total", COUNTER, "", "Steps of the system's clock")                                \
    X(NOTICES, "ebb_notices_total", COUNTER, "result", "Notices to people")                                            \
    X(HTTP_REQUESTS, "ebb_http_requests_total", COUNTER, "code", "Requests answered")                                  \
    X(HTTP_SECONDS, "ebb_http_request_duration_seconds", HISTOGRAM, "", "Duration of requests")                        \
    X(HTTP_OPEN, "ebb_http_connections", GAUGE, "", "Connections open")                                                \
    X(STORE_ERRORS, "ebb_store_errors_total", COUNTER, "", "Writes to the store that failed")                          \
    X(STORE_BYTES, "ebb_store_size_bytes", GAUGE, "", "Size of the store")                                             \
    X(RECORDS_DROPPED, "ebb_records_dropped_total", COUNTER, "", "Records that retention removed")                     \
    X(LOOP_LAG, "ebb_loop_lag_seconds", GAUGE, "", "How late the loop's last timer came")                              \
    X(LEADER, "ebb_leader", GAUGE, "", "1 when this process is the active one")

#define EBB_METRIC_SYMBOL(symbol, name, type, label, help) EBB_METRIC_##symbol,
enum ebb_metric { EBB_METRICS(EBB_METRIC_SYMBOL) EBB_METRIC_COUNT };
#undef EBB_METRIC_SYMBOL

struct ebb_metrics;
/* All at zero. EBB_ENOMEM. Free it when no thread adds any more. */
int ebb_metrics_new(struct ebb_metrics **out, struct ebb_err *err);
void ebb_metrics_free(struct ebb_metrics *metrics);
/* label: its value (one of few, of at most 64 bytes: at most 32 values a metric, further ones count as "other"), NULL
 * for metrics without. Counters: n below 0 is ignored. Set on a counter: one that is counted elsewhere. */
void ebb_metrics_add(struct ebb_metrics *metrics, enum ebb_metric metric, const char *label, int64_t n);
void ebb_metrics_set(struct ebb_metrics *metrics, enum ebb_metric metric, const char *label, double value);
/* Histograms only; less than 0 counts as 0. */
void ebb_metrics_observe(struct ebb_metrics *metrics, enum ebb_metric metric, double seconds);
/* Append all, and those of the process (process_start_time_seconds, process_resident_memory_bytes, process_open_fds,
 * process_cpu_seconds_total, ebb_build_info), as text format 0.0.4. */
int ebb_metrics_write(struct ebb_metrics *metrics, struct ebb_buf *out, struct ebb_err *err);

#endif
