/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of runs, lock files, and names below a location: what restore reads from a folder that anyone may have
 * written to. A name that is taken must be plain, whatever the bytes.
 */
#include <stdlib.h>

#include "table/lock_text_priv.h"
#include "table/name_priv.h"
#include "table/quarantine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char LOCATION[] = "file:/srv//lake/t";

static int on_header(void *data, const struct ebb_run_header *header, struct ebb_err *err)
{
    (void)data;
    (void)err;
    if (!header->run || !header->plan.location)
        abort();
    return 0;
}

static int on_file(void *data, const struct ebb_run_file *file, struct ebb_err *err)
{
    struct ebb_buf name;

    (void)data;
    (void)err;
    if (!ebb__name_is_safe(file->target) || file->id.n == 0 || file->id.n >= EBB_STAT_ID_MAX)
        abort();
    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    if (ebb__name_of(LOCATION, file->path, NULL, &name, NULL) == 0 && !ebb__name_is_safe(ebb_buf_str(&name)))
        abort();
    ebb_buf_fini(&name);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ebb_run_reader reader = {on_header, on_file, NULL};
    struct ebb_str bytes = {(const char *)data, size};
    struct ebb__lock_text lock;
    struct ebb_err err;

    ebb_run_record_parse("fuzz", bytes, &reader, &err);
    if (ebb__lock_text_parse(bytes, &lock, &err) == 0 && (lock.epoch <= 0 || lock.expires_ms <= 0))
        abort();
    return 0;
}
