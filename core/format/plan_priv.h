/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading one line of a plan file: objects by tables of their fields, nothing unknown, nothing missing. Errors are
 * EBB_ECORRUPT until the line is done.
 */
#ifndef EBB_FORMAT_PLAN_PRIV_H
#define EBB_FORMAT_PLAN_PRIV_H

#include "format/json.h"
#include "format/plan.h"

struct ebb__plan_reader {
    struct ebb_json j;
    struct ebb_arena *arena;
    char label[512]; /* "<name>:<line>" */
};

enum ebb__plan_kind {
    EBB__PLAN_TEXT,   /* const char * */
    EBB__PLAN_PATH,   /* const char *, also as "<name>_b64" */
    EBB__PLAN_BYTES,  /* struct ebb_str, also as "<name>_b64"; not empty, no NUL */
    EBB__PLAN_COUNT,  /* int64_t, not negative */
    EBB__PLAN_SIZE,   /* uint64_t */
    EBB__PLAN_TIME,   /* int64_t ms, written by ebb_time_iso */
    EBB__PLAN_OBJECT, /* struct ebb_str: its JSON */
    EBB__PLAN_READ    /* by its own function, the first token of the value is current */
};

#define EBB__PLAN_OPTIONAL 1u
#define EBB__PLAN_NULLABLE 2u /* null leaves the target as it is */

struct ebb__plan_field {
    const char *name;
    enum ebb__plan_kind kind;
    unsigned flags;
    size_t offset;
    int (*read)(struct ebb__plan_reader *r, void *target, struct ebb_err *err);
};

int ebb__plan_reader_init(struct ebb__plan_reader *r, const char *name, int64_t line_number, struct ebb_str line,
                          struct ebb_arena *arena, struct ebb_err *err);
/* Close the reader; rc is what reading gave. Demands the end of the line and turns damage into EBB_EPLAN. */
int ebb__plan_reader_fini(struct ebb__plan_reader *r, int rc, struct ebb_err *err);
/* The object that begins with the current token. At most 32 fields. */
int ebb__plan_object(struct ebb__plan_reader *r, const struct ebb__plan_field *fields, size_t count, void *target,
                     struct ebb_err *err);
/* Check the kind of the current token. */
int ebb__plan_want(struct ebb__plan_reader *r, enum ebb_json_kind kind, const char *what, struct ebb_err *err);

#endif
