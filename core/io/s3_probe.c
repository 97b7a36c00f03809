/* SPDX-License-Identifier: Apache-2.0
 *
 * What a server really does, found out by asking: servers differ in what they say of themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/s3_priv.h"

/* A prefix that reads otherwise once it is encoded: a blank, a plus, a percent sign. */
#define PROBE " +%"

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool ebb__s3_decode(struct ebb_str text, struct ebb_buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '+') {
            ebb_buf_putc(out, ' ');
        } else if (text.p[i] != '%') {
            ebb_buf_putc(out, text.p[i]);
        } else {
            int high = i + 2 < text.n ? digit(text.p[i + 1]) : -1;
            int low = i + 2 < text.n ? digit(text.p[i + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            ebb_buf_putc(out, (char)(high * 16 + low));
            i += 2;
        }
    }
    return true;
}

static int on_prefix(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err)
{
    struct ebb_buf *prefix = data;

    (void)err;
    if (depth == 1 && !strcmp(name, "Prefix"))
        ebb_buf_add_str(prefix, text);
    return 0;
}

int ebb__s3_probe_encoding(struct ebb_s3 *s3, const char *bucket, struct ebb_err *err)
{
    static const struct ebb__xml_ops OPS = {NULL, on_prefix};
    const struct ebb__s3_call call = {
        .method = "GET", .bucket = bucket, .query = "encoding-type=url&list-type=2&max-keys=1&prefix=%20%2B%25"};
    struct ebb__s3_got got;
    struct ebb_buf prefix;
    int rc;

    if (s3->encoding != EBB__S3_UNPROBED)
        return 0;
    ebb_buf_init(&prefix, 4096);
    rc = ebb__s3_do(s3, &call, &got, err);
    if (!rc)
        rc = ebb__xml_parse("listing", ebb_buf_str(&got.body), &OPS, &prefix, err);
    if (!rc)
        s3->encoding = !strcmp(ebb_buf_cstr(&prefix), "%20%2B%25") || !strcmp(ebb_buf_cstr(&prefix), "+%2B%25")
                           ? EBB__S3_ENCODED
                           : EBB__S3_RAW;
    ebb_buf_fini(&prefix);
    ebb__s3_got_fini(&got);
    return rc;
}

/* ---- conditions ---- */

static int probe_delete(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, bool *honours, struct ebb_err *err)
{
    struct ebb_s3_object object;
    int rc = ebb_s3_delete(s3, bucket, key, "\"00000000000000000000000000000000\"", err);

    *honours = rc == -EBB_ECHANGED;
    if (rc && rc != -EBB_ECHANGED && rc != -EBB_EUNSUPPORTED)
        return rc;
    if (*honours)
        *honours = ebb_s3_head(s3, bucket, key, &object, NULL) == 0; /* said so, and did so */
    return 0;
}

int ebb_s3_probe(struct ebb_s3 *s3, const char *bucket, struct ebb_str key_prefix, struct ebb_s3_abilities *out,
                 struct ebb_err *err)
{
    struct ebb_buf name;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_buf_init(&name, 4096);
    ebb_buf_add_str(&name, key_prefix);
    ebb_buf_printf(&name, "probe-%ld-%llx", (long)getpid(), (unsigned long long)ebb_clock_now(&s3->clock));
    rc = ebb_buf_check(&name, "object name", err);
    if (!rc)
        rc = ebb_s3_put(s3, bucket, ebb_buf_str(&name), "probe", 5, false, err);
    if (rc)
        goto out;
    out->puts_if_none_match = ebb_s3_put(s3, bucket, ebb_buf_str(&name), "again", 5, true, NULL) == -EBB_EEXIST;
    rc = probe_delete(s3, bucket, ebb_buf_str(&name), &out->deletes_if_match, err);
    if (rc)
        ebb_s3_delete(s3, bucket, ebb_buf_str(&name), NULL, NULL);
    else
        rc = ebb_s3_delete(s3, bucket, ebb_buf_str(&name), NULL, err);
out:
    ebb_buf_fini(&name);
    return rc;
}
