/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "io/rest_priv.h"

void ebb__rest_put_space(const struct ebb__rest *rest, struct ebb_buf *out, const struct ebb_strs *levels)
{
    for (size_t i = 0; i < levels->count; i++) {
        if (i)
            ebb_buf_puts(out, rest->separator);
        ebb_http_encode(out, ebb_str_of(levels->items[i]), false);
    }
}

void ebb__rest_put_table(const struct ebb__rest *rest, struct ebb_buf *out, const struct ebb_strs *levels,
                         const char *name)
{
    ebb_buf_puts(out, "namespaces/");
    ebb__rest_put_space(rest, out, levels);
    ebb_buf_puts(out, "/tables/");
    ebb_http_encode(out, ebb_str_of(name), false);
}

void ebb__rest_join(struct ebb_buf *out, const struct ebb_strs *levels)
{
    for (size_t i = 0; i < levels->count; i++)
        ebb_buf_printf(out, "%s%s", i ? "." : "", levels->items[i]);
}

/* "." and ".." would be taken for folders on the way. */
static bool is_step(const char *text)
{
    return !text[0] || !strcmp(text, ".") || !strcmp(text, "..");
}

const char *ebb__rest_unreachable(const struct ebb__rest *rest, const struct ebb_strs *levels, const char *name)
{
    for (size_t i = 0; i < levels->count; i++)
        if (strstr(levels->items[i], rest->separator_bytes))
            return "a level of its namespace holds the server's separator of levels: the server can't tell it apart";
    if ((levels->count == 1 && is_step(levels->items[0])) || (name && is_step(name)))
        return "it can't be named in a URL";
    return levels->count ? NULL : "it has no namespace";
}

const char *ebb__rest_ambiguous(const struct ebb_strs *levels, const char *name)
{
    for (size_t i = 0; i < levels->count; i++)
        if (strchr(levels->items[i], '.'))
            return "a level of its namespace holds a dot: catalog.namespace.table can't tell it apart";
    return name && strchr(name, '.') ? "its name holds a dot: catalog.namespace.table can't tell it apart" : NULL;
}

static void name_fini(struct ebb__rest_name *name)
{
    ebb_strs_fini(&name->levels);
    free(name->dotted);
    free(name->name);
}

void ebb__rest_page_fini(struct ebb__rest_page *page)
{
    for (size_t i = 0; i < page->count; i++)
        name_fini(&page->items[i]);
    free(page->items);
    free(page->next);
    memset(page, 0, sizeof *page);
}

void ebb__rest_names_fini(struct ebb__rest_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        name_fini(&names->items[i]);
    free(names->items);
    memset(names, 0, sizeof *names);
}
