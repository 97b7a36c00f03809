/* SPDX-License-Identifier: Apache-2.0 */
#include "table/run_holder_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void read_text(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* Field 22 of /proc/PID/stat; the name in field 2 may hold blanks and parentheses. */
static int64_t start_of(int64_t pid)
{
    char path[64], text[1024];
    const char *p;
    int field;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    read_text(path, text, sizeof text);
    p = strrchr(text, ')');
    for (field = 2; p && field < 22; field++) {
        p = strchr(p, ' ');
        if (p)
            p++;
    }
    return p ? strtoll(p, NULL, 10) : 0;
}

void ebb__holder_self(struct ebb__holder *out)
{
    ssize_t n;

    memset(out, 0, sizeof *out);
    if (gethostname(out->host, sizeof out->host - 1) != 0)
        out->host[0] = '\0';
    read_text("/proc/sys/kernel/random/boot_id", out->boot, sizeof out->boot);
    n = readlink("/proc/self/ns/pid", out->space, sizeof out->space - 1);
    out->space[n > 0 ? n : 0] = '\0';
    out->pid = getpid();
    out->start = start_of(out->pid);
}

bool ebb__holder_is_gone(const struct ebb__holder *holder)
{
    struct ebb__holder self;
    int64_t start;

    ebb__holder_self(&self);
    if (!self.boot[0] || !self.space[0] || strcmp(self.boot, holder->boot) != 0 ||
        strcmp(self.space, holder->space) != 0)
        return false;
    if (holder->pid <= 1 || holder->pid > INT32_MAX || holder->start <= 0)
        return false;
    if (kill((pid_t)holder->pid, 0) != 0 && errno == ESRCH)
        return true;
    start = start_of(holder->pid);
    return start > 0 && start != holder->start;
}
