/* SPDX-License-Identifier: Apache-2.0
 *
 * Locations from hostile bytes: "first[\nsecond]". The normal form is stable, relations agree with it, and a mapped URI
 * stays below its target.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/location.h"
#include "base/uri_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_normal(const char *text, size_t n)
{
    struct ebb_buf once, twice;
    enum ebb_relation relation;

    ebb_buf_init(&once, EBB_LOCATION_MAX_BYTES + 8);
    ebb_buf_init(&twice, EBB_LOCATION_MAX_BYTES + 8);
    if (!ebb_location_normalise(text, n, &once, NULL) && once.len <= EBB_LOCATION_MAX_BYTES) {
        require(!ebb_location_normalise(once.data, once.len, &twice, NULL));
        require(ebb_str_is_equal(ebb_buf_str(&once), ebb_buf_str(&twice)));
        require(!ebb_location_relation(text, once.data, NULL, &relation, NULL));
        require(relation == EBB_RELATION_SAME);
    }
    ebb_buf_fini(&once);
    ebb_buf_fini(&twice);
}

static void check_pair(const char *a, const char *b)
{
    enum ebb_relation relation;
    bool inside;

    if (ebb_location_relation(a, b, NULL, &relation, NULL))
        return;
    require(!ebb_location_contains(a, b, NULL, &inside, NULL));
    if (inside)
        require(relation == EBB_RELATION_SAME || relation == EBB_RELATION_INSIDE);
}

static void check_map(const char *uri)
{
    struct ebb_uri_map *map = NULL;
    struct ebb_buf out, normal;

    ebb_buf_init(&out, EBB_LOCATION_MAX_BYTES * 2);
    ebb_buf_init(&normal, EBB_LOCATION_MAX_BYTES * 2);
    require(!ebb_uri_map_new(&map, NULL) && !ebb_uri_map_add(map, "s3://lake/db", "/target", NULL));
    if (ebb_uri_map_has(map, uri)) {
        require(!ebb_uri_map_local(map, uri, &out, NULL));
        require(!ebb_path_normalise(ebb_buf_str(&out), &normal, NULL));
        require(!strncmp(normal.data, "/target", 7) && (normal.len == 7 || normal.data[7] == '/'));
    }
    ebb_uri_map_free(map);
    ebb_buf_fini(&out);
    ebb_buf_fini(&normal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    char *second;

    require(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    ebb_location_is_hidden((struct ebb_str){text, size}, NULL);
    ebb_location_check_table(text, NULL);
    check_normal(text, strlen(text));
    check_normal(text, size);
    check_map(text);
    second = strchr(text, '\n');
    if (second) {
        *second++ = '\0';
        check_pair(text, second);
    }
    free(text);
    return 0;
}
