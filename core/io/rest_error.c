/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers that are none of success, as one line. What a server says is cut, and left out where it repeats a secret.
 */
#include <stdio.h>
#include <strings.h>

#include "io/rest_priv.h"

/* ---- shapes ---- */

static int read_text(struct ebb_json *j, const struct ebb__secrets *secrets, char *out, size_t max, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (!rc && j->kind == EBB_JSON_STRING)
        ebb__told_copy(secrets, j->text, out, max);
    else if (!rc)
        rc = ebb_json_skip(j, err);
    return rc;
}

/* {"message", "type", "code", "stack"}, behind its opening. */
static int read_inner(struct ebb_json *j, const struct ebb__secrets *secrets, struct ebb__rest_told *out,
                      struct ebb_err *err)
{
    int rc = 0;

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "message"))
            rc = read_text(j, secrets, out->message, sizeof out->message, err);
        else if (ebb_json_is_text(j, "type"))
            rc = read_text(j, secrets, out->type, sizeof out->type, err);
        else
            rc = ebb_json_skip(j, err);
    return rc;
}

/* {"error": {…}}, or OAuth's {"error": "invalid_client", "error_description": "…"}. */
static int read_outer(struct ebb_json *j, const struct ebb__secrets *secrets, struct ebb__rest_told *out, bool *is_told,
                      struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "error", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        bool is_error = ebb_json_is_text(j, "error"), is_text = ebb_json_is_text(j, "error_description");

        rc = ebb_json_next(j, err);
        if (!rc && is_error && j->kind == EBB_JSON_OBJECT) {
            *is_told = true;
            rc = read_inner(j, secrets, out, err);
        } else if (!rc && is_error && j->kind == EBB_JSON_STRING) {
            *is_told = true;
            ebb__told_copy(secrets, j->text, out->type, sizeof out->type);
        } else if (!rc && is_text && j->kind == EBB_JSON_STRING) {
            ebb__told_copy(secrets, j->text, out->message, sizeof out->message);
        } else if (!rc) {
            rc = ebb_json_skip(j, err);
        }
    }
    return rc;
}

bool ebb__rest_parse_error(struct ebb_str json, const struct ebb__secrets *secrets, struct ebb__rest_told *out)
{
    struct ebb_json j;
    bool is_told = false;

    memset(out, 0, sizeof *out);
    ebb_json_init(&j, "error", json.p, json.n);
    if (read_outer(&j, secrets, out, &is_told, NULL) || !is_told) {
        memset(out, 0, sizeof *out);
        is_told = false;
    }
    ebb_json_fini(&j);
    return is_told;
}

/* The title of an HTML page. */
static bool parse_title(struct ebb_str body, const struct ebb__secrets *secrets, char *out, size_t max)
{
    const char *at = body.n ? memmem(body.p, body.n, "<title>", 7) : NULL;
    const char *end;

    if (!at)
        return false;
    at += 7;
    end = memchr(at, '<', body.n - (size_t)(at - body.p));
    if (!end)
        return false;
    ebb__told_copy(secrets, (struct ebb_str){at, (size_t)(end - at)}, out, max);
    return true;
}

/* ---- the error ---- */

static enum ebb_error kind_of(int status)
{
    if (status == 401 || status == 403 || status == 419)
        return EBB_EPERMISSION;
    if (status >= 300 && status < 400)
        return EBB_ECONFIG;
    return EBB_ECATALOG;
}

static void hint(const struct ebb__rest *r, int status, bool is_told, struct ebb_err *err)
{
    if (status == 401 || status == 419)
        ebb_err_hint(err,
                     r->credential || r->token ? "the server does not take our token: check catalogs.%s.%s"
                                               : "the server wants to know who asks: set catalogs.%s.%s",
                     r->name,
                     r->credential ? "credential"
                     : r->token    ? "token"
                                   : "token or credential");
    else if (status == 403)
        ebb_err_hint(err, "the server knows us but does not allow it: ask for the right to read this");
    else if (status >= 300 && status < 400)
        ebb_err_hint(err,
                     "redirects are not followed, so that credentials stay with their server: set catalogs.%s.uri "
                     "to the final address",
                     r->name);
    else if (status == 404 && !is_told)
        ebb_err_hint(err, "uri is the part before /v1/config of an Iceberg REST catalog");
    else if (status == 429 || status == 503)
        ebb_err_hint(err, "the server is busy: try again later");
}

static const char *reason(int status)
{
    switch (status) {
    case 400:
        return "bad request";
    case 401:
        return "not authorized";
    case 403:
        return "forbidden";
    case 404:
        return "not found";
    case 500:
        return "the server failed";
    case 503:
        return "the server is busy";
    default:
        return status >= 300 && status < 400 ? "it lives elsewhere" : "not what was asked for";
    }
}

int ebb__rest_fail(const struct ebb__rest *r, const char *what, int status, struct ebb_str body, char type[64],
                   struct ebb_err *err)
{
    const struct ebb__secrets secrets = {r->token, r->credential, &r->headers};
    struct ebb__rest_told told;
    bool is_told = ebb__rest_parse_error(body, &secrets, &told);
    const char *text;

    type[0] = '\0';
    if (is_told)
        snprintf(type, 64, "%s", told.type[0] ? told.type : "-");
    else
        parse_title(body, &secrets, told.message, sizeof told.message);
    text = told.message[0] ? told.message : reason(status);
    ebb_err_set(err, kind_of(status), "catalog '%s': %s: %s answers %d%s%s: %s", r->name, what, r->given_uri, status,
                told.type[0] ? " " : "", told.type, text);
    if (err)
        err->retryable = status == 408 || status == 429 || status >= 500;
    hint(r, status, is_told, err);
    return -(int)kind_of(status);
}

int ebb__rest_fail_unanswered(const struct ebb__rest *r, const char *what, const struct ebb_err *why,
                              struct ebb_err *err)
{
    enum ebb_error kind = why->error == EBB_EIO || why->error == EBB_EUSAGE ? EBB_ECATALOG : why->error;
    bool is_tls = strcasestr(why->message, "certificate") || strcasestr(why->message, "SSL");

    if (kind == EBB_ENOMEM || kind == EBB_ECANCELLED) {
        if (err)
            *err = *why;
        return -(int)kind;
    }
    ebb_err_set(err, kind, "catalog '%s': %s: %s: %s", r->name, what, r->given_uri, why->message);
    if (strcasestr(why->message, "wrong version"))
        ebb_err_hint(err, "that is no TLS: is the address one of http:// instead?");
    else if (is_tls)
        ebb_err_hint(err, "if the server's certificate is of an authority of your own, name it: catalogs.%s.ca_file",
                     r->name);
    else if (why->error == EBB_EIO)
        ebb_err_hint(err, "is the catalog running at this address?");
    if (err)
        err->retryable = why->retryable;
    return -(int)kind;
}
