/* SPDX-License-Identifier: Apache-2.0
 *
 * Every plan looks at what lies in quarantine: a file that some writer made part of the table again must be put back.
 */
#include "table/plan_priv.h"

#include <inttypes.h>

#define WARNINGS_MAX 10

struct quarantined {
    struct ebb_planning *p;
    const char *run;
    int64_t count;
};

static int on_move(void *data, const struct ebb_move *move, struct ebb_err *err)
{
    struct quarantined *q = data;
    const struct ebb_planning *p = q->p;
    enum ebb_judged judged;
    struct ebb_buf uri;
    int rc;

    ebb_buf_init(&uri, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&uri, "%s/", p->table->metadata->location);
    ebb_buf_add_str(&uri, move->path);
    rc = ebb_buf_check(&uri, "a file in quarantine", err);
    if (!rc && ebb_protect_judge(p->protect, ebb_buf_str(&uri), &judged, NULL) == 0 && judged == EBB_JUDGED_REACHABLE &&
        ++q->count <= WARNINGS_MAX)
        ebb_log_say(&p->site->log, EBB_LOG_WARN,
                    "%s: %s is referenced, but lies in the quarantine of run %s: put it back with ebb restore",
                    p->table->label, ebb_buf_cstr(&uri), q->run);
    ebb_buf_fini(&uri);
    return rc;
}

static int on_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct quarantined *q = data;

    if (!strcmp(record->status, "restored") || !strcmp(record->status, "purged") || !strcmp(record->status, "observed"))
        return 0;
    q->run = record->id;
    return ebb_store_list_moves(q->p->site->store, record->id, EBB_MOVE_MOVED, on_move, q, err);
}

int ebb__plan_look_at_quarantine(struct ebb_planning *p, struct ebb_err *err)
{
    struct ebb_record_filter filter = {.uuid = p->table->metadata->uuid};
    struct quarantined q = {p, NULL, 0};
    int rc;

    if (!p->site->store || !p->table->metadata->uuid)
        return 0;
    rc = ebb_store_list(p->site->store, EBB_RECORD_RUN, &filter, on_run, &q, err);
    if (!rc && q.count > WARNINGS_MAX)
        ebb_log_say(&p->site->log, EBB_LOG_WARN, "%s: %" PRId64 " referenced files lie in quarantine", p->table->label,
                    q.count);
    return rc;
}
