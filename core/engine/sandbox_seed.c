/* SPDX-License-Identifier: Apache-2.0
 *
 * The seed of strings is a fixed number. Lua draws it from the clock and from addresses, and a table whose keys come
 * and go grows at moments that depend on it, so that gas would differ from run to run. Lua has no call for it: the
 * state's own memory is looked at between its first and its second allocation, when no string was hashed yet. Where it
 * does not look as in all releases of Lua 5.4, the seed stays what it is. (What a known seed makes possible, texts that
 * all meet in one chain, is met by the deadline, as for numbers.)
 */
#include "engine/sandbox_priv.h"

#define SEED 0x6d6f6f6eu
#define TAG_INTEGER 3 /* of the value that says: not yet built */

struct value {
    union {
        lua_Integer number;
        void *pointer;
    } as;
    unsigned char tag;
};

/* How the global part of a state begins. */
struct global {
    lua_Alloc alloc;
    void *alloc_data;
    ptrdiff_t total, debt;
    size_t estimate, last_atomic;
    void *strings;
    int string_count, string_size;
    struct value registry, building;
    unsigned int seed;
};

static bool is_global(const struct global *g, const struct ebb__sandbox *sb, size_t size)
{
    return g->alloc == ebb__sandbox_alloc && g->alloc_data == sb && g->total == (ptrdiff_t)size && !g->strings &&
           !g->string_count && !g->string_size && g->registry.tag == LUA_TNIL && g->building.tag == TAG_INTEGER &&
           !g->building.as.number;
}

void ebb__seed_set(struct ebb__sandbox *sb, void *state, size_t size)
{
    char *bytes = state;
    struct global g;

    for (size_t at = 0; at + sizeof g <= size; at += sizeof(void *)) {
        memcpy(&g, bytes + at, sizeof g);
        if (!is_global(&g, sb, size))
            continue;
        g.seed = SEED;
        memcpy(bytes + at + offsetof(struct global, seed), &g.seed, sizeof g.seed);
        return;
    }
}
