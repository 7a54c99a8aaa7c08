/*
 * The words of PTO text as tables.
 */
#include "kernels/pto/text/types.h"

enum { NO = -1 };

const struct pto_op_facts pto_op_facts[PTO_OP_COUNT] = {
    [PTO_OP_NONE] = {.name = S_INIT("?")},
#define PTO_OP(code, name, pipe, class, ins, scratch, form)                                        \
    [PTO_##code] = {S_INIT(name), PTO_CLASS_##class, ins, scratch},
#include "kernels/pto/text/ops.def"
#undef PTO_OP
};

/* As numbers, so that the table below is constant. */
enum {
#define DTYPE(code, bits, kind, ...)                                                               \
    BITS_OF_##code = bits, IS_FLOAT_##code = DTYPE_KIND_##kind == DTYPE_KIND_FLOAT,
#include "ops/dtypes.def"
#undef DTYPE
};

static const struct type_entry {
    const char *name;
    enum dtype values; /* of which an element holds one, or two */
    uint8_t size;
    bool is_float;
} dtypes[PTO_DTYPE_COUNT] = {
    {"?", DTYPE_NONE, 0, false},
#define PTO_DTYPE(code, name, values, lanes)                                                       \
    {name, DTYPE_##values, lanes * BITS_OF_##values / 8, IS_FLOAT_##values},
#include "kernels/pto/text/words.def"
#undef PTO_DTYPE
};

static const struct space {
    const char *name;
    uint32_t size[2]; /* by architecture */
} spaces[PTO_SPACE_COUNT] = {
#define PTO_SPACE(code, name, a2a3, a5) {name, {a2a3, a5}},
#include "kernels/pto/text/words.def"
#undef PTO_SPACE
};

static const char *const pipe_names[PTO_PIPE_COUNT] = {
#define PTO_PIPE(code, name, ...) name,
#include "kernels/pto/text/words.def"
#undef PTO_PIPE
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

enum pto_dtype pto_dtype_of(enum dtype type)
{
    for (unsigned i = PTO_I1; i < PTO_DTYPE_COUNT && type != DTYPE_NONE; i++)
        if (dtypes[i].values == type)
            return (enum pto_dtype)i;
    return PTO_NO_DTYPE;
}

const char *pto_space_name(enum pto_space s)
{
    return (size_t)s < ARRAY_LEN(spaces) ? spaces[s].name : "?";
}

bool pto_space_find(struct str name, enum pto_space *s)
{
    if (str_equal(name, S("ub"))) { /* the spelling before 2026-03 */
        *s = PTO_VEC;
        return true;
    }
    for (unsigned i = 0; i < ARRAY_LEN(spaces); i++) {
        if (!str_equal(name, str_of(spaces[i].name)))
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
    return spaces[s].size[arch];
}
