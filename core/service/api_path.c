/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths, queries and media types of requests.
 */
#include "service/api_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#define SHOWN_MAX ((size_t)512)
#define TOKEN_MIN ((size_t)24) /* a part of one is too much already */
#define DECODED_MAX ((size_t)64 << 10)

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int ebb__api_decode(const char *text, size_t n, bool plus, struct ebb_buf *out, struct ebb_err *err)
{
    size_t start = out->len;

    for (size_t i = 0; i < n; i++) {
        int high, low;

        if (text[i] != '%') {
            ebb_buf_putc(out, plus && text[i] == '+' ? ' ' : text[i]);
            continue;
        }
        high = n - i > 2 ? hex_of(text[i + 1]) : -1;
        low = n - i > 2 ? hex_of(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            return ebb_err_set(err, EBB_EUSAGE, "the target: a bad percent escape");
        if (high == 0 && low == 0)
            return ebb_err_set(err, EBB_EUSAGE, "the target: NUL is refused");
        ebb_buf_putc(out, (char)(high * 16 + low));
        i += 2;
    }
    if (!out->bad && out->len > start && !ebb_text_is_utf8(out->data + start, out->len - start))
        return ebb_err_set(err, EBB_EUSAGE, "the target: not UTF-8");
    return ebb_buf_check(out, "the target", err);
}

#define TOKEN_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

/* The character at a place of a path, and how many bytes it takes there: "%5F" is a '_', too. */
static char letter_at(const char *path, size_t *n)
{
    int high = path[0] == '%' ? hex_of(path[1]) : -1, low = high >= 0 ? hex_of(path[2]) : -1;

    *n = low >= 0 ? 3 : 1;
    return low >= 0 ? (char)(high * 16 + low) : path[0];
}

/* Bytes of what looks like a token at a place of a path, 0: nothing does. */
static size_t token_at(const char *path)
{
    static const char begin[] = "ebb_";
    size_t bytes = 0, letters = 0, n;

    for (char c = letter_at(path, &n); c && strchr(TOKEN_LETTERS, c); c = letter_at(path + bytes, &n)) {
        if (letters < sizeof begin - 1 && c != begin[letters])
            return 0;
        letters++;
        bytes += n;
    }
    return letters < TOKEN_MIN ? 0 : bytes;
}

void ebb__api_show_path(const char *path, struct ebb_buf *out)
{
    size_t n = strlen(path);

    n = n < SHOWN_MAX ? n : SHOWN_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t token = token_at(path + i);

        if (!token) {
            ebb_buf_putc(out, path[i]);
            continue;
        }
        ebb_buf_puts(out, "ebb_\xE2\x80\xA6");
        i += token - 1;
    }
}

bool ebb__api_is_below(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);

    return !strncmp(path, prefix, n) && (path[n] == '\0' || path[n] == '/' || (n > 0 && prefix[n - 1] == '/'));
}

static int take_part(const char *pattern, size_t pattern_n, const char *part, size_t n, struct ebb_strs *args,
                     bool *matches, struct ebb_err *err)
{
    bool is_named = pattern_n > 2 && pattern[0] == '{' && pattern[pattern_n - 1] == '}';
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, DECODED_MAX);
    rc = ebb__api_decode(part, n, false, &text, err);
    if (rc)
        goto out;
    if (is_named) {
        *matches = text.len > 0;
        rc = *matches ? ebb_strs_addn(args, text.data, text.len, err) : 0;
    } else {
        *matches = text.len == pattern_n && (!pattern_n || !memcmp(text.data, pattern, pattern_n));
    }
out:
    ebb_buf_fini(&text);
    return rc;
}

int ebb__api_match(const char *pattern, const char *path, struct ebb_strs *args, bool *matches, struct ebb_err *err)
{
    int rc = 0;

    *matches = true;
    for (size_t i = 0; !rc && *matches && i < EBB__API_PATH_PARTS_MAX; i++) {
        size_t pn = strcspn(pattern, "/"), n = strcspn(path, "/");

        rc = take_part(pattern, pn, path, n, args, matches, err);
        if (rc || !*matches)
            return rc;
        pattern += pn;
        path += n;
        if (!*pattern || !*path) {
            *matches = !*pattern && !*path;
            return 0;
        }
        pattern++;
        path++;
    }
    *matches = false;
    return rc;
}

static int add_pair(struct ebb_value *map, const char *text, size_t n, struct ebb_err *err)
{
    const char *equals = memchr(text, '=', n);
    size_t name_n = equals ? (size_t)(equals - text) : n;
    struct ebb_buf name, value;
    int rc;

    ebb_buf_init(&name, DECODED_MAX);
    ebb_buf_init(&value, DECODED_MAX);
    rc = ebb__api_decode(text, name_n, true, &name, err);
    if (!rc && equals)
        rc = ebb__api_decode(equals + 1, n - name_n - 1, true, &value, err);
    if (!rc)
        ebb_value_put_str(map, ebb_buf_cstr(&name), ebb_buf_cstr(&value));
    ebb_buf_fini(&value);
    ebb_buf_fini(&name);
    return rc;
}

int ebb__api_query(const char *query, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *map = ebb_value_new_map(NULL);
    size_t count = 0;
    int rc = map ? 0 : ebb_err_nomem(err);

    *out = NULL;
    while (!rc && *query) {
        size_t n = strcspn(query, "&");

        if (n && count++ >= EBB__API_QUERY_MAX)
            rc = ebb_err_set(err, EBB_EUSAGE, "the query: more than %d parameters", EBB__API_QUERY_MAX);
        else if (n)
            rc = add_pair(map, query, n, err);
        query += n + (query[n] == '&');
    }
    if (!rc)
        rc = ebb_value_check(map, "the query", err);
    if (rc)
        ebb_value_free(map);
    else
        *out = map;
    return rc;
}

/* ---- media types ---- */

static struct ebb_str trim(const char *p, size_t n)
{
    while (n && isspace((unsigned char)*p)) {
        p++;
        n--;
    }
    while (n && isspace((unsigned char)p[n - 1]))
        n--;
    return (struct ebb_str){p, n};
}

static bool is_word(struct ebb_str s, const char *word)
{
    return s.n == strlen(word) && !strncasecmp(s.p, word, s.n);
}

bool ebb__api_is_type(const char *content_type, const char *type)
{
    return content_type && is_word(trim(content_type, strcspn(content_type, ";")), type);
}

/* Whether a range of Accept takes the type: its own name, a wildcard, and for JSON what answers in JSON may be called.
 */
static bool is_in_range(struct ebb_str range, const char *type)
{
    static const char *const JSON[] = {"application/problem+json", "application/vnd.gravitino.v1+json"};
    size_t slash = strcspn(type, "/");

    if (is_word(range, "*/*") || is_word(range, type))
        return true;
    if (range.n == slash + 2 && !strncasecmp(range.p, type, slash + 1) && range.p[slash + 1] == '*')
        return true;
    for (size_t i = 0; !strcmp(type, "application/json") && i < sizeof JSON / sizeof JSON[0]; i++)
        if (is_word(range, JSON[i]))
            return true;
    return false;
}

/* q=0, q=0.0, q=0.000: not acceptable. */
static bool is_refused(struct ebb_str parameters)
{
    for (size_t i = 0; i + 2 < parameters.n; i++)
        if ((parameters.p[i] == 'q' || parameters.p[i] == 'Q') && parameters.p[i + 1] == '=' &&
            (i == 0 || parameters.p[i - 1] == ';' || isspace((unsigned char)parameters.p[i - 1]))) {
            size_t k = i + 2;

            while (k < parameters.n && (parameters.p[k] == '0' || parameters.p[k] == '.'))
                k++;
            return k == parameters.n || parameters.p[k] == ';' || isspace((unsigned char)parameters.p[k]);
        }
    return false;
}

bool ebb__api_accepts(const char *accept, const char *type)
{
    if (!accept || !trim(accept, strlen(accept)).n)
        return true;
    while (*accept) {
        size_t n = strcspn(accept, ","), name_n = strcspn(accept, ";,");
        struct ebb_str parameters = {accept + name_n, n - name_n};

        if (is_in_range(trim(accept, name_n), type) && !is_refused(parameters))
            return true;
        accept += n + (accept[n] == ',');
    }
    return false;
}
