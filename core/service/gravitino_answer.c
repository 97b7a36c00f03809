/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include "base/time.h"

void ebb__gravitino_begin(struct ebb_api_call *call, struct ebb_jsonw *w)
{
    ebb_buf_reset(&call->out);
    ebb_jsonw_init(w, &call->out);
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kint(w, "code", 0);
}

int ebb__gravitino_end(struct ebb_api_call *call, struct ebb_jsonw *w, struct ebb_err *err)
{
    ebb_jsonw_end(w, '}');
    return ebb_buf_check(&call->out, "answer", err);
}

int ebb__gravitino_ok(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb__gravitino_begin(call, &w);
    return ebb__gravitino_end(call, &w, err);
}

int ebb__gravitino_dropped(struct ebb_api_call *call, bool dropped, struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb__gravitino_begin(call, &w);
    ebb_jsonw_kbool(&w, "dropped", dropped);
    return ebb__gravitino_end(call, &w, err);
}

void ebb__gravitino_names(struct ebb_jsonw *w, const struct ebb_strs *names)
{
    ebb_jsonw_key(w, "names");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < names->count; i++)
        ebb_jsonw_str(w, names->items[i]);
    ebb_jsonw_end(w, ']');
}

int ebb__gravitino_done(int rc)
{
    return rc == EBB__ANSWERED ? 0 : rc;
}

static void put_time(struct ebb_jsonw *w, const char *key, int64_t ms)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 64);
    ebb_time_iso(&text, ms);
    ebb_jsonw_kstr(w, key, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

void ebb__gravitino_audit(struct ebb_jsonw *w, const char *creator, int64_t created_ms, const char *modifier,
                          int64_t modified_ms)
{
    ebb_jsonw_key(w, "audit");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "creator", creator);
    put_time(w, "createTime", created_ms);
    if (modifier && modifier[0]) {
        ebb_jsonw_kstr(w, "lastModifier", modifier);
        put_time(w, "lastModifiedTime", modified_ms);
    }
    ebb_jsonw_end(w, '}');
}

int64_t ebb__gravitino_since(const struct ebb_api_call *call)
{
    return call->generation ? call->generation->loaded_ms : call->now_ms;
}

void ebb__gravitino_identifier(struct ebb_jsonw *w, const char *const *namespace_, const char *name)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_key(w, "namespace");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; namespace_[i]; i++)
        ebb_jsonw_str(w, namespace_[i]);
    ebb_jsonw_end(w, ']');
    ebb_jsonw_kstr(w, "name", name);
    ebb_jsonw_end(w, '}');
}

void ebb__gravitino_tell(const struct ebb_api_call *call, enum ebb_note note, const char *text)
{
    if (call->hub)
        ebb_hub_post(call->hub, note, text);
}
