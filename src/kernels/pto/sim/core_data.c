/* What instructions do to data: operands handed to kernels/pto/values/func.h. */
#include <string.h>

#include "kernels/pto/sim/core.h"

enum { MAX_OPERANDS = 16 };

struct gathered {
    struct pto_arg ins[MAX_OPERANDS], outs[MAX_OPERANDS];
    struct pto_scalar scalars[MAX_OPERANDS];
    size_t n_ins, n_outs, n_scalars;
};

static void data_gather(struct pto_core *c, const struct pto_site *s, struct gathered *g)
{
    for (uint32_t i = 0; i < s->use_count; i++) {
        const struct pto_use *u = &c->program->uses.at[s->use_first + i];
        bool is_out = u->role == PTO_ROLE_OUT; /* communication takes all in text order */
        struct pto_arg *a = is_out ? &g->outs[g->n_outs] : &g->ins[g->n_ins];
        if ((is_out ? g->n_outs : g->n_ins) == MAX_OPERANDS)
            break;
        if (u->kind == PTO_SLOT_TILE) {
            a->kind = PTO_OPERAND_TILE;
            a->u.tile = &c->slots.tiles[u->slot];
        } else if (u->kind == PTO_SLOT_GM) {
            a->kind = PTO_OPERAND_VIEW;
            a->u.view = &c->slots.gms[u->slot].view;
        } else if (u->kind == PTO_SLOT_NUMBER && g->n_scalars < MAX_OPERANDS) {
            const struct pto_number *n = &c->slots.numbers[u->slot];
            enum pto_dtype t = (enum pto_dtype)u->dtype;
            g->scalars[g->n_scalars] = (struct pto_scalar){
                t, pto_dtype_is_float(t) ? pto_elem_from_f64(n->v.f, t) : (uint64_t)n->v.i};
            a->kind = PTO_OPERAND_VALUE;
            a->u.value = &g->scalars[g->n_scalars++];
        } else {
            continue;
        }
        *(is_out ? &g->n_outs : &g->n_ins) += 1;
    }
}

bool pto_core_compute(struct pto_core *c, const struct pto_site *s)
{
    struct gathered g = {0};
    struct pto_scalar result = {(enum pto_dtype)s->result_dtype, 0};
    struct pto_args args = {.attrs = &s->attrs, .where = {c->machine->path, s->line, 0}};

    if (!pto_func_knows(s->code))
        return true; /* moves no data: prefetches, cache hints */
    data_gather(c, s, &g);
    if (s->code == PTO_TGETVAL) {
        g.outs[0] = (struct pto_arg){.kind = PTO_OPERAND_VALUE, .u.value = &result};
        g.n_outs = 1;
    }
    args.ins = g.ins;
    args.n_ins = g.n_ins;
    args.outs = g.outs;
    args.n_outs = g.n_outs;
    if (pto_func(s->code, &args, c->machine->diag) != ST_OK) {
        c->state = PTO_FAILED;
        return false;
    }
    if (s->code == PTO_TGETVAL) /* a result, not an operand of outs(..) */
        pto_number_set(&c->slots.numbers[s->result], result.bits, result.dtype);
    return true;
}
