/* SPDX-License-Identifier: Apache-2.0 */
#include "format/avro_priv.h"

#include <stdlib.h>

#define STEPS (1 << 20) /* types visited, references followed each time */
#define MIN_BYTES_CAP ((size_t)1 << 32)

struct compiler {
    struct ebb__avro_program *program;
    const char *file;
    bool by_name;
    uint64_t found; /* wants whose field was met */
    int depth, loops, steps;
};

/* What is wanted of a type: its value (slot, or -1), and what lies below it (deeper; only a record has that). */
struct goal {
    int slot;
    uint64_t deeper;
    int level; /* of the ids of the deeper wants */
};

/* What is known of a type's encoding: wants that are set whenever it was read, and its least length. */
struct fact {
    uint64_t set;
    size_t min_bytes;
};

static const struct goal NOTHING = {-1, 0, 0};

static int fail(const struct compiler *c, struct ebb_err *err, const char *why)
{
    return ebb_err_set(err, EBB_ECORRUPT, "%s: schema: %s", c->file, why);
}

static int too_large(const struct compiler *c, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ELIMIT, "%s: schema is too large or nested too deeply", c->file);
}

static int emit(struct compiler *c, enum ebb__avro_code code, uint32_t n, struct ebb_err *err)
{
    struct ebb__avro_program *p = c->program;
    struct ebb__avro_op op = {.code = (uint8_t)code, .n = n};

    if (p->op_count == EBB__AVRO_OPS)
        return too_large(c, err);
    if (p->op_count == p->op_cap) {
        size_t cap = p->op_cap ? p->op_cap * 2 : 64;
        struct ebb__avro_op *ops = realloc(p->ops, cap * sizeof *ops);

        if (!ops)
            return ebb_err_nomem(err);
        p->ops = ops;
        p->op_cap = cap;
    }
    p->ops[p->op_count++] = op;
    return 0;
}

static struct ebb__avro_op *last_op(struct compiler *c)
{
    return &c->program->ops[c->program->op_count - 1];
}

static uint32_t here(const struct compiler *c)
{
    return (uint32_t)c->program->op_count;
}

static int emit_read(struct compiler *c, enum ebb__avro_code code, uint32_t n, int slot, struct ebb_err *err)
{
    int rc = emit(c, code, n, err);

    if (!rc)
        last_op(c)->slot = (uint16_t)slot;
    return rc;
}

static int compile(struct compiler *c, const struct ebb__avro_node *node, struct goal goal, struct fact *fact,
                   struct ebb_err *err);

struct scalar {
    uint8_t skip, read; /* ops; read 0: its value cannot be read */
    uint8_t type;       /* enum ebb_avro_type that fits */
    uint32_t n;
    size_t min_bytes;
};

static struct scalar scalar_of(const struct ebb__avro_node *node)
{
    uint32_t size = node->size > 0 ? (uint32_t)node->size : 0;

    switch (node->kind) {
    case EBB__AVRO_BOOLEAN:
        return (struct scalar){EBB__OP_BOOLEAN, EBB__OP_READ_FIXED, EBB_AVRO_RAW, 1, 1};
    case EBB__AVRO_KIND_INT:
        return (struct scalar){EBB__OP_INT, EBB__OP_READ_INT, EBB_AVRO_LONG, 0, 1};
    case EBB__AVRO_KIND_LONG:
        return (struct scalar){EBB__OP_LONG, EBB__OP_READ_LONG, EBB_AVRO_LONG, 0, 1};
    case EBB__AVRO_FLOAT:
        return (struct scalar){EBB__OP_FIXED, EBB__OP_READ_FIXED, EBB_AVRO_RAW, 4, 4};
    case EBB__AVRO_DOUBLE:
        return (struct scalar){EBB__OP_FIXED, EBB__OP_READ_FIXED, EBB_AVRO_RAW, 8, 8};
    case EBB__AVRO_FIXED:
        return (struct scalar){EBB__OP_FIXED, EBB__OP_READ_FIXED, EBB_AVRO_BYTES, size, size};
    case EBB__AVRO_ENUM:
        return (struct scalar){EBB__OP_ENUM, 0, 0, size, 1};
    default: /* bytes and string */
        return (struct scalar){EBB__OP_BYTES, EBB__OP_READ_BYTES, EBB_AVRO_BYTES, 0, 1};
    }
}

static int compile_scalar(struct compiler *c, const struct ebb__avro_node *node, int slot, struct fact *fact,
                          struct ebb_err *err)
{
    struct scalar s = scalar_of(node);
    const struct ebb_avro_want *want = slot < 0 ? NULL : &c->program->wants[slot];

    fact->min_bytes = s.min_bytes;
    if (want && want->type != EBB_AVRO_PRESENT) {
        if (!s.read || s.type != (uint8_t)want->type)
            return ebb_err_set(err, EBB_ECORRUPT, "%s: schema: field %s has a type that does not fit", c->file,
                               ebb__avro_want_name(want));
        return emit_read(c, s.read, s.n, slot, err);
    }
    return s.skip == EBB__OP_FIXED && s.n == 0 ? 0 : emit(c, s.skip, s.n, err);
}

static bool field_is(const struct compiler *c, const struct ebb_avro_want *want, int level,
                     const struct ebb__avro_child *field)
{
    if (!c->by_name)
        return field->id == want->ids[level];
    return want->names[level] && ebb_str_is_equal(field->name, ebb_str_of(want->names[level]));
}

/* The part of a record's goal that concerns one field. */
static struct goal goal_of(struct compiler *c, struct goal goal, const struct ebb__avro_child *field)
{
    struct goal g = {-1, 0, goal.level + 1};

    for (size_t i = 0; i < c->program->want_count; i++) {
        const struct ebb_avro_want *want = &c->program->wants[i];

        if (!(goal.deeper >> i & 1) || !field_is(c, want, goal.level, field))
            continue;
        if (goal.level == 2 || want->ids[goal.level + 1] == 0)
            g.slot = (int)i;
        else
            g.deeper |= (uint64_t)1 << i;
    }
    return g;
}

static uint64_t bit_of(int slot)
{
    return slot < 0 ? 0 : (uint64_t)1 << slot;
}

static int compile_record(struct compiler *c, const struct ebb__avro_node *node, struct goal goal, struct fact *fact,
                          struct ebb_err *err)
{
    uint64_t seen = 0;

    for (const struct ebb__avro_child *field = node->children; field; field = field->next) {
        struct goal g = goal.deeper ? goal_of(c, goal, field) : NOTHING;
        struct fact f = {0, 0};
        int rc;

        if (seen & (g.deeper | bit_of(g.slot)))
            return ebb_err_set(err, EBB_ECORRUPT, "%s: schema: field id %lld (%.*s) occurs twice in one record",
                               c->file, (long long)field->id, (int)(field->name.n < 200 ? field->name.n : 200),
                               field->name.p);
        seen |= g.deeper | bit_of(g.slot);
        rc = compile(c, field->type, g, &f, err);
        if (rc)
            return rc;
        fact->set |= f.set;
        fact->min_bytes += f.min_bytes;
    }
    if (fact->min_bytes > MIN_BYTES_CAP)
        fact->min_bytes = MIN_BYTES_CAP;
    return 0;
}

static bool is_null(const struct ebb__avro_child *branch)
{
    return branch->type->kind == EBB__AVRO_NULL;
}

/* Null and one other branch, in either order. */
static int compile_nullable(struct compiler *c, const struct ebb__avro_node *node, struct goal goal,
                            struct ebb_err *err)
{
    bool second = is_null(node->children->next);
    const struct ebb__avro_child *other = second ? node->children : node->children->next;
    struct fact ignored = {0, 0};
    uint32_t at = here(c);
    int rc = emit(c, EBB__OP_NULLABLE, 0, err);

    if (rc)
        return rc;
    c->program->ops[at].arg = second;
    rc = compile(c, other->type, goal, &ignored, err);
    c->program->ops[at].n = here(c);
    if (!rc && here(c) == at + 2 && last_op(c)->code >= EBB__OP_LOOP_EMPTY)
        c->program->ops[at].code = EBB__OP_NULLABLE_STEP;
    return rc;
}

static int reserve_targets(struct compiler *c, size_t count, struct ebb_err *err)
{
    struct ebb__avro_program *p = c->program;
    size_t need = p->target_count + count;
    uint32_t *targets;

    if (need > EBB__AVRO_OPS)
        return too_large(c, err);
    if (need > p->target_cap) {
        targets = realloc(p->targets, 2 * need * sizeof *targets);
        if (!targets)
            return ebb_err_nomem(err);
        p->targets = targets;
        p->target_cap = 2 * need;
    }
    p->target_count = need;
    return 0;
}

/* Branches one after the other, each closed by a jump. Until the end is known, the jumps form a chain. */
static int compile_branches(struct compiler *c, const struct ebb__avro_node *node, struct goal goal, struct fact *fact,
                            size_t first, struct ebb_err *err)
{
    uint32_t chain = UINT32_MAX;
    size_t i = first;

    for (const struct ebb__avro_child *branch = node->children; branch; branch = branch->next) {
        struct fact f = {0, 0};
        int rc;

        c->program->targets[i++] = here(c);
        rc = compile(c, branch->type, goal, &f, err);
        if (!rc)
            rc = emit(c, EBB__OP_JUMP, chain, err);
        if (rc)
            return rc;
        chain = here(c) - 1;
        fact->set = branch == node->children ? f.set : fact->set & f.set;
        if (branch == node->children || f.min_bytes < fact->min_bytes)
            fact->min_bytes = f.min_bytes;
    }
    while (chain != UINT32_MAX) {
        struct ebb__avro_op *op = &c->program->ops[chain];

        chain = op->n;
        op->n = here(c);
    }
    return 0;
}

static int compile_union(struct compiler *c, const struct ebb__avro_node *node, struct goal goal, struct fact *fact,
                         struct ebb_err *err)
{
    size_t first = c->program->target_count;
    int rc;

    if (node->child_count == 0)
        return fail(c, err, "a union has no branches");
    if (node->child_count == 2 && is_null(node->children) != is_null(node->children->next)) {
        rc = compile_nullable(c, node, goal, err);
    } else {
        rc = emit(c, EBB__OP_UNION, (uint32_t)first, err);
        if (!rc) {
            last_op(c)->arg32 = (uint32_t)node->child_count;
            rc = reserve_targets(c, node->child_count, err);
        }
        if (!rc)
            rc = compile_branches(c, node, goal, fact, first, err);
    }
    fact->min_bytes++;
    return rc;
}

static bool is_varint(const struct ebb__avro_op *op)
{
    return op->code == EBB__OP_INT || op->code == EBB__OP_LONG;
}

/* A loop op for a body of one or two plain ops, or 0. */
static enum ebb__avro_code short_loop(const struct ebb__avro_op *body, size_t count, uint8_t *int_mask)
{
    *int_mask = 0;
    if (count < 1 || count > 2 || !is_varint(&body[0]))
        return 0;
    if (body[0].code == EBB__OP_INT)
        *int_mask |= EBB__AVRO_FIRST_IS_INT;
    if (count == 1) {
        if (*int_mask)
            *int_mask |= EBB__AVRO_SECOND_IS_INT;
        return EBB__OP_LOOP_VARINT;
    }
    if (body[1].code == EBB__OP_BYTES)
        return EBB__OP_LOOP_BYTES;
    if (!is_varint(&body[1]))
        return 0;
    if (body[1].code == EBB__OP_INT)
        *int_mask |= EBB__AVRO_SECOND_IS_INT;
    return EBB__OP_LOOP_PAIR;
}

/* The body was emitted after the op at `at`: make it a loop, in its short form when there is one. */
static int close_loop(struct compiler *c, uint32_t at, size_t body_min_bytes, struct ebb_err *err)
{
    struct ebb__avro_program *p = c->program;
    uint8_t int_mask = 0;
    enum ebb__avro_code code = EBB__OP_LOOP_EMPTY;
    int rc;

    if (body_min_bytes > 0)
        code = short_loop(&p->ops[at + 1], p->op_count - at - 1, &int_mask);
    if (code != 0) {
        p->op_count = at + 1;
        p->ops[at].code = (uint8_t)code;
        p->ops[at].arg = int_mask;
        return 0;
    }
    rc = emit(c, EBB__OP_NEXT, at + 1, err);
    if (rc)
        return rc;
    last_op(c)->arg = p->ops[at].arg;
    p->ops[at].n = here(c);
    return 0;
}

static int compile_loop(struct compiler *c, const struct ebb__avro_node *node, struct fact *fact, struct ebb_err *err)
{
    struct fact body = {0, 0};
    uint32_t at = here(c);
    int rc;

    if (c->loops == EBB__AVRO_LOOPS)
        return too_large(c, err);
    rc = emit(c, EBB__OP_LOOP, 0, err);
    if (rc)
        return rc;
    last_op(c)->arg = (uint8_t)c->loops++;
    if (node->kind == EBB__AVRO_MAP) {
        body.min_bytes = 1;
        rc = emit(c, EBB__OP_BYTES, 0, err);
    }
    if (!rc) {
        struct fact item = {0, 0};

        rc = compile(c, node->children->type, NOTHING, &item, err);
        body.min_bytes += item.min_bytes;
    }
    c->loops--;
    fact->min_bytes = 1;
    return rc ? rc : close_loop(c, at, body.min_bytes, err);
}

/* The value itself is looked at for presence only; a null or a branch of a union decides when it is reached. */
static int note_present(struct compiler *c, const struct ebb__avro_node *node, struct goal goal, struct ebb_err *err)
{
    if (goal.slot < 0 || node->kind == EBB__AVRO_UNION || node->kind == EBB__AVRO_NULL)
        return 0;
    if (c->program->wants[goal.slot].type != EBB_AVRO_PRESENT)
        return 0;
    return emit_read(c, EBB__OP_PRESENT, 0, goal.slot, err);
}

static int check_fit(const struct compiler *c, const struct ebb__avro_node *node, struct goal goal, struct ebb_err *err)
{
    bool is_container = node->kind == EBB__AVRO_RECORD || node->kind == EBB__AVRO_ARRAY || node->kind == EBB__AVRO_MAP;

    if (node->kind == EBB__AVRO_NULL || node->kind == EBB__AVRO_UNION)
        return 0;
    if (goal.deeper && node->kind != EBB__AVRO_RECORD)
        return fail(c, err, "a field that must be a record is none");
    if (is_container && goal.slot >= 0 && c->program->wants[goal.slot].type != EBB_AVRO_PRESENT)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: schema: field %s has a type that does not fit", c->file,
                           ebb__avro_want_name(&c->program->wants[goal.slot]));
    return 0;
}

static int compile_kind(struct compiler *c, const struct ebb__avro_node *node, struct goal goal, struct fact *fact,
                        struct ebb_err *err)
{
    switch (node->kind) {
    case EBB__AVRO_NULL:
        return 0;
    case EBB__AVRO_RECORD:
        fact->set = bit_of(goal.slot);
        return compile_record(c, node, goal, fact, err);
    case EBB__AVRO_UNION:
        return compile_union(c, node, goal, fact, err);
    case EBB__AVRO_ARRAY:
    case EBB__AVRO_MAP:
        fact->set = bit_of(goal.slot);
        return compile_loop(c, node, fact, err);
    default:
        fact->set = bit_of(goal.slot);
        return compile_scalar(c, node, goal.slot, fact, err);
    }
}

static int compile(struct compiler *c, const struct ebb__avro_node *node, struct goal goal, struct fact *fact,
                   struct ebb_err *err)
{
    int rc;

    node = ebb__avro_schema_target(node);
    if (c->depth == EBB__AVRO_DEPTH || c->steps++ == STEPS)
        return too_large(c, err);
    c->depth++;
    c->found |= bit_of(goal.slot);
    rc = check_fit(c, node, goal, err);
    if (!rc)
        rc = note_present(c, node, goal, err);
    if (!rc)
        rc = compile_kind(c, node, goal, fact, err);
    c->depth--;
    return rc;
}

static int check_required(const struct compiler *c, uint64_t set, struct ebb_err *err)
{
    struct ebb__avro_program *p = c->program;

    for (size_t i = 0; i < p->want_count; i++) {
        if (!p->wants[i].required)
            continue;
        if (!(c->found >> i & 1))
            return ebb_err_set(err, EBB_ECORRUPT, "%s: schema: no field %s", c->file,
                               ebb__avro_want_name(&p->wants[i]));
        if (!(set >> i & 1))
            p->check |= (uint64_t)1 << i;
    }
    return 0;
}

int ebb__avro_compile(struct ebb__avro_program *program, const struct ebb__avro_schema *schema, const char *name,
                      struct ebb_err *err)
{
    struct compiler c = {.program = program, .file = name, .by_name = !schema->has_ids};
    struct goal all = {-1, 0, 0};
    struct fact fact = {0, 0};
    int rc;

    if (schema->root->kind != EBB__AVRO_RECORD)
        return fail(&c, err, "its rows are no records");
    for (size_t i = 0; i < program->want_count; i++)
        all.deeper |= (uint64_t)1 << i;
    rc = compile(&c, schema->root, all, &fact, err);
    if (!rc)
        rc = emit(&c, EBB__OP_END, 0, err);
    if (!rc)
        rc = check_required(&c, fact.set, err);
    program->row_min_bytes = fact.min_bytes;
    program->optional = c.found & ~fact.set;
    return rc;
}
