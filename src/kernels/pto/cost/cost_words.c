/*
 * Cost laws in words.
 */
#include "kernels/pto/cost/cost.h"

#include <string.h>

#include "base/arena.h"
#include "base/files/embedded.h"
#include "kernels/pto/cost/cost_data.h"
#include "kernels/pto/values/arith.h"

static struct str a2a3_law(const struct pto_law *law, struct arena *arena)
{
    const double *s = law->slope;
    const char *shape = pto_shape_names[law->shape].at;
    bool is_one = true;

    for (int i = 1; i < PTO_RATE_COUNT; i++)
        is_one = is_one && !(s[i] < s[0]) && !(s[i] > s[0]);
    if (is_one)
        return arena_format(arena, "%s: %g x units + %g", shape, s[0], law->bias);
    return arena_format(arena, "%s: slope x units + %g, slope f32 %g, f16 %g, i32 %g, i16 %g",
                        shape, law->bias, s[PTO_RATE_F32], s[PTO_RATE_F16], s[PTO_RATE_I32],
                        s[PTO_RATE_I16]);
}

static struct str vector_law(const struct pto_costs *c, enum pto_arch arch, enum pto_opcode op,
                             struct arena *arena)
{
    const struct pto_law *law = &c->law[arch][op];
    const struct pto_vf_program *p = &c->program[op];

    if (arch == PTO_A2A3 || law->shape == PTO_SHAPE_AS_A2A3)
        return a2a3_law(&c->law[PTO_A2A3][op], arena);
    const char *row =
        arena_cstr(arena, arena_format(arena, "\n%s,", pto_op_name(op) + strlen("pto.")));
    if (strstr(embedded_file("pto/a5_curves.csv").at, row) != NULL)
        return S("curve of measurements by iterations and rows");
    return arena_format(arena,
                        "%s: %g + %g (2-byte types %g) + iterations at unit %g (%g), %g loads, "
                        "%g stores",
                        pto_shape_names[law->shape].at, c->value[PTO_COST_A5_VF_FIXED], p->chain[0],
                        p->chain[1], p->unit[0], p->unit[1], p->loads, p->stores);
}

struct path_ends {
    enum pto_space from, to;
};

static struct str path_words(const struct pto_costs *c, enum pto_arch arch,
                             const struct path_ends *list, size_t n, struct arena *arena)
{
    struct str out = S("");

    for (size_t i = 0; i < n; i++) {
        const struct pto_path *p = &c->path[arch][list[i].from][list[i].to];
        if (p->rate > 0)
            out = arena_format(arena, "%.*s%s%s to %s: %g + bytes / %g", STR_ARGS(out),
                               out.n > 0 ? "; " : "", pto_space_name(list[i].from),
                               pto_space_name(list[i].to), p->latency + p->issue, p->rate);
    }
    return out;
}

static struct str moved(const struct pto_costs *c, enum pto_arch arch, enum pto_opcode op,
                        struct arena *arena)
{
    static const struct path_ends in[] = {{PTO_GM, PTO_VEC}, {PTO_GM, PTO_MAT}};
    static const struct path_ends out[] = {{PTO_VEC, PTO_GM}, {PTO_ACC, PTO_GM}, {PTO_MAT, PTO_GM}};
    static const struct path_ends within[] = {
        {PTO_MAT, PTO_LEFT}, {PTO_MAT, PTO_RIGHT}, {PTO_MAT, PTO_BIAS}, {PTO_MAT, PTO_SCALING},
        {PTO_ACC, PTO_MAT},  {PTO_ACC, PTO_VEC},   {PTO_VEC, PTO_MAT}};
    static const struct path_ends across[] = {{PTO_ACC, PTO_VEC}, {PTO_VEC, PTO_MAT}};

    switch (pto_class_of(op)) {
    case PTO_CLASS_LOAD:
        return path_words(c, arch, in, ARRAY_LEN(in), arena);
    case PTO_CLASS_STORE:
        return path_words(c, arch, out, ARRAY_LEN(out), arena);
    case PTO_CLASS_MOVE:
        return arena_format(arena, "vec to vec: %.*s; %.*s",
                            STR_ARGS(vector_law(c, arch, op, arena)),
                            STR_ARGS(path_words(c, arch, within, ARRAY_LEN(within), arena)));
    default:
        break;
    }
    bool is_push = op == PTO_TPUSH_TO_AIV || op == PTO_TPUSH_TO_AIC || op == PTO_TPUSH;
    bool is_pop = op == PTO_TPOP_FROM_AIC || op == PTO_TPOP_FROM_AIV || op == PTO_TPOP;
    if (arch == PTO_A5)
        return is_push ? path_words(c, arch, across, ARRAY_LEN(across), arena) : S("");
    if (is_push)
        return path_words(c, arch, out, 2, arena);
    return is_pop ? path_words(c, arch, in, ARRAY_LEN(in), arena) : S("");
}

static struct str one_number(const struct pto_costs *c, enum pto_cost_key key, struct arena *arena)
{
    return arena_format(arena, "%g", c->value[key]);
}

static struct str scalar(const struct pto_costs *c, enum pto_opcode op, struct arena *arena)
{
    switch (pto_class_of(op)) {
    case PTO_CLASS_INT:
    case PTO_CLASS_DIVISION:
    case PTO_CLASS_EXTENDED:
    case PTO_CLASS_FLOAT:
    case PTO_CLASS_SELECT:
    case PTO_CLASS_CAST:
        return one_number(c, pto_arith_is_division(op) ? PTO_COST_SCALAR_DIV : PTO_COST_SCALAR_OP,
                          arena);
    case PTO_CLASS_LOAD_SCALAR:
        return arena_format(arena, "%g; %g when its 64-byte line was read before",
                            c->value[PTO_COST_SCALAR_LOAD], c->value[PTO_COST_SCALAR_HIT]);
    case PTO_CLASS_STORE_SCALAR:
        return one_number(c, PTO_COST_SCALAR_STORE, arena);
    case PTO_CLASS_GETVAL:
        return one_number(c, PTO_COST_SCALAR_TILE, arena);
    case PTO_CLASS_FLAG:
    case PTO_CLASS_FLAG_DYN:
    case PTO_CLASS_BARRIER:
    case PTO_CLASS_BUFFER:
        return one_number(c, PTO_COST_SYNC_ISSUE, arena);
    case PTO_CLASS_TOKEN_SET:
    case PTO_CLASS_TOKEN_WAIT:
        return arena_format(arena, "%g; another core sees it %g later",
                            c->value[PTO_COST_SYNC_ISSUE], c->value[PTO_COST_SYNC_CROSS]);
    default:
        return S("");
    }
}

struct str pto_cost_words(const struct pto_costs *c, enum pto_arch arch, enum pto_opcode op,
                          struct arena *arena)
{
    enum pto_class class = pto_class_of(op);
    struct str words = moved(c, arch, op, arena);

    if (words.n > 0)
        return words;
    if (class == PTO_CLASS_PRODUCT)
        return arena_format(
            arena,
            "%g + passes x ceil(M/16) x ceil(K/kt) x ceil(N/16), kt = 32 bytes; %g passes "
            "for f32, %g for fp4",
            c->value[PTO_COST_CUBE_FIXED], c->value[PTO_COST_CUBE_F32],
            c->value[PTO_COST_CUBE_FP4]);
    if (op == PTO_TSETVAL)
        return one_number(c, PTO_COST_SCALAR_TILE, arena);
    if (c->law[PTO_A2A3][op].shape != PTO_SHAPE_NONE)
        return vector_law(c, arch, op, arena);
    return scalar(c, op, arena);
}
