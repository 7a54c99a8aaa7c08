/*
 * Times of calls. See call_time.h.
 */
#include "opdb/predict/call_time.h"

#include <math.h>

#include "base/text/num.h"
#include "opdb/rows/call_cells.h"
#include "opdb/rows/opset.h"

/* ---- a call in numbers ---- */

enum { INPUTS = 5, DIMS = 4, CAUSAL = 3 };

/* Inputs as a table has them, without the text between. */
struct inputs {
    int64_t dims[INPUTS][DIMS];
    struct query_input at[INPUTS];
    size_t n;
};

static int64_t whole(double value)
{
    int64_t n = num_i64_of(round(value));

    return n > 0 ? n : 1;
}

static void add_input(struct inputs *in, enum dtype type, size_t n, const double *dims)
{
    int64_t *at = in->dims[in->n];

    for (size_t i = 0; i < n; i++)
        at[i] = whole(dims[i]);
    in->at[in->n++] = (struct query_input){.dims = {at, n}, .dtype = dtype_ascend(type)};
}
#define ADD_INPUT(in, type, ...)                                                                   \
    add_input((in), (type), ARRAY_LEN(((double[]){__VA_ARGS__})), (double[]){__VA_ARGS__})

/* Keys that a decode sees where its rows do not tell windows apart. */
static double seen_keys(const struct model_attention_call *a, bool is_decode, bool has_windows)
{
    double keys = a->context + (is_decode ? 0 : a->queries);

    return is_decode && a->window > 0 && !has_windows ? fmin(keys, (double)a->window) : keys;
}

static struct work_lengths lengths_of(const struct model_attention_call *a, bool is_decode,
                                      bool is_latent, double keys)
{
    double queries = is_decode ? 1 : a->queries; /* drafts share the cache that is read */
    struct work_lengths l = work_lengths(a->seqs, queries, keys, !is_latent);

    l.seqs = fmax(1, a->seqs);
    l.queries = l.seqs * queries;
    l.keys = l.seqs * keys;
    l.pairs = l.seqs * fmax(queries, queries * keys - (queries - 1) * queries / 2);
    l.kv_heads = whole(a->key_heads);
    l.sparse = is_latent ? 0 : CAUSAL;
    return l;
}

static void attention_inputs(const struct model_call *c, double keys, struct inputs *in)
{
    const struct model_attention_call *a = &c->attention;
    bool is_decode = c->op == MODEL_DECODE || c->op == MODEL_LATENT_DECODE;
    double each = is_decode ? 1 : a->queries, seqs = fmax(1, a->seqs);
    enum dtype cache = c->type->weight;
    enum dtype query = cache == DTYPE_F8E4M3 && !is_decode ? DTYPE_BF16 : DTYPE_BF16;

    if (c->op == MODEL_LATENT_DECODE) {
        double rope = a->size - a->out_size;
        ADD_INPUT(in, query, seqs, a->heads, each, a->out_size);
        ADD_INPUT(in, cache, seqs, 1, keys, a->out_size);
        ADD_INPUT(in, cache, seqs, 1, keys, a->out_size);
        ADD_INPUT(in, query, seqs, a->heads, each, rope);
        ADD_INPUT(in, cache, seqs, 1, keys, rope);
        return;
    }
    ADD_INPUT(in, query, seqs, a->heads, each, a->size);
    ADD_INPUT(in, cache, seqs, a->key_heads, keys, a->size);
    if (a->out_size != a->size)
        ADD_INPUT(in, cache, seqs, a->key_heads, keys, a->out_size);
}

static bool is_attention(const struct model_call *c)
{
    return c->op == MODEL_PREFILL || c->op == MODEL_DECODE || c->op == MODEL_LATENT_PREFILL ||
           c->op == MODEL_LATENT_DECODE;
}

/* With rows of that window, else over the keys that it leaves. */
static bool attention_work(const struct call_times *t, const struct model_call *c,
                           const struct opset *set, struct call_work *out)
{
    const struct model_attention_call *a = &c->attention;
    bool is_decode = c->op == MODEL_DECODE || c->op == MODEL_LATENT_DECODE;
    bool is_latent = c->op == MODEL_LATENT_DECODE;

    for (int has_windows = a->window > 0; has_windows >= 0; has_windows--) {
        struct inputs in = {.n = 0};
        double keys = seen_keys(a, is_decode, has_windows);
        struct work_lengths lengths = lengths_of(a, is_decode, is_latent, keys);
        struct str extra =
            has_windows ? arena_format(t->arena, "window %lld", (long long)a->window) : S("");
        attention_inputs(c, keys, &in);
        if (!work_of(t->arena, S("FusedInferAttentionScore"), (struct query_inputs){in.at, in.n},
                     NULL, &lengths, extra, out))
            return false;
        if (set != NULL && opset_find(set, out) != NULL)
            return true;
    }
    return true;
}

static bool product_work(const struct call_times *t, const struct model_call *c,
                         struct call_work *out)
{
    struct inputs in = {.n = 0};
    struct str op = c->op == MODEL_PRODUCT ? S("MatMulV2") : S("BatchMatMulV2");

    if (c->op == MODEL_PRODUCT) {
        ADD_INPUT(&in, c->type->input, c->m, c->k);
        ADD_INPUT(&in, c->type->weight, c->n, c->k);
    } else {
        ADD_INPUT(&in, c->type->input, c->units, c->m, c->k);
        ADD_INPUT(&in, c->type->weight, c->units, c->k, c->n);
    }
    return work_of(t->arena, op, (struct query_inputs){in.at, in.n}, NULL, NULL, c->type->scales,
                   out);
}

/* Of the spread that is asked for, else of the first that rows have. */
static bool experts_work(const struct call_times *t, const struct model_call *c,
                         const struct opset *set, struct call_work *out)
{
    static const struct str spreads[] = {S_INIT("power_law_1.2"), S_INIT("balanced"),
                                         S_INIT("power_law_1.01")};
    const struct model_experts_call *e = &c->experts;
    const struct quant *type = c->type;
    double width = (double)e->inter / (double)e->expert_tp;

    for (size_t i = 0; i <= ARRAY_LEN(spreads); i++) {
        struct inputs in = {.n = 0};
        struct str spread = i == 0 && t->spread.n > 0 ? t->spread : spreads[i > 0 ? i - 1 : 0];
        ADD_INPUT(&in, type->input, e->tokens, (double)e->hidden);
        ADD_INPUT(&in, type->weight, e->held, (double)e->hidden, (e->is_gated ? 2 : 1) * width);
        ADD_INPUT(&in, type->weight, e->held, width, (double)e->hidden);
        ADD_INPUT(&in, DTYPE_F32, e->tokens, (double)e->experts);
        ADD_INPUT(&in, DTYPE_I32, e->tokens, (double)e->top_k);
        struct str extra =
            c->type->scales.n > 0
                ? arena_format(t->arena, "%.*s %.*s", STR_ARGS(spread), STR_ARGS(c->type->scales))
                : spread;
        if (!work_of(t->arena, S("FusedMoe"), (struct query_inputs){in.at, in.n}, NULL, NULL, extra,
                     out))
            return false;
        if (set == NULL || opset_find(set, out) != NULL)
            return true;
    }
    return false;
}

/* By its cells, as a row of a table is read. */
static bool cells_work(const struct call_times *t, const struct op_cells *c, struct call_work *out)
{
    struct query_row row;

    return query_row_read(t->arena, c->in, c->types, S(""), -1, &row) &&
           work_of(t->arena, str_of(c->op), row.inputs, NULL, NULL, S(""), out);
}

bool call_work(const struct call_times *t, const struct model_call *c, struct opset **set,
               struct call_work *out)
{
    struct op_cells cells = {0};
    struct str op = S("");

    *set = NULL;
    if (c->op == MODEL_COMM)
        return false;
    if (c->op == MODEL_MODULE)
        op = c->kind == MODEL_MODULE_EXPERTS ? S("FusedMoe") : S("");
    else if (is_attention(c))
        op = S("FusedInferAttentionScore");
    else if (c->op == MODEL_PRODUCT)
        op = S("MatMulV2");
    else if (c->op == MODEL_ABSORB)
        op = S("BatchMatMulV2");
    else if (call_cells(t->arena, c, &cells))
        op = str_of(cells.op);
    if (op.n == 0 || query_set(t->db, op, set, t->d) != ST_OK)
        return false;
    if (c->op == MODEL_MODULE)
        return experts_work(t, c, *set, out);
    if (is_attention(c))
        return attention_work(t, c, *set, out);
    if (c->op == MODEL_PRODUCT || c->op == MODEL_ABSORB)
        return product_work(t, c, out);
    return cells_work(t, &cells, out);
}

/* ---- answers ---- */

static bool is_product(const struct model_call *c)
{
    return c->op == MODEL_PRODUCT || c->op == MODEL_ABSORB || c->op == MODEL_GROUPED ||
           is_attention(c) || c->op == MODEL_MODULE;
}

static double peak_of(const struct device *d, const struct quant *type)
{
    static const enum peak peaks[] = {[QUANT_BF16] = PEAK_BF16,
                                      [QUANT_FP8] = PEAK_FP8,
                                      [QUANT_INT8] = PEAK_INT8,
                                      [QUANT_FP4] = PEAK_FP4};

    return d->tflops[peaks[type->peak]] * 1e6;
}

double call_floor_us(const struct device *d, const struct model_call *c)
{
    double rate = d != NULL ? peak_of(d, is_attention(c) ? quant_bf16 : c->type) : 0;
    double speed = d != NULL ? d->gbps * 1e3 : 0;

    if (speed <= 0 || (is_product(c) && rate <= 0))
        return 0;
    return fmax(is_product(c) ? c->flops / rate : 0, c->bytes / speed);
}

/* No row is comparable: what the device allows, and how far kernels usually are from it. Products
 * take 1.7 times their roof (between the whole of it and a third), others move bytes at 0.8 of the
 * bandwidth; both need 1.5 us to begin and end. */
static void ask_roof(const struct device *d, const struct model_call *c, struct query_result *r)
{
    double floor = call_floor_us(d, c), begin = 1.5;

    if (floor <= 0)
        return;
    double us = begin + (is_product(c) ? 1.7 * floor : floor / 0.8);
    *r = (struct query_result){.latency_us = us,
                               .low_us = floor,
                               .high_us = begin + 3 * floor,
                               .source = QUERY_ANALYTIC,
                               .has_interval = true};
}

static void ask_call(const struct call_times *t, const struct model_call *c, struct query_result *r)
{
    struct opset *set;
    struct call_work w;

    *r = (struct query_result){.miss = "csv_not_found"};
    if (call_work(t, c, &set, &w) && set != NULL)
        query_answer(set, &w, false, r);
    if (r->miss != NULL && c->op != MODEL_MODULE)
        ask_roof(t->db->device, c, r);
}

/* Bytes as tables of collectives have them: of an exchange all that a card gives in, of which one
 * part stays; of a scatter what it gives in; else what one card has. */
static double message_bytes(const struct model_call *c)
{
    double n = (double)c->devices;

    if (c->comm == MODEL_DISPATCH || c->comm == MODEL_COMBINE)
        return c->sent * n / (n - 1);
    return c->comm == MODEL_REDUCE_SCATTER ? c->sent * n : c->sent;
}

/* Whether rows have that number of cards. */
static bool has_cards(const struct opset *set, int64_t devices)
{
    for (size_t r = 0; r < set->regimes.n; r++)
        for (size_t i = 0; i < set->regimes.at[r].points.n; i++)
            if (set->regimes.at[r].points.at[i].work.axis[1] == (double)devices)
                return true;
    return false;
}

static enum status ask_rows(const struct call_times *t, enum model_comm kind, int64_t devices,
                            double bytes, struct query_result *r)
{
    struct str kernel = query_comm_kernel(str_of(call_comm_name(kind)));
    struct query q = {
        .comm = call_comm_name(kind),
        .message = {.bytes = num_i64_of(ceil(bytes)), .num_devices = devices, .tier = -1},
        .is_model = true};
    struct opset *set;

    *r = (struct query_result){.miss = "csv_not_found"};
    TRY(query_set(t->db, kernel, &set, t->d));
    if (set == NULL || !has_cards(set, devices))
        return ST_OK;
    return query_run(t->db, &q, r, t->d);
}

static void by_links(const struct call_times *t, const struct model_call *c, struct query_result *r)
{
    double us = links_us(&t->links, c->comm, c->devices, c->sent);

    if (!(us > 0))
        return;
    *r = (struct query_result){.latency_us = us,
                               .low_us = us,
                               .high_us = 2 * us,
                               .source = QUERY_ANALYTIC,
                               .has_interval = true};
}

/* Rows of the collective with so many cards, else links. Tokens reach their experts one by one, or
 * all of them reach all cards, whichever takes less. */
static enum status ask_comm(const struct call_times *t, const struct model_call *c,
                            struct query_result *r)
{
    struct query_result all;

    TRY(ask_rows(t, c->comm, c->devices, message_bytes(c), r));
    if (r->miss != NULL)
        by_links(t, c, r);
    if (c->gathered <= 0)
        return ST_OK;
    struct model_call other = *c;
    other.comm = c->comm == MODEL_DISPATCH ? MODEL_ALL_GATHER : MODEL_REDUCE_SCATTER;
    other.sent = c->gathered;
    TRY(ask_rows(t, other.comm, c->devices, message_bytes(&other), &all));
    if (all.miss != NULL)
        by_links(t, &other, &all);
    if (all.miss == NULL && (r->miss != NULL || all.latency_us < r->latency_us))
        *r = all;
    return ST_OK;
}

/* Operator and shapes as a report shows them. */
static void describe_call(const struct call_times *t, const struct model_call *c,
                          struct call_time *out)
{
    struct op_cells cells = {0};

    if (c->op == MODEL_MODULE) {
        const struct model_experts_call *e = &c->experts;
        out->op = S("FusedMoe");
        out->shapes =
            arena_format(t->arena, "%.0f,%lld;%.0f,%lld,%lld", e->tokens, (long long)e->hidden,
                         e->held, (long long)e->hidden, (long long)(2 * e->inter / e->expert_tp));
        return;
    }
    if (!call_cells(t->arena, c, &cells))
        return;
    bool is_comm = cells.comm != NULL;
    out->op = str_of(is_comm ? cells.comm : cells.op);
    out->shapes = is_comm ? arena_format(t->arena, "%.0f bytes, %lld devices", cells.bytes,
                                         (long long)cells.devices)
                          : cells.in;
}

enum status call_time(const struct call_times *t, const struct model_call *c, bool is_told,
                      struct call_time *out)
{
    struct query_result r;

    *out = (struct call_time){.kernels = 1, .op = S(""), .shapes = S("")};
    if (is_told)
        describe_call(t, c, out);
    if (c->op == MODEL_COMM)
        TRY(ask_comm(t, c, &r));
    else
        ask_call(t, c, &r);
    out->miss = r.miss;
    if (r.miss != NULL)
        return ST_OK;
    out->us = r.latency_us;
    out->low_us = r.low_us;
    out->high_us = r.high_us;
    out->source = r.source;
    out->kernels = r.n_near > 0 ? r.near[0].kernels : 1;
    return ST_OK;
}
