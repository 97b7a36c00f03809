/* SPDX-License-Identifier: Apache-2.0
 *
 * Names here are those of the specification: canonical request, string to sign, signing key.
 */
#include "io/sigv4.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ALGORITHM "AWS4-HMAC-SHA256"
#define DIGEST_BYTES 32
#define TEXT_MAX ((size_t)1 << 20)

static void to_hex(const unsigned char *bytes, size_t n, char *out)
{
    static const char DIGITS[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = DIGITS[bytes[i] >> 4];
        out[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    out[2 * n] = '\0';
}

int ebb_sha256_hex(const void *bytes, size_t n, char out[EBB_SHA256_HEX], struct ebb_err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;

    if (!EVP_Digest(n ? bytes : "", n, digest, &length, EVP_sha256(), NULL) || length != DIGEST_BYTES)
        return ebb_err_set(err, EBB_EINTERNAL, "SHA-256: the library failed");
    to_hex(digest, length, out);
    return 0;
}

static int hmac(const void *key, size_t key_n, const char *text, unsigned char out[DIGEST_BYTES], struct ebb_err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;

    if (!HMAC(EVP_sha256(), key, (int)key_n, (const unsigned char *)text, strlen(text), digest, &length) ||
        length != DIGEST_BYTES)
        return ebb_err_set(err, EBB_EINTERNAL, "HMAC: the library failed");
    memcpy(out, digest, DIGEST_BYTES);
    return 0;
}

/* "20260102T030405Z" */
struct stamp {
    char text[20];
    char date[10];
};

static void make_stamp(int64_t now_ms, struct stamp *out)
{
    time_t s = (time_t)(now_ms / 1000);
    struct tm tm;

    memset(out, 0, sizeof *out);
    gmtime_r(&s, &tm);
    strftime(out->text, sizeof out->text, "%Y%m%dT%H%M%SZ", &tm);
    memcpy(out->date, out->text, 8);
}

static bool is_s3(const struct ebb_sigv4_request *r)
{
    return !strcmp(r->service, "s3");
}

/* ---- headers ---- */

/* One that is signed: "name:value". */
static int add_signed(struct ebb_strs *lines, struct ebb_str name, struct ebb_str value, struct ebb_err *err)
{
    struct ebb_buf line;
    bool in_blank = false;
    int rc;

    ebb_buf_init(&line, TEXT_MAX);
    for (size_t i = 0; i < name.n; i++)
        ebb_buf_putc(&line, (char)tolower((unsigned char)name.p[i]));
    ebb_buf_putc(&line, ':');
    while (value.n && (value.p[0] == ' ' || value.p[0] == '\t'))
        value.p++, value.n--;
    while (value.n && (value.p[value.n - 1] == ' ' || value.p[value.n - 1] == '\t'))
        value.n--;
    for (size_t i = 0; i < value.n; i++) {
        bool is_blank = value.p[i] == ' ' || value.p[i] == '\t';

        if (!is_blank || !in_blank)
            ebb_buf_putc(&line, is_blank ? ' ' : value.p[i]);
        in_blank = is_blank;
    }
    rc = ebb_buf_check(&line, "header", err);
    if (!rc)
        rc = ebb_strs_add(lines, ebb_buf_cstr(&line), err);
    ebb_buf_fini(&line);
    return rc;
}

static int add_own(struct ebb_strs *lines, const char *name, const char *value, struct ebb_err *err)
{
    return add_signed(lines, ebb_str_of(name), ebb_str_of(value), err);
}

static size_t name_length(const char *line)
{
    return strcspn(line, ":");
}

static int compare_lines(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t m = name_length(x), n = name_length(y);
    int order = memcmp(x, y, m < n ? m : n);

    return order ? order : (m > n) - (m < n);
}

static bool is_header(const char *line, const char *name)
{
    return name_length(line) == strlen(name) && !memcmp(line, name, strlen(name));
}

/* All that is signed, sorted by name: what is sent, host, and what signing adds. */
static int gather_headers(const struct ebb_sigv4_request *r, const struct stamp *stamp, struct ebb_strs *lines,
                          struct ebb_err *err)
{
    bool has_date = false;
    int rc = add_own(lines, "host", r->host, err);

    for (size_t i = 0; !rc && r->headers && i < r->headers->count; i++) {
        const char *line = r->headers->items[i];
        size_t n = name_length(line);

        rc = add_signed(lines, (struct ebb_str){line, n}, ebb_str_of(line[n] ? line + n + 1 : ""), err);
        has_date = has_date || (!rc && is_header(lines->items[lines->count - 1], "x-amz-date"));
    }
    if (!rc && !has_date)
        rc = add_own(lines, "x-amz-date", stamp->text, err);
    if (!rc && is_s3(r))
        rc = add_own(lines, "x-amz-content-sha256", r->payload_sha256, err);
    if (!rc && r->keys.session_token && r->keys.session_token[0])
        rc = add_own(lines, "x-amz-security-token", r->keys.session_token, err);
    if (!rc)
        qsort(lines->items, lines->count, sizeof lines->items[0], compare_lines);
    return rc;
}

/* Headers of one name become one line, values joined by commas in the order in which they were given; qsort does not
 * keep that order, so such headers are not sent by anything here but kept right for what is given sorted. */
static void write_headers(const struct ebb_strs *lines, struct ebb_buf *out)
{
    for (size_t i = 0; i < lines->count; i++) {
        size_t n = name_length(lines->items[i]);
        bool is_more =
            i > 0 && name_length(lines->items[i - 1]) == n && !memcmp(lines->items[i - 1], lines->items[i], n);

        if (is_more)
            ebb_buf_printf(out, ",%s", lines->items[i] + n + 1);
        else
            ebb_buf_printf(out, "%s%s", i ? "\n" : "", lines->items[i]);
    }
    ebb_buf_putc(out, '\n');
}

static void write_names(const struct ebb_strs *lines, struct ebb_buf *out)
{
    for (size_t i = 0; i < lines->count; i++) {
        size_t n = name_length(lines->items[i]);

        if (i > 0 && name_length(lines->items[i - 1]) == n && !memcmp(lines->items[i - 1], lines->items[i], n))
            continue;
        if (i > 0)
            ebb_buf_putc(out, ';');
        ebb_buf_append(out, lines->items[i], n);
    }
}

/* ---- query and path ---- */

struct part {
    struct ebb_str name, value;
};

static int compare_texts(struct ebb_str a, struct ebb_str b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int order = compare_texts(x->name, y->name);

    return order ? order : compare_texts(x->value, y->value);
}

static struct part part_of(const char *at, size_t n)
{
    const char *equals = memchr(at, '=', n);
    size_t name = equals ? (size_t)(equals - at) : n;

    return (struct part){{at, name}, {equals ? equals + 1 : at + n, equals ? n - name - 1 : 0}};
}

static int write_query(const char *query, struct ebb_buf *out, struct ebb_err *err)
{
    size_t count = 0, most = 1;
    struct part *parts;

    if (!query || !query[0])
        return 0;
    for (const char *p = query; *p; p++)
        most += *p == '&';
    parts = calloc(most, sizeof *parts);
    if (!parts)
        return ebb_err_nomem(err);
    for (const char *p = query; *p;) {
        size_t n = strcspn(p, "&");

        if (n)
            parts[count++] = part_of(p, n);
        p += n + (p[n] == '&');
    }
    qsort(parts, count, sizeof *parts, compare_parts);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            ebb_buf_putc(out, '&');
        ebb_buf_add_str(out, parts[i].name);
        ebb_buf_putc(out, '=');
        ebb_buf_add_str(out, parts[i].value);
    }
    free(parts);
    return 0;
}

/* What is sent, encoded once more ('%' becomes %25) and without empty, "." and ".." segments: not for S3. */
static void write_normal_path(const char *path, struct ebb_buf *out)
{
    static const char KEPT[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t n;

    for (const char *p = path; *p; p += n) {
        p += strspn(p, "/");
        n = strcspn(p, "/");
        if (!n || (n == 1 && p[0] == '.'))
            continue;
        if (n == 2 && p[0] == '.' && p[1] == '.') {
            while (out->len > 0 && out->data[--out->len] != '/')
                ;
            continue;
        }
        ebb_buf_putc(out, '/');
        for (size_t i = 0; i < n; i++)
            if (strchr(KEPT, p[i]))
                ebb_buf_putc(out, p[i]);
            else
                ebb_buf_printf(out, "%%%02X", (unsigned)(unsigned char)p[i]);
    }
    n = strlen(path);
    if (!out->len || (n && path[n - 1] == '/' && out->data[out->len - 1] != '/'))
        ebb_buf_putc(out, '/');
}

static int write_path(const struct ebb_sigv4_request *r, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_buf path;
    int rc;

    if (is_s3(r)) {
        ebb_buf_puts(out, r->path && r->path[0] ? r->path : "/");
        return 0;
    }
    ebb_buf_init(&path, TEXT_MAX);
    write_normal_path(r->path ? r->path : "", &path);
    rc = ebb_buf_check(&path, "path", err);
    ebb_buf_add_str(out, ebb_buf_str(&path));
    ebb_buf_fini(&path);
    return rc;
}

/* ---- signing ---- */

static int write_request(const struct ebb_sigv4_request *r, const struct ebb_strs *lines, struct ebb_buf *out,
                         struct ebb_err *err)
{
    int rc;

    ebb_buf_printf(out, "%s\n", r->method);
    rc = write_path(r, out, err);
    ebb_buf_putc(out, '\n');
    if (!rc)
        rc = write_query(r->query, out, err);
    ebb_buf_putc(out, '\n');
    write_headers(lines, out);
    ebb_buf_putc(out, '\n');
    write_names(lines, out);
    ebb_buf_printf(out, "\n%s", r->payload_sha256);
    return rc ? rc : ebb_buf_check(out, "canonical request", err);
}

static int write_to_sign(const struct ebb_sigv4_request *r, const struct stamp *stamp, struct ebb_str request,
                         struct ebb_buf *out, struct ebb_err *err)
{
    char hash[EBB_SHA256_HEX];
    int rc = ebb_sha256_hex(request.p, request.n, hash, err);

    if (rc)
        return rc;
    ebb_buf_printf(out, ALGORITHM "\n%s\n%s/%s/%s/aws4_request\n%s", stamp->text, stamp->date, r->region, r->service,
                   hash);
    return ebb_buf_check(out, "string to sign", err);
}

static int sign_text(const struct ebb_sigv4_request *r, const struct stamp *stamp, const char *text,
                     char out[EBB_SHA256_HEX], struct ebb_err *err)
{
    const char *steps[] = {stamp->date, r->region, r->service, "aws4_request", text};
    unsigned char key[DIGEST_BYTES];
    struct ebb_buf secret;
    int rc;

    ebb_buf_init(&secret, TEXT_MAX);
    ebb_buf_printf(&secret, "AWS4%s", r->keys.secret_access_key);
    rc = ebb_buf_check(&secret, "secret", err);
    if (!rc)
        rc = hmac(secret.data, secret.len, steps[0], key, err);
    for (size_t i = 1; !rc && i < sizeof steps / sizeof steps[0]; i++)
        rc = hmac(key, sizeof key, steps[i], key, err);
    if (!rc)
        to_hex(key, sizeof key, out);
    if (secret.data)
        OPENSSL_cleanse(secret.data, secret.len);
    OPENSSL_cleanse(key, sizeof key);
    ebb_buf_fini(&secret);
    return rc;
}

static int add_line(struct ebb_strs *out, const char *name, const char *value, struct ebb_err *err)
{
    struct ebb_buf line;
    int rc;

    ebb_buf_init(&line, TEXT_MAX);
    ebb_buf_printf(&line, "%s: %s", name, value);
    rc = ebb_buf_check(&line, name, err);
    if (!rc)
        rc = ebb_strs_add(out, ebb_buf_cstr(&line), err);
    ebb_buf_fini(&line);
    return rc;
}

static int add_authorization(const struct ebb_sigv4_request *r, const struct stamp *stamp, const struct ebb_strs *lines,
                             const char *signature, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_buf value;
    int rc;

    ebb_buf_init(&value, TEXT_MAX);
    ebb_buf_printf(&value, ALGORITHM " Credential=%s/%s/%s/%s/aws4_request, SignedHeaders=", r->keys.access_key_id,
                   stamp->date, r->region, r->service);
    write_names(lines, &value);
    ebb_buf_printf(&value, ", Signature=%s", signature);
    rc = ebb_buf_check(&value, "Authorization", err);
    if (!rc)
        rc = add_line(out, "Authorization", ebb_buf_cstr(&value), err);
    ebb_buf_fini(&value);
    return rc;
}

static bool has_header(const struct ebb_strs *lines, const char *name)
{
    for (size_t i = 0; lines && i < lines->count; i++)
        if (name_length(lines->items[i]) == strlen(name)) {
            bool same = true;

            for (size_t k = 0; same && name[k]; k++)
                same = tolower((unsigned char)lines->items[i][k]) == name[k];
            if (same)
                return true;
        }
    return false;
}

static int add_all(const struct ebb_sigv4_request *r, const struct stamp *stamp, const struct ebb_strs *lines,
                   const char *signature, struct ebb_strs *out, struct ebb_err *err)
{
    int rc = add_authorization(r, stamp, lines, signature, out, err);

    if (!rc && !has_header(r->headers, "x-amz-date"))
        rc = add_line(out, "x-amz-date", stamp->text, err);
    if (!rc && is_s3(r))
        rc = add_line(out, "x-amz-content-sha256", r->payload_sha256, err);
    if (!rc && r->keys.session_token && r->keys.session_token[0])
        rc = add_line(out, "x-amz-security-token", r->keys.session_token, err);
    return rc;
}

int ebb_sigv4_explain(const struct ebb_sigv4_request *r, struct ebb_buf *canonical_request,
                      struct ebb_buf *string_to_sign, struct ebb_err *err)
{
    struct ebb_strs lines;
    struct ebb_buf request;
    struct stamp stamp;
    int rc;

    ebb_strs_init(&lines);
    ebb_buf_init(&request, TEXT_MAX);
    make_stamp(r->now_ms, &stamp);
    rc = gather_headers(r, &stamp, &lines, err);
    if (!rc)
        rc = write_request(r, &lines, &request, err);
    if (!rc && canonical_request)
        ebb_buf_add_str(canonical_request, ebb_buf_str(&request));
    if (!rc && string_to_sign)
        rc = write_to_sign(r, &stamp, ebb_buf_str(&request), string_to_sign, err);
    ebb_buf_fini(&request);
    ebb_strs_fini(&lines);
    return rc;
}

int ebb_sigv4_sign(const struct ebb_sigv4_request *r, struct ebb_strs *out, struct ebb_err *err)
{
    char signature[EBB_SHA256_HEX];
    struct ebb_strs lines;
    struct ebb_buf text;
    struct stamp stamp;
    int rc;

    ebb_strs_init(&lines);
    ebb_buf_init(&text, TEXT_MAX);
    make_stamp(r->now_ms, &stamp);
    rc = gather_headers(r, &stamp, &lines, err);
    if (!rc)
        rc = ebb_sigv4_explain(r, NULL, &text, err);
    if (!rc)
        rc = sign_text(r, &stamp, ebb_buf_cstr(&text), signature, err);
    if (!rc)
        rc = add_all(r, &stamp, &lines, signature, out, err);
    ebb_buf_fini(&text);
    ebb_strs_fini(&lines);
    return rc;
}
