/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "service/generation_priv.h"

#define TEXT_MAX_BYTES ((size_t)16 << 20)

void ebb__binding_fini(struct ebb_binding *binding)
{
    free(binding->policy);
    ebb_strs_fini(&binding->tables);
    ebb_value_free((struct ebb_value *)(uintptr_t)binding->params);
    ebb_value_free((struct ebb_value *)(uintptr_t)binding->guard);
    memset(binding, 0, sizeof *binding);
}

static int add_value(struct ebb_buf *out, const char *name, const struct ebb_value *value, struct ebb_err *err)
{
    if (!value)
        return 0;
    ebb_buf_printf(out, "\n%s ", name);
    return ebb_value_to_json(value, out, err);
}

int ebb__binding_describe(const struct ebb_binding *b, struct ebb_buf *out, struct ebb_err *err)
{
    int rc;

    ebb_buf_printf(out, "%d %d %d %s", (int)b->mode, b->allow_below_floor, b->allow_override_quiet,
                   b->blackout_tz ? b->blackout_tz : "UTC");
    ebb_buf_printf(out, "\nengine %d %" PRId64 " %d", (int)b->engine, b->engine_above, b->irreversible);
    for (size_t i = 0; i < b->tables.count; i++)
        ebb_buf_printf(out, "\ntable %s", b->tables.items[i]);
    rc = add_value(out, "params", b->params, err);
    if (!rc)
        rc = add_value(out, "guard", b->guard, err);
    if (!rc)
        rc = add_value(out, "blackouts", b->blackouts, err);
    ebb_buf_putc(out, '\n');
    return rc ? rc : ebb_buf_check(out, "binding", err);
}

/* The bundle and all bindings of a policy; nothing when it is not bound. */
static int describe(const struct ebb_generation *g, const char *policy, struct ebb_buf *out, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < g->bound_count; i++)
        if (!strcmp(g->bound[i].binding->policy, policy)) {
            ebb_buf_puts(out, ebb_policy_get_bundle(g->bound[i].policy));
            rc = ebb__binding_describe(g->bound[i].binding, out, err);
        }
    return rc;
}

int ebb__policy_change(const struct ebb_generation *before, const struct ebb_generation *after, const char *policy,
                       enum ebb__policy_change *out, struct ebb_err *err)
{
    struct ebb_buf was, is;
    int rc;

    ebb_buf_init(&was, TEXT_MAX_BYTES);
    ebb_buf_init(&is, TEXT_MAX_BYTES);
    rc = describe(before, policy, &was, err);
    if (!rc)
        rc = describe(after, policy, &is, err);
    *out = !is.len                                                 ? EBB__POLICY_REMOVED
           : ebb_str_is_equal(ebb_buf_str(&was), ebb_buf_str(&is)) ? EBB__POLICY_SAME
                                                                   : EBB__POLICY_CHANGED;
    ebb_buf_fini(&was);
    ebb_buf_fini(&is);
    return rc;
}

int ebb__policy_revision(const struct ebb_generation *generation, const char *policy, char out[EBB__REVISION_SIZE],
                         struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, TEXT_MAX_BYTES);
    rc = describe(generation, policy, &text, err);
    out[0] = '\0';
    if (!rc && text.len)
        snprintf(out, EBB__REVISION_SIZE, "%016" PRIx64, (uint64_t)XXH3_64bits(text.data, text.len));
    ebb_buf_fini(&text);
    return rc;
}
