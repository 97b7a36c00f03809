/* SPDX-License-Identifier: Apache-2.0
 *
 * Data files written in Lua (the configuration): one table of plain data, evaluated in the header sandbox with its
 * limits.
 */
#ifndef EBB_ENGINE_DATA_H
#define EBB_ENGINE_DATA_H

#include "engine/diagnostic.h"
#include "engine/value.h"

/* Value of an environment variable for `env "NAME"`, or NULL. Borrowed until the next call. */
typedef const char *ebb_env_cb(void *data, const char *name);
/* Read a file that returns a table. Besides pure helpers it may call env "NAME" (a missing one is an error). env NULL:
 * `env` does not exist. EBB_ECONFIG_SYNTAX (syntax, with the line), EBB_ECONFIG (script error, limits, result is no
 * plain table), EBB_ENOENT, EBB_EIO…. */
int ebb_data_load(const char *file, ebb_env_cb *env, void *env_data, struct ebb_value **out, struct ebb_err *err);

#endif
