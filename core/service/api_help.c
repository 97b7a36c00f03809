/* SPDX-License-Identifier: Apache-2.0
 *
 * What handlers of the own interface share: parameters, lists with cursors, times.
 */
#include "base/time.h"
#include "service/api_priv.h"

#define CURSOR_MAX ((size_t)1024)

const char *ebb__api_query_of(const struct ebb_api_call *call, const char *name)
{
    return ebb_value_text_of(call->query, name);
}

int64_t ebb__api_query_int(const struct ebb_api_call *call, const char *name, int64_t otherwise)
{
    int64_t n;

    return ebb_text_count(ebb__api_query_of(call, name), &n) ? n : otherwise;
}

struct ebb_store *ebb__api_store(const struct ebb_api_call *call)
{
    return ebb_workspace_site(call->ws)->store;
}

int ebb__api_not_found(struct ebb_err *err, const char *what, const char *name)
{
    size_t n = strlen(what);
    bool is_in_y = n && what[n - 1] == 'y';

    ebb_err_set(err, EBB_ENOT_FOUND, "%s %.256s: there is none", what, name);
    ebb_err_hint(err, "GET /api/%.*s%s lists what there is", (int)(is_in_y ? n - 1 : n), what, is_in_y ? "ies" : "s");
    return -(int)EBB_ENOT_FOUND;
}

void ebb__api_time(struct ebb_jsonw *w, const char *key, int64_t ms)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    if (!ms)
        return;
    ebb_time_iso(&b, ms);
    ebb_jsonw_kstr(w, key, ebb_buf_cstr(&b));
}

void ebb__api_text(struct ebb_jsonw *w, const char *key, const char *text)
{
    if (text && text[0])
        ebb_jsonw_kstr(w, key, text);
}

void ebb__api_json(struct ebb_jsonw *w, const char *key, const char *json)
{
    struct ebb_value *value = NULL;

    ebb_jsonw_key(w, key);
    if (json[0] && !ebb_value_of_json(key, json, strlen(json), NULL, &value, NULL))
        ebb_value_write(value, w);
    else
        ebb_jsonw_null(w);
    ebb_value_free(value);
}

/* ---- lists ---- */

void ebb__api_page_begin(struct ebb__api_page *page, struct ebb_api_call *call)
{
    memset(page, 0, sizeof *page);
    page->limit = ebb__api_query_int(call, "limit", EBB__API_LIMIT);
    ebb_buf_init(&page->cursor, CURSOR_MAX);
    ebb_jsonw_init(&page->w, &call->out);
    ebb_jsonw_begin(&page->w, '{');
    ebb_jsonw_key(&page->w, "items");
    ebb_jsonw_begin(&page->w, '[');
}

bool ebb__api_page_add(struct ebb__api_page *page, const char *position)
{
    if (page->count >= page->limit) {
        page->is_full = true;
        return false;
    }
    page->count++;
    ebb_buf_reset(&page->cursor);
    ebb_buf_puts(&page->cursor, position);
    return true;
}

void ebb__api_page_end(struct ebb__api_page *page)
{
    struct ebb_buf text;

    ebb_jsonw_end(&page->w, ']');
    if (page->is_full) {
        ebb_buf_init(&text, 2 * CURSOR_MAX);
        ebb_text_base64(&text, page->cursor.data, page->cursor.len);
        ebb_jsonw_kstr(&page->w, "cursor", ebb_buf_cstr(&text));
        ebb_buf_fini(&text);
    }
    ebb_jsonw_end(&page->w, '}');
    ebb_buf_putc(page->w.out, '\n');
    ebb_buf_fini(&page->cursor);
}

int ebb__api_cursor(const struct ebb_api_call *call, struct ebb_buf *position, bool *found, struct ebb_err *err)
{
    const char *text = ebb__api_query_of(call, "cursor");

    *found = text != NULL;
    if (!text)
        return 0;
    if (!ebb_text_unbase64(position, text, strlen(text)) || !position->len || position->bad ||
        memchr(position->data, '\0', position->len))
        return ebb_err_set(err, EBB_EUSAGE, "cursor: not one that a list gave");
    return 0;
}
