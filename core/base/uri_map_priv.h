/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the map of URIs, for uri_map.c (looking up) and uri_map_add.c (building).
 */
#ifndef EBB_BASE_URI_MAP_PRIV_H
#define EBB_BASE_URI_MAP_PRIV_H

#include "base/uri_map.h"

/* All texts are owned. `prefix` borrows from `from`. */
struct ebb__uri_entry {
    char *from; /* normal form: "file:/warehouse", "s3://lake/" */
    struct ebb_location prefix;
    char *path;    /* normal path of from */
    char *to;      /* absolute, as opened, without a slash at its end ("" is the root); or an s3: prefix */
    char *to_path; /* normal form of to, for the way back; NULL: an s3: prefix */
};

struct ebb_uri_map {
    struct ebb__uri_entry *items;
    size_t count;
    size_t cap;
};

/* A URI that was taken apart; borrows from its text. */
struct ebb__uri {
    struct ebb_location location;
    struct ebb_buf path; /* normal form */
};

void ebb__uri_init(struct ebb__uri *u);
void ebb__uri_fini(struct ebb__uri *u);
int ebb__uri_parse(struct ebb__uri *u, const char *text, struct ebb_err *err);

void ebb__uri_entry_fini(struct ebb__uri_entry *e);

/* The slice without slashes at its end. */
struct ebb_str ebb__trim_slash(struct ebb_str s);
/* Append the absolute form of a local path, not normalised. */
int ebb__make_absolute(const char *path, struct ebb_buf *out, struct ebb_err *err);

#endif
