/* SPDX-License-Identifier: Apache-2.0
 *
 * The fuse zero_overlap: nothing that was listed but metadata is reachable though the table has files. Either the
 * table keeps all its files elsewhere, which can be seen there, or the names in its metadata do not fit the place.
 */
#include "table/plan_priv.h"
#include "table/zone_priv.h"

#define DOES_NOT_FIT 1

struct overlap {
    const struct ebb_planning *p;
    struct ebb_zone zone;
    struct ebb_buf uri;
};

static int on_name(void *data, enum ebb_reach_kind kind, struct ebb_str name, struct ebb_err *err)
{
    struct overlap *o = data;
    enum ebb_zone_relation relation;
    struct ebb_stat st;
    int rc;

    if (kind != EBB_REACH_DATA && kind != EBB_REACH_DELETES)
        return 0;
    ebb_buf_reset(&o->uri);
    ebb_buf_add_str(&o->uri, name);
    rc = ebb_buf_check(&o->uri, "a name in the metadata", err);
    if (rc)
        return rc;
    if (ebb_storage_stat(o->p->site->storage, ebb_buf_cstr(&o->uri), &st, NULL))
        return DOES_NOT_FIT;
    relation = ebb__zone_relate(&o->zone, ebb_buf_cstr(&o->uri));
    return relation == EBB_ZONE_APART ? 0 : DOES_NOT_FIT;
}

/* Every reachable name of the table alone, as its metadata has it now. */
static int each_name(const struct ebb_planning *p, ebb_reach_cb *cb, void *data, struct ebb_err *err)
{
    const struct ebb_protect_options *protect = &p->options->protect;
    struct ebb_reach_options options = {protect->keep_deleted_entries};
    struct ebb_reach_reader *reader = NULL;
    int rc = ebb_reach_reader_new(p->site, &options, &reader, err);

    if (!rc)
        rc = ebb_reach_reader_walk(reader, ebb_protect_table(p->protect), &protect->read_also, cb, data, NULL, err);
    ebb_reach_reader_free(reader);
    return rc;
}

int ebb__plan_is_mismatch(const struct ebb_planning *p, bool *out, struct ebb_err *err)
{
    const char *asked = p->options->location;
    struct overlap o;
    int rc;

    *out = false;
    if (p->fitting > 0 || ebb_protect_live_files(p->protect) == 0)
        return 0;
    memset(&o, 0, sizeof o);
    o.p = p;
    ebb_buf_init(&o.uri, 2 * EBB_LOCATION_MAX_BYTES);
    rc = ebb__zone_init(&o.zone, p->site, ebb_protect_rules(p->protect),
                        asked && asked[0] ? asked : p->table->metadata->location, err);
    if (!rc && !o.zone.real[0])
        rc = DOES_NOT_FIT;
    if (!rc)
        rc = each_name(p, on_name, &o, err);
    ebb__zone_fini(&o.zone);
    ebb_buf_fini(&o.uri);
    *out = rc == DOES_NOT_FIT;
    return rc == DOES_NOT_FIT ? 0 : rc;
}
