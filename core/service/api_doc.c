/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenAPI document, made of the routes. A route's doc is JSON, or the same with ' for " when it begins so; besides
 * the members of an operation it may have: "body" (schema of a JSON body that must be there), "answer" (status to
 * schema), "errors" (statuses that it can end with besides those of every route).
 */
#include <ctype.h>
#include <stdlib.h>

#include "service/api_priv.h"

#define JSON_MAX ((size_t)8 << 20)
#define FRAGMENT_MAX ((size_t)64 << 10)

static int read_fragment(const char *text, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_buf json;
    int rc;

    ebb_buf_init(&json, FRAGMENT_MAX);
    ebb_buf_puts(&json, text);
    for (size_t i = 0; text[0] == '{' && text[1] == '\'' && i < json.len; i++)
        if (json.data[i] == '\'')
            json.data[i] = '"';
    rc = ebb_buf_check(&json, "doc of a route", err);
    if (!rc)
        rc = ebb_value_of_json("doc of a route", json.data, json.len, NULL, out, err);
    ebb_buf_fini(&json);
    return rc;
}

static void put_schema(struct ebb_value *holder, const char *type, const struct ebb_value *schema)
{
    struct ebb_value *content = ebb_value_put_map(ebb_value_put_map(holder, "content"), type);

    ebb_value_put_copy(content, "schema", schema);
}

static void put_ref(struct ebb_value *holder, const char *type, const char *ref)
{
    struct ebb_value *schema =
        ebb_value_put_map(ebb_value_put_map(ebb_value_put_map(holder, "content"), type), "schema");

    ebb_value_put_str(schema, "$ref", ref);
}

static void put_header(struct ebb_value *response, const char *name, const char *about)
{
    struct ebb_value *header = ebb_value_put_map(ebb_value_put_map(response, "headers"), name);

    ebb_value_put_str(header, "description", about);
    ebb_value_put_str(ebb_value_put_map(header, "schema"), "type", "string");
}

/* The shared answers of both interfaces, by status: "Problem404", "CompatibleError404". */
static void put_error(struct ebb_value *responses, bool is_own, int status)
{
    struct ebb_value *r;
    char name[64];

    snprintf(name, sizeof name, "%s%d", is_own ? "Problem" : "CompatibleError", status);
    r = ebb_value_put_map(responses, name);
    ebb_value_put_str(r, "description", ebb_api_phrase(status));
    if (status == 401)
        put_header(r, "WWW-Authenticate", "Bearer");
    if (status == 405)
        put_header(r, "Allow", "Methods that the path has");
    if (status == 429 || status == 503)
        put_header(r, "Retry-After", "Seconds");
    if (status == 414) { /* said by the library that reads requests */
        ebb_value_put_map(ebb_value_put_map(r, "content"), "text/html");
        return;
    }
    put_ref(r, "application/problem+json", "#/components/schemas/Problem");
    if (!is_own && status != 405 && status != 406)
        put_ref(r, "application/json", "#/components/schemas/CompatibleError");
}

static const int STATUSES[] = {400, 401, 403, 404, 405, 406, 408, 409, 413, 414, 415, 421, 422, 429, 431, 500, 503};
/* What any route may answer: limits of the server, who asks, what is taken. */
static const int COMMON[] = {400, 401, 403, 405, 406, 408, 413, 414, 415, 421, 429, 431, 500, 503};
/* Those that need no token and no store. */
static const int OPEN[] = {400, 403, 405, 406, 408, 413, 414, 415, 421, 429, 431, 503};

static void put_error_ref(struct ebb_value *responses, bool is_own, int status)
{
    char code[16], ref[96];

    snprintf(code, sizeof code, "%d", status);
    snprintf(ref, sizeof ref, "#/components/responses/%s%d", is_own ? "Problem" : "CompatibleError", status);
    if (!ebb_value_get(responses, code))
        ebb_value_put_str(ebb_value_put_map(responses, code), "$ref", ref);
}

static void put_answers(struct ebb_value *responses, const struct ebb_value *answers)
{
    for (size_t i = 0; i < ebb_value_get_count(answers); i++) {
        const char *status = ebb_value_get_key(answers, i).p;
        struct ebb_value *r = ebb_value_put_map(responses, status);
        int64_t number = 0;

        ebb_text_count(status, &number);
        ebb_value_put_str(r, "description", ebb_api_phrase((int)number));
        put_schema(r, "application/json", ebb_value_get_at(answers, i));
    }
}

static void put_responses(struct ebb_value *operation, const struct ebb__api_entry *e, const struct ebb_value *doc)
{
    struct ebb_value *responses = ebb_value_put_map(operation, "responses");
    const struct ebb_value *given = ebb_value_get(doc, "responses"), *errors = ebb_value_get(doc, "errors");
    bool is_open = e->route->role == EBB_ROLE_NONE, is_own = e->part->is_own;
    const int *common = is_open ? OPEN : COMMON;
    size_t count = is_open ? sizeof OPEN / sizeof OPEN[0] : sizeof COMMON / sizeof COMMON[0];

    for (size_t i = 0; i < ebb_value_get_count(given); i++)
        ebb_value_put_copy(responses, ebb_value_get_key(given, i).p, ebb_value_get_at(given, i));
    put_answers(responses, ebb_value_get(doc, "answer"));
    for (size_t i = 0; i < ebb_value_get_count(errors); i++)
        put_error_ref(responses, is_own, (int)ebb_value_get_int(ebb_value_get_at(errors, i), 500));
    for (size_t i = 0; i < count; i++)
        put_error_ref(responses, is_own, common[i]);
    if (strchr(e->route->pattern, '{'))
        put_error_ref(responses, is_own, 404);
}

static void put_path_parameters(struct ebb_value *parameters, const char *pattern)
{
    for (const char *p = strchr(pattern, '{'); p; p = strchr(p + 1, '{')) {
        struct ebb_value *parameter = ebb_value_add_map(parameters), *schema;

        ebb_value_put_strn(parameter, "name", p + 1, strcspn(p + 1, "}"));
        ebb_value_put_str(parameter, "in", "path");
        ebb_value_put_bool(parameter, "required", true);
        schema = ebb_value_put_map(parameter, "schema");
        ebb_value_put_str(schema, "type", "string");
        ebb_value_put_int(schema, "minLength", 1);
    }
}

static void put_parameters(struct ebb_value *operation, const char *pattern, const struct ebb_value *given)
{
    struct ebb_value *list;

    if (!strchr(pattern, '{') && !given)
        return;
    list = ebb_value_put_list(operation, "parameters");
    put_path_parameters(list, pattern);
    for (size_t i = 0; i < ebb_value_get_count(given); i++)
        ebb_value_add_copy(list, ebb_value_get_at(given, i));
}

static void put_body(struct ebb_value *operation, const struct ebb_value *doc)
{
    const struct ebb_value *schema = ebb_value_get(doc, "body");
    struct ebb_value *request;

    ebb_value_put_copy(operation, "requestBody", ebb_value_get(doc, "requestBody"));
    if (!schema)
        return;
    request = ebb_value_put_map(operation, "requestBody");
    ebb_value_put_bool(request, "required", true);
    put_schema(request, "application/json", schema);
}

static void put_security(struct ebb_value *operation, enum ebb_role role)
{
    struct ebb_value *list = ebb_value_put_list(operation, "security");

    if (role == EBB_ROLE_NONE)
        return;
    ebb_value_put_list(ebb_value_add_map(list), "token");
    ebb_value_add_map(list); /* serve.auth = "none" */
}

/* "get_api_plans_id" */
static void put_id(struct ebb_value *operation, const struct ebb_route *route)
{
    struct ebb_buf id;

    ebb_buf_init(&id, 512);
    for (const char *p = route->method; *p; p++)
        ebb_buf_putc(&id, (char)tolower((unsigned char)*p));
    for (const char *p = route->pattern; *p; p++)
        if (isalnum((unsigned char)*p))
            ebb_buf_putc(&id, *p);
        else if (id.len && id.data[id.len - 1] != '_')
            ebb_buf_putc(&id, '_');
    while (id.len && id.data[id.len - 1] == '_')
        id.len--;
    ebb_value_put_strn(operation, "operationId", id.data, id.len);
    ebb_buf_fini(&id);
}

static int put_operation(struct ebb_value *paths, struct ebb__api_entry *e, struct ebb_err *err)
{
    const struct ebb_route *route = e->route;
    struct ebb_value *doc = NULL, *path, *operation;
    char method[16] = "";
    int rc = read_fragment(route->doc, &doc, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < sizeof method - 1 && route->method[i]; i++)
        method[i] = (char)tolower((unsigned char)route->method[i]);
    path = (struct ebb_value *)(uintptr_t)ebb_value_get(paths, route->pattern);
    if (!path)
        path = ebb_value_put_map(paths, route->pattern);
    operation = ebb_value_put_map(path, method);
    ebb_value_put_str(operation, "summary", route->summary);
    ebb_value_put_copy(operation, "description", ebb_value_get(doc, "description"));
    ebb_value_add_str(ebb_value_put_list(operation, "tags"), e->part->is_own ? "ebb" : "gravitino");
    put_id(operation, route);
    put_security(operation, route->role);
    put_parameters(operation, route->pattern, ebb_value_get(doc, "parameters"));
    put_body(operation, doc);
    put_responses(operation, e, doc);
    e->operation = operation;
    ebb_value_free(doc);
    return 0;
}

static int put_components(struct ebb_value *document, struct ebb_err *err)
{
    struct ebb_value *components = ebb_value_put_map(document, "components");
    struct ebb_value *schemas = ebb_value_put_map(components, "schemas"), *responses, *scheme, *given = NULL;
    int rc = 0;

    for (size_t i = 0; !rc && EBB__API_COMPONENTS[i]; i++) {
        rc = read_fragment(EBB__API_COMPONENTS[i], &given, err);
        for (size_t k = 0; !rc && k < ebb_value_get_count(given); k++)
            ebb_value_put_copy(schemas, ebb_value_get_key(given, k).p, ebb_value_get_at(given, k));
        ebb_value_free(given);
        given = NULL;
    }
    if (!rc)
        rc = read_fragment(EBB__API_PARAMETERS, &given, err);
    ebb_value_put_copy(components, "parameters", given);
    ebb_value_free(given);
    responses = ebb_value_put_map(components, "responses");
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++) {
        put_error(responses, true, STATUSES[i]);
        put_error(responses, false, STATUSES[i]);
    }
    scheme = ebb_value_put_map(ebb_value_put_map(components, "securitySchemes"), "token");
    ebb_value_put_str(scheme, "type", "http");
    ebb_value_put_str(scheme, "scheme", "bearer");
    return rc;
}

static void put_head(struct ebb_value *document)
{
    struct ebb_value *info = ebb_value_put_map(document, "info");

    ebb_value_put_str(document, "openapi", "3.1.0");
    ebb_value_put_str(info, "title", "ebb");
    ebb_value_put_str(info, "version", EBB_VERSION);
    ebb_value_put_str(info, "summary", "Maintenance of Apache Iceberg tables");
    ebb_value_put_str(ebb_value_put_map(info, "license"), "name", "Apache-2.0");
    ebb_value_put_str(ebb_value_add_map(ebb_value_put_list(document, "servers")), "url", "/");
}

static size_t count_routes(void)
{
    size_t count = 0;

    for (const struct ebb_api_part *p = EBB_API_PARTS; p->prefix; p++)
        for (const struct ebb_route *r = p->routes; r && r->method; r++)
            count++;
    return count;
}

static int make_document(struct ebb__api_table *t, struct ebb_err *err)
{
    struct ebb_value *paths;
    struct ebb_buf json;
    int rc;

    t->document = ebb_value_new_map(NULL);
    put_head(t->document);
    rc = put_components(t->document, err);
    paths = ebb_value_put_map(t->document, "paths");
    for (size_t i = 0; !rc && i < t->count; i++)
        if (t->items[i].route->doc)
            rc = put_operation(paths, &t->items[i], err);
    ebb_buf_init(&json, JSON_MAX);
    if (!rc)
        rc = ebb_value_check(t->document, "document of the interface", err);
    if (!rc)
        rc = ebb_value_to_json(t->document, &json, err);
    if (!rc) {
        t->json = ebb_buf_take(&json);
        rc = t->json ? 0 : ebb_err_nomem(err);
    }
    ebb_buf_fini(&json);
    return rc;
}

int ebb__api_table_new(struct ebb__api_table *out, struct ebb_err *err)
{
    int rc;

    memset(out, 0, sizeof *out);
    out->items = calloc(count_routes() + 1, sizeof *out->items);
    if (!out->items)
        return ebb_err_nomem(err);
    for (const struct ebb_api_part *p = EBB_API_PARTS; p->prefix; p++)
        for (const struct ebb_route *r = p->routes; r && r->method; r++)
            out->items[out->count++] = (struct ebb__api_entry){p, r, NULL};
    rc = make_document(out, err);
    if (rc)
        ebb__api_table_fini(out);
    return rc;
}

void ebb__api_table_fini(struct ebb__api_table *table)
{
    free(table->items);
    ebb_value_free(table->document);
    free(table->json);
    memset(table, 0, sizeof *table);
}
