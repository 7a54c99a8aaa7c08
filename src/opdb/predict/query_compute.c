/*
 * Values between rows of compute kernels. Rows of one regime (dtypes, formats, number of inputs,
 * and whatever must not vary) are the points; see docs/perfdb.md for the axes.
 */
#include "base/text/num.h"
#include "opdb/predict/query.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

enum kind {
    KIND_MATMUL,      /* M, K, N */
    KIND_FIRST,       /* the first dimension of input 0 */
    KIND_ELEMENTWISE, /* elements read and written */
    KIND_OUTPUT,      /* elements written */
};

/* What may vary, and a text of all that may not. */
struct place {
    double at[POINT_AXES];
    struct str regime;
};

static enum kind compute_kind_of(const struct query_db *db, struct str kernel,
                                 bool is_mapped_elementwise)
{
    static const struct str elementwise[] = {
        S_INIT("Add"),        S_INIT("Sub"),    S_INIT("Mul"),        S_INIT("Div"),
        S_INIT("RealDiv"),    S_INIT("Muls"),   S_INIT("Adds"),       S_INIT("Maximum"),
        S_INIT("Minimum"),    S_INIT("Cast"),   S_INIT("Neg"),        S_INIT("Abs"),
        S_INIT("Exp"),        S_INIT("Log"),    S_INIT("Sqrt"),       S_INIT("Rsqrt"),
        S_INIT("Pow"),        S_INIT("Pows"),   S_INIT("Sigmoid"),    S_INIT("Tanh"),
        S_INIT("Relu"),       S_INIT("Gelu"),   S_INIT("Swish"),      S_INIT("Sin"),
        S_INIT("Cos"),        S_INIT("Equal"),  S_INIT("NotEqual"),   S_INIT("Greater"),
        S_INIT("Less"),       S_INIT("Select"), S_INIT("LogicalAnd"), S_INIT("LogicalOr"),
        S_INIT("LogicalNot"),
    };

    if (query_is_matmul(kernel))
        return KIND_MATMUL;
    if (str_equal(query_policy(db, kernel, "interpolation_policy.generic_compute.axis"),
                  S("output_numel")) ||
        str_equal(kernel, S("GatherV2")) || str_equal(kernel, S("Index")) ||
        str_equal(kernel, S("ConcatD")))
        return KIND_OUTPUT;
    return is_mapped_elementwise || str_is_one_of(kernel, elementwise, ARRAY_LEN(elementwise))
               ? KIND_ELEMENTWISE
               : KIND_FIRST;
}

static bool count_elements(struct cell_dims d, double *out)
{
    double n = 1;

    for (size_t i = 0; i < d.n; i++) {
        if (d.at[i] < 0)
            return false;
        n *= (double)d.at[i];
    }
    *out = n;
    return true;
}

static struct str dims_text(struct arena *arena, struct cell_dims d)
{
    struct str text = S("");

    for (size_t i = 0; i < d.n; i++)
        text =
            arena_format(arena, "%.*s%s%lld", STR_ARGS(text), i > 0 ? "," : "", (long long)d.at[i]);
    return text;
}

static struct cell_dims behind_first(struct cell_dims d)
{
    return d.n > 0 ? (struct cell_dims){d.at + 1, d.n - 1} : d;
}

/* An explicit batch of 1 in front of a matrix. */
static struct cell_dims without_batch(struct cell_dims d, bool is_batched)
{
    return !is_batched && d.n >= 3 && d.at[0] == 1 ? behind_first(d) : d;
}

static bool is_batched(struct str kernel)
{
    return str_equal(kernel, S("BatchMatMulV2")) || str_equal(kernel, S("TransposeBatchMatMul")) ||
           str_equal(kernel, S("QuantBatchMatmulV3"));
}

/* Axes M, K, N. Weights are stored either way, so K may be each of the last two dimensions of b. */
static bool place_matmul(struct arena *arena, struct str kernel, struct query_inputs in,
                         struct place *out)
{
    if (in.n < 2)
        return false;
    struct cell_dims a = without_batch(in.at[0].dims, is_batched(kernel));
    struct cell_dims b = without_batch(in.at[1].dims, is_batched(kernel));
    if (a.n < 2 || b.n < 2)
        return false;
    int64_t k = a.at[a.n - 1];
    if (b.at[b.n - 2] != k && b.at[b.n - 1] != k)
        return false;
    out->at[0] = (double)a.at[a.n - 2];
    out->at[1] = (double)k;
    out->at[2] = (double)(b.at[b.n - 2] == k ? b.at[b.n - 1] : b.at[b.n - 2]);
    a.n -= 2;
    b.n -= 2;
    out->regime = arena_format(arena, "%.*s|%.*s", STR_ARGS(dims_text(arena, a)),
                               STR_ARGS(dims_text(arena, b)));
    return true;
}

static bool place_first(struct arena *arena, struct query_inputs in, struct place *out)
{
    if (in.n == 0 || in.at[0].dims.n == 0)
        return false;
    out->at[0] = (double)in.at[0].dims.at[0];
    out->regime = dims_text(arena, behind_first(in.at[0].dims));
    for (size_t i = 1; i < in.n; i++)
        out->regime = arena_format(arena, "%.*s|%.*s", STR_ARGS(out->regime),
                                   STR_ARGS(dims_text(arena, in.at[i].dims)));
    return true;
}

/* How each input relates to the output, dimension by dimension from the last. */
static struct str broadcast_pattern(struct arena *arena, struct query_inputs in,
                                    struct cell_dims output)
{
    struct str text = S("");

    for (size_t i = 0; i < in.n; i++) {
        struct cell_dims d = in.at[i].dims;
        text = arena_format(arena, "%.*s|%zu", STR_ARGS(text), d.n);
        for (size_t k = 0; k < output.n; k++) {
            int64_t out = output.at[output.n - 1 - k];
            bool is_there = k < d.n;
            int64_t dim = is_there ? d.at[d.n - 1 - k] : 0;
            char relation = !is_there ? 'm' : dim == out ? 's' : dim == 1 ? 'b' : 'o';
            text = arena_format(arena, "%.*s%c", STR_ARGS(text), relation);
        }
    }
    return text;
}

static bool place_elementwise(struct arena *arena, struct query_inputs in, struct cell_dims output,
                              struct place *out)
{
    double sum, n;

    if (in.n == 0 || !count_elements(output, &sum))
        return false;
    for (size_t i = 0; i < in.n; i++) {
        if (!count_elements(in.at[i].dims, &n))
            return false;
        sum += n;
    }
    out->at[0] = sum;
    out->regime = broadcast_pattern(arena, in, output);
    return true;
}

static bool find_place(struct arena *arena, enum kind kind, struct str kernel,
                       struct query_inputs in, struct cell_dims output, struct place *out)
{
    *out = (struct place){.regime = S("")};
    switch (kind) {
    case KIND_MATMUL:
        return place_matmul(arena, kernel, in, out);
    case KIND_FIRST:
        return place_first(arena, in, out);
    case KIND_ELEMENTWISE:
        return place_elementwise(arena, in, output, out);
    case KIND_OUTPUT:
        break;
    }
    output = without_batch(output, false);
    if (output.n == 0 || !count_elements(output, &out->at[0]))
        return false;
    out->regime = dims_text(arena, behind_first(output));
    return true;
}

/* The output that inputs broadcast to; n = 0 when they do not. */
static struct cell_dims broadcast(struct arena *arena, struct query_inputs in)
{
    struct cell_dims out = {0};

    for (size_t i = 0; i < in.n; i++)
        out.n = in.at[i].dims.n > out.n ? in.at[i].dims.n : out.n;
    out.at = ARENA_ARRAY(arena, int64_t, out.n + 1);
    for (size_t k = 0; k < out.n; k++) {
        int64_t *dim = &out.at[out.n - 1 - k];
        *dim = 1;
        for (size_t i = 0; i < in.n; i++) {
            struct cell_dims d = in.at[i].dims;
            int64_t here = k < d.n ? d.at[d.n - 1 - k] : 1;
            if (here != 1 && *dim != 1 && here != *dim)
                return (struct cell_dims){0};
            *dim = here != 1 ? here : *dim;
        }
    }
    return out;
}

/* Rows picked from a source: as many as there are indices, each like a row of the source. */
static struct cell_dims picked(struct arena *arena, struct query_inputs in)
{
    struct cell_dims source = in.at[0].dims, indices = in.at[in.n - 1].dims, out = {0};

    if (in.n < 2 || source.n == 0)
        return out;
    out = (struct cell_dims){ARENA_ARRAY(arena, int64_t, indices.n + source.n), 0};
    for (size_t i = 0; i < indices.n; i++)
        out.at[out.n++] = indices.at[i];
    for (size_t i = 1; i < source.n; i++)
        out.at[out.n++] = source.at[i];
    return out;
}

static struct cell_dims output_of(struct arena *arena, const struct query *q, enum kind kind,
                                  struct str kernel, struct query_inputs in)
{
    if (q->output.n > 0)
        return q->output;
    if (kind == KIND_ELEMENTWISE)
        return broadcast(arena, in);
    bool is_pick = str_equal(kernel, S("GatherV2")) || str_equal(kernel, S("Index"));
    return kind == KIND_OUTPUT && is_pick && in.n >= 2 ? picked(arena, in) : (struct cell_dims){0};
}

static bool same_types(struct str kernel, struct query_inputs a, struct query_inputs b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (!query_same_dtype(kernel, a.at[i].dtype, b.at[i].dtype))
            return false;
    return true;
}

static bool formats_wanted(const struct query *q, const struct query_row *row)
{
    for (size_t i = 0; q->formats != NULL && i < q->n_formats && i < row->inputs.n; i++)
        if (!str_equal(q->formats[i], row->formats[i]))
            return false;
    return true;
}

/* Points of one set of formats. */
struct query_group {
    struct str formats;
    struct query_points points;
};

struct query_groups {
    VEC_OF(struct query_group) at; /* in order of first appearance */
};

static void add_point(struct query_groups *g, struct str formats, struct query_point point)
{
    size_t i = 0;

    while (i < g->at.n && !str_equal(g->at.at[i].formats, formats))
        i++;
    if (i == g->at.n)
        vec_push(&g->at, ((struct query_group){.formats = formats}));
    vec_push(&g->at.at[i].points.points, point);
}

struct target {
    const struct query *q;
    struct str kernel;
    enum kind kind;
    int64_t count;
    struct query_inputs inputs;
    struct place place;
};

static void compute_gather(struct query_db *db, const struct op_table *t,
                           const struct target *target, struct query_groups *out)
{
    struct latency_columns lat = latency_columns(t);
    int shapes = table_column(t, COL_INPUT_SHAPES), dtypes = table_column(t, COL_INPUT_DTYPES);
    int formats = table_column(t, COL_INPUT_FORMATS), outputs = table_column(t, COL_OUTPUT_SHAPES);

    for (size_t row = 0; row < t->n_rows; row++) {
        struct query_row stored, produced;
        struct query_point point = {0};
        struct place place;
        int rank;
        if (!query_latency(db, target->kernel, t, row, &lat, &point.latency, &rank) ||
            !query_row_read(&db->arena, table_cell(t, row, shapes), table_cell(t, row, dtypes),
                            table_cell(t, row, formats), target->count, &stored) ||
            !query_row_read(&db->arena, table_cell(t, row, outputs), S(""), S(""), 1, &produced) ||
            !same_types(target->kernel, target->inputs, stored.inputs) ||
            !formats_wanted(target->q, &stored))
            continue;
        struct cell_dims output =
            produced.inputs.n > 0 ? produced.inputs.at[0].dims : (struct cell_dims){0};
        if (!find_place(&db->arena, target->kind, target->kernel, stored.inputs, output, &place) ||
            !str_equal(place.regime, target->place.regime))
            continue;
        memcpy(point.at, place.at, sizeof(point.at));
        add_point(out, arena_join(&db->arena, stored.formats, stored.inputs.n, S(";")), point);
    }
}

static void answer(struct query_db *db, const struct target *target,
                   const struct query_groups *groups, struct query_result *out)
{
    /* Sets of axes to try, fewest first: M K N MK MN KN MKN. */
    static const unsigned masks[] = {1, 2, 4, 3, 5, 6, 7};
    bool is_matmul = target->kind == KIND_MATMUL;
    int64_t max_dims = -1;
    double latency;

    num_i64(query_policy(db, target->kernel, "interpolation_policy.max_interpolation_dim"),
            &max_dims);
    max_dims = max_dims >= 1 && max_dims < target->q->max_dims ? max_dims : target->q->max_dims;
    size_t n = is_matmul && max_dims >= 2 ? ARRAY_LEN(masks) : 1;
    for (size_t i = 0; i < groups->at.n * n; i++) {
        struct query_axes axes = {masks[i % n], is_matmul ? 3 : 1};
        int dims = __builtin_popcount(axes.mask);
        if (dims <= max_dims &&
            query_points_value(&groups->at.at[i / n].points, axes, target->place.at, &latency)) {
            *out = query_interpolated(target->kernel, latency, dims);
            return;
        }
    }
}

enum status query_between(struct query_db *db, const struct query *q, struct str kernel,
                          bool is_mapped_elementwise, int64_t count, struct query_result *out,
                          struct diag *d)
{
    struct target target = {.q = q, .kernel = kernel, .count = count, .inputs = q->inputs};
    struct query_groups groups = {0};
    const struct op_table *t;

    TRY(query_table(db, kernel, &t, d));
    if (t == NULL)
        return ST_OK;
    if (count >= 0 && target.inputs.n > (size_t)count)
        target.inputs.n = (size_t)count;
    target.kind = compute_kind_of(db, kernel, is_mapped_elementwise);
    target.inputs = query_normal(&db->arena, kernel, target.inputs,
                                 str_equal(kernel, S("SwiGlu")) ? 1 : target.inputs.n + 1);
    struct cell_dims output = output_of(&db->arena, q, target.kind, kernel, target.inputs);
    if (!find_place(&db->arena, target.kind, kernel, target.inputs, output, &target.place))
        return ST_OK;
    compute_gather(db, t, &target, &groups);
    answer(db, &target, &groups, out);
    for (size_t i = 0; i < groups.at.n; i++)
        vec_free(&groups.at.at[i].points.points);
    vec_free(&groups.at);
    return ST_OK;
}
