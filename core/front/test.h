/* SPDX-License-Identifier: Apache-2.0
 *
 * The specs beside policies: busted runs them in a process of its own, with the Lua module of ebb found, and leaves a
 * report behind: a map {tests: list of {name, status (passed, failed, skipped), file, line, spec, policy, message},
 * policies: list of {policy, file, checks: map of name to {true, false, unknown (how often), always_known}, lines:
 * {executable, executed, missed}}, goldens: list of files that were written}.
 */
#ifndef EBB_FRONT_TEST_H
#define EBB_FRONT_TEST_H

#include <stdatomic.h>

#include "base/buf.h"
#include "engine/value.h"
#include "front/cli.h"

struct ebb_test_options {
    const struct ebb_strs *paths; /* folders, specs, or policies, which stand for the spec beside them */
    const char *filter;           /* extended regular expression on full test names; NULL all */
    bool update_golden;
    bool is_silent; /* what specs print goes to standard error */
    const atomic_bool *cancelled;
};
/* Run them. 0 also when tests fail. The caller frees *report. EBB_EUSAGE: no such path, or no spec; EBB_EIO: busted
 * can't be run, or ended in the middle; EBB_ECANCELLED. */
int ebb_test_run(const struct ebb_test_options *options, struct ebb_value **report, struct ebb_err *err);
/* How many tests have this status. */
size_t ebb_test_count(const struct ebb_value *report, const char *status);
/* One line for each policy, its coverage, and what failed. */
void ebb_test_print(struct ebb_cli *cli, const struct ebb_value *report);
/* The same as one JSON object, with counts. */
void ebb_test_json(const struct ebb_value *report, struct ebb_buf *out);

#endif
