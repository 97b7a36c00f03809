/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tz_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZONE_FOLDER "/usr/share/zoneinfo"
enum { ZONE_FILE_MAX = 256 * 1024, VERSION_BYTES = 16 };

static const char NAME_BYTES[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";

/* UTC needs no file. */
static int make_utc(struct ebb_tz **out, struct ebb_err *err)
{
    struct ebb_tz *tz = calloc(1, sizeof *tz);

    if (!tz || ebb__tz_add(tz, EBB_TZ_START_S, 0, NULL)) {
        ebb_tz_free(tz);
        return ebb_err_nomem(err);
    }
    memcpy(tz->name, "UTC", 4);
    *out = tz;
    return 0;
}

static int refuse(const char *name, const char *why, struct ebb_err *err)
{
    (void)ebb_err_set(err, EBB_ETIME, "time zone \"%.64s\": %s", name, why);
    ebb_err_hint(err, "write a name of the IANA zone database such as \"Europe/Berlin\", or \"UTC\"");
    return -EBB_ETIME;
}

static int check_name(const char *name, struct ebb_err *err)
{
    size_t length = strlen(name);

    if (!length)
        return refuse(name, "empty", err);
    if (length >= EBB_TZ_NAME_MAX)
        return refuse(name, "too long", err);
    if (strspn(name, NAME_BYTES) != length)
        return refuse(name, "holds a character that no zone has in its name", err);
    if (!strchr(name, '/'))
        return refuse(name, "abbreviations are not accepted", err);
    if (name[0] == '/' || name[length - 1] == '/' || strstr(name, "//"))
        return refuse(name, "not a name but a path", err);
    if (strncmp(name, "right/", 6) == 0 || strncmp(name, "posix/", 6) == 0)
        return refuse(name, "not a name but a folder of the zone database", err);
    return 0;
}

/* Read up to max bytes from an open file; -1 with errno. */
static ssize_t read_up_to(int fd, char *into, size_t max)
{
    size_t have = 0;

    while (have < max) {
        ssize_t got = read(fd, into + have, max - have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

static int load_file(int fd, const char *name, struct ebb_tz **out, struct ebb_err *err)
{
    struct stat st;
    char *bytes = NULL;
    ssize_t got;
    int rc;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return refuse(name, "not a file of the zone database", err);
    if (st.st_size > ZONE_FILE_MAX)
        return refuse(name, "the zone file is too large", err);
    bytes = malloc((size_t)st.st_size + 1);
    if (!bytes)
        return ebb_err_nomem(err);
    got = read_up_to(fd, bytes, (size_t)st.st_size);
    if (got < 0)
        rc = refuse(name, "the zone file cannot be read", err);
    else
        rc = ebb_tz_parse(name, bytes, (size_t)got, out, err);
    free(bytes);
    return rc;
}

int ebb_tz_load(const char *name, struct ebb_tz **out, struct ebb_err *err)
{
    char path[sizeof ZONE_FOLDER + 1 + EBB_TZ_NAME_MAX];
    int fd, rc;

    *out = NULL;
    if (strcmp(name, "UTC") == 0)
        return make_utc(out, err);
    rc = check_name(name, err);
    if (rc)
        return rc;
    snprintf(path, sizeof path, ZONE_FOLDER "/%s", name);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return refuse(name,
                      errno == ENOENT || errno == ENOTDIR ? "not in the zone database " ZONE_FOLDER
                                                          : "the zone file cannot be opened",
                      err);
    rc = load_file(fd, name, out, err);
    close(fd);
    return rc;
}

void ebb_tz_version(char out[16])
{
    static const char LEAD[] = "# version ";
    char line[64];
    ssize_t got;
    size_t length;
    int fd = open(ZONE_FOLDER "/tzdata.zi", O_RDONLY | O_CLOEXEC);

    out[0] = '\0';
    if (fd < 0)
        return;
    got = read_up_to(fd, line, sizeof line - 1);
    close(fd);
    if (got < (ssize_t)sizeof LEAD || memcmp(line, LEAD, sizeof LEAD - 1) != 0)
        return;
    line[got] = '\0';
    length = strcspn(line + sizeof LEAD - 1, " \r\n");
    if (length < VERSION_BYTES) {
        memcpy(out, line + sizeof LEAD - 1, length);
        out[length] = '\0';
    }
}
