/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts from outside: events given by hand, and captured tables.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/file.h"
#include "service/facts_priv.h"

static void put_event_value(struct ebb_value *event, const char *key, const char *text)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        ebb_value_put_bool(event, key, text[0] == 't');
    else if (*text && !*end && !errno)
        ebb_value_put_int(event, key, (int64_t)number);
    else
        ebb_value_put_str(event, key, text);
}

/* "TYPE key=value key=value" */
static int add_event(struct ebb_value *events, const char *text, size_t number, int64_t now_ms, struct ebb_err *err)
{
    struct ebb_value *event = ebb_value_add_map(events);
    char *copy = strdup(text), *rest = copy, *word;
    char id[32];
    int rc = copy ? 0 : ebb_err_nomem(err);

    snprintf(id, sizeof id, "e-%zu", number + 1);
    ebb_value_put_str(event, "id", id);
    ebb_value_put_int(event, "at", now_ms);
    ebb_value_put_str(event, "source", "hand");
    for (size_t i = 0; !rc && (word = strtok_r(rest, " ", &rest)) != NULL; i++) {
        char *equals = strchr(word, '=');

        if (i == 0 && !equals) {
            ebb_value_put_str(event, "type", word);
        } else if (i > 0 && equals && equals > word) {
            *equals = '\0';
            put_event_value(event, word, equals + 1);
        } else {
            rc = ebb_err_set(err, EBB_EUSAGE, "--event '%s': TYPE key=value … is wanted", text);
        }
    }
    if (!rc && !ebb_value_get(event, "type"))
        rc = ebb_err_set(err, EBB_EUSAGE, "--event: is empty");
    free(copy);
    return rc;
}

/* At the end of those that are there. */
int ebb__facts_add_events(struct ebb_value *facts, const struct ebb_strs *texts, int64_t now_ms, struct ebb_err *err)
{
    struct ebb_value *old = NULL, *events;
    int rc = 0;

    if (!texts || !texts->count)
        return 0;
    if (ebb_value_get_kind(ebb_value_get(facts, "events")) == EBB_VALUE_LIST)
        rc = ebb_value_dup(ebb_value_get(facts, "events"), NULL, &old, err);
    if (rc)
        return rc;
    events = ebb_value_put_list(facts, "events");
    for (size_t i = 0; i < ebb_value_get_count(old); i++)
        ebb_value_add_copy(events, ebb_value_get_at(old, i));
    for (size_t i = 0; !rc && i < texts->count; i++)
        rc = add_event(events, texts->items[i], i, now_ms, err);
    ebb_value_free(old);
    return rc;
}

bool ebb_facts_is_fixture(const char *table)
{
    size_t n = strlen(table);

    return n > 5 && !strcmp(table + n - 5, ".json") && !(n > 14 && !strcmp(table + n - 14, ".metadata.json"));
}

static int load(const char *file, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_buf bytes;
    int rc;

    ebb_buf_init(&bytes, (size_t)64 << 20);
    rc = ebb_file_read(file, &bytes, err);
    if (!rc)
        rc = ebb_value_of_json(file, bytes.data ? bytes.data : "", bytes.len, NULL, out, err);
    ebb_buf_fini(&bytes);
    return rc == -(int)EBB_ECORRUPT ? ebb_err_as(err, EBB_EUSAGE, NULL) : rc;
}

int ebb_facts_load(const char *file, const struct ebb_strs *events, int64_t now_ms, struct ebb_value **out,
                   struct ebb_err *err)
{
    int rc;

    *out = NULL;
    rc = load(file, out, err);
    if (!rc && ebb_value_get_kind(ebb_value_get(*out, "table")) != EBB_VALUE_MAP)
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: is no captured table: no \"table\" in it", file);
    if (!rc)
        rc = ebb__facts_add_events(*out, events, now_ms, err);
    if (!rc)
        rc = ebb_value_check(*out, file, err);
    if (rc) {
        ebb_value_free(*out);
        *out = NULL;
    }
    return rc;
}
