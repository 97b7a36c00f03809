/* SPDX-License-Identifier: Apache-2.0
 *
 * Configurations that are loaded, and such as are refused.
 */
#ifndef CONFIG_HELP_H
#define CONFIG_HELP_H

#include "../engine/engine_help.h"

#include <sys/stat.h>
#include <unistd.h>

#include "service/config.h"

static char top[64]; /* a folder of this run */

static void put(const char *name, const char *text, size_t n)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", top, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int load_bytes(const char *text, size_t n, struct ebb_config **out, struct ebb_err *err)
{
    char path[256];

    put("ebb.lua", text, n);
    snprintf(path, sizeof path, "%s/ebb.lua", top);
    memset(err, 0, sizeof *err);
    *out = NULL;
    return ebb_config_load(path, out, err);
}

static struct ebb_config *good(const char *text)
{
    struct ebb_config *c;
    struct ebb_err err;

    if (load_bytes(text, strlen(text), &c, &err))
        fail_msg("%s", err.message);
    return c;
}

struct bad {
    const char *text;
    enum ebb_error error;
    const char *message, *hint;
};

static void expect_bad(const struct bad *bad)
{
    struct ebb_config *c;
    struct ebb_err err;
    int rc = load_bytes(bad->text, strlen(bad->text), &c, &err);

    if (rc != -(int)bad->error || !strstr(err.message, bad->message) || !strstr(err.hint, bad->hint) ||
        !strstr(err.message, "ebb.lua"))
        fail_msg("%s: %d (wanted %d) %s / %s", bad->text, rc, -(int)bad->error, err.message, err.hint);
    assert_null(c);
}

static int make_top(void **state)
{
    (void)state;
    snprintf(top, sizeof top, "/tmp/ebb-config-XXXXXX");
    return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "cd /; rm -rf %s", top);
    return system(command);
}

#endif
