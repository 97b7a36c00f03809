/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as text without the host's locale: always with a point.
 */
#ifndef EBB_ENGINE_NUMBER_PRIV_H
#define EBB_ENGINE_NUMBER_PRIV_H

#include "base/buf.h"

#define EBB__NUMBER_MAX 40

/* Shortest text that reads back as the same number, and as a number with a fraction ("40.0"); false for NaN and
 * infinities (text is then "nan", "inf", "-inf").
 */
bool ebb__number_format(double number, char text[EBB__NUMBER_MAX]);
/* Append as printf would, with one conversion for a double ("%.3f", "%10g"). format must hold exactly that. */
void ebb__number_printf(struct ebb_buf *out, const char *format, double number);
/* All of the text is a decimal number. */
bool ebb__number_parse(struct ebb_str text, double *out);

#endif
