/* SPDX-License-Identifier: Apache-2.0 */
#include "format/json_priv.h"

#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

#define LINEAR_MAX 16
#define FIRST_SLOT_BITS 8

/* Multiply-shift by an odd secret: keys chosen by an enemy still spread. */
static size_t first_slot(const struct ebb_json_keys *keys, uint64_t hash)
{
    return (size_t)((hash * keys->seed) >> (64 - keys->slot_bits));
}

/* The slot that holds the hash, or the empty one where it would go. */
static size_t find_slot(const struct ebb_json_keys *keys, uint64_t hash)
{
    size_t mask = ((size_t)1 << keys->slot_bits) - 1;
    size_t at = first_slot(keys, hash);

    while (keys->slots[at] && keys->slots[at] != hash)
        at = (at + 1) & mask;
    return at;
}

static void choose_seed(struct ebb_json_keys *keys)
{
    if (getrandom(&keys->seed, sizeof keys->seed, GRND_NONBLOCK) != (ssize_t)sizeof keys->seed)
        keys->seed = (uint64_t)(uintptr_t)keys->hashes * 0x9E3779B97F4A7C15u;
    keys->seed |= 1;
}

static bool make_slots(struct ebb_json_keys *keys)
{
    int bits = keys->slots ? keys->slot_bits + 1 : FIRST_SLOT_BITS;
    uint64_t *slots;

    while (((size_t)1 << bits) < keys->count * 4)
        bits++;
    slots = calloc((size_t)1 << bits, sizeof *slots);
    if (!slots)
        return false;
    if (!keys->slots)
        choose_seed(keys);
    free(keys->slots);
    keys->slots = slots;
    keys->slot_bits = bits;
    for (size_t i = 0; i < keys->count; i++)
        slots[find_slot(keys, keys->hashes[i])] = keys->hashes[i];
    return true;
}

static bool grow_stack(struct ebb_json_keys *keys)
{
    size_t cap = keys->cap ? keys->cap * 2 : 32;
    uint64_t *hashes = realloc(keys->hashes, cap * sizeof *hashes);

    if (!hashes)
        return false;
    keys->hashes = hashes;
    keys->cap = cap;
    return true;
}

static bool is_in_range(const struct ebb_json_keys *keys, size_t base, uint64_t hash)
{
    for (size_t i = base; i < keys->count; i++)
        if (keys->hashes[i] == hash)
            return true;
    return false;
}

static bool needs_slots(const struct ebb_json_keys *keys, size_t base)
{
    if (!keys->slots)
        return keys->count - base >= LINEAR_MAX;
    return keys->count * 2 >= (size_t)1 << keys->slot_bits;
}

enum ebb__json_added ebb__json_keys_add(struct ebb_json_keys *keys, size_t base, int depth, struct ebb_str key)
{
    uint64_t hash = XXH3_64bits(key.p, key.n) ^ (uint64_t)depth * 0x9E3779B97F4A7C15u;
    size_t slot;

    if (!hash)
        hash = 1;
    if (keys->count >= EBB_JSON_MAX_KEYS)
        return EBB__JSON_TOO_MANY_KEYS;
    if ((keys->count == keys->cap && !grow_stack(keys)) || (needs_slots(keys, base) && !make_slots(keys)))
        return EBB__JSON_NO_MEMORY;
    if (keys->slots) {
        slot = find_slot(keys, hash);
        if (keys->slots[slot])
            return EBB__JSON_REPEATED_KEY;
        keys->slots[slot] = hash;
    } else if (is_in_range(keys, base, hash)) {
        return EBB__JSON_REPEATED_KEY;
    }
    keys->hashes[keys->count++] = hash;
    return EBB__JSON_NEW_KEY;
}

/* Last in, first out: then an open-addressed slot may simply be emptied. */
void ebb__json_keys_drop(struct ebb_json_keys *keys, size_t base)
{
    while (keys->count > base) {
        uint64_t hash = keys->hashes[--keys->count];

        if (keys->slots)
            keys->slots[find_slot(keys, hash)] = 0;
    }
}

void ebb__json_keys_fini(struct ebb_json_keys *keys)
{
    free(keys->hashes);
    free(keys->slots);
    memset(keys, 0, sizeof *keys);
}
