/*
 * The table of operators, and what all of them share. See op.h.
 */
#include "opdb/measure/op.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/text/num.h"
#include "opdb/measure/op_inside.h"

#define ENTRY(name, min, max, slots, what)                                                         \
    {                                                                                              \
        name, min, max, slots, op_##what##_prepare, op_##what##_unit, NULL                         \
    }

const struct op_rule op_table[OPS] = {
    ENTRY("Add", 1, 0, false, add),
    ENTRY("AddRmsNormBias", 4, 4, true, add_rms_norm),
    {"ArgMaxV2", 1, 0, false, op_argmax_prepare, op_argmax_unit, op_sort_worth},
    ENTRY("AscendQuantV2", 2, 0, false, quant),
    {"BatchMatMulV2", 2, 2, false, op_batch_matmul_prepare, op_matmul_unit, NULL},
    ENTRY("DispatchFFNCombine", 7, 7, true, dispatch),
    ENTRY("DynamicQuant", 1, 1, false, dynamic_quant),
    {"FusedInferAttentionScore", 3, FIA_SLOTS, true, op_fia_prepare, op_attention_unit, NULL},
    ENTRY("GatherV2", 2, 0, false, gather),
    ENTRY("GroupedMatmul", 2, 0, true, grouped),
    ENTRY("GroupedMatmulSwigluQuant", 5, 5, true, grouped_swiglu),
    {"Index", 1, 4, false, op_index_prepare, op_gather_unit, NULL},
    ENTRY("InterleaveRope", 3, 3, false, rope),
    ENTRY("KvRmsNormRopeCache", 7, 12, true, kv_cache),
    {"LightningIndexer", 6, 6, false, op_indexer_prepare, op_indexer_unit, op_indexer_worth},
    ENTRY("MaskedFill", 2, 2, false, masked_fill),
    ENTRY("MatMulCommon", 2, 0, false, matmul),
    ENTRY("MatMulV2", 2, 2, false, matmul),
    ENTRY("MatMulV3", 2, 2, false, matmul),
    ENTRY("MoeTokenPermute", 2, 0, false, permute),
    ENTRY("MoeTokenUnpermute", 2, 0, false, unpermute),
    ENTRY("PadV3", 1, 0, false, pad),
    ENTRY("QuantBatchMatmulV3", 3, 4, false, quant_matmul),
    {"RINGMLAPrefillBF16Kernel", 5, 0, true, op_ring_prepare, op_attention_unit, NULL},
    ENTRY("ReshapeAndCacheNdKernel", 5, 5, false, reshape_cache),
    ENTRY("RmsNorm", 2, 2, false, rms_norm),
    ENTRY("ScatterNdUpdate", 3, 3, false, scatter),
    ENTRY("Slice", 1, 0, false, slice),
    ENTRY("SoftmaxV2", 1, 0, false, softmax),
    {"Sort", 1, 1, false, op_sort_prepare, op_sort_unit, op_sort_worth},
    {"SparseFlashAttention", 9, 9, false, op_sparse_prepare, op_attention_unit, NULL},
    ENTRY("SwiGlu", 1, 1, false, swiglu),
    ENTRY("TensorMove", 1, 1, false, tensor_move),
    ENTRY("Transpose", 1, 0, false, transpose),
    ENTRY("TransposeBatchMatMul", 2, 2, false, transpose_matmul),
    ENTRY("split_qkv_rmsnorm_rope_kernel", 2, 3, false, split_qkv),
};

const struct op_rule *op_find(struct str name)
{
    for (size_t i = 0; i < OPS; i++)
        if (str_equal(str_of(op_table[i].name), name))
            return &op_table[i];
    return NULL;
}

const char *op_refuse(struct op_call *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str text = arena_vformat(c->arena, format, args);
    va_end(args);
    return text.at;
}

const char *op_refuse_here(struct op_call *c, const char *text)
{
    c->is_not_here = true;
    return text;
}

static struct op_arg *add_arg(struct op_call *c, const struct tensor *t)
{
    struct op_arg *arg = &c->in[c->n_in++];

    *arg = (struct op_arg){.t = *t};
    arg->t.data = NULL;
    return arg;
}

struct op_arg *op_in(struct op_call *c, const struct op_slot *slot)
{
    struct op_arg *arg = add_arg(c, &slot->t);
    struct tensor *t = &arg->t;

    if (!slot->is_nz)
        return arg;
    arg->is_nz = c->is_logical = true;
    if (t->rank >= 4) { /* the matrix that the stored form is of, and what stands before it */
        size_t last = t->rank - 1;
        int64_t columns = t->dim[last - 3] * t->dim[last];
        t->rank -= 2;
        t->dim[t->rank - 2] = t->dim[last - 2] * t->dim[last - 1];
        t->dim[t->rank - 1] = columns;
    }
    return arg;
}

static struct tensor tensor_like(enum dtype type, size_t rank, const int64_t *dim)
{
    struct tensor t = {.dtype = type, .rank = rank};

    for (size_t i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    return t;
}

struct op_arg *op_made(struct op_call *c, enum dtype type, size_t rank, const int64_t *dim)
{
    struct tensor t = tensor_like(type, rank, dim);

    return add_arg(c, &t);
}

struct op_arg *op_out(struct op_call *c, const struct op_row *row, enum dtype otherwise,
                      size_t rank, const int64_t *dim)
{
    const struct op_slot *slot = &row->out[c->n_out];
    bool is_known = c->n_out < row->n_out && slot->t.dtype != DTYPE_NONE && slot->is_given;
    struct op_arg *arg = &c->out[c->n_out++];

    *arg = (struct op_arg){.t = tensor_like(is_known ? slot->t.dtype : otherwise, rank, dim),
                           .fill = FILL_ZERO};
    return arg;
}

struct op_arg *op_out_like(struct op_call *c, const struct op_row *row, const struct tensor *t)
{
    return op_out(c, row, t->dtype, t->rank, t->dim);
}

int64_t *op_split(struct arena *arena, int64_t total, int64_t parts, int64_t least)
{
    int64_t *list;

    if (parts < 0 || parts > (1 << 24) || total < parts * least)
        return NULL;
    list = ARENA_ARRAY(arena, int64_t, (size_t)parts + 1);
    for (int64_t i = 0; i < parts; i++)
        list[i] = total / parts + (i < total % parts);
    return list;
}

int64_t *op_split_sums(struct arena *arena, int64_t total, int64_t parts, int64_t least)
{
    int64_t *list = op_split(arena, total, parts, least);

    for (int64_t i = 1; list != NULL && i < parts; i++)
        list[i] += list[i - 1];
    return list;
}

size_t op_wrote(struct op_span *spans, size_t out, int64_t from, int64_t count)
{
    spans[out] = (struct op_span){out, from, count};
    return out + 1;
}

size_t op_store(const struct op_call *c, struct op_span *spans, size_t out, int64_t from,
                int64_t count, const double *x)
{
    tensor_store(&c->out[out].t, from, count, x);
    return op_wrote(spans, out, from, count);
}

double *op_load(const struct tensor *t, int64_t from, int64_t n, struct arena *scratch)
{
    double *row = ARENA_ARRAY(scratch, double, (size_t)n);

    tensor_load(t, from, n, row);
    return row;
}

/* Rows without the slots that are empty. */
static void drop_empty(struct op_row *row)
{
    size_t n = 0;

    for (size_t i = 0; i < row->n_in; i++)
        if (row->in[i].is_given)
            row->in[n++] = row->in[i];
    for (size_t i = n; i < row->n_in; i++)
        row->in[i] = (struct op_slot){0};
    row->n_in = n;
}

static const char *check_slots(struct op_call *c, struct op_slot *slots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (slots[i].is_given && slots[i].is_unknown)
            return op_refuse_here(c, "Unsupported dtype");
        if (slots[i].is_given && tensor_bytes(&slots[i].t) < 0)
            return op_refuse(c, "a shape is negative or too large");
    }
    return NULL;
}

static int64_t sum_bytes(const struct op_slot *slots, size_t n)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        if (slots[i].is_given)
            sum = num_most_sum(sum, tensor_bytes(&slots[i].t));
    return sum;
}

const char *op_prepare(struct op_call *call, const struct op_rule *op, const struct op_row *given,
                       struct arena *arena)
{
    struct op_row *row = ARENA_NEW(arena, struct op_row);

    *row = *given;
    *call = (struct op_call){.op = op, .arena = arena, .units = 1, .depth = 1};
    if (!op->has_slots)
        drop_empty(row);
    if (row->n_in < op->min_in || (op->max_in > 0 && row->n_in > op->max_in))
        return op_refuse(call, "%s expects %s%u inputs, not %zu", op->name,
                         op->min_in == op->max_in ? "exactly "
                         : row->n_in < op->min_in ? "at least "
                                                  : "at most ",
                         row->n_in < op->min_in ? op->min_in : op->max_in, row->n_in);
    const char *problem = check_slots(call, row->in, row->n_in);
    if (problem == NULL)
        problem = check_slots(call, row->out, row->n_out);
    if (problem != NULL)
        return problem;
    call->cost.read = sum_bytes(row->in, row->n_in);
    call->cost.written = sum_bytes(row->out, row->n_out);
    problem = op->prepare(call, row);
    if (problem == NULL && (call->units < 0 || op_bytes(call) < 0))
        problem = op_refuse(call, "the operands are too large");
    return problem;
}

/* Memory is handed out in lines of this many bytes. */
enum { LINE = 256 };

static int64_t room(const struct tensor *t)
{
    int64_t bytes = tensor_bytes(t);

    return bytes < 0 ? INT64_MAX : (bytes + LINE - 1) / LINE * LINE;
}

int64_t op_bytes(const struct op_call *call)
{
    int64_t sum = 0;

    for (size_t i = 0; i < call->n_in; i++)
        if (call->in[i].alias == 0)
            sum = num_most_sum(sum, room(&call->in[i].t));
    for (size_t i = 0; i < call->n_out; i++)
        sum = num_most_sum(sum, room(&call->out[i].t));
    return sum == INT64_MAX ? -1 : sum;
}

static void fill_rule(const struct op_arg *arg, uint64_t seed)
{
    int64_t n = tensor_count(&arg->t), below = arg->below > 0 ? arg->below : n;
    /* An odd step without a common divisor visits every number once before it comes again. */
    int64_t step = (int64_t)(tensor_random(seed, 0) % (uint64_t)(below > 0 ? below : 1)) | 1;

    while (arg->fill == FILL_DISTINCT && below > 1) {
        int64_t a = below, b = step;
        while (b != 0) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            break;
        step += 2;
    }
    for (int64_t i = 0, at = 0; i < n; i++, at = (at + step % below) % below)
        tensor_put(&arg->t, i,
                   arg->fill == FILL_ONE      ? 1
                   : arg->fill == FILL_VALUES ? (double)arg->values[i]
                   : arg->fill == FILL_COUNT  ? (double)(i % below)
                                              : (double)at);
}

struct filling {
    const struct op_arg *arg;
    uint64_t seed;
    int64_t n, part;
};

static void fill_part(void *ctx, size_t i)
{
    struct filling *f = ctx;
    int64_t from = (int64_t)i * f->part;

    tensor_fill(&f->arg->t, f->seed, f->arg->below, from,
                f->n - from < f->part ? f->n - from : f->part);
}

static void measure_op_fill(const struct op_arg *arg, uint64_t seed, struct pool *pool)
{
    struct filling f = {arg, seed, tensor_count(&arg->t), 1 << 18};

    if (arg->fill == FILL_RANDOM)
        pool_for(pool, (size_t)((f.n + f.part - 1) / f.part), fill_part, &f);
    else if (arg->fill != FILL_ZERO)
        fill_rule(arg, seed);
}

bool op_make(struct op_call *call, uint64_t seed, struct pool *pool)
{
    int64_t bytes = op_bytes(call);
    char *at;

    if (bytes < 0 || (call->memory = calloc(1, (size_t)bytes + LINE)) == NULL)
        return false;
    call->memory_bytes = bytes;
    at = call->memory;
    for (size_t i = 0; i < call->n_in + call->n_out; i++) {
        struct op_arg *arg = i < call->n_in ? &call->in[i] : &call->out[i - call->n_in];
        if (arg->alias > 0) {
            arg->t.data = call->in[arg->alias - 1].t.data;
            continue;
        }
        arg->t.data = at;
        at += room(&arg->t);
        measure_op_fill(arg, tensor_random(seed, i), pool);
    }
    return true;
}

void op_call_free(struct op_call *call)
{
    free(call->memory);
    call->memory = NULL;
}

struct reference {
    const struct op_call *call;
    int64_t part;
};

static void reference_part(void *ctx, size_t i)
{
    const struct reference *r = ctx;
    int64_t from = (int64_t)i * r->part, end = from + r->part;
    struct op_span spans[OP_SPANS];
    struct arena scratch;

    arena_init(&scratch);
    for (int64_t u = from; u < end && u < r->call->units; u++) {
        struct arena_mark mark = arena_mark(&scratch);
        r->call->op->unit(r->call, u, spans, &scratch);
        arena_rewind(&scratch, mark);
    }
    arena_free(&scratch);
}

void op_reference(const struct op_call *call, struct pool *pool)
{
    struct reference r = {call, 1};
    int64_t parts = pool != NULL ? (int64_t)pool_width(pool) * 8 : 1;

    r.part = (call->units + parts - 1) / parts;
    if (r.part > 0)
        pool_for(pool, (size_t)((call->units + r.part - 1) / r.part), reference_part, &r);
}

/* How much a result may differ: docs/perfdb.md, "How a measured row is checked". */
static double allowed(const struct op_call *c, const struct tensor *t, double expected)
{
    double scale = fmax(1, fabs(expected)) * sqrt((double)(c->depth > 1 ? c->depth : 1));

    switch (t->dtype) {
    case DTYPE_F32:
    case DTYPE_F64:
        return 1e-5 * scale;
    case DTYPE_F16:
        return 0x1p-10 * scale;
    case DTYPE_BF16:
        return 0x1p-7 * scale;
    case DTYPE_F8E4M3:
        return 0x1p-3 * scale;
    case DTYPE_I8:
    case DTYPE_U8:
        return 1;
    default:
        return 0;
    }
}

/* `is_place`: the output names places (a sort, the largest value), of which several are right
 * when their values are equal: those are compared, with room for the rounding of sums of `depth`
 * terms. */
static void op_compare(struct op_check *check, const struct op_call *c, const struct op_call *got,
                       int64_t unit, const struct op_span *span, struct arena *scratch)
{
    const struct tensor *t = &c->out[span->out].t;
    bool is_place = c->op->worth != NULL && !dtype_is_float(t->dtype);
    double *expected = op_load(t, span->from, span->n, scratch);
    double *found = op_load(&got->out[span->out].t, span->from, span->n, scratch);

    for (int64_t i = 0; i < span->n; i++) {
        double a = expected[i], b = found[i], most = allowed(c, t, a);
        if (is_place && a != b) {
            a = c->op->worth(c, unit, (int64_t)a, scratch);
            b = c->op->worth(c, unit, (int64_t)b, scratch);
            most = 1e-5 * fmax(1, fabs(a)) * sqrt((double)c->depth);
        }
        double error = a == b || (isnan(a) && isnan(b)) ? 0 : fabs(a - b) / (most > 0 ? most : 0.5);
        if (!(error <= check->worst)) {
            check->worst = isnan(error) ? INFINITY : error;
            check->unit = unit;
            check->got = b;
            check->expected = a;
        }
    }
}

struct op_check op_check(const struct op_call *call, const struct op_call *got, int64_t most)
{
    struct op_check check = {.units = call->units < most ? call->units : most};
    struct op_span spans[OP_SPANS];
    struct arena scratch;

    arena_init(&scratch);
    for (int64_t i = 0; i < check.units; i++) {
        /* Spread over all units: the first and the last are among them. */
        int64_t unit =
            check.units > 1 ? (int64_t)((__int128)i * (call->units - 1) / (check.units - 1)) : 0;
        struct arena_mark mark = arena_mark(&scratch);
        size_t n = call->op->unit(call, unit, spans, &scratch);
        for (size_t k = 0; k < n; k++)
            op_compare(&check, call, got, unit, &spans[k], &scratch);
        arena_rewind(&scratch, mark);
    }
    arena_free(&scratch);
    check.is_equal = check.worst <= 1;
    return check;
}
