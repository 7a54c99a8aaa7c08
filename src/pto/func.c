/*
 * Which handler executes which operation.
 */
#include "pto/func.h"

#include "pto/func_call.h"

const struct pto_attrs PTO_ATTRS = {
    .saturation = PTO_SATURATION_AUTO,
    .coalesce = PTO_COALESCE_AUTO,
};

static const struct func_row {
    func_fn *run;
    int how;
    bool is_open;
} rows[PTO_OP_COUNT] = {
#define EXACT                                 false
#define OPEN                                  true
#define PTO_FUNC(code, handler, how, results) [PTO_##code] = {func_##handler, how, results},
#include "pto/funcs.def"
#undef PTO_FUNC
};

bool pto_func_knows(enum pto_opcode op)
{
    return rows[op].run != NULL;
}

bool pto_func_is_exact(enum pto_opcode op)
{
    return rows[op].run != NULL && !rows[op].is_open;
}

enum status pto_func(enum pto_opcode op, const struct pto_args *args, struct diag *d)
{
    if (rows[op].run == NULL)
        return diag_fail(d, ST_UNSUPPORTED, "pto-run.func-unknown", args->where,
                         "%s cannot be executed on data", pto_op_name(op));
    struct func_call c = {
        .op = op,
        .how = rows[op].how,
        .args = args,
        .attrs = args->attrs != NULL ? args->attrs : &PTO_ATTRS,
        .diag = d,
    };
    arena_init(&c.scratch);
    enum status st = rows[op].run(&c);
    arena_free(&c.scratch);
    return st;
}

enum status pto_func_copy(const struct pto_tile *src, const struct pto_tile *dst,
                          struct where where, struct diag *d)
{
    struct pto_tile from = *src, to = *dst;
    const struct pto_arg in = {PTO_OPERAND_TILE, {.tile = &from}};
    const struct pto_arg out = {PTO_OPERAND_TILE, {.tile = &to}};
    const struct pto_args args = {
        .ins = &in, .outs = &out, .n_ins = 1, .n_outs = 1, .where = where};
    return pto_func(PTO_TMOV, &args, d);
}
