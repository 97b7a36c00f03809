/* SPDX-License-Identifier: Apache-2.0 */
#include "table/run_lock.h"

#include <stdio.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/time.h"
#include "table/lock_text_priv.h"
#include "table/quarantine.h"

#define TRIES 4

/* A lock file as it was found. */
struct found {
    struct ebb_buf bytes;
    struct ebb__lock_text text;
    bool is_readable; /* else text has only an epoch and an expiry, from the file's time */
};

static int read_lock(struct ebb_place *place, const char *name, struct found *f, struct ebb_err *err)
{
    struct ebb_stat st;
    int rc;

    ebb_buf_reset(&f->bytes);
    memset(&f->text, 0, sizeof f->text);
    rc = ebb_place_stat(place, name, &st, err);
    if (!rc)
        rc = ebb_place_read(place, name, EBB_LOCK_MAX_BYTES, &f->bytes, NULL, err);
    if (rc)
        return rc;
    f->is_readable = ebb__lock_text_parse(ebb_buf_str(&f->bytes), &f->text, NULL) == 0;
    if (!f->is_readable) { /* torn by a crash: it counts from when it was made */
        memset(&f->text, 0, sizeof f->text);
        f->text.epoch = st.mtime_ns / 1000000;
        f->text.expires_ms = f->text.epoch + EBB_LOCK_LIFE_MS;
    }
    return 0;
}

static bool is_ours(const struct found *f, const struct ebb_run_lock *lock)
{
    return f->is_readable && f->text.epoch == lock->epoch && strcmp(f->text.run, lock->run) == 0;
}

static int64_t storage_now(const struct ebb_run_lock *lock)
{
    return ebb_clock_now(&lock->clock) + lock->ahead_ms;
}

static int compare_clocks(struct ebb_run_lock *lock, struct ebb_err *err)
{
    char probe[128];
    int64_t theirs, ours = ebb_clock_now(&lock->clock);
    int rc;

    snprintf(probe, sizeof probe, EBB_QUARANTINE_DIR "/clock-%s-%ld-%lld", lock->run, (long)getpid(), (long long)ours);
    rc = ebb_place_clock_ms(lock->place, probe, &theirs, err);
    if (rc)
        return rc;
    lock->ahead_ms = theirs - ebb_clock_now(&lock->clock);
    if (lock->ahead_ms <= EBB_LOCK_MAX_SKEW_MS && lock->ahead_ms >= -EBB_LOCK_MAX_SKEW_MS)
        return 0;
    rc = ebb_err_set(err, EBB_ECLOCK, "%s: the storage's clock is %lld s %s ours", ebb_place_uri(lock->place),
                     (long long)(lock->ahead_ms < 0 ? -lock->ahead_ms : lock->ahead_ms) / 1000,
                     lock->ahead_ms < 0 ? "behind" : "ahead of");
    ebb_err_hint(err, "set both clocks right; more than five minutes apart no age can be trusted");
    return rc;
}

static void lock_bytes(const struct ebb_run_lock *lock, struct ebb_buf *out)
{
    struct ebb__lock_text text;

    memset(&text, 0, sizeof text);
    ebb__holder_self(&text.holder);
    snprintf(text.run, sizeof text.run, "%s", lock->run);
    text.epoch = lock->epoch;
    text.expires_ms = lock->expires_ms;
    ebb__lock_text_write(&text, out);
}

static int write_lock(struct ebb_run_lock *lock, bool is_new, struct ebb_err *err)
{
    struct ebb_buf bytes;
    int rc;

    ebb_buf_init(&bytes, EBB_LOCK_MAX_BYTES);
    lock_bytes(lock, &bytes);
    rc = ebb_buf_check(&bytes, "lock", err);
    if (!rc && is_new)
        rc = ebb_place_create(lock->place, EBB_QUARANTINE_LOCK, bytes.data, bytes.len, err);
    else if (!rc)
        rc = ebb_place_replace(lock->place, EBB_QUARANTINE_LOCK, bytes.data, bytes.len, err);
    ebb_buf_fini(&bytes);
    return rc;
}

static void say_holder(const struct found *f, char *out, size_t size)
{
    if (f->is_readable)
        snprintf(out, size, "run %s of process %lld on %.100s", f->text.run, (long long)f->text.holder.pid,
                 f->text.holder.host);
    else
        snprintf(out, size, "a lock file that can't be read");
}

static int say_locked(const struct ebb_run_lock *lock, const struct found *f, struct ebb_err *err)
{
    char holder[256];
    struct ebb_buf until;
    int rc;

    say_holder(f, holder, sizeof holder);
    ebb_buf_init(&until, 64);
    ebb_time_iso(&until, f->text.expires_ms);
    rc = ebb_err_set(err, EBB_ELOCKED, "%s: held by %s until %s", ebb_place_uri(lock->place), holder,
                     ebb_buf_cstr(&until));
    ebb_err_hint(err, "wait for it; after that time the lock is taken over");
    if (err)
        err->retryable = true;
    ebb_buf_fini(&until);
    return rc;
}

static void aside_name(int64_t epoch, char out[64])
{
    snprintf(out, 64, EBB_QUARANTINE_LOCK ".%lld", (long long)epoch);
}

static bool is_same_file(struct ebb_place *place, const char *name, const struct found *old)
{
    struct found now;
    bool same;

    ebb_buf_init(&now.bytes, EBB_LOCK_MAX_BYTES);
    same =
        read_lock(place, name, &now, NULL) == 0 && ebb_str_is_equal(ebb_buf_str(&now.bytes), ebb_buf_str(&old->bytes));
    ebb_buf_fini(&now.bytes);
    return same;
}

/* Put a dead lock out of the way. Two who see the same one collide on the name with its epoch; one who comes late and
 * catches a newer lock sees that and gives it back (its holder stops if it looked meanwhile). */
static int move_aside(struct ebb_run_lock *lock, const struct found *old, struct ebb_err *err)
{
    char aside[64];
    int rc;

    aside_name(old->text.epoch, aside);
    EBB_FAILPOINT("lock.aside.before");
    rc = ebb_place_move(lock->place, EBB_QUARANTINE_LOCK, lock->place, aside, err);
    EBB_FAILPOINT("lock.aside.after");
    if (rc == -EBB_ENOENT)
        return 0;
    if (rc == -EBB_EEXIST)
        return say_locked(lock, old, err);
    if (rc)
        return rc;
    if (!is_same_file(lock->place, aside, old)) {
        ebb_place_move(lock->place, aside, lock->place, EBB_QUARANTINE_LOCK, NULL);
        return say_locked(lock, old, err);
    }
    say_holder(old, lock->old_holder, sizeof lock->old_holder);
    return 0;
}

static int clear_dead(struct ebb_run_lock *lock, struct ebb_err *err)
{
    struct found f;
    int rc;

    ebb_buf_init(&f.bytes, EBB_LOCK_MAX_BYTES);
    rc = read_lock(lock->place, EBB_QUARANTINE_LOCK, &f, err);
    if (rc == -EBB_ENOENT) {
        rc = 0; /* released just now */
    } else if (!rc) {
        if (lock->epoch <= f.text.epoch && f.text.epoch < INT64_MAX)
            lock->epoch = f.text.epoch + 1;
        if (storage_now(lock) > f.text.expires_ms || (f.is_readable && ebb__holder_is_gone(&f.text.holder)))
            rc = move_aside(lock, &f, err);
        else
            rc = say_locked(lock, &f, err);
    }
    ebb_buf_fini(&f.bytes);
    return rc;
}

static int confirm(struct ebb_run_lock *lock, struct ebb_err *err)
{
    struct found f;
    int rc;

    ebb_buf_init(&f.bytes, EBB_LOCK_MAX_BYTES);
    rc = read_lock(lock->place, EBB_QUARANTINE_LOCK, &f, err);
    if (rc == -EBB_ENOENT || (!rc && !is_ours(&f, lock)))
        rc = ebb_err_set(err, EBB_ELOCKED, "%s: the lock was taken by another run", ebb_place_uri(lock->place));
    ebb_buf_fini(&f.bytes);
    return rc;
}

static int try_create(struct ebb_run_lock *lock, struct ebb_err *err)
{
    int rc;

    lock->expires_ms = storage_now(lock) + EBB_LOCK_LIFE_MS;
    EBB_FAILPOINT("lock.create.before");
    rc = write_lock(lock, true, err);
    EBB_FAILPOINT("lock.create.after");
    return rc;
}

static int prepare(struct ebb_run_lock *lock, struct ebb_err *err)
{
    int rc = ebb_place_make_dirs(lock->place, EBB_QUARANTINE_DIR, true, err);

    if (!rc)
        rc = compare_clocks(lock, err);
    if (!rc && lock->epoch < storage_now(lock))
        lock->epoch = storage_now(lock);
    return rc;
}

static int acquire(struct ebb_run_lock *lock, struct ebb_err *err)
{
    int rc, i;

    for (i = 0; i < TRIES; i++) {
        rc = prepare(lock, err);
        if (!rc)
            rc = try_create(lock, err);
        if (!rc)
            return confirm(lock, err);
        if (rc == -EBB_EEXIST)
            rc = clear_dead(lock, err);
        if (rc && rc != -EBB_ENOENT) /* ENOENT: the one who released it took the empty folder along */
            return rc;
    }
    return ebb_err_set(err, EBB_ELOCKED, "%s: the lock keeps changing hands", ebb_place_uri(lock->place));
}

int ebb_run_lock_take(struct ebb_place *place, const struct ebb_clock *clock, const char *run, struct ebb_run_lock *out,
                      struct ebb_err *err)
{
    int rc;

    memset(out, 0, sizeof *out);
    out->place = place;
    out->clock = *clock;
    snprintf(out->run, sizeof out->run, "%s", run);
    rc = acquire(out, err);
    if (rc)
        out->place = NULL;
    return rc;
}

int ebb_run_lock_check(struct ebb_run_lock *lock, struct ebb_err *err)
{
    int64_t left = lock->expires_ms - storage_now(lock);
    int rc;

    if (left <= 0)
        return ebb_err_set(err, EBB_ELOCKED, "%s: our lock has expired", ebb_place_uri(lock->place));
    rc = confirm(lock, err);
    if (rc || left > EBB_LOCK_LIFE_MS / 2)
        return rc;
    lock->expires_ms = storage_now(lock) + EBB_LOCK_LIFE_MS;
    EBB_FAILPOINT("lock.renew.before");
    rc = write_lock(lock, false, err);
    EBB_FAILPOINT("lock.renew.after");
    return rc;
}

static bool stay_out(void *data, struct ebb_str dir)
{
    (void)data;
    (void)dir;
    return false;
}

/* What crashes left beside the lock: only its holder removes it, and only ebb's own names, in this one folder. */
static bool is_litter(struct ebb_run_lock *lock, const struct ebb_walk_entry *entry)
{
    struct ebb_stat st;

    if (entry->kind != EBB_WALK_FILE)
        return false;
    if (ebb_str_has_prefix(entry->name, EBB_STR("lock.")) || ebb_str_has_prefix(entry->name, EBB_STR(".ebb-tmp-")))
        return true;
    return ebb_str_has_prefix(entry->name, EBB_STR("clock-")) && ebb_walk_stat(entry, &st, NULL) == 0 &&
           st.mtime_ns / 1000000 < storage_now(lock) - EBB_LOCK_LIFE_MS;
}

static int remove_litter(void *data, const struct ebb_walk_entry *entry, struct ebb_err *err)
{
    struct ebb_run_lock *lock = data;
    char name[512];

    (void)err;
    if (is_litter(lock, entry) && entry->name.n < sizeof name - sizeof EBB_QUARANTINE_DIR) {
        snprintf(name, sizeof name, EBB_QUARANTINE_DIR "/%.*s", (int)entry->name.n, entry->name.p);
        ebb_place_unlink(lock->place, name, NULL);
    }
    return 0;
}

void ebb_run_lock_release(struct ebb_run_lock *lock)
{
    const struct ebb_walk_ops ops = {stay_out, NULL, remove_litter};

    if (!lock->place)
        return;
    EBB_FAILPOINT("lock.release.before");
    if (!confirm(lock, NULL)) {
        ebb_place_walk(lock->place, EBB_QUARANTINE_DIR, &ops, lock, NULL);
        ebb_place_unlink(lock->place, EBB_QUARANTINE_LOCK, NULL);
    }
    EBB_FAILPOINT("lock.release.after");
    ebb_place_remove_dir(lock->place, EBB_QUARANTINE_DIR, NULL); /* only if nothing is in it */
    lock->place = NULL;
}
