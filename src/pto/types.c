/*
 * The words of PTO text as tables.
 */
#include "pto/types.h"

enum { NO = -1 };

const struct pto_op_facts pto_op_facts[PTO_OP_COUNT] = {
    [PTO_OP_NONE] = {.name = S_INIT("?")},
#define PTO_OP(code, name, pipe, class, ins, scratch, form)                                        \
    [PTO_##code] = {S_INIT(name), PTO_CLASS_##class, ins, scratch},
#include "pto/ops.def"
#undef PTO_OP
};

static const struct dtype {
    const char *name;
    uint32_t size;
    bool is_float;
} dtypes[PTO_DTYPE_COUNT] = {
    [PTO_NO_DTYPE] = {"?", 0, false},
    [PTO_I1] = {"i1", 1, false},
    [PTO_I8] = {"i8", 1, false},
    [PTO_I16] = {"i16", 2, false},
    [PTO_I32] = {"i32", 4, false},
    [PTO_I64] = {"i64", 8, false},
    [PTO_U8] = {"ui8", 1, false},
    [PTO_U16] = {"ui16", 2, false},
    [PTO_U32] = {"ui32", 4, false},
    [PTO_U64] = {"ui64", 8, false},
    [PTO_INDEX] = {"index", 8, false},
    [PTO_F16] = {"f16", 2, true},
    [PTO_BF16] = {"bf16", 2, true},
    [PTO_F32] = {"f32", 4, true},
    [PTO_F8E4M3] = {"f8E4M3FN", 1, true},
    [PTO_F8E5M2] = {"f8E5M2", 1, true},
    [PTO_HIF8] = {"!pto.hif8", 1, true},
    [PTO_F8E8M0] = {"!pto.f8E8M0", 1, true},
    [PTO_F4E1M2X2] = {"!pto.f4E1M2x2", 1, true},
    [PTO_F4E2M1X2] = {"!pto.f4E2M1x2", 1, true},
    [PTO_HIF8X2] = {"!pto.hif8x2", 2, true},
    [PTO_BF16X2] = {"!pto.bf16x2", 4, true},
};

static const char *const space_names[PTO_SPACE_COUNT] = {
    [PTO_ZERO] = "zero", [PTO_GM] = "gm",       [PTO_MAT] = "mat",
    [PTO_LEFT] = "left", [PTO_RIGHT] = "right", [PTO_ACC] = "acc",
    [PTO_VEC] = "vec",   [PTO_BIAS] = "bias",   [PTO_SCALING] = "scaling",
};

static const char *const pipe_names[PTO_PIPE_COUNT] = {
    [PTO_PIPE_S] = "PIPE_S",       [PTO_PIPE_V] = "PIPE_V",       [PTO_PIPE_M] = "PIPE_M",
    [PTO_PIPE_MTE1] = "PIPE_MTE1", [PTO_PIPE_MTE2] = "PIPE_MTE2", [PTO_PIPE_MTE3] = "PIPE_MTE3",
    [PTO_PIPE_ALL] = "PIPE_ALL",   [PTO_PIPE_MTE4] = "PIPE_MTE4", [PTO_PIPE_MTE5] = "PIPE_MTE5",
    [PTO_PIPE_V2] = "PIPE_V2",     [PTO_PIPE_FIX] = "PIPE_FIX",
};

const char *pto_arch_name(enum pto_arch arch)
{
    return arch == PTO_A5 ? "a5" : "a2a3";
}

const char *pto_op_name(enum pto_opcode op)
{
    return op < PTO_OP_COUNT ? pto_op_facts[op].name.at : "?";
}

enum pto_opcode pto_op_find(struct str name)
{
    for (unsigned i = PTO_OP_NONE + 1; i < PTO_OP_COUNT; i++)
        if (str_equal(name, pto_op_facts[i].name))
            return (enum pto_opcode)i;
    return PTO_OP_NONE;
}

uint32_t pto_dtype_size(enum pto_dtype t)
{
    return (size_t)t < ARRAY_LEN(dtypes) ? dtypes[t].size : 0;
}

bool pto_dtype_is_float(enum pto_dtype t)
{
    return (size_t)t < ARRAY_LEN(dtypes) && dtypes[t].is_float;
}

const char *pto_dtype_name(enum pto_dtype t)
{
    return (size_t)t < ARRAY_LEN(dtypes) ? dtypes[t].name : "?";
}

bool pto_dtype_find(struct str name, enum pto_dtype *t)
{
    for (unsigned i = PTO_I1; i < PTO_DTYPE_COUNT; i++) {
        if (!str_equal(name, str_of(dtypes[i].name)))
            continue;
        *t = (enum pto_dtype)i;
        return true;
    }
    return false;
}

const char *pto_space_name(enum pto_space s)
{
    return (size_t)s < ARRAY_LEN(space_names) ? space_names[s] : "?";
}

bool pto_space_find(struct str name, enum pto_space *s)
{
    if (str_equal(name, S("ub"))) { /* the spelling before 2026-03 */
        *s = PTO_VEC;
        return true;
    }
    for (unsigned i = 0; i < ARRAY_LEN(space_names); i++) {
        if (!str_equal(name, str_of(space_names[i])))
            continue;
        *s = (enum pto_space)i;
        return true;
    }
    return false;
}

const char *pto_pipe_name(enum pto_pipe p)
{
    return (size_t)p < ARRAY_LEN(pipe_names) ? pipe_names[p] : "?";
}

uint32_t pto_space_size(enum pto_arch arch, enum pto_space s)
{
    bool is_a5 = arch == PTO_A5;

    switch (s) {
    case PTO_VEC:
    case PTO_SCALING: /* planned in a region as large as vec */
        return is_a5 ? 253952 : 196608;
    case PTO_MAT:
        return 524288;
    case PTO_LEFT:
    case PTO_RIGHT:
    case PTO_BIAS:
        return 65536;
    case PTO_ACC:
        return is_a5 ? 262144 : 131072;
    case PTO_ZERO:
    case PTO_GM:
        break;
    }
    return 0;
}
