/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress on standard error: one line that is written over on a terminal, JSON lines on request, else nothing.
 */
#ifndef EBB_FRONT_PROGRESS_H
#define EBB_FRONT_PROGRESS_H

#include "table/site.h"

/* As the progress function of a workspace; data is a struct ebb_cli. */
void ebb_progress_show(void *data, const struct ebb_progress *progress);

#endif
