/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the S3 client: one signed request, many of which may be under way; what its answer says; shared by the
 * s3_*.c files. A request waits for its turn (the limit), runs, pauses before it is repeated, and is told: from inside
 * of ebb__s3_turn, never from inside of ebb__s3_start.
 */
#ifndef EBB_IO_S3_PRIV_H
#define EBB_IO_S3_PRIV_H

#include "io/http_sync.h"
#include "io/s3.h"
#include "io/xml_priv.h"

#define EBB__S3_TRIES 6
#define EBB__S3_ANSWER_BYTES ((size_t)16 << 20)
#define EBB__S3_CODE_MAX 64

enum ebb__s3_encoding { EBB__S3_UNPROBED, EBB__S3_RAW, EBB__S3_ENCODED };

struct ebb__s3_request;
struct ebb_s3 {
    /* owned copies of the configuration */
    char *endpoint;             /* "" AWS's */
    char *scheme, *host, *base; /* of the endpoint: base path without a slash at its end */
    char *region;               /* "" until the credentials tell it */
    int path_style;
    unsigned requests_max;
    uint64_t copy_part_bytes;
    struct ebb_http_sync *sync;
    struct ebb_aws_credentials *credentials; /* NULL: lender */
    struct ebb_s3_lender lender;
    bool has_lender, are_lent_expired;
    struct ebb_clock clock;
    struct ebb_log log;
    /* state */
    struct ebb__s3_request *first, **end;  /* all that are not told yet, in order of their start */
    unsigned running, limit, since_change; /* limit: at once, as the server lets us */
    unsigned falls;                        /* how often the limit fell */
    unsigned keys_made;                    /* how often keys were renewed, and when the last time */
    int64_t renewed_ms;
    int64_t skew_ms;  /* added to our clock when signing */
    int64_t ahead_ms; /* INT64_MIN: unknown */
    uint64_t seed;
    enum ebb__s3_encoding encoding;
    char *bucket; /* that was found usable last; NULL none */
};

/* What is asked. All texts and bytes are copied. */
struct ebb__s3_call {
    const char *method;
    const char *bucket;
    struct ebb_str key;             /* p NULL: the bucket itself */
    const char *query;              /* encoded, without '?'; NULL none */
    const struct ebb_strs *headers; /* "Name: value"; NULL none */
    struct ebb_str body;
    size_t answer_bytes;      /* 0: EBB__S3_ANSWER_BYTES */
    bool is_once;             /* never sent again when it may have been carried out, or after a pause */
    bool is_fresh;            /* each sending of it is one of the tries: none is hidden by a connection that was kept */
    bool may_fail_in_success; /* a 200 may hold <Error> (copies): then it counts as that error */
};
/* What came of it. All is borrowed during the callback. */
struct ebb__s3_answer {
    int status; /* 0: none */
    const struct ebb_strs *headers;
    struct ebb_str body;
    const char *code;          /* of an error: "NoSuchKey", "" none */
    const struct ebb_err *err; /* EBB_OK: a status 2xx (304 and 412 are errors) */
    unsigned tries;
    bool is_unsure;        /* an earlier try, or this one, may have been carried out though its answer was lost */
    struct ebb_buf *bytes; /* what body is of: may be taken, and is to be left empty then */
};
/* A header of the answer by name; NULL when it is missing. */
const char *ebb__s3_header(const struct ebb__s3_answer *answer, const char *name);

typedef void ebb__s3_cb(void *data, const struct ebb__s3_answer *answer);
/* Put a request in line. EBB_ENOMEM, EBB_ECONFIG (no keys, no region). */
int ebb__s3_start(struct ebb_s3 *s3, const struct ebb__s3_call *call, ebb__s3_cb *cb, void *data, struct ebb_err *err);
/* Go on until at least one request was told, or none is left. EBB_ECANCELLED; what is under way stays so. */
int ebb__s3_turn(struct ebb_s3 *s3, struct ebb_err *err);
/* Send and receive what can be without waiting; nothing is told. */
void ebb__s3_poll(struct ebb_s3 *s3);
/* How many are not told yet. */
size_t ebb__s3_pending(const struct ebb_s3 *s3);
/* Wait before try number `tries` + 1, as between the tries of a request; is_slower: with fewer at once from then on.
 * EBB_ECANCELLED. */
int ebb__s3_pause(struct ebb_s3 *s3, unsigned tries, bool is_slower, struct ebb_err *err);
/* Forget all that is not told yet: no callback comes. For whoever leaves after an error. */
void ebb__s3_drop(struct ebb_s3 *s3);

/* One request from beginning to end. */
struct ebb__s3_got {
    int status;
    struct ebb_strs headers;
    struct ebb_buf body;
    char code[EBB__S3_CODE_MAX];
    bool is_unsure;
};
/* Initialises *out. Errors as s3.h says; then status and code are those of the answer. */
int ebb__s3_do(struct ebb_s3 *s3, const struct ebb__s3_call *call, struct ebb__s3_got *out, struct ebb_err *err);
void ebb__s3_got_fini(struct ebb__s3_got *got);

/* ---- s3_error.c ---- */

enum ebb__s3_next {
    EBB__S3_DONE,     /* tell it */
    EBB__S3_AGAIN,    /* after a pause */
    EBB__S3_SLOWER,   /* after a pause, with fewer at once */
    EBB__S3_NEW_KEYS, /* with other keys, once */
    EBB__S3_NEW_CLOCK /* with the server's time, once */
};
struct ebb__s3_failure {
    char code[EBB__S3_CODE_MAX];
    char message[256];
    char region[32]; /* that the server names */
};
/* Read the body of an error; what can't be read leaves the fields empty. */
void ebb__s3_failure_read(struct ebb_str body, struct ebb__s3_failure *out);
enum ebb__s3_next ebb__s3_judge(int status, const char *code);
/* Fill err for an answer that is no success. what: "s3://bucket/key". region: ours. */
void ebb__s3_fail(const struct ebb_s3 *s3, const char *what, const char *bucket, int status,
                  const struct ebb__s3_failure *failure, const char *header_region, struct ebb_err *err);

/* ---- s3_object.c ---- */

/* Fill an object from the headers of HEAD or GET. EBB_ECORRUPT. */
int ebb__s3_object_of(const struct ebb__s3_answer *answer, const char *what, struct ebb_s3_object *out,
                      struct ebb_err *err);
/* "Fri, 24 May 2013 00:00:00 GMT" (EBB_ETIME when it is none), "2013-05-24T00:00:00.000Z" likewise: ms, whole seconds.
 */
int ebb__s3_http_time(const char *text, int64_t *out_ms);
int ebb__s3_iso_time(struct ebb_str text, int64_t *out_ms);
/* Append "s3://bucket/key" for messages, cut to what an error can hold. */
void ebb__s3_name(struct ebb_buf *out, const char *bucket, struct ebb_str key);

/* ---- s3_probe.c ---- */

/* Whether keys of listings come url-encoded: asked once an endpoint, by a listing of a prefix that looks different
 * encoded. */
int ebb__s3_probe_encoding(struct ebb_s3 *s3, const char *bucket, struct ebb_err *err);
/* Decode "%XX" and '+' (a blank); false when a '%' is not followed by two digits. */
bool ebb__s3_decode(struct ebb_str text, struct ebb_buf *out);

#endif
