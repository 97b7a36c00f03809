/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of Lua in the sandbox of the decision phase, with t and ctx of one table: for the interactive session. Each
 * chunk runs in a fresh state under the limits of a decision; what it makes is shown, nothing stays. print(…) is there
 * besides what policies have. One thread.
 */
#ifndef EBB_ENGINE_CONSOLE_H
#define EBB_ENGINE_CONSOLE_H

#include "engine/decide.h"

struct ebb_console_result {
    struct ebb_buf out; /* what note() said and the value of an expression, pretty printed: sorted, limited in depth and
                           width, control characters escaped; one item a line */
    bool is_incomplete; /* the chunk ends where more must come: the caller reads another line */
    bool is_expression; /* else statements */
    int line, column;   /* of a syntax error, from 1; 0 unknown */
    int64_t gas;
    int64_t cpu_ms;
};
void ebb_console_result_init(struct ebb_console_result *result);
void ebb_console_result_fini(struct ebb_console_result *result);
/* Run a chunk: first as an expression, else as statements. policy: whose parameters, `use` libraries and events
 * filters apply; NULL: none. EBB_EPOLICY_ERROR (syntax with place, script errors), EBB_EPOLICY_GAS, …MEMORY,
 * …DEADLINE. */
int ebb_console_run(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_str source,
                    struct ebb_console_result *result, struct ebb_err *err);
/* The value of an expression as plain data: *out is a map that has it under "value" (kind nil when it is nil). Errors
 * as above. The caller frees. */
int ebb_console_value(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_str source,
                      struct ebb_value **out, struct ebb_err *err);
/* Append plain data as the console shows it. key: its name in the facts, which tells instants and durations; or NULL.
 */
void ebb_console_write(struct ebb_buf *out, const char *key, const struct ebb_value *value);

#endif
