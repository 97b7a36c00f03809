/* SPDX-License-Identifier: Apache-2.0 */
#include "service/config_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define HEADER_MAX ((size_t)8 * 1024)

bool ebb__config_is_url(const char *text)
{
    size_t scheme = !strncasecmp(text, "https://", 8) ? 8 : !strncasecmp(text, "http://", 7) ? 7 : 0;

    for (const char *p = text; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return false;
    return scheme && text[scheme] && text[scheme] != '/';
}

/* RFC 9110, 5.1: a token. */
static bool is_header_name(const char *name)
{
    return *name &&
           name[strspn(name, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")] == '\0';
}

static bool is_header_value(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
            return false;
    return true;
}

static int add_header(const struct ebb__config_reader *r, const char *where, const char *name,
                      const struct ebb_value *v, struct ebb_strs *out, struct ebb_err *err)
{
    const char *text = ebb__config_text(v);
    struct ebb_buf line;
    int rc;

    if (!is_header_name(name) || !text || !is_header_value(text))
        return ebb__config_fail_in(r, err, where, "headers", "[\"Name\"] = \"value\", each of one line, is wanted");
    ebb_buf_init(&line, HEADER_MAX);
    ebb_buf_printf(&line, "%s: %s", name, text);
    rc = ebb_buf_check(&line, where, err);
    if (!rc)
        rc = ebb_strs_add(out, ebb_buf_cstr(&line), err);
    ebb_buf_fini(&line);
    return rc == -(int)EBB_ELIMIT ? ebb_err_as(err, EBB_ECONFIG, r->c->file) : rc;
}

int ebb__config_take_headers(const struct ebb__config_reader *r, const struct ebb_value *headers, const char *where,
                             struct ebb_strs *out, struct ebb_err *err)
{
    int rc;

    if (ebb_value_get_kind(headers) != EBB_VALUE_MAP)
        return ebb__config_fail_in(r, err, where, "headers", "a table of [\"Name\"] = \"value\" is wanted");
    rc = ebb__config_check_names(r, headers, where, err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(headers); i++)
        rc = add_header(r, where, ebb_value_get_key(headers, i).p, ebb_value_get_at(headers, i), out, err);
    return rc;
}

static int read_headers(const struct ebb__config_reader *r, const char *where, const struct ebb_value *v,
                        struct ebb_notify_config *n, struct ebb_err *err)
{
    const struct ebb_value *headers = ebb_value_get(v, "headers");

    if (!headers)
        return 0;
    if (ebb_value_get_kind(headers) == EBB_VALUE_MAP && !n->url)
        return ebb__config_fail_in(r, err, where, "headers", "go with url only");
    return ebb__config_take_headers(r, headers, where, &n->headers, err);
}

static int read_kinds(const struct ebb__config_reader *r, const char *where, const struct ebb_value *v,
                      struct ebb_strs *on, struct ebb_err *err)
{
    static const char *const KINDS[] = {"held", "refused", "failed", "purge-due", "paused"};
    char key[64];
    int rc;

    snprintf(key, sizeof key, "%s.on", where);
    rc = ebb__config_take_texts(r, ebb_value_get(v, "on"), key, on, err);
    for (size_t i = 0; !rc && i < on->count; i++) {
        size_t k = 0;

        while (k < 5 && strcmp(on->items[i], KINDS[k]))
            k++;
        if (k == 5) {
            const char *nearest = ebb_text_nearest(on->items[i], KINDS, 5);

            rc = ebb__config_fail(r, err, key, "held, refused, failed, purge-due and paused are there");
            if (nearest)
                ebb_err_hint(err, "did you mean %s?", nearest);
        }
    }
    return rc;
}

static int read_way(const struct ebb__config_reader *r, const char *where, const struct ebb_value *v,
                    struct ebb_notify_config *n, struct ebb_err *err)
{
    const struct ebb_value *command = ebb_value_get(v, "command");
    char key[64];
    int rc = ebb__config_take_text(r, v, where, "url", false, &n->url, err);

    if (rc)
        return rc;
    if (!n->url == !command)
        return ebb__config_fail(r, err, where, "either url or command is wanted");
    if (n->url && !ebb__config_is_url(n->url))
        return ebb__config_fail_in(r, err, where, "url", "a http:// or https:// URL is wanted");
    snprintf(key, sizeof key, "%s.command", where);
    rc = ebb__config_take_texts(r, command, key, &n->command, err);
    if (!rc && command && !strchr(n->command.items[0], '/'))
        return ebb__config_fail(r, err, key, "the path of a program is wanted first: PATH is not searched");
    return rc || !command ? rc : ebb__config_absolute(r, &n->command.items[0], err);
}

static int read_notify(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"url", "headers", "command", "on"};
    struct ebb_notify_config *n = &r->c->serve.notify[r->c->serve.notify_count++];
    char where[48];
    int rc;

    snprintf(where, sizeof where, "serve.notify[%zu]", r->c->serve.notify_count);
    rc = ebb__config_check_keys(r, v, where, KEYS, sizeof KEYS / sizeof KEYS[0], err);
    if (!rc)
        rc = read_way(r, where, v, n, err);
    if (!rc)
        rc = read_headers(r, where, v, n, err);
    return rc ? rc : read_kinds(r, where, v, &n->on, err);
}

int ebb__config_read_notify(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    size_t n = ebb_value_get_count(v);
    int rc = 0;

    if (!v || (ebb_value_get_kind(v) == EBB_VALUE_MAP && !n))
        return 0;
    if (ebb_value_get_kind(v) != EBB_VALUE_LIST)
        return ebb__config_fail(r, err, "serve.notify", "a list of { url = … } or { command = … } is wanted");
    r->c->serve.notify = calloc(n + 1, sizeof *r->c->serve.notify);
    if (!r->c->serve.notify)
        return ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_notify(r, ebb_value_get_at(v, i), err);
    return rc;
}
