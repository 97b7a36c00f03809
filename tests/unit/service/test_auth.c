/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens and who may do what.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/value.h"
#include "service/auth.h"

#define ERROR(symbol) (-(int)EBB_##symbol)
#define NOW ((int64_t)1780000000000)

struct fixture {
    char dir[64];
    struct ebb_store *store;
    struct ebb_err err;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    snprintf(f->dir, sizeof f->dir, "/tmp/ebb-auth-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_int_equal(ebb_store_open(f->dir, &f->store, &f->err), 0);
    *state = f;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    ebb_store_close(f->store);
    nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(f);
    return 0;
}

static int check(struct fixture *f, const char *auth, const char *header, int64_t now_ms, struct ebb_principal *who)
{
    struct ebb_serve_config serve = {.auth = (char *)(uintptr_t)auth};

    return ebb_auth_check(f->store, &serve, header, now_ms, who, &f->err);
}

static void make(struct fixture *f, const char *name, enum ebb_role role, int64_t expires_ms, char out[64])
{
    assert_int_equal(ebb_token_create(f->store, name, role, NOW, expires_ms, "test", out, &f->err), 0);
}

static void test_roles_have_names(void **state)
{
    enum ebb_role role;

    (void)state;
    assert_true(ebb_role_of("view", &role) && role == EBB_ROLE_VIEW);
    assert_true(ebb_role_of("operate", &role) && role == EBB_ROLE_OPERATE);
    assert_true(ebb_role_of("admin", &role) && role == EBB_ROLE_ADMIN);
    assert_false(ebb_role_of("none", &role)); /* nobody has it by a token */
    assert_false(ebb_role_of("Admin", &role));
    assert_false(ebb_role_of("", &role));
    assert_true(EBB_ROLE_NONE < EBB_ROLE_VIEW && EBB_ROLE_VIEW < EBB_ROLE_OPERATE && EBB_ROLE_OPERATE < EBB_ROLE_ADMIN);
    assert_string_equal(ebb_role_name(EBB_ROLE_OPERATE), "operate");
}

static void test_a_token(void **state)
{
    struct fixture *f = *state;
    struct ebb_principal who;
    char a[64], b[64], header[256];

    make(f, "a", EBB_ROLE_VIEW, 0, a);
    make(f, "b", EBB_ROLE_OPERATE, 0, b);
    assert_int_equal(strlen(a), 4 + 43);
    assert_memory_equal(a, "ebb_", 4);
    assert_string_not_equal(a, b);
    assert_int_equal(strspn(a + 4, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), 43);
    snprintf(header, sizeof header, "Bearer %s", b);
    assert_int_equal(check(f, "token", header, NOW, &who), 0);
    assert_int_equal(who.role, EBB_ROLE_OPERATE);
    assert_string_equal(who.name, "b");
    assert_true(who.is_verified);
    snprintf(header, sizeof header, "bEaReR   %s", a);
    assert_int_equal(check(f, "token", header, NOW, &who), 0);
    assert_int_equal(who.role, EBB_ROLE_VIEW);
    assert_int_equal(ebb_token_revoke(f->store, "a", &f->err), 0);
    assert_int_equal(check(f, "token", header, NOW, &who), ERROR(EPERMISSION));
    assert_int_equal(who.role, EBB_ROLE_NONE);
    assert_int_equal(ebb_token_revoke(f->store, "a", &f->err), ERROR(ENOT_FOUND));
}

static void test_what_is_no_token(void **state)
{
    static const char *const HEADERS[] = {
        "",           "Bearer",         "Bearer ",     "Bearer x",       "Bearerx",   "Basic ",
        "Basic !!!!", "Basic dXNlcg==", "Negotiate x", "Basic dXNlcjo=", "Digest x=", "Basic AAAA"};
    struct fixture *f = *state;
    struct ebb_principal who;
    char token[64], header[256], same[EBB_ERR_MESSAGE_MAX] = "";

    make(f, "a", EBB_ROLE_ADMIN, 0, token);
    assert_int_equal(check(f, "token", NULL, NOW, &who), ERROR(EPERMISSION));
    snprintf(same, sizeof same, "%s", f->err.message);
    for (size_t i = 0; i < sizeof HEADERS / sizeof HEADERS[0]; i++) {
        assert_int_equal(check(f, "token", HEADERS[i], NOW, &who), ERROR(EPERMISSION));
        assert_string_equal(f->err.message, same); /* tells nothing of why */
        assert_int_equal(who.role, EBB_ROLE_NONE);
    }
    for (size_t i = 0; i < strlen(token); i++) { /* one character off */
        snprintf(header, sizeof header, "Bearer %s", token);
        header[7 + i] = header[7 + i] == 'x' ? 'y' : 'x';
        assert_int_equal(check(f, "token", header, NOW, &who), ERROR(EPERMISSION));
    }
    snprintf(header, sizeof header, "Bearer %.46s", token);
    assert_int_equal(check(f, "token", header, NOW, &who), ERROR(EPERMISSION));
    snprintf(header, sizeof header, "Bearer %s%s", token, token);
    assert_int_equal(check(f, "token", header, NOW, &who), ERROR(EPERMISSION));
}

static void test_basic(void **state)
{
    struct fixture *f = *state;
    struct ebb_principal who;
    struct ebb_buf header;
    char token[64], pair[128];

    make(f, "a", EBB_ROLE_OPERATE, 0, token);
    ebb_buf_init(&header, 1024);
    ebb_buf_puts(&header, "Basic ");
    snprintf(pair, sizeof pair, "someone:%s", token);
    ebb_text_base64(&header, pair, strlen(pair));
    assert_int_equal(check(f, "token", ebb_buf_cstr(&header), NOW, &who), 0);
    assert_string_equal(who.name, "a"); /* of the token, not what was said */
    assert_true(who.is_verified);
    assert_int_equal(who.role, EBB_ROLE_OPERATE);
    ebb_buf_fini(&header);
}

static void test_nobody_is_asked(void **state)
{
    struct fixture *f = *state;
    struct ebb_principal who;
    char token[64], header[256];

    assert_int_equal(check(f, "none", NULL, NOW, &who), 0);
    assert_int_equal(who.role, EBB_ROLE_ADMIN);
    assert_string_equal(who.name, "anonymous");
    assert_false(who.is_verified);
    assert_int_equal(check(f, "none", "Basic YW5uYTpkdW1teQ==", NOW, &who), 0); /* anna:dummy */
    assert_string_equal(who.name, "anna");
    assert_false(who.is_verified);
    assert_int_equal(check(f, "none", "Basic !", NOW, &who), 0); /* garbled: nobody */
    assert_string_equal(who.name, "anonymous");
    assert_int_equal(check(f, "none", "Bearer wrong", NOW, &who), ERROR(EPERMISSION));
    assert_int_equal(check(f, "none", "Negotiate x", NOW, &who), ERROR(EPERMISSION));
    make(f, "v", EBB_ROLE_VIEW, 0, token); /* is not taken for more than it says */
    snprintf(header, sizeof header, "Bearer %s", token);
    assert_int_equal(check(f, "none", header, NOW, &who), 0);
    assert_int_equal(who.role, EBB_ROLE_VIEW);
}

static void test_expiry(void **state)
{
    struct fixture *f = *state;
    struct ebb_principal who;
    char token[64], header[256];

    make(f, "e", EBB_ROLE_VIEW, NOW + 1000, token);
    snprintf(header, sizeof header, "Bearer %s", token);
    assert_int_equal(check(f, "token", header, NOW + 999, &who), 0);
    assert_int_equal(check(f, "token", header, NOW + 1000, &who), ERROR(EPERMISSION));
    assert_int_equal(ebb_token_create(f->store, "x", EBB_ROLE_VIEW, NOW, NOW, "t", token, &f->err), ERROR(EUSAGE));
}

static void test_names(void **state)
{
    static const char *const BAD[] = {
        "", "a b", "a/b", "\xc3\xa4", "a\n", "12345678901234567890123456789012345678901234567890123456789012345"};
    struct fixture *f = *state;
    struct ebb_value *list = NULL;
    char token[64];
    int64_t count = -1;

    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        assert_int_equal(ebb_token_create(f->store, BAD[i], EBB_ROLE_VIEW, NOW, 0, "t", token, &f->err), ERROR(EUSAGE));
    assert_int_equal(ebb_token_create(f->store, "a", EBB_ROLE_NONE, NOW, 0, "t", token, &f->err), ERROR(EUSAGE));
    make(f, "A.b_c-1", EBB_ROLE_VIEW, 0, token);
    assert_int_equal(ebb_token_create(f->store, "A.b_c-1", EBB_ROLE_ADMIN, NOW, 0, "t", token, &f->err), ERROR(EEXIST));
    assert_int_equal(ebb_token_count(f->store, &count, &f->err), 0);
    assert_int_equal(count, 1);
    assert_int_equal(ebb_token_list(f->store, &list, &f->err), 0);
    assert_string_equal(ebb_value_text_of(ebb_value_get_at(list, 0), "role"), "view");
    assert_null(ebb_value_get(ebb_value_get_at(list, 0), "hash"));
    ebb_value_free(list);
}

static int may_listen(struct fixture *f, const char *listen, const char *auth, const char *cert, bool insecure)
{
    struct ebb_serve_config serve = {.listen = (char *)(uintptr_t)listen,
                                     .auth = (char *)(uintptr_t)auth,
                                     .cert = (char *)(uintptr_t)cert,
                                     .insecure = insecure};

    return ebb_auth_may_listen(f->store, &serve, &f->err);
}

static void test_where_it_may_listen(void **state)
{
    static const char *const NEAR[] = {"127.0.0.1:8490", "127.1.2.3:0", "[::1]:8490", "localhost:8490"};
    static const char *const FAR[] = {"0.0.0.0:8490",       "[::]:8490",  "10.0.0.1:1",         "192.168.1.1:80",
                                      "[::ffff:1.2.3.4]:1", "1.27.0.0:1", "127.evil.example:1", "localhost.example:1"};
    struct fixture *f = *state;
    char token[64];

    for (size_t i = 0; i < sizeof NEAR / sizeof NEAR[0]; i++)
        assert_int_equal(may_listen(f, NEAR[i], "none", NULL, false), 0);
    for (size_t i = 0; i < sizeof FAR / sizeof FAR[0]; i++) {
        assert_int_equal(may_listen(f, FAR[i], "none", NULL, false), ERROR(ECONFIG));
        assert_int_equal(may_listen(f, FAR[i], "none", "cert", false), ERROR(ECONFIG));
        assert_int_equal(may_listen(f, FAR[i], "none", NULL, true), ERROR(ECONFIG));
        assert_int_equal(may_listen(f, FAR[i], "token", NULL, false), ERROR(ECONFIG));
        assert_int_equal(may_listen(f, FAR[i], "token", "cert", false), ERROR(ECONFIG)); /* there is no token */
    }
    make(f, "a", EBB_ROLE_VIEW, 0, token);
    for (size_t i = 0; i < sizeof FAR / sizeof FAR[0]; i++) {
        assert_int_equal(may_listen(f, FAR[i], "token", NULL, false), ERROR(ECONFIG));
        assert_int_equal(may_listen(f, FAR[i], "token", "cert", false), 0);
        assert_int_equal(may_listen(f, FAR[i], "token", NULL, true), 0);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles_have_names),
        TEST(test_a_token),
        TEST(test_what_is_no_token),
        TEST(test_basic),
        TEST(test_nobody_is_asked),
        TEST(test_expiry),
        TEST(test_names),
        TEST(test_where_it_may_listen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
