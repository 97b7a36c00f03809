/* SPDX-License-Identifier: Apache-2.0 */
#include "io/local_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "io/fd_priv.h"

/* Swap the case of every ASCII letter; false when there is none. */
static bool swap_case(const char *name, char out[256])
{
    bool swapped = false;
    size_t i = 0;

    for (; name[i] && i < 255; i++) {
        char lower = (char)(name[i] | 0x20);
        bool is_letter = lower >= 'a' && lower <= 'z';

        out[i] = is_letter ? (char)(name[i] ^ 0x20) : name[i];
        swapped |= is_letter;
    }
    out[i] = '\0';
    return swapped && !name[i];
}

static int next_name(DIR *dir, const char **name)
{
    struct dirent *d;

    errno = 0;
    d = readdir(dir);
    *name = d ? d->d_name : NULL;
    return d ? 0 : errno;
}

/* The first entry that has another case; out gets both spellings. *found is false when there is none. */
static int find_probe(DIR *dir, char name[256], char other[256], bool *found)
{
    const char *entry;
    int rc;

    *found = false;
    while (!(rc = next_name(dir, &entry)) && entry) {
        size_t n = strlen(entry);

        if (n < 256 && swap_case(entry, other)) {
            memcpy(name, entry, n + 1);
            *found = true;
            return 0;
        }
    }
    return rc;
}

static int is_listed(DIR *dir, const char *name, bool *out)
{
    const char *entry;
    int rc;

    *out = false;
    rewinddir(dir);
    while (!(rc = next_name(dir, &entry)) && entry && !*out)
        *out = !strcmp(entry, name);
    return rc;
}

/* Two spellings of one inode, of which the folder lists one. Two listed ones are hard links. */
static int probe(DIR *dir, bool *out)
{
    char name[256], other[256];
    struct ebb_stat a, b;
    bool found, listed;
    int rc = find_probe(dir, name, other, &found);

    if (rc || !found)
        return rc;
    rc = ebb__fd_stat(dirfd(dir), other, &b);
    if (rc)
        return rc == ENOENT ? 0 : rc;
    rc = ebb__fd_stat(dirfd(dir), name, &a);
    if (rc)
        return rc == ENOENT ? 0 : rc;
    if (a.dev != b.dev || a.ino != b.ino)
        return 0;
    rc = is_listed(dir, other, &listed);
    *out = !listed;
    return rc;
}

int ebb__local_is_case_insensitive(struct ebb_place *place, bool *out, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    int fd = ebb__local_open_dir(local, EBB_STR(""), O_RDONLY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int rc = fd < 0 ? -fd : dir ? 0 : errno;

    *out = false;
    if (!rc)
        rc = probe(dir, out);
    if (dir)
        closedir(dir);
    else
        ebb__fd_close(fd);
    return rc ? ebb__local_fail(local, rc, "", "probe for case-insensitive names", err) : 0;
}
