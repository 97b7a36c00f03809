/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults for a program under test, by LD_PRELOAD. EBB_FAULT=WHAT:N:ERRNO[:MODE] makes the N-th call fail (N = 0: none).
 *
 * WHAT: "alloc" is malloc, calloc and realloc (the error is ENOMEM whatever is said); "io" the calls of IO below; or
 * the name of one of those; "clock": from the N-th look on the clock of the day is ERRNO seconds ahead. MODE: "once"
 * (default) that call alone; "on" it and all that follow; "stop": that call stops the process (SIGSTOP) and then does
 * its work; "short": from that call on reads and writes move one byte at most.
 *
 * Calls are counted from the beginning of main, and those on standard descriptors not at all. EBB_FAULT_COUNT=FILE: at
 * the end the numbers of calls are appended to that file, as lines "alloc N" and "io N" (of WHAT, when it names one
 * call).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* ---- which call fails ---- */

enum mode { ONCE, ON, SHORT, STOP };

static struct {
    bool is_alloc, is_any_io;
    char name[32];
    long at;
    int error;
    enum mode mode;
} fault;
static atomic_bool is_on;
static atomic_long allocs, calls;

static void read_setting(void)
{
    const char *text = getenv("EBB_FAULT");
    char mode[16] = "";

    if (!text || sscanf(text, "%31[^:]:%ld:%d:%15s", fault.name, &fault.at, &fault.error, mode) < 3)
        return;
    fault.is_alloc = strcmp(fault.name, "alloc") == 0;
    fault.is_any_io = strcmp(fault.name, "io") == 0;
    fault.mode = strcmp(mode, "on") == 0      ? ON
                 : strcmp(mode, "short") == 0 ? SHORT
                 : strcmp(mode, "stop") == 0  ? STOP
                                              : ONCE;
}

static bool is_due(long number)
{
    return fault.at > 0 && (fault.mode == ONCE || fault.mode == STOP ? number == fault.at : number >= fault.at);
}

static bool alloc_fails(void)
{
    if (!atomic_load(&is_on))
        return false;
    return is_due(atomic_fetch_add(&allocs, 1) + 1) && fault.is_alloc;
}

static bool is_meant(const char *name, int fd)
{
    return atomic_load(&is_on) && (fd < 0 || fd > 2) && !fault.is_alloc &&
           (fault.is_any_io || strcmp(fault.name, name) == 0);
}

/* fd: the descriptor the call is about; -1 none. */
static bool call_fails(const char *name, int fd)
{
    if (!is_meant(name, fd) || !is_due(atomic_fetch_add(&calls, 1) + 1) || fault.mode == SHORT)
        return false;
    if (fault.mode == STOP) {
        raise(SIGSTOP);
        return false;
    }
    errno = fault.error;
    return true;
}

static size_t cut(const char *name, int fd, size_t n)
{
    bool is_short = fault.mode == SHORT && is_meant(name, fd) && is_due(atomic_load(&calls));

    return is_short && n > 1 ? 1 : n;
}

/* ---- the real ones ---- */

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found)
        abort();
    return found;
}

/* A variable that holds the next function of that name, looked up once. */
#define NEXT(type, name, arguments)                                                                                    \
    static type(*_Atomic real_##name) arguments;                                                                       \
    static type(*next_##name(void)) arguments                                                                          \
    {                                                                                                                  \
        type(*found) arguments = atomic_load(&real_##name);                                                            \
                                                                                                                       \
        if (!found) {                                                                                                  \
            *(void **)&found = next(#name);                                                                            \
            atomic_store(&real_##name, found);                                                                         \
        }                                                                                                              \
        return found;                                                                                                  \
    }

/* ---- memory: dlsym itself may allocate, out of a small arena ---- */

static _Alignas(16) unsigned char arena[65536];
static size_t arena_used;
static bool is_looking;

static void *from_arena(size_t n)
{
    void *found = arena + arena_used;

    n = (n + 15) & ~(size_t)15;
    if (n > sizeof arena - arena_used)
        abort();
    arena_used += n;
    return found;
}

static bool is_of_arena(const void *p)
{
    return (const unsigned char *)p >= arena && (const unsigned char *)p < arena + sizeof arena;
}

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);

static bool find_memory(void)
{
    if (real_free)
        return true;
    if (is_looking)
        return false;
    is_looking = true;
    *(void **)&real_malloc = next("malloc");
    *(void **)&real_calloc = next("calloc");
    *(void **)&real_realloc = next("realloc");
    *(void **)&real_free = next("free");
    is_looking = false;
    return true;
}

void *malloc(size_t n)
{
    if (!find_memory())
        return from_arena(n);
    if (alloc_fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return real_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    if (!find_memory())
        return from_arena(n * size);
    if (alloc_fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return real_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    if (!find_memory() || is_of_arena(p))
        abort();
    if (alloc_fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return real_realloc(p, n);
}

void free(void *p)
{
    if (is_of_arena(p) || !find_memory())
        return;
    real_free(p);
}

/* ---- IO: descriptors ---- */

NEXT(ssize_t, read, (int, void *, size_t))
NEXT(ssize_t, write, (int, const void *, size_t))
NEXT(ssize_t, pread64, (int, void *, size_t, off_t))
NEXT(ssize_t, pwrite64, (int, const void *, size_t, off_t))
NEXT(int, fsync, (int))
NEXT(int, fdatasync, (int))
NEXT(int, ftruncate64, (int, off_t))
NEXT(int, fstat64, (int, struct stat64 *))

ssize_t read(int fd, void *to, size_t n)
{
    return call_fails("read", fd) ? -1 : next_read()(fd, to, cut("read", fd, n));
}

ssize_t write(int fd, const void *from, size_t n)
{
    return call_fails("write", fd) ? -1 : next_write()(fd, from, cut("write", fd, n));
}

ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
    return call_fails("pread", fd) ? -1 : next_pread64()(fd, to, cut("pread", fd, n), at);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    return pread64(fd, to, n, at);
}

ssize_t pwrite64(int fd, const void *from, size_t n, off_t at)
{
    return call_fails("pwrite", fd) ? -1 : next_pwrite64()(fd, from, cut("pwrite", fd, n), at);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    return pwrite64(fd, from, n, at);
}

int fsync(int fd)
{
    return call_fails("fsync", fd) ? -1 : next_fsync()(fd);
}

int fdatasync(int fd)
{
    return call_fails("fsync", fd) ? -1 : next_fdatasync()(fd);
}

int ftruncate64(int fd, off_t n)
{
    return call_fails("ftruncate", fd) ? -1 : next_ftruncate64()(fd, n);
}

int ftruncate(int fd, off_t n)
{
    return ftruncate64(fd, n);
}

int fstat64(int fd, struct stat64 *st)
{
    return call_fails("stat", fd) ? -1 : next_fstat64()(fd, st);
}

int fstat(int fd, struct stat *st)
{
    return fstat64(fd, (struct stat64 *)st);
}

/* ---- IO: names ---- */

NEXT(int, open64, (const char *, int, ...))
NEXT(int, openat64, (int, const char *, int, ...))
NEXT(int, renameat2, (int, const char *, int, const char *, unsigned))
NEXT(int, rename, (const char *, const char *))
NEXT(int, renameat, (int, const char *, int, const char *))
NEXT(int, linkat, (int, const char *, int, const char *, int))
NEXT(int, unlink, (const char *))
NEXT(int, unlinkat, (int, const char *, int))
NEXT(int, mkdir, (const char *, mode_t))
NEXT(int, mkdirat, (int, const char *, mode_t))
NEXT(int, statx, (int, const char *, int, unsigned, struct statx *))
NEXT(int, stat64, (const char *, struct stat64 *))
NEXT(int, lstat64, (const char *, struct stat64 *))
NEXT(int, fstatat64, (int, const char *, struct stat64 *, int))
NEXT(ssize_t, getdents64, (int, void *, size_t))

static mode_t mode_of(int flags, va_list rest)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

int open64(const char *name, int flags, ...)
{
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = mode_of(flags, rest);
    va_end(rest);
    return call_fails("open", -1) ? -1 : next_open64()(name, flags, mode);
}

int open(const char *name, int flags, ...)
{
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = mode_of(flags, rest);
    va_end(rest);
    return open64(name, flags, mode);
}

int openat64(int dir, const char *name, int flags, ...)
{
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = mode_of(flags, rest);
    va_end(rest);
    return call_fails("open", -1) ? -1 : next_openat64()(dir, name, flags, mode);
}

int openat(int dir, const char *name, int flags, ...)
{
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = mode_of(flags, rest);
    va_end(rest);
    return openat64(dir, name, flags, mode);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return call_fails("renameat2", -1) ? -1 : next_renameat2()(from_dir, from, to_dir, to, flags);
}

int rename(const char *from, const char *to)
{
    return call_fails("rename", -1) ? -1 : next_rename()(from, to);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return call_fails("rename", -1) ? -1 : next_renameat()(from_dir, from, to_dir, to);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return call_fails("link", -1) ? -1 : next_linkat()(from_dir, from, to_dir, to, flags);
}

int unlink(const char *name)
{
    return call_fails("unlink", -1) ? -1 : next_unlink()(name);
}

int unlinkat(int dir, const char *name, int flags)
{
    return call_fails("unlink", -1) ? -1 : next_unlinkat()(dir, name, flags);
}

int mkdir(const char *name, mode_t mode)
{
    return call_fails("mkdir", -1) ? -1 : next_mkdir()(name, mode);
}

int mkdirat(int dir, const char *name, mode_t mode)
{
    return call_fails("mkdir", -1) ? -1 : next_mkdirat()(dir, name, mode);
}

int statx(int dir, const char *name, int flags, unsigned mask, struct statx *st)
{
    return call_fails("stat", -1) ? -1 : next_statx()(dir, name, flags, mask, st);
}

int stat64(const char *name, struct stat64 *st)
{
    return call_fails("stat", -1) ? -1 : next_stat64()(name, st);
}

int stat(const char *name, struct stat *st)
{
    return stat64(name, (struct stat64 *)st);
}

int lstat64(const char *name, struct stat64 *st)
{
    return call_fails("stat", -1) ? -1 : next_lstat64()(name, st);
}

int lstat(const char *name, struct stat *st)
{
    return lstat64(name, (struct stat64 *)st);
}

int fstatat64(int dir, const char *name, struct stat64 *st, int flags)
{
    return call_fails("stat", -1) ? -1 : next_fstatat64()(dir, name, st, flags);
}

int fstatat(int dir, const char *name, struct stat *st, int flags)
{
    return fstatat64(dir, name, (struct stat64 *)st, flags);
}

ssize_t getdents64(int fd, void *to, size_t n)
{
    return call_fails("getdents64", fd) ? -1 : next_getdents64()(fd, to, n);
}

/* ---- IO: by number ---- */

NEXT(long, syscall, (long, ...))

static const char *name_of(long number)
{
    switch (number) {
    case SYS_openat2:
        return "open";
    case SYS_renameat2:
        return "renameat2";
    case SYS_getdents64:
        return "getdents64";
    case SYS_statx:
        return "stat";
    default:
        return NULL;
    }
}

long syscall(long number, ...)
{
    const char *name = name_of(number);
    long a[6];
    va_list rest;
    int i;

    va_start(rest, number);
    for (i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    return name && call_fails(name, -1) ? -1 : next_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- the clock ---- */

NEXT(int, clock_gettime, (clockid_t, struct timespec *))

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int rc = next_clock_gettime()(clock, out);

    if (clock == CLOCK_REALTIME && strcmp(fault.name, "clock") == 0 && is_meant("clock", -1) &&
        is_due(atomic_fetch_add(&calls, 1) + 1))
        out->tv_sec += fault.error;
    return rc;
}

/* ---- begin and end ---- */

static void count(void)
{
    const char *file = getenv("EBB_FAULT_COUNT");
    char text[64];
    int fd, n;

    atomic_store(&is_on, false);
    if (!file)
        return;
    fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    n = snprintf(text, sizeof text, "alloc %ld\nio %ld\n", atomic_load(&allocs), atomic_load(&calls));
    if (fd >= 0 && write(fd, text, (size_t)n) != n)
        abort();
    close(fd);
}

typedef int main_cb(int, char **, char **);
static main_cb *program;

static int counted(int argc, char **argv, char **env)
{
    read_setting();
    atexit(count);
    atomic_store(&is_on, true);
    return program(argc, argv, env);
}

typedef int start_cb(main_cb *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
int __libc_start_main(main_cb *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

int __libc_start_main(main_cb *given, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    start_cb *real;

    *(void **)&real = next("__libc_start_main");
    program = given;
    return real(counted, argc, argv, init, fini, rtld_fini, stack_end);
}
