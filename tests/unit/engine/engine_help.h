/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests of the engine: files, fixtures, and decisions of policies written in place.
 */
#ifndef EBB_TESTS_ENGINE_HELP_H
#define EBB_TESTS_ENGINE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"

/* 2026-03-29T00:00:00Z: the night before clocks change in Europe. */
#define HELP_NOW ((int64_t)1774742400000)
#define HELP_DAY ((int64_t)86400000)

static inline char *help_read(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(1 << 20);

    if (!file)
        fail_msg("%s: can't be read", path);
    *n = fread(data, 1, (1 << 20) - 1, file);
    data[*n] = '\0';
    fclose(file);
    return data;
}

static inline struct ebb_value *help_json(const char *text)
{
    struct ebb_value *v = NULL;
    struct ebb_err err;

    if (ebb_value_of_json("json", text, strlen(text), NULL, &v, &err))
        fail_msg("%s", err.message);
    return v;
}

static inline struct ebb_value *help_facts(const char *name)
{
    char path[512];
    struct ebb_value *v;
    size_t n;
    char *text;

    snprintf(path, sizeof path, "%s/tests/fixtures/facts/%s", EBB_SOURCE_DIR, name);
    text = help_read(path, &n);
    v = help_json(text);
    free(text);
    return v;
}

/* A policy that takes every table, with the given lines before decide, and the given body of decide. */
static inline struct ebb_policy *help_policy(const char *lines, const char *body)
{
    char source[16384];
    struct ebb_policy *policy = NULL;
    struct ebb_err err;
    int n = snprintf(source, sizeof source,
                     "return policy { api = 1, name = \"test\", target = { tables = { \"**\" } },\n%s\n"
                     "decide = function(t, ctx)\n%s\nend }\n",
                     lines, body);

    if (ebb_policy_load_text("test.lua", source, (size_t)n, &policy, NULL, &err))
        fail_msg("%s", err.message);
    return policy;
}

#endif
