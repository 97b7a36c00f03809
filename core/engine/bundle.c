/* SPDX-License-Identifier: Apache-2.0 */
/* The plain SHA-256 of libcrypto: unlike EVP it allocates nothing and so cannot fail. */
#define OPENSSL_API_COMPAT 10101

#include "engine/bundle_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_BYTES 64

int ebb__bundle_init(struct ebb__bundle *bundle, const char *file, struct ebb_err *err)
{
    const char *slash = strrchr(file, '/');

    memset(bundle, 0, sizeof *bundle);
    bundle->dir = slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : strdup(".");
    return bundle->dir ? 0 : ebb_err_nomem(err);
}

void ebb__bundle_fini(struct ebb__bundle *bundle)
{
    for (size_t i = 0; i < bundle->count; i++) {
        free(bundle->libs[i].name);
        free(bundle->libs[i].source);
    }
    free(bundle->dir);
    memset(bundle, 0, sizeof *bundle);
}

static int read_all(int fd, const char *shown, char *to, size_t cap, size_t *n, struct ebb_err *err)
{
    ssize_t got;

    *n = 0;
    while (*n < cap) {
        got = read(fd, to + *n, cap - *n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ebb_err_errno(err, errno, "%s", shown);
        if (got == 0)
            return 0;
        *n += (size_t)got;
    }
    ebb_err_set(err, EBB_EPOLICY_SCHEMA, "%s: longer than %zu bytes", shown, EBB_POLICY_SOURCE_MAX_BYTES);
    ebb_err_hint(err, "a policy has at most 64 KiB; shared code goes into lib/NAME.lua");
    return -(int)EBB_EPOLICY_SCHEMA;
}

int ebb__source_read(int dir, const char *name, const char *shown, int flags, char **out, size_t *n,
                     struct ebb_err *err)
{
    struct stat st;
    char *data = NULL;
    int rc = 0, fd;

    *out = NULL;
    fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    if (fd < 0)
        return ebb_err_errno(err, errno, "%s", shown);
    if (fstat(fd, &st))
        rc = ebb_err_errno(err, errno, "%s", shown);
    else if (!S_ISREG(st.st_mode))
        rc = ebb_err_set(err, EBB_EPOLICY_SCHEMA, "%s: not a regular file", shown);
    if (rc)
        goto out;
    data = malloc(EBB_POLICY_SOURCE_MAX_BYTES + 1);
    rc = data ? read_all(fd, shown, data, EBB_POLICY_SOURCE_MAX_BYTES + 1, n, err) : ebb_err_nomem(err);
    if (rc)
        goto out;
    *out = data;
    data = NULL;
out:
    free(data);
    close(fd);
    return rc;
}

static bool is_name(const char *name)
{
    size_t n = strlen(name);

    return n && n < NAME_MAX_BYTES && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

/* Note why a library, or their folder, could not be opened; rc is what opening gave. */
static int refuse_lib(struct ebb__bundle *bundle, int dir, const char *file, const char *shown, int rc,
                      struct ebb_err *err)
{
    struct stat st;

    bundle->fault = rc == -(int)EBB_ENOENT ? "use.missing" : "use.unreadable";
    if (dir < 0 || fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(st.st_mode))
        return rc;
    bundle->fault = "use.link";
    return ebb_err_set(err, EBB_EPOLICY_SCHEMA, "%s: a link; libraries are files in the policy's own folder", shown);
}

static int read_lib(struct ebb__bundle *bundle, const char *name, struct ebb__lib *lib, struct ebb_err *err)
{
    char file[NAME_MAX_BYTES + 8], shown[NAME_MAX_BYTES + 16];
    int rc, dir = -1, base;

    snprintf(file, sizeof file, "%s.lua", name);
    snprintf(shown, sizeof shown, "lib/%s", file);
    base = open(bundle->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (base >= 0)
        dir = openat(base, "lib", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0) {
        rc = ebb_err_errno(err, errno, "%s", shown);
        rc = refuse_lib(bundle, base, "lib", shown, rc, err);
    } else {
        rc = ebb__source_read(dir, file, shown, O_NOFOLLOW, &lib->source, &lib->source_bytes, err);
        if (rc)
            rc = refuse_lib(bundle, dir, file, shown, rc, err);
    }
    if (dir >= 0)
        close(dir);
    if (base >= 0)
        close(base);
    return rc;
}

const struct ebb__lib *ebb__bundle_get(struct ebb__bundle *bundle, const char *name, struct ebb_err *err)
{
    struct ebb__lib *lib;

    for (size_t i = 0; i < bundle->count; i++)
        if (!strcmp(bundle->libs[i].name, name))
            return &bundle->libs[i];
    if (!is_name(name)) {
        bundle->fault = "use.name";
        ebb_err_set(err, EBB_EPOLICY_SCHEMA, "the name of a library is plain: [a-z][a-z0-9_]*");
        return NULL;
    }
    if (bundle->is_closed || bundle->count == EBB_POLICY_LIBS_MAX) {
        bundle->fault = "use.unreadable";
        ebb_err_set(err, EBB_EPOLICY_SCHEMA, "lib/%s.lua: %s", name,
                    bundle->is_closed ? "not loaded" : "too many libraries");
        return NULL;
    }
    lib = &bundle->libs[bundle->count];
    memset(lib, 0, sizeof *lib);
    if (read_lib(bundle, name, lib, err))
        return NULL;
    lib->name = strdup(name);
    if (!lib->name) {
        free(lib->source);
        ebb_err_nomem(err);
        return NULL;
    }
    bundle->count++;
    return lib;
}

static int compare_libs(const void *a, const void *b)
{
    const struct ebb__lib *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static void add_part(SHA256_CTX *sha, const char *name, const char *source, size_t n)
{
    char head[NAME_MAX_BYTES + 40];
    int length = snprintf(head, sizeof head, "%s %zu\n", name, n);

    SHA256_Update(sha, head, (size_t)length);
    SHA256_Update(sha, source, n);
}

void ebb__bundle_hash(struct ebb__bundle *bundle, struct ebb_str source, char out[80])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_CTX sha;

    SHA256_Init(&sha);
    add_part(&sha, "policy", source.p, source.n);
    qsort(bundle->libs, bundle->count, sizeof *bundle->libs, compare_libs);
    for (size_t i = 0; i < bundle->count; i++)
        add_part(&sha, bundle->libs[i].name, bundle->libs[i].source, bundle->libs[i].source_bytes);
    SHA256_Final(digest, &sha);
    memcpy(out, "sha256:", 8);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(out + 7 + 2 * i, 3, "%02x", digest[i]);
}
