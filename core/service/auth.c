/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens are kept as objects: {"role","hash","expires_ms"?}, hash being the SHA-256 of the whole token, hex. Whoever
 * shows a token is compared with every one that is kept, so that the time tells nothing of which of them is near.
 */
#include "service/auth.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/time.h"
#include "engine/value.h"
#include "io/store_objects.h"

#define TOKEN_PREFIX "ebb_"
#define TOKEN_BYTES 32
#define NAME_MAX_BYTES 64
#define HEADER_MAX ((size_t)8192)

static const char *const ROLES[] = {"none", "view", "operate", "admin"};

const char *ebb_role_name(enum ebb_role role)
{
    return ROLES[role];
}

bool ebb_role_of(const char *name, enum ebb_role *out)
{
    for (size_t i = 1; i < sizeof ROLES / sizeof ROLES[0]; i++)
        if (!strcmp(name, ROLES[i])) {
            *out = (enum ebb_role)i;
            return true;
        }
    return false;
}

/* ---- tokens ---- */

static void hash_of(const char *token, char out[2 * SHA256_DIGEST_LENGTH + 1])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    struct ebb_buf hex = {.data = out, .cap = 2 * SHA256_DIGEST_LENGTH + 1, .max = 2 * SHA256_DIGEST_LENGTH};

    SHA256((const unsigned char *)token, strlen(token), digest);
    ebb_text_hex(&hex, digest, sizeof digest);
}

static bool is_name(const char *name)
{
    size_t n = strlen(name);

    return n >= 1 && n <= NAME_MAX_BYTES &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == n;
}

/* "ebb_" and base64url of random bytes, without padding. */
static int draw(char out[64], struct ebb_err *err)
{
    unsigned char bytes[TOKEN_BYTES];
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, 63);
    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return ebb_err_set(err, EBB_EIO, "token: no random numbers can be had");
    ebb_buf_puts(&text, TOKEN_PREFIX);
    ebb_text_base64(&text, bytes, sizeof bytes);
    rc = ebb_buf_check(&text, "token", err);
    for (size_t i = 0; !rc && i < text.len; i++)
        out[i] = text.data[i] == '+' ? '-' : text.data[i] == '/' ? '_' : text.data[i];
    if (!rc)
        out[text.len - 1] = '\0'; /* the one '=' */
    if (text.data)
        OPENSSL_cleanse(text.data, text.len);
    OPENSSL_cleanse(bytes, sizeof bytes);
    ebb_buf_fini(&text);
    return rc;
}

static int write_token(const char *token, enum ebb_role role, int64_t expires_ms, struct ebb_buf *out,
                       struct ebb_err *err)
{
    char hash[2 * SHA256_DIGEST_LENGTH + 1];
    struct ebb_jsonw w;

    hash_of(token, hash);
    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "role", ebb_role_name(role));
    ebb_jsonw_kstr(&w, "hash", hash);
    if (expires_ms)
        ebb_jsonw_kint(&w, "expires_ms", expires_ms);
    ebb_jsonw_end(&w, '}');
    return ebb_buf_check(out, "token", err);
}

static void tell_taken(const char *name, struct ebb_err *err)
{
    ebb_err_set(err, EBB_EEXIST, "token %s: there is one of this name", name);
    ebb_err_hint(err, "take another name, or revoke that one first: ebb token revoke %s, DELETE /api/tokens/%s", name,
                 name);
}

int ebb_token_create(struct ebb_store *store, const char *name, enum ebb_role role, int64_t now_ms, int64_t expires_ms,
                     const char *creator, char out[64], struct ebb_err *err)
{
    struct ebb_object object = {.kind = EBB_OBJECT_TOKEN, .name = name, .creator = creator, .modifier = ""};
    struct ebb_buf json;
    int rc;

    out[0] = '\0';
    if (!is_name(name))
        return ebb_err_set(err, EBB_EUSAGE, "token %.80s: a name has 1 to 64 letters, digits, '.', '_' or '-'", name);
    if (role < EBB_ROLE_VIEW || role > EBB_ROLE_ADMIN)
        return ebb_err_set(err, EBB_EUSAGE, "token %s: a role is view, operate or admin", name);
    if (expires_ms && expires_ms <= now_ms)
        return ebb_err_set(err, EBB_EUSAGE, "token %s: would have expired already", name);
    ebb_buf_init(&json, 1024);
    rc = draw(out, err);
    if (!rc)
        rc = write_token(out, role, expires_ms, &json, err);
    object.json = ebb_buf_cstr(&json);
    object.created_ms = now_ms;
    if (!rc)
        rc = ebb_store_add_object(store, &object, err);
    if (rc == -(int)EBB_EEXIST)
        tell_taken(name, err);
    if (rc)
        OPENSSL_cleanse(out, 64);
    ebb_buf_fini(&json);
    return rc;
}

int ebb_token_revoke(struct ebb_store *store, const char *name, struct ebb_err *err)
{
    bool found = false;
    int rc = ebb_store_drop_object(store, EBB_OBJECT_TOKEN, name, &found, err);

    if (rc || found)
        return rc;
    ebb_err_set(err, EBB_ENOT_FOUND, "token %.80s: there is none", name);
    ebb_err_hint(err, "ebb token list, or GET /api/tokens, tells those that are good");
    return -(int)EBB_ENOT_FOUND;
}

static void put_time(struct ebb_value *map, const char *key, int64_t ms)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    if (!ms)
        return;
    ebb_time_iso(&b, ms);
    ebb_value_put_str(map, key, ebb_buf_cstr(&b));
}

static int list_one(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct ebb_value *kept = NULL, *map;
    int rc = ebb_value_of_json("token", object->json, strlen(object->json), NULL, &kept, err);

    if (rc)
        return rc;
    map = ebb_value_add_map(data);
    ebb_value_put_str(map, "name", object->name);
    ebb_value_put_copy(map, "role", ebb_value_get(kept, "role"));
    ebb_value_put_str(map, "creator", object->creator);
    put_time(map, "created", object->created_ms);
    put_time(map, "expires", ebb_value_int_of(kept, "expires_ms", 0));
    ebb_value_free(kept);
    return 0;
}

int ebb_token_list(struct ebb_store *store, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *list = ebb_value_new_list(NULL);
    int rc = list ? ebb_store_list_objects(store, EBB_OBJECT_TOKEN, list_one, list, err) : ebb_err_nomem(err);

    *out = NULL;
    if (!rc)
        rc = ebb_value_check(list, "tokens", err);
    if (rc)
        ebb_value_free(list);
    else
        *out = list;
    return rc;
}

static int count_one(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    (void)object;
    (void)err;
    ++*(int64_t *)data;
    return 0;
}

int ebb_token_count(struct ebb_store *store, int64_t *out, struct ebb_err *err)
{
    *out = 0;
    return ebb_store_list_objects(store, EBB_OBJECT_TOKEN, count_one, out, err);
}

/* ---- who asks ---- */

struct search {
    char hash[2 * SHA256_DIGEST_LENGTH + 1];
    int64_t now_ms;
    bool found;
    struct ebb_principal *who;
};

/* All are looked at to the end, whatever was found. */
static int compare_one(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct search *s = data;
    struct ebb_value *kept = NULL;
    struct ebb_str hash;
    enum ebb_role role = EBB_ROLE_NONE;
    int64_t expires_ms;
    int rc = ebb_value_of_json("token", object->json, strlen(object->json), NULL, &kept, err);
    bool is_same;

    if (rc)
        return rc;
    hash = ebb_value_get_bytes(ebb_value_get(kept, "hash"));
    expires_ms = ebb_value_int_of(kept, "expires_ms", 0);
    is_same = hash.n == sizeof s->hash - 1 && CRYPTO_memcmp(hash.p, s->hash, hash.n) == 0;
    if (is_same && (!expires_ms || s->now_ms < expires_ms) && ebb_value_text_of(kept, "role") &&
        ebb_role_of(ebb_value_text_of(kept, "role"), &role)) {
        s->found = true;
        s->who->role = role;
        s->who->is_verified = true;
        snprintf(s->who->name, sizeof s->who->name, "%s", object->name);
    }
    ebb_value_free(kept);
    return 0;
}

static int refuse(struct ebb_principal *out, struct ebb_err *err)
{
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "anonymous");
    ebb_err_set(err, EBB_EPERMISSION, "a token is wanted, and a good one");
    ebb_err_hint(err, "send Authorization: Bearer ebb_…; ebb token create NAME --role view makes one");
    return -(int)EBB_EPERMISSION;
}

static int check_token(struct ebb_store *store, const char *token, int64_t now_ms, struct ebb_principal *out,
                       struct ebb_err *err)
{
    struct search s = {.now_ms = now_ms, .who = out};
    int rc;

    hash_of(token, s.hash);
    rc = ebb_store_list_objects(store, EBB_OBJECT_TOKEN, compare_one, &s, err);
    OPENSSL_cleanse(s.hash, sizeof s.hash);
    if (rc)
        return rc;
    return s.found ? 0 : refuse(out, err);
}

/* The credentials of a scheme, or NULL. */
static const char *scheme_of(const char *authorization, const char *scheme)
{
    size_t n = strlen(scheme);

    if (strncasecmp(authorization, scheme, n) != 0 || authorization[n] != ' ')
        return NULL;
    return authorization + n + strspn(authorization + n, " ");
}

/* "user:password"; false when it is none. */
static bool read_basic(const char *credentials, struct ebb_buf *out)
{
    return ebb_text_unbase64(out, credentials, strlen(credentials)) && !out->bad && out->len &&
           !memchr(out->data, '\0', out->len) && strchr(ebb_buf_cstr(out), ':');
}

static void name_user(const char *text, struct ebb_principal *out)
{
    size_t n = strcspn(text, ":");

    if (n && n < sizeof out->name && ebb_text_is_utf8(text, n))
        snprintf(out->name, sizeof out->name, "%.*s", (int)n, text);
}

/* Nobody is asked: a name is believed, a token is not taken for less than it says. */
static int check_open(struct ebb_store *store, const char *bearer, const char *basic, int64_t now_ms,
                      struct ebb_principal *out, struct ebb_err *err)
{
    struct ebb_buf text;

    if (bearer)
        return check_token(store, bearer, now_ms, out, err);
    out->role = EBB_ROLE_ADMIN;
    ebb_buf_init(&text, HEADER_MAX);
    if (basic && read_basic(basic, &text))
        name_user(text.data, out);
    if (text.data)
        OPENSSL_cleanse(text.data, text.len);
    ebb_buf_fini(&text);
    return 0;
}

static int check_basic(struct ebb_store *store, const char *basic, int64_t now_ms, struct ebb_principal *out,
                       struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, HEADER_MAX);
    rc = read_basic(basic, &text) ? check_token(store, strchr(text.data, ':') + 1, now_ms, out, err) : refuse(out, err);
    if (text.data)
        OPENSSL_cleanse(text.data, text.len);
    ebb_buf_fini(&text);
    return rc;
}

int ebb_auth_check(struct ebb_store *store, const struct ebb_serve_config *serve, const char *authorization,
                   int64_t now_ms, struct ebb_principal *out, struct ebb_err *err)
{
    const char *bearer = authorization ? scheme_of(authorization, "Bearer") : NULL;
    const char *basic = authorization ? scheme_of(authorization, "Basic") : NULL;

    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "anonymous");
    if (authorization && !bearer && !basic)
        return refuse(out, err);
    if (serve->auth && !strcmp(serve->auth, "none"))
        return check_open(store, bearer, basic, now_ms, out, err);
    if (bearer)
        return check_token(store, bearer, now_ms, out, err);
    return basic ? check_basic(store, basic, now_ms, out, err) : refuse(out, err);
}

/* ---- whether to listen ---- */

/* 127.0.0.0/8, ::1, localhost; with a port. */
static bool is_loopback(const char *listen)
{
    bool is_numeric = strspn(listen, "0123456789.:") == strlen(listen);

    return (is_numeric && !strncmp(listen, "127.", 4)) || !strncmp(listen, "[::1]:", 6) ||
           !strncmp(listen, "localhost:", 10);
}

int ebb_auth_may_listen(struct ebb_store *store, const struct ebb_serve_config *serve, struct ebb_err *err)
{
    int64_t count = 0;
    int rc;

    if (is_loopback(serve->listen))
        return 0;
    if (!serve->cert && !serve->insecure) {
        rc = ebb_err_set(err, EBB_ECONFIG, "serve.listen %s: not without TLS beyond this host", serve->listen);
        ebb_err_hint(err, "serve.tls = { cert = …, key = … }, or serve.insecure = true behind a proxy that has it");
        return rc;
    }
    if (!serve->auth || strcmp(serve->auth, "token") != 0) {
        rc = ebb_err_set(err, EBB_ECONFIG, "serve.listen %s: not without tokens beyond this host", serve->listen);
        ebb_err_hint(err, "serve.auth = \"token\", and ebb token create NAME --role admin");
        return rc;
    }
    rc = ebb_token_count(store, &count, err);
    if (rc || count)
        return rc;
    rc = ebb_err_set(err, EBB_ECONFIG, "serve.listen %s: there is no token, so nobody could ask anything",
                     serve->listen);
    ebb_err_hint(err, "ebb token create NAME --role admin");
    return rc;
}
