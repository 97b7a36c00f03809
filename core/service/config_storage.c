/* SPDX-License-Identifier: Apache-2.0
 *
 * storage = { s3 = { … } }: where object stores are, and with which keys.
 */
#include <stdlib.h>

#include "service/config_priv.h"

#define REQUESTS_MAX 256

static int take_texts(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    struct ebb_s3_config *c = &r->c->s3;
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"endpoint", &c->endpoint},
                 {"region", &c->aws.region},
                 {"access_key_id", &c->aws.access_key_id},
                 {"secret_access_key", &c->aws.secret_access_key},
                 {"session_token", &c->aws.session_token},
                 {"profile", &c->aws.profile}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct ebb_value *text = ebb_value_get(v, texts[i].key);

        *texts[i].to = ebb__config_text(text);
        if (text && (!*texts[i].to || !**texts[i].to))
            return ebb__config_fail_in(r, err, "storage.s3", texts[i].key, "text is wanted");
    }
    if (!c->aws.access_key_id != !c->aws.secret_access_key)
        return ebb__config_fail(r, err, "storage.s3",
                                "access_key_id and secret_access_key are wanted both, or neither");
    return c->aws.session_token && !c->aws.access_key_id
               ? ebb__config_fail_in(r, err, "storage.s3", "session_token", "goes with access_key_id only")
               : 0;
}

static int take_requests(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    int64_t n = ebb_value_int_of(v, "requests", 0);

    if (ebb_value_get(v, "requests") && (n < 1 || n > REQUESTS_MAX))
        return ebb__config_fail_in(r, err, "storage.s3", "requests", "a number from 1 to 256 is wanted");
    r->c->s3.requests = (unsigned)n;
    return 0;
}

/* The path is relative to the file's folder. */
static int take_ca_file(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    int rc = ebb__config_take_text(r, v, "storage.s3", "ca_file", false, &r->c->s3_ca_file, err);

    if (!rc)
        rc = ebb__config_absolute(r, &r->c->s3_ca_file, err);
    r->c->s3.ca_file = r->c->s3_ca_file;
    return rc;
}

static int read_s3(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"endpoint",      "region",  "path_style", "access_key_id", "secret_access_key",
                                       "session_token", "profile", "ca_file",    "requests"};
    bool path_style = false;
    int rc = ebb__config_check_keys(r, v, "storage.s3", KEYS, sizeof KEYS / sizeof KEYS[0], err);

    if (!rc)
        rc = take_texts(r, v, err);
    if (!rc)
        rc = take_ca_file(r, v, err);
    if (!rc)
        rc = take_requests(r, v, err);
    if (!rc)
        rc = ebb__config_take_bool(r, v, "storage.s3", "path_style", &path_style, err);
    if (!rc && ebb_value_get(v, "path_style"))
        r->c->s3.path_style = path_style;
    return rc;
}

int ebb__config_read_storage(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"s3"};
    int rc = v ? ebb__config_check_keys(r, v, "storage", KEYS, 1, err) : 0;

    if (rc || !ebb_value_get(v, "s3"))
        return rc;
    return read_s3(r, ebb_value_get(v, "s3"), err);
}
