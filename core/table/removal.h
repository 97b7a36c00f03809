/* SPDX-License-Identifier: Apache-2.0
 *
 * Removal: the one module through which a file of a table is moved or unlinked. Four verbs, each of which looks at the
 * file first and last: take (into quarantine), put back, unlink (only below a run folder), remove a folder (only an
 * empty one, only below a run folder). Nothing is ever overwritten, copied, or removed recursively. The caller holds
 * the lock of the location and has written its journal.
 */
#ifndef EBB_TABLE_REMOVAL_H
#define EBB_TABLE_REMOVAL_H

#include "table/quarantine.h"

enum ebb_removal {
    EBB_REMOVAL_DONE,
    EBB_REMOVAL_GONE,     /* the name is not there */
    EBB_REMOVAL_CHANGED,  /* another file than the recorded one; left where it was, or put back */
    EBB_REMOVAL_OCCUPIED, /* the new name exists; nothing was changed */
    EBB_REMOVAL_REFUSED, /* the storage can't or may not (rights, other file system, name too long); nothing was changed
                          */
    EBB_REMOVAL_STUCK    /* a wrong file was moved and can't go back: it lies in quarantine */
};

/* The file as it was recorded. */
struct ebb_removal_file {
    struct ebb_str name;   /* below the table's location */
    struct ebb_str target; /* below the run folder */
    const char *id;        /* "dev:ino:ctime_ns" as planned */
    uint64_t size_bytes;
    int64_t mtime_ns;
};

/* Each returns 0 with an outcome; for every outcome but DONE the reason stands in err->message. Non-zero is returned
 * only for what must stop the whole run: EBB_ENOSPACE, EBB_ENOMEM, EBB_EOUTSIDE, EBB_EINTERNAL. Folders are not synced:
 * see ebb_removal_sync. */

/* Move a file that is exactly the planned one (change time too) into quarantine. The target's folder must exist. */
int ebb_removal_take(struct ebb_place *table, struct ebb_quarantine *q, const struct ebb_removal_file *file,
                     enum ebb_removal *out, struct ebb_err *err);
/* Move it back to its old name, whose folder is made when it is gone. Never replaces. */
int ebb_removal_put_back(struct ebb_place *table, struct ebb_quarantine *q, const struct ebb_removal_file *file,
                         enum ebb_removal *out, struct ebb_err *err);
/* Remove it from quarantine for good. */
int ebb_removal_unlink(struct ebb_quarantine *q, const struct ebb_removal_file *file, enum ebb_removal *out,
                       struct ebb_err *err);
/* The same of many at once: in an object store all go side by side. Each item tells its outcome, and why; after
 * an error, only EBB_REMOVAL_DONE is certain. */
struct ebb_removal_item {
    struct ebb_removal_file file;
    enum ebb_removal outcome;
    struct ebb_err why;
};
int ebb_removal_take_many(struct ebb_place *table, struct ebb_quarantine *q, struct ebb_removal_item *items, size_t n,
                          struct ebb_err *err);
int ebb_removal_unlink_many(struct ebb_quarantine *q, struct ebb_removal_item *items, size_t n, struct ebb_err *err);
/* Remove the folders above a target, below the run folder, as far as they are empty. */
int ebb_removal_prune(struct ebb_quarantine *q, struct ebb_str target, struct ebb_err *err);
/* Remove the run's record, then the run folder if nothing else is in it: *is_gone. */
int ebb_removal_remove_record(struct ebb_quarantine *q, bool *is_gone, struct ebb_err *err);
/* Sync the folders of a file at both ends. A folder that is gone counts as synced. */
int ebb_removal_sync(struct ebb_place *table, struct ebb_quarantine *q, const struct ebb_removal_file *file,
                     struct ebb_err *err);

/* What lies at both names of a journaled file. */
enum ebb_presence { EBB_PRESENT_NOWHERE, EBB_PRESENT_OLD, EBB_PRESENT_NEW, EBB_PRESENT_BOTH };
struct ebb_removal_state {
    enum ebb_presence presence;
    bool is_old_planned; /* what is at the old name is exactly the planned file, never touched */
    bool is_old_same;    /* it is the recorded file, moved or not */
    bool is_new_same;    /* what is at the new name is the recorded file */
    bool is_one_file;    /* both names are the recorded file: a move that stopped in the middle left a hard link, or, in
                          * an object store, the copy beside the original */
};
int ebb_removal_look(struct ebb_place *table, struct ebb_quarantine *q, const struct ebb_removal_file *file,
                     struct ebb_removal_state *out, struct ebb_err *err);

#endif
