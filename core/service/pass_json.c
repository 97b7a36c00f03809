/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pass.h"

static void put(struct ebb_jsonw *w, const char *key, const char *text)
{
    if (text && text[0])
        ebb_jsonw_kstr(w, key, text);
}

void ebb_pass_report_json(struct ebb_jsonw *w, const struct ebb_pass_report *r)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "policy", r->policy);
    ebb_jsonw_kstr(w, "table", r->table);
    ebb_jsonw_kstr(w, "due", r->due);
    ebb_jsonw_kstr(w, "status", r->status);
    put(w, "verdict", r->verdict);
    put(w, "decision", r->decision);
    put(w, "plan", r->plan);
    put(w, "run", r->run);
    if (r->plan) {
        ebb_jsonw_kint(w, "candidates", r->candidates);
        ebb_jsonw_kint(w, "moved", r->moved);
    }
    if (r->unchanged)
        ebb_jsonw_kint(w, "unchanged", r->unchanged);
    if (r->error) {
        ebb_jsonw_key(w, "error");
        ebb_jsonw_begin(w, '{');
        ebb_jsonw_kstr(w, "code", ebb_error_code(r->error->error));
        ebb_jsonw_kstr(w, "message", r->error->message);
        put(w, "hint", r->error->hint);
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, '}');
}
