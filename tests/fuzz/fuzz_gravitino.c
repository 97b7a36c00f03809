/* SPDX-License-Identifier: Apache-2.0
 *
 * What a Gravitino server answers, from hostile bytes: an error tells no secret of ours and nothing that a terminal
 * would act on; a token can be a header; a template of jobs is ebb's own only when it has all of ebb's placeholders.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/gravitino_priv.h"
#include "io/oauth2_priv.h"
#include "service/metalake.h"

#define SECRET "s3cr3t"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_error(struct ebb_str body)
{
    static char name[] = "grav", uri[] = "http://h", token[] = SECRET "-" SECRET;
    static const int STATUSES[] = {302, 400, 401, 404, 409, 500, 503};
    struct ebb_gravitino g;
    struct ebb_err err = {.error = EBB_OK};
    char type[64];

    memset(&g, 0, sizeof g);
    g.name = name;
    g.uri = uri;
    g.token = token;
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++) {
        require(ebb__gravitino_refused(&g, &(struct ebb__gravitino_about){"x", uri}, STATUSES[i], body, type, &err) <
                0);
        require(!strstr(err.message, token) && !strstr(type, token) && strlen(type) < sizeof type);
        for (const char *p = err.message; *p; p++)
            require((unsigned char)*p >= ' ');
    }
}

static void check_token(struct ebb_str json)
{
    char *token = NULL;
    int64_t expires_s = 0;

    if (!ebb__oauth2_read(json, &token, &expires_s, NULL)) {
        require(token && token[0] && expires_s >= -1);
        for (const char *p = token; *p; p++)
            require(*p > ' ' && *p < 0x7f);
    }
    free(token);
}

static void check_template(struct ebb_str json)
{
    struct ebb_value *t = NULL;
    struct ebb_buf text;

    if (ebb_value_of_json("template", json.p, json.n, NULL, &t, NULL))
        return;
    if (ebb_metalake_is_ours(t)) {
        ebb_buf_init(&text, (size_t)16 << 20);
        require(ebb_value_to_json(ebb_value_get(t, "arguments"), &text, NULL) == 0);
        require(strstr(ebb_buf_cstr(&text), "\"job\",\"remove-orphan-files\",\"--catalog={{catalog_name}}\",") != NULL);
        require(strstr(ebb_buf_cstr(&text), "\"--dry-run={{dry_run}}\"]") != NULL);
        ebb_buf_fini(&text);
    }
    ebb_value_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ebb_str bytes = {(const char *)data, size};

    check_error(bytes);
    check_token(bytes);
    check_template(bytes);
    return 0;
}
