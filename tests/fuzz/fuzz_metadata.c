/* SPDX-License-Identifier: Apache-2.0
 *
 * Table metadata: any bytes, plain or gzip. What parses has an identity, and it is the same one.
 */
#include <stdlib.h>

#include "format/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ebb_metadata *m, const struct ebb_metadata_identity *id)
{
    if (!id->location || strcmp(id->location, m->location) || !id->uuid != !m->uuid || id->is_cut)
        abort();
    if (m->uuid && strcmp(id->uuid, m->uuid))
        abort();
    for (size_t i = 0; i < m->snapshot_count; i++)
        if (ebb_metadata_snapshot(m, m->snapshots[i].id) != &m->snapshots[i])
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_metadata *m;
    struct ebb_metadata_identity id;
    struct ebb_arena arena;
    int rc = ebb_metadata_parse("fuzz.metadata.json", data, size, &m, NULL);

    ebb_arena_init(&arena, SIZE_MAX);
    if (ebb_metadata_identify("fuzz.metadata.json", data, size, &arena, &id, NULL) && !rc)
        abort();
    if (!rc)
        check(m, &id);
    ebb_metadata_free(m);
    ebb_arena_fini(&arena);
    return 0;
}
