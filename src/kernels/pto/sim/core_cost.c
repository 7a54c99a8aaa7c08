/* What a site costs for the shapes of its operands. */
#include <math.h>
#include <string.h>

#include "base/text/num.h"
#include "kernels/pto/sim/core.h"
#include "kernels/pto/values/elem.h"

/* The operands that decide the cost. */
struct parts {
    const struct pto_tile *in, *in2, *out;
    const struct pto_view *view;
    const struct pto_tile *left, *right;
};

static struct parts parts_of(const struct pto_core *c, const struct pto_site *s)
{
    struct parts x = {0};
    uint32_t outs = 0;

    for (uint32_t i = 0; i < s->use_count; i++) {
        const struct pto_use *u = &c->program->uses.at[s->use_first + i];
        if (u->kind == PTO_SLOT_GM && !x.view)
            x.view = &c->slots.gms[u->slot].view;
        if (u->kind != PTO_SLOT_TILE)
            continue;
        const struct pto_tile *t = &c->slots.tiles[u->slot];
        if (u->role == PTO_ROLE_OUT) {
            if (outs++ == 0)
                x.out = t;
            continue;
        }
        if (t->type.space == PTO_LEFT && !x.left)
            x.left = t;
        else if (t->type.space == PTO_RIGHT && !x.right)
            x.right = t;
        if (!x.in)
            x.in = t;
        else if (!x.in2)
            x.in2 = t;
    }
    if (outs == 0 && s->result != PTO_NONE && !s->is_view &&
        (s->code == PTO_TPOP_FROM_AIC || s->code == PTO_TPOP_FROM_AIV))
        x.out = &c->slots.tiles[s->result];
    return x;
}

static int64_t valid_bytes(const struct pto_tile *t)
{
    return t ? (int64_t)t->v_row * t->v_col * pto_dtype_size(t->type.dtype) : 0;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product = 0;

    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t view_elements(const struct pto_view *v)
{
    int64_t n = v->ndim > 0 ? 1 : 0;

    for (int32_t i = 0; i < v->ndim; i++)
        n = times(n, v->shape[i]);
    return n;
}

/* Contiguous bytes of a GM window, and how many such rows there are. */
static void window_rows(const struct pto_view *v, struct pto_work *w)
{
    int32_t inner = v->layout == PTO_LAYOUT_DN && v->ndim > 1 ? v->ndim - 2 : v->ndim - 1;
    int64_t elements = view_elements(v), run = v->ndim > 0 ? v->shape[inner] : 0;
    bool is_whole = true;

    for (int32_t i = 0; i < v->ndim && is_whole; i++) {
        int64_t expected = run;
        if (i == inner || v->shape[i] <= 1)
            continue;
        for (int32_t k = i + 1; k < v->ndim; k++) {
            if (k != inner && v->shape[k] > 0 &&
                __builtin_mul_overflow(expected, v->shape[k], &expected))
                expected = -1; /* no stride is that */
        }
        is_whole = v->stride[i] == expected;
    }
    if (is_whole || run <= 0)
        return;
    w->row_bytes = times(run, pto_dtype_size(v->dtype));
    w->n_rows = elements / run;
}

/* UB has 16 groups of banks, each 32 bytes wide; a repeat reads 8 of them for each source. Two
 * sources do not get into each other's way when one starts half the groups after the other. */
static bool lie_apart(const struct parts *x)
{
    return x->in && x->in2 && x->in->type.space == PTO_VEC && x->in2->type.space == PTO_VEC &&
           ((uint64_t)x->in->addr - (uint64_t)x->in2->addr) % 512 == 256;
}

static void vector_work(const struct pto_site *s, const struct parts *x, struct pto_work *w)
{
    enum pto_opcode op = s->code;
    bool is_joined = op == PTO_TMRGSORT && x->in2; /* lists of several tiles: all come out */
    /* Whether the shape of the source counts, not that of the destination. */
    bool counts_source = (op >= PTO_TROWSUM && op <= PTO_TCOLARGMIN) || op == PTO_TTRANS ||
                         op == PTO_TSORT32 || op == PTO_TMRGSORT ||
                         (op == PTO_TGATHER && s->form == PTO_FORM_MASK);
    const struct pto_tile *shape = counts_source && x->in && !is_joined ? x->in : x->out;

    if (!shape)
        shape = x->in;
    if (!shape)
        return;
    w->is_apart = lie_apart(x);
    w->rows = shape->type.rows;
    w->cols = shape->type.cols;
    w->v_row = shape->v_row;
    w->v_col = shape->v_col;
    w->src_dtype = x->in ? x->in->type.dtype : shape->type.dtype;
    w->dst_dtype = x->out ? x->out->type.dtype : shape->type.dtype;
    if (x->in)
        w->src_space = x->in->type.space;
    if (x->out)
        w->dst_space = x->out->type.space;
}

static void matrix_work(const struct parts *x, struct pto_work *w)
{
    if (!x->left || !x->right)
        return;
    w->m = x->left->v_row;
    w->k = x->left->v_col;
    w->n = x->right->v_col;
    /* Of pairs along N there are half as many columns; else K is in pairs on both sides. */
    if (pto_elem_lanes(x->right->type.dtype) == 2 && x->right->v_row != x->left->v_col)
        w->n *= 2;
    w->src_dtype = x->left->type.dtype;
}

/* A load into mat whose tile runs the other way than the view. */
static bool turns(const struct parts *x)
{
    bool is_dn = x->view->layout == PTO_LAYOUT_DN;

    return x->out && x->out->type.space == PTO_MAT &&
           is_dn != (x->out->type.slayout == PTO_BOX_COL);
}

/* From where to where, and how much. */
static void transfer_work(const struct pto_core *c, const struct pto_site *s, const struct parts *x,
                          enum pto_pipe pipe, struct pto_work *w)
{
    bool is_a5 = c->program->arch == PTO_A5;

    w->src_space = x->in ? x->in->type.space : PTO_GM;
    w->dst_space = x->out ? x->out->type.space : PTO_GM;
    w->bytes = valid_bytes(s->code == PTO_TINSERT || !x->out ? x->in : x->out);
    switch (s->code) {
    case PTO_TPUSH_TO_AIV:
        w->dst_space = is_a5 ? PTO_VEC : PTO_GM;
        break;
    case PTO_TPUSH_TO_AIC:
        w->dst_space = is_a5 ? PTO_MAT : PTO_GM;
        break;
    case PTO_TPOP_FROM_AIC:
    case PTO_TPOP_FROM_AIV:
        w->src_space = PTO_GM;
        break;
    default:
        break;
    }
    if (x->in && !x->out && x->view && x->in->type.space == PTO_ACC) /* converted on the way */
        w->bytes = w->bytes / pto_dtype_size(x->in->type.dtype) * pto_dtype_size(x->view->dtype);
    if (x->in && x->out && x->in->type.space == PTO_ACC) /* counted where it is read */
        w->bytes =
            w->bytes / pto_dtype_size(x->out->type.dtype) * pto_dtype_size(x->in->type.dtype);
    if (s->n_phases > 1 && x->view) { /* through a staging tile: GM to GM */
        w->bytes = times(view_elements(x->view), pto_dtype_size(x->view->dtype));
        w->src_space = pipe == PTO_PIPE_MTE2 ? PTO_GM : PTO_VEC;
        w->dst_space = pipe == PTO_PIPE_MTE2 ? PTO_VEC : PTO_GM;
    }
    if (x->view) {
        w->is_transposed = turns(x);
        w->is_panel = c->program->has_products && w->src_space == PTO_GM && w->dst_space == PTO_MAT;
        w->src_dtype = x->view->dtype;
        window_rows(x->view, w);
    }
}

static bool is_transfer(enum pto_pipe pipe)
{
    return pipe == PTO_PIPE_MTE1 || pipe == PTO_PIPE_MTE2 || pipe == PTO_PIPE_MTE3 ||
           pipe == PTO_PIPE_FIX;
}

static struct pto_work work_of(const struct pto_core *c, const struct pto_site *s,
                               const struct parts *x, enum pto_pipe pipe)
{
    struct pto_work w = {.op = s->code,
                         .arch = c->program->arch,
                         .pipe = pipe,
                         .form = s->form,
                         .cores = c->machine->options->cores};

    if (pipe == PTO_PIPE_M)
        matrix_work(x, &w);
    else if (is_transfer(pipe))
        transfer_work(c, s, x, pipe, &w);
    else
        vector_work(s, x, &w);
    if (pipe == PTO_PIPE_V && (s->code == PTO_TMOV || s->code == PTO_TEXTRACT))
        w.bytes = valid_bytes(x->out);
    return w;
}

/* A repeat is 256 bytes. Rows that fill their tile are packed into whole repeats, others end
 * with a partial one each. `conflict`: cost as placed, less cost with
 * the second source in other banks. */
struct pto_vector_use pto_core_vector_use(const struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct parts x = parts_of(c, s);
    struct pto_work w = work_of(c, s, &x, PTO_PIPE_V);
    int64_t size = pto_dtype_size(x.in && !x.out ? w.src_dtype : w.dst_dtype);
    int64_t lanes = size > 0 ? 256 / size : 1, used = (int64_t)w.v_row * w.v_col;
    int64_t repeats =
        w.v_col == w.cols ? (used + lanes - 1) / lanes : (w.v_col + lanes - 1) / lanes * w.v_row;
    struct pto_vector_use use = {.lanes = 1};

    if (repeats > 0 && used < repeats * lanes)
        use.lanes = (double)used / (double)(repeats * lanes);
    struct pto_cost as_is = pto_cost_of(c->machine->costs, &w);
    w.is_apart = true;
    struct pto_cost apart = pto_cost_of(c->machine->costs, &w);
    if (as_is.occupied > apart.occupied)
        use.conflict = pto_whole_cycles(as_is.occupied - apart.occupied);
    return use;
}

static uint64_t literal_shapes(const struct pto_tile *t)
{
    return t ? (uint64_t)(uint32_t)t->v_row << 32 | (uint32_t)t->v_col : 0;
}

int64_t pto_whole_cycles(double exact)
{
    return exact > 0 ? llround(fmin(exact, 1e9)) : 0;
}

static void fill_miss(const struct pto_core *c, const struct pto_work *w, double speed_up,
                      uint8_t phase, struct pto_site_cache *cache)
{
    struct pto_miss miss = pto_miss_of(c->machine->costs, w);

    if (speed_up > 0) {
        miss.occupied /= speed_up;
        miss.covered /= speed_up;
        miss.service /= speed_up;
        miss.written /= speed_up;
    }
    cache->miss[phase] = miss;
    cache->gm[phase] = w->src_space == PTO_GM ? PTO_GM_READ : PTO_GM_WRITTEN;
}

static void fill_cache(struct pto_core *c, const struct pto_site *s, const struct parts *x,
                       struct pto_site_cache *cache)
{
    for (uint8_t i = 0; i < s->n_phases; i++) {
        enum pto_pipe pipe = (enum pto_pipe)s->phases[i];
        struct pto_work w = work_of(c, s, x, pipe);
        struct pto_cost cost = pto_cost_of(c->machine->costs, &w);
        double speed_up = c->machine->options->speed_up[pipe];
        if (pipe == PTO_PIPE_M)
            cost.occupied += pto_costs_get(c->machine->costs, PTO_COST_CUBE_GAP);
        cache->occupied[i] =
            pto_whole_cycles(speed_up > 0 ? cost.occupied / speed_up : cost.occupied);
        cache->latency[i] = pto_whole_cycles(
            pipe == PTO_PIPE_S && speed_up > 0 ? cost.latency / speed_up : cost.latency);
        cache->gm[i] = PTO_GM_NONE;
        if (is_transfer(pipe)) {
            if (x->view && (w.src_space == PTO_GM || w.dst_space == PTO_GM))
                fill_miss(c, &w, speed_up, i, cache);
            cache->bytes = w.bytes;
            cache->path = (uint32_t)(w.src_space * PTO_SPACE_COUNT + w.dst_space);
        }
        cache->macs = (int64_t)w.m * w.k * w.n * pto_elem_lanes(w.src_dtype);
    }
    cache->is_filled = true;
}

const struct pto_site_cache *pto_core_cost(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct pto_site_cache *cache = &c->caches[site];

    if (s->is_fixed && cache->is_filled)
        return cache;
    struct parts x = parts_of(c, s);
    uint64_t key[5] = {literal_shapes(x.in), literal_shapes(x.in2), literal_shapes(x.out),
                       literal_shapes(x.left), literal_shapes(x.right)};

    key[4] |= lie_apart(&x);
    if (x.view) {
        key[3] = (uint64_t)x.view->ndim;
        key[4] = 0;
        for (int32_t i = 0; i < x.view->ndim; i++) {
            key[3] = key[3] * 0x9E3779B97F4A7C15u + (uint64_t)x.view->shape[i];
            key[4] = key[4] * 0x9E3779B97F4A7C15u + (uint64_t)x.view->stride[i];
        }
    }
    if (!cache->is_filled || memcmp(cache->key, key, sizeof(key)) != 0) {
        memcpy(cache->key, key, sizeof(key));
        fill_cache(c, s, &x, cache);
    }
    return cache;
}

/* The bytes of a transfer that the L2 does not hold. */
static int64_t missing_bytes(struct pto_core *c, const struct pto_site *s,
                             const struct pto_site_cache *cost, uint8_t phase)
{
    struct pto_l2 *l2 = &c->machine->l2;
    bool is_read = cost->gm[phase] == PTO_GM_READ;
    double hit = c->machine->options->l2_hit;
    int64_t missing = 0;

    for (uint32_t i = 0; hit < 0 && i < s->use_count; i++) {
        const struct pto_use *u = &pto_core_uses(c, s)[i];
        if (u->kind != PTO_SLOT_GM || (is_read ? !u->is_read : !u->is_written))
            continue;
        struct pto_gm_window w = pto_core_window(&c->slots.gms[u->slot]);
        missing = pto_l2_touch(l2, &w, cost->bytes, cost->miss[phase].part, !is_read);
        break;
    }
    if (hit >= 0)
        missing = hit > 0 ? num_i64_of((double)cost->bytes * fmax(1 - hit, 0)) : cost->bytes;
    if (is_read) {
        l2->asked += (double)cost->bytes;
        l2->missed += (double)missing;
    }
    return missing;
}

void pto_core_memory(struct pto_core *c, const struct pto_site *s, uint8_t phase,
                     const struct pto_site_cache *cost, struct pto_issue *issue)
{
    const struct pto_miss *miss = &cost->miss[phase];
    double missing = (double)missing_bytes(c, s, cost, phase);

    if (missing <= 0)
        return;
    issue->occupied += pto_whole_cycles(missing * miss->occupied - miss->covered);
    issue->latency += pto_whole_cycles(miss->latency);
    issue->is_write = cost->gm[phase] == PTO_GM_WRITTEN;
    /* Bytes that go back to memory meanwhile; all that miss, when the share of hits is given. */
    double written = issue->is_write ? missing : 0;
    if (c->machine->options->l2_hit < 0)
        written = pto_l2_written_back(&c->machine->l2);
    issue->service =
        pto_whole_cycles((issue->is_write ? 0 : missing * miss->service) + written * miss->written);
}
