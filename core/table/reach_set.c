/* SPDX-License-Identifier: Apache-2.0
 *
 * The set: an open-addressing table of 64-bit fingerprints. A name is (prefix, normal path); prefixes are few and
 * interned, the prefix's number goes into the seed. Equal fingerprints of different names can only keep a file.
 */
#include "table/reach.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/mman.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/fold.h"

#define PREFIX_MAX 256
#define PENDING_MAX 32
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define PREFIX_BYTES 512

struct prefix {
    char text[PREFIX_BYTES]; /* scheme, then authority, both lower case */
    size_t scheme_n, authority_n;
};

/* How the interned prefixes stand to the prefix of the listed name at hand. */
struct listed_view {
    char text[PREFIX_BYTES];
    size_t scheme_n, authority_n;
    size_t known; /* prefixes classified so far */
    bool is_match[PREFIX_MAX];
    bool is_set;
};

struct ebb_reach_set {
    const struct ebb_prefix_rules *rules;
    uint64_t seed;
    uint64_t *slots;
    size_t cap;                    /* a power of two, or 0 */
    size_t count;                  /* names */
    size_t used;                   /* slots: names and folds */
    uint64_t pending[PENDING_MAX]; /* computed and prefetched, not put yet: a slot is far away in memory */
    bool is_name[PENDING_MAX];     /* else a fold */
    size_t pending_count;
    struct prefix *prefixes;
    size_t prefix_count;
    size_t last_prefix;
    struct listed_view view;
    struct ebb_buf scratch, fold;
};

int ebb_reach_set_new(const struct ebb_prefix_rules *rules, uint64_t seed, struct ebb_reach_set **out,
                      struct ebb_err *err)
{
    struct ebb_reach_set *set = calloc(1, sizeof *set);

    if (!set)
        return ebb_err_nomem(err);
    set->rules = rules;
    set->seed = seed;
    set->prefixes = calloc(PREFIX_MAX, sizeof *set->prefixes);
    ebb_buf_init(&set->scratch, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&set->fold, 2 * EBB_LOCATION_MAX_BYTES);
    if (!set->prefixes) {
        free(set);
        return ebb_err_nomem(err);
    }
    *out = set;
    return 0;
}

void ebb_reach_set_free(struct ebb_reach_set *set)
{
    if (!set)
        return;
    ebb_buf_fini(&set->scratch);
    ebb_buf_fini(&set->fold);
    free(set->prefixes);
    free(set->slots);
    free(set);
}

static uint64_t fingerprint(const struct ebb_reach_set *set, size_t prefix, struct ebb_str path)
{
    uint64_t f = XXH3_64bits_withSeed(path.p, path.n, set->seed + (prefix + 1) * UINT64_C(0x9E3779B97F4A7C15));

    return f ? f : 1;
}

static bool put_slot(uint64_t *slots, size_t cap, uint64_t f)
{
    size_t i = (size_t)f & (cap - 1);

    while (slots[i]) {
        if (slots[i] == f)
            return false;
        i = (i + 1) & (cap - 1);
    }
    slots[i] = f;
    return true;
}

static bool has_slot(const struct ebb_reach_set *set, uint64_t f)
{
    size_t i;

    if (!set->cap)
        return false;
    for (i = (size_t)f & (set->cap - 1); set->slots[i]; i = (i + 1) & (set->cap - 1))
        if (set->slots[i] == f)
            return true;
    return false;
}

/* Zeroed; a large table on huge pages, since it is read at random. */
static uint64_t *new_slots(size_t cap)
{
    size_t bytes = cap * sizeof(uint64_t);
    uint64_t *slots;

    if (bytes < HUGE_PAGE_BYTES)
        return calloc(cap, sizeof(uint64_t));
    slots = aligned_alloc(HUGE_PAGE_BYTES, bytes);
    if (!slots)
        return NULL;
    madvise(slots, bytes, MADV_HUGEPAGE); /* a wish */
    memset(slots, 0, bytes);
    return slots;
}

static bool resize(struct ebb_reach_set *set, size_t cap)
{
    uint64_t *slots = new_slots(cap);

    if (!slots)
        return false;
    for (size_t i = 0; i < set->cap; i++)
        if (set->slots[i])
            put_slot(slots, cap, set->slots[i]);
    free(set->slots);
    set->slots = slots;
    set->cap = cap;
    return true;
}

void ebb_reach_set_reserve(struct ebb_reach_set *set, int64_t names_count)
{
    size_t cap = 1024;

    while (names_count > 0 && cap / 8 * 7 < (uint64_t)names_count && cap < (size_t)1 << 40)
        cap *= 2;
    if (cap > set->cap)
        resize(set, cap); /* only a hint: a failure shows when a name does not fit */
}

static void lower(char *out, struct ebb_str in)
{
    for (size_t i = 0; i < in.n; i++)
        out[i] = (char)tolower((unsigned char)in.p[i]);
}

static bool is_prefix_text(const char *text, size_t scheme_n, size_t authority_n, const struct ebb_location *loc)
{
    if (scheme_n != loc->scheme.n || authority_n != loc->authority.n)
        return false;
    for (size_t i = 0; i < scheme_n; i++)
        if (text[i] != (char)tolower((unsigned char)loc->scheme.p[i]))
            return false;
    for (size_t i = 0; i < authority_n; i++)
        if (text[scheme_n + i] != (char)tolower((unsigned char)loc->authority.p[i]))
            return false;
    return true;
}

static int intern(struct ebb_reach_set *set, const struct ebb_location *loc, size_t *out, struct ebb_err *err)
{
    struct prefix *p;

    for (size_t k = 0; k < set->prefix_count; k++) {
        size_t i = (set->last_prefix + k) % set->prefix_count;

        p = &set->prefixes[i];
        if (is_prefix_text(p->text, p->scheme_n, p->authority_n, loc)) {
            *out = set->last_prefix = i;
            return 0;
        }
    }
    if (set->prefix_count == PREFIX_MAX || loc->scheme.n + loc->authority.n > PREFIX_BYTES)
        return ebb_err_set(err, EBB_ELIMIT, "metadata: more than %d different schemes and authorities, or one too long",
                           PREFIX_MAX);
    p = &set->prefixes[set->prefix_count];
    lower(p->text, loc->scheme);
    lower(p->text + loc->scheme.n, loc->authority);
    p->scheme_n = loc->scheme.n;
    p->authority_n = loc->authority.n;
    *out = set->last_prefix = set->prefix_count++;
    return 0;
}

static void put_pending(struct ebb_reach_set *set)
{
    for (size_t i = 0; i < set->pending_count; i++)
        if (put_slot(set->slots, set->cap, set->pending[i])) {
            set->used++;
            set->count += set->is_name[i];
        }
    set->pending_count = 0;
}

int64_t ebb_reach_set_count(struct ebb_reach_set *set)
{
    put_pending(set);
    return (int64_t)set->count;
}

/* Put a fingerprint, now or a little later: put_pending must come before any question. */
static int add_slot(struct ebb_reach_set *set, size_t prefix, struct ebb_str path, bool is_name, struct ebb_err *err)
{
    uint64_t f = fingerprint(set, prefix, path);

    if (set->used + PENDING_MAX > set->cap / 8 * 7) {
        put_pending(set);
        if (set->used + PENDING_MAX > set->cap / 8 * 7 && !resize(set, set->cap ? set->cap * 2 : 1024))
            return ebb_err_nomem(err);
    }
    __builtin_prefetch(&set->slots[(size_t)f & (set->cap - 1)], 1);
    set->pending[set->pending_count] = f;
    set->is_name[set->pending_count] = is_name;
    if (++set->pending_count == PENDING_MAX)
        put_pending(set);
    return 0;
}

/* A name is kept beside its fold, if that is another; folds have a prefix of their own. */
static int add_name(struct ebb_reach_set *set, size_t prefix, struct ebb_str normal, struct ebb_err *err)
{
    int rc = add_slot(set, prefix, normal, true, err);

    if (rc || ebb_path_is_folded(normal))
        return rc;
    ebb_buf_reset(&set->fold);
    ebb_path_fold(normal, &set->fold);
    return set->fold.bad ? 0 : add_slot(set, PREFIX_MAX, ebb_buf_str(&set->fold), false, err);
}

bool ebb_reach_set_is_near(struct ebb_reach_set *set, struct ebb_str normal_path, struct ebb_str *fold)
{
    bool found = false;

    put_pending(set);
    ebb_buf_reset(&set->fold);
    ebb_path_fold(normal_path, &set->fold);
    *fold = ebb_buf_str(&set->fold);
    if (set->fold.bad)
        return false;
    found = has_slot(set, fingerprint(set, PREFIX_MAX, *fold));
    for (size_t i = 0; !found && i < set->prefix_count; i++)
        found = has_slot(set, fingerprint(set, i, *fold));
    return found;
}

static int normal_of(struct ebb_reach_set *set, struct ebb_str path, struct ebb_str *out, struct ebb_err *err)
{
    int rc;

    if (ebb_path_is_normal(path)) {
        *out = path;
        return 0;
    }
    ebb_buf_reset(&set->scratch);
    rc = ebb_path_normalise(path, &set->scratch, err);
    *out = ebb_buf_str(&set->scratch);
    return rc;
}

static bool is_relative(const struct ebb_location *loc)
{
    return !loc->scheme.n && !loc->authority.n && loc->path.n && loc->path.p[0] != '/' &&
           !(loc->path.n > 2 && loc->path.p[1] == ':' && loc->path.p[2] == '/');
}

/* A name without scheme and leading slash is meant below the table's root. */
static int add_relative(struct ebb_reach_set *set, struct ebb_str path, const char *root, struct ebb_err *err)
{
    struct ebb_buf joined;
    int rc;

    ebb_buf_init(&joined, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_puts(&joined, root);
    ebb_buf_putc(&joined, '/');
    ebb_buf_add_str(&joined, path);
    rc = ebb_buf_check(&joined, "a name in the metadata", err);
    if (!rc)
        rc = ebb_reach_set_add(set, ebb_buf_str(&joined), root, err);
    ebb_buf_fini(&joined);
    return rc;
}

int ebb_reach_set_add(struct ebb_reach_set *set, struct ebb_str path, const char *root, struct ebb_err *err)
{
    struct ebb_location loc;
    struct ebb_str normal;
    size_t prefix = 0;
    int rc = ebb_location_split(path.p, path.n, &loc, err);

    if (!rc && is_relative(&loc))
        return add_relative(set, path, root, err);
    if (!rc)
        rc = intern(set, &loc, &prefix, err);
    if (!rc)
        rc = normal_of(set, loc.path, &normal, err);
    if (rc == -(int)EBB_ELOCATION)
        rc = ebb_err_as(err, EBB_EBAD_LOCATION, "a name in the metadata");
    return rc ? rc : add_name(set, prefix, normal, err);
}

static void classify(struct ebb_reach_set *set, const struct ebb_location *listed)
{
    struct listed_view *v = &set->view;

    if (!v->is_set || !is_prefix_text(v->text, v->scheme_n, v->authority_n, listed)) {
        v->known = 0;
        v->is_set = listed->scheme.n + listed->authority.n <= PREFIX_BYTES;
        v->scheme_n = v->is_set ? listed->scheme.n : 0;
        v->authority_n = v->is_set ? listed->authority.n : 0;
        if (v->is_set) {
            lower(v->text, listed->scheme);
            lower(v->text + v->scheme_n, listed->authority);
        }
    }
    for (; v->known < set->prefix_count; v->known++) {
        const struct prefix *p = &set->prefixes[v->known];
        struct ebb_location valid = {{p->text, p->scheme_n}, {p->text + p->scheme_n, p->authority_n}, {"/", 1}};

        v->is_match[v->known] = ebb_prefix_is_match(set->rules, &valid, listed);
    }
}

static void tell_conflict(const struct prefix *p, const struct ebb_location *listed, struct ebb_buf *out)
{
    bool schemes = p->scheme_n != listed->scheme.n ||
                   !is_prefix_text(p->text, p->scheme_n, 0, &(struct ebb_location){listed->scheme, {"", 0}, {"", 0}});
    struct ebb_str valid =
        schemes ? (struct ebb_str){p->text, p->scheme_n} : (struct ebb_str){p->text + p->scheme_n, p->authority_n};
    struct ebb_str actual = schemes ? listed->scheme : listed->authority;

    ebb_buf_reset(out);
    ebb_buf_printf(out, "(%.*s, %.*s)", valid.n ? (int)valid.n : 4, valid.n ? valid.p : "none",
                   actual.n ? (int)actual.n : 4, actual.n ? actual.p : "none");
}

enum ebb_match ebb_reach_set_match_normal(struct ebb_reach_set *set, const struct ebb_location *listed,
                                          struct ebb_buf *conflict)
{
    enum ebb_match match = EBB_MATCH_NONE;

    put_pending(set);
    classify(set, listed);
    for (size_t i = 0; i < set->prefix_count; i++)
        if (set->view.is_match[i] && has_slot(set, fingerprint(set, i, listed->path)))
            return EBB_MATCH_SAME;
    for (size_t i = 0; i < set->prefix_count && match == EBB_MATCH_NONE; i++)
        if (!set->view.is_match[i] && has_slot(set, fingerprint(set, i, listed->path))) {
            match = EBB_MATCH_CONFLICT;
            if (conflict)
                tell_conflict(&set->prefixes[i], listed, conflict);
        }
    return match;
}

int ebb_reach_set_match(struct ebb_reach_set *set, const struct ebb_location *listed, enum ebb_match *out,
                        struct ebb_buf *conflict, struct ebb_err *err)
{
    struct ebb_location normal = *listed;
    int rc = normal_of(set, listed->path, &normal.path, err);

    if (!rc)
        *out = ebb_reach_set_match_normal(set, &normal, conflict);
    return rc;
}
