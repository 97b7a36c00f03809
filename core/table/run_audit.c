/* SPDX-License-Identifier: Apache-2.0 */
#include "table/run_priv.h"

#include "table/name_priv.h"

#define EVENT_BYTES ((size_t)1 << 20)

static int add(struct ebb__run *run, struct ebb_buf *object, struct ebb_err *err)
{
    int rc = ebb_buf_check(object, "audit event", err);

    if (rc)
        return rc;
    object->data[object->len - 1] = '\0'; /* the members without their braces */
    return ebb_audit_add(run->site.audit, ebb_clock_now(&run->site.clock), object->data + 1, err);
}

static void begin(struct ebb__run *run, struct ebb_jsonw *w, struct ebb_buf *out, const char *event)
{
    ebb_buf_init(out, EVENT_BYTES);
    ebb_jsonw_init(w, out);
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "event", event);
    ebb_jsonw_kstr(w, "run", run->record.id);
}

int ebb__run_audit_file(struct ebb__run *run, const char *event, struct ebb_str name, const char *why,
                        struct ebb_err *err)
{
    struct ebb_buf object, uri;
    struct ebb_jsonw w;
    int rc;

    if (!run->site.audit)
        return 0;
    begin(run, &w, &object, event);
    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    ebb__name_uri(run->record.location, name, &uri);
    rc = ebb_buf_check(&uri, "file name", err);
    if (!rc) {
        ebb_jsonw_path(&w, "path", uri.data, uri.len);
        if (why && why[0])
            ebb_jsonw_kstr(&w, "why", why);
        ebb_jsonw_end(&w, '}');
        rc = add(run, &object, err);
    }
    ebb_buf_fini(&uri);
    ebb_buf_fini(&object);
    return rc;
}

int ebb__run_audit(struct ebb__run *run, const char *event, const char *detail, struct ebb_err *err)
{
    struct ebb_buf object;
    struct ebb_jsonw w;
    int rc;

    if (!run->site.audit)
        return 0;
    begin(run, &w, &object, event);
    ebb_jsonw_kstr(&w, "table", run->record.table);
    ebb_jsonw_kstr(&w, "uuid", run->record.uuid);
    ebb_jsonw_kstr(&w, "location", run->record.location);
    if (detail && detail[0])
        ebb_jsonw_kstr(&w, "detail", detail);
    ebb_jsonw_end(&w, '}');
    rc = add(run, &object, err);
    ebb_buf_fini(&object);
    return rc;
}

int ebb__run_audit_flush(struct ebb__run *run, struct ebb_err *err)
{
    return run->site.audit ? ebb_audit_flush(run->site.audit, err) : 0;
}
