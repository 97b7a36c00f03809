/* SPDX-License-Identifier: Apache-2.0 */
#include "service/shell.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *path, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_EPERMISSION, "executable %s: %s", path, why);
}

/* Whether others can put another file in the place of one in a folder; the sticky bit keeps them from it. */
static bool is_open(const struct stat *s)
{
    bool is_of_others = s->st_uid != 0 && s->st_uid != geteuid();
    bool is_groups = (s->st_mode & S_IWGRP) && s->st_gid != 0 && s->st_gid != getegid();

    return is_of_others || ((is_groups || (s->st_mode & S_IWOTH)) && !(s->st_mode & S_ISVTX));
}

static int check_folders(const char *path, struct ebb_err *err)
{
    char *copy = strdup(path);
    struct stat s;
    int rc = copy ? 0 : ebb_err_nomem(err);

    for (char *slash = copy ? strrchr(copy, '/') : NULL; !rc && slash && slash != copy; slash = strrchr(copy, '/')) {
        *slash = '\0';
        if (stat(copy, &s))
            rc = ebb_err_errno(err, errno, "executable %s", path);
        else if (is_open(&s))
            rc = refuse(path, "others can change a folder above it", err);
    }
    free(copy);
    return rc;
}

static int check_file(const char *path, struct ebb_err *err)
{
    struct stat s;

    if (lstat(path, &s))
        return refuse(path, "there is no such file", err);
    if (!S_ISREG(s.st_mode))
        return refuse(path, "is no regular file", err);
    if (s.st_mode & (S_IWGRP | S_IWOTH))
        return refuse(path, "others can change it", err);
    if (s.st_uid != 0 && s.st_uid != geteuid())
        return refuse(path, "belongs to another user", err);
    if (access(path, X_OK))
        return refuse(path, "can't be executed", err);
    return 0;
}

int ebb_shell_check_executable(const struct ebb_strs *allowed, const char *path, struct ebb_err *err)
{
    char *real;
    bool is_real;
    int rc;

    if (!allowed || !ebb_strs_has(allowed, path))
        return refuse(path, "is not on the list of executables in the configuration (serve.executables)", err);
    if (path[0] != '/')
        return refuse(path, "is no absolute path", err);
    real = realpath(path, NULL);
    is_real = real && !strcmp(real, path);
    free(real);
    if (!is_real)
        return refuse(path, "is not there, or leads elsewhere", err);
    rc = check_file(path, err);
    return rc ? rc : check_folders(path, err);
}

/* By these a loader or an interpreter is told to run something else. */
static const char *const BARRED[] = {
    "PATH",    "IFS",         "ENV",         "PS1",         "PS4",      "SHELL",     "SHELLOPTS", "CDPATH",
    "HOME",    "GCONV_PATH",  "LOCPATH",     "NLSPATH",     "TERMINFO", "EDITOR",    "PAGER",     "_JAVA_OPTIONS",
    "MANPATH", "HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS", "TMPDIR",   "CLASSPATH", "JAVA_HOME", "SPARK_HOME"};
static const char *const BARRED_PREFIXES[] = {"LD_",  "DYLD_",    "BASH",  "GLIBC_", "MALLOC_", "PYTHON", "PERL",
                                              "RUBY", "NODE_",    "JAVA_", "JDK_",   "LUA_",    "GIT_",   "SSH_",
                                              "SSL_", "OPENSSL_", "CURL_", "XDG_",   "EBB_",    "TCL",    "PHP"};

int ebb_shell_check_variable(const char *name, struct ebb_err *err)
{
    bool is_plain = name[0] && !(name[0] >= '0' && name[0] <= '9');
    bool is_barred = false;

    for (const char *p = name; is_plain && *p; p++)
        is_plain = *p == '_' || (*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z');
    if (!is_plain)
        return ebb_err_set(err, EBB_EPERMISSION, "environment variable '%s': letters, digits and '_' are wanted", name);
    for (size_t i = 0; i < sizeof BARRED / sizeof *BARRED; i++)
        is_barred = is_barred || !strcasecmp(name, BARRED[i]);
    for (size_t i = 0; i < sizeof BARRED_PREFIXES / sizeof *BARRED_PREFIXES; i++)
        is_barred = is_barred || !strncasecmp(name, BARRED_PREFIXES[i], strlen(BARRED_PREFIXES[i]));
    if (is_barred)
        return ebb_err_set(err, EBB_EPERMISSION, "environment variable %s: a template may not set it", name);
    return 0;
}
