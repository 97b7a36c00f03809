/* SPDX-License-Identifier: Apache-2.0
 *
 * XML of answers, read with expat: elements by their local names, with the text of those that hold only text. No
 * document types and no entities but the five of XML itself; depth and length of a text are bounded.
 */
#ifndef EBB_IO_XML_PRIV_H
#define EBB_IO_XML_PRIV_H

#include "base/buf.h"

#define EBB__XML_DEPTH_MAX 16
#define EBB__XML_TEXT_MAX ((size_t)64 * 1024)

struct ebb__xml_ops {
    /* An element begins; depth 0 is the root. NULL: not told. */
    int (*begin)(void *data, size_t depth, const char *name, struct ebb_err *err);
    /* An element ends; text is what stood in it since its last child (all of it when it has none), borrowed. */
    int (*end)(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err);
};
/* what is for messages. EBB_ECORRUPT when it is no XML, ends early, or goes beyond the bounds; what a callback
 * returns. */
int ebb__xml_parse(const char *what, struct ebb_str bytes, const struct ebb__xml_ops *ops, void *data,
                   struct ebb_err *err);

/* Append text with & < > " ' and CR, LF, TAB as XML wants them in an element. False when it holds what XML 1.0 can't
 * express (other control characters, bytes that are no UTF-8, U+FFFE, U+FFFF): nothing useful was appended then. */
bool ebb__xml_write(struct ebb_buf *out, struct ebb_str text);

#endif
