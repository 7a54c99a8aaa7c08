/*
 * types - the words of PTO text: element types, memory spaces, pipes, layouts, operations.
 *
 * The numbers of spaces, pipes and layouts are those of the dialect, so that an integer attribute
 * and its name mean the same.
 */
#ifndef STRATA_KERNELS_PTO_TEXT_TYPES_H
#define STRATA_KERNELS_PTO_TEXT_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "ops/dtype.h"

enum pto_arch { PTO_A2A3, PTO_A5 };

enum pto_dtype {
    PTO_NO_DTYPE,
#define PTO_DTYPE(code, ...) PTO_##code,
#include "kernels/pto/text/words.def"
#undef PTO_DTYPE
    PTO_DTYPE_COUNT,
};

enum pto_space {
#define PTO_SPACE(code, ...) PTO_##code,
#include "kernels/pto/text/words.def"
#undef PTO_SPACE
    PTO_SPACE_COUNT,
};

enum pto_pipe {
#define PTO_PIPE(code, ...) PTO_PIPE_##code,
#include "kernels/pto/text/words.def"
#undef PTO_PIPE
    PTO_PIPE_COUNT,
    PTO_PIPE_NONE = PTO_PIPE_COUNT, /* runs on no pipe: views, allocations, scalar arithmetic */
};

enum pto_blayout { PTO_ROW_MAJOR, PTO_COL_MAJOR };
enum pto_slayout { PTO_NONE_BOX, PTO_BOX_ROW, PTO_BOX_COL };

enum { PTO_DYNAMIC = -1 }; /* a dimension written "?" */

struct pto_tile_type {
    enum pto_space space;
    enum pto_dtype dtype;
    enum pto_blayout blayout;
    enum pto_slayout slayout;
    int32_t rows, cols;
    int32_t v_row, v_col; /* PTO_DYNAMIC for "?" */
    int32_t fractal;      /* bytes of an inner box: 32, 512, 1024 */
    int32_t compact;
    int64_t pad; /* 0..3, or bit 32 and a custom value in the low word */
};

const char *pto_arch_name(enum pto_arch arch); /* "a2a3" */

/* Every operation strata knows, in the order of ops.def. */
enum pto_opcode {
    PTO_OP_NONE,
#define PTO_OP(code, ...) PTO_##code,
#include "kernels/pto/text/ops.def"
#undef PTO_OP
    PTO_OP_COUNT,
};

/* What rules an operation keeps and how it is compiled and run. */
enum pto_class {
    PTO_CLASS_NONE,
#define PTO_CLASS(name) PTO_CLASS_##name,
#include "kernels/pto/text/classes.def"
#undef PTO_CLASS
    PTO_CLASS_COUNT,
};

/* What ops.def tells of an operation besides its form and its pipe. */
struct pto_op_facts {
    struct str name;
    uint8_t class; /* enum pto_class */
    uint8_t ins;   /* least and most operands of ins(..), in two digits; 0: any number */
    int8_t scratch;
};

extern const struct pto_op_facts pto_op_facts[PTO_OP_COUNT];

static inline enum pto_class pto_class_of(enum pto_opcode op)
{
    return (enum pto_class)pto_op_facts[op].class;
}

/* "pto.tadd"; "?" for PTO_OP_NONE. */
const char *pto_op_name(enum pto_opcode op);

/* PTO_OP_NONE when the name is not one of the tile layer. */
enum pto_opcode pto_op_find(struct str name);

/* Bytes of one element (of one pair for the x2 types); 8 for index, 0 for PTO_NO_DTYPE. */
uint32_t pto_dtype_size(enum pto_dtype t);
bool pto_dtype_is_float(enum pto_dtype t);

/* "f32", "!pto.hif8": as types are written; "?" for PTO_NO_DTYPE. */
const char *pto_dtype_name(enum pto_dtype t);
bool pto_dtype_find(struct str name, enum pto_dtype *t);

/* The first one whose elements hold such values; PTO_NO_DTYPE: none. */
enum pto_dtype pto_dtype_of(enum dtype type);

const char *pto_space_name(enum pto_space s); /* "vec" */
bool pto_space_find(struct str name, enum pto_space *s);

const char *pto_pipe_name(enum pto_pipe p); /* "PIPE_V" */

/* Bytes of a space of one core; 0 for gm. */
uint32_t pto_space_size(enum pto_arch arch, enum pto_space s);

#endif
