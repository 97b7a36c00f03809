/* SPDX-License-Identifier: Apache-2.0
 *
 * The audit log: `audit.jsonl` in the state folder. One JSON object a line, each with "seq" (from 1), "prev" (SHA-256,
 * hex, of the line before without its line feed; 64 zeros for the first), "at" (ISO time) and the event's own keys.
 * Appended with a file lock and synced; names every file that ebb moved, deleted or put back.
 */
#ifndef EBB_IO_AUDIT_H
#define EBB_IO_AUDIT_H

#include "base/buf.h"

struct ebb_audit;
/* Open for appending. A last line without line feed (crash in the middle of a write) is kept apart: it is cut off into
 * audit.jsonl.torn-<seq> and a "torn" event is appended. EBB_EAUDIT when the last whole line is not part of a chain. */
int ebb_audit_open(const char *state_dir, struct ebb_audit **out, struct ebb_err *err);
/* Writes what is still queued, if it can: who must know flushes first. */
void ebb_audit_close(struct ebb_audit *audit);
/* Queue one event: `members` is JSON text of one or more members without braces, e.g.
 * "\"event\":\"moved\",\"path\":\"…\"". At most 1 MiB (EBB_ELIMIT), no control characters (EBB_EINTERNAL). */
int ebb_audit_add(struct ebb_audit *audit, int64_t at_ms, const char *members, struct ebb_err *err);
/* Write and fsync what was queued; after an error it is still queued and the log is as before. A line torn by another
 * process meanwhile is mended as in open. EBB_EAUDIT when the log was replaced. */
int ebb_audit_flush(struct ebb_audit *audit, struct ebb_err *err);
/* Whether it is still the log of its folder: false when it was moved, removed or replaced, and is to be opened anew. */
bool ebb_audit_is_current(const struct ebb_audit *audit);
/* Whether a flush would find what it needs: that log, and an end that continues the chain. A torn line is mended.
 * Errors of ebb_audit_flush. */
int ebb_audit_check(struct ebb_audit *audit, struct ebb_err *err);
/* Read the whole log and check the chain: EBB_EAUDIT names the first bad line. *lines_count: lines that hold. A missing
 * log is 0 lines. */
int ebb_audit_verify(const char *state_dir, int64_t *lines_count, struct ebb_err *err);

#endif
