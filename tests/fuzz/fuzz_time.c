/* SPDX-License-Identifier: Apache-2.0
 *
 * Timestamps, durations and sizes: what is accepted must survive being written and read again.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static void fuzz_timestamp(const char *text)
{
    struct ebb_err err;
    struct ebb_buf b;
    int64_t ms, again;

    ebb_buf_init(&b, 200);
    if (!ebb_time_parse(text, "Europe/Berlin", &ms, &err)) {
        ebb_time_iso(&b, ms);
        if (ms >= INT64_C(-62167219200000) && ms <= INT64_C(253402300799999)) /* years 0 to 9999 */
            check(!ebb_time_parse(ebb_buf_cstr(&b), NULL, &again, NULL) && again == ms);
        ebb_time_sql(&b, ms);
    }
    ebb_buf_fini(&b);
}

static void fuzz_duration(const char *text)
{
    struct ebb_err err;
    struct ebb_buf b;
    int64_t ms, again;

    ebb_buf_init(&b, 200);
    if (!ebb_duration_parse(text, &ms, &err)) {
        check(ms >= 0);
        ebb_duration_format(&b, ms);
        check(!ebb_duration_parse(ebb_buf_cstr(&b), &again, NULL) && again == ms);
    }
    ebb_buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_err err;
    uint64_t bytes;
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    fuzz_timestamp(text);
    fuzz_duration(text);
    (void)ebb_size_parse(text, &bytes, &err);
    free(text);
    return 0;
}
