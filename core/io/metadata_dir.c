/* SPDX-License-Identifier: Apache-2.0 */
#include "io/catalog_priv.h"

#include <stdlib.h>

#include "format/metadata.h"

#define HINT_NAME "version-hint.text"
#define HINT_MAX ((size_t)4096) /* a first line longer than this is no number */

void ebb__metadata_dir_init(struct ebb__metadata_dir *dir)
{
    memset(dir, 0, sizeof *dir);
    ebb_strs_init(&dir->names);
}

void ebb__metadata_dir_fini(struct ebb__metadata_dir *dir)
{
    free(dir->uri);
    ebb_strs_fini(&dir->names);
    ebb__metadata_dir_init(dir);
}

int ebb__uri_join(const char *uri, const char *name, char **out, struct ebb_err *err)
{
    struct ebb_buf text;
    size_t n = strlen(uri);
    int rc;

    while (n && uri[n - 1] == '/')
        n--;
    ebb_buf_init(&text, EBB_LOCATION_MAX_BYTES);
    ebb_buf_append(&text, uri, n);
    ebb_buf_putc(&text, '/');
    ebb_buf_puts(&text, name);
    rc = ebb_buf_check(&text, "location", err);
    if (!rc && !(*out = ebb_buf_take(&text)))
        rc = ebb_err_nomem(err);
    ebb_buf_fini(&text);
    return rc;
}

bool ebb__catalog_is_name(const char *name)
{
    size_t digits = strspn(name, "0123456789");

    return digits > 0 && name[digits] == '-' && ebb_metadata_is_name(name, NULL);
}

/* The decimal number that the first line is, trimmed of all bytes up to the space; clamped to int64. */
static bool read_number(struct ebb_str text, int64_t *out)
{
    size_t start = 0, end = 0;
    bool is_negative;
    int64_t n = 0;

    while (end < text.n && text.p[end] != '\n' && text.p[end] != '\r')
        end++;
    if (end == HINT_MAX)
        return false;
    while (start < end && (unsigned char)text.p[start] <= ' ')
        start++;
    while (end > start && (unsigned char)text.p[end - 1] <= ' ')
        end--;
    is_negative = start < end && text.p[start] == '-';
    if (start < end && (text.p[start] == '-' || text.p[start] == '+'))
        start++;
    if (start == end)
        return false;
    for (; start < end; start++) {
        if (text.p[start] < '0' || text.p[start] > '9')
            return false;
        n = n > (INT64_MAX - 9) / 10 ? INT64_MAX : n * 10 + (text.p[start] - '0');
    }
    *out = is_negative ? -n : n;
    return true;
}

static int read_hint(struct ebb_storage *storage, struct ebb__metadata_dir *dir, struct ebb_err *err)
{
    struct ebb_buf text;
    char *uri = NULL;
    int rc;

    ebb_buf_init(&text, HINT_MAX);
    rc = ebb__uri_join(dir->uri, HINT_NAME, &uri, err);
    if (!rc)
        rc = ebb_storage_read_head(storage, uri, HINT_MAX, &text, err);
    if (!rc) {
        dir->has_hint = true;
        dir->has_number = text.len && read_number(ebb_buf_str(&text), &dir->hint);
    }
    free(uri);
    ebb_buf_fini(&text);
    return rc == -EBB_ENOENT ? 0 : rc;
}

static bool enter_nothing(void *data, struct ebb_str dir)
{
    (void)data;
    (void)dir;
    return false;
}

static int note_name(void *data, const struct ebb_walk_entry *entry, struct ebb_err *err)
{
    struct ebb__metadata_dir *dir = data;
    char name[1024];

    if (entry->name.n >= sizeof name)
        return 0;
    memcpy(name, entry->name.p, entry->name.n);
    name[entry->name.n] = '\0';
    return ebb_metadata_is_name(name, NULL) ? ebb_strs_add(&dir->names, name, err) : 0;
}

static int read_names(struct ebb_storage *storage, struct ebb__metadata_dir *dir, struct ebb_err *err)
{
    static const struct ebb_walk_ops OPS = {.enter = enter_nothing, .entry = note_name};
    struct ebb_place *place = NULL;
    int rc = ebb_place_open(storage, dir->uri, EBB_PLACE_READ, &place, err);

    if (rc == -EBB_ENOENT)
        return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "%s: there is no such folder", dir->uri);
    if (!rc)
        rc = ebb_place_walk(place, "", &OPS, dir, err);
    ebb_place_close(place);
    return rc;
}

int ebb__metadata_dir_read(struct ebb_storage *storage, const char *uri, struct ebb__metadata_dir *dir,
                           struct ebb_err *err)
{
    int rc = 0;

    dir->uri = strdup(uri);
    if (!dir->uri)
        return ebb_err_nomem(err);
    /* The hint before the names: so it can only lag behind them. */
    rc = read_hint(storage, dir, err);
    return rc ? rc : read_names(storage, dir, err);
}
