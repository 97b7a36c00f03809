/* SPDX-License-Identifier: Apache-2.0
 *
 * What a server says when it does not do what was asked: {"code", "type", "message", "stack"}, HTML or nothing at all.
 */
#include <stdio.h>
#include <strings.h>

#include "format/json.h"
#include "io/gravitino_priv.h"
#include "io/told_priv.h"

#define CODE_NOT_FOUND 1003
#define CODE_EXISTS 1004
#define CODE_UNSUPPORTED 1006
#define CODE_CONNECTION 1007

struct told {
    int64_t code; /* -1: it is none of theirs */
    char type[64], message[500];
};

static int read_member(const struct ebb__secrets *secrets, struct ebb_json *j, struct told *out, struct ebb_err *err)
{
    bool is_code = ebb_json_is_text(j, "code"), is_type = ebb_json_is_text(j, "type");
    bool is_message = ebb_json_is_text(j, "message");
    int rc = ebb_json_next(j, err);

    if (rc)
        return rc;
    if (is_code && j->kind == EBB_JSON_INT)
        out->code = j->number;
    else if (is_type && j->kind == EBB_JSON_STRING)
        ebb__told_copy(secrets, j->text, out->type, sizeof out->type);
    else if (is_message && j->kind == EBB_JSON_STRING)
        ebb__told_copy(secrets, j->text, out->message, sizeof out->message);
    else
        return ebb_json_skip(j, err);
    return 0;
}

static void read_told(const struct ebb_gravitino *g, struct ebb_str body, struct told *out)
{
    const struct ebb__secrets secrets = {g->token, g->credential, &g->headers};
    struct ebb_json j;
    int rc;

    memset(out, 0, sizeof *out);
    out->code = -1;
    ebb_json_init(&j, "error", body.p, body.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "error", NULL);
    while (!rc && !(rc = ebb_json_next(&j, NULL)) && j.kind == EBB_JSON_KEY)
        rc = read_member(&secrets, &j, out, NULL);
    if (rc) {
        memset(out, 0, sizeof *out);
        out->code = -1;
    }
    ebb_json_fini(&j);
}

static enum ebb_error kind_of(int status, const struct told *told)
{
    if (status == 401 || status == 403)
        return EBB_EPERMISSION;
    if (status >= 300 && status < 400)
        return EBB_ECONFIG;
    if (told->code == CODE_NOT_FOUND)
        return EBB_ENOT_FOUND;
    if (told->code == CODE_EXISTS)
        return EBB_EEXIST;
    if (status == 405 || told->code == CODE_UNSUPPORTED)
        return EBB_EUNSUPPORTED;
    if (told->code > 0 && (status == 400 || status == 409))
        return EBB_EREFUSED;
    return EBB_ECATALOG;
}

static const char *reason(int status)
{
    switch (status) {
    case 401:
        return "not authorized";
    case 403:
        return "forbidden";
    case 404:
        return "there is no such path";
    case 405:
        return "it does not do that";
    case 500:
        return "the server failed";
    case 503:
        return "the server is busy";
    default:
        return status >= 300 && status < 400 ? "it lives elsewhere" : "not what was asked for";
    }
}

static void hint(const struct ebb_gravitino *g, int status, const struct told *told, struct ebb_err *err)
{
    if (status == 401)
        ebb_err_hint(err,
                     g->credential || g->token ? "the server does not take our token: check catalogs.%s"
                                               : "the server wants a token: set catalogs.%s.token or credential",
                     g->name);
    else if (status >= 300 && status < 400)
        ebb_err_hint(err,
                     "redirects are not followed, so that credentials stay with their server: set catalogs.%s.uri "
                     "to the final address",
                     g->name);
    else if (told->code < 0 && (status == 404 || status == 415))
        ebb_err_hint(err, "uri is the part before /api of a Gravitino server (http://HOST:8090)");
    else if (!strcmp(told->type, "NoSuchMetalakeException"))
        ebb_err_hint(err, "check catalogs.%s.metalake", g->name);
    else if (!strcmp(told->type, "NoSuchCatalogException"))
        ebb_err_hint(err, "check catalogs.%s.catalog, the catalog's name there", g->name);
    else if (!strcmp(told->type, "CatalogNotInUseException") || !strcmp(told->type, "MetalakeNotInUseException"))
        ebb_err_hint(err, "it is disabled there");
}

int ebb__gravitino_refused(const struct ebb_gravitino *g, const struct ebb__gravitino_about *about, int status,
                           struct ebb_str body, char type[64], struct ebb_err *err)
{
    struct told told;
    enum ebb_error kind;

    read_told(g, body, &told);
    kind = kind_of(status, &told);
    snprintf(type, 64, "%s", told.type);
    ebb_err_set(err, kind, "catalog '%s': %s: %s answers %d%s%s: %s", g->name, about->what, about->uri, status,
                told.type[0] ? " " : "", told.type, told.message[0] ? told.message : reason(status));
    if (err) /* its 500 is often an answer to what was asked, and stays so (reference: Gravitino 1.3) */
        err->retryable =
            status == 429 || status == 502 || status == 503 || status == 504 || told.code == CODE_CONNECTION;
    hint(g, status, &told, err);
    return -(int)kind;
}

int ebb__gravitino_unanswered(const struct ebb_gravitino *g, const struct ebb__gravitino_about *about,
                              const struct ebb_err *why, struct ebb_err *err)
{
    enum ebb_error kind = why->error == EBB_EIO || why->error == EBB_EUSAGE ? EBB_ECATALOG : why->error;

    if (kind == EBB_ENOMEM || kind == EBB_ECANCELLED) {
        if (err)
            *err = *why;
        return -(int)kind;
    }
    ebb_err_set(err, kind, "catalog '%s': %s: %s: %s", g->name, about->what, about->uri, why->message);
    if (strcasestr(why->message, "certificate") || strcasestr(why->message, "SSL"))
        ebb_err_hint(err, "if the server's certificate is of an authority of your own, name it: catalogs.%s.ca_file",
                     g->name);
    else if (why->error == EBB_EIO)
        ebb_err_hint(err, "is the server running at this address?");
    if (err)
        err->retryable = why->retryable;
    return -(int)kind;
}
