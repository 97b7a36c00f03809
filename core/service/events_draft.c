/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/sha.h>
#include <stdio.h>

#include "base/time.h"
#include "engine/value.h"
#include "service/events_priv.h"

#define SOURCE_MAX 512
#define ID_MAX 512
#define TYPE_MAX 64
#define TABLE_MAX 1024
#define KEY_MAX 128
#define AHEAD_MAX_MS ((int64_t)24 * 60 * 60 * 1000)
#define HASH_BYTES 16

void ebb__events_begin(struct ebb__events *to, struct ebb_event_list *out, size_t body_bytes, int64_t now_ms)
{
    size_t room = ((size_t)4 << 20) + (body_bytes > SIZE_MAX / 16 ? SIZE_MAX / 2 : body_bytes * 8);

    ebb_arena_init(&out->arena, room);
    out->items = NULL;
    out->count = 0;
    *to = (struct ebb__events){.list = out, .now_ms = now_ms};
}

void ebb_event_list_fini(struct ebb_event_list *list)
{
    ebb_arena_fini(&list->arena);
    list->items = NULL;
    list->count = 0;
}

void ebb__event_begin(struct ebb__event_draft *draft, const char *place, struct ebb_str text)
{
    memset(draft, 0, sizeof *draft);
    draft->place = place;
    draft->text = text;
    ebb_buf_init(&draft->rest, 2 * EBB__EVENT_MAX_BYTES);
    ebb_jsonw_init(&draft->w, &draft->rest);
    ebb_jsonw_begin(&draft->w, '{');
}

void ebb__event_free(struct ebb__event_draft *draft)
{
    ebb_buf_fini(&draft->rest);
}

int ebb__event_bad(int rc, struct ebb_err *err)
{
    if (rc == -(int)EBB_ECORRUPT || rc == -(int)EBB_ELIMIT || rc == -(int)EBB_ETIME)
        return ebb_err_as(err, EBB_EUSAGE, NULL);
    return rc;
}

static int refuse(const struct ebb__event_draft *draft, const char *member, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_EUSAGE, "%s.%s: %s", draft->place, member, why);
}

/* No control characters, and not too long. */
static int check_text(const struct ebb__event_draft *draft, const char *member, const char *text, size_t max,
                      struct ebb_err *err)
{
    size_t n = text ? strlen(text) : 0;

    if (!n)
        return refuse(draft, member, text ? "is empty" : "is missing", err);
    if (n > max)
        return ebb_err_set(err, EBB_EUSAGE, "%s.%s: is longer than %zu bytes", draft->place, member, max);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            return refuse(draft, member, "has a control character", err);
    return 0;
}

/* As policies name them in on.event. */
static int check_type(const struct ebb__event_draft *draft, struct ebb_err *err)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    int rc = check_text(draft, "type", draft->type, TYPE_MAX, err);

    if (rc || (draft->type[0] >= 'a' && draft->type[0] <= 'z' && strspn(draft->type, LETTERS) == strlen(draft->type)))
        return rc;
    rc = refuse(draft, "type", "is no event type", err);
    ebb_err_hint(err, "a type is like snapshot.committed or commit.failed: small letters, digits, '.', '_', '-'");
    return rc;
}

bool ebb__event_is_table(const char *text)
{
    size_t n = strlen(text), dots = 0;

    if (!n || n > TABLE_MAX || text[0] == '.' || text[n - 1] == '.')
        return false;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F || (text[i] == '.' && text[i + 1] == '.'))
            return false;
        dots += text[i] == '.';
    }
    return dots > 0;
}

static int check_table(const struct ebb__event_draft *draft, struct ebb_err *err)
{
    if (!draft->table || !draft->table[0] || ebb__event_is_table(draft->table))
        return 0;
    return refuse(draft, "table", "a name like catalog.namespace.table is wanted", err);
}

static int check_time(const struct ebb__event_draft *draft, int64_t now_ms, struct ebb_err *err)
{
    if (!draft->has_at)
        return 0;
    if (draft->at_ms < 0)
        return refuse(draft, "at", "lies before 1970", err);
    return draft->at_ms - now_ms > AHEAD_MAX_MS ? refuse(draft, "at", "lies more than a day ahead", err) : 0;
}

/* What policies will read: bounded in depth and number. */
static int check_rest(struct ebb__event_draft *draft, struct ebb_err *err)
{
    static const struct ebb_value_limits LIMITS = {.depth = 8, .nodes = 512, .text_bytes = 8192};
    struct ebb_value *v = NULL;
    int rc;

    if (draft->text.n > EBB__EVENT_MAX_BYTES)
        return ebb_err_set(err, EBB_EUSAGE, "%s: is longer than %zu KiB", draft->place, EBB__EVENT_MAX_BYTES >> 10);
    ebb_jsonw_end(&draft->w, '}');
    rc = ebb_buf_check(&draft->rest, draft->place, err);
    if (!rc && draft->rest.len > 2)
        rc = ebb_value_of_json(draft->place, draft->rest.data, draft->rest.len, &LIMITS, &v, err);
    ebb_value_free(v);
    return ebb__event_bad(rc, err);
}

static int check(struct ebb__event_draft *draft, int64_t now_ms, struct ebb_err *err)
{
    int rc = check_text(draft, "source", draft->source, SOURCE_MAX, err);

    if (!rc && draft->id)
        rc = check_text(draft, "id", draft->id, ID_MAX, err);
    if (!rc)
        rc = check_type(draft, err);
    if (!rc)
        rc = check_table(draft, err);
    if (!rc)
        rc = check_time(draft, now_ms, err);
    return rc ? rc : check_rest(draft, err);
}

/* The id of an event that came without one. */
static int hash_id(const struct ebb__event_draft *draft, struct ebb_arena *arena, char **out, struct ebb_err *err)
{
    unsigned char sum[SHA256_DIGEST_LENGTH];
    char hex[2 * HASH_BYTES + 3] = "h-";
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, EBB__EVENT_MAX_BYTES + TABLE_MAX + 1);
    if (draft->salt)
        ebb_buf_append(&text, draft->salt, strlen(draft->salt) + 1);
    ebb_buf_add_str(&text, draft->text);
    rc = ebb_buf_check(&text, draft->place, err);
    if (!rc) {
        SHA256((const unsigned char *)ebb_buf_cstr(&text), text.len, sum);
        for (size_t i = 0; i < HASH_BYTES; i++)
            snprintf(hex + 2 + 2 * i, 3, "%02x", sum[i]);
        *out = ebb_arena_dup(arena, hex, strlen(hex));
        rc = *out ? 0 : ebb_err_nomem(err);
    }
    ebb_buf_fini(&text);
    return rc;
}

static int room_for_one(struct ebb__events *to, struct ebb_err *err)
{
    struct ebb_event_list *list = to->list;
    size_t cap = to->cap ? 2 * to->cap : 16;
    struct ebb_event *items;

    if (list->count >= EBB__EVENTS_MAX)
        return ebb_err_set(err, EBB_EUSAGE, "events: more than %d at once", EBB__EVENTS_MAX);
    if (list->count < to->cap)
        return 0;
    items = ebb_arena_alloc(&list->arena, cap * sizeof *items);
    if (!items)
        return ebb_err_nomem(err);
    if (list->count)
        memcpy(items, list->items, list->count * sizeof *items);
    list->items = items;
    to->cap = cap;
    return 0;
}

int ebb__event_add(struct ebb__events *to, struct ebb__event_draft *draft, struct ebb_err *err)
{
    struct ebb_arena *arena = &to->list->arena;
    struct ebb_event *event;
    int rc = check(draft, to->now_ms, err);

    if (!rc)
        rc = room_for_one(to, err);
    if (!rc && !draft->id)
        rc = hash_id(draft, arena, &draft->id, err);
    if (rc)
        return rc;
    event = &to->list->items[to->list->count];
    *event = (struct ebb_event){.source = draft->source,
                                .id = draft->id,
                                .type = draft->type,
                                .table = draft->table ? draft->table : "",
                                .at_ms = draft->has_at ? draft->at_ms : to->now_ms,
                                .received_ms = to->now_ms,
                                .json = ebb_arena_dup(arena, draft->rest.data, draft->rest.len)};
    if (!event->json)
        return ebb_err_nomem(err);
    to->list->count++;
    return 0;
}

int ebb__event_set_time(struct ebb__event_draft *draft, const char *what, const char *text, struct ebb_err *err)
{
    struct ebb_err why;
    int rc = ebb_time_parse(text, "", &draft->at_ms, &why);

    draft->has_at = !rc;
    if (!rc)
        return 0;
    rc = refuse(draft, what, why.message, err);
    ebb_err_hint(err, "%s", why.hint);
    return rc;
}

bool ebb__event_is_reserved(struct ebb_str key)
{
    static const char *const KEYS[] = {"source", "id", "type", "table", "at", "received", "seq"};

    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        if (ebb_str_is_equal(key, ebb_str_of(KEYS[i])))
            return true;
    return false;
}

int ebb__event_copy_member(struct ebb__events *to, struct ebb__event_draft *draft, struct ebb_json *j,
                           struct ebb_err *err)
{
    struct ebb_str raw;
    char *key;
    int rc;

    if (!j->text.n || j->text.n > KEY_MAX || memchr(j->text.p, '\0', j->text.n))
        return ebb_json_fail(j, err, "a name of 1 to %d bytes is wanted", KEY_MAX);
    key = ebb_arena_dup(&to->list->arena, j->text.p, j->text.n);
    if (!key)
        return ebb_err_nomem(err);
    rc = ebb_json_raw(j, &raw, err);
    if (rc)
        return rc;
    ebb_jsonw_key(&draft->w, key);
    ebb_jsonw_raw(&draft->w, raw.p, raw.n);
    return 0;
}
