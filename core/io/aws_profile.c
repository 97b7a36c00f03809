/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared files of the AWS tools: INI, "[name]" in credentials and "[profile name]" in config.
 */
#include <stdlib.h>

#include "io/aws_credentials_priv.h"
#include "io/file.h"

#define FILE_MAX ((size_t)1 << 20)

/* What is looked for in one section. Owned texts. */
struct section {
    char *id, *secret, *token, *region;
    const char *unsupported; /* a key that leads elsewhere */
    bool is_there;
};

static void section_fini(struct section *s)
{
    free(s->id);
    free(s->secret);
    free(s->token);
    free(s->region);
}

static struct ebb_str trim(struct ebb_str s)
{
    while (s.n && strchr(" \t\r", s.p[0]))
        s.p++, s.n--;
    while (s.n && strchr(" \t\r", s.p[s.n - 1]))
        s.n--;
    return s;
}

static bool is_wanted(struct ebb_str header, const char *profile, bool is_config)
{
    static const struct ebb_str PREFIX = {"profile", 7};

    header = trim(header);
    if (ebb_str_is_equal(header, ebb_str_of(profile)) && (!is_config || !strcmp(profile, "default")))
        return true;
    if (!is_config || !ebb_str_has_prefix(header, PREFIX) || header.n == PREFIX.n || !strchr(" \t", header.p[PREFIX.n]))
        return false;
    header.p += PREFIX.n;
    header.n -= PREFIX.n;
    return ebb_str_is_equal(trim(header), ebb_str_of(profile));
}

static int take_value(struct section *s, struct ebb_str key, struct ebb_str value, struct ebb_err *err)
{
    static const char *const ELSEWHERE[] = {
        "role_arn",      "source_profile",    "credential_process",     "sso_session",
        "sso_start_url", "credential_source", "web_identity_token_file"};
    const struct {
        const char *name;
        char **to;
    } known[] = {{"aws_access_key_id", &s->id},
                 {"aws_secret_access_key", &s->secret},
                 {"aws_session_token", &s->token},
                 {"region", &s->region}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (ebb_str_is_equal(key, ebb_str_of(known[i].name)) && value.n && !*known[i].to) {
            *known[i].to = strndup(value.p, value.n);
            return *known[i].to ? 0 : ebb_err_nomem(err);
        }
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof ELSEWHERE[0]; i++)
        if (ebb_str_is_equal(key, ebb_str_of(ELSEWHERE[i])))
            s->unsupported = ELSEWHERE[i];
    return 0;
}

static int read_section(struct ebb_str text, const char *profile, bool is_config, struct section *s,
                        struct ebb_err *err)
{
    bool is_inside = false;
    int rc = 0;

    while (!rc && text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        struct ebb_str line = {text.p, end ? (size_t)(end - text.p) : text.n};
        const char *equals;

        text.p += line.n + (end != NULL);
        text.n -= line.n + (end != NULL);
        if (line.n && line.p[0] == '[') {
            const char *close = memchr(line.p, ']', line.n);

            is_inside =
                close && is_wanted((struct ebb_str){line.p + 1, (size_t)(close - line.p) - 1}, profile, is_config);
            s->is_there = s->is_there || is_inside;
            continue;
        }
        equals = memchr(line.p, '=', line.n);
        if (!is_inside || !equals || strchr("#; \t", line.p[0]))
            continue;
        rc = take_value(s, trim((struct ebb_str){line.p, (size_t)(equals - line.p)}),
                        trim((struct ebb_str){equals + 1, line.n - (size_t)(equals - line.p) - 1}), err);
    }
    return rc;
}

static int read_shared(const char *variable, const char *usual, const char *profile, bool is_config, struct section *s,
                       struct ebb_err *err)
{
    const char *named = ebb__aws_env(variable), *home = ebb__aws_env("HOME");
    struct ebb_buf path, text;
    int rc = 0;

    ebb_buf_init(&path, 65536);
    ebb_buf_init(&text, FILE_MAX);
    if (named)
        ebb_buf_puts(&path, named);
    else if (home)
        ebb_buf_printf(&path, "%s/.aws/%s", home, usual);
    if (path.len)
        rc = ebb_file_read(ebb_buf_cstr(&path), &text, err);
    if (rc == -EBB_ENOENT)
        rc = 0;
    else if (rc)
        rc = ebb_err_as(err, EBB_ECONFIG, "AWS profile");
    else if (path.len)
        rc = read_section(ebb_buf_str(&text), profile, is_config, s, err);
    ebb_buf_fini(&text);
    ebb_buf_fini(&path);
    return rc;
}

static int read_profile(const struct ebb_aws_credentials *c, struct section *s, struct ebb_err *err)
{
    const char *profile = c->profile ? c->profile : "default";
    int rc;

    memset(s, 0, sizeof *s);
    rc = read_shared("AWS_SHARED_CREDENTIALS_FILE", "credentials", profile, false, s, err);
    return rc ? rc : read_shared("AWS_CONFIG_FILE", "config", profile, true, s, err);
}

int ebb__aws_from_profile(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err)
{
    const char *profile = c->profile ? c->profile : "default";
    char source[128];
    struct section s;
    int rc = read_profile(c, &s, err);

    *found = !rc && (s.id || s.secret);
    if (!rc && *found && (!s.id || !s.secret))
        rc = ebb_err_set(err, EBB_ECONFIG, "AWS profile %s: one of access key id and secret access key is missing",
                         profile);
    else if (!rc && *found) {
        snprintf(source, sizeof source, "profile %.100s", profile);
        rc = ebb__aws_keys_set(c, s.id, s.secret, s.token, 0, source, err);
    } else if (!rc && s.unsupported) {
        rc = ebb_err_set(err, EBB_ECONFIG, "AWS profile %s: %s is not supported", profile, s.unsupported);
        ebb_err_hint(err, "fetch keys with the AWS tools and pass them in the environment: "
                          "eval \"$(aws configure export-credentials --format env)\"");
    } else if (!rc && c->profile && !s.is_there) {
        rc = ebb_err_set(err, EBB_ECONFIG, "AWS profile %s: stands in neither of the shared files", profile);
        ebb_err_hint(err, "see ~/.aws/credentials and ~/.aws/config");
    }
    section_fini(&s);
    return rc;
}

int ebb__aws_profile_region(struct ebb_aws_credentials *c, char **out, struct ebb_err *err)
{
    struct section s;
    int rc = read_profile(c, &s, err);

    if (!rc) {
        free(*out);
        *out = s.region;
        s.region = NULL;
    }
    section_fini(&s);
    return rc;
}
