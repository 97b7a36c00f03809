/* SPDX-License-Identifier: Apache-2.0
 *
 * Values from JSON: what is read must come out the same after writing and reading again.
 */
#include <stdlib.h>

#include "engine/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_value *a = NULL, *b = NULL;
    struct ebb_buf text, again;

    if (ebb_value_of_json("fuzz", data, size, NULL, &a, NULL))
        return 0;
    ebb_buf_init(&text, (size_t)64 * 1024 * 1024);
    ebb_buf_init(&again, (size_t)64 * 1024 * 1024);
    if (ebb_value_to_json(a, &text, NULL) || ebb_value_of_json("again", text.data, text.len, NULL, &b, NULL) ||
        ebb_value_to_json(b, &again, NULL) || !ebb_str_is_equal(ebb_buf_str(&text), ebb_buf_str(&again)))
        abort();
    ebb_buf_fini(&again);
    ebb_buf_fini(&text);
    ebb_value_free(b);
    ebb_value_free(a);
    return 0;
}
