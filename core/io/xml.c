/* SPDX-License-Identifier: Apache-2.0 */
#include <expat.h>
#include <limits.h>
#include <stdlib.h>

#include "base/text.h"
#include "io/xml_priv.h"

struct reading {
    const struct ebb__xml_ops *ops;
    void *data;
    XML_Parser parser;
    const char *what;
    size_t depth;
    struct ebb_buf text;
    int rc;
    struct ebb_err err;
};

static void stop(struct reading *r, int rc)
{
    r->rc = rc;
    XML_StopParser(r->parser, XML_FALSE);
}

static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');

    return colon ? colon + 1 : name;
}

static void on_begin(void *data, const XML_Char *name, const XML_Char **attributes)
{
    struct reading *r = data;
    int rc = 0;

    (void)attributes;
    if (r->rc)
        return;
    if (r->depth == EBB__XML_DEPTH_MAX)
        rc = ebb_err_set(&r->err, EBB_ECORRUPT, "%s: elements too deep", r->what);
    else if (r->ops->begin)
        rc = r->ops->begin(r->data, r->depth, local_name(name), &r->err);
    r->depth++;
    ebb_buf_reset(&r->text);
    if (rc)
        stop(r, rc);
}

static void on_end(void *data, const XML_Char *name)
{
    struct reading *r = data;
    int rc;

    if (r->rc)
        return;
    r->depth--;
    rc = r->ops->end(r->data, r->depth, local_name(name), ebb_buf_str(&r->text), &r->err);
    ebb_buf_reset(&r->text);
    if (rc)
        stop(r, rc);
}

static void on_text(void *data, const XML_Char *text, int n)
{
    struct reading *r = data;

    if (r->rc)
        return;
    ebb_buf_append(&r->text, text, (size_t)n);
    if (r->text.bad)
        stop(r, r->text.full ? ebb_err_set(&r->err, EBB_ECORRUPT, "%s: a text too long", r->what)
                             : ebb_err_nomem(&r->err));
}

static void on_doctype(void *data, const XML_Char *name, const XML_Char *system, const XML_Char *public, int internal)
{
    struct reading *r = data;

    (void)name, (void)system, (void)public, (void)internal;
    stop(r, ebb_err_set(&r->err, EBB_ECORRUPT, "%s: a document type", r->what));
}

static int finish(struct reading *r, enum XML_Status status, struct ebb_err *err)
{
    if (r->rc) {
        if (err)
            *err = r->err;
        return r->rc;
    }
    if (status == XML_STATUS_OK)
        return 0;
    if (XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY)
        return ebb_err_nomem(err);
    return ebb_err_set(err, EBB_ECORRUPT, "%s: not readable as XML: %s, line %lu", r->what,
                       XML_ErrorString(XML_GetErrorCode(r->parser)),
                       (unsigned long)XML_GetCurrentLineNumber(r->parser));
}

int ebb__xml_parse(const char *what, struct ebb_str bytes, const struct ebb__xml_ops *ops, void *data,
                   struct ebb_err *err)
{
    struct reading r = {.ops = ops, .data = data, .what = what};
    enum XML_Status status;
    int rc;

    if (bytes.n > INT_MAX)
        return ebb_err_set(err, EBB_ELIMIT, "%s: too long", what);
    r.parser = XML_ParserCreate(NULL);
    if (!r.parser)
        return ebb_err_nomem(err);
    ebb_buf_init(&r.text, EBB__XML_TEXT_MAX);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_begin, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    status = XML_Parse(r.parser, bytes.n ? bytes.p : "", (int)bytes.n, 1);
    rc = finish(&r, status, err);
    ebb_buf_fini(&r.text);
    XML_ParserFree(r.parser);
    return rc;
}

static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&apos;";
    case '\r':
        return "&#13;";
    case '\n':
        return "&#10;";
    case '\t':
        return "&#9;";
    default:
        return NULL;
    }
}

static bool is_expressible(struct ebb_str text)
{
    if (!ebb_text_is_utf8(text.p, text.n))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x20 && c != '\r' && c != '\n' && c != '\t')
            return false;
        if (c == 0xEF && i + 2 < text.n && (unsigned char)text.p[i + 1] == 0xBF && (unsigned char)text.p[i + 2] >= 0xBE)
            return false; /* U+FFFE, U+FFFF */
    }
    return true;
}

bool ebb__xml_write(struct ebb_buf *out, struct ebb_str text)
{
    if (!is_expressible(text))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        const char *escape = escape_of(text.p[i]);

        if (escape)
            ebb_buf_puts(out, escape);
        else
            ebb_buf_putc(out, text.p[i]);
    }
    return true;
}
