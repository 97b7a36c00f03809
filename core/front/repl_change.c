/* SPDX-License-Identifier: Apache-2.0
 *
 * :event :commits :set :param :reset: the overlay of the interactive session.
 */
#include <stdlib.h>

#include "base/time.h"
#include "front/print.h"
#include "front/repl_priv.h"

#define COMMITS_MAX 100000

/* ---- event ---- */

static int put_member(struct ebb_repl *repl, struct ebb_value *event, const char *text, struct ebb_err *err)
{
    const char *equals = strchr(text, '=');
    struct ebb_value *box = NULL;
    char *key;
    int rc;

    if (!equals || equals == text)
        return ebb_err_set(err, EBB_EUSAGE, ":event: \"%.100s\": KEY=VALUE is wanted", text);
    key = strndup(text, (size_t)(equals - text));
    if (!key)
        return ebb_err_nomem(err);
    rc = ebb__repl_value(repl, equals + 1, false, &box, err);
    if (!rc)
        ebb_value_put_copy(event, key, ebb_value_get(box, "value"));
    ebb_value_free(box);
    free(key);
    return rc;
}

static int read_event(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_value **out,
                      struct ebb_err *err)
{
    struct ebb_value *event = ebb_value_new_map(NULL);
    int rc = 0;

    ebb_value_put_str(event, "type", words->items[1]);
    for (size_t i = 2; !rc && i < words->count; i++)
        rc = put_member(repl, event, words->items[i], err);
    if (!rc)
        rc = ebb_value_check(event, ":event", err);
    if (rc)
        ebb_value_free(event);
    else
        *out = event;
    return rc;
}

static void say_clock(struct ebb_buf *out, int64_t at)
{
    struct ebb_buf iso;

    ebb_buf_init(&iso, 64);
    ebb_print_time(&iso, at);
    ebb_buf_puts(out, iso.len > 11 ? iso.data + 11 : "");
    ebb_buf_fini(&iso);
}

/* When a policy decides for the event, if nothing more happens. */
static int say_debounced(struct ebb_repl *repl, const struct ebb_policy *policy, const struct ebb_value *event,
                         size_t table, struct ebb_err *err)
{
    const char *type = ebb_value_text_of(event, "type");
    struct ebb_buf *out = ebb__repl_out(repl);
    const struct ebb_schedule *schedule;
    struct ebb_schedule_input in;
    int rc = ebb_session_schedule(repl->session, table, ebb_policy_get_name(policy), &in, &schedule, err);

    for (size_t k = 0; !rc && k < ebb_settings_get_trigger_count(in.settings); k++) {
        const struct ebb_trigger *t = ebb_settings_get_trigger(in.settings, k);
        bool is_wanted = false;

        if (t->kind != EBB_TRIGGER_EVENT || !type || strcmp(t->text, type))
            continue;
        rc = ebb_policy_filter_event(policy, k, event, &is_wanted, err);
        if (rc || !is_wanted)
            continue;
        ebb_buf_puts(out, t->debounce_ms ? "  debounced: " : "  ");
        ebb_print_text(out, ebb_policy_get_name(policy));
        ebb_buf_puts(out, " decides at ");
        say_clock(out, ebb_session_now(repl->session) + t->debounce_ms);
    }
    return rc;
}

static int say_waiting(struct ebb_repl *repl, const struct ebb_value *event, size_t table, struct ebb_err *err)
{
    const struct ebb_policy *p;
    int rc = 0;

    for (size_t i = 0; !rc && (p = ebb_session_policy_at(repl->session, i)); i++)
        if (ebb__repl_takes(repl, p))
            rc = say_debounced(repl, p, event, table, err);
    return rc;
}

static int run_event(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl);
    const struct ebb__repl_table *table;
    struct ebb_value *event = NULL;
    char id[40];
    int rc = ebb__repl_table(repl, &table, err);

    if (!rc)
        rc = read_event(repl, words, &event, err);
    if (!rc)
        rc = ebb_session_event(repl->session, table->index, event, id, err);
    if (!rc) {
        ebb_buf_puts(out, "event ");
        ebb_print_text(out, id);
        ebb_buf_putc(out, ' ');
        ebb_print_text(out, words->items[1]);
        ebb_buf_puts(out, " at ");
        say_clock(out, ebb_session_now(repl->session));
        ebb_buf_putc(out, '.');
        rc = say_waiting(repl, event, table->index, err);
        ebb_buf_putc(out, '\n');
    }
    ebb_value_free(event);
    return rc;
}

static int run_commits(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const struct ebb__repl_table *table;
    char *end;
    long n = strtol(words->items[1], &end, 10);
    int rc = ebb__repl_table(repl, &table, err);

    if (!rc && (*end || n < 1 || n > COMMITS_MAX))
        rc = ebb_err_set(err, EBB_EUSAGE, ":commits: from 1 to %d of them", COMMITS_MAX);
    if (!rc)
        rc = ebb_session_commits(repl->session, table->index, n, err);
    if (!rc)
        ebb_buf_printf(ebb__repl_out(repl), "%ld commit%s by writers (overlay)\n", n, n == 1 ? "" : "s");
    return rc;
}

/* ---- set, param ---- */

/* The value under a path of the table's facts, or of flags. */
static const struct ebb_value *value_at(struct ebb_repl *repl, const char *path)
{
    const struct ebb_value *v = NULL;

    if (ebb__repl_facts(repl, NULL, &v, NULL))
        return NULL;
    if (strncmp(path, "flags.", 6))
        v = ebb_value_get(v, "table");
    while (v && *path) {
        size_t n = strcspn(path, ".");

        v = ebb_value_getn(v, path, n);
        path += n + (path[n] == '.');
    }
    return v;
}

static void say_change(struct ebb_repl *repl, const char *name, const char *before, const struct ebb_value *after)
{
    struct ebb_buf *out = ebb__repl_out(repl);
    const char *key = strrchr(name, '.');

    ebb_print_text(out, name);
    ebb_buf_printf(out, " %s -> ", before);
    ebb_console_write(out, key ? key + 1 : name, after);
    ebb_buf_puts(out, " (overlay)\n");
}

static int run_set(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const char *path = words->items[1], *key = strrchr(path, '.');
    const struct ebb__repl_table *table;
    struct ebb_value *box = NULL;
    struct ebb_buf before;
    int rc = ebb__repl_table(repl, &table, err);

    if (!strncmp(path, "t.", 2))
        path += 2;
    ebb_buf_init(&before, (size_t)1 << 20);
    ebb_console_write(&before, key ? key + 1 : path, value_at(repl, path));
    if (!rc)
        rc = ebb__repl_value(repl, words->last, true, &box, err);
    if (!rc)
        rc = ebb_session_set(repl->session, table->index, path, box, "value", err);
    if (!rc)
        say_change(repl, path, ebb_buf_cstr(&before), ebb_value_get(box, "value"));
    ebb_value_free(box);
    ebb_buf_fini(&before);
    return rc;
}

static bool has_param(const struct ebb_policy *policy, const char *name)
{
    return ebb_value_get(ebb_value_get(ebb_policy_get_manifest(policy), "params"), name) != NULL;
}

/* The policy that has such a parameter: the one meant, else the only one that does. */
static int find_owner(struct ebb_repl *repl, const char *param, const struct ebb_policy **out, struct ebb_err *err)
{
    const struct ebb_policy *meant = ebb__repl_policy_meant(repl), *p;
    size_t found = 0;

    *out = meant;
    if (meant && has_param(meant, param))
        return 0;
    for (size_t i = 0; (p = ebb__repl_policy_at(repl, i)); i++)
        if (has_param(p, param)) {
            *out = p;
            found++;
        }
    if (found == 1)
        return 0;
    if (!found)
        ebb_err_set(err, EBB_ENOT_FOUND, ":param %s: no policy has this parameter", param);
    else
        ebb_err_set(err, EBB_EUSAGE, ":param %s: %zu policies have it; speak of one first, as with :decide POLICY",
                    param, found);
    return -(int)(found ? EBB_EUSAGE : EBB_ENOT_FOUND);
}

static const struct ebb_value *param_of(const struct ebb_settings *settings, const char *name)
{
    return ebb_value_get(ebb_settings_get_params(settings), name);
}

static int change_param(struct ebb_repl *repl, const struct ebb_policy *policy, const char *name,
                        const struct ebb_value *box, struct ebb_err *err)
{
    const struct ebb__repl_table *table;
    const struct ebb_schedule *schedule;
    struct ebb_schedule_input in;
    const struct ebb_value *definition = ebb_value_get(ebb_value_get(ebb_policy_get_manifest(policy), "params"), name);
    struct ebb_buf before, after;
    int rc = ebb__repl_table(repl, &table, err);

    ebb_buf_init(&before, 65536);
    ebb_buf_init(&after, 65536);
    if (!rc)
        rc = ebb_session_schedule(repl->session, table->index, ebb_policy_get_name(policy), &in, &schedule, err);
    if (!rc) {
        ebb__repl_say_param(&before, definition, param_of(in.settings, name));
        rc = ebb_session_param(repl->session, ebb_policy_get_name(policy), name, box, "value", err);
    }
    if (!rc)
        rc = ebb_session_schedule(repl->session, table->index, ebb_policy_get_name(policy), &in, &schedule, err);
    if (!rc) {
        ebb__repl_say_param(&after, definition, param_of(in.settings, name));
        ebb_print_text(ebb__repl_out(repl), name);
        ebb_buf_printf(ebb__repl_out(repl), " %s -> %s (overlay)\n", ebb_buf_cstr(&before), ebb_buf_cstr(&after));
    }
    ebb_buf_fini(&after);
    ebb_buf_fini(&before);
    return rc;
}

static int run_param(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const struct ebb_policy *policy;
    struct ebb_value *box = NULL;
    int rc = find_owner(repl, words->items[1], &policy, err);

    if (!rc)
        rc = ebb__repl_value(repl, words->last, false, &box, err);
    if (!rc)
        rc = change_param(repl, policy, words->items[1], box, err);
    ebb_value_free(box);
    return rc;
}

static int run_reset(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    int rc = ebb_session_reset(repl->session, err);

    (void)words;
    ebb__repl_forget(repl);
    if (!rc)
        ebb_buf_puts(ebb__repl_out(repl), "overlay dropped: facts, events and parameters are as they were; the clock "
                                          "stays\n");
    return rc;
}

const struct ebb__repl_command EBB__REPL_CHANGE[] = {
    {"event", "change", "TYPE k=v …", "as if this happened now", 1, EBB__REPL_WORDS_MAX, EBB__REPL_OTHER, run_event},
    {"commits", "change", "n", "as if writers committed n snapshots", 1, 1, EBB__REPL_OTHER, run_commits},
    {"set", "change", "PATH VALUE",
     "another value below t, or flags.NAME: a Lua value, 90m, 1GiB, an instant; nil removes it", 2, EBB__REPL_WORDS_MAX,
     EBB__REPL_PATH, run_set},
    {"param", "change", "NAME VALUE", "another value of a parameter, as a binding would give it", 2,
     EBB__REPL_WORDS_MAX, EBB__REPL_OTHER, run_param},
    {"reset", "change", "", "drop all changes and runs of this session; the clock stays", 0, 0, EBB__REPL_OTHER,
     run_reset},
    {NULL, NULL, NULL, NULL, 0, 0, EBB__REPL_OTHER, NULL},
};
