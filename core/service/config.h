/* SPDX-License-Identifier: Apache-2.0
 *
 * Configuration: `ebb.lua`, one table of plain data (docs/configuration.md). Evaluated in the header sandbox, checked
 * by a closed schema. Relative paths in it are meant from the file's folder. Immutable once loaded.
 */
#ifndef EBB_SERVICE_CONFIG_H
#define EBB_SERVICE_CONFIG_H

#include "engine/engine.h"
#include "io/catalog.h"

/* Who does a job. */
enum ebb_job_engine { EBB_JOB_NATIVE, EBB_JOB_SPARK, EBB_JOB_LIVY, EBB_JOB_TRINO, EBB_JOB_GRAVITINO };
#define EBB_JOB_ENGINES 5
/* The job template that ebb registers with a Gravitino server, unless another name is configured. */
#define EBB_JOB_TEMPLATE "ebb-remove-orphan-files"
/* "native", "spark", …; and back: EBB_JOB_ENGINES when there is none of the name. */
const char *ebb_job_engine_name(enum ebb_job_engine engine);
enum ebb_job_engine ebb_job_engine_of(const char *name);

enum ebb_bind_mode { EBB_BIND_OBSERVE, EBB_BIND_APPROVE, EBB_BIND_ENFORCE };

struct ebb_binding {
    char *policy;           /* name of a policy */
    struct ebb_strs tables; /* globs; empty: what the policy's target says */
    enum ebb_bind_mode mode;
    const struct ebb_value *params; /* overrides, or NULL; owned by the configuration */
    bool allow_below_floor;
    bool allow_override_quiet;
    enum ebb_job_engine
        engine; /* who removes orphans: engine = "native", or { "native", above = "50M files", use = "spark" } */
    int64_t engine_above;              /* for tables with more files than that only; 0: for all */
    bool irreversible;                 /* an engine's deleting for good is agreed to */
    const struct ebb_value *guard;     /* stricter guards, or NULL; owned by the configuration, like the next */
    const struct ebb_value *blackouts; /* dates on which nothing starts, or NULL */
    const char *blackout_tz;           /* NULL: UTC */
};
/* What it says to the settings of a policy; binding NULL: nothing. */
void ebb_binding_site(const struct ebb_binding *binding, struct ebb_settings_site *out);

struct ebb_config_catalog {
    char *name, *type, *path, *ca_file, *uri; /* owned; uri: of the command line only, see config.uri */
    struct ebb_strs headers;                  /* owned */
    struct ebb_catalog_config config;         /* borrows from these, from the file's root and from another catalog */
};

/* A way to tell people of something: a URL to POST to, or a command that gets JSON on standard input. */
struct ebb_notify_config {
    char *url;               /* NULL: command */
    struct ebb_strs command; /* the first is an absolute path */
    struct ebb_strs headers; /* "Name: value", checked for line ends; secrets come from env */
    struct ebb_strs on;      /* held, refused, failed, purge-due, paused; empty: all */
};
/* serve = { … }: the daemon. All keys are optional; what is not said has its default here, also without any file. */
struct ebb_serve_config {
    char *listen;                /* "127.0.0.1:8490" */
    char *metalake;              /* "default" */
    char *auth;                  /* "none" or "token" */
    bool insecure;               /* listen beyond loopback without TLS */
    char *cert, *key;            /* tls = { cert, key }: files, absolute; NULL none */
    struct ebb_strs hosts;       /* further names that Host and Origin may have */
    struct ebb_strs executables; /* absolute paths that templates of type shell may run; empty: none */
    int64_t jobs;                /* jobs at once: 2; 1 to 64 */
    int64_t poll_ms;             /* poll = "1m": how often catalogs are listed again; 1 s to 1 d */
    bool purge;                  /* purge = true: quarantined runs are purged when their time (7 days) is over; false */
    int64_t keep_decisions_ms, keep_events_ms,
        keep_jobs_ms; /* keep = { decisions = "90d", events = "30d", jobs = "90d" }; at least 1 d */
    struct ebb_notify_config *notify;
    size_t notify_count;
};

/* One of engines = { spark, livy, trino, gravitino }: others that run statements or jobs. Texts are owned; NULL: not
 * given. */
struct ebb_engine_config {
    bool is_set;
    struct ebb_strs command; /* spark: program and arguments, no shell; { "spark-sql" } */
    char *uri;               /* livy, trino: without a slash at the end */
    char *user, *password, *token;
    char *catalog;                /* what that engine calls the catalog; NULL: as it is called here */
    int prefix_listing;           /* spark, livy: list through the catalog's storage (1, 0); -1: where that is S3 */
    char *template;               /* gravitino: the job template; NULL: EBB_JOB_TEMPLATE */
    char *file;                   /* livy: where the server finds scripts/spark/ebb_statement.py */
    const struct ebb_value *conf; /* settings of the session (map of texts), or NULL; owned by the configuration */
    int64_t timeout_ms;           /* of one run: 12 h; 1 m to 7 d */
};
struct ebb_engines_config {
    struct ebb_engine_config spark, livy, trino,
        gravitino; /* gravitino: of any use without being set, too: its server is the table's catalog */
};

struct ebb_config {
    char *file; /* NULL: no file, defaults */
    struct ebb_config_catalog *catalogs;
    size_t catalog_count;
    struct ebb_strs maps; /* "FROM=TO", TO absolute */
    char *policies;       /* folder, absolute; NULL none */
    struct ebb_binding *bindings;
    size_t binding_count;
    struct ebb_strs
        below_floor; /* table globs that may go below the floor (tables = { glob = { allow_below_floor = true } }) */
    struct ebb_serve_config serve;
    struct ebb_engines_config engines;
    struct ebb_s3_config
        s3;           /* storage = { s3 = { … } }; borrows from root. Zeroed (path_style -1): the environment's */
    char *s3_ca_file; /* absolute; NULL none */
    struct ebb_strs secrets;       /* what came from the environment: never to be shown */
    const struct ebb_value *flags; /* site flags for quiet windows, or NULL */
    struct ebb_value *root;        /* the whole, for show; owned */
};

/* Load a file. EBB_ECONFIG_SYNTAX, EBB_ECONFIG_UNKNOWN_KEY (with a suggestion), EBB_ECONFIG, EBB_EUNSUPPORTED (a
 * section that this version does not have), EBB_ENOENT. */
int ebb_config_load(const char *file, struct ebb_config **out, struct ebb_err *err);
/* Without a file: no catalogs, no policies. */
int ebb_config_empty(struct ebb_config **out, struct ebb_err *err);
/* The file to load when none was named: ./ebb.lua, $XDG_CONFIG_HOME/ebb/ebb.lua (or ~/.config), /etc/ebb/ebb.lua; ""
 * when none exists. */
void ebb_config_find(struct ebb_buf *out);
void ebb_config_free(struct ebb_config *config);
/* "HOST:PORT" with a numeric address: "127.0.0.1:8490", "[::1]:0". EBB_EUSAGE with a hint. */
int ebb_serve_check_listen(const char *listen, struct ebb_err *err);
/* Append the effective configuration as one JSON object: what the file says, defaults filled in, relative paths
 * absolute, secrets masked ("***"): all that came from the environment, headers, what is in a URL besides its host, and
 * members whose names are like those of secrets. */
int ebb_config_show(const struct ebb_config *config, struct ebb_buf *out, struct ebb_err *err);
/* Add the catalog of "[NAME=]TYPE:PLACE" ("lake=directory:./warehouse", "rest:http://127.0.0.1:8181"); without NAME it
 * is called lake. EBB_EUSAGE: not of this form, a type that needs more than a place, or there is one of this name. */
int ebb_config_add_catalog(struct ebb_config *config, const char *spec, struct ebb_err *err);
bool ebb_config_has_catalog(const struct ebb_config *config, const char *name);
/* Borrowed; NULL: there is none of this name. */
const struct ebb_catalog_config *ebb_config_catalog(const struct ebb_config *config, const char *name);
/* Whether a table (dotted name) may go below the floor. */
bool ebb_config_allows_below_floor(const struct ebb_config *config, const char *table);

#endif
