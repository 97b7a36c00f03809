/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tables overlap: locations sorted by their components, so that what lies below a folder follows it. Only those
 * that come together so are compared by the rules of locations.
 */
#include <stdlib.h>

#include "base/location.h"
#include "service/daemon_priv.h"

#define DEPTH_MAX 64 /* folders around one another that are compared; more count without being compared */

struct place {
    char *key;
    struct ebb__entry *entry;
};

/* Scheme is left out and the authority cut at its first '.' or ':', since several spellings may mean one place; the
 * comparison tells. '/' becomes the least byte. */
static char *make_key(const char *location)
{
    struct ebb_location parts;
    struct ebb_buf key;
    char *out;

    ebb_buf_init(&key, 2 * EBB_LOCATION_MAX_BYTES);
    if (ebb_location_split(location, strlen(location), &parts, NULL) == 0) {
        for (size_t i = 0; i < parts.authority.n && !strchr(".:", parts.authority.p[i]); i++) {
            char c = parts.authority.p[i];

            ebb_buf_putc(&key, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
        }
        if (ebb_path_normalise(parts.path, &key, NULL))
            ebb_buf_add_str(&key, parts.path);
    }
    while (key.len && key.data[key.len - 1] == '/')
        key.len--;
    ebb_buf_putc(&key, '/');
    for (size_t i = 0; i < key.len; i++)
        if (key.data[i] == '/')
            key.data[i] = 1;
    out = ebb_buf_take(&key);
    ebb_buf_fini(&key);
    return out;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->key, ((const struct place *)b)->key);
}

static bool is_below(const char *key, const char *above)
{
    return strncmp(key, above, strlen(above)) == 0;
}

static bool do_overlap(const struct ebb__entry *a, const struct ebb__entry *b)
{
    bool inside = false, around = false;

    ebb_location_contains(a->location, b->location, NULL, &inside, NULL);
    ebb_location_contains(b->location, a->location, NULL, &around, NULL);
    return inside || around;
}

static void sweep(struct place *places, size_t count)
{
    size_t stack[DEPTH_MAX], depth = 0;

    for (size_t i = 0; i < count; i++) {
        while (depth && !is_below(places[i].key, places[stack[depth - 1]].key))
            depth--;
        for (size_t k = 0; k < depth; k++)
            if (do_overlap(places[stack[k]].entry, places[i].entry)) {
                places[stack[k]].entry->overlaps++;
                places[i].entry->overlaps++;
            }
        if (depth == DEPTH_MAX)
            places[i].entry->overlaps++;
        else
            stack[depth++] = i;
    }
}

int ebb__view_overlaps(struct ebb__view *view, struct ebb_err *err)
{
    struct place *places = calloc(view->count + 1, sizeof *places);
    size_t count = 0;
    int rc = places ? 0 : ebb_err_nomem(err);

    for (size_t i = 0; !rc && i < view->count; i++) {
        view->entries[i].overlaps = 0;
        if (!view->entries[i].location)
            continue;
        places[count].entry = &view->entries[i];
        places[count].key = make_key(view->entries[i].location);
        if (!places[count++].key)
            rc = ebb_err_nomem(err);
    }
    if (!rc && count)
        qsort(places, count, sizeof *places, by_key);
    if (!rc)
        sweep(places, count);
    for (size_t i = 0; i < count; i++)
        free(places[i].key);
    free(places);
    for (size_t i = 0; !rc && i < view->count; i++)
        if (view->is_unknown && !view->entries[i].overlaps)
            view->entries[i].overlaps = -1;
    return rc;
}
