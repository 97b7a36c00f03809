/* SPDX-License-Identifier: Apache-2.0 */
#include "format/avro_priv.h"

#include <stdlib.h>

const char *ebb__avro_want_name(const struct ebb_avro_want *want)
{
    int last = 0;

    while (last < 2 && want->ids[last + 1])
        last++;
    return want->names[last] ? want->names[last] : "?";
}

static bool name_is_equal(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool want_is_equal(const struct ebb_avro_want *a, const struct ebb_avro_want *b)
{
    for (size_t i = 0; i < 3; i++)
        if (a->ids[i] != b->ids[i] || !name_is_equal(a->names[i], b->names[i]))
            return false;
    return a->type == b->type && a->required == b->required;
}

bool ebb__avro_program_is_for(const struct ebb__avro_program *program, struct ebb_str text,
                              const struct ebb_avro_want *wants, size_t want_count)
{
    if (program->want_count != want_count || !ebb_str_is_equal(program->text, text))
        return false;
    for (size_t i = 0; i < want_count; i++)
        if (!want_is_equal(&program->wants[i], &wants[i]))
            return false;
    return true;
}

static int copy_want(struct ebb_arena *arena, struct ebb_avro_want *to, const struct ebb_avro_want *from,
                     struct ebb_err *err)
{
    *to = *from;
    for (size_t i = 0; i < 3; i++) {
        if (!from->names[i])
            continue;
        to->names[i] = ebb_arena_dup(arena, from->names[i], strlen(from->names[i]));
        if (!to->names[i])
            return ebb_err_nomem(err);
    }
    return 0;
}

static int copy_key(struct ebb__avro_program *p, struct ebb_str text, const struct ebb_avro_want *wants,
                    size_t want_count, struct ebb_err *err)
{
    p->text.p = ebb_arena_dup(&p->arena, text.p, text.n);
    p->text.n = text.n;
    p->wants = ebb_arena_alloc(&p->arena, (want_count + 1) * sizeof *p->wants);
    p->want_count = want_count;
    if (!p->text.p || !p->wants)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < want_count; i++) {
        int rc = copy_want(&p->arena, &p->wants[i], &wants[i], err);

        if (rc)
            return rc;
    }
    return 0;
}

int ebb__avro_program_new(struct ebb__avro_program **out, const char *name, struct ebb_str text,
                          const struct ebb_avro_want *wants, size_t want_count, struct ebb_err *err)
{
    struct ebb__avro_program *p = NULL;
    struct ebb__avro_schema schema;
    struct ebb_arena nodes;
    int rc;

    *out = NULL;
    ebb_arena_init(&nodes, EBB__AVRO_SCHEMA_MEMORY);
    rc = ebb__avro_schema_read(&schema, &nodes, name, text, err);
    if (rc)
        goto out;
    p = calloc(1, sizeof *p);
    if (!p) {
        rc = ebb_err_nomem(err);
        goto out;
    }
    ebb_arena_init(&p->arena, EBB__AVRO_SCHEMA_MEMORY);
    rc = copy_key(p, text, wants, want_count, err);
    if (!rc)
        rc = ebb__avro_compile(p, &schema, name, err);
    if (!rc) {
        *out = p;
        p = NULL;
    }
out:
    ebb__avro_program_free(p);
    ebb_arena_fini(&nodes);
    return rc;
}

void ebb__avro_program_free(struct ebb__avro_program *program)
{
    if (!program)
        return;
    ebb_arena_fini(&program->arena);
    free(program->targets);
    free(program->ops);
    free(program);
}
