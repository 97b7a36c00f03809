/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fold.h"

#define DECODINGS 3 /* "%252520" is as far as anybody encodes */

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* High bits of the bytes of x that a fold would change: not ASCII, 'A' to 'Z', '%', '+'. All eight at once. */
static uint64_t odd_bytes(uint64_t x)
{
    uint64_t low = x & EACH(0x7F);
    uint64_t from_a = low + EACH(0x80 - 'A'), after_z = low + EACH(0x7F - 'Z');
    uint64_t no_percent = (low ^ EACH('%')) + EACH(0x7F), no_plus = (low ^ EACH('+')) + EACH(0x7F);

    return (x | (from_a & ~after_z) | ~no_percent | ~no_plus) & EACH(0x80);
}

bool ebb_path_is_folded(struct ebb_str path)
{
    uint64_t odd = 0, x;
    size_t i = 0;

    for (; i + sizeof x <= path.n; i += sizeof x) {
        memcpy(&x, path.p + i, sizeof x);
        odd |= odd_bytes(x);
    }
    x = EACH('/');
    memcpy(&x, path.p + i, path.n - i);
    return !(odd | odd_bytes(x));
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place; true when anything was decoded. */
static bool decode(char *p, size_t *n)
{
    size_t to = 0;

    for (size_t i = 0; i < *n; i++) {
        if (p[i] == '%' && i + 2 < *n && hex(p[i + 1]) >= 0 && hex(p[i + 2]) >= 0) {
            p[to++] = (char)(hex(p[i + 1]) << 4 | hex(p[i + 2]));
            i += 2;
        } else {
            p[to++] = p[i];
        }
    }
    if (to == *n)
        return false;
    *n = to;
    return true;
}

/* Base letters of U+00C0..U+017F, '.' where there is none of one letter. */
static const char BASE[] = "aaaaaa.ceeeeiiii.nooooo.ouuuuy..aaaaaa.ceeeeiiii.nooooo.ouuuuy.y"
                           "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkk.llllll."
                           ".llnnnnnn...oooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

/* One letter of two bytes from U+00C0 to U+036F: its base, nothing for a combining mark, else the two bytes. */
static void fold_pair(unsigned char a, unsigned char b, struct ebb_buf *out)
{
    unsigned point = (unsigned)(a & 0x1F) << 6 | (b & 0x3F);
    char pair[2] = {(char)a, (char)b};

    if (point >= 0x300 && point <= 0x36F)
        return;
    if (point >= 0xC0 && point - 0xC0 < sizeof BASE - 1 && BASE[point - 0xC0] != '.')
        ebb_buf_putc(out, BASE[point - 0xC0]);
    else
        ebb_buf_append(out, pair, 2);
}

void ebb_path_fold(struct ebb_str path, struct ebb_buf *out)
{
    struct ebb_buf work;

    ebb_buf_init(&work, path.n);
    ebb_buf_add_str(&work, path);
    for (int i = 0; i < DECODINGS && !work.bad && work.len && decode(work.data, &work.len); i++)
        continue;
    if (work.bad)
        out->bad = true;
    for (size_t i = 0; i < work.len; i++) {
        unsigned char c = (unsigned char)work.data[i];

        if (c >= 0xC3 && c <= 0xCD && i + 1 < work.len && ((unsigned char)work.data[i + 1] & 0xC0) == 0x80)
            fold_pair(c, (unsigned char)work.data[++i], out);
        else
            ebb_buf_putc(out, c == '+' ? ' ' : (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
    }
    ebb_buf_fini(&work);
}
