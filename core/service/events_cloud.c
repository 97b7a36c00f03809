/* SPDX-License-Identifier: Apache-2.0
 *
 * CloudEvents 1.0 (JSON format and HTTP binding). Members of `data` become those of the event; what the envelope says
 * besides is kept under "attributes". The table is data.table, else the attribute `table`, else a subject that can be
 * one.
 */
#include "service/events_priv.h"

struct cloud {
    struct ebb__events *to;
    struct ebb__event_draft draft;
    char *version, *subject, *table; /* table: the attribute */
    struct ebb_str data;             /* raw JSON; p NULL: none */
    bool has_attributes;             /* data has a member of that name */
    struct ebb_buf attributes;
    struct ebb_jsonw w;
};

static void begin(struct cloud *c, struct ebb__events *to, const char *place, struct ebb_str text)
{
    memset(c, 0, sizeof *c);
    c->to = to;
    ebb__event_begin(&c->draft, place, text);
    ebb_buf_init(&c->attributes, 2 * EBB__EVENT_MAX_BYTES);
    ebb_jsonw_init(&c->w, &c->attributes);
    ebb_jsonw_begin(&c->w, '{');
}

static void end(struct cloud *c)
{
    ebb_buf_fini(&c->attributes);
    ebb__event_free(&c->draft);
}

static int missing(const struct cloud *c, const char *name, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_EUSAGE, "%s.%s: is missing", c->draft.place, name);
}

static int read_data_member(struct cloud *c, struct ebb_json *j, struct ebb_err *err)
{
    if (ebb_json_is_text(j, "table"))
        return ebb_json_read_str(j, "data.table", &c->to->list->arena, &c->draft.table, err);
    if (ebb__event_is_reserved(j->text))
        return ebb_json_skip(j, err);
    c->has_attributes = c->has_attributes || ebb_json_is_text(j, "attributes");
    return ebb__event_copy_member(c->to, &c->draft, j, err);
}

static int read_data(struct cloud *c, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, c->draft.place, c->data.p, c->data.n);
    rc = ebb_json_next(&j, err);
    if (!rc && j.kind != EBB_JSON_OBJECT) {
        ebb_jsonw_key(&c->draft.w, "data");
        ebb_jsonw_raw(&c->draft.w, c->data.p, c->data.n);
        goto out;
    }
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY)
        rc = read_data_member(c, &j, err);
out:
    ebb_json_fini(&j);
    return ebb__event_bad(rc, err);
}

/* The envelope is read: put the event together. */
static int finish(struct cloud *c, struct ebb_err *err)
{
    struct ebb__event_draft *d = &c->draft;
    int rc = 0;

    if (!c->version || strcmp(c->version, "1.0") != 0)
        return ebb_err_set(err, EBB_EUSAGE, "%s.specversion: 1.0 is wanted", d->place);
    if (!d->id)
        return missing(c, "id", err);
    if (c->data.p)
        rc = read_data(c, err);
    if (rc)
        return rc;
    if (!d->table)
        d->table = c->table ? c->table : c->subject && ebb__event_is_table(c->subject) ? c->subject : NULL;
    if (c->subject)
        ebb_jsonw_kstr(&c->w, "subject", c->subject);
    ebb_jsonw_end(&c->w, '}');
    rc = ebb__event_bad(ebb_buf_check(&c->attributes, d->place, err), err);
    if (!rc && c->attributes.len > 2 && !c->has_attributes) {
        ebb_jsonw_key(&d->w, "attributes");
        ebb_jsonw_raw(&d->w, c->attributes.data, c->attributes.len);
    }
    return rc ? rc : ebb__event_add(c->to, d, err);
}

/* ---- structured ---- */

static int read_time(struct cloud *c, struct ebb_json *j, struct ebb_err *err)
{
    char *text;
    int rc = ebb_json_read_str(j, "time", &c->to->list->arena, &text, err);

    return rc ? rc : ebb__event_set_time(&c->draft, "time", text, err);
}

static bool is_attribute_name(struct ebb_str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (!((key.p[i] >= 'a' && key.p[i] <= 'z') || (key.p[i] >= '0' && key.p[i] <= '9')))
            return false;
    return key.n > 0 && key.n <= 64;
}

/* An attribute that is not of the core: a text, a number or a boolean. */
static int read_extension(struct cloud *c, struct ebb_json *j, struct ebb_err *err)
{
    struct ebb_str raw;
    char *key;
    int rc;

    if (!is_attribute_name(j->text))
        return ebb_json_fail(j, err, "names of attributes have small letters and digits");
    key = ebb_arena_dup(&c->to->list->arena, j->text.p, j->text.n);
    rc = key ? ebb_json_raw(j, &raw, err) : ebb_err_nomem(err);
    if (rc)
        return rc;
    if (raw.p[0] == '{' || raw.p[0] == '[')
        return ebb_json_fail(j, err, "%s: an attribute is a text, a number or a boolean", key);
    ebb_jsonw_key(&c->w, key);
    ebb_jsonw_raw(&c->w, raw.p, raw.n);
    return 0;
}

static int read_data_text(struct cloud *c, struct ebb_json *j, struct ebb_err *err)
{
    struct ebb_str raw;
    int rc = ebb_json_raw(j, &raw, err);

    if (rc)
        return rc;
    if (raw.n < 2 || raw.p[0] != '"')
        return ebb_json_fail(j, err, "data_base64: a text is wanted");
    ebb_jsonw_key(&c->draft.w, "data_base64");
    ebb_jsonw_raw(&c->draft.w, raw.p, raw.n);
    return 0;
}

static int read_attribute(struct cloud *c, struct ebb_json *j, struct ebb_err *err)
{
    struct ebb_arena *arena = &c->to->list->arena;

    if (ebb_json_is_text(j, "specversion"))
        return ebb_json_read_str(j, "specversion", arena, &c->version, err);
    if (ebb_json_is_text(j, "id"))
        return ebb_json_read_str(j, "id", arena, &c->draft.id, err);
    if (ebb_json_is_text(j, "source"))
        return ebb_json_read_str(j, "source", arena, &c->draft.source, err);
    if (ebb_json_is_text(j, "type"))
        return ebb_json_read_str(j, "type", arena, &c->draft.type, err);
    if (ebb_json_is_text(j, "subject"))
        return ebb_json_read_str(j, "subject", arena, &c->subject, err);
    if (ebb_json_is_text(j, "table"))
        return ebb_json_read_str(j, "table", arena, &c->table, err);
    if (ebb_json_is_text(j, "time"))
        return read_time(c, j, err);
    if (ebb_json_is_text(j, "data"))
        return ebb_json_raw(j, &c->data, err);
    if (ebb_json_is_text(j, "data_base64"))
        return read_data_text(c, j, err);
    return read_extension(c, j, err);
}

int ebb__event_read_cloud(struct ebb__events *to, const char *place, struct ebb_str text, struct ebb_err *err)
{
    struct cloud c;
    struct ebb_json j;
    int rc;

    begin(&c, to, place, text);
    ebb_json_init(&j, place, text.p, text.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "an event", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY)
        rc = read_attribute(&c, &j, err);
    rc = ebb__event_bad(rc, err);
    if (!rc)
        rc = finish(&c, err);
    ebb_json_fini(&j);
    end(&c);
    return rc;
}

/* ---- binary: attributes are headers, the body is the data ---- */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* %XX in values of headers. */
static bool decode(char *text)
{
    char *to = text;

    for (const char *p = text; *p; p++) {
        int value;

        if (*p != '%') {
            *to++ = *p;
            continue;
        }
        if (hex(p[1]) < 0 || hex(p[2]) < 0)
            return false;
        value = hex(p[1]) * 16 + hex(p[2]);
        if (!value)
            return false;
        *to++ = (char)value;
        p += 2;
    }
    *to = '\0';
    return ebb_text_is_utf8(text, strlen(text));
}

static int take_header(struct cloud *c, ebb__event_header *header, void *data, const char *name, char **out,
                       struct ebb_err *err)
{
    const char *value = header(data, name);

    *out = NULL;
    if (!value)
        return 0;
    *out = ebb_arena_dup(&c->to->list->arena, value, strlen(value));
    if (!*out)
        return ebb_err_nomem(err);
    return decode(*out) ? 0 : ebb_err_set(err, EBB_EUSAGE, "%s: is no percent-encoded UTF-8", name);
}

static int take_headers(struct cloud *c, ebb__event_header *header, void *data, struct ebb_err *err)
{
    char *time = NULL;
    const struct {
        const char *name;
        char **out;
    } HEADERS[] = {{"ce-specversion", &c->version},
                   {"ce-id", &c->draft.id},
                   {"ce-source", &c->draft.source},
                   {"ce-type", &c->draft.type},
                   {"ce-subject", &c->subject},
                   {"ce-table", &c->table},
                   {"ce-time", &time}};
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof HEADERS / sizeof HEADERS[0]; i++)
        rc = take_header(c, header, data, HEADERS[i].name, HEADERS[i].out, err);
    if (!rc && time)
        rc = ebb__event_set_time(&c->draft, "time", time, err);
    return rc;
}

/* The body as data: JSON as it is, other text as a text. */
static int take_body(struct cloud *c, const char *content_type, struct ebb_str body, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    if (!body.n)
        return 0;
    if (!*content_type || ebb__event_is_json(content_type)) {
        ebb_json_init(&j, "body", body.p, body.n);
        rc = ebb_json_next(&j, err);
        if (!rc)
            rc = ebb_json_skip(&j, err);
        if (!rc)
            rc = ebb_json_expect(&j, EBB_JSON_END, "the end", err);
        ebb_json_fini(&j);
        c->data = body;
        return ebb__event_bad(rc, err);
    }
    if (!ebb_text_is_utf8(body.p, body.n))
        return ebb_err_set(err, EBB_EUSAGE, "body: is neither JSON nor UTF-8 text");
    ebb_jsonw_key(&c->draft.w, "data");
    ebb_jsonw_strn(&c->draft.w, body.p, body.n);
    return 0;
}

int ebb__event_read_binary(struct ebb__events *to, const char *content_type, ebb__event_header *header, void *data,
                           struct ebb_str body, struct ebb_err *err)
{
    struct cloud c;
    int rc;

    begin(&c, to, "event", body);
    rc = take_headers(&c, header, data, err);
    if (!rc)
        rc = take_body(&c, content_type, body, err);
    if (!rc)
        rc = finish(&c, err);
    end(&c);
    return rc;
}
