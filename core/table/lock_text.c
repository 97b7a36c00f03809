/* SPDX-License-Identifier: Apache-2.0 */
#include "table/lock_text_priv.h"

#include "base/text.h"
#include "format/json.h"

void ebb__lock_text_write(const struct ebb__lock_text *lock, struct ebb_buf *out)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "host", lock->holder.host);
    ebb_jsonw_kint(&w, "pid", lock->holder.pid);
    ebb_jsonw_kint(&w, "start", lock->holder.start);
    ebb_jsonw_kstr(&w, "boot", lock->holder.boot);
    ebb_jsonw_kstr(&w, "space", lock->holder.space);
    ebb_jsonw_kstr(&w, "run", lock->run);
    ebb_jsonw_kint(&w, "epoch", lock->epoch);
    ebb_jsonw_kint(&w, "expires", lock->expires_ms);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
}

struct field {
    const char *name;
    char *text; /* or NULL */
    size_t size;
    int64_t *number;
    bool is_needed, is_seen;
};

static int copy_text(struct ebb_json *j, const struct field *f, struct ebb_err *err)
{
    if (j->kind != EBB_JSON_STRING || j->text.n >= f->size)
        return ebb_json_fail(j, err, "%s is not a short text", f->name);
    if (j->text.n > 0)
        memcpy(f->text, j->text.p, j->text.n);
    f->text[j->text.n] = '\0';
    return 0;
}

static int read_field(struct ebb_json *j, struct field *fields, size_t count, struct ebb_err *err)
{
    struct field *f = NULL;
    size_t i;
    int rc;

    for (i = 0; i < count && !f; i++)
        if (ebb_str_is_equal(j->text, ebb_str_of(fields[i].name)))
            f = &fields[i];
    if (!f)
        return ebb_json_skip(j, err);
    f->is_seen = true;
    rc = ebb_json_next(j, err);
    if (rc)
        return rc;
    if (f->text)
        return copy_text(j, f, err);
    if (j->kind != EBB_JSON_INT)
        return ebb_json_fail(j, err, "%s is not an integer", f->name);
    *f->number = j->number;
    return 0;
}

static int read_fields(struct ebb_json *j, struct field *fields, size_t count, struct ebb_err *err)
{
    size_t i;
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "lock", err);

    while (!rc) {
        rc = ebb_json_next(j, err);
        if (rc || j->kind != EBB_JSON_KEY)
            break;
        rc = read_field(j, fields, count, err);
    }
    if (!rc)
        rc = ebb_json_expect(j, EBB_JSON_END, "end", err);
    for (i = 0; i < count && !rc; i++)
        if (fields[i].is_needed && !fields[i].is_seen)
            rc = ebb_json_fail(j, err, "%s is missing", fields[i].name);
    return rc;
}

int ebb__lock_text_parse(struct ebb_str bytes, struct ebb__lock_text *out, struct ebb_err *err)
{
    struct ebb__holder *h = &out->holder;
    struct field fields[] = {
        {"host", h->host, sizeof h->host, NULL, false, false},
        {"boot", h->boot, sizeof h->boot, NULL, false, false},
        {"space", h->space, sizeof h->space, NULL, false, false},
        {"pid", NULL, 0, &h->pid, false, false},
        {"start", NULL, 0, &h->start, false, false},
        {"run", out->run, sizeof out->run, NULL, true, false},
        {"epoch", NULL, 0, &out->epoch, true, false},
        {"expires", NULL, 0, &out->expires_ms, true, false},
    };
    struct ebb_json j;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_json_init(&j, "lock", bytes.p ? bytes.p : "", bytes.n);
    rc = read_fields(&j, fields, sizeof fields / sizeof fields[0], err);
    if (!rc && (out->epoch <= 0 || out->expires_ms <= 0))
        rc = ebb_json_fail(&j, err, "epoch and expiry must be positive");
    ebb_json_fini(&j);
    return rc;
}
