/* SPDX-License-Identifier: Apache-2.0
 *
 * What is asked for by POST …/jobs/runs, from hostile bytes: it is taken or answered with an error that is JSON; the
 * values that were taken go into a template, where a text without '\' and '$' arrives as it is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/gravitino_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_answer(struct ebb_api_call *call)
{
    struct ebb_value *answer = NULL;

    require(call->status == 400 || call->status == 500);
    require(ebb_value_of_json("answer", call->out.data, call->out.len, NULL, &answer, NULL) == 0);
    require(ebb_value_text_of(answer, "type") && ebb_value_text_of(answer, "message"));
    ebb_value_free(answer);
}

static void check_value(const struct ebb_value *conf, size_t index)
{
    struct ebb_str key = ebb_value_get_key(conf, index);
    const char *value = ebb_value_get_str(ebb_value_get_at(conf, index));
    struct ebb_buf text, out;
    bool is_name = key.n > 0;

    require(value && !memchr(value, '\0', ebb_value_get_bytes(ebb_value_get_at(conf, index)).n));
    for (size_t i = 0; i < key.n; i++)
        is_name = is_name && (strchr("_.-", key.p[i]) ? key.p[i] != '\0'
                                                      : (key.p[i] >= '0' && key.p[i] <= '9') ||
                                                            ((key.p[i] | 32) >= 'a' && (key.p[i] | 32) <= 'z'));
    ebb_buf_init(&text, (size_t)1 << 20);
    ebb_buf_init(&out, (size_t)1 << 20);
    ebb_buf_printf(&text, "{{%s}}", key.p);
    if (!text.bad && !ebb__template_fill(ebb_buf_cstr(&text), conf, &out, NULL) && is_name && !strpbrk(value, "\\$"))
        require(!strcmp(ebb_buf_cstr(&out), value));
    ebb_buf_fini(&out);
    ebb_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_strs args;
    struct ebb_api_call call = {.status = 200, .args = &args, .body = {(const char *)data, size}};
    struct ebb__run_request request;
    int rc;

    ebb_strs_init(&args);
    ebb_buf_init(&call.out, (size_t)1 << 20);
    rc = ebb__run_request_read(&call, &request, NULL);
    if (rc == EBB__ANSWERED)
        check_answer(&call);
    for (size_t i = 0; !rc && i < ebb_value_get_count(request.conf); i++)
        check_value(request.conf, i);
    ebb__run_request_fini(&request);
    ebb_buf_fini(&call.out);
    return 0;
}
