/*
 * The A2/A3 law of vector operations: repeats of 256 bytes, masks and count mode.
 *
 * A tile of R valid rows and C valid columns is worked on in repeats of e elements. Whole tiles
 * stream; tiles narrower than their storage take one masked repeat (or more) for each row. Row and
 * column reductions pay for each row. docs/cost-model.md has the formulas and their errors.
 */
#include "kernels/pto/cost/cost_data.h"

#include <math.h>

/* The tile in the words of the law. */
struct tile {
    double rows, cols;
    double e;         /* elements of a repeat */
    double k;         /* repeats of one row, the last one perhaps broken */
    bool is_whole;    /* rows end with a repeat */
    bool is_narrowed; /* fewer valid columns than stored ones: rows do not join */
};

double pto_repeat_elements(enum pto_dtype t)
{
    uint32_t size = pto_dtype_size(t);

    return size > 0 ? 256.0 / size : 64;
}

static struct pto_terms terms(double units, double fixed)
{
    return (struct pto_terms){.units = units, .fixed = fixed};
}

static struct tile tile_of(const struct pto_work *w, enum pto_dtype t)
{
    double e = pto_repeat_elements(t);

    return (struct tile){
        .rows = w->v_row,
        .cols = w->v_col,
        .e = e,
        .k = ceil(w->v_col / e),
        .is_whole = fmod(w->v_col, e) == 0,
        .is_narrowed = w->v_col < w->cols && w->v_row > 1,
    };
}

/* One masked repeat, or a few, for each row. */
static struct pto_terms by_rows(const struct pto_costs *c, struct tile t)
{
    return terms(t.rows * t.k, t.is_whole ? 0 : c->value[PTO_COST_A2A3_COUNT]);
}

/* All elements in a row. A tile that is wider than a repeat and does not fill its last one, or that
 * needs too many repeats, runs in count mode. */
static struct pto_terms streamed(const struct pto_costs *c, struct tile t)
{
    if (t.is_narrowed)
        return by_rows(c, t);
    double n = t.rows * t.cols / t.e;
    bool is_broken = t.cols > t.e && !t.is_whole;
    if (!is_broken)
        n = ceil(n);
    bool is_counted = is_broken || n > c->value[PTO_COST_A2A3_REPEATS];
    return terms(n, is_counted ? c->value[PTO_COST_A2A3_COUNT] : 0);
}

/* Keys that stand in a row: one repeat whole and broken, two whole and broken, three to six, then a
 * step for each further one. */
enum { BROKEN_1 = 1, WHOLE_2, BROKEN_2, STEP = 8 };

_Static_assert(PTO_COST_A2A3_ROW_PMORE == PTO_COST_A2A3_ROW_P1A + STEP, "p of rows");
_Static_assert(PTO_COST_A2A3_ROWMAX_QMORE == PTO_COST_A2A3_ROWMAX_Q1A + STEP, "q of maxima");
_Static_assert(PTO_COST_A2A3_ROWSUM_QMORE == PTO_COST_A2A3_ROWSUM_Q1A + STEP, "q of sums");

static double by_repeats(const struct pto_costs *c, struct tile t, enum pto_cost_key whole1)
{
    if (t.k <= 1)
        return c->value[whole1 + (t.is_whole ? 0 : BROKEN_1)];
    if (t.k <= 2)
        return c->value[whole1 + (t.is_whole ? WHOLE_2 : BROKEN_2)];
    int column = t.k < 6 ? (int)t.k : 6;
    return c->value[whole1 + BROKEN_2 + (enum pto_cost_key)(column - 2)] +
           (t.k - column) * c->value[whole1 + STEP];
}

static struct pto_terms row_reduced(const struct pto_costs *c, struct tile t,
                                    enum pto_cost_key fixed)
{
    double rest = fmod(t.cols, t.e);
    bool has_rest = t.e >= 128 && t.k >= 3 && rest > t.e / 2;

    return terms(by_repeats(c, t, PTO_COST_A2A3_ROW_P1A) * t.rows,
                 by_repeats(c, t, fixed) + (has_rest ? c->value[PTO_COST_A2A3_ROW_REST] : 0));
}

static struct pto_terms column_summed(const struct pto_costs *c, struct tile t)
{
    double part = t.cols < t.e ? t.cols / t.e : 1;
    double row = c->value[PTO_COST_A2A3_COLSUM_P] + part * c->value[PTO_COST_A2A3_COLSUM_PART] +
                 (t.k - 1) * c->value[PTO_COST_A2A3_COLSUM_MORE];
    double fixed =
        c->value[PTO_COST_A2A3_COLSUM_Q] + (t.k - 1) * c->value[PTO_COST_A2A3_COLSUM_STEP];

    return terms(row * t.rows, fmin(fixed, c->value[PTO_COST_A2A3_COLSUM_MOST]));
}

static struct pto_terms column_extreme(const struct pto_costs *c, struct tile t)
{
    if (t.cols <= t.e)
        return terms((c->value[PTO_COST_A2A3_COLMAX_P] +
                      c->value[PTO_COST_A2A3_COLMAX_PART] * t.cols / t.e) *
                         t.rows,
                     c->value[PTO_COST_A2A3_COLMAX_Q]);
    if (t.is_whole)
        return terms(c->value[PTO_COST_A2A3_COLMAX_WIDE_P] * t.rows,
                     c->value[PTO_COST_A2A3_COLMAX_WIDE_Q]);
    return terms(c->value[PTO_COST_A2A3_COLMAX_ODD_P] * t.rows,
                 c->value[PTO_COST_A2A3_COLMAX_ODD_Q]);
}

/* The row operand is first spread over blocks of 32 bytes; then the operation, row by row. */
static struct pto_terms row_binary(const struct pto_costs *c, struct tile t)
{
    struct pto_terms result = by_rows(c, t);

    result.busy = t.rows / c->value[PTO_COST_A2A3_BRCB_ROWS];
    result.fixed += c->value[PTO_COST_A2A3_BRCB_FIXED];
    return result;
}

static struct pto_terms gathered(const struct pto_costs *c, const struct pto_work *w, struct tile t)
{
    if (w->form == PTO_FORM_MASK || w->form == PTO_FORM_COMPARE)
        return terms(c->value[PTO_COST_A2A3_GATHER_MASK] * ceil(t.rows * t.cols / t.e), 0);
    double repeat = c->value[t.e > 64 ? PTO_COST_A2A3_GATHER_B16 : PTO_COST_A2A3_GATHER_B32];
    return terms(t.rows * (c->value[PTO_COST_A2A3_GATHER_ROW] + repeat * t.k), 0);
}

struct pto_terms pto_vector_terms(const struct pto_costs *c, const struct pto_work *w)
{
    const struct pto_law *law = &c->law[PTO_A2A3][w->op];
    struct tile t = tile_of(w, w->src_dtype);

    switch (law->shape) {
    case PTO_SHAPE_BINARY:
        return t.cols < t.e ? by_rows(c, t) : streamed(c, t);
    case PTO_SHAPE_CONVERT:
        return streamed(c, tile_of(w, pto_dtype_size(w->dst_dtype) > pto_dtype_size(w->src_dtype)
                                          ? w->dst_dtype
                                          : w->src_dtype));
    case PTO_SHAPE_SELECT:
        return terms(t.rows * (t.k + c->value[PTO_COST_A2A3_SELECT_ROW]), 0);
    case PTO_SHAPE_COPY:
        return terms(t.is_narrowed ? t.rows * t.k : t.rows * t.cols / t.e, 0);
    case PTO_SHAPE_ROW_EXTREME:
        return row_reduced(c, t, PTO_COST_A2A3_ROWMAX_Q1A);
    case PTO_SHAPE_ROW_SUM:
        return row_reduced(c, t, PTO_COST_A2A3_ROWSUM_Q1A);
    case PTO_SHAPE_COL_SUM:
        return column_summed(c, t);
    case PTO_SHAPE_COL_EXTREME:
        return column_extreme(c, t);
    case PTO_SHAPE_ROW_EXPAND:
        return terms((c->value[PTO_COST_A2A3_ROWEXPAND_P] + t.k) * t.rows, 0);
    case PTO_SHAPE_ROW_BINARY:
        return row_binary(c, t);
    case PTO_SHAPE_COL_BINARY:
        return by_rows(c, t);
    case PTO_SHAPE_TRANSPOSE: /* blocks of 16 rows and 32 bytes; each column of them sets registers
                               */
        return terms((2 * ceil(t.rows / 16) + 4) * ceil(t.cols * 8 / t.e), 0);
    case PTO_SHAPE_GATHER:
        return gathered(c, w, t);
    case PTO_SHAPE_SORT:
        return terms(c->value[PTO_COST_A2A3_SORT_BLOCK] * t.rows * ceil(t.cols / 32), 0);
    case PTO_SHAPE_MERGE: /* four runs of any length; the rate is that of 128 records of 8 bytes */
        return terms(c->value[PTO_COST_A2A3_MERGE_GROUP] * (t.rows * t.cols * 256 / t.e) / 1024, 0);
    default:
        return streamed(c, t);
    }
}
