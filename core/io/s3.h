/* SPDX-License-Identifier: Apache-2.0
 *
 * Amazon S3's REST interface: single requests, signed, retried, told apart. What they are put together to is a place
 * (s3_place_priv.h). Keys are bytes, never normalised, encoded exactly once. Retries: network failures, 408, 429, 500,
 * 502, 503, 504, and 400 RequestTimeout, 409 OperationAborted, with full jitter; the number of requests at once falls
 * by half at each 503/SlowDown/429 and rises by one for each window without. Once each: 403 RequestTimeTooSkewed (the
 * clock is set by the answer's Date, of this client only), ExpiredToken/InvalidToken (keys are fetched anew). Another
 * region (301, 307, 400 AuthorizationHeaderMalformed) is an error that names the right one. One thread a client.
 *
 * Errors, each one line that names bucket and key or prefix, with a hint: EBB_ENOENT (404 NoSuchKey), EBB_ECONFIG
 * (NoSuchBucket, wrong region, unknown key id, SignatureDoesNotMatch: what to mend), EBB_EPERMISSION (403), EBB_ECLOCK
 * (skew that stays), EBB_EEXIST / EBB_ECHANGED (412), EBB_EUNSUPPORTED (501, InvalidObjectState: archived), EBB_EIO
 * (all else; retryable where it may pass), EBB_ECORRUPT (an answer that is not what the interface promises),
 * EBB_ECANCELLED.
 */
#ifndef EBB_IO_S3_H
#define EBB_IO_S3_H

#include <stdatomic.h>

#include "io/aws_credentials.h"

struct ebb_s3_config {
    const char *endpoint; /* "http://127.0.0.1:9000", with a base path if need be; NULL: AWS's of the region
                             (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL in the environment come first) */
    int path_style;       /* 1, 0; -1: 1 where an endpoint is given, or the bucket has a '.', else 0 */
    struct ebb_aws_config aws;
    const char *ca_file, *proxy; /* as in ebb_http_client_options */
    unsigned requests;           /* at once; 0: 32 */
    uint64_t copy_part_bytes;    /* above this, copies go in parts; 0: 5 GiB, the interface's limit */
};

/* Keys that a catalog lends, in place of our own; refresh fills texts that live until the next call. */
struct ebb_s3_lender {
    int (*keys)(void *data, bool are_expired, struct ebb_aws_keys *out, struct ebb_err *err);
    void *data;
};

struct ebb_s3;
/* All of config is copied; lender may be NULL, else is copied (its data borrowed). EBB_ECONFIG names the field of the
 * configuration ("storage.s3.endpoint"). No request is made yet. */
int ebb_s3_new(const struct ebb_s3_config *config, const struct ebb_s3_lender *lender, struct ebb_clock clock,
               const struct ebb_log *log, const atomic_bool *cancelled, struct ebb_s3 **out, struct ebb_err *err);
void ebb_s3_free(struct ebb_s3 *s3);

/* Server's time minus ours as the last answer's Date header told, ms (one second fine); INT64_MIN before the first. */
int64_t ebb_s3_ahead_ms(const struct ebb_s3 *s3);
/* As ebb_http_sync_set_deaf. */
void ebb_s3_set_deaf(struct ebb_s3 *s3, bool is_deaf);
/* Our clock, as of now. */
int64_t ebb_s3_now_ms(const struct ebb_s3 *s3);

#define EBB_S3_ETAG_MAX 72
/* What HEAD, GET or LIST say. Owned texts are inside. */
struct ebb_s3_object {
    uint64_t size_bytes;
    int64_t mtime_ms;           /* LastModified, whole seconds (HEAD tells no more), as ms */
    char etag[EBB_S3_ETAG_MAX]; /* with its quotes; "" when the server sends none. A longer one is EBB_ECORRUPT */
    bool is_archived;           /* GLACIER, DEEP_ARCHIVE: can't be read or copied */
    char ebb_id[160];           /* HEAD only: x-amz-meta-ebb-id, else "" */
    int64_t ebb_mtime_ms;       /* HEAD only: x-amz-meta-ebb-mtime, else 0 */
};

/* ---- single objects; each waits ---- */
int ebb_s3_head(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, struct ebb_s3_object *out,
                struct ebb_err *err);
/* At most max bytes from the beginning (Range), into out (reset first). *is_cut: there is more. out may be NULL for
 * object. The length must be what the headers say (EBB_ECORRUPT). */
int ebb_s3_get(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, size_t max, struct ebb_buf *bytes,
               bool *is_cut, struct ebb_s3_object *out, struct ebb_err *err);
/* is_new: If-None-Match: * (EBB_EEXIST). The server's time at which it was stored may be had by ebb_s3_ahead_ms. */
int ebb_s3_put(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, const void *bytes, size_t n, bool is_new,
               struct ebb_err *err);
/* etag: If-Match (EBB_ECHANGED when the server says that it is another one), NULL: whatever is there. A key that is not
 * there is 0: the interface does not tell. */
int ebb_s3_delete(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, const char *etag, struct ebb_err *err);
/* Delete what is there now, and nothing that another writer puts there later: with If-Match, and only after another
 * look when it may have been carried out. EBB_ENOENT: nothing is there; EBB_ECHANGED: another object is. */
int ebb_s3_delete_seen(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, struct ebb_err *err);
/* Whether deleting makes a marker and keeps the data (versioning enabled or suspended): 1, 0; -1: not told (denied, not
 * implemented). */
int ebb_s3_is_versioned(struct ebb_s3 *s3, const char *bucket, int *out, struct ebb_err *err);
/* Whether the bucket is there and in our region (HEAD); EBB_ECONFIG names what is wrong. */
int ebb_s3_check_bucket(struct ebb_s3 *s3, const char *bucket, struct ebb_err *err);
/* Whether If-Match on DELETE and If-None-Match on PUT are honoured: tried with two objects of this key prefix that are
 * removed again. */
struct ebb_s3_abilities {
    bool deletes_if_match;
    bool puts_if_none_match;
};
int ebb_s3_probe(struct ebb_s3 *s3, const char *bucket, struct ebb_str key_prefix, struct ebb_s3_abilities *out,
                 struct ebb_err *err);

/* ---- many at once: all go at the same time, as far as the limit allows; returns when all are done ---- */

struct ebb_s3_head_item {
    struct ebb_str key;
    struct ebb_s3_object object; /* out */
    struct ebb_err err;          /* out; EBB_OK: it is there */
};
/* Non-zero only for what concerns all (EBB_ECANCELLED, EBB_ENOMEM); else each item tells. */
int ebb_s3_head_many(struct ebb_s3 *s3, const char *bucket, struct ebb_s3_head_item *items, size_t n,
                     struct ebb_err *err);

/* One move: HEAD of the target (must not be there) → copy with x-amz-copy-source-if-match and If-None-Match: * →
 * HEAD of the target, which must have size, and our metadata → DELETE of the source with If-Match (after one more HEAD
 * of it where the server does not honour that). The copy keeps Content-Type, Content-Encoding, Content-Language,
 * Content-Disposition, Cache-Control, Expires and all x-amz-meta-*, tags, and storage class, and has x-amz-meta-ebb-id
 * and x-amz-meta-ebb-mtime besides. Above copy_part_bytes in parts (aborted when it fails). */
struct ebb_s3_move_item {
    struct ebb_str from, to;
    const char *etag;           /* of the source, as it was judged */
    uint64_t size_bytes;        /* likewise */
    const char *ebb_id;         /* to be recorded in the copy */
    int64_t ebb_mtime_ms;       /* likewise */
    struct ebb_s3_object after; /* out: the target */
    struct ebb_err err;         /* out: EBB_OK moved; EBB_ENOENT the source is gone; EBB_EEXIST the target is there;
                                   EBB_ECHANGED         the source is another object: nothing was changed (a copy that was made
                                   is         removed again);         else failed, and the source is there still */
};
int ebb_s3_move_many(struct ebb_s3 *s3, const char *from_bucket, const char *to_bucket, bool deletes_if_match,
                     struct ebb_s3_move_item *items, size_t n, struct ebb_err *err);

/* Delete whatever is there under these keys: DeleteObjects with at most 1000 keys a request; keys that XML can't
 * express, and servers that lack it, by single DELETEs. Errors of single keys that may pass are tried again. A key that
 * is not there is no error. */
struct ebb_s3_delete_item {
    struct ebb_str key;
    struct ebb_err err; /* out */
};
int ebb_s3_delete_many(struct ebb_s3 *s3, const char *bucket, struct ebb_s3_delete_item *items, size_t n,
                       struct ebb_err *err);

/* ---- listing ---- */

struct ebb_s3_listed {
    struct ebb_str key; /* exact bytes; borrowed */
    uint64_t size_bytes;
    int64_t mtime_ms; /* whole seconds */
    struct ebb_str etag;
    bool is_doubtful; /* its name can't be told for certain (a server that sends raw keys, and this one holds what XML
                         mangles): never to be named again */
};
/* Non-zero ends the listing and is returned. Keys come in no order across ranges; each comes once. */
typedef int ebb_s3_list_cb(void *data, const struct ebb_s3_listed *object, struct ebb_err *err);
/* Whether keys below this prefix (it ends in '/') are wanted at all. */
typedef bool ebb_s3_enter_cb(void *data, struct ebb_str prefix);
/* Everything below a prefix ("" or ending in '/'), current versions only. Ranges of keys are listed at the same time:
 * cut at common prefixes first, then where one turns out long. The listing is complete or an error: keys of each range
 * must ascend, lie in it, and IsTruncated must be there; a page that breaks that, or a token that comes twice, is
 * EBB_ECORRUPT. A page that fails is asked for again. Whether keys come encoded is probed once an endpoint (never
 * believed by EncodingType alone). enter may be NULL. parallel: ranges at once; 0: 16; 1: one after another. */
int ebb_s3_list(struct ebb_s3 *s3, const char *bucket, struct ebb_str prefix, unsigned parallel, ebb_s3_enter_cb *enter,
                ebb_s3_list_cb *cb, void *data, struct ebb_err *err);

#endif
