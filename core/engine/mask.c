/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/mask.h"

#include <ctype.h>
#include <stdlib.h>

#include "engine/mask_priv.h"

#define TEXT_MAX ((size_t)1024 * 1024 * 8)
#define SHORT_MAX 3 /* shorter ones are looked for as whole texts only */
#define PART_MIN 8  /* bytes of the beginning of a secret, at the end of a text that was cut */

static bool has_word(struct ebb_str name, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= name.n; i++) {
        size_t k = 0;

        while (k < n) {
            char c = (char)tolower((unsigned char)name.p[i + k]);

            if (c != word[k] && !(word[k] == '-' && (c == '_' || c == '.')))
                break;
            k++;
        }
        if (k == n)
            return true;
    }
    return false;
}

bool ebb_is_secret_name(struct ebb_str name)
{
    static const char *const WORDS[] = {
        "token", "secret",      "password",   "passwd",  "credential", "access-key",  "accesskey", "key-id",
        "keyid", "private-key", "privatekey", "api-key", "apikey",     "account-key", "sas-key",   "passphrase"};

    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (has_word(name, WORDS[i]))
            return true;
    return false;
}

static int add_secret(struct ebb__mask *mask, const struct ebb_value *value, struct ebb_err *err)
{
    struct ebb_str text = ebb_value_get_bytes(value);

    return text.n ? ebb_strs_addn(&mask->secrets, text.p, strnlen(text.p, text.n), err) : 0;
}

static int take_members(struct ebb__mask *mask, const struct ebb_value *map, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < ebb_value_get_count(map) && !rc; i++)
        if (ebb_is_secret_name(ebb_value_get_key(map, i)))
            rc = add_secret(mask, ebb_value_get_at(map, i), err);
    return rc;
}

/* When something was read of a table's: all properties, all statistics of others. */
static int take_table(struct ebb__mask *mask, const struct ebb__eval *e, struct ebb_err *err)
{
    int t = ebb__reads_find(&e->reads, EBB__READS_ROOT, EBB_STR("t"));
    int properties = t < 0 ? t : ebb__reads_find(&e->reads, t, EBB_STR("properties"));
    int stats = t < 0 ? t : ebb__reads_find(&e->reads, t, EBB_STR("stats"));
    int rc = 0;

    if (properties >= 0 || e->reads.dropped)
        rc = take_members(mask, ebb_value_get(e->table, "properties"), err);
    if (!rc && (stats >= 0 || e->reads.dropped))
        rc = take_members(mask, ebb_value_get(ebb_value_get(e->table, "stats"), "custom"), err);
    return rc;
}

/* Parameters that are set by such a property, or are named so. */
static int take_params(struct ebb__mask *mask, const struct ebb__eval *e, struct ebb_err *err)
{
    const struct ebb_value *params = ebb_value_get(e->policy->manifest, "params");
    int rc = 0;

    for (size_t i = 0; i < ebb_value_get_count(params) && !rc; i++) {
        struct ebb_str name = ebb_value_get_key(params, i);
        const char *property = ebb_value_text_of(ebb_value_get_at(params, i), "property");

        if (ebb_is_secret_name(name) || (property && ebb_is_secret_name(ebb_str_of(property))))
            rc = add_secret(mask, ebb_value_getn(ebb_settings_get_params(e->settings), name.p, name.n), err);
    }
    return rc;
}

static int compare_secrets(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_in_order(struct ebb_strs *secrets)
{
    if (secrets->count)
        qsort(secrets->items, secrets->count, sizeof *secrets->items, compare_secrets);
}

int ebb__mask_init(struct ebb__mask *mask, const struct ebb__eval *e, struct ebb_err *err)
{
    int rc;

    memset(mask, 0, sizeof *mask);
    ebb_strs_init(&mask->secrets);
    ebb_strs_init(&mask->hidden);
    if (!e)
        return 0;
    rc = take_table(mask, e, err);
    if (!rc)
        rc = take_params(mask, e, err);
    put_in_order(&mask->secrets);
    return rc;
}

void ebb__mask_fini(struct ebb__mask *mask)
{
    ebb_strs_fini(&mask->secrets);
    ebb_strs_fini(&mask->hidden);
}

/* The first of the secrets from low to high whose byte at k is not below c. They have the same k bytes before it. */
static size_t seek(const struct ebb__mask *mask, size_t low, size_t high, size_t k, int c)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if ((unsigned char)mask->secrets.items[middle][k] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Bytes of the longest secret that stands at p, up to `left`: all of it, or a good part at the end of the text. Short
 * ones count as whole texts only; is_start: p is the start of the text. The secrets are in order, so all are looked at
 * together. */
static size_t match_any(const struct ebb__mask *mask, const char *p, size_t left, bool is_start)
{
    size_t low = 0, high = mask->secrets.count, longest = 0, k = 0;

    for (;; k++) {
        int c = k < left ? (unsigned char)p[k] : 0;

        if (low < high && !mask->secrets.items[low][k]) {
            if (k > SHORT_MAX || (is_start && k == left))
                longest = k;
            low = seek(mask, low, high, k, 1);
        }
        if (low == high || k == left)
            break;
        if ((unsigned char)mask->secrets.items[low][k] == c && (unsigned char)mask->secrets.items[high - 1][k] == c)
            continue;
        low = seek(mask, low, high, k, c);
        high = seek(mask, low, high, k, c + 1);
    }
    return low < high && k >= PART_MIN ? k : longest;
}

static void note_hidden(struct ebb__mask *mask, struct ebb_str name, struct ebb_jsonw *w)
{
    if (!ebb_strs_has(&mask->hidden, name.p) && ebb_strs_addn(&mask->hidden, name.p, name.n, NULL))
        w->out->bad = true;
}

/* Append bytes with the secrets in them hidden; whether there were any. */
static bool hide_in(const struct ebb__mask *mask, const char *bytes, size_t n, struct ebb_buf *out)
{
    bool is_hidden = false;

    for (size_t i = 0; i < n;) {
        size_t hidden = match_any(mask, bytes + i, n - i, i == 0);

        if (hidden)
            ebb_buf_puts(out, EBB__MASKED);
        else
            ebb_buf_putc(out, bytes[i]);
        i += hidden ? hidden : 1;
        is_hidden = is_hidden || hidden;
    }
    return is_hidden;
}

void ebb__mask_text(struct ebb__mask *mask, const char *bytes, size_t n, struct ebb_jsonw *w)
{
    bool is_hidden;
    struct ebb_buf out;

    if (bytes && n && mask->by_name)
        mask->is_odd = mask->is_odd || !ebb_text_is_utf8(bytes, n);
    if (!mask->secrets.count || !bytes) {
        ebb_jsonw_strn(w, bytes, n);
        return;
    }
    ebb_buf_init(&out, TEXT_MAX);
    is_hidden = hide_in(mask, bytes, n, &out);
    if (is_hidden && mask->by_name)
        note_hidden(mask, EBB_STR("text"), w);
    if (out.bad)
        w->out->bad = true;
    ebb_jsonw_strn(w, ebb_buf_cstr(&out), out.len);
    ebb_buf_fini(&out);
}

void ebb__mask_ktext(struct ebb__mask *mask, const char *key, const char *text, struct ebb_jsonw *w)
{
    ebb_jsonw_key(w, key);
    ebb__mask_text(mask, text, strlen(text), w);
}

/* A member that is known by its name alone. */
static bool hide(struct ebb__mask *mask, struct ebb_str key, const struct ebb_value *value, struct ebb_jsonw *w)
{
    if (!mask->by_name || ebb_value_get_kind(value) != EBB_VALUE_STRING || !ebb_is_secret_name(key))
        return false;
    note_hidden(mask, key, w);
    ebb_jsonw_str(w, EBB__MASKED);
    return true;
}

/* Depth is bounded by the tree's, EBB_VALUE_DEPTH_MAX. */
void ebb__mask_write(struct ebb__mask *mask, const struct ebb_value *value, struct ebb_jsonw *w)
{
    enum ebb_value_kind kind = ebb_value_get_kind(value);
    struct ebb_str bytes = ebb_value_get_bytes(value);

    if (!mask->by_name && !mask->secrets.count) {
        ebb_value_write(value, w);
        return;
    }
    if (kind == EBB_VALUE_STRING) {
        ebb__mask_text(mask, bytes.p, bytes.n, w);
        return;
    }
    if (kind < EBB_VALUE_LIST) {
        ebb_value_write(value, w);
        return;
    }
    ebb_jsonw_begin(w, kind == EBB_VALUE_MAP ? '{' : '[');
    for (size_t i = 0; i < ebb_value_get_count(value); i++) {
        struct ebb_str key = ebb_value_get_key(value, i);

        if (kind == EBB_VALUE_MAP)
            ebb_jsonw_key(w, key.p);
        if (kind != EBB_VALUE_MAP || !hide(mask, key, ebb_value_get_at(value, i), w))
            ebb__mask_write(mask, ebb_value_get_at(value, i), w);
    }
    ebb_jsonw_end(w, kind == EBB_VALUE_MAP ? '}' : ']');
}

int ebb_mask_json(struct ebb_strs *secrets, const struct ebb_value *value, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb__mask mask = {.secrets = *secrets, .by_name = true};
    struct ebb_jsonw w;

    put_in_order(secrets);
    ebb_jsonw_init(&w, out);
    ebb__mask_write(&mask, value, &w);
    ebb_strs_fini(&mask.hidden);
    return ebb_buf_check(out, "text with masks", err);
}

int ebb_mask_text(struct ebb_strs *secrets, const char *text, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb__mask mask = {.secrets = *secrets};

    put_in_order(secrets);
    hide_in(&mask, text, strlen(text), out);
    return ebb_buf_check(out, "text with masks", err);
}
