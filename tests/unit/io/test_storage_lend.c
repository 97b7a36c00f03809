/* SPDX-License-Identifier: Apache-2.0
 *
 * Which keys go where: ours, and those that a catalog lends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/s3_priv.h"
#include "io/storage_priv.h"

static int lent_keys(void *data, bool are_expired, struct ebb_aws_keys *out, struct ebb_err *err)
{
    (void)data, (void)are_expired, (void)out;
    return ebb_err_set(err, EBB_ECONFIG, "none");
}

static struct ebb_storage *new_storage(void)
{
    const struct ebb_s3_config own = {.endpoint = "http://own.example",
                                      .path_style = 1,
                                      .aws = {"key", "secret", NULL, NULL, "eu-west-1", NULL, NULL, true}};
    const struct ebb_storage_options options = {.s3 = &own};
    struct ebb_storage *storage = NULL;

    assert_int_equal(ebb_storage_new(NULL, &options, &storage, NULL), 0);
    return storage;
}

static void lend(struct ebb_storage *storage, const char *prefix, const char *endpoint)
{
    const struct ebb_s3_config config = {.endpoint = endpoint, .path_style = -1};
    const struct ebb_s3_lender lender = {lent_keys, storage};

    assert_int_equal(ebb_storage_lend(storage, prefix, &config, &lender, NULL), 0);
}

/* has_lender: no key of ours is in such a client. */
static void expect(struct ebb_storage *storage, const char *target, const char *endpoint, bool has_lender)
{
    struct ebb_s3 *s3 = NULL, *again = NULL;

    assert_int_equal(ebb__storage_client(storage->remote, target, &s3, NULL), 0);
    assert_non_null(strstr(s3->host, endpoint));
    assert_int_equal(s3->has_lender, has_lender);
    assert_int_equal(s3->credentials == NULL, has_lender);
    assert_int_equal(ebb__storage_client(storage->remote, target, &again, NULL), 0);
    assert_ptr_equal(s3, again);
}

static void test_prefixes(void **state)
{
    struct ebb_storage *storage = new_storage();

    (void)state;
    expect(storage, "s3://lake/wh/t/a", "own.example", false);
    lend(storage, "s3a://lake/wh/t/", "http://lent.example");
    lend(storage, "s3://lake/wh/t/deep", "http://deep.example");
    expect(storage, "s3://lake/wh/t/a", "lent.example", true);
    expect(storage, "s3://lake/wh/t", "lent.example", true);
    expect(storage, "s3://lake/wh/t/deep/a", "deep.example", true);
    expect(storage, "s3://lake/wh/t/deeper", "lent.example", true);
    expect(storage, "s3://lake/wh/t2/a", "own.example", false); /* whole components */
    expect(storage, "s3://lake2/wh/t/a", "own.example", false);
    lend(storage, "s3://lake/wh/t", "http://other.example"); /* replaced */
    expect(storage, "s3://lake/wh/t/a", "other.example", true);
    ebb_storage_free(storage);
}

static void test_shared(void **state)
{
    struct ebb_storage *storage = new_storage(), *like = NULL;

    (void)state;
    assert_int_equal(ebb_storage_new_like(storage, NULL, &like, NULL), 0);
    lend(storage, "s3://lake/t", "http://lent.example"); /* also later */
    expect(like, "s3://lake/t/a", "lent.example", true);
    ebb_storage_free(storage);
    expect(like, "s3://lake/t/a", "lent.example", true);
    assert_int_equal(ebb_storage_ahead_ms(like, "file:/x"), 0);
    assert_true(ebb_storage_ahead_ms(like, "s3://lake/t/a") == INT64_MIN);
    ebb_storage_free(like);
}

static void test_schemes(void **state)
{
    struct ebb_storage *storage = new_storage(), *local = NULL;
    struct ebb_place *place = NULL;

    (void)state;
    assert_true(ebb_storage_is_remote(storage, "s3n://lake/t"));
    assert_false(ebb_storage_is_remote(storage, "file:/t"));
    assert_int_equal(ebb_place_open(storage, "gs://lake/t", EBB_PLACE_READ, &place, NULL), -EBB_ESCHEME);
    assert_int_equal(ebb_storage_new(NULL, NULL, &local, NULL), 0);
    assert_int_equal(ebb_place_open(local, "s3://lake/t", EBB_PLACE_READ, &place, NULL), -EBB_ESCHEME);
    ebb_storage_free(local);
    ebb_storage_free(storage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_schemes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
