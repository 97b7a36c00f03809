/* SPDX-License-Identifier: Apache-2.0 */
#include "service/shell_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(struct ebb__child *child)
{
    close_fd(&child->out);
    close_fd(&child->error);
    close_fd(&child->out_log);
    close_fd(&child->error_log);
}

static int fill_actions(posix_spawn_file_actions_t *a, const char *folder, int out, int error)
{
    int rc = posix_spawn_file_actions_addopen(a, 0, "/dev/null", O_RDONLY, 0);

    if (!rc)
        rc = posix_spawn_file_actions_adddup2(a, out, 1);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(a, error, 2);
    if (!rc)
        rc = posix_spawn_file_actions_addclosefrom_np(a, 3);
    return rc ? rc : posix_spawn_file_actions_addchdir_np(a, folder);
}

/* Workers block signals: the child must not inherit that. */
static int fill_attributes(posix_spawnattr_t *attr)
{
    short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t none, all;
    int rc;

    sigemptyset(&none);
    sigfillset(&all);
    rc = posix_spawnattr_setflags(attr, flags);
    if (!rc)
        rc = posix_spawnattr_setpgroup(attr, 0);
    if (!rc)
        rc = posix_spawnattr_setsigmask(attr, &none);
    return rc ? rc : posix_spawnattr_setsigdefault(attr, &all);
}

static int spawn(const char *folder, char *const *argv, char *const *env, int out, int error, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attr);
    if (rc) {
        posix_spawn_file_actions_destroy(&actions);
        return rc;
    }
    rc = fill_actions(&actions, folder, out, error);
    if (!rc)
        rc = fill_attributes(&attr);
    if (!rc)
        rc = posix_spawn(pid, argv[0], &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static int open_log(const char *folder, const char *name, int *out)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);

    if (n < 0 || (size_t)n >= sizeof path)
        return ENAMETOOLONG;
    *out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return *out < 0 ? errno : 0;
}

int ebb__child_start(const char *folder, char *const *argv, char *const *env, struct ebb__child *out,
                     struct ebb_err *err)
{
    int to_out[2] = {-1, -1}, to_error[2] = {-1, -1};
    int rc;

    *out = (struct ebb__child){.out = -1, .error = -1, .out_log = -1, .error_log = -1, .log_max = EBB__SHELL_LOG_BYTES};
    rc = open_log(folder, "output.log", &out->out_log);
    if (!rc)
        rc = open_log(folder, "error.log", &out->error_log);
    if (!rc && (pipe2(to_out, O_CLOEXEC) || pipe2(to_error, O_CLOEXEC)))
        rc = errno;
    if (!rc)
        rc = spawn(folder, argv, env, to_out[1], to_error[1], &out->pid);
    close_fd(&to_out[1]);
    close_fd(&to_error[1]);
    out->out = to_out[0];
    out->error = to_error[0];
    if (!rc)
        return 0;
    close_all(out);
    return ebb_err_errno(err, rc, "%s", argv[0]);
}

/* What goes beyond the bound is read, so that the child goes on, and dropped. */
static void take(int *fd, int log, size_t max, size_t *taken)
{
    char piece[16384];
    ssize_t n = read(*fd, piece, sizeof piece);
    size_t room = max - *taken;
    size_t keep = n > 0 ? (size_t)n : 0;

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        close_fd(fd);
        return;
    }
    if (keep > room)
        keep = room;
    while (keep) {
        ssize_t done = write(log, piece, keep);

        if (done <= 0)
            break;
        keep -= (size_t)done;
        *taken += (size_t)done;
        memmove(piece, piece + done, keep);
    }
}

/* Take what is there; true when something came. */
static bool take_some(struct ebb__child *child, int wait_ms)
{
    struct pollfd fds[2] = {{child->out, POLLIN, 0}, {child->error, POLLIN, 0}};

    if (poll(fds, 2, wait_ms) <= 0)
        return false;
    if (child->out >= 0 && fds[0].revents)
        take(&child->out, child->out_log, child->log_max, &child->out_bytes);
    if (child->error >= 0 && fds[1].revents)
        take(&child->error, child->error_log, child->log_max, &child->error_bytes);
    return true;
}

bool ebb__child_wait(struct ebb__child *child, int wait_ms)
{
    siginfo_t info;

    take_some(child, wait_ms);
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT))
        return errno != EINTR;
    return info.si_pid != 0;
}

int ebb__child_end(struct ebb__child *child, bool with_group)
{
    int status = 127 << 8; /* when somebody else waited for it */
    pid_t pid;

    if (with_group)
        kill(-child->pid, SIGKILL);
    do
        pid = waitpid(child->pid, &status, 0);
    while (pid < 0 && errno == EINTR);
    for (int i = 0; i < 1024 && take_some(child, 0); i++)
        ;
    close_all(child);
    return status;
}

/* Field 22 of /proc/<pid>/stat; the name before it is in parentheses and may hold anything. */
static bool start_of(pid_t pid, char out[32])
{
    char path[64], text[1024];
    FILE *f;
    size_t n;
    char *at;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    f = fopen(path, "re");
    if (!f)
        return false;
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    at = strrchr(text, ')');
    for (int i = 0; at && i < 20; i++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    snprintf(out, 32, "%.*s", (int)strcspn(at + 1, " "), at + 1);
    return true;
}

static void boot_of(char out[64])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    out[0] = '\0';
    if (f && fgets(out, 64, f))
        out[strcspn(out, "\n")] = '\0';
    if (f)
        fclose(f);
}

int ebb__child_mark(pid_t pid, struct ebb_buf *out, struct ebb_err *err)
{
    char start[32], boot[64];

    if (!start_of(pid, start))
        return ebb_err_set(err, EBB_EIO, "process %ld: can't be seen in /proc", (long)pid);
    boot_of(boot);
    ebb_buf_printf(out, "%ld %s %s\n", (long)pid, start, boot);
    return ebb_buf_check(out, "process", err);
}

bool ebb__child_lives(const char *mark)
{
    long pid = strtol(mark, NULL, 10);
    struct ebb_buf now;
    bool lives;

    if (pid <= 1 || pid > INT32_MAX)
        return false;
    ebb_buf_init(&now, 256);
    lives = !ebb__child_mark((pid_t)pid, &now, NULL) && !strcmp(ebb_buf_cstr(&now), mark);
    ebb_buf_fini(&now);
    return lives;
}

void ebb__child_kill(const char *mark, bool *lived)
{
    *lived = ebb__child_lives(mark);
    if (*lived)
        kill((pid_t)-strtol(mark, NULL, 10), SIGKILL);
}
