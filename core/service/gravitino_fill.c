/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
}

/* Length of a placeholder "{{name}}" that begins here; 0: none does. */
static size_t placeholder(const char *text, struct ebb_str *name)
{
    size_t n = 2;

    if (strncmp(text, "{{", 2) != 0)
        return 0;
    while (is_name_char(text[n]))
        n++;
    if (n == 2 || strncmp(text + n, "}}", 2) != 0)
        return 0;
    *name = (struct ebb_str){text + 2, n - 2};
    return n + 2;
}

/* What '$' stands for: at is behind it. There is one group, the name; further digits belong to the text. */
static int put_reference(const char **at, struct ebb_str whole, struct ebb_str name, struct ebb_buf *out,
                         struct ebb_err *err)
{
    char c = **at;

    if (!c)
        return ebb_err_set(err, EBB_EUSAGE, "Illegal group reference: group index is missing");
    if (c < '0' || c > '9')
        return ebb_err_set(err, EBB_EUSAGE, "Illegal group reference");
    if (c > '1')
        return ebb_err_set(err, EBB_EINTERNAL, "No group %c", c);
    ++*at;
    if (c == '0' && **at == '1') { /* $01 is group 1 */
        ++*at;
        c = '1';
    }
    ebb_buf_add_str(out, c == '1' ? name : whole);
    return 0;
}

static int put_value(const char *value, struct ebb_str whole, struct ebb_str name, struct ebb_buf *out,
                     struct ebb_err *err)
{
    const char *at = value;
    int rc = 0;

    while (!rc && *at) {
        char c = *at++;

        if (c == '\\' && !*at)
            return ebb_err_set(err, EBB_EUSAGE, "character to be escaped is missing");
        if (c == '$')
            rc = put_reference(&at, whole, name, out, err);
        else
            ebb_buf_putc(out, c == '\\' ? *at++ : c);
    }
    return rc;
}

int ebb__template_fill(const char *text, const struct ebb_value *conf, struct ebb_buf *out, struct ebb_err *err)
{
    int rc = 0;

    while (!rc && *text) {
        struct ebb_str name = {NULL, 0};
        size_t n = placeholder(text, &name);
        const struct ebb_value *value = n ? ebb_value_getn(conf, name.p, name.n) : NULL;

        if (value)
            rc = put_value(ebb_value_get_str(value), (struct ebb_str){text, n}, name, out, err);
        else
            ebb_buf_append(out, text, n ? n : 1);
        text += n ? n : 1;
    }
    return rc ? rc : ebb_buf_check(out, "filled template", err);
}
