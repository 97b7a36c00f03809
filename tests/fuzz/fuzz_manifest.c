/* SPDX-License-Identifier: Apache-2.0
 *
 * Manifest lists and manifests from arbitrary bytes. What is accepted must keep its promises.
 */
#include <stdlib.h>

#include "format/manifest.h"

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static int on_ref(void *data, const struct ebb_manifest_ref *ref, struct ebb_err *err)
{
    (void)data;
    (void)err;
    promise(ref->path.n > 0 && !memchr(ref->path.p, '\0', ref->path.n));
    promise(ref->length >= 0 && (ref->content == 0 || ref->content == 1));
    promise(ref->added_files >= -1 && ref->existing_files >= -1 && ref->deleted_files >= -1);
    return 0;
}

static int on_entry(void *data, const struct ebb_manifest_entry *entry, struct ebb_err *err)
{
    int64_t *count = data;

    (void)err;
    promise(entry->file_path.n > 0 && !memchr(entry->file_path.p, '\0', entry->file_path.n));
    promise(entry->status == EBB_ENTRY_EXISTING || entry->status == EBB_ENTRY_ADDED ||
            entry->status == EBB_ENTRY_DELETED);
    promise(entry->content >= 0 && entry->content <= 2);
    ++*count;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct ebb_manifest_counts counts;
    struct ebb_avro_reader *reader;
    struct ebb_err err;
    int64_t count = 0;
    int rc;

    if (ebb_avro_reader_new(&reader, &err))
        return 0;
    rc = ebb_manifest_list_read(reader, "fuzz", bytes, n, on_ref, NULL, &err);
    promise(rc == 0 || rc == -(int)err.error);
    promise(rc != -EBB_ECORRUPT);
    rc = ebb_manifest_read(reader, "fuzz", bytes, n, on_entry, &count, &counts, &err);
    promise(rc == 0 || rc == -(int)err.error);
    promise(rc != -EBB_ECORRUPT);
    promise(rc != 0 || counts.added + counts.existing + counts.deleted == count);
    ebb_avro_reader_free(reader);
    return 0;
}
