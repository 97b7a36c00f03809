/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of plan files: any bytes. What parses is written again, and that parses to the same bytes.
 */
#include <stdlib.h>

#include "format/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_header(struct ebb_str line, struct ebb_arena *arena, struct ebb_buf *out)
{
    struct ebb_plan_header h;

    if (ebb_plan_parse_header("fuzz", line, arena, &h, NULL))
        return;
    ebb_plan_write_header(out, &h);
    if (ebb_plan_parse_header("fuzz", ebb_buf_str(out), arena, &h, NULL))
        abort();
}

static void try_candidate(struct ebb_str line, struct ebb_arena *arena, struct ebb_buf *out)
{
    struct ebb_plan_candidate c, again;

    if (ebb_plan_parse_candidate("fuzz", 2, line, arena, &c, NULL))
        return;
    ebb_plan_write_candidate(out, &c);
    if (ebb_plan_parse_candidate("fuzz", 2, ebb_buf_str(out), arena, &again, NULL))
        abort();
    if (!ebb_str_is_equal(c.path, again.path) || !ebb_str_is_equal(c.id, again.id) ||
        c.size_bytes != again.size_bytes || c.mtime_ns != again.mtime_ns ||
        !ebb_str_is_equal(c.near_name, again.near_name) || c.kind != again.kind)
        abort();
}

static void try_summary(struct ebb_str line, struct ebb_arena *arena, struct ebb_buf *out)
{
    struct ebb_plan_summary s, again;

    if (ebb_plan_parse_summary("fuzz", 3, line, arena, &s, NULL))
        return;
    ebb_plan_write_summary(out, &s);
    if (ebb_plan_parse_summary("fuzz", 3, ebb_buf_str(out), arena, &again, NULL))
        abort();
    ebb_strs_fini(&s.held_by);
    ebb_strs_fini(&again.held_by);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_str line = {(const char *)data, size};
    struct ebb_arena arena;
    struct ebb_buf out;

    ebb_arena_init(&arena, SIZE_MAX);
    ebb_buf_init(&out, SIZE_MAX);
    try_header(line, &arena, &out);
    ebb_buf_reset(&out);
    try_candidate(line, &arena, &out);
    ebb_buf_reset(&out);
    try_summary(line, &arena, &out);
    ebb_buf_fini(&out);
    ebb_arena_fini(&arena);
    return 0;
}
