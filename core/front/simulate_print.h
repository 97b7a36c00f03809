/* SPDX-License-Identifier: Apache-2.0
 *
 * What the commands that simulate have in common.
 */
#ifndef EBB_FRONT_SIMULATE_PRINT_H
#define EBB_FRONT_SIMULATE_PRINT_H

#include "front/cli.h"
#include "service/simulate.h"

/* The time of the run stands still, at a whole second. After the start of the workspace. */
void ebb_simulation_stop_clock(struct ebb_cli *cli);
/* --until: "+14d" or an instant. EBB_EUSAGE. */
int ebb_simulation_read_until(struct ebb_cli *cli, int64_t *out_ms, struct ebb_err *err);
/* "2 runs, deletes 212 files, 1.9 GiB; 40 commits; mostly small files for 3d" */
void ebb_simulation_sum_print(struct ebb_buf *out, const struct ebb_simulation_sum *sum);
/* The same as members of an object that w has open. */
void ebb_simulation_sum_json(struct ebb_jsonw *w, const struct ebb_simulation_sum *sum);

/* An instant as a member. */
void ebb_print_time_json(struct ebb_jsonw *w, const char *key, int64_t ms);

#endif
