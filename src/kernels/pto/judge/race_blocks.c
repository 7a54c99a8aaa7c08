/*
 * Blocks of one launch, which run in no order: what two of them do to the same bytes of global
 * memory.
 */
#include "kernels/pto/judge/race_check.h"

#include <string.h>

/* An access of block 0, with the core and pipe it came from. */
struct past {
    struct pto_race_gm access;
    uint32_t root, lane;
};

struct pasts {
    struct past *at;
    size_t n, cap;
};

/* Numbers of the launch are what they are; of other arguments the run must know the value. */
static bool is_known(const struct pto_sim *s, const struct pto_function *f, uint32_t i,
                     bool is_given, bool *has_number)
{
    struct str name = intern_get(&s->module->names, pto_value_at(s->module, f, i)->name);
    bool is_block = str_equal(name, S("__pypto_spmd_block_idx"));

    *has_number |= is_block;
    if (is_block || str_equal(name, S("__pypto_spmd_block_num")))
        return !is_given;
    return is_given || str_starts(name, S("__pypto_spmd_")) ||
           pto_value_type(s->module, f, i)->kind == PTO_TYPE_PTR;
}

/* Whether blocks share the work by their number, which is not given, and nothing that the run does
 * not know decides where they write: no data, no order between them. */
static bool is_split(const struct pto_sim *s, const struct pto_binding *bindings, uint32_t n)
{
    bool has_number = false;

    for (size_t k = 0; k < 2; k++) {
        const struct pto_function *f = s->function[k];
        for (uint32_t i = 0; f && i < f->arg_count; i++)
            if (!is_known(s, f, i, i < n && bindings[i].is_given, &has_number))
                return false;
    }
    for (size_t i = 0; i < s->module->ops.n; i++) {
        enum pto_opcode code = s->module->ops.at[i].code;
        has_number |= code == PTO_GET_BLOCK_IDX;
        if (code == PTO_LOAD_SCALAR || code == PTO_TGETVAL || code == PTO_SYNCALL ||
            code == PTO_SET_CROSS_BLOCK || code == PTO_WAIT_CROSS_BLOCK || code >= PTO_COMM_TNOTIFY)
            return false;
    }
    return has_number;
}

static void blocks_keep(const struct pto_races *r, struct pasts *out)
{
    for (uint32_t root = 0; root < PTO_RACE_ROOTS - 1; root++)
        for (uint32_t lane = 0; r->gm[root] && lane < PTO_RACE_LANES; lane++)
            for (size_t i = 0; i < r->gm[root][lane].at.n; i++)
                if (r->gm[root][lane].at.at[i].window.is_exact)
                    vec_push(out, ((struct past){r->gm[root][lane].at.at[i], root, lane}));
}

static struct pto_race_end end_of(const struct pto_races *r, const struct past *p)
{
    uint32_t core = p->lane / PTO_PIPE_COUNT;

    return (struct pto_race_end){r->program[core], p->access.site, (uint8_t)core,
                                 (uint8_t)(p->lane % PTO_PIPE_COUNT)};
}

static void blocks_compare(struct pto_races *r, const struct past *a, const struct past *b)
{
    const struct pto_gm_window *x = &a->access.window, *y = &b->access.window;

    if (a->root != b->root || !b->access.is_write || (a->access.is_atomic && b->access.is_atomic) ||
        x->stride != y->stride || !pto_gm_windows_meet(x, y))
        return;
    int64_t lo = x->at > y->at ? x->at : y->at;
    pto_race_add(r, &(struct pto_race){.kind = PTO_RACE_BLOCKS,
                                       .first = end_of(r, a),
                                       .second = end_of(r, b),
                                       .space = PTO_GM,
                                       .root = x->root,
                                       .lo = lo,
                                       .hi = lo + 1});
}

void pto_race_blocks(struct pto_races *r, struct pto_sim *s, const struct pto_costs *costs,
                     struct pto_options options, struct pto_binding *bindings, uint32_t n,
                     const char *path)
{
    struct pasts past[2] = {{0}, {0}};
    bool is_sure = is_split(s, bindings, n);

    options.blocks = 2;
    for (int block = 0; block < 2 && is_sure; block++) {
        struct diag quiet;
        diag_init(&quiet);
        options.block = block;
        is_sure = pto_sim_run(s, costs, &options, bindings, n, path, &quiet) == ST_OK;
        diag_fini(&quiet);
        blocks_keep(r, &past[block]);
    }
    for (size_t i = 0; i < past[0].n && is_sure; i++)
        for (size_t k = 0; k < past[1].n; k++)
            blocks_compare(r, &past[0].at[i], &past[1].at[k]);
    vec_free(&past[0]);
    vec_free(&past[1]);
}
