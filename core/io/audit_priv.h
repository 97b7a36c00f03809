/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of the audit log: how a line is made and read, where the log ends. Shared by writing (audit.c) and checking
 * (audit_chain.c).
 */
#ifndef EBB_IO_AUDIT_PRIV_H
#define EBB_IO_AUDIT_PRIV_H

#include "io/audit.h"

#define EBB__AUDIT_NAME "audit.jsonl"
#define EBB__AUDIT_MEMBERS_MAX ((size_t)1 << 20)
#define EBB__AUDIT_LINE_MAX (EBB__AUDIT_MEMBERS_MAX + 256) /* without the line feed */
#define EBB__AUDIT_HASH 64                                 /* hex digits */

/* The end of the chain: what the next line refers to. */
struct ebb__audit_tail {
    int64_t seq;                    /* of the last whole line; 0 for an empty log */
    char prev[EBB__AUDIT_HASH + 1]; /* hash of the last whole line */
    int64_t end;                    /* offset behind its line feed */
    struct ebb_buf torn;            /* bytes behind that */
};
void ebb__audit_tail_init(struct ebb__audit_tail *tail);
void ebb__audit_tail_fini(struct ebb__audit_tail *tail);

/* Read the end of an open log. EBB_EAUDIT when its last whole line does not continue the one before. */
int ebb__audit_read_tail(int fd, const char *path, struct ebb__audit_tail *tail, struct ebb_err *err);
/* Append a whole line with the next seq to out and move the tail's seq and prev on (not its end). event: members. */
void ebb__audit_line(struct ebb__audit_tail *tail, struct ebb_buf *out, struct ebb_str event);

/* Open or make the log in its folder with mode 0600, synced. Returns 0 or an errno value. */
int ebb__audit_open_file(int dir_fd, int *out);
/* Wait for the lock of the file. */
int ebb__audit_lock(int fd, bool is_exclusive, const char *path, struct ebb_err *err);
void ebb__audit_unlock(int fd);

#endif
