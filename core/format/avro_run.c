/* SPDX-License-Identifier: Apache-2.0 */
#include "format/avro_priv.h"

#include <endian.h>

#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define KEYED_BYTES 65 /* one byte of key, one of length, at most 63 more */
#define EACH_BYTE 0x0101010101010101ULL
#define FOUR_BYTES 0x0000000001010101ULL
#define HIGH_BITS 0x8080808080808080ULL

struct loop {
    uint64_t left;
    const unsigned char *block_end; /* where a block with a stated size must end, or NULL */
};

struct run {
    const unsigned char *end;
    const char *why; /* set by whoever returns NULL instead of a position */
    struct loop loops[EBB__AVRO_LOOPS];
};

static const unsigned char *bad(struct run *r, const char *why)
{
    r->why = why;
    return NULL;
}

static ALWAYS_INLINE uint64_t load_le64(const unsigned char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return le64toh(word);
}

/* Near the end of the block: byte by byte. */
static const unsigned char *varint_at_end(struct run *r, const unsigned char *p, int max, uint64_t *out)
{
    uint64_t value = 0;
    int top = max == 5 ? 0x0f : 0x01; /* what the last byte may hold */

    for (int i = 0; i < max; i++) {
        if (p == r->end)
            return bad(r, "a number runs past the end");
        value |= (uint64_t)(*p & 0x7f) << (7 * i);
        if (i == max - 1 && *p > top)
            return bad(r, "a number is too long");
        if (*p++ < 0x80)
            break;
    }
    *out = value;
    return p;
}

/* Seven bits of each byte, put together. */
static ALWAYS_INLINE uint64_t gather(uint64_t word)
{
    word = (word & 0x007f007f007f007fULL) | (word & 0x7f007f007f007f00ULL) >> 1;
    word = (word & 0x00003fff00003fffULL) | (word & 0x3fff00003fff0000ULL) >> 2;
    return (word & 0x0fffffff) | (word & 0x0fffffff00000000ULL) >> 4;
}

/* A varint of at most max bytes (5 or 10) that fits 32 or 64 bits. */
static const unsigned char *varint_slow(struct run *r, const unsigned char *p, int max, uint64_t *out)
{
    uint64_t word, lasts;
    int last_bit;

    if (r->end - p < 10)
        return varint_at_end(r, p, max, out);
    word = load_le64(p);
    lasts = ~word & HIGH_BITS;
    if (lasts & 0x8000) {
        *out = (word & 0x7f) | (word >> 1 & 0x3f80);
        return p + 2;
    }
    if (lasts == 0) {
        if (max == 5 || (p[8] & 0x80 && p[9] > 1))
            return bad(r, "a number is too long");
        *out = gather(word) | (uint64_t)(p[8] & 0x7f) << 56 | (p[8] & 0x80 ? (uint64_t)p[9] << 63 : 0);
        return p + 9 + (p[8] >> 7);
    }
    last_bit = __builtin_ctzll(lasts);
    *out = gather(word & UINT64_MAX >> (63 - last_bit));
    if (max == 5 && (last_bit > 39 || *out > UINT32_MAX))
        return bad(r, "a number is too long");
    return p + (last_bit >> 3) + 1;
}

static ALWAYS_INLINE const unsigned char *varint(struct run *r, const unsigned char *p, int max, uint64_t *out)
{
    if (p < r->end && *p < 0x80) {
        *out = *p;
        return p + 1;
    }
    return varint_slow(r, p, max, out);
}

static ALWAYS_INLINE int64_t unzigzag(uint64_t n)
{
    return (int64_t)(n >> 1 ^ (~(n & 1) + 1));
}

const unsigned char *ebb__avro_long_read(const unsigned char *p, const unsigned char *end, int64_t *out)
{
    struct run r = {.end = end};
    uint64_t n = 0;

    p = varint(&r, p, 10, &n);
    *out = unzigzag(n);
    return p;
}

/* The length of bytes or a string, checked against what is left. */
static ALWAYS_INLINE const unsigned char *length(struct run *r, const unsigned char *p, size_t *out)
{
    uint64_t n = 0;

    p = varint(r, p, 10, &n);
    if (!p)
        return NULL;
    if (n & 1)
        return bad(r, "a length is negative");
    if (n >> 1 > (uint64_t)(r->end - p))
        return bad(r, "bytes run past the end");
    *out = (size_t)(n >> 1);
    return p;
}

static ALWAYS_INLINE const unsigned char *skip_bytes(struct run *r, const unsigned char *p)
{
    size_t n;

    p = length(r, p, &n);
    return p ? p + n : NULL;
}

static ALWAYS_INLINE const unsigned char *skip_fixed(struct run *r, const unsigned char *p, size_t n)
{
    return n > (size_t)(r->end - p) ? bad(r, "bytes run past the end") : p + n;
}

static NOINLINE const unsigned char *block_begin_slow(struct run *r, const unsigned char *p, struct loop *loop)
{
    uint64_t n, size;
    int64_t count;

    p = varint(r, p, 10, &n);
    if (!p)
        return NULL;
    count = unzigzag(n);
    loop->block_end = NULL;
    loop->left = (uint64_t)count;
    if (count >= 0)
        return p;
    loop->left = -(uint64_t)count;
    p = varint(r, p, 10, &size);
    if (!p)
        return NULL;
    if (size & 1 || size >> 1 > (uint64_t)(r->end - p))
        return bad(r, "the size of an array block is wrong");
    loop->block_end = p + (size >> 1);
    return p;
}

/* Begin a block of an array or map: the number of its items, 0 at the end of all. A negative number has the size after
 * it. */
static ALWAYS_INLINE const unsigned char *block_begin(struct run *r, const unsigned char *p, struct loop *loop)
{
    if (p < r->end && !(*p & 0x81)) {
        loop->left = *p >> 1;
        loop->block_end = NULL;
        return p + 1;
    }
    return block_begin_slow(r, p, loop);
}

static ALWAYS_INLINE const unsigned char *block_end(struct run *r, const unsigned char *p, const struct loop *loop)
{
    if (loop->block_end && loop->block_end != p)
        return bad(r, "the size of an array block is wrong");
    return p;
}

static ALWAYS_INLINE const unsigned char *skip_varint(struct run *r, const unsigned char *p, uint64_t left,
                                                      int int_mask)
{
    uint64_t ignored;
    bool is_int = int_mask & (left & 1 ? EBB__AVRO_SECOND_IS_INT : EBB__AVRO_FIRST_IS_INT);

    return varint(r, p, is_int ? 5 : 10, &ignored);
}

/* more: 1 in each byte that is not the last one of its varint; before: the same of the eight bytes before. The high bit
 * is set in each byte that is the fourth such one in a row or later, which only a varint of five or more bytes has. */
static ALWAYS_INLINE uint64_t find_long_varints(uint64_t before, uint64_t more)
{
    uint64_t in_four =
        more * FOUR_BYTES + ((before >> 40) * FOUR_BYTES >> 24); /* how many of the four bytes up to here */

    return in_four + (0x80 - 4) * EACH_BYTE;
}

/* Skip count varints (at least one), eight bytes at a time. NULL when one of them has five bytes or more (an
 * int may be out of range) or the last eight bytes are reached: then they are to be looked at one by one. */
static ALWAYS_INLINE const unsigned char *skip_short_varints(const unsigned char *p, const unsigned char *end,
                                                             uint64_t count)
{
    uint64_t before = 0, found_long = 0;
    const unsigned char *last = end - p >= 8 ? end - 8 : NULL;

    for (; p <= last; p += 8) {
        uint64_t more = load_le64(p) >> 7 & EACH_BYTE;
        uint64_t found = (more ^ EACH_BYTE) * EACH_BYTE; /* in each byte, how many ended up to it */

        if (found >> 56 >= count) {
            uint64_t reached = ((found | HIGH_BITS) - count * EACH_BYTE) & HIGH_BITS;
            int last_bit = __builtin_ctzll(reached); /* the top bit of the byte that ends the last one */

            more &= UINT64_MAX >> (63 - last_bit);
            found_long |= find_long_varints(before, more);
            return found_long & HIGH_BITS ? NULL : p + (last_bit >> 3) + 1;
        }
        found_long |= find_long_varints(before, more);
        count -= found >> 56;
        before = more;
    }
    return NULL;
}

/* The usual array of int or long (per_item 1) or of pairs of them (2): one block with a count of one byte, and the end.
 * NULL when it is anything else: then the general way decides. */
static ALWAYS_INLINE const unsigned char *usual_varints(const unsigned char *p, const unsigned char *end,
                                                        unsigned per_item)
{
    uint64_t count;

    if (p == end || *p & 0x81)
        return NULL;
    count = *p++ >> 1;
    if (count == 0)
        return p;
    p = skip_short_varints(p, end, count * per_item);
    return p && p < end && *p == 0 ? p + 1 : NULL;
}

static NOINLINE const unsigned char *loop_varints(struct run *r, const unsigned char *p, unsigned per_item,
                                                  int int_mask)
{
    struct loop loop;

    for (;;) {
        p = block_begin(r, p, &loop);
        if (!p || loop.left == 0)
            return p;
        if (loop.left > (uint64_t)(r->end - p))
            return bad(r, "an array runs past the end");
        for (uint64_t left = loop.left * per_item; left > 0 && p; left--)
            p = skip_varint(r, p, left, int_mask);
        if (p)
            p = block_end(r, p, &loop);
        if (!p)
            return NULL;
    }
}

/* The usual array of a number and bytes: as above, and key and length take one byte each and are not negative. An item
 * that might reach the end is left to the general way. */
static ALWAYS_INLINE const unsigned char *usual_keyed_bytes(const unsigned char *p, const unsigned char *end)
{
    unsigned count;

    if (end - p <= KEYED_BYTES || *p & 0x81)
        return NULL;
    end -= KEYED_BYTES;
    count = *p++ >> 1;
    if (count == 0)
        return p;
    for (; count > 0; count--) {
        unsigned head = (unsigned)p[0] | (unsigned)p[1] << 8;

        if (head & 0x8180)
            return NULL;
        p += 2 + (head >> 9);
        if (p >= end)
            return NULL;
    }
    return *p == 0 ? p + 1 : NULL;
}

static NOINLINE const unsigned char *loop_keyed_bytes(struct run *r, const unsigned char *p, int key_max)
{
    struct loop loop;
    uint64_t ignored;

    for (;;) {
        p = block_begin(r, p, &loop);
        if (!p || loop.left == 0)
            return p;
        for (; loop.left > 0 && p; loop.left--) {
            p = varint(r, p, key_max, &ignored);
            if (p)
                p = skip_bytes(r, p);
        }
        if (p)
            p = block_end(r, p, &loop);
        if (!p)
            return NULL;
    }
}

/* Array of items that take no bytes. */
static const unsigned char *loop_empty(struct run *r, const unsigned char *p)
{
    struct loop loop;

    do {
        p = block_begin(r, p, &loop);
        if (p)
            p = block_end(r, p, &loop);
    } while (p && loop.left > 0);
    return p;
}

static ALWAYS_INLINE const unsigned char *read_number(struct run *r, const unsigned char *p, int max,
                                                      struct ebb_avro_value *value)
{
    uint64_t n = 0;

    p = varint(r, p, max, &n);
    value->number = unzigzag(n);
    value->is_set = true;
    return p;
}

static ALWAYS_INLINE const unsigned char *read_bytes(struct run *r, const unsigned char *p,
                                                     struct ebb_avro_value *value)
{
    size_t n;

    p = length(r, p, &n);
    if (!p)
        return NULL;
    value->bytes.p = (const char *)p;
    value->bytes.n = n;
    value->is_set = true;
    return p + n;
}

static ALWAYS_INLINE const unsigned char *read_fixed(struct run *r, const unsigned char *p, size_t n,
                                                     struct ebb_avro_value *value)
{
    value->bytes.p = (const char *)p;
    value->bytes.n = n;
    value->is_set = true;
    return skip_fixed(r, p, n);
}

static const unsigned char *skip_enum(struct run *r, const unsigned char *p, uint32_t symbols)
{
    uint64_t n = 0;

    p = varint(r, p, 5, &n);
    if (p && (n & 1 || n >> 1 >= symbols))
        return bad(r, "an enum value is out of range");
    return p;
}

static const unsigned char *skip_boolean(struct run *r, const unsigned char *p)
{
    if (p == r->end)
        return bad(r, "bytes run past the end");
    return *p > 1 ? bad(r, "a boolean is neither 0 nor 1") : p + 1;
}

/* An op that goes on to the next one. */
static ALWAYS_INLINE const unsigned char *step(struct run *r, const struct ebb__avro_op *op, const unsigned char *p,
                                               struct ebb_avro_value *row)
{
    const unsigned char *after;
    uint64_t ignored;

    switch (op->code) {
    case EBB__OP_INT:
        return varint(r, p, 5, &ignored);
    case EBB__OP_LONG:
        return varint(r, p, 10, &ignored);
    case EBB__OP_BOOLEAN:
        return skip_boolean(r, p);
    case EBB__OP_FIXED:
        return skip_fixed(r, p, op->n);
    case EBB__OP_BYTES:
        return skip_bytes(r, p);
    case EBB__OP_ENUM:
        return skip_enum(r, p, op->n);
    case EBB__OP_LOOP_VARINT:
        after = usual_varints(p, r->end, 1);
        return after ? after : loop_varints(r, p, 1, op->arg);
    case EBB__OP_LOOP_PAIR:
        after = usual_varints(p, r->end, 2);
        return after ? after : loop_varints(r, p, 2, op->arg);
    case EBB__OP_LOOP_BYTES:
        after = usual_keyed_bytes(p, r->end);
        return after ? after : loop_keyed_bytes(r, p, op->arg & EBB__AVRO_FIRST_IS_INT ? 5 : 10);
    case EBB__OP_LOOP_EMPTY:
        return loop_empty(r, p);
    case EBB__OP_READ_INT:
        return read_number(r, p, 5, &row[op->slot]);
    case EBB__OP_READ_LONG:
        return read_number(r, p, 10, &row[op->slot]);
    case EBB__OP_READ_BYTES:
        return read_bytes(r, p, &row[op->slot]);
    case EBB__OP_READ_FIXED:
        return read_fixed(r, p, op->n, &row[op->slot]);
    default: /* EBB__OP_PRESENT */
        row[op->slot].is_set = true;
        return p;
    }
}

/* Go to the next item, or to the next block, or past the loop. */
static ALWAYS_INLINE const unsigned char *next_item(struct run *r, const unsigned char *p, struct loop *loop)
{
    if (--loop->left > 0)
        return p;
    p = block_end(r, p, loop);
    return p ? block_begin(r, p, loop) : NULL;
}

static const unsigned char *branch_index(struct run *r, const unsigned char *p, uint32_t count, uint64_t *index)
{
    uint64_t n = 0;

    p = varint(r, p, 10, &n);
    *index = n >> 1;
    if (p && (n & 1 || n >> 1 >= count))
        return bad(r, "a union branch is out of range");
    return p;
}

/* The same for a union of two branches. */
static ALWAYS_INLINE const unsigned char *null_index(struct run *r, const unsigned char *p, uint64_t *index)
{
    if (p < r->end && !(*p & ~2)) {
        *index = *p >> 1;
        return p + 1;
    }
    return branch_index(r, p, 2, index);
}

/* Decode one row; NULL when it cannot be. */
static const unsigned char *decode(struct run *r, const struct ebb__avro_program *program, const unsigned char *p,
                                   struct ebb_avro_value *row)
{
    const struct ebb__avro_op *ops = program->ops, *op = ops;
    uint64_t branch;

    while (p) {
        switch (op->code) {
        case EBB__OP_END:
            return p;
        case EBB__OP_JUMP:
            op = ops + op->n;
            continue;
        case EBB__OP_NULLABLE:
            p = null_index(r, p, &branch);
            op = branch == op->arg ? ops + op->n : op + 1;
            continue;
        case EBB__OP_NULLABLE_STEP:
            p = null_index(r, p, &branch);
            if (p && branch != op->arg)
                p = step(r, op + 1, p, row);
            op += 2;
            continue;
        case EBB__OP_UNION:
            p = branch_index(r, p, op->arg32, &branch);
            if (p)
                op = ops + program->targets[op->n + branch];
            continue;
        case EBB__OP_LOOP:
            p = block_begin(r, p, &r->loops[op->arg]);
            op = p && r->loops[op->arg].left > 0 ? op + 1 : ops + op->n;
            continue;
        case EBB__OP_NEXT:
            p = next_item(r, p, &r->loops[op->arg]);
            op = p && r->loops[op->arg].left > 0 ? ops + op->n : op + 1;
            continue;
        default:
            p = step(r, op++, p, row);
        }
    }
    return NULL;
}

static int check_row(const struct ebb__avro_program *program, const char *what, const struct ebb_avro_value *row,
                     struct ebb_err *err)
{
    for (size_t i = 0; i < program->want_count; i++)
        if (program->check >> i & 1 && !row[i].is_set)
            return ebb_err_set(err, EBB_ECORRUPT, "%s: a required field (%s) is null", what,
                               ebb__avro_want_name(&program->wants[i]));
    return 0;
}

int ebb__avro_run(const struct ebb__avro_program *program, const char *what, struct ebb_str block, int64_t row_count,
                  struct ebb_avro_value *row, ebb_avro_row_cb *cb, void *data, struct ebb_err *err)
{
    const unsigned char *start = (const unsigned char *)block.p, *p = start;
    struct run r = {.end = start + block.n};

    if (row_count < 0 || (uint64_t)row_count > block.n || (uint64_t)row_count * program->row_min_bytes > block.n)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: %lld rows cannot be in %zu bytes", what, (long long)row_count,
                           block.n);
    memset(row, 0, program->want_count * sizeof *row);
    for (int64_t i = 0; i < row_count; i++) {
        int rc = 0;

        for (uint64_t left = program->optional; left; left &= left - 1)
            memset(&row[__builtin_ctzll(left)], 0, sizeof *row);
        p = decode(&r, program, p, row);
        if (!p)
            return ebb_err_set(err, EBB_ECORRUPT, "%s: row %lld: %s", what, (long long)i, r.why);
        if (program->check)
            rc = check_row(program, what, row, err);
        if (!rc)
            rc = cb(data, row, err);
        if (rc)
            return rc;
    }
    if (p != r.end)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: %zu bytes are left over after %lld rows", what, (size_t)(r.end - p),
                           (long long)row_count);
    return 0;
}
