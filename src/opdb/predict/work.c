/*
 * Calls of operators in numbers. See work.h.
 */
#include "opdb/predict/work.h"

#include <math.h>

#include "base/tables/hash.h"
#include "base/text/num.h"

char work_dtype(struct str name)
{
    static const struct {
        struct str name;
        char letter;
    } names[] = {
        {S_INIT("bfloat16"), 'b'},    {S_INIT("bf16"), 'b'},        {S_INIT("float16"), 'h'},
        {S_INIT("fp16"), 'h'},        {S_INIT("half"), 'h'},        {S_INIT("float"), 'f'},
        {S_INIT("float32"), 'f'},     {S_INIT("fp32"), 'f'},        {S_INIT("double"), 'd'},
        {S_INIT("float64"), 'd'},     {S_INIT("fp64"), 'd'},        {S_INIT("int8"), 'c'},
        {S_INIT("uint8"), 'u'},       {S_INIT("int16"), 's'},       {S_INIT("int32"), 'i'},
        {S_INIT("int"), 'i'},         {S_INIT("int64"), 'l'},       {S_INIT("long"), 'l'},
        {S_INIT("long int"), 'l'},    {S_INIT("bool"), 'o'},        {S_INIT("float8_e4m3fn"), '8'},
        {S_INIT("float8_e4m3"), '8'}, {S_INIT("fp8_e4m3"), '8'},    {S_INIT("fp8"), '8'},
        {S_INIT("e4m3"), '8'},        {S_INIT("float8_e5m2"), '5'}, {S_INIT("fp8_e5m2"), '5'},
        {S_INIT("e5m2"), '5'},        {S_INIT("hifloat8"), '9'},    {S_INIT("int4"), '4'},
        {S_INIT("uint32"), 'I'},      {S_INIT("uint64"), 'L'},      {S_INIT("c10::BFloat16"), 'b'},
        {S_INIT("c10::Half"), 'h'},   {S_INIT("signed char"), 'c'}, {S_INIT("unsigned char"), 'u'},
    };

    name = cell_bare(name);
    str_skip(&name, S("torch."));
    if (str_starts_nocase(name, S("DT_")))
        name = str_part(name, 3, name.n);
    if (name.n == 0 || str_equal_nocase(name, S("undefined")))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal_nocase(name, names[i].name))
            return names[i].letter;
    return '?';
}

static double dtype_bytes(char dtype)
{
    switch (dtype) {
    case 'd':
    case 'l':
    case 'L':
        return 8;
    case 'f':
    case 'i':
    case 'I':
        return 4;
    case 'b':
    case 'h':
    case 's':
        return 2;
    case '4':
        return 0.5;
    default:
        return 1;
    }
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
    return elements(in->dims) * dtype_bytes(work_dtype(in->dtype));
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

/* M, K, N and how many such products; false when the shapes are none. */
static bool place_matmul(struct query_inputs in, struct call_work *w)
{
    if (in.n < 2)
        return false;
    struct cell_dims a = without_ones(in.at[0].dims), b = without_ones(in.at[1].dims);
    if (a.n == 1 && in.at[0].dims.n >= 2)
        a = (struct cell_dims){in.at[0].dims.at + in.at[0].dims.n - 2, 2};
    if (b.n == 1 && in.at[1].dims.n >= 2)
        b = (struct cell_dims){in.at[1].dims.at + in.at[1].dims.n - 2, 2};
    if (a.n < 2 || b.n < 2)
        return false;
    double k = (double)a.at[a.n - 1], y = (double)b.at[b.n - 1], x = (double)b.at[b.n - 2];
    if (x != k && y != k)
        return false;
    double n = x == k ? y : x, batch = elements((struct cell_dims){b.at, b.n - 2});
    double m = elements((struct cell_dims){a.at, a.n - 1});
    bool is_batched = a.n > 2 && elements((struct cell_dims){a.at, a.n - 2}) == batch;
    double per_unit = is_batched ? m / batch : m;
    double bytes = dtype_bytes(work_dtype(in.at[0].dtype));

    set_axes(w, 4, (const double[]){per_unit, k, n, batch});
    w->kind = WORK_MATMUL;
    w->depth = k;
    w->flops = 2 * m * k * n;
    w->bytes = size_of(&in.at[0]) + size_of(&in.at[1]) + m * n * (bytes < 2 ? 2 : bytes);
    /* Experts share the rows. */
    w->rows = is_batched || batch == 1 ? per_unit : fmax(1, m / batch);
    w->columns = n;
    w->units = batch;
    for (unsigned i = 0; i < 4; i++)
        w->exact = hash_mix(w->exact, num_u64_of(w->axis[i]));
    for (size_t i = 2; i < in.n; i++)
        w->exact = shape_hash(w->exact, in.at[i].dims, false);
    return true;
}

static void place_pick(struct query_inputs in, struct call_work *w)
{
    struct cell_dims source = in.at[0].dims;
    double width = elements((struct cell_dims){source.at + 1, source.n - 1});
    double count = elements(in.at[in.n - 1].dims);

    w->kind = WORK_PICK;
    w->depth = width;
    set_axes(w, 2, (const double[]){count, width});
    w->bytes =
        2 * count * width * dtype_bytes(work_dtype(in.at[0].dtype)) + size_of(&in.at[in.n - 1]);
}

static void place_cache(struct query_inputs in, struct call_work *w)
{
    double tokens = elements(in.at[in.n - 1].dims);

    w->kind = WORK_PICK;
    w->depth = elements(in.at[0].dims) / fmax(tokens, 1);
    set_axes(w, 2, (const double[]){tokens, w->depth});
    w->bytes = 2 * (size_of(&in.at[0]) + size_of(&in.at[1])) + size_of(&in.at[in.n - 1]);
}

static void place_plain(struct str kernel, struct query_inputs in, struct call_work *w)
{
    struct cell_dims d = in.at[0].dims;
    double width = d.n > 0 ? (double)d.at[d.n - 1] : 1, all = elements(d), others = 1;
    double made = str_equal(kernel, S("SwiGlu")) ? 0.5 : 1;

    w->kind = WORK_PLAIN;
    for (size_t i = 1; i < in.n; i++)
        others += elements(in.at[i].dims);
    for (size_t i = 0; i < in.n; i++)
        w->bytes += size_of(&in.at[i]);
    w->bytes += made * size_of(&in.at[0]);
    w->depth = width;
    set_axes(w, 3, (const double[]){all / width, width, others});
}

/* FLOP: Q K' and P V, two a multiply-add, for each pair that the mask leaves. Bytes: Q and the
 * result of all heads, K and V of the heads that keys have. */
static bool place_attention(struct query_inputs in, const struct work_lengths *len,
                            struct call_work *w)
{
    struct cell_dims q = in.at[0].dims, k = in.n > 1 ? in.at[1].dims : (struct cell_dims){0};
    double size = k.n > 0 ? (double)k.at[k.n - 1] : 0, heads;
    double bytes = dtype_bytes(work_dtype(in.at[0].dtype));

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
    w->kind = WORK_ATTENTION;
    w->depth = keys;
    set_axes(w, 6, (const double[]){len->seqs, each, keys, heads, kv_heads, size});
    w->flops = 4 * heads * size * len->pairs;
    w->bytes = 2 * bytes * size * (len->queries * heads + len->keys * kv_heads);
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
        hash = hash_mix(hash, (uint64_t)work_dtype(in.at[i].dtype) * 2 + is_folded);
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
    out->type = work_dtype(in.at[0].dtype);
    bool is_moved = (is_pick && in.n >= 2) || (query_is_cache_write(kernel) && in.n >= 3);
    out->regime = regime_of(in, formats, extra, is_attention || is_moved ? 1 : in.n);
    out->exact = out->regime;
    if (is_attention)
        return place_attention(in, lengths, out);
    if (query_is_matmul(kernel) && place_matmul(in, out)) {
        out->regime = hash_mix(out->regime, WORK_MATMUL);
        return true;
    }
    if (is_moved && is_pick)
        place_pick(in, out);
    else if (is_moved)
        place_cache(in, out);
    else
        place_plain(kernel, in, out);
    out->regime = hash_mix(out->regime, out->kind);
    for (size_t i = 0; i < in.n; i++)
        out->exact = shape_hash(out->exact, in.at[i].dims, i == 0);
    return true;
}

uint64_t work_comm_regime(int64_t tier)
{
    return hash_mix(WORK_COMM, (uint64_t)tier);
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
