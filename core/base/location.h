/* SPDX-License-Identifier: Apache-2.0
 *
 * Locations: rules for URIs and paths, as Hadoop's Path has them. A location is
 * bytes: never decoded, encoded, folded or trimmed. Pure functions; rules are immutable once built, so thread safe.
 */
#ifndef EBB_BASE_LOCATION_H
#define EBB_BASE_LOCATION_H

#include "base/buf.h"

#define EBB_LOCATION_MAX_BYTES 32768

/* Slices into the text that was split. A missing scheme or authority has n == 0 (an empty authority counts as missing).
 * A single letter before ':' is a drive and stays in the path ("C:/x"). */
struct ebb_location {
    struct ebb_str scheme;
    struct ebb_str authority;
    struct ebb_str path; /* the rest, as written: not normalised */
};

/* Split text into its parts. EBB_ELOCATION: empty text, or NUL inside. Borrows text. */
int ebb_location_split(const char *text, size_t n, struct ebb_location *out, struct ebb_err *err);

/* Append the normal form of a path: slash runs collapsed, "." and ".." resolved, one trailing slash dropped unless it
 * is "/". EBB_ELOCATION: relative (does not begin with "/" or a drive), or climbs above the root. Fast when nothing is
 * to be done. */
int ebb_path_normalise(struct ebb_str path, struct ebb_buf *out, struct ebb_err *err);
/* Whether ebb_path_normalise would leave the path as it is. */
bool ebb_path_is_normal(struct ebb_str path);

/* Append the comparison form: "scheme:" + "//authority" (if any) + normal path. Errors as above. */
int ebb_location_normalise(const char *text, size_t n, struct ebb_buf *out, struct ebb_err *err);

/* Which schemes and authorities are declared equal. s3, s3a and s3n are always one scheme, and the
 * wasb/wasbs/abfs/abfss spellings of one Azure account and container are one prefix. */
struct ebb_prefix_rules;
int ebb_prefix_rules_new(struct ebb_prefix_rules **out, struct ebb_err *err);
void ebb_prefix_rules_free(struct ebb_prefix_rules *rules);
/* names: one name or a comma list (white space around names is dropped); each is the same as `as` ("" = no authority).
 */
int ebb_prefix_rules_add_schemes(struct ebb_prefix_rules *rules, const char *names, const char *as,
                                 struct ebb_err *err);
int ebb_prefix_rules_add_authorities(struct ebb_prefix_rules *rules, const char *names, const char *as,
                                     struct ebb_err *err);

/* Protection (loose): does `actual`, from a listing, carry a prefix that `valid`, from metadata, may mean? A scheme or
 * authority missing in valid matches any; missing in actual it matches none (a bare actual path is scheme "file").
 * Compared without case, after the declared equals. rules may be NULL: built-in rules only. */
bool ebb_prefix_is_match(const struct ebb_prefix_rules *rules, const struct ebb_location *valid,
                         const struct ebb_location *actual);
/* Containment and delete targets (strict): both prefixes must be equal or declared equal; a bare path is "file" without
 * authority on either side. */
bool ebb_prefix_is_equal(const struct ebb_prefix_rules *rules, const struct ebb_location *a,
                         const struct ebb_location *b);
/* "same", "inside" etc. as in the case table locations.tsv. */
enum ebb_relation { EBB_RELATION_SAME, EBB_RELATION_INSIDE, EBB_RELATION_OUTSIDE, EBB_RELATION_CONFLICT };
int ebb_location_relation(const char *valid, const char *actual, const struct ebb_prefix_rules *rules,
                          enum ebb_relation *out, struct ebb_err *err);
/* Whether location `inner` equals `outer` or lies below it, by whole components, strict prefixes. Errors:
 * EBB_ELOCATION. */
int ebb_location_contains(const char *outer, const char *inner, const struct ebb_prefix_rules *rules, bool *out,
                          struct ebb_err *err);
/* A table location that no run may have: empty, only a root ("s3://b", "file:///", "/"), or ending in white space
 * (cases EN8, SL6). 0, EBB_EROOT_LOCATION, EBB_EBAD_LOCATION or EBB_ELOCATION. */
int ebb_location_check_table(const char *location, struct ebb_err *err);

/* Names of partition fields of all specs; only those that begin with '_' or '.' matter. */
struct ebb_hidden_rule {
    const struct ebb_str *fields;
    size_t count;
};
/* Whether one component hides what carries it (begins with '_' or '.', and not with "<field>=" of such a field). */
bool ebb_component_is_hidden(struct ebb_str component, const struct ebb_hidden_rule *rule);
/* Whether any component of a path relative to the table root does; empty components are ignored (case table
 * hidden.tsv). */
bool ebb_location_is_hidden(struct ebb_str relative, const struct ebb_hidden_rule *rule);

#endif
