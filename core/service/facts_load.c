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

/* ---- captured tables ---- */

static int read_file(const char *file, struct ebb_buf *bytes, struct ebb_err *err)
{
    int rc = ebb_file_read(file, bytes, err);

    if (rc == -(int)EBB_ELIMIT) {
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: is larger than %zu MiB", file, EBB_FACTS_FILE_MAX_BYTES >> 20);
        ebb_err_hint(err, "capture it with --policy: only what that reads is kept");
    } else if (!rc && bytes->len >= 2 &&
               (!memcmp(bytes->data, "\xff\xfe", 2) || !memcmp(bytes->data, "\xfe\xff", 2) ||
                (bytes->len >= 3 && !memcmp(bytes->data, "\xef\xbb\xbf", 3)))) {
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: begins with a byte order mark", file);
        ebb_err_hint(err, "save it as UTF-8 without one");
    }
    return rc;
}

static int parse_file(const char *file, const struct ebb_buf *bytes, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value_limits limits = ebb_facts_limits();
    int rc = ebb_value_of_json(file, bytes->data ? bytes->data : "", bytes->len, &limits, out, err);

    if (rc == -(int)EBB_ECORRUPT || rc == -(int)EBB_ELIMIT) {
        rc = ebb_err_as(err, EBB_EUSAGE, NULL);
        ebb_err_hint(err, "a captured table is what `ebb capture TABLE > FILE` writes");
    }
    return rc;
}

static int check_format(const char *file, const struct ebb_value *facts, struct ebb_err *err)
{
    const struct ebb_value *format = ebb_value_get(facts, "format");
    const char *version = ebb_value_text_of(facts, "ebb");
    int rc;

    if (!format || (ebb_value_get_kind(format) == EBB_VALUE_INT && ebb_value_get_int(format, 0) == EBB_FACTS_FORMAT))
        return 0;
    if (ebb_value_get_kind(format) != EBB_VALUE_INT)
        return ebb_err_set(err, EBB_EUSAGE, "%s: format: a number is due", file);
    rc = ebb_err_set(err, EBB_EUSAGE, "%s: format %lld, written by ebb %.40s, is not known: this one reads format %d",
                     file, (long long)ebb_value_get_int(format, 0), version ? version : "of another version",
                     EBB_FACTS_FORMAT);
    ebb_err_hint(err, "capture the table again with this version");
    return rc;
}

static int check_kind(const char *file, const struct ebb_value *map, const char *below, const char *key,
                      enum ebb_value_kind kind, struct ebb_err *err)
{
    const struct ebb_value *v = ebb_value_get(map, key);

    if (!v || ebb_value_get_kind(v) == kind)
        return 0;
    return ebb_err_set(err, EBB_EUSAGE, "%s: %s%s: a %s is due, not a %s", file, below, key, ebb_value_kind_name(kind),
                       ebb_value_kind_name(ebb_value_get_kind(v)));
}

static int check_shape(const char *file, const struct ebb_value *facts, struct ebb_err *err)
{
    static const struct {
        bool in_table;
        const char *key;
        enum ebb_value_kind kind;
    } PARTS[] = {{false, "events", EBB_VALUE_LIST},    {false, "runs", EBB_VALUE_LIST},
                 {false, "flags", EBB_VALUE_MAP},      {true, "properties", EBB_VALUE_MAP},
                 {true, "stats", EBB_VALUE_MAP},       {true, "snapshots", EBB_VALUE_LIST},
                 {true, "partitions", EBB_VALUE_LIST}, {true, "current_snapshot", EBB_VALUE_MAP},
                 {true, "refs", EBB_VALUE_MAP}};
    const struct ebb_value *t = ebb_value_get(facts, "table");
    int rc = 0;

    if (ebb_value_get_kind(t) != EBB_VALUE_MAP) {
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: is no captured table: no \"table\" in it", file);
        ebb_err_hint(err, "a captured table is what `ebb capture TABLE > FILE` writes");
    }
    for (size_t i = 0; !rc && i < sizeof PARTS / sizeof PARTS[0]; i++)
        rc = check_kind(file, PARTS[i].in_table ? t : facts, PARTS[i].in_table ? "table." : "", PARTS[i].key,
                        PARTS[i].kind, err);
    return rc;
}

static int load(const char *file, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_buf bytes;
    int rc;

    ebb_buf_init(&bytes, EBB_FACTS_FILE_MAX_BYTES);
    rc = read_file(file, &bytes, err);
    if (!rc)
        rc = parse_file(file, &bytes, out, err);
    ebb_buf_fini(&bytes);
    if (!rc)
        rc = check_format(file, *out, err);
    return rc ? rc : check_shape(file, *out, err);
}

int ebb_facts_load(const char *file, const struct ebb_strs *events, int64_t now_ms, struct ebb_value **out,
                   struct ebb_err *err)
{
    int rc;

    *out = NULL;
    rc = load(file, out, err);
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
