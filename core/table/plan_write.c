/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a planning: candidates are judged once more and written in order, fuses are looked at, the file gets its
 * name, the store its record.
 */
/* The plain SHA-256 of libcrypto: unlike EVP it allocates nothing and so cannot fail. */
#define OPENSSL_API_COMPAT 10101

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "base/time.h"
#include "io/file.h"
#include "table/plan_priv.h"

#define WRITE_BYTES ((size_t)256 << 10)

struct writer {
    struct ebb_planning *p;
    SHA256_CTX sha;
    struct ebb_buf out;
    const char *temporary;
    int fd;
    int64_t newest_ms; /* candidates must be older than this */
};

static int flush(struct writer *w, struct ebb_err *err)
{
    const char *at = w->out.data;
    size_t left = w->out.len;
    int rc = ebb_buf_check(&w->out, "plan", err);

    while (!rc && left > 0) {
        ssize_t n = write(w->fd, at, left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return ebb_err_errno(err, n ? errno : ENOSPC, "%s: writing the plan", w->temporary);
        at += n;
        left -= (size_t)n;
    }
    ebb_buf_reset(&w->out);
    return rc;
}

/* Hash what was appended to the buffer since `from`. */
static int hash_tail(struct writer *w, size_t from, struct ebb_err *err)
{
    int rc = ebb_buf_check(&w->out, "plan", err);

    if (rc)
        return rc;
    SHA256_Update(&w->sha, w->out.data + from, w->out.len - from);
    return w->out.len > WRITE_BYTES ? flush(w, err) : 0;
}

static int on_candidate(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct writer *w = data;
    struct ebb_planning *p = w->p;
    struct ebb_plan_candidate near;
    struct ebb_str fold;
    enum ebb_judged verdict;
    size_t from = w->out.len;
    int rc;

    if (c->mtime_ns / 1000000 >= p->cutoff_ms)
        return 0; /* a row of an inventory, counted as too young already */
    rc = ebb_protect_judge(p->protect, c->path, &verdict, err);

    if (rc)
        return rc;
    if (verdict != EBB_JUDGED_FREE || c->mtime_ns / 1000000 >= w->newest_ms) {
        p->summary.kept++;
        return 0;
    }
    near = *c;
    if (ebb_protect_is_near(p->protect, c->path, &fold))
        near.near_name = fold;
    ebb_plan_write_candidate(&w->out, &near);
    p->summary.candidates++;
    p->summary.candidate_bytes += c->size_bytes;
    return hash_tail(w, from, err);
}

/* ---- header ---- */

static void write_limits(const struct ebb_plan_options *o, struct ebb_buf *out)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    if (o->max_files)
        ebb_jsonw_kint(&w, "max_files", o->max_files);
    if (o->max_bytes) {
        ebb_jsonw_key(&w, "max_bytes");
        ebb_jsonw_uint(&w, o->max_bytes);
    }
    ebb_jsonw_key(&w, "max_share");
    ebb_buf_printf(out, "%.6g", o->max_share > 0 ? o->max_share : 0.5);
    w.after_key = false;
    ebb_jsonw_end(&w, '}');
}

static void write_options(const struct ebb_planning *p, const struct ebb_protect_options *protect, struct ebb_buf *out)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "table", p->table->opened_as);
    ebb_jsonw_key(&w, "map");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; p->site->maps && i < p->site->maps->count; i++)
        ebb_jsonw_str(&w, p->site->maps->items[i]);
    ebb_jsonw_end(&w, ']');
    ebb_protect_options_write(protect, &w);
    ebb_jsonw_kstr(&w, "age", p->options->age_latest ? "latest" : "mtime");
    if (p->options->engine)
        ebb_jsonw_kstr(&w, "engine", p->options->engine);
    ebb_jsonw_end(&w, '}');
}

static int write_header(struct writer *w, const struct ebb_protect_options *protect, struct ebb_err *err)
{
    const struct ebb_planning *p = w->p;
    const struct ebb_table *now = ebb_protect_table(p->protect);
    const struct ebb_metadata *m = now->metadata;
    struct ebb_buf limits, options;
    struct ebb_plan_header h;
    int rc;

    memset(&h, 0, sizeof h);
    ebb_buf_init(&limits, 65536);
    ebb_buf_init(&options, EBB_PLAN_MAX_LINE_BYTES);
    write_limits(p->options, &limits);
    write_options(p, protect, &options);
    h.id = p->id;
    h.catalog = now->ref.catalog;
    h.namespace_ = now->ref.namespace_ ? now->ref.namespace_ : "";
    h.name = now->ref.name;
    h.uuid = m->uuid ? m->uuid : "";
    h.location = m->location;
    h.metadata = now->ref.metadata_uri;
    h.has_snapshot = m->has_current_snapshot;
    h.snapshot_id = m->current_snapshot_id;
    h.cutoff_ms = p->cutoff_ms;
    h.older_than = p->older_than;
    h.scanned = protect->scanned ? protect->scanned : m->location;
    h.ownership = ebb_protect_ownership(p->protect);
    h.listing = p->options->listing ? p->options->listing : "";
    h.engine_version = EBB_VERSION;
    h.created_ms = p->now_ms;
    if (p->options->policy_json)
        h.policy = ebb_str_of(p->options->policy_json);
    h.limits = ebb_buf_str(&limits);
    h.options = ebb_buf_str(&options);
    ebb_plan_write_header(&w->out, &h);
    rc = ebb_buf_check(&options, "plan options", err);
    if (!rc)
        rc = hash_tail(w, 0, err);
    ebb_buf_fini(&limits);
    ebb_buf_fini(&options);
    return rc;
}

/* ---- fuses ---- */

static int blow(struct ebb_planning *p, const char *fuse, struct ebb_err *err)
{
    p->summary.status = "held";
    return ebb_strs_add(&p->summary.held_by, fuse, err);
}

static int look_at_fuses(struct ebb_planning *p, struct ebb_err *err)
{
    const struct ebb_plan_options *o = p->options;
    const struct ebb_plan_summary *s = &p->summary;
    double share = o->max_share > 0 ? o->max_share : 0.5;
    bool is_mismatch = false;
    int rc = 0;

    p->summary.status = s->candidates ? "ready" : "empty";
    if (!s->candidates)
        return 0;
    if (o->max_files > 0 && s->candidates > o->max_files)
        rc = blow(p, "max_files", err);
    if (!rc && o->max_bytes > 0 && s->candidate_bytes > o->max_bytes)
        rc = blow(p, "max_bytes", err);
    if (!rc && (double)s->candidates > share * (double)s->listed)
        rc = blow(p, "max_share", err);
    if (!rc)
        rc = ebb__plan_is_mismatch(p, &is_mismatch, err);
    if (!rc && is_mismatch)
        rc = blow(p, "zero_overlap", err);
    return rc;
}

static int write_summary(struct writer *w, struct ebb_err *err)
{
    struct ebb_planning *p = w->p;
    unsigned char digest[SHA256_DIGEST_LENGTH];
    struct ebb_buf hex;
    int rc = look_at_fuses(p, err);

    if (rc)
        return rc;
    p->summary.reachable = ebb_protect_reachable_count(p->protect);
    p->summary.metadata_files_read = ebb_protect_files_read(p->protect);
    SHA256_Final(digest, &w->sha);
    ebb_buf_init(&hex, 128);
    ebb_text_hex(&hex, digest, sizeof digest);
    snprintf(p->summary.sha256, sizeof p->summary.sha256, "%s", ebb_buf_cstr(&hex));
    ebb_buf_fini(&hex);
    ebb_plan_write_summary(&w->out, &p->summary);
    return flush(w, err);
}

/* ---- file and record ---- */

static int write_lines(struct writer *w, const struct ebb_protect_options *protect, struct ebb_err *err)
{
    struct ebb_planning *p = w->p;
    int rc;

    w->newest_ms = p->cutoff_ms;
    if (p->skew_ms > 0) {
        int64_t floor = p->now_ms - EBB_PLAN_FLOOR_MS - p->skew_ms;

        ebb_log_say(&p->site->log, EBB_LOG_WARN,
                    "%s: a file's time lies %" PRId64 " s in the future: the floor grows by as much", p->table->label,
                    p->skew_ms / 1000);
        if (floor < w->newest_ms)
            w->newest_ms = floor;
    }
    rc = write_header(w, protect, err);
    if (!rc)
        rc = ebb__spool_each(p->spool, on_candidate, w, err);
    if (!rc)
        rc = write_summary(w, err);
    if (!rc && fsync(w->fd))
        rc = ebb_err_errno(err, errno, "%s: syncing the plan", w->temporary);
    return rc;
}

/* Whether the candidates are not those of the whole location as it is now. */
static bool is_partial(const struct ebb_planning *p)
{
    return p->options->listing || !ebb_str_is_equal(ebb_buf_str(&p->scanned_path), ebb_buf_str(&p->root_path));
}

static int put_record(const struct ebb_planning *p, const char *file, struct ebb_err *err)
{
    struct ebb_buf json;
    struct ebb_jsonw w;
    struct ebb_record record = {p->id,
                                p->table->label,
                                p->table->metadata->uuid ? p->table->metadata->uuid : "",
                                p->options->policy ? p->options->policy : "",
                                p->summary.status,
                                p->now_ms,
                                0,
                                p->options->decision ? p->options->decision : "",
                                NULL};
    int rc;

    if (!p->site->store)
        return 0;
    ebb_buf_init(&json, 65536);
    ebb_jsonw_init(&w, &json);
    ebb_plan_json(&w, p->id, file, p->table->label, record.uuid, p->table->metadata->location, p->cutoff_ms,
                  &p->summary);
    if (is_partial(p) && json.len) {
        json.len--; /* one more member behind those that `ebb plan --json` prints */
        ebb_buf_puts(&json, ",\"partial\":true}");
    }
    rc = ebb_buf_check(&json, "plan record", err);
    record.json = ebb_buf_cstr(&json);
    if (!rc)
        rc = ebb_store_put(p->site->store, EBB_RECORD_PLAN, &record, err);
    ebb_buf_fini(&json);
    return rc;
}

static int target_name(const struct ebb_planning *p, struct ebb_buf *out, struct ebb_err *err)
{
    char cwd[4096];

    if (p->options->output && p->options->output[0] != '/' && getcwd(cwd, sizeof cwd))
        ebb_buf_printf(out, "%s/%s", cwd, p->options->output);
    else if (p->options->output)
        ebb_buf_puts(out, p->options->output);
    else if (p->site->store)
        ebb_buf_printf(out, "%s/plans/%s.plan", ebb_store_dir(p->site->store), p->id);
    else
        return ebb_err_set(err, EBB_EUSAGE, "plan: neither a state folder nor an output file to write it to");
    return ebb_buf_check(out, "plan file", err);
}

static int write_file(struct ebb_planning *p, const struct ebb_protect_options *protect, const char *file,
                      struct ebb_err *err)
{
    struct writer w;
    struct ebb_buf temporary;
    int rc;

    memset(&w, 0, sizeof w);
    w.p = p;
    w.fd = -1;
    SHA256_Init(&w.sha);
    ebb_buf_init(&w.out, (size_t)4 << 20);
    ebb_buf_init(&temporary, 8192);
    ebb_buf_printf(&temporary, "%s.%s.tmp", file, p->id);
    w.temporary = ebb_buf_cstr(&temporary);
    rc = ebb_buf_check(&temporary, "plan file", err);
    if (!rc) {
        w.fd = open(w.temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (w.fd < 0)
            rc = ebb_err_errno(err, errno, "%s: making the plan file", w.temporary);
    }
    if (!rc)
        rc = write_lines(&w, protect, err);
    if (w.fd >= 0 && close(w.fd) && !rc)
        rc = ebb_err_errno(err, errno, "%s: writing the plan", w.temporary);
    if (!rc && rename(w.temporary, file))
        rc = ebb_err_errno(err, errno, "%s: naming the plan file", file);
    if (rc && w.fd >= 0)
        unlink(w.temporary);
    ebb_buf_fini(&w.out);
    ebb_buf_fini(&temporary);
    return rc;
}

/* A plan may be made anew; any other file is not replaced. */
int ebb__plan_check_output(const struct ebb_planning *p, struct ebb_err *err)
{
    static const struct ebb_str BEGIN = {"{\"ebb_plan\":", 12};
    char head[12];
    struct stat st;
    ssize_t n = 0;
    int fd, rc;

    if (!p->options->output || stat(p->options->output, &st))
        return 0;
    fd = S_ISREG(st.st_mode) ? open(p->options->output, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd >= 0) {
        n = read(fd, head, sizeof head);
        close(fd);
    }
    if (S_ISREG(st.st_mode) && (st.st_size == 0 || (n == (ssize_t)BEGIN.n && !memcmp(head, BEGIN.p, BEGIN.n))))
        return 0;
    rc = ebb_err_set(err, EBB_EEXIST, "%s: exists and is not a plan: not replaced", p->options->output);
    ebb_err_hint(err, "give -o another name, or remove that file first");
    return rc;
}

int ebb__plan_write(struct ebb_planning *p, const struct ebb_protect_options *protect, char **file, struct ebb_err *err)
{
    struct ebb_buf target;
    int rc;

    ebb_buf_init(&target, 8192);
    rc = target_name(p, &target, err);
    if (!rc)
        rc = write_file(p, protect, ebb_buf_cstr(&target), err);
    if (!rc) {
        rc = put_record(p, ebb_buf_cstr(&target), err);
        if (rc)
            unlink(ebb_buf_cstr(&target));
    }
    if (!rc) {
        *file = ebb_buf_take(&target);
        rc = *file ? 0 : ebb_err_nomem(err);
    }
    ebb_buf_fini(&target);
    return rc;
}
