/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the metrics: writing their text, and what the kernel tells of this process.
 */
#ifndef EBB_SERVICE_METRICS_PRIV_H
#define EBB_SERVICE_METRICS_PRIV_H

#include "service/metrics.h"

/* Append a number as the text format wants it, whatever the locale is. */
void ebb__metrics_number(struct ebb_buf *out, double value);
/* Append the HELP and TYPE lines. help: without line feed and backslash. */
void ebb__metrics_head(struct ebb_buf *out, const char *name, const char *type, const char *help);
/* Append {name="value"}, escaped. */
void ebb__metrics_label(struct ebb_buf *out, const char *name, const char *value);
/* Append the metrics of the process; those that the kernel does not tell are left out. */
void ebb__metrics_process(struct ebb_buf *out);

#endif
