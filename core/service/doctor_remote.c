/* SPDX-License-Identifier: Apache-2.0
 *
 * Places and servers that are reached over a network: the buckets of tables, and engines.
 */
#include "service/doctor_priv.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/json.h"
#include "io/http_sync.h"

#define CLOCK_WARN_MS 5000
#define CLOCK_FAIL_MS 300000 /* plans are refused from here on */
#define TRY_MS 4000

/* ---- buckets ---- */

static int on_first(void *data, const struct ebb_walk_entry *entry, struct ebb_err *err)
{
    (void)entry;
    *(bool *)data = true;
    return ebb_err_set(err, EBB_ECANCELLED, "enough");
}

/* Whether names below may be listed, and something is there. */
static int list_some(struct ebb_place *place, bool *found, struct ebb_err *err)
{
    const struct ebb_walk_ops ops = {.entry = on_first};
    int rc = ebb_place_walk(place, "", &ops, found, err);

    return *found ? 0 : rc;
}

static void tell_clock(struct ebb__doctor *d, struct ebb_storage *storage, const char *uri)
{
    int64_t ahead = ebb_storage_ahead_ms(storage, uri), by = ahead < 0 ? -ahead : ahead;

    if (ahead == INT64_MIN)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "clock", "ages are told by the storage's clock: its answers need a Date",
                        "%s: the server does not tell its time", uri);
    else if (by > CLOCK_WARN_MS)
        ebb__doctor_say(d, by >= CLOCK_FAIL_MS ? EBB_DOCTOR_FAIL : EBB_DOCTOR_WARN, "clock",
                        "set the clocks of this machine and of the server by NTP",
                        "%s: the server's clock is %" PRId64 " s %s", uri, by / 1000, ahead < 0 ? "behind" : "ahead");
}

void ebb__doctor_bucket(struct ebb__doctor *d, struct ebb_storage *storage, const char *uri)
{
    struct ebb_place *place = NULL;
    struct ebb_err why = {0};
    bool found = false;
    int versioned = -1;
    int rc = ebb_place_open(storage, uri, EBB_PLACE_READ, &place, &why);

    if (!rc)
        rc = list_some(place, &found, &why);
    if (!rc)
        rc = ebb_place_is_versioned(place, &versioned, &why);
    if (rc)
        ebb__doctor_error(d, EBB_DOCTOR_FAIL, "storage", &why);
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "storage", "", "%s: can be listed and read; %s", uri,
                        versioned > 0    ? "versioned: what is removed stays as an older version"
                        : versioned == 0 ? "not versioned"
                                         : "whether it is versioned is not told");
    if (!rc)
        tell_clock(d, storage, uri);
    ebb_place_close(place);
}

/* ---- engines ---- */

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As a shell would find it. */
static bool find_program(const char *name, char *out, size_t max)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(out, max, "%s", name) < (int)max && is_program(out);
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");

        if (snprintf(out, max, "%.*s/%s", n ? (int)n : 1, n ? p : ".", name) < (int)max && is_program(out))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

static void look_at_spark(struct ebb__doctor *d, const struct ebb_engine_config *spark)
{
    const char *name = spark->command.count ? spark->command.items[0] : "spark-sql";
    char path[PATH_MAX];

    if (find_program(name, path, sizeof path))
        ebb__doctor_say(d, EBB_DOCTOR_OK, "engine", "", "spark: %s", path);
    else
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "engine", "install it, or name it in engines.spark.command",
                        "spark: %s: no such program", name);
}

/* The version that a server's answer tells: {"version": "…"} or, of Trino, {"nodeVersion": {"version": "…"}}. */
static bool read_version(struct ebb_str json, char *out, size_t max)
{
    struct ebb_json j;
    int rc;

    out[0] = '\0';
    ebb_json_init(&j, "version", json.p, json.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "answer", NULL);
    while (!rc && !out[0] && !(rc = ebb_json_next(&j, NULL)) && j.kind != EBB_JSON_END) {
        if (j.kind != EBB_JSON_KEY || !ebb_json_is_text(&j, "version"))
            continue;
        rc = ebb_json_next(&j, NULL);
        if (!rc && j.kind == EBB_JSON_STRING && j.text.n)
            snprintf(out, max, "%.*s", (int)(j.text.n < 60 ? j.text.n : 60), j.text.p);
    }
    ebb_json_fini(&j);
    return out[0] != '\0';
}

static void tell_engine(struct ebb__doctor *d, const char *name, const char *uri, const struct ebb_http_fetched *got)
{
    char version[64], hint[96];

    snprintf(hint, sizeof hint, "set engines.%s.uri to the address of its server", name);
    if (got->status == 401 || got->status == 403)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "engine", "whether our user is known shows when a job runs there",
                        "%s: %s: answers %d to who is not known", name, uri, got->status);
    else if (got->status != 200 || !read_version(ebb_buf_str(&got->body), version, sizeof version))
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "engine", hint, "%s: %s: answers %d, not as %s does", name, uri,
                        got->status, name);
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "engine", "", "%s: %s: version %s", name, uri, version);
}

/* Without user and password: nothing is sent that a wrong address must not see. */
static void look_at_server(struct ebb__doctor *d, const char *name, const struct ebb_engine_config *engine,
                           const char *path)
{
    const struct ebb_http_client_options options = {.per_host = 1};
    struct ebb_http_sync *http = NULL;
    struct ebb_http_fetched got = {.status = 0};
    struct ebb_err why = {0};
    struct ebb_buf url;
    struct ebb_http_call call = {
        .method = "GET", .answer_bytes = 65536, .deadline_ms = TRY_MS, .try_ms = TRY_MS, .tries = 1};
    int rc;

    ebb_buf_init(&url, 8192);
    ebb_buf_printf(&url, "%s%s", engine->uri, path);
    call.url = ebb_buf_cstr(&url);
    rc = ebb_buf_check(&url, "uri", &why);
    if (!rc)
        rc = ebb_http_sync_new(&options, NULL, &http, &why);
    if (!rc)
        rc = ebb_http_sync_call(http, &call, &got, &why);
    if (rc)
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "engine", "does it run there, and can it be reached from here?",
                        "%s: %s: %s", name, engine->uri, why.message);
    else
        tell_engine(d, name, engine->uri, &got);
    ebb_http_fetched_fini(&got);
    ebb_http_sync_free(http);
    ebb_buf_fini(&url);
}

void ebb__doctor_engines(struct ebb__doctor *d)
{
    const struct ebb_engines_config *engines = &d->config->engines;

    if (engines->spark.is_set)
        look_at_spark(d, &engines->spark);
    if (engines->livy.is_set && engines->livy.uri)
        look_at_server(d, "livy", &engines->livy, "/version");
    if (engines->trino.is_set && engines->trino.uri)
        look_at_server(d, "trino", &engines->trino, "/v1/info");
}
