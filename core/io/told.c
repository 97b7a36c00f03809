/* SPDX-License-Identifier: Apache-2.0 */
#include "io/told_priv.h"

#define SECRET_MIN 4

static bool repeats(struct ebb_str text, const char *secret)
{
    size_t n = secret ? strlen(secret) : 0;

    return n >= SECRET_MIN && text.n >= n && memmem(text.p, text.n, secret, n);
}

/* Of "Token abc" also what stands behind the scheme. */
static bool tells_header(const struct ebb_strs *headers, struct ebb_str text)
{
    for (size_t i = 0; headers && i < headers->count; i++) {
        const char *value = strchr(headers->items[i], ':'), *last = value ? strrchr(value, ' ') : NULL;

        if (value && (repeats(text, value + 1 + strspn(value + 1, " ")) || repeats(text, last ? last + 1 : NULL)))
            return true;
    }
    return false;
}

static bool tells_secret(const struct ebb__secrets *s, struct ebb_str text)
{
    const char *colon = s->credential ? strchr(s->credential, ':') : NULL;

    return repeats(text, s->token) || repeats(text, s->credential) || repeats(text, colon ? colon + 1 : NULL) ||
           tells_header(s->headers, text);
}

void ebb__told_copy(const struct ebb__secrets *secrets, struct ebb_str text, char *out, size_t size)
{
    size_t n = text.n < size ? text.n : size - 1;

    out[0] = '\0';
    if (!text.n || (secrets && tells_secret(secrets, text)))
        return;
    while (n && n < text.n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
        n--;
    memcpy(out, text.p, n);
    out[n] = '\0';
    for (size_t i = 0; i < n; i++) /* also a NUL */
        if ((unsigned char)out[i] < ' ')
            out[i] = ' ';
}
