/*
 * Answers by models: an equal row, else a value by the model of its regime, else the roof of the
 * device; a miss lists the rows that come nearest.
 */
#include <math.h>

#include "opdb/measure/bench.h"
#include "opdb/predict/query.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/opset.h"

enum { SPARSE_CAUSAL = 3 };

/* Sequences of a question: given, of a 4-D query, whole prompts of the average length, or one token
 * each. */
static struct work_lengths lengths_of(const struct query *q, struct cell_dims query,
                                      struct cell_dims key)
{
    bool is_batched = query.n == 4;
    double keys = (double)q->avg_seq, seqs = (double)q->seqs;
    double tokens = (double)query.at[0] * (is_batched ? (double)query.at[2] : 1);
    int64_t sparse = q->sparse_mode >= 0 ? q->sparse_mode : SPARSE_CAUSAL;

    if (q->avg_seq < 0 && key.n == 4)
        keys = (double)key.at[2];
    if (seqs <= 0 && is_batched)
        seqs = (double)query.at[0];
    if (seqs <= 0)
        seqs = keys > 1 && tokens >= keys && fmod(tokens, keys) == 0 ? tokens / keys : tokens;
    struct work_lengths lengths = work_lengths(seqs, tokens / seqs, keys, sparse > 0);
    lengths.sparse = sparse;
    lengths.kv_heads = q->kv_heads;
    if (q->kv_heads <= 0)
        lengths.kv_heads = key.n == 3 || key.n == 4 ? key.at[1] : 0;
    return lengths;
}

bool query_work(struct query_db *db, const struct query *q, struct str kernel, int64_t count,
                struct call_work *out)
{
    struct query_inputs in = q->inputs;
    struct work_lengths lengths = {0};
    bool is_attention = work_is_attention(kernel);
    struct cell_dims none = {0};

    if (count >= 0 && in.n > (size_t)count)
        in.n = (size_t)count;
    if (is_attention && (in.n == 0 || in.at[0].dims.n < 2 || in.at[0].dims.at[0] < 1))
        return false;
    if (is_attention)
        lengths = lengths_of(q, in.at[0].dims, in.n > 1 ? in.at[1].dims : none);
    return work_of(&db->arena, kernel, in, q->n_formats >= in.n ? q->formats : NULL,
                   is_attention ? &lengths : NULL, S(""), out);
}

static void model_add_row(const struct opset *set, uint32_t row, double us, const char *differs,
                          struct query_result *out)
{
    const struct op_table *t = &set->table;
    double kernels = 0;

    if (out->n_near == QUERY_NEAR)
        return;
    cell_number(table_cell(t, row, table_column(t, S("Kernels"))), &kernels);
    out->near[out->n_near++] = (struct query_near){
        .kernel = set->kernel,
        .shapes = cell_bare(table_cell(t, row, table_column(t, COL_INPUT_SHAPES))),
        .dtypes = cell_bare(table_cell(t, row, table_column(t, COL_INPUT_DTYPES))),
        .line = t->lines.at[row],
        .latency_us = us,
        .kernels = kernels >= 1 ? kernels : 1,
        .differs = differs,
    };
}

static double distance(const struct call_work *a, const struct call_work *b)
{
    double sum = 0;

    for (unsigned i = 0; i < a->n_axes && i < b->n_axes; i++)
        sum += pow(log(a->axis[i] / b->axis[i]), 2);
    return sum + (a->kind != b->kind ? 1e6 : 0);
}

/* The nearest rows of other regimes, or of this one; each with the field that differs. */
static void add_missed(const struct opset *set, const struct call_work *w, struct query_result *out)
{
    double limit = -1;

    for (size_t k = 0; k < QUERY_MISSED; k++) {
        double best = INFINITY;
        uint32_t row = 0;
        const struct estimate_point *found = NULL;
        for (size_t r = 0; r < set->regimes.n; r++)
            for (size_t i = 0; i < set->regimes.at[r].points.n; i++) {
                const struct estimate_point *p = &set->regimes.at[r].points.at[i];
                double far = distance(&p->work, w) + (p->work.regime != w->regime ? 100 : 0);
                if (far > limit && far < best) {
                    best = far;
                    found = p;
                    row = set->regimes.at[r].rows.at[i];
                }
            }
        if (found == NULL)
            return;
        limit = best;
        bool is_other_type = found->work.regime != w->regime && found->work.kind == w->kind;
        model_add_row(set, row, found->us,
                      is_other_type ? COL_INPUT_DTYPES.at : COL_INPUT_SHAPES.at, out);
    }
}

static struct query_result answered(const struct opset *set, enum query_source source,
                                    const char *rule, double us)
{
    return (struct query_result){.latency_us = us,
                                 .source = source,
                                 .kernel = set->kernel,
                                 .rule = str_of(rule),
                                 .has_interval = true};
}

static double confidence(const struct query_result *r)
{
    return fmax(0, 1 - (r->high_us - r->low_us) / 2 / r->latency_us);
}

double query_noise(const struct estimate_model *m)
{
    const struct estimate_member *best = &m->member[0];

    return exp(1.2816 * best->spread * sqrt(best->kriging.noise));
}

double query_six_digits(double value)
{
    static const double powers[] = {1e11, 1e10, 1e9, 1e8,  1e7,  1e6,  1e5,  1e4,  1e3,
                                    1e2,  1e1,  1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
    size_t i = 0;

    if (!(value >= 1e-6 && value < 1e12))
        return value;
    while (i + 1 < ARRAY_LEN(powers) && value * powers[i] >= 1e6)
        i++;
    return round(value * powers[i]) / powers[i];
}

void query_answer(struct opset *set, const struct call_work *w, bool is_exact,
                  struct query_result *out)
{
    struct opset_regime *r = opset_regime(set, w);
    struct estimate e;
    uint32_t row;

    const struct estimate_point *p = r != NULL ? opset_exact(set, w, &row) : NULL;
    if (p != NULL) {
        /* A second measurement of the row differs by what no model explains. */
        double noise = query_noise(&r->model);
        *out = answered(set, QUERY_MEASURED, "identity", p->us);
        out->low_us = p->us / noise;
        out->high_us = p->us * noise;
        model_add_row(set, row, p->us, NULL, out);
    } else if (r != NULL && !is_exact) {
        estimate_call(&r->model, w, ESTIMATE_NONE, &e);
        *out = answered(set, e.is_inside ? QUERY_INTERPOLATED : QUERY_EXTRAPOLATED,
                        e.is_inside ? "kriging" : "roof+kriging", e.us);
        out->low_us = e.low_us;
        out->high_us = e.high_us;
        for (unsigned i = 0; i < e.n_near; i++)
            model_add_row(set, r->rows.at[e.near[i]], r->points.at[e.near[i]].us, NULL, out);
    } else {
        *out = (struct query_result){.miss = "shape_mismatch", .kernel = set->kernel};
        add_missed(set, w, out);
        return;
    }
    out->low_us = query_six_digits(out->low_us);
    out->high_us = query_six_digits(out->high_us);
    if (p == NULL)
        out->latency_us = query_six_digits(out->latency_us);
    out->confidence = query_six_digits(confidence(out));
}

bool query_has_roof(const char *miss, struct str kernel)
{
    return strcmp(miss, "csv_not_found") != 0 || bench_is_known(kernel);
}

double query_peak(const struct device *device, enum dtype type)
{
    enum peak own;

    return peak_of_dtype(type, &own) ? device->tflops[device_product_peak(device, type)] : 0;
}

static bool has_types(const struct query *q)
{
    for (size_t i = 0; i < q->inputs.n; i++) {
        if (dtype_bits(query_type(q->inputs.at[i].dtype)) == 0 && q->inputs.at[i].dims.n > 0)
            return false;
    }
    return q->inputs.n > 0;
}

void query_analytic(const struct device *device, const struct query *q, struct str kernel,
                    const struct call_work *w, struct query_result *out)
{
    if (!has_types(q))
        return;
    double rate = query_peak(device, query_type(q->inputs.at[0].dtype)) * 1e6;
    double speed = device->gbps * 1e3;
    if (speed <= 0 || (w->flops > 0 && rate <= 0))
        return;
    double roof = fmax(w->flops > 0 ? w->flops / rate : 0, w->bytes / speed);
    *out = (struct query_result){.latency_us = roof * 1.7,
                                 .source = QUERY_ANALYTIC,
                                 .kernel = kernel,
                                 .rule = S("roof"),
                                 .has_interval = true,
                                 .low_us = query_six_digits(roof),
                                 .high_us = query_six_digits(3 * roof)};
    out->latency_us = query_six_digits(out->latency_us);
    out->confidence = query_six_digits(confidence(out));
}

/* An answer by one kernel; the roof of the device is for the caller. */
static enum status ask_kernel(struct query_db *db, const struct query *q, struct str kernel,
                              int64_t count, bool is_exact, struct query_result *out,
                              struct diag *d)
{
    struct opset *set;
    struct call_work w;

    *out = (struct query_result){.miss = "csv_not_found", .kernel = kernel};
    TRY(query_set(db, kernel, &set, d));
    if (set == NULL)
        return ST_OK;
    out->miss = "invalid_args";
    if (query_work(db, q, kernel, count, &w))
        query_answer(set, &w, is_exact, out);
    return ST_OK;
}

/* Measured rows of any kernel go before estimates of the first, and these before the roofline. */
enum status query_models(struct query_db *db, const struct query *q, const struct str *kernels,
                         size_t n, int64_t count, struct query_result *out, struct diag *d)
{
    struct query_result missed = {.miss = "csv_not_found", .kernel = kernels[0]};
    struct call_work w;
    bool starts_exact = q->is_exact || n > 1;

    for (int is_exact = starts_exact; is_exact >= q->is_exact; is_exact--)
        for (size_t i = 0; i < n; i++) {
            TRY(ask_kernel(db, q, kernels[i], count, is_exact, out, d));
            if (out->miss == NULL)
                return ST_OK;
            if (i == 0 || missed.n_near == 0)
                missed = *out;
        }
    *out = missed;
    if (!q->is_exact && query_has_roof(missed.miss, kernels[0]) && db->device != NULL &&
        query_work(db, q, kernels[0], count, &w))
        query_analytic(db->device, q, kernels[0], &w, out);
    return ST_OK;
}

void query_comm_work(const struct opset *set, const struct comm_query *q, struct call_work *out)
{
    double bytes = (double)q->bytes;
    uint64_t regime = work_comm_regime(q->tier, S(""));
    uint32_t plain;

    /* Of any tier: the first row's, but rather one that is no variant. */
    if (q->tier < 0 && set->regimes.n > 0 && !hash_get(&set->regime_of, regime, &plain))
        regime = set->regimes.at[0].key;

    /* A reduce-scatter is asked for by its input; tables know the share of one rank. */
    if (str_equal(set->kernel, S("hcom_reduceScatter_")))
        bytes /= (double)q->num_devices;
    work_of_comm(bytes, (double)q->num_devices, regime, out);
}

enum status query_model_comm(struct query_db *db, const struct query *q, struct str kernel,
                             struct query_result *out, struct diag *d)
{
    struct opset *set;
    struct call_work w;

    *out = (struct query_result){.miss = "csv_not_found", .kernel = kernel};
    TRY(query_set(db, kernel, &set, d));
    if (set != NULL) {
        query_comm_work(set, &q->message, &w);
        query_answer(set, &w, q->is_exact, out);
    }
    return ST_OK;
}
