/* SPDX-License-Identifier: Apache-2.0 */
#include "format/avro_priv.h"

/* The named types met so far, in the order of the text: a type must be defined before it is used. */
struct names {
    struct ebb_arena *arena;
    const char *file;
    struct ebb__avro_node **nodes;
    size_t count;
};

static struct ebb_str space_of(struct ebb_str full_name)
{
    struct ebb_str space = {full_name.p, full_name.n};

    while (space.n > 0 && space.p[space.n - 1] != '.')
        space.n--;
    if (space.n > 0)
        space.n--;
    return space;
}

static bool has_dot(struct ebb_str name)
{
    return name.n > 0 && memchr(name.p, '.', name.n) != NULL;
}

/* "<space>.<name>", or the name alone when it has a dot or the name space is empty. */
static int join(struct names *names, struct ebb_str space, struct ebb_str name, struct ebb_str *out,
                struct ebb_err *err)
{
    char *text;

    *out = name;
    if (space.n == 0 || has_dot(name))
        return 0;
    text = ebb_arena_alloc(names->arena, space.n + 1 + name.n);
    if (!text)
        return ebb_err_nomem(err);
    memcpy(text, space.p, space.n);
    text[space.n] = '.';
    memcpy(text + space.n + 1, name.p, name.n);
    out->p = text;
    out->n = space.n + 1 + name.n;
    return 0;
}

static int define(struct names *names, struct ebb__avro_node *node, struct ebb_str space, struct ebb_err *err)
{
    int rc = join(names, node->has_space ? node->space : space, node->name, &node->name, err);

    if (rc)
        return rc;
    if (names->count == EBB__AVRO_NAMES)
        return ebb_err_set(err, EBB_ELIMIT, "%s: schema has more than %d named types", names->file, EBB__AVRO_NAMES);
    names->nodes[names->count++] = node;
    return 0;
}

/* The definition of a full name; *found counts them. */
static struct ebb__avro_node *look_up(const struct names *names, struct ebb_str name, int *found)
{
    struct ebb__avro_node *node = NULL;

    *found = 0;
    for (size_t i = 0; i < names->count; i++)
        if (ebb_str_is_equal(names->nodes[i]->name, name)) {
            node = names->nodes[i];
            ++*found;
        }
    return node;
}

static int refer(struct names *names, struct ebb__avro_node *node, struct ebb_str space, struct ebb_err *err)
{
    struct ebb_str full;
    int found, n = (int)(node->name.n < 200 ? node->name.n : 200);
    int rc = join(names, space, node->name, &full, err);

    if (rc)
        return rc;
    node->target = look_up(names, full, &found);
    if (!found)
        node->target = look_up(names, node->name, &found);
    if (!found)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: schema: unknown type \"%.*s\"", names->file, n, node->name.p);
    if (found > 1)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: schema: type \"%.*s\" is defined twice", names->file, n,
                           node->name.p);
    if (node->target->is_open)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: schema: type \"%.*s\" is recursive, which cannot be read",
                           names->file, n, node->name.p);
    return 0;
}

/* As deep as the JSON text is nested at most. */
static int resolve(struct names *names, struct ebb__avro_node *node, struct ebb_str space, struct ebb_err *err)
{
    bool is_record = node->kind == EBB__AVRO_RECORD;
    int rc = 0;

    if (node->kind == EBB__AVRO_NAME)
        return refer(names, node, space, err);
    if (is_record || node->kind == EBB__AVRO_ENUM || node->kind == EBB__AVRO_FIXED)
        rc = define(names, node, space, err);
    if (is_record)
        space = space_of(node->name);
    node->is_open = is_record;
    for (struct ebb__avro_child *child = node->children; child && !rc; child = child->next)
        rc = resolve(names, child->type, space, err);
    node->is_open = false;
    return rc;
}

int ebb__avro_names_resolve(struct ebb__avro_node *root, struct ebb_arena *arena, const char *name, struct ebb_err *err)
{
    struct names names = {.arena = arena, .file = name};
    struct ebb_str none = {"", 0};

    names.nodes = ebb_arena_alloc(arena, EBB__AVRO_NAMES * sizeof *names.nodes);
    if (!names.nodes)
        return ebb_err_nomem(err);
    return resolve(&names, root, none, err);
}
