/* SPDX-License-Identifier: Apache-2.0
 *
 * A state folder of its own for each test of the store.
 */
#ifndef EBB_TESTS_STORE_HELP_H
#define EBB_TESTS_STORE_HELP_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/store.h"

struct fixture {
    char root[64];
    char dir[96];
    char file[128];
    struct ebb_store *store;
    struct ebb_err err;
};

static inline int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    strncpy(f->root, "/tmp/ebb-store-XXXXXX", sizeof f->root - 1);
    if (!mkdtemp(f->root))
        return -1;
    snprintf(f->dir, sizeof f->dir, "%s/a/state", f->root);
    snprintf(f->file, sizeof f->file, "%s/ebb.db", f->dir);
    *state = f;
    return 0;
}

static inline void remove_tree(const char *path)
{
    pid_t pid = fork();

    if (pid == 0) {
        execlp("rm", "rm", "-rf", "--", path, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;

    ebb_store_close(f->store);
    remove_tree(f->root);
    free(f);
    return 0;
}

static inline void open_store(struct fixture *f)
{
    assert_int_equal(ebb_store_open(f->dir, &f->store, &f->err), 0);
}

static inline void copy_file(const char *from, const char *to)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        execlp("cp", "cp", "--", from, to, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

#endif
