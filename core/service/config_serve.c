/* SPDX-License-Identifier: Apache-2.0 */
#include "service/config_priv.h"

#include <stdlib.h>
#include <uv.h>

#include "base/time.h"

#define SECOND_MS ((int64_t)1000)
#define DAY_MS (86400 * SECOND_MS)
#define JOBS_MAX 64
#define LABEL_MAX 64 /* bytes of the name of the metalake */

int ebb__serve_init(struct ebb_serve_config *s, struct ebb_err *err)
{
    s->listen = strdup("127.0.0.1:8490");
    s->metalake = strdup("default");
    s->auth = strdup("none");
    s->jobs = 2;
    s->poll_ms = 60 * SECOND_MS;
    s->keep_decisions_ms = s->keep_jobs_ms = 90 * DAY_MS;
    s->keep_events_ms = 30 * DAY_MS;
    return s->listen && s->metalake && s->auth ? 0 : ebb_err_nomem(err);
}

void ebb__serve_fini(struct ebb_serve_config *s)
{
    for (size_t i = 0; i < s->notify_count; i++) {
        free(s->notify[i].url);
        ebb_strs_fini(&s->notify[i].command);
        ebb_strs_fini(&s->notify[i].headers);
        ebb_strs_fini(&s->notify[i].on);
    }
    free(s->notify);
    free(s->listen);
    free(s->metalake);
    free(s->auth);
    free(s->cert);
    free(s->key);
    ebb_strs_fini(&s->hosts);
    ebb_strs_fini(&s->executables);
}

/* ---- addresses ---- */

static bool is_port(const char *text)
{
    int64_t port;

    return text[0] && strlen(text) <= 5 && ebb_text_count(text, &port) && port <= 65535;
}

static bool is_address(const char *text, size_t n)
{
    unsigned char bytes[16];
    char host[64];
    bool is_v6 = n > 2 && text[0] == '[' && text[n - 1] == ']';

    if (is_v6)
        text++, n -= 2;
    if (!n || n >= sizeof host)
        return false;
    memcpy(host, text, n);
    host[n] = '\0';
    return uv_inet_pton(is_v6 ? AF_INET6 : AF_INET, host, bytes) == 0 && !strchr(host, '%');
}

int ebb_serve_check_listen(const char *listen, struct ebb_err *err)
{
    const char *colon = strrchr(listen, ':');

    if (colon && is_port(colon + 1) && is_address(listen, (size_t)(colon - listen)))
        return 0;
    ebb_err_set(err, EBB_EUSAGE, "listen %.80s: an address and a port are wanted, in numbers", listen);
    ebb_err_hint(err, "like 127.0.0.1:8490 or [::1]:8490; 0.0.0.0:8490 for all addresses");
    return -(int)EBB_EUSAGE;
}

static int check_listen(const struct ebb__config_reader *r, struct ebb_err *err)
{
    struct ebb_err why = {0};

    if (!ebb_serve_check_listen(r->c->serve.listen, &why))
        return 0;
    ebb__config_fail(r, err, "serve.listen", "an address and a port are wanted");
    ebb_err_hint(err, "%s", why.hint);
    return -(int)EBB_ECONFIG;
}

/* ---- single keys ---- */

static bool has_only(const char *text, const char *further)
{
    for (; *text; text++)
        if (!(*text >= '0' && *text <= '9') && !(*text >= 'A' && *text <= 'Z') && !(*text >= 'a' && *text <= 'z') &&
            !strchr(further, *text))
            return false;
    return true;
}

static int check_names(const struct ebb__config_reader *r, struct ebb_err *err)
{
    const struct ebb_serve_config *s = &r->c->serve;

    if (strlen(s->metalake) > LABEL_MAX || !has_only(s->metalake, "_-=") || strchr("-=", s->metalake[0]))
        return ebb__config_fail(r, err, "serve.metalake",
                                "letters, digits, '_', '-' and '=' are wanted, at most 64, no sign first");
    if (strcmp(s->auth, "none") && strcmp(s->auth, "token"))
        return ebb__config_fail(r, err, "serve.auth", "none or token is wanted");
    for (size_t i = 0; i < s->hosts.count; i++)
        if (!has_only(s->hosts.items[i], ".-_:[]"))
            return ebb__config_fail(r, err, "serve.hosts", "names of hosts are wanted");
    return 0;
}

/* {} is fine: none. */
static int take_list(const struct ebb__config_reader *r, const struct ebb_value *v, const char *key, const char *where,
                     struct ebb_strs *out, struct ebb_err *err)
{
    const struct ebb_value *list = ebb_value_get(v, key);

    if (ebb_value_get_kind(list) == EBB_VALUE_MAP && !ebb_value_get_count(list))
        return 0;
    return ebb__config_take_texts(r, list, where, out, err);
}

static int take_file(const struct ebb__config_reader *r, const struct ebb_value *tls, const char *key, char **out,
                     struct ebb_err *err)
{
    int rc = ebb__config_take_text(r, tls, "serve.tls", key, true, out, err);

    return rc ? rc : ebb__config_absolute(r, out, err);
}

static int read_tls(const struct ebb__config_reader *r, const struct ebb_value *tls, struct ebb_err *err)
{
    static const char *const KEYS[] = {"cert", "key"};
    int rc;

    if (!tls)
        return 0;
    rc = ebb__config_check_keys(r, tls, "serve.tls", KEYS, 2, err);
    if (!rc)
        rc = take_file(r, tls, "cert", &r->c->serve.cert, err);
    return rc ? rc : take_file(r, tls, "key", &r->c->serve.key, err);
}

static int read_executables(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    struct ebb_strs *list = &r->c->serve.executables;
    int rc = take_list(r, v, "executables", "serve.executables", list, err);

    for (size_t i = 0; !rc && i < list->count; i++)
        rc = ebb__config_absolute(r, &list->items[i], err);
    return rc;
}

static int read_jobs(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    const struct ebb_value *jobs = ebb_value_get(v, "jobs");

    if (!jobs)
        return 0;
    r->c->serve.jobs = ebb_value_get_kind(jobs) == EBB_VALUE_INT ? ebb_value_get_int(jobs, 0) : 0;
    if (r->c->serve.jobs < 1 || r->c->serve.jobs > JOBS_MAX)
        return ebb__config_fail(r, err, "serve.jobs", "a whole number from 1 to 64 is wanted");
    return 0;
}

struct span {
    const char *key;
    int64_t *out;
    int64_t min_ms, max_ms;
    const char *wanted;
};

static int take_span(const struct ebb__config_reader *r, const struct ebb_value *map, const char *where,
                     const struct span *span, struct ebb_err *err)
{
    const struct ebb_value *v = ebb_value_get(map, span->key);
    const char *text = ebb__config_text(v);
    int64_t ms;

    if (!v)
        return 0;
    if (!text || ebb_duration_parse(text, &ms, NULL) || ms < span->min_ms || ms > span->max_ms)
        return ebb__config_fail_in(r, err, where, span->key, span->wanted);
    *span->out = ms;
    return 0;
}

static int read_keep(const struct ebb__config_reader *r, const struct ebb_value *keep, struct ebb_err *err)
{
    static const char *const KEYS[] = {"decisions", "events", "jobs"};
    static const char WANTED[] = "a duration from \"1d\" to \"3650d\" is wanted";
    struct ebb_serve_config *s = &r->c->serve;
    const struct span spans[] = {{"decisions", &s->keep_decisions_ms, DAY_MS, 3650 * DAY_MS, WANTED},
                                 {"events", &s->keep_events_ms, DAY_MS, 3650 * DAY_MS, WANTED},
                                 {"jobs", &s->keep_jobs_ms, DAY_MS, 3650 * DAY_MS, WANTED}};
    int rc = keep ? ebb__config_check_keys(r, keep, "serve.keep", KEYS, 3, err) : 0;

    for (size_t i = 0; !rc && i < 3; i++)
        rc = take_span(r, keep, "serve.keep", &spans[i], err);
    return rc;
}

static int read_times(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    const struct span poll = {"poll", &r->c->serve.poll_ms, SECOND_MS, DAY_MS,
                              "a duration from \"1s\" to \"1d\" is wanted"};
    int rc = take_span(r, v, "serve", &poll, err);

    return rc ? rc : read_keep(r, ebb_value_get(v, "keep"), err);
}

static int read_address(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    struct ebb_serve_config *s = &r->c->serve;
    int rc = ebb__config_take_text(r, v, "serve", "listen", false, &s->listen, err);

    if (!rc)
        rc = check_listen(r, err);
    if (!rc)
        rc = ebb__config_take_text(r, v, "serve", "metalake", false, &s->metalake, err);
    if (!rc)
        rc = ebb__config_take_text(r, v, "serve", "auth", false, &s->auth, err);
    if (!rc)
        rc = ebb__config_take_bool(r, v, "serve", "insecure", &s->insecure, err);
    if (!rc)
        rc = read_tls(r, ebb_value_get(v, "tls"), err);
    if (!rc)
        rc = take_list(r, v, "hosts", "serve.hosts", &s->hosts, err);
    return rc ? rc : check_names(r, err);
}

int ebb__config_read_serve(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"listen",      "metalake", "auth", "insecure", "tls",  "hosts",
                                       "executables", "jobs",     "poll", "purge",    "keep", "notify"};
    int rc = v ? ebb__config_check_keys(r, v, "serve", KEYS, sizeof KEYS / sizeof KEYS[0], err) : 0;

    if (!rc)
        rc = read_address(r, v, err);
    if (!rc)
        rc = read_executables(r, v, err);
    if (!rc)
        rc = read_jobs(r, v, err);
    if (!rc)
        rc = read_times(r, v, err);
    if (!rc)
        rc = ebb__config_take_bool(r, v, "serve", "purge", &r->c->serve.purge, err);
    return rc ? rc : ebb__config_read_notify(r, ebb_value_get(v, "notify"), err);
}
