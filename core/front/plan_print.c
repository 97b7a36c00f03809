/* SPDX-License-Identifier: Apache-2.0 */
#include "front/plan_print.h"

#include <inttypes.h>

#include "front/print.h"

void ebb_plan_print_status(struct ebb_cli *cli, const struct ebb_plan_summary *s)
{
    bool is_held = !strcmp(s->status, "held");

    ebb_print_name(&cli->out, "status");
    ebb_print_word(cli, is_held ? EBB_PRINT_RED : EBB_PRINT_GREEN, s->status);
    for (size_t i = 0; i < s->held_by.count; i++) {
        ebb_buf_puts(&cli->out, i ? ", " : " by ");
        ebb_print_text(&cli->out, s->held_by.items[i]);
    }
    ebb_buf_putc(&cli->out, '\n');
}

void ebb_plan_print_counts(struct ebb_cli *cli, const struct ebb_plan_summary *s)
{
    struct ebb_buf *out = &cli->out;

    ebb_print_count_field(out, "listed", s->listed);
    ebb_print_count_field(out, "reachable", s->reachable);
    ebb_print_count_field(out, "of them listed", s->reachable_listed);
    ebb_print_count_field(out, "too young", s->too_young);
    ebb_print_count_field(out, "hidden", s->hidden);
    if (s->kept)
        ebb_print_count_field(out, "kept", s->kept);
    if (s->links)
        ebb_print_count_field(out, "links", s->links);
    if (s->mounts)
        ebb_print_count_field(out, "mounts", s->mounts);
    ebb_print_name(out, "candidates");
    ebb_print_files(out, s->candidates, s->candidate_bytes);
    ebb_buf_putc(out, '\n');
    ebb_plan_print_status(cli, s);
}

static void print_time_field(struct ebb_buf *out, const char *name, int64_t ms)
{
    ebb_print_name(out, name);
    ebb_print_time(out, ms);
    ebb_buf_putc(out, '\n');
}

static void print_table(struct ebb_buf *out, const struct ebb_plan_header *h)
{
    struct ebb_buf name;

    ebb_buf_init(&name, 65536);
    ebb_buf_printf(&name, "%s.%s%s%s", h->catalog, h->namespace_, h->namespace_[0] ? "." : "", h->name);
    ebb_print_field(out, "table", ebb_buf_cstr(&name));
    ebb_buf_fini(&name);
    if (h->uuid[0])
        ebb_print_field(out, "uuid", h->uuid);
    ebb_print_field(out, "location", h->location);
    if (strcmp(h->scanned, h->location))
        ebb_print_field(out, "scanned", h->scanned);
    ebb_print_field(out, "metadata", h->metadata);
    if (h->has_snapshot) {
        ebb_print_name(out, "snapshot");
        ebb_buf_printf(out, "%" PRId64 "\n", h->snapshot_id);
    }
}

void ebb_plan_print_header(struct ebb_cli *cli, const struct ebb_plan_header *h)
{
    struct ebb_buf *out = &cli->out;

    print_table(out, h);
    print_time_field(out, "made", h->created_ms);
    print_time_field(out, "cutoff", h->cutoff_ms);
    ebb_print_field(out, "older than", h->older_than);
    ebb_print_field(out, "ownership", h->ownership);
    if (h->listing[0])
        ebb_print_field(out, "listing", h->listing);
}
