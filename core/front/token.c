/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb token create, ebb token list, ebb token revoke: who may ask the daemon.
 */
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "base/time.h"
#include "front/commands.h"
#include "front/print.h"
#include "service/auth.h"

static const struct ebb_option CREATE_OPTIONS[] = {
    {"role", 0, "ROLE", "view|operate|admin", false, "what it may do (required)"},
    {"expires", 0, "D", NULL, false, "for how long it is good, as 90d (for ever)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example CREATE_EXAMPLES[] = {
    {"ebb token create grafana --role view --expires 365d", "for reading status and metrics"},
    {"ebb token create ci --role operate > ci.token", "the token alone is on standard output"},
    {NULL, NULL},
};

static const struct ebb_example LIST_EXAMPLES[] = {
    {"ebb token list", "names, roles, times; the tokens themselves are not kept"},
    {NULL, NULL},
};

static const struct ebb_example REVOKE_EXAMPLES[] = {
    {"ebb token revoke grafana", "from the next request on"},
    {NULL, NULL},
};

/* ---- create ---- */

static int read_role(const struct ebb_args *args, enum ebb_role *out, struct ebb_err *err)
{
    const char *text = ebb_args_get(args, "role");

    if (text && ebb_role_of(text, out))
        return 0;
    ebb_err_set(err, EBB_EUSAGE, "--role: is missing: view, operate or admin");
    ebb_err_hint(err, "view reads, operate also acts, admin also deletes for good: ebb help token create");
    return -(int)EBB_EUSAGE;
}

static int read_expiry(struct ebb_cli *cli, int64_t *out, struct ebb_err *err)
{
    int64_t span_ms = 0;
    int rc = ebb_args_duration(&cli->args, "expires", &span_ms, err);

    *out = 0;
    if (rc || !ebb_args_has(&cli->args, "expires"))
        return rc;
    if (span_ms <= 0 || __builtin_add_overflow(ebb_cli_now(cli), span_ms, out))
        return ebb_err_set(err, EBB_EUSAGE, "--expires %s: a span of time from now is wanted",
                           ebb_args_get(&cli->args, "expires"));
    return 0;
}

static void user_name(char out[64])
{
    struct passwd entry, *found = NULL;
    char room[4096];

    if (getpwuid_r(getuid(), &entry, room, sizeof room, &found) || !found)
        snprintf(out, 64, "uid %u", (unsigned)getuid());
    else
        snprintf(out, 64, "%s", entry.pw_name);
}

static void put_time(struct ebb_jsonw *w, const char *key, int64_t ms)
{
    struct ebb_buf text;

    if (!ms)
        return;
    ebb_buf_init(&text, 64);
    ebb_time_iso(&text, ms);
    ebb_jsonw_kstr(w, key, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static void print_token(struct ebb_cli *cli, const char *name, enum ebb_role role, int64_t expires_ms,
                        const char *token)
{
    struct ebb_jsonw w;

    if (cli->is_json) {
        ebb_jsonw_init(&w, &cli->out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_kstr(&w, "name", name);
        ebb_jsonw_kstr(&w, "role", ebb_role_name(role));
        put_time(&w, "expires", expires_ms);
        ebb_jsonw_kstr(&w, "token", token);
        ebb_jsonw_end(&w, '}');
    } else {
        ebb_buf_puts(&cli->out, token);
    }
    ebb_buf_putc(&cli->out, '\n');
}

static int run_create(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *name = ebb_args_word(&cli->args, 0);
    enum ebb_role role = EBB_ROLE_NONE;
    int64_t expires_ms = 0;
    char token[64], creator[64];
    int rc = read_role(&cli->args, &role, err);

    if (!rc)
        rc = ebb_cli_open(cli, false, err);
    if (!rc)
        rc = read_expiry(cli, &expires_ms, err);
    user_name(creator);
    if (!rc)
        rc = ebb_token_create(ebb_cli_site(cli)->store, name, role, ebb_cli_now(cli), expires_ms, creator, token, err);
    if (rc)
        return rc;
    print_token(cli, name, role, expires_ms, token);
    explicit_bzero(token, sizeof token);
    if (!cli->is_json)
        fprintf(stderr, "token %s (%s) was made; it is shown this once and kept as a hash only\n", name,
                ebb_role_name(role));
    return 0;
}

/* ---- list ---- */

static void print_row(struct ebb_buf *out, const struct ebb_value *token)
{
    const char *expires = ebb_value_text_of(token, "expires");
    size_t start = out->len;

    ebb_print_text(out, ebb_value_text_of(token, "name"));
    ebb_print_pad(out, start, 32);
    ebb_print_text(out, ebb_value_text_of(token, "role"));
    ebb_print_pad(out, start, 42);
    ebb_buf_puts(out, "made ");
    ebb_print_text(out, ebb_value_text_of(token, "created"));
    ebb_buf_puts(out, " by ");
    ebb_print_text(out, ebb_value_text_of(token, "creator"));
    if (expires) {
        ebb_buf_puts(out, ", good until ");
        ebb_print_text(out, expires);
    }
    ebb_buf_putc(out, '\n');
}

static int run_list(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_value *list = NULL;
    int rc = ebb_cli_open(cli, false, err);

    if (!rc)
        rc = ebb_token_list(ebb_cli_site(cli)->store, &list, err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++) {
        if (cli->is_json) {
            rc = ebb_value_to_json(ebb_value_get_at(list, i), &cli->out, err);
            ebb_buf_putc(&cli->out, '\n');
        } else {
            print_row(&cli->out, ebb_value_get_at(list, i));
        }
    }
    if (!rc && !cli->is_json && !ebb_value_get_count(list))
        ebb_buf_puts(&cli->out, "no tokens\n");
    ebb_value_free(list);
    return rc;
}

/* ---- revoke ---- */

static int run_revoke(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *name = ebb_args_word(&cli->args, 0);
    int rc = ebb_cli_open(cli, false, err);

    if (!rc)
        rc = ebb_token_revoke(ebb_cli_site(cli)->store, name, err);
    if (!rc && !cli->is_json) {
        ebb_buf_puts(&cli->out, "token ");
        ebb_print_text(&cli->out, name);
        ebb_buf_puts(&cli->out, " was revoked\n");
    }
    return rc;
}

const struct ebb_command ebb_command_token_create = {
    .name = "token create",
    .args = "NAME",
    .summary = "make a token for asking the daemon; it is shown once",
    .about = "Roles: view reads; operate also approves, applies, restores, pauses and sends events; admin also deletes "
             "for good, "
             "changes policies and tokens, and reloads. The token is kept as a hash only.",
    .arg_min = 1,
    .arg_max = 1,
    .options = CREATE_OPTIONS,
    .examples = CREATE_EXAMPLES,
    .run = run_create,
};

const struct ebb_command ebb_command_token_list = {
    .name = "token list",
    .args = "",
    .summary = "tokens that are good: names, roles, times",
    .examples = LIST_EXAMPLES,
    .run = run_list,
};

const struct ebb_command ebb_command_token_revoke = {
    .name = "token revoke",
    .args = "NAME",
    .summary = "make a token useless",
    .arg_min = 1,
    .arg_max = 1,
    .examples = REVOKE_EXAMPLES,
    .run = run_revoke,
};
