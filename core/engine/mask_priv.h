/* SPDX-License-Identifier: Apache-2.0
 *
 * Masks: what looks like a secret does not get into a record. Table properties and other members are known by their
 * names; the values of those that a script read are looked for in every text that is written.
 */
#ifndef EBB_ENGINE_MASK_PRIV_H
#define EBB_ENGINE_MASK_PRIV_H

#include "engine/eval_priv.h"

#define EBB__MASKED "***"

struct ebb__mask {
    struct ebb_strs secrets; /* in order */
    bool by_name;            /* members whose names look like secrets are masked, too */
    struct ebb_strs hidden;  /* their names */
    bool is_odd;             /* a text was no UTF-8: what was written reads otherwise */
};
/* Take the secrets that an evaluation has read (NULL: none). EBB_ENOMEM; _fini is due in any case. */
int ebb__mask_init(struct ebb__mask *mask, const struct ebb__eval *e, struct ebb_err *err);
void ebb__mask_fini(struct ebb__mask *mask);
/* Write as ebb_value_write, ebb_jsonw_strn do. */
void ebb__mask_write(struct ebb__mask *mask, const struct ebb_value *value, struct ebb_jsonw *w);
void ebb__mask_text(struct ebb__mask *mask, const char *bytes, size_t n, struct ebb_jsonw *w);
/* The same under a key. */
void ebb__mask_ktext(struct ebb__mask *mask, const char *key, const char *text, struct ebb_jsonw *w);

#endif
