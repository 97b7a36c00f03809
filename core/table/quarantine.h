/* SPDX-License-Identifier: Apache-2.0
 *
 * The quarantine: where an applied plan moves files, and the record that lies with them. Layout:
 * <quarantine>/<run>/run.jsonl, and beside it each file under its name below the table's location. The record alone is
 * enough to undo the run.
 *
 * run.jsonl: line 1 is {"ebb_run":1,"run":id,"created":instant,"plan":{the plan's header}}; then one line a file,
 * written and synced before the file is moved: {"seq","path" (full URI),"target" (below the run folder),"size","mtime"
 * (ns),"id"}; then {"end":status,…} for each time the run came to an end. A crash can tear the last line; whoever
 * appends after that first writes {"torn":true} behind it. Bytes that are not UTF-8 stand as "path_b64" and
 * "target_b64". Names in it are not trusted: each is checked when it is read.
 */
#ifndef EBB_TABLE_QUARANTINE_H
#define EBB_TABLE_QUARANTINE_H

#include "format/plan.h"
#include "io/place.h"

#define EBB_QUARANTINE_DIR ".ebb-quarantine"
#define EBB_QUARANTINE_RECORD "run.jsonl"
#define EBB_QUARANTINE_RECORD_NEW "run.jsonl.new" /* while its first line is written */
#define EBB_QUARANTINE_LOCK EBB_QUARANTINE_DIR "/lock"
#define EBB_RUN_VERSION 1
#define EBB_RUN_RECORD_MAX_BYTES ((size_t)1 << 30)

/* One run's folder. */
struct ebb_quarantine {
    struct ebb_place *place; /* what the folder lies below */
    struct ebb_place *owned; /* the same, when it was opened for this; else NULL */
    char *folder;            /* name of the run folder below place */
    char *uri;               /* URI of the run folder */
};

/* `table`: the table's location, opened for writing, borrowed. outside: URI of an existing folder elsewhere, or NULL
 * for the default folder below the location. EBB_EUSAGE: outside lies in the location or around it, or on another file
 * system. Makes nothing. */
int ebb_quarantine_open(struct ebb_storage *storage, struct ebb_place *table, const char *outside, const char *run,
                        struct ebb_quarantine *out, struct ebb_err *err);
void ebb_quarantine_close(struct ebb_quarantine *q);
/* Append the name of `target` ("" = the run folder) below q->place. EBB_EOUTSIDE when it is not a plain relative name,
 * or is the record. */
int ebb_quarantine_name(const struct ebb_quarantine *q, struct ebb_str target, struct ebb_buf *out,
                        struct ebb_err *err);

struct ebb_run_file {
    int64_t seq;
    struct ebb_str path;   /* full URI */
    struct ebb_str target; /* below the run folder */
    struct ebb_str id;
    uint64_t size_bytes;
    int64_t mtime_ns;
};

/* Begin the record: make the folder and write its first line, whole or not at all. A record that is there already is
 * left alone. */
int ebb_quarantine_begin(struct ebb_quarantine *q, const char *run, const struct ebb_plan_header *plan, int64_t now_ms,
                         struct ebb_err *err);
/* Append one line to a buffer. */
void ebb_quarantine_write_file(struct ebb_buf *out, const struct ebb_run_file *file);
/* Append whole lines to the record; on disk on return. is_after_stop: the last line may be torn, mark it. EBB_ENOENT:
 * there is no record. */
int ebb_quarantine_append(struct ebb_quarantine *q, struct ebb_str lines, bool is_after_stop, struct ebb_err *err);

struct ebb_run_header {
    const char *run;
    struct ebb_plan_header plan;
};
/* Read a record. header is called once, first; file for each file. Values are borrowed during the call. A last line
 * without line feed, and a line that a {"torn":true} follows, are left out; any other line that can't be read is
 * EBB_EQUARANTINE, as is a name that leads outside. */
struct ebb_run_reader {
    int (*header)(void *data, const struct ebb_run_header *header, struct ebb_err *err);
    int (*file)(void *data, const struct ebb_run_file *file, struct ebb_err *err);
    void *data;
};
int ebb_quarantine_read(struct ebb_quarantine *q, const struct ebb_run_reader *reader, struct ebb_err *err);
/* The same from bytes; name is for messages. */
int ebb_run_record_parse(const char *name, struct ebb_str bytes, const struct ebb_run_reader *reader,
                         struct ebb_err *err);

#endif
