/*
 * Calls of operators in numbers. See work.h.
 */
#include "opdb/predict/work.h"

#include <math.h>

#include "base/tables/hash.h"
#include "base/text/num.h"
#include "ops/recorded_work.h"

/* Of a type that is not known, one byte. */
static double element_bytes(struct str dtype)
{
    double bytes = dtype_bytes(query_type(dtype));

    return bytes > 0 ? bytes : 1;
}

bool work_is_attention(struct str kernel)
{
    return str_equal(kernel, S("FusedInferAttentionScore"));
}

static double elements(struct cell_dims d)
{
    double n = 1;

    for (size_t i = 0; i < d.n; i++)
        n *= (double)d.at[i];
    return n;
}

static struct cell_dims without_ones(struct cell_dims d)
{
    while (d.n > 1 && d.at[0] == 1)
        d = (struct cell_dims){d.at + 1, d.n - 1};
    return d;
}

static double size_of(const struct query_input *in)
{
    return elements(in->dims) * element_bytes(in->dtype);
}

/* Dimensions of an input in the form in which equal calls are equal: no leading ones; all but the
 * last dimension in one. */
static uint64_t shape_hash(uint64_t hash, struct cell_dims d, bool is_flat)
{
    d = without_ones(d);
    if (is_flat && d.n > 2) {
        double rows = elements((struct cell_dims){d.at, d.n - 1});
        return hash_mix(hash_mix(hash, num_u64_of(rows)), (uint64_t)d.at[d.n - 1]);
    }
    for (size_t i = 0; i < d.n; i++)
        hash = hash_mix(hash, (uint64_t)d.at[i]);
    return hash_mix(hash, d.n);
}

static void set_axes(struct call_work *w, unsigned n, const double *values)
{
    w->n_axes = n;
    for (unsigned i = 0; i < n; i++)
        w->axis[i] = values[i] >= 1 ? values[i] : 1;
}

static struct tensor_shape shape_of(struct cell_dims d)
{
    struct tensor_shape s = {.n = d.n <= SHAPE_DIMS ? d.n : 0};

    for (size_t i = 0; i < s.n; i++)
        s.dim[i] = d.at[i];
    return s;
}

/* FLOP of products and bytes, by the rules of ops/; of what has none, the inputs and an output like
 * the first. */
static void set_effort(struct str kernel, struct query_inputs in, struct call_work *w)
{
    struct recorded_tensors o = {.shapes.n = in.n < SHAPE_INPUTS ? in.n : SHAPE_INPUTS};

    for (size_t i = 0; i < o.shapes.n; i++) {
        o.shapes.at[i] = shape_of(in.at[i].dims);
        o.types[i] = query_type(in.at[i].dtype);
    }
    struct recorded_work known = recorded_work_of_tensors(kernel, &o, S(""));
    w->flops = known.kind == RECORDED_WORK_PRODUCT ? known.flops : 0;
    w->bytes = known.bytes;
    bool is_mixed = in.n > 1 && element_bytes(in.at[0].dtype) != element_bytes(in.at[1].dtype);
    if (known.kind != RECORDED_WORK_UNKNOWN && known.bytes > 0 &&
        !(is_mixed && known.kind == RECORDED_WORK_PRODUCT))
        return;
    w->bytes = size_of(&in.at[0]);
    for (size_t i = 0; i < in.n; i++)
        w->bytes += size_of(&in.at[i]);
}

/* Without leading ones, but with two dimensions where it had two. */
static struct tensor_shape matrix_of(struct cell_dims d)
{
    struct cell_dims bare = without_ones(d);

    return shape_of(bare.n == 1 && d.n >= 2 ? (struct cell_dims){d.at + d.n - 2, 2} : bare);
}

/* Inputs of two types count by their own; of the experts of a grouped product only those are read
 * that get a row. */
static void set_bytes(struct query_inputs in, const struct recorded_product *p, bool is_batched,
                      struct call_work *w)
{
    double a = size_of(&in.at[0]), b = size_of(&in.at[1]);
    double out = p->rows * p->columns * fmax(2, element_bytes(in.at[0].dtype));

    if (element_bytes(in.at[0].dtype) != element_bytes(in.at[1].dtype))
        w->bytes = a + b + out;
    if (p->units > 1 && !is_batched)
        w->bytes = a + b * (1 - pow(1 - 1 / p->units, p->rows)) + out;
}

/* M, K, N and how many such products; false when the shapes are none. */
static bool place_matmul(struct query_inputs in, struct call_work *w)
{
    if (in.n < 2)
        return false;
    struct tensor_shape a = matrix_of(in.at[0].dims), b = matrix_of(in.at[1].dims);
    struct recorded_product p = recorded_product_of(&a, &b, false);
    if (p.rows <= 0)
        return false;
    bool is_batched = a.n > 2 && p.rows / tensor_back_dim(&a, 1) == p.units;
    double per_unit = is_batched ? p.rows / p.units : p.rows;

    set_axes(w, 4, (const double[]){per_unit, p.depth, p.columns, p.units});
    w->kind = WORK_MATMUL;
    w->depth = p.depth;
    /* Experts share the rows. */
    w->rows = is_batched || p.units == 1 ? per_unit : fmax(1, p.rows / p.units);
    w->columns = p.columns;
    w->units = p.units;
    set_bytes(in, &p, is_batched, w);
    for (unsigned i = 0; i < 4; i++)
        w->exact = hash_mix(w->exact, num_u64_of(w->axis[i]));
    for (size_t i = 2; i < in.n; i++)
        w->exact = shape_hash(w->exact, in.at[i].dims, false);
    return true;
}

bool work_is_product(struct query_inputs in, double made)
{
    if (in.n < 2 || in.at[0].dims.n < 2 || in.at[1].dims.n < 2)
        return true;
    struct tensor_shape a = matrix_of(in.at[0].dims), b = matrix_of(in.at[1].dims);
    for (int i = 0; i < 4; i++) {
        struct recorded_product p = recorded_product_of(&a, &b, i % 2 != 0);
        if (p.rows > 0 && (made <= 0 || p.rows * p.columns == made))
            return true;
        if (i == 1 && a.n >= 2) {
            int64_t last = a.dim[a.n - 1];
            a.dim[a.n - 1] = a.dim[a.n - 2];
            a.dim[a.n - 2] = last;
        }
    }
    return false;
}

/* PyTorch has a kernel of its own for up to so many indices, whose threads go through them one
 * after another (ATen, Indexing.cu: indexSelectSmallIndex). Where a device does not, the roof that
 * is fitted gives depth no time. */
static const double serial_picks = 16;

static void place_pick(struct query_inputs in, struct call_work *w)
{
    struct cell_dims source = in.at[0].dims;
    double width = elements((struct cell_dims){source.at + 1, source.n - 1});
    double count = elements(in.at[in.n - 1].dims);

    w->kind = WORK_PICK;
    w->depth = count <= serial_picks ? count : 1;
    set_axes(w, 2, (const double[]){count, width});
}

static void place_cache(struct query_inputs in, struct call_work *w)
{
    double tokens = elements(in.at[in.n - 1].dims);

    w->kind = WORK_PICK;
    w->depth = elements(in.at[0].dims) / fmax(tokens, 1);
    set_axes(w, 2, (const double[]){tokens, w->depth});
    w->bytes = 2 * (size_of(&in.at[0]) + size_of(&in.at[1])) + size_of(&in.at[in.n - 1]);
}

static void place_plain(struct query_inputs in, struct call_work *w)
{
    struct cell_dims d = in.at[0].dims;
    double width = d.n > 0 ? (double)d.at[d.n - 1] : 1, all = elements(d), others = 1;

    w->kind = WORK_PLAIN;
    for (size_t i = 1; i < in.n; i++)
        others += elements(in.at[i].dims);
    w->depth = width;
    set_axes(w, 3, (const double[]){all / width, width, others});
}

/* Values may be narrower than keys, whose last part, rotated, may stand apart as two further inputs
 * of four dimensions. */
static double value_size(struct query_inputs in, double size)
{
    struct cell_dims v = in.n > 2 ? in.at[2].dims : (struct cell_dims){0};
    struct cell_dims k = in.n > 1 ? in.at[1].dims : (struct cell_dims){0};

    return v.n == k.n && v.n >= 3 && v.at[v.n - 1] < k.at[k.n - 1] ? (double)v.at[v.n - 1] : size;
}

static double rotated_size(struct query_inputs in)
{
    if (in.n < 5)
        return 0;
    struct cell_dims q = in.at[in.n - 2].dims, k = in.at[in.n - 1].dims;
    return q.n == 4 && k.n == 4 && q.at[3] == k.at[3] ? (double)q.at[3] : 0;
}

/* FLOP: Q K' and P V, two a multiply-add, for each pair that the mask leaves. Bytes: Q and the
 * result of all heads, K and V of the heads that keys have. */
static bool place_attention(struct query_inputs in, const struct work_lengths *len,
                            struct call_work *w)
{
    struct cell_dims q = in.at[0].dims, k = in.n > 1 ? in.at[1].dims : (struct cell_dims){0};
    double size = k.n > 0 ? (double)k.at[k.n - 1] : 0, heads;
    double bytes = element_bytes(in.at[0].dtype);

    if (len == NULL || !(len->seqs >= 1) || !(len->keys > 0) || q.n < 2)
        return false;
    if (q.n >= 3) {
        size = (double)q.at[q.n - 1];
        heads = (double)q.at[q.n - (q.n == 4 ? 3 : 2)];
    } else {
        heads = size > 0 ? (double)q.at[1] / size : 1;
    }
    double kv_heads = len->kv_heads > 0 ? (double)len->kv_heads : heads;
    double each = len->queries / len->seqs, keys = len->keys / len->seqs;
    double out = value_size(in, size), rotated = rotated_size(in);
    double cached = in.n > 1 ? element_bytes(in.at[1].dtype) : bytes;
    double kept = rotated > 0 && kv_heads == 1 ? size + rotated : size + out; /* latent: once */
    size += rotated;
    w->kind = WORK_ATTENTION;
    w->depth = keys;
    set_axes(w, 6, (const double[]){len->seqs, each, keys, heads, kv_heads, size});
    w->flops = 2 * heads * (size + out) * len->pairs;
    w->bytes = bytes * (size + out) * len->queries * heads + cached * kept * len->keys * kv_heads;
    if (in.n > 1 && query_type(in.at[1].dtype) != query_type(in.at[0].dtype)) {
        w->regime = hash_mix(w->regime, query_type(in.at[1].dtype));
        w->exact = hash_mix(w->exact, w->regime);
    }
    w->rows = each * heads / kv_heads;
    w->columns = keys;
    w->peak = len->queries * keys / fmax(len->pairs, 1);
    w->units = len->seqs * kv_heads;
    w->regime = hash_mix(w->regime, (uint64_t)len->sparse * 2 + (each > 1.5));
    w->exact = hash_mix(w->exact, num_u64_of(len->queries));
    w->exact = hash_mix(w->exact, num_u64_of(len->keys));
    for (unsigned i = 0; i < 6; i++)
        w->exact = hash_mix(w->exact, num_u64_of(w->axis[i] * 16));
    return true;
}

/* T tokens of H values; e experts of H x N and W x H; T x all experts; T x k chosen ones. */
static bool place_experts(struct query_inputs in, struct call_work *w)
{
    if (in.n < 5 || in.at[0].dims.n != 2 || in.at[1].dims.n != 3 || in.at[2].dims.n != 3 ||
        in.at[3].dims.n != 2 || in.at[4].dims.n != 2)
        return false;
    double t = (double)in.at[0].dims.at[0], h = (double)in.at[0].dims.at[1];
    double held = (double)in.at[1].dims.at[0], n = (double)in.at[1].dims.at[2];
    double wide = (double)in.at[2].dims.at[1], all = (double)in.at[3].dims.at[1];
    double k = (double)in.at[4].dims.at[1], slots = t * k * fmin(1, held / all);
    double touched = held * (1 - pow(1 - fmin(1, k / all), t));

    w->kind = WORK_EXPERTS;
    set_axes(w, 6, (const double[]){t, h, wide, k, held, all});
    w->flops = 2 * slots * h * (n + wide);
    w->bytes = touched * h * (n + wide) * element_bytes(in.at[1].dtype) +
               2 * t * h * element_bytes(in.at[0].dtype);
    w->regime = hash_mix(hash_mix(w->regime, WORK_EXPERTS), n > wide);
    for (unsigned i = 0; i < 6; i++)
        w->exact = hash_mix(w->exact, num_u64_of(w->axis[i]));
    w->exact = hash_mix(w->exact, w->regime);
    return true;
}

static bool has_sizes(struct query_inputs in)
{
    for (size_t i = 0; i < in.n; i++)
        for (size_t k = 0; k < in.at[i].dims.n; k++)
            if (in.at[i].dims.at[k] < 1)
                return false;
    return in.n > 0 && in.at[0].dims.n > 0;
}

/* The type and, where it matters, the layout of every input. */
static uint64_t regime_of(struct query_inputs in, const struct str *formats, struct str extra,
                          size_t n)
{
    uint64_t hash = hash_mix(n, extra.n > 0 ? hash_bytes(extra) : 0);

    for (size_t i = 0; i < n && i < in.n; i++) {
        bool is_folded = formats != NULL && str_equal(formats[i], S("FRACTAL_NZ"));
        hash = hash_mix(hash, (uint64_t)query_type(in.at[i].dtype) * 2 + is_folded);
    }
    return hash;
}

bool work_of(struct arena *arena, struct str kernel, struct query_inputs in,
             const struct str *formats, const struct work_lengths *lengths, struct str extra,
             struct call_work *out)
{
    bool is_attention = work_is_attention(kernel);
    bool is_pick = str_equal(kernel, S("GatherV2")) || str_equal(kernel, S("Index"));

    *out = (struct call_work){.units = 1, .peak = 1};
    in = query_normal(arena, kernel, in, str_equal(kernel, S("SwiGlu")) ? 1 : in.n + 1);
    if (!has_sizes(in))
        return false;
    out->type = query_type(in.at[0].dtype);
    bool is_moved = (is_pick && in.n >= 2) || (query_is_cache_write(kernel) && in.n >= 3);
    out->regime = regime_of(in, formats, extra, is_attention || is_moved ? 1 : in.n);
    out->exact = out->regime;
    if (is_attention)
        return place_attention(in, lengths, out);
    if (str_equal(kernel, S("FusedMoe")))
        return place_experts(in, out);
    set_effort(kernel, in, out);
    if (query_is_matmul(kernel) && place_matmul(in, out)) {
        out->regime = hash_mix(out->regime, WORK_MATMUL);
        return true;
    }
    if (is_moved && is_pick)
        place_pick(in, out);
    else if (is_moved)
        place_cache(in, out);
    else
        place_plain(in, out);
    out->regime = hash_mix(out->regime, out->kind);
    for (size_t i = 0; i < in.n; i++)
        out->exact = shape_hash(out->exact, in.at[i].dims, i == 0);
    return true;
}

uint64_t work_comm_regime(int64_t tier, struct str variant)
{
    return hash_mix(WORK_COMM, (uint64_t)tier) ^ (variant.n > 0 ? hash_bytes(variant) : 0);
}

void work_of_comm(double bytes, double devices, uint64_t regime, struct call_work *out)
{
    *out = (struct call_work){
        .kind = WORK_COMM, .bytes = bytes, .units = 1, .peak = 1, .regime = regime};
    out->depth = devices;
    set_axes(out, 2, (const double[]){bytes, devices});
    out->exact = hash_mix(hash_mix(regime, num_u64_of(bytes)), num_u64_of(devices));
}

struct work_lengths work_lengths(double seqs, double queries, double keys, bool is_causal)
{
    double cut = is_causal && queries > 1 ? queries * (queries - 1) / 2 : 0;

    return (struct work_lengths){
        .seqs = seqs,
        .queries = seqs * queries,
        .keys = seqs * keys,
        .pairs = seqs * fmax(queries, queries * keys - cut),
    };
}

/* The next number of a list, and its difference to the one before when they are sums. */
static bool next_length(struct str *rest, bool is_sums, double *before, double *out)
{
    struct str part;
    double value;

    if (!str_split(rest, ',', &part) || !cell_number(part, &value) || !(value >= 0))
        return false;
    *out = is_sums ? value - *before : value;
    *before = value;
    return true;
}

bool work_lengths_read(struct str queries, struct str keys, bool is_paged, bool is_causal,
                       struct work_lengths *out)
{
    double q, k, q_sum = 0, k_sum = 0;

    *out = (struct work_lengths){0};
    while (queries.n > 0 && keys.n > 0) {
        if (!next_length(&queries, true, &q_sum, &q) || !next_length(&keys, !is_paged, &k_sum, &k))
            return false;
        struct work_lengths one = work_lengths(1, q, k, is_causal);
        out->seqs += 1;
        out->queries += one.queries;
        out->keys += one.keys;
        out->pairs += one.pairs;
    }
    return out->seqs > 0;
}
