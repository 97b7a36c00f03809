/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "service/objects.h"

/* One content that is being read. */
struct reading {
    struct ebb_api_call *call;
    const struct ebb__subject *subject;
    const struct ebb_value *content;
    struct ebb_value *out;
};

static const char *const OBJECT_TYPES[] = {"metalake", "catalog", "schema", "table",       "view",
                                           "fileset",  "topic",   "column", "role",        "model",
                                           "tag",      "policy",  "job",    "job_template"};

static const char *object_type(const char *text)
{
    for (size_t i = 0; text && i < sizeof OBJECT_TYPES / sizeof *OBJECT_TYPES; i++)
        if (!strcasecmp(text, OBJECT_TYPES[i]))
            return OBJECT_TYPES[i];
    return NULL;
}

static bool has_text(const struct ebb_value *list, const char *text)
{
    for (size_t i = 0; i < ebb_value_get_count(list); i++)
        if (!strcmp(ebb_value_get_str(ebb_value_get_at(list, i)), text))
            return true;
    return false;
}

static int take_types(struct reading *r)
{
    const struct ebb_value *types = ebb_value_get(r->content, "supportedObjectTypes");
    struct ebb_value *kept;

    if (types && ebb_value_get_kind(types) != EBB_VALUE_LIST)
        return ebb__gravitino_malformed(r->call, "supportedObjectTypes: a list is wanted");
    if (!ebb_value_get_count(types))
        return ebb__gravitino_fail(r->call, EBB__FAULT_ARGUMENT, r->subject, "supportedObjectTypes cannot be empty");
    kept = ebb_value_put_list(r->out, "supportedObjectTypes");
    for (size_t i = 0; i < ebb_value_get_count(types); i++) {
        const char *type = object_type(ebb_value_get_str(ebb_value_get_at(types, i)));

        if (!type)
            return ebb__gravitino_malformed(r->call, "supportedObjectTypes: not one of the values accepted");
        if (!has_text(kept, type))
            ebb_value_add_str(kept, type);
    }
    return 0;
}

static int read_custom(struct reading *r)
{
    const struct ebb_value *rules = ebb_value_get(r->content, "customRules");
    int rc = ebb__gravitino_members(r->call, r->content, "|customRules|supportedObjectTypes|properties|");

    if (!rc && rules && ebb_value_get_kind(rules) != EBB_VALUE_MAP)
        rc = ebb__gravitino_malformed(r->call, "customRules: an object is wanted");
    if (!rc)
        rc = ebb__gravitino_text_map(r->call, r->content, "properties");
    if (!rc)
        rc = take_types(r);
    if (!rc) {
        ebb_value_put_copy(r->out, "customRules", rules);
        ebb_value_put_copy(r->out, "properties", ebb_value_get(r->content, "properties"));
    }
    return rc;
}

/* ---- numbers of the system types ---- */

struct number {
    const char *name;
    int64_t otherwise, least;
};

static int take_number(struct reading *r, const struct number *n)
{
    const struct ebb_value *value = ebb_value_get(r->content, n->name);

    if (value && ebb_value_get_kind(value) != EBB_VALUE_INT)
        return ebb__gravitino_malformed(r->call, "%s: an integer is wanted", n->name);
    if (value && ebb_value_get_int(value, 0) < n->least)
        return ebb__gravitino_fail(r->call, EBB__FAULT_ARGUMENT, r->subject, "%s must be %s", n->name,
                                   n->least > 0 ? "positive" : "non-negative");
    ebb_value_put_int(r->out, n->name, ebb_value_get_int(value, n->otherwise));
    return 0;
}

static bool is_option_name(struct ebb_str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (!isalnum((unsigned char)key.p[i]) && !strchr("._-", key.p[i]))
            return false;
    return key.n > 0;
}

static int take_options(struct reading *r)
{
    const struct ebb_value *options = ebb_value_get(r->content, "rewriteOptions");
    int rc = ebb__gravitino_text_map(r->call, r->content, "rewriteOptions");

    for (size_t i = 0; !rc && i < ebb_value_get_count(options); i++) {
        struct ebb_str key = ebb_value_get_key(options, i);
        const char *text = ebb_value_get_str(ebb_value_get_at(options, i));

        if (!is_option_name(key) || ebb_str_has_prefix(key, EBB_STR("job.options.")))
            rc = ebb__gravitino_fail(r->call, EBB__FAULT_ARGUMENT, r->subject, "rewrite option key %.200s is invalid",
                                     key.p);
        else if (!text[strspn(text, " \t\r\n")])
            rc = ebb__gravitino_fail(r->call, EBB__FAULT_ARGUMENT, r->subject,
                                     "rewrite option %.200s must not be blank", key.p);
    }
    if (!rc && options)
        ebb_value_put_copy(r->out, "rewriteOptions", options);
    else if (!rc)
        ebb_value_put_map(r->out, "rewriteOptions");
    return rc;
}

static int read_compaction(struct reading *r)
{
    static const struct number NUMBERS[] = {{"minDataFileMse", 405323966463344, 0},
                                            {"minDeleteFileNumber", 1, 0},
                                            {"dataFileMseWeight", 1, 0},
                                            {"deleteFileNumberWeight", 100, 0},
                                            {"maxPartitionNum", 50, 1}};
    int rc = ebb__gravitino_members(r->call, r->content,
                                    "|minDataFileMse|minDeleteFileNumber|dataFileMseWeight|deleteFileNumberWeight|"
                                    "maxPartitionNum|rewriteOptions|");

    for (size_t i = 0; !rc && i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        rc = take_number(r, &NUMBERS[i]);
    return rc ? rc : take_options(r);
}

static int read_expiration(struct reading *r)
{
    static const struct number NUMBERS[] = {{"olderThanDays", 5, 1}, {"retainLast", 1, 1}};
    int rc = ebb__gravitino_members(r->call, r->content, "|olderThanDays|retainLast|");

    for (size_t i = 0; !rc && i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        rc = take_number(r, &NUMBERS[i]);
    return rc;
}

/* Kinds are a matter of the body, values of the content. */
static int read_orphans(struct reading *r)
{
    struct ebb_value *out = NULL;
    struct ebb_err err;
    int rc = ebb__gravitino_members(r->call, r->content, "|olderThanDays|location|dryRun|");
    const struct ebb_value *days = ebb_value_get(r->content, "olderThanDays");
    const struct ebb_value *dry = ebb_value_get(r->content, "dryRun");
    const char *location;

    if (!rc && days && ebb_value_get_kind(days) != EBB_VALUE_INT)
        rc = ebb__gravitino_malformed(r->call, "olderThanDays: an integer is wanted");
    if (!rc && dry && ebb_value_get_kind(dry) != EBB_VALUE_BOOL)
        rc = ebb__gravitino_malformed(r->call, "dryRun: true or false is wanted");
    if (!rc)
        rc = ebb__gravitino_text(r->call, r->content, "location", &location);
    if (!rc && ebb_object_orphan_content(r->content, ebb_workspace_config(r->call->ws), &out, &err))
        rc = ebb__gravitino_fail_err(r->call, r->subject, &err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(out); i++)
        ebb_value_put_copy(r->out, ebb_value_get_key(out, i).p, ebb_value_get_at(out, i));
    ebb_value_free(out);
    return rc;
}

static const struct {
    const char *name;
    int (*read)(struct reading *r);
} TYPES[] = {{EBB_OBJECT_CUSTOM, read_custom},
             {EBB_OBJECT_ORPHANS, read_orphans},
             {EBB_OBJECT_EXPIRATION, read_expiration},
             {EBB_OBJECT_COMPACTION, read_compaction}};

static int refuse_type(struct reading *r, const char *type)
{
    int rc = read_custom(r);

    if (rc)
        return rc;
    if (!strncasecmp(type, "system_", 7))
        return ebb__gravitino_fail(r->call, EBB__FAULT_ARGUMENT, r->subject, "Unknown built-in policy type: %.200s",
                                   type);
    return ebb__gravitino_fail(r->call, EBB__FAULT_ARGUMENT, r->subject,
                               "Unknown policy type: %.200s, it should start with 'system_' or be 'custom'", type);
}

int ebb__gravitino_content(struct ebb_api_call *call, const struct ebb__subject *subject, const char *type,
                           const struct ebb_value *content, const char **kept_type, struct ebb_value **out,
                           struct ebb_err *err)
{
    struct reading r = {call, subject, content, ebb_value_new_map(NULL)};
    size_t at = 0;
    int rc;

    while (at < sizeof TYPES / sizeof *TYPES && strcasecmp(type, TYPES[at].name) != 0)
        at++;
    rc = ebb_value_check(r.out, "content", err);
    if (!rc)
        rc = at < sizeof TYPES / sizeof *TYPES ? TYPES[at].read(&r) : refuse_type(&r, type);
    if (!rc)
        rc = ebb_value_check(r.out, "content", err);
    if (rc) {
        ebb_value_free(r.out);
        return rc;
    }
    *kept_type = TYPES[at].name;
    *out = r.out;
    return 0;
}
