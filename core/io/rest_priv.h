/* SPDX-License-Identifier: Apache-2.0
 *
 * A session with an Iceberg REST catalog: what the server's configuration says, tokens, requests, and what answers
 * mean. Not for other layers. One thread a session.
 *
 * What a server says is obeyed only as far as it can't lead our credentials elsewhere: a `uri` of another scheme, host
 * or port is refused by name; `oauth2-server-uri`, `credential`, `scope` and `header.*` of the server are not used at
 * all; redirects are not followed.
 */
#ifndef EBB_IO_REST_PRIV_H
#define EBB_IO_REST_PRIV_H

#include "format/json.h"
#include "io/catalog.h"
#include "io/http_sync.h"
#include "io/told_priv.h"

#define EBB__REST_PAGE 1000         /* names asked for at once */
#define EBB__REST_PAGES_MAX 10000   /* of one listing */
#define EBB__REST_NAMES_MAX 1000000 /* namespaces, tables */
#define EBB__REST_DEPTH_MAX 32      /* levels of a namespace */
#define EBB__REST_PARALLEL 8
#define EBB__REST_SMALL ((size_t)32 << 20) /* answers that may be under way side by side */
#define EBB__REST_LARGE ((size_t)1 << 30)  /* one that is read alone: metadata of a long-lived table */

/* ---- the session ---- */

struct ebb__rest {
    char *name;                           /* of the catalog, for messages */
    char *given_uri;                      /* as configured, without '/' at the end */
    char *uri;                            /* in use */
    char *warehouse, *prefix, *separator; /* separator as it goes into a URL ("%1F") */
    char *separator_bytes;                /* and what it stands for */
    char *given_prefix, *credential, *oauth_uri, *scope, *ca_file;
    char *token;             /* in use */
    int64_t token_until_ms;  /* a new one is due then; INT64_MAX: never */
    unsigned token_turn;     /* how many there were */
    struct ebb_strs headers; /* configured ones */
    bool vended, is_ready;
    bool is_deaf;               /* as http, which may not be there (yet) */
    bool has_credentials_route; /* the server lists it */
    uint64_t requests;
    struct ebb_http_sync *http;
    struct ebb_clock clock;
    struct ebb_log log;
    const atomic_bool *cancelled;
};

/* Copies. EBB_ECONFIG, EBB_ENOMEM; _free is due only after 0. */
int ebb__rest_new(const struct ebb_catalog_config *config, const struct ebb_catalog_site *site, struct ebb__rest **out,
                  struct ebb_err *err);
void ebb__rest_free(struct ebb__rest *rest);
/* As ebb_http_sync_set_deaf, also of requests that come later. */
void ebb__rest_set_deaf(struct ebb__rest *rest, bool is_deaf);
/* The server's configuration is read, once. */
int ebb__rest_ready(struct ebb__rest *rest, struct ebb_err *err);
/* Take over what an answer of /v1/config says. */
int ebb__rest_configure(struct ebb__rest *rest, struct ebb_str json, struct ebb_err *err);
/* Get a token where one is due: none yet, or most of its time is over. */
int ebb__rest_authorize(struct ebb__rest *rest, struct ebb_err *err);
/* The server said of this token (by its turn) that it is none any more: get another. EBB_OK only when there is one. */
int ebb__rest_renew(struct ebb__rest *rest, unsigned turn, struct ebb_err *err);

/* ---- requests ---- */

/* What is asked, and what becomes of it. */
struct ebb__rest_ask {
    const char *method;  /* NULL: GET */
    struct ebb_buf path; /* after "/v1/" and the prefix; owned */
    bool is_bare;        /* no prefix */
    struct ebb_str body; /* JSON; borrowed */
    const char *etag;    /* sent as If-None-Match; NULL none; borrowed */
    const char *token;   /* of one table: sent in place of the session's; borrowed */
    bool wants_vended;
    size_t answer_bytes; /* greatest; 0: EBB__REST_SMALL */
    const char *what;    /* "table a.b", for messages; borrowed */
    /* Called with an answer of status 2xx or 304, inside of ebb__rest_ask; an error becomes that of the ask. */
    int (*take)(void *data, const struct ebb_http_result *answer, struct ebb_err *err);
    void *data;
    /* out */
    int status;    /* 0: no answer */
    char type[64]; /* of an error that the server told in the catalog's own form; "" else */
    struct ebb_err err;
    /* private */
    unsigned turn;
    unsigned renewals; /* how often it was sent again because its token was not taken */
    bool is_done;
};
/* Ask all, some at a time; each tells what became of it. Non-zero for what concerns all: EBB_ECANCELLED, EBB_ENOMEM, no
 * token can be had. */
int ebb__rest_ask_many(struct ebb__rest *rest, struct ebb__rest_ask *asks, size_t n, struct ebb_err *err);
/* One; its error is the result. */
int ebb__rest_ask_one(struct ebb__rest *rest, struct ebb__rest_ask *ask, struct ebb_err *err);
void ebb__rest_ask_init(struct ebb__rest_ask *ask, const char *what);
void ebb__rest_ask_fini(struct ebb__rest_ask *ask);
/* Whether the server said, in its own form, that there is none (404 of a type that is this, or without type). */
bool ebb__rest_is_missing(const struct ebb__rest_ask *ask, const char *type);

/* Make the error of an answer that is none of success: "catalog 'lake': table a.b: 403 ForbiddenException: …". type as
 * in struct ebb__rest_ask. */
int ebb__rest_fail(const struct ebb__rest *rest, const char *what, int status, struct ebb_str body, char type[64],
                   struct ebb_err *err);
/* The same for a request that got no answer: why is what the client said. */
int ebb__rest_fail_unanswered(const struct ebb__rest *rest, const char *what, const struct ebb_err *why,
                              struct ebb_err *err);

/* ---- names ---- */

/* A namespace: its levels. */
struct ebb__rest_space {
    struct ebb_strs levels;
};
/* Append levels for a URL: each encoded, joined by the separator. */
void ebb__rest_put_space(const struct ebb__rest *rest, struct ebb_buf *out, const struct ebb_strs *levels);
/* "namespaces/{levels}/tables/{name}". */
void ebb__rest_put_table(const struct ebb__rest *rest, struct ebb_buf *out, const struct ebb_strs *levels,
                         const char *name);
/* Append levels joined by '.'. */
void ebb__rest_join(struct ebb_buf *out, const struct ebb_strs *levels);
/* Why a level or name can't be sent in a path, or be part of a dotted name; NULL: it can. */
const char *ebb__rest_unreachable(const struct ebb__rest *rest, const struct ebb_strs *levels, const char *name);
const char *ebb__rest_ambiguous(const struct ebb_strs *levels, const char *name);

struct ebb__rest_name {
    struct ebb_strs levels;
    char *dotted; /* levels joined */
    char *name;
};
/* All tables, sorted by dotted namespace, then name. */
struct ebb__rest_names {
    struct ebb__rest_name *items;
    size_t count, cap;
};
int ebb__rest_list(struct ebb__rest *rest, struct ebb__rest_names *out, struct ebb_err *err);
void ebb__rest_names_fini(struct ebb__rest_names *names);

/* ---- what answers hold ---- */

/* A page of a listing: texts are added to the lists (levels of one name after another). */
struct ebb__rest_page {
    char *next;                   /* NULL: the last one; owned */
    struct ebb__rest_name *items; /* owned; of namespaces, name is NULL */
    size_t count, cap;
};
void ebb__rest_page_fini(struct ebb__rest_page *page);
int ebb__rest_parse_page(const char *what, bool is_tables, struct ebb_str json, struct ebb__rest_page *out,
                         struct ebb_err *err);

/* Keys a catalog gave, for everything below prefix ("" for the table as a whole). */
struct ebb__rest_keys {
    char *prefix;
    char *id, *secret, *session, *region, *endpoint; /* NULL: not said; owned */
    int path_style;                                  /* 1, 0; -1: not said */
    int64_t expires_at_ms;                           /* INT64_MAX: never */
};
void ebb__rest_keys_fini(struct ebb__rest_keys *keys);

struct ebb__rest_ref {
    char *name;
    int64_t snapshot;
};

/* What an answer to loading a table says. Owned. */
struct ebb__rest_table {
    char *etag;         /* NULL none */
    char *metadata_uri; /* NULL: null */
    char *uuid, *location;
    int64_t *snapshots;
    size_t snapshot_count, snapshot_cap;
    struct ebb__rest_ref *refs;
    size_t ref_count, ref_cap;
    int64_t current;             /* -1: none */
    bool collects;               /* gc.enabled is true, or not said */
    char *token;                 /* for this table's calls; NULL none */
    bool signs;                  /* remote signing is on */
    struct ebb__rest_keys *keys; /* storage-credentials, then those of config with prefix "" */
    size_t key_count, key_cap;
};
void ebb__rest_table_fini(struct ebb__rest_table *table);
int ebb__rest_parse_table(const char *what, struct ebb_str json, struct ebb__rest_table *out, struct ebb_err *err);
/* {"storage-credentials":[…]}: keys and key_count only. */
int ebb__rest_parse_credentials(const char *what, struct ebb_str json, struct ebb__rest_table *out,
                                struct ebb_err *err);
/* An error in the catalog's form, or OAuth's: type and message, "" where missing. False: neither. Texts are
 * taken as by ebb__told_copy. */
struct ebb__rest_told {
    char type[64], message[320];
};
bool ebb__rest_parse_error(struct ebb_str json, const struct ebb__secrets *secrets, struct ebb__rest_told *out);

#endif
