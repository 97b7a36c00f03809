/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of tables on the command line: a name, a path, or a glob over the tables of the catalogs.
 */
#ifndef EBB_FRONT_TABLES_H
#define EBB_FRONT_TABLES_H

#include "front/cli.h"

/* Whether an argument is a glob over catalog tables: it has a '*' and no '/'. */
bool ebb_tables_is_glob(const char *arg);
/* Called for each table that a glob takes; name is "catalog.namespace.name". */
typedef int ebb_tables_cb(void *data, const char *name, const struct ebb_table_ref *ref, struct ebb_err *err);
/* All tables of all catalogs whose name the glob takes (NULL: all), in the catalogs' order. Errors of the catalogs and
 * of cb; EBB_ECANCELLED. */
int ebb_tables_each(struct ebb_cli *cli, const char *glob, ebb_tables_cb *cb, void *data, struct ebb_err *err);
/* Set the site's allow_below_floor as the configuration has it for this table (a name or a path). */
int ebb_tables_set_floor(struct ebb_cli *cli, const char *table, struct ebb_err *err);

#endif
