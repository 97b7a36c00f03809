/* SPDX-License-Identifier: Apache-2.0
 *
 * Retention. Everything goes in small transactions, so that others can write between. What is not named here stays.
 */
#include "io/store_priv.h"

#define PAGE "2000"
/* States of moves whose file may still be in quarantine or of which it is not known. */
#define OPEN_MOVES "(0, 1, 4, 6)" /* planned, moved, failed, conflict */

_Static_assert(EBB_MOVE_PLANNED == 0 && EBB_MOVE_MOVED == 1 && EBB_MOVE_FAILED == 4 && EBB_MOVE_CONFLICT == 6,
               "numbers in statements");
_Static_assert(EBB_RECORD_PLAN == 0 && EBB_RECORD_RUN == 1 && EBB_RECORD_DECISION == 2, "numbers in statements");
_Static_assert(EBB_JOB_SUCCEEDED == 2 && EBB_JOB_FAILED == 3 && EBB_JOB_CANCELLED == 5, "numbers in statements");

/* ?1: what lies before goes. */
static const char SKIPS[] = "DELETE FROM record WHERE rowid IN (SELECT rowid FROM record WHERE kind = 2"
                            " AND status = 'skip' AND at_ms < ?1 ORDER BY at_ms LIMIT " PAGE ")";
static const char DECISIONS[] =
    "DELETE FROM record WHERE rowid IN (SELECT rowid FROM record AS d WHERE kind = 2 AND status <> 'skip'"
    " AND at_ms < ?1 AND NOT EXISTS (SELECT 1 FROM record AS p WHERE p.kind = 0 AND p.parent = d.id"
    " AND p.status IN ('ready', 'held'))"
    " AND id NOT IN (SELECT parent FROM job WHERE state NOT IN (2, 3, 5)) ORDER BY at_ms LIMIT " PAGE ")";
/* Plans with nothing in them, but for the newest of a table: it tells what the last listing found. */
static const char PLANS[] =
    "DELETE FROM record WHERE rowid IN (SELECT rowid FROM record AS p WHERE kind = 0 AND status = 'empty'"
    " AND at_ms < ?1 AND EXISTS (SELECT 1 FROM record AS n WHERE n.kind = 0 AND n.uuid = p.uuid AND n.at_ms > p.at_ms)"
    " AND id NOT IN (SELECT plan FROM job WHERE state NOT IN (2, 3, 5)) ORDER BY at_ms LIMIT " PAGE ")";
/* Runs that touched no file and applied no plan, but for the latest of a policy on a table: intervals and failures are
 * counted from these. */
static const char RUNS[] =
    "DELETE FROM record WHERE rowid IN (SELECT rowid FROM record AS r WHERE kind = 1"
    " AND status IN ('done', 'failed', 'observed') AND at_ms < ?1"
    " AND NOT EXISTS (SELECT 1 FROM move WHERE run = r.id)"
    " AND NOT EXISTS (SELECT 1 FROM record AS p WHERE p.kind = 0 AND p.id = r.parent)"
    " AND EXISTS (SELECT 1 FROM record AS n WHERE n.kind = 1 AND n.uuid = r.uuid AND n.policy = r.policy"
    " AND n.at_ms > r.at_ms LIMIT 1 OFFSET 99)"
    " AND id NOT IN (SELECT run FROM job WHERE state NOT IN (2, 3, 5)) ORDER BY at_ms LIMIT " PAGE ")";
/* Journals of runs of which nothing lies in quarantine any more. The runs themselves stay. */
static const char MOVES[] =
    "DELETE FROM move WHERE (run, seq) IN (SELECT m.run, m.seq FROM record AS r JOIN move AS m ON m.run = r.id"
    " WHERE r.kind = 1 AND r.status IN ('done', 'restored', 'purged') AND r.at_ms < ?1"
    " AND max(r.end_ms, r.at_ms) < ?1"
    " AND NOT EXISTS (SELECT 1 FROM move AS o WHERE o.run = r.id AND o.state IN " OPEN_MOVES ")"
    " AND r.id NOT IN (SELECT run FROM job WHERE state NOT IN (2, 3, 5)) LIMIT 5000)";
static const char JOBS[] = "DELETE FROM job WHERE rowid IN (SELECT rowid FROM job WHERE state IN (2, 3, 5)"
                           " AND ended_ms < ?1 LIMIT " PAGE ")";
/* Those of policies stay as long as their time: no occurrence is taken twice, whatever else is asked for meanwhile. */
static const char JOBS_BEFORE[] =
    "DELETE FROM job WHERE rowid IN (SELECT rowid FROM job WHERE rowid <= ?1 AND state IN (2, 3, 5)"
    " AND (occurrence = '' OR occurrence GLOB 'api *') LIMIT " PAGE ")";
static const char EVENTS[] =
    "DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE seq <= ?1 ORDER BY seq LIMIT 5000)";

static int delete_all(struct ebb_store *store, const char *sql, int64_t bound, int64_t *dropped, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t count = 1;
    int rc = ebb__store_keep(store, sql, &stmt, err);

    while (!rc && count > 0) {
        sqlite3_bind_int64(stmt, 1, bound);
        rc = ebb__store_run(store, stmt, "cannot drop old records", err);
        count = rc ? 0 : sqlite3_changes64(store->db);
        *dropped += count;
    }
    return rc;
}

static int delete_older(struct ebb_store *store, const char *sql, int64_t now_ms, int64_t age_ms, int64_t *dropped,
                        struct ebb_err *err)
{
    return age_ms > 0 ? delete_all(store, sql, now_ms - age_ms, dropped, err) : 0;
}

/* The bound that a query gives for ?1; *found false when it gives none. */
static int find_bound(struct ebb_store *store, const char *sql, int64_t max, int64_t *out, bool *found,
                      struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int step, rc = ebb__store_keep(store, sql, &stmt, err);

    *found = false;
    if (rc)
        return rc;
    sqlite3_bind_int64(stmt, 1, max);
    step = sqlite3_step(stmt);
    *found = step == SQLITE_ROW;
    if (step == SQLITE_ROW)
        *out = sqlite3_column_int64(stmt, 0);
    else if (step != SQLITE_DONE)
        rc = ebb__store_fail(store, "cannot count records", err);
    sqlite3_reset(stmt);
    return rc;
}

static int bound_skips(struct ebb_store *store, int64_t max, int64_t *dropped, struct ebb_err *err)
{
    static const char SQL[] = "SELECT at_ms FROM record WHERE kind = 2 AND status = 'skip'"
                              " ORDER BY at_ms DESC, id DESC LIMIT 1 OFFSET ?1";
    int64_t at_ms = 0;
    bool found = false;
    int rc = max > 0 ? find_bound(store, SQL, max - 1, &at_ms, &found, err) : 0;

    return rc || !found ? rc : delete_all(store, SKIPS, at_ms, dropped, err);
}

/* Those before the first that is young enough; the last one stays, the numbers go on from it. */
static int drop_old_events(struct ebb_store *store, int64_t before_ms, int64_t *dropped, struct ebb_err *err)
{
    static const char SQL[] = "SELECT coalesce((SELECT min(seq) FROM event WHERE received_ms >= ?1),"
                              " (SELECT max(seq) FROM event), 0) - 1";
    int64_t seq = 0;
    bool found = false;
    int rc = find_bound(store, SQL, before_ms, &seq, &found, err);

    return rc || !found ? rc : delete_all(store, EVENTS, seq, dropped, err);
}

static int bound_events(struct ebb_store *store, int64_t max, int64_t *dropped, struct ebb_err *err)
{
    static const char SQL[] = "SELECT seq FROM event ORDER BY seq DESC LIMIT 1 OFFSET ?1";
    int64_t seq = 0;
    bool found = false;
    int rc = find_bound(store, SQL, max, &seq, &found, err);

    return rc || !found ? rc : delete_all(store, EVENTS, seq, dropped, err);
}

/* Of those that somebody asked for: all but the last ones, and those that are not final. */
static int bound_jobs(struct ebb_store *store, int64_t max, int64_t *dropped, struct ebb_err *err)
{
    static const char SQL[] = "SELECT max(rowid) - ?1 FROM job WHERE true HAVING count(*) > ?1";
    int64_t last = 0;
    bool found = false;
    int rc = find_bound(store, SQL, max, &last, &found, err);

    return rc || !found ? rc : delete_all(store, JOBS_BEFORE, last, dropped, err);
}

int ebb_store_prune(struct ebb_store *store, int64_t now_ms, const struct ebb_retention *keep, int64_t *dropped,
                    struct ebb_err *err)
{
    const struct {
        const char *sql;
        int64_t age_ms;
    } STEPS[] = {{SKIPS, keep->skips_ms},     {DECISIONS, keep->decisions_ms}, {PLANS, keep->decisions_ms},
                 {MOVES, keep->decisions_ms}, {RUNS, keep->decisions_ms},      {JOBS, keep->jobs_ms}};
    int64_t count = 0;
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof STEPS / sizeof STEPS[0]; i++)
        rc = delete_older(store, STEPS[i].sql, now_ms, STEPS[i].age_ms, &count, err);
    if (!rc)
        rc = bound_skips(store, keep->skips_max, &count, err);
    if (!rc && keep->events_ms > 0)
        rc = drop_old_events(store, now_ms - keep->events_ms, &count, err);
    if (!rc && keep->events_max > 0)
        rc = bound_events(store, keep->events_max, &count, err);
    if (!rc && keep->jobs_max > 0)
        rc = bound_jobs(store, keep->jobs_max, &count, err);
    if (dropped)
        *dropped = count;
    return rc;
}
