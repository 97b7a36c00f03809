/* SPDX-License-Identifier: Apache-2.0
 *
 * What is paused: everything, policies, tables. Kept in the store as one list.
 */
#include <stdlib.h>

#include "service/daemon_priv.h"

#define SCOPE "pause"
#define KEY "list"

bool ebb__pause_has(const struct ebb_strs *paused, const char *kind, const char *name)
{
    size_t n = strlen(kind);

    for (size_t i = 0; i < paused->count; i++) {
        const char *item = paused->items[i];

        if (!name ? !strcmp(item, kind) : !strncmp(item, kind, n) && item[n] == ' ' && !strcmp(item + n + 1, name))
            return true;
    }
    return false;
}

int ebb__pause_load(struct ebb__daemon *d, struct ebb_err *err)
{
    struct ebb_value *list = NULL;
    struct ebb_buf text;
    bool found = false;
    int rc;

    ebb_buf_init(&text, (size_t)16 << 20);
    rc = ebb_store_get_value(d->lead_store, SCOPE, KEY, &text, &found, err);
    if (!rc && found)
        rc = ebb_value_of_json("what is paused", ebb_buf_cstr(&text), text.len, NULL, &list, err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++)
        if (ebb_value_get_str(ebb_value_get_at(list, i)))
            rc = ebb_strs_add(&d->paused, ebb_value_get_str(ebb_value_get_at(list, i)), err);
    ebb_value_free(list);
    ebb_buf_fini(&text);
    return rc;
}

struct task {
    struct ebb__daemon *d;
    struct ebb_buf text;
    int rc;
    struct ebb_err err;
};

static void work(void *context, void *data)
{
    struct task *task = data;
    struct ebb_worker *worker = context;

    task->rc = ebb_worker_ready(worker, &task->err);
    if (!task->rc)
        task->rc = ebb_store_put_value(ebb_workspace_site(worker->ws)->store, SCOPE, KEY, ebb_buf_cstr(&task->text),
                                       &task->err);
    if (worker)
        ebb__worker_done(worker);
}

static void done(void *data)
{
    struct task *task = data;
    struct ebb__daemon *d = task->d;

    d->is_saving_pause = false;
    if (task->rc) {
        d->wants_pause_saved = true;
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "what is paused can't be kept over a restart: %s", task->err.message);
        if (ebb__is_store_error(&task->err))
            ebb__daemon_store_failed(d, &task->err);
    }
    ebb_buf_fini(&task->text);
    free(task);
    if (d->wants_pause_saved && !d->store_fault.is_set)
        ebb__pause_save(d);
    ebb__daemon_close_more(d);
}

/* One after the other: the last list is to be the one that stays. */
void ebb__pause_save(struct ebb__daemon *d)
{
    struct task *task = d->is_saving_pause || d->store_fault.is_set ? NULL : calloc(1, sizeof *task);
    struct ebb_jsonw w;

    d->wants_pause_saved = true;
    if (!task)
        return;
    task->d = d;
    ebb_buf_init(&task->text, (size_t)16 << 20);
    ebb_jsonw_init(&w, &task->text);
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < d->paused.count; i++)
        ebb_jsonw_str(&w, d->paused.items[i]);
    ebb_jsonw_end(&w, ']');
    if (ebb__daemon_post(d, d->look_pool, work, done, task)) {
        ebb_buf_fini(&task->text);
        free(task);
        return;
    }
    d->is_saving_pause = true;
    d->wants_pause_saved = false;
}

static bool is_whole(const char *what)
{
    return !strcmp(what, "all") || (!strncmp(what, "policy ", 7) && what[7]) ||
           (!strncmp(what, "table ", 6) && what[6]);
}

static bool drop(struct ebb_strs *list, const char *what)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i], what)) {
            free(list->items[i]);
            list->items[i] = list->items[--list->count];
            return true;
        }
    return false;
}

void ebb__daemon_pause(struct ebb__daemon *d, const char *what, bool is_pause)
{
    bool changed;

    if (!is_whole(what))
        return;
    if (is_pause)
        changed = !ebb_strs_has(&d->paused, what) && ebb_strs_add(&d->paused, what, NULL) == 0;
    else
        changed = drop(&d->paused, what);
    if (!changed)
        return;
    ebb__say(&d->log, EBB_LOG_INFO, NULL, "%s: %s", is_pause ? "paused" : "resumed", what);
    ebb__pause_save(d);
    ebb__daemon_dirty(d);
    if (!is_pause) {
        ebb__daemon_sync(d);
        ebb__daemon_look_all(d);
    }
}

static void rename_pause(struct ebb__daemon *d, const char *was, const char *name)
{
    struct ebb_buf from, to;

    ebb_buf_init(&from, 4096);
    ebb_buf_init(&to, 4096);
    ebb_buf_printf(&from, "policy %s", was);
    ebb_buf_printf(&to, "policy %s", name);
    if (!from.bad && !to.bad) {
        ebb__daemon_pause(d, ebb_buf_cstr(&to), true);
        if (ebb__pause_has(&d->paused, "policy", name) && drop(&d->paused, ebb_buf_cstr(&from)))
            ebb__pause_save(d);
    }
    ebb_buf_fini(&from);
    ebb_buf_fini(&to);
}

void ebb__pause_renamed(struct ebb__daemon *d)
{
    for (size_t i = 0; i < d->generation->policy_count; i++) {
        const struct ebb_policy *policy = d->generation->policies[i];
        const char *was = ebb_policy_get_was(policy);

        if (was && !ebb_generation_find(d->generation, was) && ebb__pause_has(&d->paused, "policy", was))
            rename_pause(d, was, ebb_policy_get_name(policy));
    }
}
