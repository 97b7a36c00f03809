/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/policy.h"

/* Greedy with one point of return: at most length of glob times length of text. */
static bool match_plain(struct ebb_str glob, struct ebb_str text)
{
    size_t g = 0, t = 0, star = SIZE_MAX, mark = 0;

    while (t < text.n) {
        if (g < glob.n && glob.p[g] == '*') {
            star = g++;
            mark = t;
        } else if (g < glob.n && (glob.p[g] == '?' || glob.p[g] == text.p[t])) {
            g++;
            t++;
        } else if (star != SIZE_MAX) {
            g = star + 1;
            t = ++mark;
        } else
            return false;
    }
    while (g < glob.n && glob.p[g] == '*')
        g++;
    return g == glob.n;
}

bool ebb_glob_is_match(struct ebb_str glob, struct ebb_str text)
{
    return match_plain(glob, text);
}

/* Cut the first component off; false when there is none left. */
static bool next_component(struct ebb_str *rest, struct ebb_str *out)
{
    const char *dot;

    if (!rest->p)
        return false;
    dot = memchr(rest->p, '.', rest->n);
    *out = (struct ebb_str){rest->p, dot ? (size_t)(dot - rest->p) : rest->n};
    if (dot)
        *rest = (struct ebb_str){dot + 1, rest->n - out->n - 1};
    else
        *rest = (struct ebb_str){NULL, 0};
    return true;
}

static bool is_any(struct ebb_str component)
{
    return component.n == 2 && component.p[0] == '*' && component.p[1] == '*';
}

/* The same method one level up: components in place of bytes, "**" in place of '*'. */
bool ebb_table_glob_is_match(const char *glob, const char *name)
{
    struct ebb_str g = ebb_str_of(glob), n = ebb_str_of(name);
    struct ebb_str star_g = {NULL, 0}, star_n = {NULL, 0}, gc, nc;
    bool have_star = false;

    for (;;) {
        struct ebb_str g_next = g, n_next = n;
        bool has_g = next_component(&g_next, &gc), has_n = next_component(&n_next, &nc);

        if (has_g && is_any(gc)) {
            have_star = true;
            star_g = g = g_next;
            star_n = n;
        } else if (!has_n && !has_g) {
            return true;
        } else if (has_g && has_n && match_plain(gc, nc)) {
            g = g_next;
            n = n_next;
        } else if (have_star && next_component(&star_n, &nc)) {
            g = star_g;
            n = star_n;
        } else
            return false;
    }
}
