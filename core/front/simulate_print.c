/* SPDX-License-Identifier: Apache-2.0 */
#include "front/simulate_print.h"

#include "base/time.h"
#include "front/print.h"

void ebb_simulation_stop_clock(struct ebb_cli *cli)
{
    int64_t now_ms = ebb_cli_now(cli);

    cli->now_ms = now_ms - now_ms % 1000;
    ebb_cli_site(cli)->clock = ebb_clock_fixed(&cli->now_ms);
}

int ebb_simulation_read_until(struct ebb_cli *cli, int64_t *out, struct ebb_err *err)
{
    const char *text = ebb_args_get(&cli->args, "until");
    int64_t ahead;
    int rc;

    if (!text)
        return ebb_err_set(err, EBB_EUSAGE, "--until: is missing, as in --until +14d");
    if (text[0] != '+')
        return ebb_time_parse(text, NULL, out, err) ? ebb_err_as(err, EBB_EUSAGE, "--until") : 0;
    rc = ebb_duration_parse(text + 1, &ahead, err);
    if (rc)
        return ebb_err_as(err, EBB_EUSAGE, "--until");
    if (__builtin_add_overflow(ebb_cli_now(cli), ahead, out))
        return ebb_err_set(err, EBB_EUSAGE, "--until %s: too far ahead", text);
    return 0;
}

void ebb_print_time_json(struct ebb_jsonw *w, const char *key, int64_t ms)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    ebb_time_iso(&b, ms);
    ebb_jsonw_kstr(w, key, ebb_buf_cstr(&b));
}

void ebb_simulation_sum_json(struct ebb_jsonw *w, const struct ebb_simulation_sum *sum)
{
    const struct ebb_effect *e = &sum->totals.effect;

    ebb_jsonw_kstr(w, "policy", sum->policy);
    ebb_jsonw_kstr(w, "table", sum->table);
    ebb_jsonw_kint(w, "runs", sum->totals.runs);
    ebb_jsonw_kint(w, "files_deleted", e->files_deleted);
    ebb_jsonw_kint(w, "bytes_deleted", e->bytes_deleted);
    ebb_jsonw_kint(w, "files_rewritten", e->files_rewritten);
    ebb_jsonw_kint(w, "bytes_rewritten", e->bytes_rewritten);
    ebb_jsonw_kint(w, "snapshots_expired", e->snapshots_expired);
    ebb_jsonw_kint(w, "commits", (int64_t)sum->commits);
    if (sum->knows_layout)
        ebb_jsonw_kint(w, "bad_layout_ms", sum->bad_ms);
    ebb_jsonw_kbool(w, "estimate", true);
}

void ebb_simulation_sum_print(struct ebb_buf *out, const struct ebb_simulation_sum *sum)
{
    const struct ebb_effect *e = &sum->totals.effect;

    ebb_print_count(out, sum->totals.runs);
    ebb_buf_puts(out, sum->totals.runs == 1 ? " run" : " runs");
    if (e->files_deleted) {
        ebb_buf_puts(out, ", deletes ");
        ebb_print_files(out, e->files_deleted, (uint64_t)e->bytes_deleted);
    }
    if (e->files_rewritten) {
        ebb_buf_puts(out, ", rewrites ");
        ebb_print_files(out, e->files_rewritten, (uint64_t)e->bytes_rewritten);
        ebb_buf_printf(out, " into %lld", (long long)e->files_written);
    }
    if (e->snapshots_expired)
        ebb_buf_printf(out, ", expires %lld snapshots", (long long)e->snapshots_expired);
    ebb_buf_printf(out, "; %zu commits", sum->commits);
    if (sum->knows_layout) {
        ebb_buf_puts(out, "; mostly small files for ");
        ebb_duration_format(out, sum->bad_ms - sum->bad_ms % 60000);
    }
}
