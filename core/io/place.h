/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage. A *place* is one opened folder (local directory handle; later a bucket and prefix), reached by URI through a
 * map, behind a vtable. Names below it are relative byte strings: no leading slash, no empty, "." or ".." component
 * (EBB_EBAD_LOCATION). Nothing below the place is ever reached through a symbolic link or across a mount point. Reading
 * and writing are two openings: only a place opened for writing has the write functions. One thread per place; several
 * places may be used by several threads.
 */
#ifndef EBB_IO_PLACE_H
#define EBB_IO_PLACE_H

#include "base/clock.h"
#include "base/uri_map.h"

/* What storage says of one object. Times in ns since the epoch; 0 = unknown. */
struct ebb_stat {
    uint64_t size_bytes;
    int64_t mtime_ns, ctime_ns, btime_ns;
    uint64_t dev, ino;
    uint64_t link_count;
    bool is_file; /* a regular file */
};

#define EBB_STAT_ID_MAX 96
/* "dev:ino:ctime_ns": the identity as plans and journals record it. */
void ebb_stat_id(const struct ebb_stat *st, char out[EBB_STAT_ID_MAX]);
/* Whether a moved object is the one that was planned: same device, inode, size and mtime (ctime changes with a rename).
 * `id` is a recorded identity. */
bool ebb_stat_is_moved(const struct ebb_stat *st, const char *id, uint64_t size_bytes, int64_t mtime_ns);

/* ---- reading single objects by URI (metadata, lists, manifests) ---- */

struct ebb_storage;
/* map is borrowed and must outlive it. */
int ebb_storage_new(const struct ebb_uri_map *map, struct ebb_storage **out, struct ebb_err *err);
void ebb_storage_free(struct ebb_storage *storage);
/* Read a whole regular file into out (which is reset first; its max bounds the size). Opening never blocks (FIFO,
 * device: EBB_EIO). st may be NULL. EBB_ENOENT, EBB_EPERMISSION, EBB_EIO, EBB_ELIMIT, EBB_ESCHEME. */
int ebb_storage_read(struct ebb_storage *storage, const char *uri, struct ebb_buf *out, struct ebb_stat *st,
                     struct ebb_err *err);
/* As above, the first max bytes only. */
int ebb_storage_read_head(struct ebb_storage *storage, const char *uri, size_t max, struct ebb_buf *out,
                          struct ebb_err *err);
/* Stat without reading; follows links above the last component only. EBB_ENOENT when absent. */
int ebb_storage_stat(struct ebb_storage *storage, const char *uri, struct ebb_stat *st, struct ebb_err *err);
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
/* Device and inode of the folder itself. */
int ebb_place_stat_root(struct ebb_place *place, struct ebb_stat *st, struct ebb_err *err);
/* Whether its file system treats names that differ only in case as one (probed read-only on an entry of the folder;
 * false when it has none to probe with). */
int ebb_place_is_case_insensitive(struct ebb_place *place, bool *out, struct ebb_err *err);

enum ebb_walk_kind {
    EBB_WALK_FILE,
    EBB_WALK_LINK,  /* symbolic link: not followed */
    EBB_WALK_MOUNT, /* a folder on another file system: not entered */
    EBB_WALK_OTHER  /* socket, device, FIFO */
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

/* ---- writing; the place must have been opened with EBB_PLACE_WRITE (else EBB_EINTERNAL) ---- */

/* Make a folder and the ones above it, below the place. Existing is fine. New folders have mode 0700 if is_private,
 * else as the umask says. Synced. */
int ebb_place_make_dirs(struct ebb_place *place, const char *name, bool is_private, struct ebb_err *err);
/* Create a file with these bytes, mode 0600; EBB_EEXIST when the name exists. Synced, and its folder too. */
int ebb_place_create(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err);
/* Append bytes to a file (made with mode 0600 when missing); sync: data and, for a new file, the folder are on disk on
 * return. */
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
/* Sync the folder that holds a name ("" = the place itself is the folder). */
int ebb_place_sync_dir(struct ebb_place *place, const char *dir, struct ebb_err *err);
/* Remove one name that is not a folder. EBB_ENOENT when it is gone already. */
int ebb_place_unlink(struct ebb_place *place, const char *name, struct ebb_err *err);
/* Remove an empty folder. EBB_ENOENT; EBB_EEXIST when it is not empty. */
int ebb_place_remove_dir(struct ebb_place *place, const char *name, struct ebb_err *err);
/* The storage's clock: the time a probe file written now below the place gets (name must not exist; it is removed
 * again). */
int ebb_place_clock_ms(struct ebb_place *place, const char *probe_name, int64_t *out_ms, struct ebb_err *err);

#endif
