/* SPDX-License-Identifier: Apache-2.0
 *
 * Where to cut a range of keys: at a folder that is known, else in the middle, by the first byte that differs.
 */
#include "io/s3_list_priv.h"

#define FIRST '!' /* printable ASCII: a key in between is a text that any server takes */
#define LAST '~'

static unsigned char byte_at(struct ebb_str s, size_t i, unsigned char other)
{
    return i < s.n ? (unsigned char)s.p[i] : other;
}

bool ebb__s3_split_key(struct ebb_str prefix, struct ebb_str a, struct ebb_str b, struct ebb_buf *out)
{
    size_t same = b.n ? 0 : prefix.n;
    unsigned char low, high;

    while (b.n && same < a.n && same < b.n && a.p[same] == b.p[same])
        same++;
    /* Two tries: the first byte that differs, and the one after it, where the first are neighbours. */
    for (size_t at = same; at < same + 2; at++) {
        low = byte_at(a, at, FIRST);
        high = at == same ? byte_at(b, at, LAST + 1) : LAST + 1;
        if (low < FIRST || low > LAST || high > LAST + 1 || at > a.n)
            return false;
        if (high < low + 2)
            continue;
        ebb_buf_append(out, a.p, at);
        ebb_buf_putc(out, (char)(low + (high - low) / 2));
        return !out->bad && ebb_str_compare(ebb_buf_str(out), a) > 0 &&
               (!b.n || ebb_str_compare(ebb_buf_str(out), b) < 0);
    }
    return false;
}

bool ebb__s3_split(const struct ebb_strs *cuts, struct ebb_str prefix, struct ebb_str after, struct ebb_str end,
                   size_t passed, struct ebb_buf *out)
{
    size_t from = ebb__s3_cuts_before(cuts, after), to = end.n ? ebb__s3_cuts_before(cuts, end) : cuts->count;

    if (from < to && ebb_str_is_equal(ebb_str_of(cuts->items[from]), after))
        from++;
    from += passed;
    if (from < to) {
        ebb_buf_puts(out, cuts->items[from + (to - from) / 2]);
        return !out->bad;
    }
    return passed ? false : ebb__s3_split_key(prefix, after, end, out);
}
