/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator of a state. Growth costs gas and is bounded, in the heap as in a pool. The collector never runs by
 * itself: everything is collected when half of the room is filled, and by Lua when the limit is met. So gas depends on
 * the script alone, and neither on addresses nor on the seed of strings.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "engine/sandbox_priv.h"

#define FIRST_ADDRESS ((uintptr_t)0x500000000000)
#define ADDRESS_STEP ((uintptr_t)1 << 32)
#define ADDRESSES 64
#define SMALL ((size_t)128)
#define GAS_BYTES 64 /* bytes of growth for one unit of gas */

static size_t rounded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static void *map(uintptr_t wanted, size_t size)
{
    void *base = mmap((void *)wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED || !wanted || (uintptr_t)base == wanted)
        return base;
    munmap(base, size);
    return MAP_FAILED;
}

int ebb__pool_init(struct ebb__pool *pool, size_t size, bool reuses, struct ebb_err *err)
{
    void *base = MAP_FAILED;

    for (uintptr_t i = 0; i < ADDRESSES && base == MAP_FAILED; i++)
        base = map(FIRST_ADDRESS + i * ADDRESS_STEP, size);
    if (base == MAP_FAILED)
        base = map(0, size);
    *pool = (struct ebb__pool){.base = base == MAP_FAILED ? NULL : base, .size = size, .reuses = reuses};
    return pool->base ? 0 : ebb_err_nomem(err);
}

void ebb__pool_fini(struct ebb__pool *pool)
{
    if (pool->base)
        munmap(pool->base, pool->size);
    pool->base = NULL;
}

static bool is_last(const struct ebb__pool *pool, const char *block, size_t size)
{
    return block && block + rounded(size) == pool->base + pool->used;
}

/* At the end of what is used, or at its last block again. */
static void *stack_resize(struct ebb__pool *pool, char *block, size_t old, size_t wanted)
{
    size_t start = pool->used;
    char *to;

    if (is_last(pool, block, old))
        start = (size_t)(block - pool->base);
    else if (wanted <= old)
        return block;
    if (wanted > pool->size || rounded(wanted) > pool->size - start)
        return NULL;
    to = pool->base + start;
    if (block && to != block)
        memcpy(to, block, old);
    pool->used = start + rounded(wanted);
    return to;
}

/* The class of a size, and the size of its blocks: steps of 8 to 128 bytes, then four steps from power to power. */
static size_t class_of(size_t n, size_t *size)
{
    unsigned power;
    size_t step, k;

    if (n <= SMALL) {
        *size = rounded(n);
        return *size / 8;
    }
    power = 63u - (unsigned)__builtin_clzll(n - 1);
    step = (size_t)1 << (power - 2);
    k = (n - 1 - ((size_t)1 << power)) / step;
    *size = ((size_t)1 << power) + (k + 1) * step;
    return SMALL / 8 + (power - 7) * 4 + k + 1;
}

static void class_give(struct ebb__pool *pool, void *block, size_t size)
{
    size_t whole, class = class_of(size, &whole);

    memcpy(block, &pool->given[class], sizeof pool->given[class]);
    pool->given[class] = block;
}

static void *class_resize(struct ebb__pool *pool, void *block, size_t old, size_t wanted)
{
    size_t had = 0, whole, class;
    void *to;

    if (wanted > pool->size)
        return NULL;
    class = class_of(wanted, &whole);
    if (block && class_of(old, &had) == class)
        return block;
    to = pool->given[class];
    if (to)
        memcpy(&pool->given[class], to, sizeof to);
    else if (whole <= pool->size - pool->used) {
        to = pool->base + pool->used;
        pool->used += whole;
    }
    if (to && block) {
        memcpy(to, block, old < wanted ? old : wanted);
        class_give(pool, block, old);
    }
    return to;
}

static void *pool_resize(struct ebb__pool *pool, void *block, size_t old, size_t wanted)
{
    return pool->reuses ? class_resize(pool, block, old, wanted) : stack_resize(pool, block, old, wanted);
}

static void pool_free(struct ebb__pool *pool, void *block, size_t old)
{
    if (block && old && pool->reuses)
        class_give(pool, block, old);
    else if (is_last(pool, block, old))
        pool->used = (size_t)((char *)block - pool->base);
}

/* What is refused makes Lua collect and ask once more: that work is paid for, and ends with the deadline. */
static void *refuse(struct ebb__sandbox *sb)
{
    if (sb->aborted)
        return NULL;
    sb->gas_left -= (int64_t)(sb->mem_used / EBB__COLLECT_BYTES);
    if (sb->pool && !sb->pool->reuses)
        sb->aborted = EBB_EPOLICY_MEMORY;
    else if (sb->gas_left < 0)
        sb->aborted = EBB_EPOLICY_GAS;
    else if (ebb__sandbox_is_late(sb))
        sb->aborted = EBB_EPOLICY_DEADLINE;
    return NULL;
}

static void *resize(struct ebb__sandbox *sb, void *block, size_t old, size_t wanted)
{
    void *p;

    if (wanted > old && (sb->aborted || wanted - old > sb->mem_max - sb->mem_used))
        return refuse(sb);
    p = sb->pool ? pool_resize(sb->pool, block, old, wanted) : realloc(block, wanted);
    if (!p)
        return wanted <= old ? block : refuse(sb);
    if (wanted > old)
        sb->gas_left -= (int64_t)((wanted - old) / GAS_BYTES);
    sb->mem_used = sb->mem_used - old + wanted;
    if (sb->mem_used > sb->mem_peak)
        sb->mem_peak = sb->mem_used;
    return p;
}

/* While lua_newstate is at work: its first allocation holds the state, its second comes before any text is made. */
static void watch_first(struct ebb__sandbox *sb)
{
    if (sb->first)
        ebb__seed_set(sb, sb->first, sb->first_bytes);
    sb->first = NULL;
}

void *ebb__sandbox_alloc(void *data, void *block, size_t old, size_t wanted)
{
    struct ebb__sandbox *sb = data;

    if (!block)
        old = 0; /* Lua passes the kind of the object here */
    if (!sb->L)
        watch_first(sb);
    if (wanted && !sb->L && !sb->first_bytes) {
        sb->first = resize(sb, block, old, wanted);
        sb->first_bytes = wanted;
        return sb->first;
    }
    if (wanted)
        return resize(sb, block, old, wanted);
    if (sb->pool)
        pool_free(sb->pool, block, old);
    else
        free(block);
    sb->mem_used -= old;
    return NULL;
}
