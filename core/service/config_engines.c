/* SPDX-License-Identifier: Apache-2.0
 *
 * engines = { spark = { … }, livy = { … }, trino = { … }, gravitino = { … } }.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/time.h"
#include "engine/mask.h"
#include "service/config_priv.h"

#define MINUTE_MS ((int64_t)60 * 1000)
#define DAY_MS (1440 * MINUTE_MS)

static int take_timeout(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                        struct ebb_engine_config *e, struct ebb_err *err)
{
    const char *text = ebb__config_text(ebb_value_get(v, "timeout"));

    e->timeout_ms = DAY_MS / 2;
    if (!ebb_value_get(v, "timeout"))
        return 0;
    if (!text || ebb_duration_parse(text, &e->timeout_ms, NULL) || e->timeout_ms < MINUTE_MS ||
        e->timeout_ms > 7 * DAY_MS)
        return ebb__config_fail_in(r, err, where, "timeout", "a duration from \"1m\" to \"7d\" is wanted");
    return 0;
}

/* A map of texts whose names begin in a certain way. */
static int take_settings(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                         const char *key, const char *prefix, const struct ebb_value **out, struct ebb_err *err)
{
    const struct ebb_value *map = ebb_value_get(v, key);
    char name[128];
    int rc;

    if (map && ebb_value_get_kind(map) != EBB_VALUE_MAP)
        return ebb__config_fail_in(r, err, where, key, "a table of NAME = text is wanted");
    snprintf(name, sizeof name, "%.60s.%.60s", where, key);
    rc = ebb__config_check_names(r, map, name, err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(map); i++) {
        const char *setting = ebb_value_get_key(map, i).p;

        if (strncmp(setting, prefix, strlen(prefix)))
            rc = ebb__config_fail_in(r, err, name, setting, "names of Spark's settings begin with \"spark.\"");
        else if (!ebb__config_text(ebb_value_get_at(map, i)))
            rc = ebb__config_fail_in(r, err, name, setting, "text is wanted");
    }
    *out = map;
    return rc;
}

static bool is_loopback(const char *host)
{
    static const char *const HOSTS[] = {"127.0.0.1", "localhost", "[::1]"};

    for (size_t i = 0; i < sizeof HOSTS / sizeof HOSTS[0]; i++) {
        size_t n = strlen(HOSTS[i]);

        if (!strncasecmp(host, HOSTS[i], n) && (!host[n] || host[n] == ':' || host[n] == '/'))
            return true;
    }
    return false;
}

static bool has_control(const char *text)
{
    for (; text && *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

/* http or https, without user information and query; what proves who we are is not sent in the clear. */
static int check_server(const struct ebb__config_reader *r, const char *where, const struct ebb_engine_config *e,
                        struct ebb_err *err)
{
    bool is_https = !strncasecmp(e->uri, "https://", 8);
    const char *host = e->uri + (is_https ? 8 : 7);
    char key[128];

    snprintf(key, sizeof key, "%.100s.uri", where);
    if ((!is_https && strncasecmp(e->uri, "http://", 7) != 0) || !*host || strpbrk(host, "@?# ") || has_control(host))
        return ebb__config_fail(r, err, key, "http://HOST:PORT or https://HOST:PORT is wanted");
    if (has_control(e->user) || has_control(e->password) || has_control(e->token))
        return ebb__config_fail(r, err, where, "user, password and token hold no control characters");
    if (e->password && e->token)
        return ebb__config_fail(r, err, where, "password and token exclude each other");
    if ((e->password || e->token) && !is_https && !is_loopback(host))
        return ebb__config_fail(r, err, key, "https is wanted where a password or token is sent");
    return 0;
}

static int take_server(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                       struct ebb_engine_config *e, struct ebb_err *err)
{
    size_t n;
    int rc = ebb__config_take_text(r, v, where, "uri", true, &e->uri, err);

    if (!rc)
        rc = ebb__config_take_text(r, v, where, "user", false, &e->user, err);
    if (!rc)
        rc = ebb__config_take_text(r, v, where, "password", false, &e->password, err);
    if (!rc)
        rc = ebb__config_take_text(r, v, where, "token", false, &e->token, err);
    if (rc)
        return rc;
    for (n = strlen(e->uri); n && e->uri[n - 1] == '/'; n--)
        e->uri[n - 1] = '\0';
    return check_server(r, where, e, err);
}

static int take_common(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                       struct ebb_engine_config *e, struct ebb_err *err)
{
    int rc = ebb__config_take_text(r, v, where, "catalog", false, &e->catalog, err);

    e->is_set = true;
    e->prefix_listing = -1;
    return rc ? rc : take_timeout(r, v, where, e, err);
}

/* For Spark, however it is reached. */
static int take_listing(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                        struct ebb_engine_config *e, struct ebb_err *err)
{
    bool through_catalog = false;
    int rc = ebb__config_take_bool(r, v, where, "prefix_listing", &through_catalog, err);

    if (!rc && ebb_value_get(v, "prefix_listing"))
        e->prefix_listing = through_catalog;
    return rc ? rc : take_settings(r, v, where, "conf", "spark.", &e->conf, err);
}

static int read_spark(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"command", "catalog", "conf", "prefix_listing", "timeout"};
    struct ebb_engine_config *e = &r->c->engines.spark;
    int rc = ebb__config_check_keys(r, v, "engines.spark", KEYS, sizeof KEYS / sizeof KEYS[0], err);

    if (!rc)
        rc = take_common(r, v, "engines.spark", e, err);
    if (!rc)
        rc = ebb__config_take_texts(r, ebb_value_get(v, "command"), "engines.spark.command", &e->command, err);
    if (!rc && !e->command.count)
        rc = ebb_strs_add(&e->command, "spark-sql", err);
    for (size_t i = 0; !rc && i < e->command.count; i++)
        if (!strncmp(e->command.items[i], "--properties-file", 17))
            rc = ebb__config_fail(r, err, "engines.spark.command", "--properties-file is ebb's; settings go into conf");
    return rc ? rc : take_listing(r, v, "engines.spark", e, err);
}

static int read_livy(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"uri",  "user", "password",       "token",  "catalog",
                                       "file", "conf", "prefix_listing", "timeout"};
    struct ebb_engine_config *e = &r->c->engines.livy;
    int rc = ebb__config_check_keys(r, v, "engines.livy", KEYS, sizeof KEYS / sizeof KEYS[0], err);

    if (!rc)
        rc = take_common(r, v, "engines.livy", e, err);
    if (!rc)
        rc = take_server(r, v, "engines.livy", e, err);
    if (!rc)
        rc = ebb__config_take_text(r, v, "engines.livy", "file", true, &e->file, err);
    return rc ? rc : take_listing(r, v, "engines.livy", e, err);
}

static int read_trino(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"uri", "user", "password", "token", "catalog", "session", "timeout"};
    struct ebb_engine_config *e = &r->c->engines.trino;
    int rc = ebb__config_check_keys(r, v, "engines.trino", KEYS, sizeof KEYS / sizeof KEYS[0], err);

    if (!rc)
        rc = take_common(r, v, "engines.trino", e, err);
    if (!rc)
        rc = take_server(r, v, "engines.trino", e, err);
    if (!rc && !e->user) {
        e->user = strdup("ebb");
        rc = e->user ? 0 : ebb_err_nomem(err);
    }
    return rc ? rc : take_settings(r, v, "engines.trino", "session", "", &e->conf, err);
}

/* Its server is that of the table's catalog. */
static int read_gravitino(const struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"template", "catalog", "timeout"};
    struct ebb_engine_config *e = &r->c->engines.gravitino;
    int rc = ebb__config_check_keys(r, v, "engines.gravitino", KEYS, sizeof KEYS / sizeof KEYS[0], err);

    if (!rc)
        rc = take_common(r, v, "engines.gravitino", e, err);
    if (!rc)
        rc = ebb__config_take_text(r, v, "engines.gravitino", "template", false, &e->template, err);
    if (!rc && e->template && !strncmp(e->template, "builtin-", 8))
        rc = ebb__config_fail(r, err, "engines.gravitino.template", "names with \"builtin-\" are the server's own");
    return rc;
}

void ebb__engines_init(struct ebb_engines_config *e)
{
    e->gravitino.timeout_ms = DAY_MS / 2;
    e->gravitino.prefix_listing = -1;
}

int ebb__config_read_engines(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"spark", "livy", "trino", "gravitino"};
    int rc = v ? ebb__config_check_keys(r, v, "engines", KEYS, 4, err) : 0;

    if (!rc && ebb_value_get(v, "spark"))
        rc = read_spark(r, ebb_value_get(v, "spark"), err);
    if (!rc && ebb_value_get(v, "livy"))
        rc = read_livy(r, ebb_value_get(v, "livy"), err);
    if (!rc && ebb_value_get(v, "trino"))
        rc = read_trino(r, ebb_value_get(v, "trino"), err);
    if (!rc && ebb_value_get(v, "gravitino"))
        rc = read_gravitino(r, ebb_value_get(v, "gravitino"), err);
    return rc;
}

static void engine_fini(struct ebb_engine_config *e)
{
    ebb_strs_fini(&e->command);
    free(e->uri);
    free(e->user);
    free(e->password);
    free(e->token);
    free(e->catalog);
    free(e->template);
    free(e->file);
}

void ebb__engines_fini(struct ebb_engines_config *e)
{
    engine_fini(&e->spark);
    engine_fini(&e->livy);
    engine_fini(&e->trino);
    engine_fini(&e->gravitino);
}

/* ---- shown ---- */

static void show_text(struct ebb_value *map, const char *key, const char *text, bool is_secret)
{
    if (text)
        ebb_value_put_str(map, key, is_secret ? "***" : text);
}

static void show_one(struct ebb_value *engines, const char *name, const char *settings,
                     const struct ebb_engine_config *e)
{
    struct ebb_value *map = e->is_set ? ebb_value_put_map(engines, name) : NULL;
    struct ebb_value *command = map && e->command.count ? ebb_value_put_list(map, "command") : NULL;
    struct ebb_value *conf = map && e->conf ? ebb_value_put_map(map, settings) : NULL;

    if (!map)
        return;
    for (size_t i = 0; i < e->command.count; i++)
        ebb_value_add_str(command, e->command.items[i]);
    show_text(map, "uri", e->uri, false);
    show_text(map, "user", e->user, false);
    show_text(map, "password", e->password, true);
    show_text(map, "token", e->token, true);
    show_text(map, "catalog", e->catalog, false);
    show_text(map, "template", e->template, false);
    show_text(map, "file", e->file, false);
    for (size_t i = 0; i < ebb_value_get_count(e->conf); i++) {
        struct ebb_str key = ebb_value_get_key(e->conf, i);

        show_text(conf, key.p, ebb_value_get_str(ebb_value_get_at(e->conf, i)), ebb_is_secret_name(key));
    }
    if (e->prefix_listing >= 0)
        ebb_value_put_bool(map, "prefix_listing", e->prefix_listing);
    ebb_value_put_int(map, "timeout_ms", e->timeout_ms);
}

void ebb__engines_show(const struct ebb_engines_config *e, struct ebb_value *root)
{
    struct ebb_value *engines;

    if (!e->spark.is_set && !e->livy.is_set && !e->trino.is_set && !e->gravitino.is_set)
        return;
    engines = ebb_value_put_map(root, "engines");
    show_one(engines, "spark", "conf", &e->spark);
    show_one(engines, "livy", "conf", &e->livy);
    show_one(engines, "trino", "session", &e->trino);
    show_one(engines, "gravitino", "", &e->gravitino);
}
