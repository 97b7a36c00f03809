/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON reader: any bytes. What it accepts must be accepted again as the raw value of itself, by skipping.
 */
#include <stdlib.h>

#include "format/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int walk(const uint8_t *data, size_t size)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "fuzz", data, size);
    do
        rc = ebb_json_next(&j, NULL);
    while (!rc && j.kind != EBB_JSON_END);
    ebb_json_fini(&j);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_json j;
    struct ebb_str raw = {NULL, 0};
    int rc;

    ebb_json_init(&j, "fuzz", data, size);
    rc = ebb_json_next(&j, NULL);
    if (!rc)
        rc = ebb_json_raw(&j, &raw, NULL);
    if (!rc)
        rc = ebb_json_expect(&j, EBB_JSON_END, "end", NULL);
    ebb_json_fini(&j);
    if (!rc != !walk(data, size) || (!rc && walk((const uint8_t *)raw.p, raw.n)))
        abort();
    return 0;
}
