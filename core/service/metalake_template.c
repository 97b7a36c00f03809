/* SPDX-License-Identifier: Apache-2.0
 *
 * The job template by which a Gravitino server runs `ebb job remove-orphan-files`.
 */
#include "service/metalake.h"

#define BODY_MAX ((size_t)1 << 20)

/* Name and value in one argument: no text of a run becomes an option of its own. */
static const char *const ARGUMENTS[] = {
    "--catalog={{catalog_name}}", "--table={{table_identifier}}", "--older-than={{older_than}}",
    "--location={{location}}",    "--dry-run={{dry_run}}",
};
#define ARGUMENT_COUNT (sizeof ARGUMENTS / sizeof ARGUMENTS[0])

int ebb_metalake_template(const char *name, const struct ebb_metalake_program *p, struct ebb_value **out,
                          struct ebb_err *err)
{
    struct ebb_value *t = ebb_value_new_map(NULL), *list;
    int rc;

    ebb_value_put_str(t, "name", name);
    ebb_value_put_str(t, "jobType", "shell");
    ebb_value_put_str(t, "comment", "Orphan files of an Iceberg table: found and put into quarantine by ebb");
    ebb_value_put_str(t, "executable", p->program);
    list = ebb_value_put_list(t, "arguments");
    if (p->config) {
        ebb_value_add_str(list, "--config");
        ebb_value_add_str(list, p->config);
    }
    if (p->state) {
        ebb_value_add_str(list, "--state");
        ebb_value_add_str(list, p->state);
    }
    ebb_value_add_str(list, "job");
    ebb_value_add_str(list, "remove-orphan-files");
    for (size_t i = 0; i < ARGUMENT_COUNT; i++)
        ebb_value_add_str(list, ARGUMENTS[i]);
    ebb_value_put_map(t, "environments");
    ebb_value_put_str(ebb_value_put_map(t, "customFields"), "version", "v1");
    ebb_value_put_list(t, "scripts");
    rc = ebb_value_check(t, "job template", err);
    if (rc)
        ebb_value_free(t);
    *out = rc ? NULL : t;
    return rc;
}

static bool is_text_at(const struct ebb_value *list, size_t i, const char *text)
{
    const char *have = ebb_value_get_str(ebb_value_get_at(list, i));

    return have && !strcmp(have, text);
}

/* Global options may stand before: "--config FILE", "--state DIR". */
static size_t skip_options(const struct ebb_value *list)
{
    size_t i = 0;

    while (is_text_at(list, i, "--config") || is_text_at(list, i, "--state"))
        i += 2;
    return i;
}

bool ebb_metalake_is_ours(const struct ebb_value *template)
{
    const struct ebb_value *list = ebb_value_get(template, "arguments");
    const char *type = ebb_value_text_of(template, "jobType");
    size_t at = skip_options(list);

    if (!type || strcmp(type, "shell") != 0 || ebb_value_get_count(ebb_value_get(template, "scripts")) ||
        ebb_value_get_count(list) != at + 2 + ARGUMENT_COUNT || !is_text_at(list, at, "job") ||
        !is_text_at(list, at + 1, "remove-orphan-files"))
        return false;
    for (size_t i = 0; i < ARGUMENT_COUNT; i++)
        if (!is_text_at(list, at + 2 + i, ARGUMENTS[i]))
            return false;
    return true;
}

static int put_path(const char *name, struct ebb_buf *path, struct ebb_err *err)
{
    ebb_buf_puts(path, "/jobs/templates");
    if (name)
        ebb_gravitino_segment(path, name);
    return ebb_buf_check(path, "job template", err);
}

int ebb_metalake_get_template(struct ebb_gravitino *g, const char *name, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.what = "job template"};
    struct ebb_value *answer = NULL;
    struct ebb_buf path;
    int rc;

    *out = NULL;
    ebb_buf_init(&path, BODY_MAX);
    rc = put_path(name, &path, err);
    call.path = ebb_buf_cstr(&path);
    if (!rc)
        rc = ebb_metalake_ask(g, &call, "jobTemplate", &answer, err);
    if (!rc)
        rc = ebb_value_dup(ebb_value_get(answer, "jobTemplate"), NULL, out, err);
    if (rc == -(int)EBB_ENOT_FOUND && !strcmp(call.type, "NoSuchJobTemplateException"))
        rc = 0;
    ebb_value_free(answer);
    ebb_buf_fini(&path);
    return rc;
}

/* ---- to have it there ---- */

static int send_body(struct ebb_gravitino *g, const char *method, const char *name, const struct ebb_value *body,
                     struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.method = method, .what = "job template"};
    struct ebb_value *answer = NULL;
    struct ebb_buf path, text;
    int rc;

    ebb_buf_init(&path, BODY_MAX);
    ebb_buf_init(&text, BODY_MAX);
    rc = put_path(name, &path, err);
    if (!rc)
        rc = ebb_value_to_json(body, &text, err);
    call.path = ebb_buf_cstr(&path);
    call.body = ebb_buf_cstr(&text);
    if (!rc)
        rc = ebb_metalake_ask(g, &call, NULL, &answer, err);
    ebb_value_free(answer);
    ebb_buf_fini(&text);
    ebb_buf_fini(&path);
    return rc;
}

static int create(struct ebb_gravitino *g, const struct ebb_value *wanted, struct ebb_err *err)
{
    struct ebb_value *body = ebb_value_new_map(NULL);
    int rc;

    ebb_value_put_copy(body, "jobTemplate", wanted);
    rc = ebb_value_check(body, "job template", err);
    if (!rc)
        rc = send_body(g, "POST", NULL, body, err);
    ebb_value_free(body);
    return rc;
}

/* Renewed whole: what an update leaves out would stay as it was. */
static int update(struct ebb_gravitino *g, const char *name, const struct ebb_value *wanted, struct ebb_err *err)
{
    static const char *const MEMBERS[][2] = {{"executable", "newExecutable"},
                                             {"arguments", "newArguments"},
                                             {"environments", "newEnvironments"},
                                             {"customFields", "newCustomFields"},
                                             {"scripts", "newScripts"}};
    struct ebb_value *body = ebb_value_new_map(NULL);
    struct ebb_value *updates = ebb_value_put_list(body, "updates");
    struct ebb_value *comment = ebb_value_add_map(updates), *change = ebb_value_add_map(updates), *new_;
    int rc;

    ebb_value_put_str(comment, "@type", "updateComment");
    ebb_value_put_str(comment, "newComment", ebb_value_text_of(wanted, "comment"));
    ebb_value_put_str(change, "@type", "updateTemplate");
    new_ = ebb_value_put_map(change, "newTemplate");
    ebb_value_put_str(new_, "@type", "shell");
    for (size_t i = 0; i < sizeof MEMBERS / sizeof MEMBERS[0]; i++)
        ebb_value_put_copy(new_, MEMBERS[i][1], ebb_value_get(wanted, MEMBERS[i][0]));
    rc = ebb_value_check(body, "job template", err);
    if (!rc)
        rc = send_body(g, "PUT", name, body, err);
    ebb_value_free(body);
    return rc;
}

static bool is_same(const struct ebb_value *have, const struct ebb_value *wanted)
{
    static const char *const MEMBERS[] = {"executable", "arguments", "comment", "customFields"};

    for (size_t i = 0; i < sizeof MEMBERS / sizeof MEMBERS[0]; i++)
        if (!ebb_value_is_equal(ebb_value_get(have, MEMBERS[i]), ebb_value_get(wanted, MEMBERS[i])))
            return false;
    return !ebb_value_get_count(ebb_value_get(have, "environments"));
}

static int make_it(struct ebb_gravitino *g, const char *name, const struct ebb_value *have,
                   const struct ebb_value *wanted, enum ebb_registered *out, struct ebb_err *err)
{
    *out = EBB_REGISTERED_NEW;
    if (!have)
        return create(g, wanted, err);
    if (!ebb_metalake_is_ours(have)) {
        ebb_err_set(err, EBB_EREFUSED, "job template %s: is there, and was not registered by ebb", name);
        ebb_err_hint(err, "take another name (--template, engines.gravitino.template), or drop that one there");
        return -(int)EBB_EREFUSED;
    }
    *out = is_same(have, wanted) ? EBB_REGISTERED_SAME : EBB_REGISTERED_CHANGED;
    return *out == EBB_REGISTERED_SAME ? 0 : update(g, name, wanted, err);
}

int ebb_metalake_register(struct ebb_gravitino *g, const char *name, const struct ebb_metalake_program *p,
                          enum ebb_registered *out, struct ebb_err *err)
{
    struct ebb_value *have = NULL, *wanted = NULL;
    int rc = ebb_metalake_template(name, p, &wanted, err);

    if (!rc)
        rc = ebb_metalake_get_template(g, name, &have, err);
    if (!rc)
        rc = make_it(g, name, have, wanted, out, err);
    ebb_value_free(have);
    ebb_value_free(wanted);
    return rc;
}
