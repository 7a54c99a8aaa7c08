/*
 * Step times from a database. See predict_job.h.
 */
#include "opdb/predict/predict_job.h"

#include <math.h>

#include "opdb/rows/capture_rows.h"

/* How far below and above its answers an operator may be, over all of its calls. */
struct predict_error {
    struct str op;
    double low_us, high_us;
};

struct predicting {
    struct predict *p;
    struct predict_step *step;
    struct call_times times;
    const struct predict_job *job;
    enum status status;
    unsigned module;                     /* that its own rows answered */
    VEC_OF(struct predict_error) errors; /* by operator */
};

/* Steps differ from the sum of their kernels and gaps beyond the errors of the operators: gaps vary
 * by a third, kernels with clocks and caches. With these, 80 % of 52 steps on an H200 were inside,
 * each predicted from the other 51. */
static const double gap_error = 0.3, kernel_error = 0.021;

/* The rows of an operator share its model, and so its error. */
static void add_error(struct predicting *x, const struct predict_row *row)
{
    size_t i = 0;

    while (i < x->errors.n && !str_equal(x->errors.at[i].op, row->op))
        i++;
    if (i == x->errors.n)
        vec_push(&x->errors, ((struct predict_error){.op = row->op}));
    x->errors.at[i].low_us += row->us - row->low_us;
    x->errors.at[i].high_us += row->high_us - row->us;
}

/* One estimate serves all calls of a row, so its error does not average out: bounds are
 * multiplied, too. */
static void job_add_row(struct predicting *x, const struct model_call *c, const struct call_time *t)
{
    struct predict_step *s = x->step;
    double times = (double)c->times;
    struct predict_row row = {.part = c->part,
                              .op = t->op,
                              .shapes = t->shapes,
                              .calls = (uint64_t)c->times,
                              .weights = c->weights};

    s->calls += row.calls;
    if (t->miss != NULL) {
        s->missed += row.calls;
        vec_push(&s->rows, row);
        return;
    }
    row.source = query_source_name(t->source);
    row.each_us = t->us;
    row.us = times * t->us;
    row.low_us = times * t->low_us;
    row.high_us = times * t->high_us;
    *(c->op == MODEL_COMM ? &s->comm_us : &s->compute_us) += row.us;
    s->kernels += num_u64_of(times * t->kernels);
    add_error(x, &row);
    vec_push(&s->rows, row);
}

static void predict_call(void *ctx, const struct model_call *c)
{
    struct predicting *x = ctx;
    struct call_time t;

    if (x->status != ST_OK || (c->module > 0 && c->module == x->module))
        return;
    x->status = call_time(&x->times, c, true, &t);
    if (c->op == MODEL_MODULE && t.miss == NULL)
        x->module = c->module;
    if (x->status == ST_OK && (c->op != MODEL_MODULE || t.miss == NULL))
        job_add_row(x, c, &t);
}

static struct predict_op *job_op_of(struct predict_step *s, struct str op)
{
    for (size_t i = 0; i < s->ops.n; i++)
        if (str_equal(s->ops.at[i].op, op))
            return &s->ops.at[i];
    vec_push(&s->ops, ((struct predict_op){.op = op}));
    return &s->ops.at[s->ops.n - 1];
}

/* How many steps a capture holds: calls of the operator that runs most often, over those of one. */
static uint64_t steps_in(const struct predict_step *s, const struct capture_op *ops, size_t n)
{
    const struct predict_op *most = NULL;

    for (size_t i = 0; i < s->ops.n; i++)
        if (most == NULL || s->ops.at[i].calls > most->calls)
            most = &s->ops.at[i];
    for (size_t i = 0; i < n && most != NULL; i++)
        if (str_equal(ops[i].op, most->op) && ops[i].calls > most->calls)
            return num_u64_of(round((double)ops[i].calls / (double)most->calls));
    return 1;
}

static enum status predict_job_compare(struct predict *p, struct predict_step *s, const char *path,
                                       struct diag *d)
{
    struct capture_op *ops;
    size_t n;

    TRY(capture_ops(path, &p->arena, &ops, &n, d));
    for (size_t i = 0; i < s->rows.n; i++) {
        struct predict_op *op = job_op_of(s, s->rows.at[i].op);
        op->calls += s->rows.at[i].calls;
        op->us += s->rows.at[i].us;
    }
    s->measured_steps = steps_in(s, ops, n);
    for (size_t i = 0; i < n; i++) {
        struct predict_op *op = job_op_of(s, ops[i].op);
        op->measured_calls = ops[i].calls / s->measured_steps;
        op->measured_us = ops[i].us / (double)s->measured_steps;
        s->measured_us += op->measured_us;
    }
    s->error = NAN; /* without an operator that both have */
    for (size_t i = 0; i < s->ops.n; i++) {
        struct predict_op *op = &s->ops.at[i];
        op->error = op->measured_us > 0 && op->us > 0 ? op->us / op->measured_us - 1 : NAN;
        if (isfinite(op->error))
            s->error = (s->compute_us + s->comm_us) / s->measured_us - 1;
    }
    s->has_measured = true;
    return ST_OK;
}

static struct model_load load_of(const struct predict_job *job)
{
    double batch = (double)job->batch, length = (double)job->length;

    if (!job->is_decode)
        return (struct model_load){.prompts = batch, .queries = length};
    return (struct model_load){.decodes = batch,
                               .keys = length,
                               .prompts = job->prompt > 0 ? 1 : 0,
                               .queries = (double)job->prompt};
}

/* Errors of operators, of gaps and of the step as a whole are independent of one another. */
static void set_interval(struct predicting *x)
{
    struct predict_step *s = x->step;
    double own = pow(gap_error * s->gap_us, 2) + pow(kernel_error * s->compute_us, 2);
    double low = own, high = own;

    for (size_t i = 0; i < x->errors.n; i++) {
        low += pow(x->errors.at[i].low_us, 2);
        high += pow(x->errors.at[i].high_us, 2);
    }
    s->low_us = s->us - sqrt(low);
    s->high_us = s->missed == 0 ? s->us + sqrt(high) : NAN;
}

/* All calls of a stage, added up. */
static enum status run_stage(struct predict *p, struct query_db *db, const struct predict_job *job,
                             int64_t stage, struct predict_step *s, struct diag *d)
{
    struct predicting x = {.p = p,
                           .step = s,
                           .times = {.db = db, .links = job->links, .d = d, .arena = &p->arena},
                           .job = job,
                           .status = ST_OK};
    struct model_load load = load_of(job);

    *s = (struct predict_step){.phase = job->is_decode ? "decode" : "prefill",
                               .batch = job->batch,
                               .length = job->length,
                               .prompt = job->is_decode ? job->prompt : 0};
    model_calls(job->model, &job->layout, &job->types, &load, stage, predict_call, &x);
    s->gap_us = (double)s->kernels * job->gap_us;
    s->us = s->compute_us + s->comm_us + s->gap_us;
    set_interval(&x);
    vec_free(&x.errors);
    return x.status;
}

static void free_step(struct predict_step *s)
{
    vec_free(&s->rows);
    vec_free(&s->ops);
}

/* Weights, and the cache and activations of the step that needs most. */
static void add_memory(struct predict *p, const struct device *device,
                       const struct predict_job *job)
{
    struct model_load load = load_of(job);
    double seqs = load.decodes + load.prompts, tokens = model_load_tokens(&load);
    double kept = load.decodes * load.keys + load.prompts * load.queries;
    struct model_memory m = model_memory(job->model, &job->layout, &job->types, tokens, seqs);
    struct predict_memory one = {
        .weight_bytes = m.weight_bytes,
        .cache_bytes = kept * m.cache_bytes + seqs * m.state_bytes,
        .work_bytes = m.work_bytes,
        .token_bytes = m.cache_bytes,
        .sequence_bytes = m.state_bytes,
        .device_bytes = device != NULL ? device->memory_gb * 1e9 : 0,
    };

    if (predict_memory_needed(&one) > predict_memory_needed(&p->memory))
        p->memory = one;
}

double predict_memory_needed(const struct predict_memory *m)
{
    return m->weight_bytes + m->cache_bytes + m->work_bytes;
}

enum status predict_run(struct predict *p, struct query_db *db, const struct predict_job *job,
                        struct diag *d)
{
    struct predict_step *s = &p->steps[p->n_steps++];

    p->layers = (int64_t)job->model->n_layers;
    p->tp = job->layout.tp;
    p->pp = job->layout.pp;
    p->dp = job->layout.dp;
    p->ep = job->layout.ep;
    p->expert_tp = job->layout.expert_tp;
    p->gemm = job->types.gemm->name;
    p->experts = job->types.experts->name;
    p->cache = job->types.cache->name;
    add_memory(p, db->device, job);
    TRY(run_stage(p, db, job, 0, s, d));
    for (int64_t stage = 1; stage < job->layout.pp; stage++) {
        struct predict_step one;
        enum status st = run_stage(p, db, job, stage, &one, d);
        bool is_longer = st == ST_OK && one.us > s->us;
        free_step(is_longer ? s : &one);
        if (is_longer)
            *s = one;
        TRY(st);
    }
    return job->against != NULL ? predict_job_compare(p, s, job->against, d) : ST_OK;
}

void predict_init(struct predict *p, struct str model)
{
    *p = (struct predict){0};
    arena_init(&p->arena);
    p->model = arena_str(&p->arena, model);
}

void predict_free(struct predict *p)
{
    for (size_t i = 0; i < p->n_steps; i++)
        free_step(&p->steps[i]);
    arena_free(&p->arena);
}
