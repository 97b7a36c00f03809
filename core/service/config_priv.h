/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the configuration: what its sections share. Messages name the file and the key, never a value: that may be a
 * secret.
 */
#ifndef EBB_SERVICE_CONFIG_PRIV_H
#define EBB_SERVICE_CONFIG_PRIV_H

#include "service/config.h"

struct ebb__config_reader {
    struct ebb_config *c;
    struct ebb_buf base; /* folder of the file */
    bool no_memory;      /* a secret could not be noted */
};

/* EBB_ECONFIG, "FILE: KEY: WHY". */
int ebb__config_fail(const struct ebb__config_reader *r, struct ebb_err *err, const char *key, const char *why);
/* The same for a key of a map; where: the map's own name, "" at the top. */
int ebb__config_fail_in(const struct ebb__config_reader *r, struct ebb_err *err, const char *where, const char *key,
                        const char *why);
/* It is a map, and every key of it is one of these: EBB_ECONFIG, EBB_ECONFIG_UNKNOWN_KEY with the nearest. */
int ebb__config_check_keys(const struct ebb__config_reader *r, const struct ebb_value *map, const char *where,
                           const char *const *keys, size_t count, struct ebb_err *err);
/* No key of a map is empty or holds a NUL. */
int ebb__config_check_names(const struct ebb__config_reader *r, const struct ebb_value *map, const char *where,
                            struct ebb_err *err);
/* Text without NUL, borrowed; or NULL. */
const char *ebb__config_text(const struct ebb_value *v);
/* Values under a key; one that is missing leaves *out as it is (EBB_ECONFIG when it is required). A text that stands in
 * *out is replaced. */
int ebb__config_take_text(const struct ebb__config_reader *r, const struct ebb_value *map, const char *where,
                          const char *key, bool required, char **out, struct ebb_err *err);
int ebb__config_take_bool(const struct ebb__config_reader *r, const struct ebb_value *map, const char *where,
                          const char *key, bool *out, struct ebb_err *err);
/* A list of texts, not empty: `{}` is an error, since "none" would read as "any". NULL: nothing. */
int ebb__config_take_texts(const struct ebb__config_reader *r, const struct ebb_value *list, const char *key,
                           struct ebb_strs *out, struct ebb_err *err);
/* A path is meant from the file's folder. NULL stays. */
int ebb__config_absolute(const struct ebb__config_reader *r, char **path, struct ebb_err *err);

/* "Name: value" of a table of ["Name"] = "value", each of one line; where: of what the headers are. */
int ebb__config_take_headers(const struct ebb__config_reader *r, const struct ebb_value *headers, const char *where,
                             struct ebb_strs *out, struct ebb_err *err);
/* http: or https:, with a host, without blanks. */
bool ebb__config_is_url(const char *text);
/* Put them, their values masked. */
void ebb__config_put_headers(struct ebb_value *map, const struct ebb_strs *headers);

/* catalogs */
int ebb__config_read_catalogs(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err);
void ebb__config_catalog_fini(struct ebb_config_catalog *c);
/* What is effective, secrets masked. */
void ebb__config_put_catalogs(const struct ebb_config *c, struct ebb_value *root);
/* bind */
int ebb__config_read_bindings(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err);
/* engines: what holds where nothing is said; then what is. */
void ebb__engines_init(struct ebb_engines_config *e);
int ebb__config_read_engines(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err);
void ebb__engines_fini(struct ebb_engines_config *e);
void ebb__engines_show(const struct ebb_engines_config *e, struct ebb_value *root);
/* serve: what holds where nothing is said; EBB_ENOMEM, _fini is due in any case. */
int ebb__serve_init(struct ebb_serve_config *s, struct ebb_err *err);
void ebb__serve_fini(struct ebb_serve_config *s);
int ebb__config_read_serve(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err);
int ebb__config_read_notify(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err);

/* config_storage.c */
int ebb__config_read_storage(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err);

#endif
