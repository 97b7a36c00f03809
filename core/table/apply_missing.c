/* SPDX-License-Identifier: Apache-2.0
 *
 * Before anything moves: are the files that the table needs there? A manifest without checksum whose file name was
 * damaged in one byte reads well; it names a file that does not exist, and the real one looks like an orphan. So a
 * table that misses files is held until a person has looked (fuse missing_files).
 */
#include <inttypes.h>

#include "table/apply_priv.h"
#include "table/verify_priv.h"

struct missing {
    const struct ebb__run *run;
    int64_t count;
    struct ebb_buf first;
};

static int on_absent(void *data, const char *uri, enum ebb__absence absence, struct ebb_err *err)
{
    struct missing *m = data;
    bool inside = false;

    (void)err;
    if (absence != EBB_ABSENT_FILE)
        return 0;
    if (ebb_location_contains(m->run->record.location, uri, ebb_protect_rules(m->run->protect), &inside, NULL) ||
        !inside)
        return 0; /* what is missing elsewhere hides nothing here */
    if (m->count++ == 0)
        ebb_buf_puts(&m->first, uri);
    return 0;
}

int ebb__apply_check_missing(struct ebb__run *run, const struct ebb_strs *overrides, struct ebb_err *err)
{
    struct missing m = {run, 0, {0}};
    int64_t checked = 0;
    int rc;

    if (run->record.verify == EBB_VERIFY_NONE || ebb_strs_has(overrides, "missing_files"))
        return 0;
    ebb_buf_init(&m.first, 2 * EBB_LOCATION_MAX_BYTES);
    rc = ebb__verify_walk(&run->site, ebb_protect_table(run->protect), 1, on_absent, &m, &checked, err);
    if (!rc && m.count > 0) {
        rc = ebb_err_set(err, EBB_EFUSE,
                         "plan %s: held by missing_files: the table names %" PRId64
                         " files that are not there, first %s",
                         run->record.plan, m.count, ebb_buf_cstr(&m.first));
        ebb_err_hint(err, "a damaged name hides a live file among the candidates: look with ebb verify; if those files "
                          "are known to be lost: "
                          "--override missing_files");
    }
    ebb_buf_fini(&m.first);
    return rc;
}
