/*
 * A5 vector functions: fitted curves, by operation, types and loop structure.
 *
 * A tile without gaps between its rows is one flat loop; any other one is a loop over rows around a
 * loop over the repeats of a row. Operations and types without a curve use the closed form at
 * the end of this file.
 */
#include "kernels/pto/cost/cost_data.h"

#include <math.h>
#include <stdio.h>

#include "base/formats/csv.h"
#include "base/text/num.h"

/* More than one program for the same types. */
enum variant { PLAIN, HIGH_PRECISION, EVEN, ODD };

static const struct str variant_names[] = {S_INIT(""), S_INIT("high"), S_INIT("even"),
                                           S_INIT("odd")};

struct curve_key {
    enum pto_opcode op;
    enum pto_dtype from, to;
    bool is_flat;
    enum variant variant;
};

static uint64_t a5_pack(struct curve_key k)
{
    return (uint64_t)k.op << 24 | (uint64_t)k.from << 16 | (uint64_t)k.to << 8 |
           (uint64_t)k.variant << 1 | (k.is_flat ? 1 : 0);
}

static bool read_type(struct str text, enum pto_dtype *t)
{
    char name[32];

    *t = PTO_NO_DTYPE;
    if (text.n == 0 || pto_dtype_find(text, t))
        return true;
    /* Types of the dialect are written !pto.hif8 in the text and hif8 in the table. */
    int n = snprintf(name, sizeof(name), "!pto.%.*s", STR_ARGS(text));
    return n > 0 && (size_t)n < sizeof(name) && pto_dtype_find(str_of(name), t);
}

bool pto_curves_load(struct pto_costs *c, struct str text)
{
    struct csv csv;
    struct pto_curve curve;

    csv_open(&csv, text);
    const int column[] = {csv_column(&csv, S("op")),      csv_column(&csv, S("from")),
                          csv_column(&csv, S("to")),      csv_column(&csv, S("loops")),
                          csv_column(&csv, S("variant")), csv_column(&csv, S("per_iteration")),
                          csv_column(&csv, S("per_row")), csv_column(&csv, S("fixed"))};
    while (csv_next(&csv)) {
        struct str variant = csv_cell(&csv, column[4]);
        size_t v = 0;
        while (v < ARRAY_LEN(variant_names) && !str_equal(variant, variant_names[v]))
            v++;
        struct curve_key key = {.op = pto_cost_op(csv_cell(&csv, column[0])),
                                .is_flat = str_equal(csv_cell(&csv, column[3]), S("1d")),
                                .variant = (enum variant)v};
        if (key.op == PTO_OP_NONE || v >= ARRAY_LEN(variant_names) ||
            !read_type(csv_cell(&csv, column[1]), &key.from) ||
            !read_type(csv_cell(&csv, column[2]), &key.to) ||
            !num_f64(csv_cell(&csv, column[5]), &curve.per_iteration) ||
            !num_f64(csv_cell(&csv, column[6]), &curve.per_row) ||
            !num_f64(csv_cell(&csv, column[7]), &curve.fixed))
            return false;
        hash_put(&c->curve_index, a5_pack(key), (uint32_t)c->curves.n);
        vec_push(&c->curves, curve);
    }
    return true;
}

/* A register has 256 bytes; 8-bit floats are unpacked to 32 bits, integers of 8 bits are not. */
static double elements_of(enum pto_dtype t)
{
    switch (t) {
    case PTO_F8E4M3:
    case PTO_F8E5M2:
    case PTO_HIF8:
    case PTO_F8E8M0:
        return 64;
    case PTO_F4E1M2X2:
    case PTO_F4E2M1X2:
        return 256;
    default:
        return pto_dtype_size(t) > 0 ? 256.0 / pto_dtype_size(t) : 64;
    }
}

static unsigned bits_of(enum pto_dtype t)
{
    return t == PTO_F4E1M2X2 || t == PTO_F4E2M1X2 ? 4 : 8 * pto_dtype_size(t);
}

static bool is_half(enum pto_dtype t)
{
    return t == PTO_F16 || t == PTO_BF16;
}

/* Elements of one iteration of a conversion: by the wider side, or by what one store packs. */
static double converted(enum pto_dtype from, enum pto_dtype to, bool is_flat)
{
    if (is_half(from) && to == PTO_F32)
        return 64;
    if (!is_flat && from == PTO_F32 &&
        (is_half(to) || to == PTO_F8E4M3 || to == PTO_F8E5M2 || to == PTO_HIF8))
        return 128;
    return elements_of(from);
}

struct pto_loops pto_a5_loops(const struct pto_work *w)
{
    enum pto_opcode op = w->op;
    bool is_scalar_op = op == PTO_TADDS || op == PTO_TSUBS || op == PTO_TMULS || op == PTO_TDIVS ||
                        op == PTO_TMINS || op == PTO_TMAXS || op == PTO_TNEG;
    /* Operations with a scalar are flat when rows join; the others also when there is one row. */
    bool is_flat = w->v_col == w->cols || (w->rows == 1 && !is_scalar_op);
    double e = w->op == PTO_TCVT ? converted(w->src_dtype, w->dst_dtype, is_flat)
                                 : elements_of(w->src_dtype);

    if (is_flat)
        return (struct pto_loops){true, ceil((double)w->v_row * w->v_col / e), 1};
    return (struct pto_loops){false, ceil(w->v_col / e), w->v_row};
}

static bool find_curve(const struct pto_costs *c, struct curve_key key, struct pto_curve *out)
{
    uint32_t at;

    if (!hash_get(&c->curve_index, a5_pack(key), &at)) {
        if (key.op == PTO_TCVT)
            return false;
        /* The type whose curve stands in for one without: of the same size. */
        uint32_t size = pto_dtype_size(key.from);
        key.from = size == 1 ? PTO_I8 : PTO_F32;
        if (size == 2)
            key.from = PTO_F16;
        if (!hash_get(&c->curve_index, a5_pack(key), &at))
            return false;
    }
    *out = c->curves.at[at];
    return true;
}

static enum variant variant_of(const struct pto_work *w, struct pto_loops loops)
{
    if (w->op == PTO_TRECIP && w->is_high_precision)
        return HIGH_PRECISION;
    if (w->op == PTO_TSEL && loops.is_flat && pto_dtype_size(w->src_dtype) == 4)
        return fmod(loops.inner, 2) == 0 ? EVEN : ODD;
    return PLAIN;
}

struct pto_terms pto_a5_terms(const struct pto_costs *c, const struct pto_work *w)
{
    struct pto_loops loops = pto_a5_loops(w);
    struct pto_curve curve;

    /* A conversion to a quarter of the bits or less packs across the inner loop, which is what
     * makes its nested curve steep; with one iteration a row there is no inner loop and the rows
     * run like one flat loop. */
    if (c->value[PTO_COST_A5_VF_REFINE] > 0 && w->op == PTO_TCVT && !loops.is_flat &&
        loops.inner <= 1 && bits_of(w->dst_dtype) * 4 <= bits_of(w->src_dtype))
        loops = (struct pto_loops){true, loops.outer, 1};
    struct curve_key key = {.op = w->op,
                            .from = w->src_dtype,
                            .to = w->op == PTO_TCVT ? w->dst_dtype : PTO_NO_DTYPE,
                            .is_flat = loops.is_flat,
                            .variant = variant_of(w, loops)};
    if (!find_curve(c, key, &curve))
        return pto_vf_terms(c, w);
    double iterations = loops.inner * loops.outer;
    struct pto_terms terms = {.units =
                                  curve.per_iteration * iterations + curve.per_row * loops.outer,
                              .fixed = curve.fixed};
    /* Two curves fall with the size, which holds for the few iterations they were fitted on. */
    if (curve.per_iteration < 0) {
        struct pto_terms closed = pto_vf_terms(c, w);
        if (closed.units + closed.fixed > terms.units + terms.fixed)
            return closed;
    }
    return terms;
}

/*
 * ---- the closed form: nested hardware loops over registers ----
 *
 * A function of N iterations takes 44 + P + what the later iterations add: P is the way of one
 * element from load to store, and an iteration follows the one before when a load port, the store
 * port and one of the two execution units are free. A row of a nested loop starts at least 7 cycles
 * after the row before.
 */

/* Least distance of two iterations because of the memory ports: two for loads, one for stores. */
static double ports(const struct pto_vf_program *p)
{
    return fmax(p->stores, ceil(p->loads / 2));
}

/* When iteration `n` starts, counted from the first. The two units take turns. */
static double start_of(const struct pto_vf_program *p, double unit, double n)
{
    double before = n - 1;

    if (before <= 0)
        return 0;
    return fmax(floor(before / 2) * unit + fmod(before, 2), before * ports(p));
}

static double nested(const struct pto_costs *c, const struct pto_vf_program *p, double unit,
                     struct pto_loops loops)
{
    if (loops.outer <= 1)
        return start_of(p, unit, loops.inner);
    if (loops.inner <= 1)
        return start_of(p, unit, loops.outer);
    double enter = c->value[PTO_COST_A5_VF_ENTER];
    double row = fmax(c->value[PTO_COST_A5_VF_ROW], loops.inner * fmax(unit / 2, ports(p)) + enter);
    return start_of(p, unit, loops.inner) + (loops.outer - 1) * row + enter;
}

struct pto_terms pto_vf_terms(const struct pto_costs *c, const struct pto_work *w)
{
    const struct pto_vf_program *p = &c->program[w->op];
    enum pto_shape shape = c->law[PTO_A5][w->op].shape;
    size_t size = pto_dtype_size(w->src_dtype) >= 4 ? 0 : 1;
    struct pto_loops loops = pto_a5_loops(w);
    double repeats = ceil(w->v_col / pto_repeat_elements(w->src_dtype));

    if (shape == PTO_SHAPE_AS_A2A3) {
        struct pto_terms terms = pto_vector_terms(c, w);
        terms.fixed += c->law[PTO_A2A3][w->op].bias;
        return terms;
    }
    if (shape == PTO_SHAPE_ROWS)
        loops = (struct pto_loops){false, repeats, w->v_row};
    else if (shape == PTO_SHAPE_COLUMNS)
        loops = (struct pto_loops){false, w->v_row, repeats};
    return (struct pto_terms){.units = nested(c, p, p->unit[size], loops),
                              .fixed = c->value[PTO_COST_A5_VF_FIXED] + p->chain[size]};
}
