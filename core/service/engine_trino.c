/* SPDX-License-Identifier: Apache-2.0
 *
 * Trino as an engine. Its handle is the id of the query, which is known before the query can begin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "io/trino.h"
#include "service/engine_priv.h"

#define ROWS_MAX 100000

struct trino {
    const struct ebb_engine_context *context;
    const struct ebb_engine_config *config;
    const struct ebb_engine_spec *spec;
    struct ebb_trino *client;
    char attached[100]; /* id of a query that another process began */
    bool is_to_end;
    struct ebb_strs rows;
};

static int trino_open(const struct ebb_engine_context *context, void **run, struct ebb_err *err)
{
    const struct ebb_engine_config *config = &ebb_workspace_config(context->ws)->engines.trino;
    struct trino *t;

    *run = NULL;
    if (!config->is_set)
        return ebb_err_set(err, EBB_ECONFIG, "engine trino: is not configured (engines.trino)");
    t = calloc(1, sizeof *t);
    if (!t)
        return ebb_err_nomem(err);
    t->context = context;
    t->config = config;
    *run = t;
    return 0;
}

static int add_property(struct ebb_strs *out, const char *name, const char *value, struct ebb_err *err)
{
    struct ebb_buf pair;
    int rc;

    ebb_buf_init(&pair, 8192);
    ebb_buf_printf(&pair, "%s=%s", name, value);
    rc = ebb_buf_check(&pair, "session of Trino", err);
    if (!rc)
        rc = ebb_strs_add(out, ebb_buf_cstr(&pair), err);
    ebb_buf_fini(&pair);
    return rc;
}

static int make_client(struct trino *t, struct ebb_err *err)
{
    struct ebb_trino_options o = {t->config->uri,
                                  t->config->user,
                                  t->config->password,
                                  t->config->token,
                                  NULL,
                                  NULL,
                                  ebb_workspace_site(t->context->ws)->log};
    struct ebb_strs session;
    int rc = 0;

    ebb_strs_init(&session);
    for (size_t i = 0; !rc && i < ebb_value_get_count(t->config->conf); i++)
        rc = add_property(&session, ebb_value_get_key(t->config->conf, i).p,
                          ebb_value_get_str(ebb_value_get_at(t->config->conf, i)), err);
    for (size_t i = 0; !rc && t->spec && i < ebb_value_get_count(t->spec->session); i++)
        rc = add_property(&session, ebb_value_get_key(t->spec->session, i).p,
                          ebb_value_get_str(ebb_value_get_at(t->spec->session, i)), err);
    o.session = &session;
    if (!rc)
        rc = ebb_trino_new(&o, &t->client, err);
    ebb_strs_fini(&session);
    return rc;
}

static int trino_start(void *run, const struct ebb_engine_spec *spec, struct ebb_err *err)
{
    struct trino *t = run;
    int rc;

    t->spec = spec;
    if (!spec->statement)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "engine trino: takes statements only");
    rc = make_client(t, err);
    if (!rc)
        rc = ebb_trino_post(t->client, spec->statement, err);
    return rc ? rc : t->context->began(t->context->data, ebb_trino_id(t->client), err);
}

static int trino_attach(void *run, const char *handle, const struct ebb_engine_spec *spec, struct ebb_err *err)
{
    struct trino *t = run;

    t->spec = spec;
    snprintf(t->attached, sizeof t->attached, "%s", handle);
    return make_client(t, err);
}

static int keep_row(void *data, struct ebb_str value, struct ebb_err *err)
{
    struct trino *t = data;

    if (t->rows.count == ROWS_MAX)
        return ebb_err_set(err, EBB_EENGINE, "trino: more than %d rows", ROWS_MAX);
    return ebb_strs_addn(&t->rows, value.p ? value.p : "", value.n, err);
}

static int trino_poll(void *run, int wait_ms, enum ebb_engine_state *state, struct ebb_err *err)
{
    static const enum ebb_engine_state STATES[] = {EBB_ENGINE_RUNNING, EBB_ENGINE_SUCCEEDED, EBB_ENGINE_FAILED,
                                                   EBB_ENGINE_CANCELLED, EBB_ENGINE_UNKNOWN};
    struct trino *t = run;
    enum ebb_trino_state now = EBB_TRINO_RUNNING;
    int rc;

    if (t->attached[0]) {
        rc = ebb_trino_ask(t->client, t->attached, &now, err);
        if (!rc && now == EBB_TRINO_RUNNING)
            nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000L}, NULL);
    } else {
        rc = ebb_trino_page(t->client, t->spec->column, t->spec->column[0] ? keep_row : NULL, t, &now, err);
    }
    *state = STATES[now];
    if (!rc && now == EBB_TRINO_FAILED && t->is_to_end)
        *state = EBB_ENGINE_CANCELLED;
    return rc;
}

static int trino_cancel(void *run, struct ebb_err *err)
{
    struct trino *t = run;

    t->is_to_end = true;
    return ebb_trino_cancel(t->client, t->attached[0] ? t->attached : NULL, err);
}

static int trino_rows(void *run, ebb_engine_row_cb *cb, void *data, struct ebb_err *err)
{
    struct trino *t = run;
    int rc = 0;

    for (size_t i = 0; !rc && i < t->rows.count; i++)
        rc = cb(data, ebb_str_of(t->rows.items[i]), err);
    return rc;
}

static void trino_close(void *run)
{
    struct trino *t = run;

    if (!t)
        return;
    ebb_trino_free(t->client);
    ebb_strs_fini(&t->rows);
    free(t);
}

const struct ebb_engine_driver ebb_engine_trino = {"trino",    trino_open,   trino_start, trino_attach,
                                                   trino_poll, trino_cancel, trino_rows,  trino_close};
