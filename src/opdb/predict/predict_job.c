/*
 * Step times from a database. See predict_job.h.
 */
#include "opdb/predict/predict_job.h"

#include <math.h>

#include "opdb/rows/capture_rows.h"
#include "opdb/rows/opset.h"

/* How far below and above its answers an operator may be, over all of its calls. */
struct predict_error {
    struct str op;
    double low_us, high_us;
};

struct predicting {
    struct predict *p;
    struct predict_step *step;
    struct query_db *db;
    const struct predict_job *job;
    struct diag *d;
    enum status status;
    VEC_OF(struct predict_error) errors; /* by operator */
};

/* Steps differ from the sum of their kernels and gaps beyond the errors of the operators: gaps vary
 * by a third, kernels with clocks and caches. With these, 80 % of 52 steps on an H200 were inside,
 * each predicted from the other 51. */
static const double gap_error = 0.3, kernel_error = 0.021;

/* The work of a call of the model, as of a row of a table. */
static bool work_of_cells(struct arena *arena, const struct op_cells *c, struct call_work *out)
{
    struct query_row row;
    struct work_lengths lengths;
    bool is_paged = str_contains(c->types, S("INT32"));

    if (!query_row_read(arena, c->in, c->types, S(""), -1, &row))
        return false;
    if (c->lengths.n > 0) {
        if (!work_lengths_read(c->lengths, c->kv_lengths, is_paged, c->sparse_mode > 0, &lengths))
            return false;
        lengths.kv_heads = c->kv_heads;
        lengths.sparse = c->sparse_mode;
    }
    return work_of(arena, str_of(c->op), row.inputs, NULL, c->lengths.n > 0 ? &lengths : NULL,
                   S(""), out);
}

static void ask_call(struct predicting *x, const struct op_cells *c, struct query_result *r)
{
    struct opset *set;
    struct call_work w;

    *r = (struct query_result){.miss = "csv_not_found"};
    x->status = query_set(x->db, str_of(c->op), &set, x->d);
    if (x->status != ST_OK || !work_of_cells(&x->p->arena, c, &w))
        return;
    if (set != NULL)
        query_answer(set, &w, false, r);
    if (r->miss != NULL && x->db->device != NULL) {
        struct query_input in = {.dtype = S("bf16")};
        struct query q = {.inputs = {&in, 1}};
        query_analytic(x->db->device, &q, str_of(c->op), &w, r);
    }
}

/* A ring or an exchange over links of that latency and bandwidth. */
static void ask_comm(struct predicting *x, const struct op_cells *c, struct query_result *r)
{
    const struct predict_job *job = x->job;
    struct query q = {
        .comm = c->comm,
        .message = {.bytes = num_i64_of(c->bytes), .num_devices = c->devices, .tier = -1},
        .is_model = true};
    double n = (double)c->devices;

    x->status = query_run(x->db, &q, r, x->d);
    if (r->miss == NULL || job->link_gbps <= 0)
        return;
    bool is_reduce = str_equal(str_of(c->comm), S("all_reduce"));
    double moved = c->bytes * (is_reduce ? 2 : 1) * (n - 1) / n;
    double us = (is_reduce ? 2 : 1) * (n - 1) * job->link_us + moved / (job->link_gbps * 1e3);
    *r = (struct query_result){.latency_us = us,
                               .low_us = us,
                               .high_us = 2 * us,
                               .source = QUERY_ANALYTIC,
                               .has_interval = true};
}

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
static void job_add_row(struct predicting *x, const struct op_cells *c,
                        const struct query_result *r)
{
    struct predict_step *s = x->step;
    double times = (double)c->times, kernels = r->n_near > 0 ? r->near[0].kernels : 1;
    struct arena *arena = &x->p->arena;
    struct predict_row row = {
        .part = c->layer,
        .op = arena_str(arena, c->comm != NULL ? str_of(c->comm) : str_of(c->op)),
        .shapes = c->comm != NULL ? arena_format(arena, "%.0f bytes, %lld devices", c->bytes,
                                                 (long long)c->devices)
                                  : arena_str(arena, c->in),
        .calls = (uint64_t)c->times,
    };

    s->calls += row.calls;
    if (r->miss != NULL) {
        s->missed += row.calls;
        vec_push(&s->rows, row);
        return;
    }
    row.source = query_source_name(r->source);
    row.each_us = r->latency_us;
    row.us = times * r->latency_us;
    row.low_us = times * r->low_us;
    row.high_us = times * r->high_us;
    *(c->comm != NULL ? &s->comm_us : &s->compute_us) += row.us;
    s->kernels += num_u64_of(times * kernels);
    add_error(x, &row);
    vec_push(&s->rows, row);
}

static void predict_call(void *ctx, const struct op_cells *c)
{
    struct predicting *x = ctx;
    struct query_result r;

    if (x->status != ST_OK)
        return;
    if (c->comm != NULL)
        ask_comm(x, c, &r);
    else
        ask_call(x, c, &r);
    if (x->status == ST_OK)
        job_add_row(x, c, &r);
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

enum status predict_run(struct predict *p, struct query_db *db, const struct predict_job *job,
                        struct diag *d)
{
    struct predict_step *s = &p->steps[p->n_steps++];
    struct predicting x = {.p = p, .step = s, .db = db, .job = job, .d = d, .status = ST_OK};

    *s = (struct predict_step){.phase = job->step.is_decode ? "decode" : "prefill",
                               .batch = job->step.batch,
                               .length = job->step.length};
    p->layers = job->step.layers;
    p->tp = job->sizes.tp;
    p->ep = job->sizes.ep;
    build_step(job->model, &job->sizes, &job->step, predict_call, &x);
    s->gap_us = (double)s->kernels * job->gap_us;
    s->us = s->compute_us + s->comm_us + s->gap_us;
    /* Errors of operators, of gaps and of the step as a whole are independent of one another. */
    double own = pow(gap_error * s->gap_us, 2) + pow(kernel_error * s->compute_us, 2);
    double low = own, high = own;
    for (size_t i = 0; i < x.errors.n; i++) {
        low += pow(x.errors.at[i].low_us, 2);
        high += pow(x.errors.at[i].high_us, 2);
    }
    s->low_us = s->us - sqrt(low);
    s->high_us = s->missed == 0 ? s->us + sqrt(high) : NAN;
    vec_free(&x.errors);
    TRY(x.status);
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
    for (size_t i = 0; i < p->n_steps; i++) {
        vec_free(&p->steps[i].rows);
        vec_free(&p->steps[i].ops);
    }
    arena_free(&p->arena);
}
