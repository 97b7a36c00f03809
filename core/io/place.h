/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage. A *place* is one opened folder (local directory handle, or a bucket and prefix), reached by URI through a
 * map, behind a vtable. Names below it are relative byte strings: no leading slash, no empty, "." or ".." component
 * (EBB_EBAD_LOCATION). Nothing below the place is ever reached through a symbolic link or across a mount point. Reading
 * and writing are two openings: only a place opened for writing has the write functions. One thread per place; several
 * places may be used by several threads.
 */
#ifndef EBB_IO_PLACE_H
#define EBB_IO_PLACE_H

#include "base/clock.h"
#include "base/uri_map.h"
#include "io/s3.h"

#define EBB_STAT_ID_MAX 128

/* What storage says of one object. Times in ns since the epoch; 0 = unknown. In object stores mtime is LastModified in
 * whole seconds, ctime and btime are unknown, dev and ino are 0. */
struct ebb_stat {
    uint64_t size_bytes;
    int64_t mtime_ns, ctime_ns, btime_ns;
    uint64_t dev, ino;
    uint64_t link_count;
    bool is_file; /* a regular file, or an object */
    /* object stores only, else "" and 0: */
    char etag[EBB_S3_ETAG_MAX];     /* with its quotes */
    char moved_id[EBB_STAT_ID_MAX]; /* the identity it had before ebb moved it; "" of a listing, or never moved */
    int64_t moved_mtime_ns;         /* likewise its time */
};

/* "dev:ino:ctime_ns", in object stores "ETag:seconds of LastModified": the identity as plans and journals record it. */
void ebb_stat_id(const struct ebb_stat *st, char out[EBB_STAT_ID_MAX]);
/* Whether both are the same object, never touched in between, as far as storage tells. Two that it tells nothing of are
 * not. */
bool ebb_stat_is_same(const struct ebb_stat *a, const struct ebb_stat *b);
/* Whether both are one object under two names: the same inode. Never in object stores, where each name is an object. */
bool ebb_stat_is_one(const struct ebb_stat *a, const struct ebb_stat *b);
/* Whether a moved object is the one that was planned: same device, inode, size and mtime (ctime changes with a rename);
 * in object stores the same size, and it has this identity or carries it as that before the move. `id` is a recorded
 * identity. */
bool ebb_stat_is_moved(const struct ebb_stat *st, const char *id, uint64_t size_bytes, int64_t mtime_ns);

/* ---- reading single objects by URI (metadata, lists, manifests) ---- */

struct ebb_storage;
struct ebb_storage_options {
    const struct ebb_s3_config *s3; /* copied; NULL: all of it from the environment */
    struct ebb_clock clock;
    struct ebb_log log;
    const atomic_bool *cancelled; /* borrowed; may be NULL */
};
/* map is borrowed and must outlive it. options NULL: local only, s3: URIs are EBB_ESCHEME unless they are mapped. A URI
 * that the map covers goes where the map says (a local folder, or another s3: prefix); else s3:, s3a: and s3n: URIs go
 * to their bucket. Connects to nothing yet. One thread. EBB_ECONFIG names the field. */
int ebb_storage_new(const struct ebb_uri_map *map, const struct ebb_storage_options *options, struct ebb_storage **out,
                    struct ebb_err *err);
/* The same with another map: same options, and it shares what is lent to the other, also later. */
int ebb_storage_new_like(const struct ebb_storage *other, const struct ebb_uri_map *map, struct ebb_storage **out,
                         struct ebb_err *err);
void ebb_storage_free(struct ebb_storage *storage);
/* Keys that a catalog lends for everything below an s3: prefix ("s3://lake/wh/t/"; compared by whole components, the
 * longest prefix wins; the same again replaces it). config: endpoint, region and path style that go with them (its keys
 * are not used), what it leaves out being as configured: our own keys are never sent to an endpoint that a catalog
 * named. lender->data outlives the last use of the storage. */
int ebb_storage_lend(struct ebb_storage *storage, const char *prefix, const struct ebb_s3_config *config,
                     const struct ebb_s3_lender *lender, struct ebb_err *err);
/* While it is deaf, options->cancelled ends no request: for whoever changes what is stored, and stops between two steps
 * only. All that share its clients are deaf with it. */
void ebb_storage_set_deaf(struct ebb_storage *storage, bool is_deaf);
/* Whether a URI leads to an object store. */
bool ebb_storage_is_remote(const struct ebb_storage *storage, const char *uri);
/* Time of the storage that holds a URI minus ours, ms, as its last answer told: 0 for local folders, INT64_MIN when it
 * is not known. */
int64_t ebb_storage_ahead_ms(struct ebb_storage *storage, const char *uri);
/* Read a whole regular file into out (which is reset first; its max bounds the size). Opening never blocks (FIFO,
 * device: EBB_EIO). st may be NULL. EBB_ENOENT, EBB_EPERMISSION, EBB_EIO, EBB_ELIMIT, EBB_ESCHEME. */
int ebb_storage_read(struct ebb_storage *storage, const char *uri, struct ebb_buf *out, struct ebb_stat *st,
                     struct ebb_err *err);
/* These will be read soon, whole, in this order, and do not change: in object stores several are fetched at the same
 * time. Nothing else depends on it. Locally nothing is done. EBB_ENOMEM. */
int ebb_storage_read_ahead(struct ebb_storage *storage, const struct ebb_strs *uris, struct ebb_err *err);
/* As above, the first max bytes only. */
int ebb_storage_read_head(struct ebb_storage *storage, const char *uri, size_t max, struct ebb_buf *out,
                          struct ebb_err *err);
/* Stat without reading; follows links above the last component only. EBB_ENOENT when absent. */
int ebb_storage_stat(struct ebb_storage *storage, const char *uri, struct ebb_stat *st, struct ebb_err *err);
/* Many at once: locally one after another, in object stores side by side. Each item tells; non-zero only for what
 * concerns all. */
struct ebb_storage_stat_item {
    const char *uri;
    struct ebb_stat st;
    struct ebb_err err; /* EBB_OK: st is filled */
};
int ebb_storage_stat_many(struct ebb_storage *storage, struct ebb_storage_stat_item *items, size_t n,
                          struct ebb_err *err);
/* For each URI whether it is certain that nothing lies below it: false also where that can't be told, and for local
 * folders. In object stores all are asked for at once. Non-zero only for what concerns all. */
int ebb_storage_are_empty(struct ebb_storage *storage, const struct ebb_strs *uris, bool *out, struct ebb_err *err);
const struct ebb_uri_map *ebb_storage_map(const struct ebb_storage *storage);

/* ---- places ---- */

struct ebb_place;
enum ebb_place_mode { EBB_PLACE_READ, EBB_PLACE_WRITE };
/* Open the folder of a URI. EBB_ENOENT when it does not exist, EBB_EIO when it is no folder. The real path is resolved
 * once, here. */
int ebb_place_open(struct ebb_storage *storage, const char *uri, enum ebb_place_mode mode, struct ebb_place **out,
                   struct ebb_err *err);
void ebb_place_close(struct ebb_place *place);
/* The URI it was opened with, and the real local path ("" where there is none). Borrowed. */
const char *ebb_place_uri(const struct ebb_place *place);
const char *ebb_place_local(const struct ebb_place *place);
/* Where it really is, without a slash at its end: the real local path, or "s3://bucket/prefix". Borrowed. */
const char *ebb_place_address(const struct ebb_place *place);
/* Whether it lies in an object store: no folders, no links, moves are copies, local path "". */
bool ebb_place_is_remote(const struct ebb_place *place);
/* Of an object store: whether what is deleted stays as an older version (1, 0; -1: it does not tell). 0 locally. */
int ebb_place_is_versioned(struct ebb_place *place, int *out, struct ebb_err *err);
/* Device and inode of the folder itself; zeros in an object store. */
int ebb_place_stat_root(struct ebb_place *place, struct ebb_stat *st, struct ebb_err *err);
/* Whether its file system treats names that differ only in case as one (probed read-only on an entry of the folder;
 * false when it has none to probe with). */
int ebb_place_is_case_insensitive(struct ebb_place *place, bool *out, struct ebb_err *err);

enum ebb_walk_kind {
    EBB_WALK_FILE,
    EBB_WALK_LINK,  /* symbolic link: not followed */
    EBB_WALK_MOUNT, /* a folder on another file system: not entered */
    EBB_WALK_OTHER, /* socket, device, FIFO */
    EBB_WALK_ODD    /* an object whose key can't be a name here (an empty, "." or ".." component), or can't be told for
                       certain: it stays. dir is "", name the whole key below the place */
};
struct ebb_walk_entry {
    struct ebb_str dir;  /* folder relative to the place, "" = itself; bytes as the storage gave them */
    struct ebb_str name; /* last component */
    enum ebb_walk_kind kind;
    const void *handle; /* private to the storage */
};
/* Callbacks of a walk. enter: whether to go into a folder (NULL: always). dir: entries of this folder come next.
 * Non-zero from dir or entry stops the walk and is returned. */
struct ebb_walk_ops {
    bool (*enter)(void *data, struct ebb_str dir);
    int (*dir)(void *data, struct ebb_str dir, struct ebb_err *err);
    int (*entry)(void *data, const struct ebb_walk_entry *entry, struct ebb_err *err);
};
/* Walk everything below `below` ("" = the whole place), folders in an unspecified order, each one's entries together;
 *no stat is made. A folder that vanishes while walking counts as empty; one that may not be read, or any other failure,
 *ends the walk with its error . Folders are held by handle; depth is bounded by memory only. `below` itself is entered
 *without asking and must be a folder (EBB_ENOENT, EBB_EIO). That a folder is a mount point, or has become a link, shows
 *only when it is its turn: its parent is then announced again (dir) for this one entry. */
int ebb_place_walk(struct ebb_place *place, const char *below, const struct ebb_walk_ops *ops, void *data,
                   struct ebb_err *err);
/* Stat the entry at hand; only inside the entry callback. EBB_ENOENT when it is gone. */
int ebb_walk_stat(const struct ebb_walk_entry *entry, struct ebb_stat *st, struct ebb_err *err);

/* Stat a name below the place. Never follows a link (a link is is_file = false). EBB_ENOENT also when a folder on the
 * way is missing. */
int ebb_place_stat(struct ebb_place *place, const char *name, struct ebb_stat *st, struct ebb_err *err);
/* Read a regular file below the place, at most max bytes; *is_cut (may be NULL) tells whether there was more. */
int ebb_place_read(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                   struct ebb_err *err);
/* Append the absolute real path a link below the place leads to; EBB_ENOENT when it leads nowhere, EBB_EIO on a loop.
 */
int ebb_place_resolve_link(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err);
/* Bytes of a link's text. */
int ebb_place_read_link(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err);

/* Many at once: locally one after another, in object stores side by side. Each item tells; non-zero only for what
 * concerns all. */
struct ebb_place_stat_item {
    const char *name;
    struct ebb_stat st;
    struct ebb_err err; /* EBB_OK: st is filled */
};
int ebb_place_stat_many(struct ebb_place *place, struct ebb_place_stat_item *items, size_t n, struct ebb_err *err);
/* As ebb_place_read, of a file that was made by ebb_place_create and grew by ebb_place_append. */
int ebb_place_read_log(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                       struct ebb_err *err);

/* ---- writing; the place must have been opened with EBB_PLACE_WRITE (else EBB_EINTERNAL) ---- */

/* Make a folder and the ones above it, below the place. Existing is fine. New folders have mode 0700 if is_private,
 * else as the umask says. Synced. */
int ebb_place_make_dirs(struct ebb_place *place, const char *name, bool is_private, struct ebb_err *err);
/* Create a file with these bytes, mode 0600; EBB_EEXIST when the name exists. Synced, and its folder too. */
int ebb_place_create(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err);
/* Append bytes to a file (made with mode 0600 when missing); sync: data and, for a new file, the folder are on disk on
 * return. An object store can't append: there each piece is an object of its own beside it ("<name>.0000000001", …),
 * and only the _log functions see the whole. */
int ebb_place_append(struct ebb_place *place, const char *name, const void *bytes, size_t n, bool sync,
                     struct ebb_err *err);
/* Replace a file's content atomically (temporary file, fsync, rename, fsync of the folder). */
int ebb_place_replace(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err);
/* Move one object to a name that must not exist (renameat2 RENAME_NOREPLACE), possibly to another place on the same
 * file system. The target's folder must exist (EBB_EIO). EBB_EEXIST; EBB_ENOENT when from_name is gone, and only then;
 * another file system is EBB_EUNSUPPORTED ("cross-device"). Does not sync: see below. A file system without
 * RENAME_NOREPLACE: linkat + unlinkat, never a plain rename. */
int ebb_place_move(struct ebb_place *from, const char *from_name, struct ebb_place *to, const char *to_name,
                   struct ebb_err *err);
/* The same of many. Each must be the file of `planned`: in an object store it is copied only if it is, and deleted only
 * if it still is (what was moved carries `id` and the time of `planned`); locally the caller compares `after`. `after`
 * is what lies at the new name. EBB_ECHANGED: it was another one, nothing was changed. */
struct ebb_place_move_item {
    const char *from_name, *to_name;
    const struct ebb_stat *planned; /* as it was seen under from_name just before */
    const char *id;                 /* recorded identity */
    struct ebb_stat after;
    struct ebb_err err; /* EBB_OK: moved; else as of ebb_place_move */
};
int ebb_place_move_many(struct ebb_place *from, struct ebb_place *to, struct ebb_place_move_item *items, size_t n,
                        struct ebb_err *err);
/* Sync the folder that holds a name ("" = the place itself is the folder). */
int ebb_place_sync_dir(struct ebb_place *place, const char *dir, struct ebb_err *err);
/* Remove one name that is not a folder. EBB_ENOENT when it is gone already. */
int ebb_place_unlink(struct ebb_place *place, const char *name, struct ebb_err *err);
/* Remove many names. */
struct ebb_place_unlink_item {
    const char *name;
    struct ebb_err err;
};
int ebb_place_unlink_many(struct ebb_place *place, struct ebb_place_unlink_item *items, size_t n, struct ebb_err *err);
/* Remove a file that grew by ebb_place_append, whole. EBB_ENOENT when it is gone already. */
int ebb_place_unlink_log(struct ebb_place *place, const char *name, struct ebb_err *err);
/* Remove an empty folder. EBB_ENOENT; EBB_EEXIST when it is not empty. */
int ebb_place_remove_dir(struct ebb_place *place, const char *name, struct ebb_err *err);
/* The storage's clock: the time a probe file written now below the place gets (name must not exist; it is removed
 * again). */
int ebb_place_clock_ms(struct ebb_place *place, const char *probe_name, int64_t *out_ms, struct ebb_err *err);

#endif
