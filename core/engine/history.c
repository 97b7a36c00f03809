/* SPDX-License-Identifier: Apache-2.0
 *
 * The history of a policy on a table, and its events, from the facts.
 */
#include <stdlib.h>

#include "engine/eval_priv.h"

static bool is_outcome(const struct ebb_value *run, const char *outcome)
{
    const char *text = ebb_value_text_of(run, "outcome");

    return text && !strcmp(text, outcome);
}

static const struct ebb_value *runs_of(const struct ebb_decide_input *input)
{
    return ebb_value_get(input->facts, "runs");
}

bool ebb__runs_is_known(const struct ebb_decide_input *input)
{
    return ebb_value_get_kind(runs_of(input)) == EBB_VALUE_LIST;
}

const struct ebb_value *ebb__runs_last(const struct ebb_decide_input *input, bool success_only)
{
    const struct ebb_value *runs = runs_of(input);

    for (size_t i = ebb_value_get_count(runs); i-- > 0;) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);

        if (is_outcome(run, "running"))
            continue;
        if (!success_only || is_outcome(run, "success") || is_outcome(run, "observed"))
            return run;
    }
    return NULL;
}

int64_t ebb__runs_failed_in_a_row(const struct ebb_decide_input *input)
{
    const struct ebb_value *runs = runs_of(input);
    int64_t count = 0;

    for (size_t i = ebb_value_get_count(runs); i-- > 0;) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);

        if (is_outcome(run, "running"))
            continue;
        if (!is_outcome(run, "failed"))
            break;
        count++;
    }
    return count;
}

int ebb__runs_idle(const struct ebb_value *facts, size_t *first)
{
    const struct ebb_value *runs = ebb_value_get(facts, "runs");
    int count = 0;

    *first = SIZE_MAX;
    for (size_t i = ebb_value_get_count(runs); i-- > 0 && count < EBB_GUARD_IDLE_MAX;) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);
        bool is_success = is_outcome(run, "success");

        if (ebb_value_bool_of(run, "changed", is_success))
            break;
        if (!is_success)
            continue;
        *first = i;
        count++;
    }
    return count;
}

bool ebb__runs_is_running(const struct ebb_decide_input *input)
{
    const struct ebb_value *runs = runs_of(input);

    for (size_t i = 0; i < ebb_value_get_count(runs); i++)
        if (is_outcome(ebb_value_get_at(runs, i), "running"))
            return true;
    return false;
}

static bool is_own(const struct ebb_value *item)
{
    return ebb_value_bool_of(item, "own", false) || ebb_value_get(ebb_value_get(item, "summary"), EBB__OWN_RUN_KEY);
}

static bool is_commit(const struct ebb_value *event)
{
    const char *type = ebb_value_text_of(event, "type");

    return type && !strcmp(type, "snapshot.committed");
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Ids of all snapshots, sorted; NULL with *count 0 when there are none. */
static int64_t *snapshot_ids(const struct ebb_value *snapshots, size_t *count)
{
    int64_t *ids = NULL;

    *count = ebb_value_get_count(snapshots);
    if (*count)
        ids = malloc(*count * sizeof *ids);
    if (!ids)
        return NULL;
    for (size_t i = 0; i < *count; i++)
        ids[i] = ebb_value_int_of(ebb_value_get_at(snapshots, i), "id", 0);
    qsort(ids, *count, sizeof *ids, compare_ids);
    return ids;
}

/* One event to be sorted: from the list of events, or a snapshot. */
struct item {
    int64_t at;
    const struct ebb_value *value;
    bool is_snapshot;
    size_t order;
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void add_item(struct item *items, size_t *count, const struct ebb_value *v, bool is_snapshot)
{
    items[*count] = (struct item){ebb_value_int_of(v, "at", 0), v, is_snapshot, *count};
    (*count)++;
}

/* The commits are read off the snapshots; a delivered one counts only when its snapshot is not there. */
static size_t collect(const struct ebb_decide_input *input, bool own, struct item *items, const int64_t *ids,
                      size_t id_count)
{
    const struct ebb_value *events = ebb_value_get(input->facts, "events");
    const struct ebb_value *snapshots = ebb_value_get(ebb_value_get(input->facts, "table"), "snapshots");
    size_t count = 0;

    for (size_t i = 0; i < ebb_value_get_count(snapshots); i++)
        if (own || !is_own(ebb_value_get_at(snapshots, i)))
            add_item(items, &count, ebb_value_get_at(snapshots, i), true);
    for (size_t i = 0; i < ebb_value_get_count(events); i++) {
        const struct ebb_value *event = ebb_value_get_at(events, i);
        int64_t id = ebb_value_int_of(event, "snapshot_id", 0);

        if (!own && is_own(event))
            continue;
        if (is_commit(event) && id && ids && bsearch(&id, ids, id_count, sizeof *ids, compare_ids))
            continue;
        add_item(items, &count, event, false);
    }
    return count;
}

static void put_item(struct ebb_value *list, const struct item *item)
{
    struct ebb_value *event;
    struct ebb_buf id;

    if (!item->is_snapshot) {
        ebb_value_add_copy(list, item->value);
        return;
    }
    ebb_buf_init(&id, 64);
    ebb_buf_printf(&id, "snapshot-%lld", (long long)ebb_value_int_of(item->value, "id", 0));
    event = ebb_value_add_map(list);
    ebb_value_put_strn(event, "id", ebb_buf_cstr(&id), id.len);
    ebb_value_put_str(event, "type", "snapshot.committed");
    ebb_value_put_int(event, "at", item->at);
    ebb_value_put_str(event, "source", "metadata");
    ebb_value_put_copy(event, "snapshot_id", ebb_value_get(item->value, "id"));
    ebb_value_put_copy(event, "operation", ebb_value_get(item->value, "operation"));
    ebb_buf_fini(&id);
}

int ebb__events_make(const struct ebb_decide_input *input, bool own, struct ebb_value **out, struct ebb_err *err)
{
    const struct ebb_value *events = ebb_value_get(input->facts, "events");
    const struct ebb_value *snapshots = ebb_value_get(ebb_value_get(input->facts, "table"), "snapshots");
    size_t id_count, count;
    struct item *items;
    int64_t *ids;
    int rc;

    *out = NULL;
    if (!events && !snapshots)
        return 0;
    ids = snapshot_ids(snapshots, &id_count);
    items = malloc((ebb_value_get_count(events) + ebb_value_get_count(snapshots) + 1) * sizeof *items);
    *out = ebb_value_new_list(NULL);
    rc = items && *out && (ids || !id_count) ? 0 : ebb_err_nomem(err);
    if (rc)
        goto out;
    count = collect(input, own, items, ids, id_count);
    qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; i < count; i++)
        put_item(*out, &items[i]);
    rc = ebb_value_check(*out, "events", err);
out:
    free(ids);
    free(items);
    if (rc) {
        ebb_value_free(*out);
        *out = NULL;
    }
    return rc;
}
