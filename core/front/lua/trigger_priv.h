/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of one time trigger as a policy writes it: `time.calendar { "Sun 02:00", tz = "Europe/Paris" }`, `time.cron
 * {…}`, `time.every { "2h", anchor = "epoch" }`. Read as data: nothing is evaluated.
 */
#ifndef EBB_FRONT_LUA_TRIGGER_PRIV_H
#define EBB_FRONT_LUA_TRIGGER_PRIV_H

#include "base/err.h"

#define EBB__TRIGGER_TEXT_MAX 256

enum ebb__trigger_kind { EBB__TRIGGER_CALENDAR, EBB__TRIGGER_CRON, EBB__TRIGGER_EVERY };

/* Missing options are "". */
struct ebb__trigger {
    enum ebb__trigger_kind kind;
    char text[EBB__TRIGGER_TEXT_MAX];
    char tz[EBB__TRIGGER_TEXT_MAX];
    char anchor[EBB__TRIGGER_TEXT_MAX];
};

/* EBB_ESCHEDULE (with the position), EBB_ETIME (a bad late_by), EBB_EUNSUPPORTED (spread: it depends on policy and
 * table). */
int ebb__trigger_parse(const char *text, struct ebb__trigger *out, struct ebb_err *err);

#endif
