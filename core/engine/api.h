/* SPDX-License-Identifier: Apache-2.0
 *
 * The policy API as data: every name that a script can see, with its type and one sentence. One table feeds the stubs
 * for editors, the reference in the policy guide, lint, and completion. A test compares it with what the sandbox really
 * has.
 */
#ifndef EBB_ENGINE_API_H
#define EBB_ENGINE_API_H

#include <stddef.h>

struct ebb_api_entry {
    const char *name; /* "t.stats.bytes", "check", "time.civil", "policy.guard.quiet.from", "action.expire_snapshots" */
    /* "field", "function", "method", "library", "key" (of the header, or of the arguments of a function), "class" (what
     * several fields hold: its members are below its name), "open" (a class that may have more members) */
    const char *kind;
    const char *type; /* LuaLS type of a field ("integer?"), or parameters and result: "(name: string, …): ebb.check" */
    const char *phase; /* "header", "decide", "both" */
    const char *doc;   /* one sentence */
};
/* All entries, sorted by name. */
const struct ebb_api_entry *ebb_api_get(size_t *count);

#endif
