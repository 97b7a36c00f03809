/* SPDX-License-Identifier: Apache-2.0
 *
 * The sources a policy consists of: its file and the libraries that it uses, read once, and their common hash.
 */
#ifndef EBB_ENGINE_BUNDLE_PRIV_H
#define EBB_ENGINE_BUNDLE_PRIV_H

#include "base/buf.h"
#include "engine/policy.h"

struct ebb__lib {
    char *name;
    char *source;
    size_t source_bytes;
};

struct ebb__bundle {
    char *dir;      /* libraries are in <dir>/lib */
    bool is_closed; /* no file is read any more */
    struct ebb__lib libs[EBB_POLICY_LIBS_MAX];
    size_t count;
    const char *fault; /* code of the last library that could not be had: "use.missing" …; NULL none */
};

/* dir is taken from the file's name. EBB_ENOMEM. */
int ebb__bundle_init(struct ebb__bundle *bundle, const char *file, struct ebb_err *err);
void ebb__bundle_fini(struct ebb__bundle *bundle);
/* A library by name ([a-z][a-z0-9_]*), read when new; NULL on error. Links are not followed. */
const struct ebb__lib *ebb__bundle_get(struct ebb__bundle *bundle, const char *name, struct ebb_err *err);
/* "sha256:<hex>" over the source and all libraries, in order of their names. */
void ebb__bundle_hash(struct ebb__bundle *bundle, struct ebb_str source, char out[80]);
/* Read a regular file of at most EBB_POLICY_SOURCE_MAX_BYTES; dir is a descriptor or AT_FDCWD; flags go to openat. The
 * caller frees *out. */
int ebb__source_read(int dir, const char *name, const char *shown, int flags, char **out, size_t *n,
                     struct ebb_err *err);

#endif
