/* SPDX-License-Identifier: Apache-2.0 */
#include "table/seen_priv.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

void ebb__seen_init(struct ebb_seen *seen)
{
    memset(seen, 0, sizeof *seen);
    ebb_arena_init(&seen->arena, SIZE_MAX);
}

void ebb__seen_fini(struct ebb_seen *seen)
{
    free(seen->slots);
    ebb_arena_fini(&seen->arena);
    ebb__seen_init(seen);
}

static size_t slot_of(const struct ebb_seen *seen, struct ebb_str path)
{
    size_t i = (size_t)XXH3_64bits(path.p, path.n) & (seen->cap - 1);

    while (seen->slots[i] && !ebb_str_is_equal(seen->slots[i]->path, path))
        i = (i + 1) & (seen->cap - 1);
    return i;
}

struct ebb_seen_entry *ebb__seen_find(const struct ebb_seen *seen, struct ebb_str path)
{
    return seen->cap ? seen->slots[slot_of(seen, path)] : NULL;
}

static bool grow(struct ebb_seen *seen)
{
    struct ebb_seen bigger = *seen;

    bigger.cap = seen->cap ? seen->cap * 2 : 256;
    bigger.slots = calloc(bigger.cap, sizeof(struct ebb_seen_entry *));
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < seen->cap; i++)
        if (seen->slots[i])
            bigger.slots[slot_of(&bigger, seen->slots[i]->path)] = seen->slots[i];
    free(seen->slots);
    *seen = bigger;
    return true;
}

struct ebb_seen_entry *ebb__seen_add(struct ebb_seen *seen, struct ebb_str path)
{
    struct ebb_seen_entry *entry;
    char *copy;

    if (seen->count + 1 > seen->cap / 4 * 3 && !grow(seen))
        return NULL;
    entry = ebb_arena_alloc(&seen->arena, sizeof *entry);
    copy = ebb_arena_dup(&seen->arena, path.p, path.n);
    if (!entry || !copy)
        return NULL;
    entry->path.p = copy;
    entry->path.n = path.n;
    seen->slots[slot_of(seen, path)] = entry;
    seen->count++;
    return entry;
}
