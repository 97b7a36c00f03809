/* SPDX-License-Identifier: Apache-2.0 */
#include "service/config_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "engine/mask.h"

static void put_texts(struct ebb_value *map, const char *key, const struct ebb_strs *texts)
{
    struct ebb_value *list = ebb_value_put_list(map, key);

    for (size_t i = 0; i < texts->count; i++)
        ebb_value_add_str(list, texts->items[i]);
}

static void put_duration(struct ebb_value *map, const char *key, int64_t ms)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 64);
    ebb_duration_format(&text, ms);
    ebb_value_put_str(map, key, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static void put_locations(const struct ebb_config *c, struct ebb_value *root)
{
    struct ebb_value *locations = ebb_value_put_map(root, "locations");

    for (size_t i = 0; i < c->maps.count; i++) {
        const char *to = strrchr(c->maps.items[i], '=');
        char *from = strndup(c->maps.items[i], (size_t)(to - c->maps.items[i]));

        if (from)
            ebb_value_put_str(locations, from, to + 1);
        free(from);
    }
}

static void put_engine(const struct ebb_binding *b, struct ebb_value *map)
{
    struct ebb_value *engine;

    if (b->engine == EBB_JOB_NATIVE)
        return;
    engine = ebb_value_put_map(map, "engine");
    ebb_value_put_int(engine, "above", b->engine_above);
    ebb_value_put_str(engine, "use", ebb_job_engine_name(b->engine));
    ebb_value_put_bool(map, "irreversible", b->irreversible);
}

static void put_binding(const struct ebb_binding *b, struct ebb_value *bind)
{
    static const char *const MODES[] = {"observe", "approve", "enforce"};
    struct ebb_value *map = ebb_value_add_map(bind);

    ebb_value_put_str(map, "policy", b->policy);
    if (b->tables.count)
        put_texts(map, "tables", &b->tables);
    ebb_value_put_str(map, "mode", MODES[b->mode]);
    ebb_value_put_copy(map, "params", b->params);
    ebb_value_put_bool(map, "allow_below_floor", b->allow_below_floor);
    ebb_value_put_bool(map, "allow_override_quiet", b->allow_override_quiet);
    put_engine(b, map);
    ebb_value_put_copy(map, "guard", b->guard);
    ebb_value_put_copy(map, "blackouts", b->blackouts);
    ebb_value_put_str(map, "blackout_tz", b->blackout_tz);
}

/* A URL may hold a secret anywhere but in the name of the host. */
static void put_url(struct ebb_value *map, const char *key, const char *url)
{
    const char *host = strstr(url, "://");
    size_t n = host ? strcspn(host + 3, "/?#") : 0;
    const char *at = host ? memchr(host + 3, '@', n) : NULL;
    const char *name = at ? at + 1 : host ? host + 3 : url;
    const char *rest = host ? host + 3 + n : url;
    struct ebb_buf text;

    ebb_buf_init(&text, 65536);
    if (host)
        ebb_buf_append(&text, url, (size_t)(host + 3 - url));
    if (at)
        ebb_buf_puts(&text, "***@");
    ebb_buf_append(&text, name, (size_t)(rest - name));
    if (*rest)
        ebb_buf_puts(&text, *rest == '/' && !rest[1] ? "/" : "/***");
    ebb_value_put_str(map, key, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static void put_notify(const struct ebb_serve_config *s, struct ebb_value *serve)
{
    struct ebb_value *list = ebb_value_put_list(serve, "notify");

    for (size_t i = 0; i < s->notify_count; i++) {
        struct ebb_value *map = ebb_value_add_map(list);

        if (s->notify[i].url)
            put_url(map, "url", s->notify[i].url);
        else
            put_texts(map, "command", &s->notify[i].command);
        if (s->notify[i].headers.count)
            ebb__config_put_headers(map, &s->notify[i].headers);
        if (s->notify[i].on.count)
            put_texts(map, "on", &s->notify[i].on);
    }
}

static void put_serve(const struct ebb_serve_config *s, struct ebb_value *root)
{
    struct ebb_value *serve = ebb_value_put_map(root, "serve");
    struct ebb_value *keep = ebb_value_put_map(serve, "keep");
    struct ebb_value *tls = s->cert ? ebb_value_put_map(serve, "tls") : NULL;

    ebb_value_put_str(serve, "listen", s->listen);
    ebb_value_put_str(serve, "metalake", s->metalake);
    ebb_value_put_str(serve, "auth", s->auth);
    ebb_value_put_bool(serve, "insecure", s->insecure);
    if (tls) {
        ebb_value_put_str(tls, "cert", s->cert);
        ebb_value_put_str(tls, "key", s->key);
    }
    put_texts(serve, "hosts", &s->hosts);
    put_texts(serve, "executables", &s->executables);
    ebb_value_put_int(serve, "jobs", s->jobs);
    put_duration(serve, "poll", s->poll_ms);
    ebb_value_put_bool(serve, "purge", s->purge);
    put_duration(keep, "decisions", s->keep_decisions_ms);
    put_duration(keep, "events", s->keep_events_ms);
    put_duration(keep, "jobs", s->keep_jobs_ms);
    put_notify(s, serve);
}

static void put_tables(const struct ebb_config *c, struct ebb_value *root)
{
    struct ebb_value *tables = ebb_value_put_map(root, "tables");

    for (size_t i = 0; i < c->below_floor.count; i++)
        ebb_value_put_bool(ebb_value_put_map(tables, c->below_floor.items[i]), "allow_below_floor", true);
}

static void put_known(struct ebb_value *map, const char *key, const char *text)
{
    if (text)
        ebb_value_put_str(map, key, text);
}

static void put_storage(const struct ebb_s3_config *c, struct ebb_value *root)
{
    struct ebb_value *s3 = ebb_value_put_map(ebb_value_put_map(root, "storage"), "s3");

    if (c->endpoint)
        put_url(s3, "endpoint", c->endpoint);
    put_known(s3, "region", c->aws.region);
    if (c->path_style >= 0)
        ebb_value_put_bool(s3, "path_style", c->path_style == 1);
    put_known(s3, "access_key_id", c->aws.access_key_id ? "***" : NULL);
    put_known(s3, "secret_access_key", c->aws.secret_access_key ? "***" : NULL);
    put_known(s3, "session_token", c->aws.session_token ? "***" : NULL);
    put_known(s3, "profile", c->aws.profile);
    put_known(s3, "ca_file", c->ca_file);
    if (c->requests)
        ebb_value_put_int(s3, "requests", c->requests);
}

static void put_all(const struct ebb_config *c, struct ebb_value *root)
{
    struct ebb_value *bind;

    ebb_value_put_str(root, "file", c->file);
    ebb__config_put_catalogs(c, root);
    put_locations(c, root);
    put_storage(&c->s3, root);
    ebb_value_put_str(root, "policies", c->policies);
    bind = ebb_value_put_list(root, "bind");
    for (size_t i = 0; i < c->binding_count; i++)
        put_binding(&c->bindings[i], bind);
    put_tables(c, root);
    ebb_value_put_copy(root, "flags", c->flags);
    ebb__engines_show(&c->engines, root);
    put_serve(&c->serve, root);
}

static int copy_secrets(const struct ebb_strs *from, struct ebb_strs *to, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < from->count; i++)
        rc = ebb_strs_add(to, from->items[i], err);
    return rc;
}

int ebb_config_show(const struct ebb_config *config, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_value *root = ebb_value_new_map(NULL);
    struct ebb_strs secrets;
    int rc;

    ebb_strs_init(&secrets);
    put_all(config, root);
    rc = ebb_value_check(root, "configuration", err);
    if (!rc)
        rc = copy_secrets(&config->secrets, &secrets, err);
    if (!rc)
        rc = ebb_mask_json(&secrets, root, out, err);
    ebb_strs_fini(&secrets);
    ebb_value_free(root);
    return rc;
}
