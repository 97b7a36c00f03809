/* SPDX-License-Identifier: Apache-2.0 */
#include "base/location.h"

static bool is_drive(const char *text, size_t colon)
{
    return colon == 1 && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
}

/* Length of the scheme: a colon that stands before the first slash ends it. 0: none. */
static size_t scheme_length(const char *text, size_t n)
{
    const char *colon = memchr(text, ':', n);
    size_t at = colon ? (size_t)(colon - text) : 0;

    if (!at || memchr(text, '/', at) || is_drive(text, at))
        return 0;
    return at;
}

int ebb_location_split(const char *text, size_t n, struct ebb_location *out, struct ebb_err *err)
{
    struct ebb_str rest = {text, n};

    memset(out, 0, sizeof *out);
    if (n == 0)
        return ebb_err_set(err, EBB_ELOCATION, "location: is empty");
    if (n > EBB_LOCATION_MAX_BYTES)
        return ebb_err_set(err, EBB_ELOCATION, "location: longer than %d bytes", EBB_LOCATION_MAX_BYTES);
    if (memchr(text, '\0', n))
        return ebb_err_set(err, EBB_ELOCATION, "location '%s': holds a NUL byte", text);
    out->scheme.p = text;
    out->scheme.n = scheme_length(text, n);
    if (out->scheme.n) {
        rest.p += out->scheme.n + 1;
        rest.n -= out->scheme.n + 1;
    }
    if (rest.n > 2 && rest.p[0] == '/' && rest.p[1] == '/') {
        const char *slash = memchr(rest.p + 2, '/', rest.n - 2);

        out->authority.p = rest.p + 2;
        out->authority.n = (slash ? (size_t)(slash - rest.p) : rest.n) - 2;
        rest.p += out->authority.n + 2;
        rest.n -= out->authority.n + 2;
    }
    out->path = rest;
    return 0;
}

/* The authority alone names its root. */
static int normalise_path(const struct ebb_location *location, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_str path = location->path;

    if (!path.n && location->authority.n)
        path = EBB_STR("/");
    return ebb_path_normalise(path, out, err);
}

int ebb_location_normalise(const char *text, size_t n, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_location location;
    size_t base = out->len;
    int rc;

    rc = ebb_location_split(text, n, &location, err);
    if (rc)
        return rc;
    if (location.scheme.n) {
        ebb_buf_add_str(out, location.scheme);
        ebb_buf_putc(out, ':');
    }
    if (location.authority.n) {
        ebb_buf_puts(out, "//");
        ebb_buf_add_str(out, location.authority);
    }
    rc = normalise_path(&location, out, err);
    if (rc && out->data) {
        out->len = base;
        out->data[base] = '\0';
    }
    return rc;
}

/* A location, split, with its path in normal form (in `text`). */
struct parsed {
    struct ebb_location location;
    struct ebb_buf text;
};

static int parse(const char *text, struct parsed *out, struct ebb_err *err)
{
    int rc = ebb_location_split(text, strlen(text), &out->location, err);

    if (!rc)
        rc = normalise_path(&out->location, &out->text, err);
    return rc;
}

/* Whether path lies below root, both in normal form. */
static bool is_below(struct ebb_str root, struct ebb_str path)
{
    if (path.n <= root.n || !ebb_str_has_prefix(path, root))
        return false;
    return root.p[root.n - 1] == '/' || path.p[root.n] == '/';
}

static enum ebb_relation relate(const struct parsed *a, const struct parsed *b, bool match)
{
    struct ebb_str x = ebb_buf_str(&a->text);
    struct ebb_str y = ebb_buf_str(&b->text);

    if (ebb_str_is_equal(x, y))
        return match ? EBB_RELATION_SAME : EBB_RELATION_CONFLICT;
    return match && is_below(x, y) ? EBB_RELATION_INSIDE : EBB_RELATION_OUTSIDE;
}

typedef bool (*match_cb)(const struct ebb_prefix_rules *rules, const struct ebb_location *a,
                         const struct ebb_location *b);

static int compare(const char *a, const char *b, const struct ebb_prefix_rules *rules, match_cb is_match,
                   enum ebb_relation *out, struct ebb_err *err)
{
    struct parsed x, y;
    int rc;

    ebb_buf_init(&x.text, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&y.text, EBB_LOCATION_MAX_BYTES);
    rc = parse(a, &x, err);
    if (!rc)
        rc = parse(b, &y, err);
    if (!rc)
        *out = relate(&x, &y, is_match(rules, &x.location, &y.location));
    ebb_buf_fini(&x.text);
    ebb_buf_fini(&y.text);
    return rc;
}

int ebb_location_relation(const char *valid, const char *actual, const struct ebb_prefix_rules *rules,
                          enum ebb_relation *out, struct ebb_err *err)
{
    return compare(valid, actual, rules, ebb_prefix_is_match, out, err);
}

int ebb_location_contains(const char *outer, const char *inner, const struct ebb_prefix_rules *rules, bool *out,
                          struct ebb_err *err)
{
    enum ebb_relation relation = EBB_RELATION_OUTSIDE;
    int rc = compare(outer, inner, rules, ebb_prefix_is_equal, &relation, err);

    *out = !rc && (relation == EBB_RELATION_SAME || relation == EBB_RELATION_INSIDE);
    return rc;
}

/* Whether the text ends in what some reader would trim: control characters, blanks, Unicode's spaces. */
static bool ends_blank(struct ebb_str s)
{
    static const char *const SPACES[] = {"\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\xA8", "\xE2\x80\xA9",
                                         "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80", "\xEF\xBB\xBF"};
    const char *end = s.p + s.n;

    if (s.n && ((unsigned char)end[-1] <= 0x20 || end[-1] == 0x7F))
        return true;
    if (s.n >= 3 && !memcmp(end - 3, "\xE2\x80", 2) && (unsigned char)end[-1] >= 0x80 && (unsigned char)end[-1] <= 0x8B)
        return true;
    for (size_t i = 0; i < sizeof SPACES / sizeof *SPACES; i++) {
        size_t n = strlen(SPACES[i]);

        if (s.n >= n && !memcmp(end - n, SPACES[i], n))
            return true;
    }
    return false;
}

int ebb_location_check_table(const char *location, struct ebb_err *err)
{
    struct parsed p;
    struct ebb_str path;
    int rc;

    ebb_buf_init(&p.text, EBB_LOCATION_MAX_BYTES);
    rc = parse(location, &p, err);
    if (rc)
        goto out;
    path = ebb_buf_str(&p.text);
    if (path.p[path.n - 1] == '/')
        rc = ebb_err_set(err, EBB_EROOT_LOCATION, "table location '%s': is the root of a file system or bucket",
                         location);
    else if (ends_blank(path))
        rc = ebb_err_set(err, EBB_EBAD_LOCATION, "table location '%s': ends in white space", location);
    else if ((unsigned char)location[0] <= 0x20)
        rc = ebb_err_set(err, EBB_EBAD_LOCATION, "table location '%s': begins with white space", location);
out:
    ebb_buf_fini(&p.text);
    return rc;
}

static bool may_hide(struct ebb_str component)
{
    return component.n && (component.p[0] == '_' || component.p[0] == '.');
}

bool ebb_component_is_hidden(struct ebb_str component, const struct ebb_hidden_rule *rule)
{
    if (!may_hide(component))
        return false;
    for (size_t i = 0; rule && i < rule->count; i++) {
        struct ebb_str field = rule->fields[i];

        if (may_hide(field) && component.n > field.n && component.p[field.n] == '=' &&
            ebb_str_has_prefix(component, field))
            return false;
    }
    return true;
}

bool ebb_location_is_hidden(struct ebb_str relative, const struct ebb_hidden_rule *rule)
{
    size_t i = 0;

    while (i < relative.n) {
        struct ebb_str component = {relative.p + i, relative.n - i};
        const char *slash = memchr(component.p, '/', component.n);

        if (slash)
            component.n = (size_t)(slash - component.p);
        if (ebb_component_is_hidden(component, rule))
            return true;
        i += component.n + 1;
    }
    return false;
}
