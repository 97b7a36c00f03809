/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the Avro reader share: avro_schema.c reads the writer's schema into a graph of nodes with its names
 * resolved, avro_compile.c turns the graph into a flat program for one set of wants, avro_program.c owns that,
 * avro_run.c executes that on the rows of a block, avro_block.c undoes the codecs, avro.c walks the container and keeps
 * programs and buffers from file to file.
 */
#ifndef EBB_FORMAT_AVRO_PRIV_H
#define EBB_FORMAT_AVRO_PRIV_H

#include "format/avro.h"

#define EBB__AVRO_WANTS 64                         /* wants of one read; they are kept as bits */
#define EBB__AVRO_LOOPS 32                         /* arrays and maps inside each other */
#define EBB__AVRO_DEPTH 128                        /* types inside each other, named types included */
#define EBB__AVRO_OPS 65536                        /* length of a program */
#define EBB__AVRO_NODES 65536                      /* types and fields written in a schema */
#define EBB__AVRO_NAMES 4096                       /* named types in a schema */
#define EBB__AVRO_SCHEMA_BYTES ((size_t)4 << 20)   /* longest schema text */
#define EBB__AVRO_SCHEMA_MEMORY ((size_t)64 << 20) /* its nodes */

enum ebb__avro_kind {
    EBB__AVRO_NULL,
    EBB__AVRO_BOOLEAN,
    EBB__AVRO_KIND_INT,
    EBB__AVRO_KIND_LONG,
    EBB__AVRO_FLOAT,
    EBB__AVRO_DOUBLE,
    EBB__AVRO_KIND_BYTES,
    EBB__AVRO_STRING,
    EBB__AVRO_FIXED,
    EBB__AVRO_ENUM,
    EBB__AVRO_ARRAY,
    EBB__AVRO_MAP,
    EBB__AVRO_UNION,
    EBB__AVRO_RECORD,
    EBB__AVRO_NAME /* a named type used again; target is its definition */
};

struct ebb__avro_node;

/* A field of a record, a branch of a union, or the one item of an array or map. */
struct ebb__avro_child {
    struct ebb__avro_child *next;
    struct ebb__avro_node *type;
    struct ebb_str name; /* of a field */
    int64_t id;          /* Iceberg's field-id, or -1 */
};

struct ebb__avro_node {
    enum ebb__avro_kind kind;
    struct ebb_str name; /* full name of a record, enum or fixed; name as written of a reference */
    struct ebb_str space;
    bool has_space;
    bool is_open; /* a record whose fields are being resolved */
    struct ebb__avro_child *children;
    size_t child_count;
    int64_t size;                  /* bytes of a fixed, symbols of an enum; -1 when not given */
    struct ebb__avro_node *target; /* of a reference; not NULL once the schema is read */
};

struct ebb__avro_schema {
    struct ebb__avro_node *root;
    bool has_ids; /* any record field carries a field-id */
};

/* avro_schema.c: read the schema text into nodes of the arena. name is for messages. EBB_ECORRUPT: not a schema,
 * unknown or ambiguous name, recursive type (by name); EBB_ELIMIT, EBB_ENOMEM. */
int ebb__avro_schema_read(struct ebb__avro_schema *schema, struct ebb_arena *arena, const char *name,
                          struct ebb_str text, struct ebb_err *err);
/* avro_names.c: give each named type its full name and each reference its target (Avro 1.11, "Names"). EBB_ECORRUPT as
 * above. */
int ebb__avro_names_resolve(struct ebb__avro_node *root, struct ebb_arena *arena, const char *name,
                            struct ebb_err *err);
/* The node itself, or what a reference stands for. */
static inline const struct ebb__avro_node *ebb__avro_schema_target(const struct ebb__avro_node *node)
{
    return node->kind == EBB__AVRO_NAME ? node->target : node;
}

enum ebb__avro_code {
    EBB__OP_END,
    EBB__OP_JUMP,          /* n: where to */
    EBB__OP_NULLABLE,      /* a branch index 0 or 1; arg: which is null; n: where to go then */
    EBB__OP_NULLABLE_STEP, /* the same where the other branch is just the next op, which is none of the control ops */
    EBB__OP_UNION,         /* a branch index below arg32; n: first of its entries in targets */
    EBB__OP_LOOP,          /* array or map; arg: loop depth; n: where to go when it is empty or done */
    EBB__OP_NEXT,          /* end of the body; arg: loop depth; n: first op of the body */
    EBB__OP_LOOP_EMPTY,    /* array of items without bytes */
    EBB__OP_LOOP_VARINT,   /* array of int or long; arg: see ebb__avro_int_mask */
    EBB__OP_LOOP_PAIR,     /* array of (int or long, int or long) */
    EBB__OP_LOOP_BYTES,    /* array of (int or long, bytes); arg: as above, for the key */
    EBB__OP_INT,
    EBB__OP_LONG,
    EBB__OP_BOOLEAN,
    EBB__OP_FIXED, /* n: bytes */
    EBB__OP_BYTES,
    EBB__OP_ENUM, /* n: symbols */
    EBB__OP_READ_INT,
    EBB__OP_READ_LONG,
    EBB__OP_READ_BYTES,
    EBB__OP_READ_FIXED, /* n: bytes */
    EBB__OP_PRESENT
};

/* In the arg of the LOOP_ ops, which of the two alternating varints are int (at most five bytes). */
enum ebb__avro_int_mask { EBB__AVRO_FIRST_IS_INT = 1, EBB__AVRO_SECOND_IS_INT = 2 };

struct ebb__avro_op {
    uint8_t code;
    uint8_t arg;
    uint16_t slot;  /* of READ_ and PRESENT */
    uint32_t n;     /* see the codes */
    uint32_t arg32; /* branches of a union */
};

/* Owns all its parts, a copy of schema text and wants included (they are its key in the cache). */
struct ebb__avro_program {
    struct ebb_arena arena; /* of text and wants */
    struct ebb__avro_op *ops;
    size_t op_count, op_cap;
    uint32_t *targets; /* of all unions */
    size_t target_count, target_cap;
    size_t row_min_bytes; /* no row is shorter */
    uint64_t optional;    /* wants that a row may leave unset though the schema has them */
    uint64_t check;       /* required wants whose value may be null: look at each row */
    struct ebb_str text;
    struct ebb_avro_want *wants;
    size_t want_count;
};

/* avro_compile.c: fill ops, targets, row_min_bytes and check of a program that has its wants. Errors as below. */
int ebb__avro_compile(struct ebb__avro_program *program, const struct ebb__avro_schema *schema, const char *name,
                      struct ebb_err *err);
/* avro_program.c. EBB_ECORRUPT: bad schema, a required field missing, a field twice or of a type that does not fit;
 * EBB_ELIMIT, EBB_ENOMEM. */
int ebb__avro_program_new(struct ebb__avro_program **out, const char *name, struct ebb_str text,
                          const struct ebb_avro_want *wants, size_t want_count, struct ebb_err *err);
void ebb__avro_program_free(struct ebb__avro_program *program);
/* Whether it was made from this text for these wants. */
bool ebb__avro_program_is_for(const struct ebb__avro_program *program, struct ebb_str text,
                              const struct ebb_avro_want *wants, size_t want_count);

/* The last name of its path, for messages. */
const char *ebb__avro_want_name(const struct ebb_avro_want *want);

/* avro_block.c */

struct ebb__avro_codecs; /* decompressors and one output buffer, reused */

enum ebb__avro_codec { EBB__AVRO_PLAIN, EBB__AVRO_DEFLATE, EBB__AVRO_SNAPPY, EBB__AVRO_ZSTD };

/* The codec of a header; an empty name is "null". EBB_ECORRUPT for one that cannot be read, naming it. */
int ebb__avro_codec_find(struct ebb_str codec_name, const char *name, enum ebb__avro_codec *out, struct ebb_err *err);
int ebb__avro_codecs_new(struct ebb__avro_codecs **out, struct ebb_err *err);
void ebb__avro_codecs_free(struct ebb__avro_codecs *codecs);
/* Undo the codec; *out borrows the input (null) or the buffer, until the next call. EBB_ECORRUPT, also when input is
 * left over; EBB_ELIMIT past EBB_AVRO_MAX_BLOCK_BYTES; EBB_ENOMEM. what is for messages. */
int ebb__avro_codecs_decode(struct ebb__avro_codecs *codecs, enum ebb__avro_codec codec, const char *what,
                            struct ebb_str in, struct ebb_str *out, struct ebb_err *err);
/* Give back a buffer that grew large, at the end of a file. */
void ebb__avro_codecs_trim(struct ebb__avro_codecs *codecs);

/* avro_run.c */

/* Decode exactly row_count rows that fill the block exactly. row: room for all wants. EBB_ECORRUPT, or what the
 * callback returned. what is for messages. */
int ebb__avro_run(const struct ebb__avro_program *program, const char *what, struct ebb_str block, int64_t row_count,
                  struct ebb_avro_value *row, ebb_avro_row_cb *cb, void *data, struct ebb_err *err);
/* Read one long (zigzag varint); NULL when it is cut short or longer than ten bytes. */
const unsigned char *ebb__avro_long_read(const unsigned char *p, const unsigned char *end, int64_t *out);

#endif
