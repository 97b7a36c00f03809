/* SPDX-License-Identifier: Apache-2.0 */
#include "service/shell_priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32

static bool is_job(const char *name)
{
    return !strncmp(name, "job-", 4) && !strchr(name, '.');
}

/* Remove what lies in a folder, never through links. Whatever resists stays. */
static void empty(int dir, int depth)
{
    DIR *d = fdopendir(dir);
    const struct dirent *e;

    if (!d) {
        close(dir);
        return;
    }
    while ((e = readdir(d)) != NULL) {
        int below;

        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        if (!unlinkat(dirfd(d), e->d_name, 0) || depth == DEPTH_MAX)
            continue;
        below = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
            empty(below, depth + 1);
        unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
}

static void drop(int jobs, const char *name)
{
    struct ebb_buf mark;
    int dir;

    ebb_buf_init(&mark, 512);
    ebb_buf_printf(&mark, "%s.pid", name);
    if (faccessat(jobs, ebb_buf_cstr(&mark), F_OK, AT_SYMLINK_NOFOLLOW)) { /* else it runs */
        dir = openat(jobs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir >= 0)
            empty(dir, 0);
        unlinkat(jobs, name, AT_REMOVEDIR);
    }
    ebb_buf_fini(&mark);
}

void ebb__shell_prune(const char *jobs_dir, size_t keep)
{
    DIR *d = opendir(jobs_dir);
    const struct dirent *e;
    struct ebb_strs names;

    if (!d)
        return;
    ebb_strs_init(&names);
    while ((e = readdir(d)) != NULL)
        if (is_job(e->d_name) && ebb_strs_add(&names, e->d_name, NULL))
            break;
    if (names.count > keep) {
        ebb_strs_sort(&names);
        for (size_t i = 0; i < names.count - keep; i++)
            drop(dirfd(d), names.items[i]);
    }
    ebb_strs_fini(&names);
    closedir(d);
}

void ebb__shell_remove(const char *folder)
{
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (dir >= 0)
        empty(dir, 0);
    rmdir(folder);
}
