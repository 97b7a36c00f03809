/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder under /tmp that is known as file:/w, and small metadata files in it.
 */
#ifndef TEST_WAREHOUSE_HELP_H
#define TEST_WAREHOUSE_HELP_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/catalog.h"
#include "io/file.h"

#define UUID_A "5e0c1c0e-8d1e-4c6a-9b1f-0f3a0b9d2e77"
#define UUID_B "6e0c1c0e-8d1e-4c6a-9b1f-0f3a0b9d2e88"

struct warehouse {
    char root[64];
    struct ebb_uri_map *map;
    struct ebb_storage *storage;
    struct ebb_err err;
};

static inline int warehouse_setup(void **state)
{
    struct warehouse *w = calloc(1, sizeof *w);

    if (!w)
        return -1;
    strncpy(w->root, "/tmp/ebb-warehouse-XXXXXX", sizeof w->root - 1);
    if (!mkdtemp(w->root) || ebb_uri_map_new(&w->map, &w->err) ||
        ebb_uri_map_add(w->map, "file:/w", w->root, &w->err) || ebb_storage_new(w->map, NULL, &w->storage, &w->err))
        return -1;
    *state = w;
    return 0;
}

static inline int warehouse_teardown(void **state)
{
    struct warehouse *w = *state;
    pid_t pid = fork();

    if (pid == 0) {
        execlp("rm", "rm", "-rf", "--", w->root, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
    ebb_storage_free(w->storage);
    ebb_uri_map_free(w->map);
    free(w);
    return 0;
}

/* Write a file, making its folders. */
static inline void put_file(struct warehouse *w, const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", w->root, name);
    *strrchr(path, '/') = '\0';
    assert_int_equal(ebb_file_make_dirs(path, &w->err), 0);
    path[strlen(path)] = '/';
    assert_int_equal(ebb_file_replace(path, text, strlen(text), &w->err), 0);
}

static inline void remove_file(struct warehouse *w, const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", w->root, name);
    assert_int_equal(unlink(path), 0);
}

/* A format version 2 metadata file; `log` is the name of one earlier file, or NULL. */
static inline void put_metadata(struct warehouse *w, const char *name, const char *uuid, int64_t updated_ms,
                                const char *log)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 8192);
    ebb_buf_printf(
        &text,
        "{\"format-version\":2,\"table-uuid\":\"%s\",\"location\":\"file:/w/db/t\",\"last-sequence-number\":0,"
        "\"last-updated-ms\":%lld,\"last-column-id\":1,\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,"
        "\"fields\":[{\"id\":1,\"name\":\"id\",\"required\":true,\"type\":\"long\"}]}],\"current-schema-id\":0,"
        "\"partition-specs\":[{\"spec-id\":0,\"fields\":[]}],\"default-spec-id\":0,\"last-partition-id\":999,"
        "\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"default-sort-order-id\":0,\"properties\":{},"
        "\"snapshots\":[],\"metadata-log\":[",
        uuid, (long long)updated_ms);
    if (log)
        ebb_buf_printf(&text, "{\"timestamp-ms\":1,\"metadata-file\":\"file:/w/db/t/metadata/%s\"}", log);
    ebb_buf_puts(&text, "]}");
    put_file(w, name, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

#endif
