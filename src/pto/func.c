#include "pto/func.h"

#include "pto/func_call.h"

const struct pto_attrs PTO_ATTRS = {
    .saturation = PTO_SATURATION_AUTO,
    .coalesce = PTO_COALESCE_AUTO,
};

static const struct call_table *const tables[] = {
    &func_elem_table,  &func_move_table, &func_matmul_table, &func_reduce_table, &func_fill_table,
    &func_quant_table, &func_mask_table, &func_index_table,  &func_sort_table,   &func_comm_table,
};

static const struct call_entry *find(enum pto_opcode op)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (size_t k = 0; k < tables[i]->n; k++)
            if (tables[i]->at[k].op == op)
                return &tables[i]->at[k];
    return NULL;
}

bool pto_func_knows(enum pto_opcode op)
{
    return find(op) != NULL;
}

bool pto_func_is_exact(enum pto_opcode op)
{
    const struct call_entry *entry = find(op);
    return entry != NULL && !entry->is_open;
}

enum status pto_func(enum pto_opcode op, const struct pto_args *args, struct diag *d)
{
    const struct call_entry *entry = find(op);
    if (entry == NULL)
        return diag_fail(d, ST_UNSUPPORTED, "pto-run.func-unknown", args->where,
                         "%s cannot be executed on data", pto_op_name(op));
    struct call c = {
        .op = op,
        .args = args,
        .attrs = args->attrs != NULL ? args->attrs : &PTO_ATTRS,
        .diag = d,
    };
    arena_init(&c.scratch);
    enum status st = entry->run(&c, entry->how);
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
