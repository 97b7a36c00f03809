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
static const char *const BARRED[] = {"PATH",
                                     "IFS",
                                     "ENV",
                                     "PS0",
                                     "PS1",
                                     "PS2",
                                     "PS4",
                                     "SHELL",
                                     "SHELLOPTS",
                                     "CDPATH",
                                     "FPATH",
                                     "ZDOTDIR",
                                     "HOME",
                                     "GCONV_PATH",
                                     "LOCPATH",
                                     "NLSPATH",
                                     "TERMINFO",
                                     "INPUTRC",
                                     "VISUAL",
                                     "BROWSER",
                                     "LESS",
                                     "LESSOPEN",
                                     "LESSCLOSE",
                                     "MAKEFILES",
                                     "MANPATH",
                                     "AWKPATH",
                                     "TMPDIR",
                                     "HOSTALIASES",
                                     "LOCALDOMAIN",
                                     "PSQLRC",
                                     "AWKLIBPATH",
                                     "KUBECONFIG",
                                     "SASL_PATH",
                                     "ODBCINI",
                                     "ODBCSYSINI",
                                     "ODBCINSTINI",
                                     "KRB5_CONFIG",
                                     "GOROOT",
                                     "AWS_CONFIG_FILE",
                                     "AWS_SHARED_CREDENTIALS_FILE"};
static const char *const BARRED_PREFIXES[] = {
    "LD_",    "DYLD_",     "BASH",      "GLIBC_",   "MALLOC_", "PYTHON", "PYSPARK_", "PERL",     "RUBY",
    "GEM_",   "BUNDLE_",   "NODE_",     "NPM_",     "DENO_",   "JAVA_",  "_JAVA_",   "JDK_",     "LUA_",
    "GIT_",   "SSH_",      "SSL_",      "OPENSSL_", "CURL_",   "XDG_",   "EBB_",     "TCL",      "PHP",
    "R_LIBS", "R_PROFILE", "R_ENVIRON", "GUILE_",   "ERL_",    "JULIA_", "DOTNET_",  "CORECLR_", "MONO_"};
static const char *const BARRED_ENDS[] = {"_OPTS",  "_OPTIONS", "CLASSPATH", "_HOME",    "_CONF_DIR",
                                          "FLAGS",  "_RSH",     "_SHELL",    "_COMMAND", "PAGER",
                                          "EDITOR", "_ASKPASS", "_PRELOAD",  "_PYTHON"};

static bool is_barred(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof BARRED / sizeof *BARRED; i++)
        if (!strcasecmp(name, BARRED[i]))
            return true;
    for (size_t i = 0; i < sizeof BARRED_PREFIXES / sizeof *BARRED_PREFIXES; i++)
        if (!strncasecmp(name, BARRED_PREFIXES[i], strlen(BARRED_PREFIXES[i])))
            return true;
    for (size_t i = 0; i < sizeof BARRED_ENDS / sizeof *BARRED_ENDS; i++) {
        size_t end = strlen(BARRED_ENDS[i]);

        if (n >= end && !strcasecmp(name + n - end, BARRED_ENDS[i]))
            return true;
    }
    return false;
}

int ebb_shell_check_variable(const char *name, struct ebb_err *err)
{
    bool is_plain = name[0] && !(name[0] >= '0' && name[0] <= '9');

    for (const char *p = name; is_plain && *p; p++)
        is_plain = *p == '_' || (*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z');
    if (!is_plain)
        return ebb_err_set(err, EBB_EPERMISSION, "environment variable '%s': letters, digits and '_' are wanted", name);
    if (is_barred(name))
        return ebb_err_set(err, EBB_EPERMISSION, "environment variable %s: a template may not set it", name);
    return 0;
}
