/* SPDX-License-Identifier: Apache-2.0
 *
 * A fresh folder opened as a place, small ways to fill it, and a way to take a system call away from the process.
 */
#ifndef TEST_PLACE_HELP_H
#define TEST_PLACE_HELP_H

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/place.h"

struct place_fixture {
    char top[64];  /* removed at the end */
    char path[80]; /* the place: top/root */
    int dir;       /* handle of path */
    struct ebb_uri_map *map;
    struct ebb_storage *storage;
    struct ebb_place *place; /* opened for writing */
    struct ebb_err err;
};

/* Run a shell command in the place's folder. */
static inline void fixture_run(struct place_fixture *f, const char *command)
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        if (fchdir(f->dir))
            _exit(126);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static inline void fixture_reopen(struct place_fixture *f)
{
    ebb_place_close(f->place);
    f->place = NULL;
    assert_int_equal(ebb_place_open(f->storage, f->path, EBB_PLACE_WRITE, &f->place, &f->err), 0);
}

static inline int fixture_setup(void **state)
{
    struct place_fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    snprintf(f->top, sizeof f->top, "/tmp/ebb-place-XXXXXX");
    assert_non_null(mkdtemp(f->top));
    assert_int_equal(chmod(f->top, 0755), 0);
    snprintf(f->path, sizeof f->path, "%s/root", f->top);
    assert_int_equal(mkdir(f->path, 0755), 0);
    f->dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(f->dir >= 0);
    assert_int_equal(ebb_uri_map_new(&f->map, &f->err), 0);
    assert_int_equal(ebb_storage_new(f->map, NULL, &f->storage, &f->err), 0);
    fixture_reopen(f);
    *state = f;
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct place_fixture *f = *state;
    char command[128];

    ebb_place_close(f->place);
    ebb_storage_free(f->storage);
    ebb_uri_map_free(f->map);
    snprintf(command, sizeof command, "rm -rf %s", f->top);
    fixture_run(f, command);
    close(f->dir);
    free(f);
    return 0;
}

static inline void fixture_dir(struct place_fixture *f, const char *name)
{
    assert_int_equal(mkdirat(f->dir, name, 0755), 0);
}

static inline void fixture_file(struct place_fixture *f, const char *name, const char *text)
{
    int fd = openat(f->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static inline void fixture_link(struct place_fixture *f, const char *name, const char *to)
{
    assert_int_equal(symlinkat(to, f->dir, name), 0);
}

static inline bool fixture_has(struct place_fixture *f, const char *name)
{
    struct stat st;

    return !fstatat(f->dir, name, &st, AT_SYMLINK_NOFOLLOW);
}

/* From now on the call fails with this errno, in this process. For a forked child only. */
static inline bool deny_syscall(long number, int errno_value)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errno_value),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#endif
