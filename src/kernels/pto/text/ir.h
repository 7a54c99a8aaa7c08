/*
 * ir - a PTO module in memory: types, functions, operations, values, attributes.
 *
 * Everything is in dense arrays of the module and refers to other things by index; nothing points
 * into the text it was read from. A module is reused by reading the next text into it
 * (kernels/pto/text/parse.h), which keeps the memory. After reading it is const, so threads may
 * share it.
 *
 * Operations stand in text order, an operation before what is inside its regions. So a function
 * is the range [op_first, op_end) of `ops`, and
 *
 *     for (uint32_t i = block->op_first; i < block->op_end; i = m->ops.at[i].next)
 *
 * visits the operations of one block; `next` steps over the regions of an operation.
 *
 * Values are numbered per function from 0: first its arguments, then block arguments and results
 * in text order. Operands carry a role, so that optional ones (an address, a scratch tile) need no
 * counting: pto_operand(m, op, PTO_ROLE_ADDR).
 */
#ifndef STRATA_KERNELS_PTO_TEXT_IR_H
#define STRATA_KERNELS_PTO_TEXT_IR_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/tables/hash.h"
#include "base/tables/intern.h"
#include "kernels/pto/text/types.h"

enum { PTO_MAX_RANK = 8 };  /* views have at most 5 dimensions, local arrays a few */
#define PTO_NONE UINT32_MAX /* no value, operation, block, type or attribute */

/* ---- types ---- */

enum pto_type_kind {
    PTO_TYPE_SCALAR, /* dtype */
    PTO_TYPE_PTR,    /* dtype, space */
    PTO_TYPE_VIEW,   /* !pto.tensor_view: dtype, rank, dims */
    PTO_TYPE_PART,   /* !pto.partition_tensor_view: the same */
    PTO_TYPE_TILE,   /* tile */
    PTO_TYPE_MULTI,  /* !pto.multi_tile_buf: tile, count */
    PTO_TYPE_ARRAY,  /* !pto.local_array: dtype, rank, dims */
    PTO_TYPE_VECTOR, /* vector<4xi16>: dtype, rank, dims */
    PTO_TYPE_EVENTS, /* !pto.eventid_array: count */
    PTO_TYPE_STRUCT, /* members: types item_first.. of `type_items`, count */
    PTO_TYPE_PIPE,
    PTO_TYPE_SESSION,  /* !pto.async_session */
    PTO_TYPE_EVENT,    /* !pto.async_event */
    PTO_TYPE_PREFETCH, /* !pto.prefetch_async_context */
    PTO_TYPE_OPAQUE,   /* a type of another layer; `text` as written */
};

struct pto_type {
    enum pto_type_kind kind;
    enum pto_dtype dtype; /* of the elements; also set for tiles */
    enum pto_space space; /* gm for views; also set for tiles */
    uint32_t rank;
    int32_t count;              /* slots, events, members */
    uint32_t item_first;        /* of a struct: members are m->type_items[item_first + i] */
    strid text;                 /* of an opaque type */
    int64_t dims[PTO_MAX_RANK]; /* PTO_DYNAMIC for "?" */
    struct pto_tile_type tile;
};

/* ---- attributes ---- */

/* Keys the dialect knows; a key's number is its strid in every module. */
enum pto_key {
    PTO_KEY_NONE,
#define PTO_KEY(code, name, kind) PTO_KEY_##code,
#include "kernels/pto/text/keys.def"
#undef PTO_KEY
    PTO_KEY_COUNT,
};
extern const char *const pto_key_names[PTO_KEY_COUNT];

/* Enumerations of the dialect; values are its integers. */
enum pto_enum {
    PTO_ENUM_NONE,
#define PTO_ENUM(code, name, values) PTO_ENUM_##code,
#include "kernels/pto/text/enums.def"
#undef PTO_ENUM
    PTO_ENUM_COUNT,
};

enum pto_attr_kind {
    PTO_ATTR_UNIT,   /* a key alone */
    PTO_ATTR_INT,    /* i */
    PTO_ATTR_FLOAT,  /* f */
    PTO_ATTR_BOOL,   /* i */
    PTO_ATTR_STRING, /* text */
    PTO_ATTR_SYMBOL, /* text, without the @ */
    PTO_ATTR_ENUM,   /* enums, i */
    PTO_ATTR_LIST,   /* item_first, item_count: attributes in `attr_items` */
    PTO_ATTR_ARRAY,  /* array<i64: 1, 2>: the same, type is that of the elements */
    PTO_ATTR_TYPE,   /* type */
    PTO_ATTR_DICT,   /* item_first, item_count: pairs in `named` */
    PTO_ATTR_OPAQUE, /* an attribute of another layer; text as written */
};

struct pto_attr {
    enum pto_attr_kind kind;
    enum pto_enum enums;
    uint32_t type; /* of an int or a float when it was written; else PTO_NONE */
    strid text;
    int64_t i;
    double f;
    uint32_t item_first, item_count;
};

struct pto_named {
    strid key;     /* below PTO_KEY_COUNT: an enum pto_key */
    uint32_t attr; /* in `attrs` */
};

/* ---- operations ---- */

enum pto_role {
#define PTO_ROLE(code, ...) PTO_ROLE_##code,
#include "kernels/pto/text/roles.def"
#undef PTO_ROLE
    PTO_ROLE_COUNT,
};

struct pto_operand {
    uint32_t value; /* number in the function */
    enum pto_role role;
};

/* Where a branch goes: a block and the operands it hands over, counted within the operation. */
struct pto_successor {
    uint32_t block;
    uint32_t arg_first, arg_count;
};

struct pto_op {
    enum pto_opcode code;
    uint32_t line, col; /* from 1 */
    uint32_t next;      /* the operation after this one and its regions */
    uint32_t operand_first, operand_count;
    uint32_t result_first, result_count; /* consecutive values of the function */
    uint32_t named_first, named_count;   /* attributes */
    uint32_t region_first, region_count;
    uint32_t successor_first, successor_count;
    uint32_t parent; /* the operation around, or PTO_NONE in the body of the function */
};

struct pto_region {
    uint32_t block_first, block_count;
};

struct pto_block {
    uint32_t op_first, op_end;
    uint32_t arg_first, arg_count; /* consecutive values of the function */
    strid label;                   /* "bb0"; 0 when it has none */
};

struct pto_value {
    strid name; /* without % */
    uint32_t type;
    uint32_t op;     /* that defines it; for a block argument the operation around the block;
                        PTO_NONE for an argument of the function */
    uint32_t number; /* which result or argument */
};

enum pto_kind { PTO_KIND_NONE, PTO_KIND_CUBE, PTO_KIND_VECTOR };

struct pto_function {
    strid name;
    uint32_t line, col;
    bool is_private, is_entry;
    bool has_body;
    enum pto_kind kind;
    uint32_t named_first, named_count;   /* attributes */
    uint32_t arg_count;                  /* values 0 .. arg_count - 1 */
    uint32_t result_first, result_count; /* types in `type_items` */
    uint32_t value_first, value_count;   /* in `values` */
    uint32_t op_first, op_end;
    uint32_t region; /* the body, or PTO_NONE for a declaration */
};

/* Something wrong with the text. */
struct pto_problem {
    enum severity severity;
    const char *code; /* a literal, listed in docs/diagnostics.md */
    uint32_t line, col;
    const char *text;
};

enum { PTO_MAX_PROBLEMS = 64 }; /* later ones are only counted */

struct pto_module {
    struct arena arena; /* texts of problems */
    struct intern names;
    enum pto_arch arch;
    bool has_arch; /* the text says it; else A2/A3 is assumed */
    strid name;
    uint32_t named_first, named_count;
    VEC_OF(struct pto_type) types;
    VEC_OF(uint32_t) type_items;
    struct hash type_index; /* by content */
    VEC_OF(struct pto_function) functions;
    VEC_OF(struct pto_op) ops;
    VEC_OF(struct pto_operand) operands;
    VEC_OF(struct pto_region) regions;
    VEC_OF(struct pto_block) blocks;
    VEC_OF(struct pto_successor) successors;
    VEC_OF(struct pto_value) values;
    VEC_OF(struct pto_attr) attrs;
    VEC_OF(uint32_t) attr_items;
    VEC_OF(struct pto_named) named;
    VEC_OF(struct pto_problem) problems; /* in text order for each pass */
    uint64_t error_count;                /* of severity error, also those not kept */
};

void pto_module_init(struct pto_module *m);
void pto_module_fini(struct pto_module *m);

/* Empties the module and keeps its memory. */
void pto_module_reset(struct pto_module *m);

/* The number of this type, which is added when it is new. Equal types have equal numbers. Members
 * that the kind does not use must be zero. */
uint32_t pto_type_put(struct pto_module *m, const struct pto_type *type);
uint32_t pto_type_scalar(struct pto_module *m, enum pto_dtype dtype);

/* Counts a problem and keeps its text. */
void pto_problem(struct pto_module *m, enum severity severity, const char *code, uint32_t line,
                 uint32_t col, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* ---- reading a module ---- */

static inline const struct pto_value *pto_value_at(const struct pto_module *m,
                                                   const struct pto_function *f, uint32_t value)
{
    return &m->values.at[f->value_first + value];
}

static inline const struct pto_type *pto_value_type(const struct pto_module *m,
                                                    const struct pto_function *f, uint32_t value)
{
    return &m->types.at[m->values.at[f->value_first + value].type];
}

/* The operands of an operation, operand_count of them. */
static inline const struct pto_operand *pto_operands(const struct pto_module *m,
                                                     const struct pto_op *op)
{
    return m->operands.at + op->operand_first;
}

/* The `nth` operand of that role, from 0; PTO_NONE when there is none. */
uint32_t pto_operand_nth(const struct pto_module *m, const struct pto_op *op, enum pto_role role,
                         uint32_t nth);
uint32_t pto_operand_total(const struct pto_module *m, const struct pto_op *op, enum pto_role role);

static inline uint32_t pto_operand(const struct pto_module *m, const struct pto_op *op,
                                   enum pto_role role)
{
    return pto_operand_nth(m, op, role, 0);
}

/* The attribute of that key, or NULL. */
const struct pto_attr *pto_op_attr(const struct pto_module *m, const struct pto_op *op,
                                   enum pto_key key);
const struct pto_attr *pto_named_attr(const struct pto_module *m, uint32_t first, uint32_t count,
                                      enum pto_key key);

/* An int, bool or enum as its number, a unit attribute as 1; `missing` when it is not there. */
int64_t pto_op_int(const struct pto_module *m, const struct pto_op *op, enum pto_key key,
                   int64_t missing);

/* The nth of a list of ints; `missing` beyond the end. */
int64_t pto_attr_nth(const struct pto_module *m, const struct pto_attr *list, uint32_t nth,
                     int64_t missing);

/* The last operation of a block itself; NULL: it has none. */
const struct pto_op *pto_last_op(const struct pto_module *m, const struct pto_block *b);

/* The only block of region `nth`, or the first of several; NULL when there is no such region. */
const struct pto_block *pto_op_block(const struct pto_module *m, const struct pto_op *op,
                                     uint32_t nth);

/* By name; NULL when there is none. */
const struct pto_function *pto_find_function(const struct pto_module *m, struct str name);

/* The type as it is written in canonical text; lives in the arena. */
struct str pto_type_text(const struct pto_module *m, struct arena *arena, uint32_t type);

/* The function that has operation `op`; NULL: none. */
const struct pto_function *pto_function_at(const struct pto_module *m, uint32_t op);

/* The name of a value: "%x", made up for values without a name. */
struct str pto_value_text(const struct pto_module *m, const struct pto_function *f,
                          struct arena *arena, uint32_t value);

/* ---- the words of enums.def and keys.def ---- */

const char *pto_enum_name(enum pto_enum e);               /* "round_mode" */
enum pto_enum pto_enum_find(struct str name);             /* PTO_ENUM_NONE when unknown */
struct str pto_enum_word(enum pto_enum e, int64_t value); /* "ROUND"; empty when unknown */
bool pto_enum_value(enum pto_enum e, struct str word, int64_t *value);

enum pto_enum pto_key_enum(enum pto_key key); /* the enumeration its values belong to */

#endif
