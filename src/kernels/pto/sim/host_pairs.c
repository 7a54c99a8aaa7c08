/*
 * Values of four bits: in C++ shapes, strides and indices count them, in texts of the dialect pairs
 * of them, which share a byte. Pairs lie along the dimension in which values are neighbours.
 *
 * On the right of a product that depends on where the values came from: a tile loaded by rows has
 * neighbours along N, one loaded by columns along K. Each core remembers it for its memory there.
 */
#include "kernels/pto/sim/host_in.h"

bool pto_host_has_pairs(enum pto_dtype t, const char *op)
{
    /* What quantises counts the bytes that it writes. */
    return (t == PTO_F4E2M1X2 || t == PTO_F4E1M2X2) && !str_starts(str_of(op), S("pto.tquant"));
}

static bool pairs_are_down(const struct pto_host_core *c, const struct pto_tile_type *t,
                           int64_t addr)
{
    if (t->space == PTO_RIGHT) {
        size_t block = (size_t)addr / PTO_HOST_RIGHT_BLOCK;
        return block < PTO_HOST_RIGHT_BLOCKS && c->right_down[block];
    }
    return t->slayout == PTO_NONE_BOX ? t->blayout == PTO_COL_MAJOR : t->slayout == PTO_BOX_COL;
}

void pto_host_pair_tile(struct pto_host_core *c, struct pto_tile_type *t, int64_t addr,
                        struct strata_pto_place place, const char *op)
{
    bool is_down = pairs_are_down(c, t, addr);
    int32_t *all = is_down ? &t->rows : &t->cols, *valid = is_down ? &t->v_row : &t->v_col;

    if (*all % 2 != 0)
        pto_host_fail(c, "pto-cpp.operand", place,
                      "%s: two values of four bits share a byte: %d %s are an odd number", op, *all,
                      is_down ? "rows" : "columns");
    *all /= 2;
    *valid = *valid / 2 + *valid % 2;
}

void pto_host_pair_view(struct pto_host_core *c, struct pto_view *v, struct strata_pto_place place,
                        const char *op)
{
    int last = PTO_VIEW_RANK - 1;

    if (v->stride[last] != 1 && v->stride[last - 1] == 1)
        last--;
    if (v->stride[last] != 1)
        pto_host_fail(c, "pto-cpp.operand", place,
                      "%s: values of four bits share their bytes with neighbours, and the view "
                      "skips some",
                      op);
    for (int i = 0; i < PTO_VIEW_RANK; i++) {
        if (i == last)
            continue;
        if (v->shape[i] > 1 && v->stride[i] % 2 != 0)
            pto_host_fail(c, "pto-cpp.operand", place,
                          "%s: two values of four bits share a byte: a stride of %lld begins "
                          "within one",
                          op, (long long)v->stride[i]);
        v->stride[i] /= 2;
    }
    v->shape[last] = v->shape[last] / 2 + v->shape[last] % 2;
}

void pto_host_pair_index(struct pto_host_core *c, const struct pto_tile *t, bool is_row,
                         uint64_t *index, struct strata_pto_place place, const char *op)
{
    if (pairs_are_down(c, &t->type, t->addr) != is_row)
        return;
    if (*index % 2 != 0)
        pto_host_fail(c, "pto-cpp.operand", place,
                      "%s: two values of four bits share a byte: index %llu is within one", op,
                      (unsigned long long)*index);
    *index /= 2;
}

void pto_host_pair_right(struct pto_host_core *c, const struct pto_tile *from,
                         const struct strata_pto_tile *to)
{
    size_t bytes =
        (size_t)(to->rows > 0 ? to->rows : 0) * (size_t)(to->cols > 0 ? to->cols : 0) / 2;
    size_t begin = (size_t)to->addr / PTO_HOST_RIGHT_BLOCK;

    for (size_t i = begin;
         i < PTO_HOST_RIGHT_BLOCKS && i * PTO_HOST_RIGHT_BLOCK < (size_t)to->addr + bytes; i++)
        c->right_down[i] = pairs_are_down(c, &from->type, from->addr);
}
