/*
 * Changes that let kernels reach a roof: the peak of the units they could use, or the bandwidth.
 */
#include <assert.h>

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/whatif_changes.h"

/* ---- time at the roof ---- */

/* How much smaller a convolution's output is than its input: the next operators show its shape. */
static double output_share(const struct whatif *w, const struct host_call *call)
{
    const struct host_call *end = w->a->host.calls + w->a->host.n;
    struct tensor_shapes own = operator_work_shapes(w->cap, whatif_operator(w, call));
    struct tensor_shape full = own.at[0];

    full.dim[1] = own.at[1].dim[0]; /* [out, in of a group, ...] */
    for (const struct host_call *c = call; c < end && c - call <= LIMIT_CONSUMERS; c++) {
        if (c->op == NO_SLICE || c->op == call->op || c->timeline != call->timeline)
            continue;
        struct tensor_shapes shapes = operator_work_shapes(w->cap, whatif_operator(w, c));
        const struct tensor_shape *s = &shapes.at[0];
        if (shapes.n > 0 && s->n == full.n && s->dim[0] == full.dim[0] && s->dim[1] == full.dim[1])
            return num_share(tensor_elements(s), tensor_elements(&full));
    }
    return 1;
}

/* What tensor cores reach at a peak for the operator of a call; 0 when its shapes are not known. */
static double tensor_time(struct whatif *w, const struct host_call *call, enum peak peak)
{
    struct recorded_work work = operator_work_of(&w->works, whatif_operator(w, call))->is;
    int percent = roof_percent(
        w->device, call->family == FAMILY_CONV ? ROOF_CONVOLUTION : ROOF_PRODUCT, peak, 0);
    bool is_narrowed =
        work.type == DTYPE_F64 || dtype_bits(work.type) == 0; /* doubles become floats */
    double bytes = work.moved * (is_narrowed ? 4 : dtype_bytes(work.type));
    double share = work.is_estimated ? output_share(w, call) : 1;
    double compute = roof_flops_time(w->device, work.flops * share, peak, percent);
    double memory = roof_bytes_time(w->device, bytes, LIMIT_MEMORY_ROOF);
    double time = compute > memory ? compute : memory;

    return compute <= 0 ? 0 : time > LIMIT_LEAST_KERNEL ? time : LIMIT_LEAST_KERNEL;
}

/* ---- kernels by operator ---- */

/* Kernels of one operator share its time at the roof as they share it now. */
struct roof_group {
    nanos now;
    double roof; /* 0: not known; below 0: stays as it is */
};

struct roof {
    struct whatif *w;
    struct str site;
    bool (*picks)(const struct roof *r, const struct device_task *t);
    uint32_t (*key)(const struct host_call *call); /* slice of the operator that is one group */
    /* Nanoseconds for the group's operator, which takes `now`. */
    double (*time)(struct whatif *w, const struct host_call *call, nanos now);
    double unshaped; /* without shapes it is so many times faster; 0: the time stays */
    struct hash groups;
    VEC_OF(struct roof_group) at;
};

static uint32_t key_op(const struct host_call *call)
{
    return call->op;
}

static uint32_t key_outer(const struct host_call *call)
{
    return call->outer;
}

static const struct host_call *call_of_task(const struct whatif *w, const struct device_task *t)
{
    return &w->a->host.calls[t->call];
}

static bool is_picked(const struct roof *r, const struct device_task *t)
{
    return t->class == TASK_COMPUTE && t->call != NO_CALL && r->picks(r, t);
}

/* The slice that a task is grouped by. The operator around a graph's launch is not that of its
 * kernels. */
static uint32_t roof_key(const struct roof *r, const struct device_task *t)
{
    return t->is_graph ? NO_SLICE : r->key(call_of_task(r->w, t));
}

static nanos unshaped_time(const struct roof *r, nanos now)
{
    return r->unshaped > 1 ? nanos_of((double)now / r->unshaped) : now;
}

static nanos time_of_task(struct roof *r, const struct device_task *t, nanos now)
{
    const struct host_call *call = call_of_task(r->w, t);
    uint32_t place, key = roof_key(r, t);

    if (key == NO_SLICE || !hash_get(&r->groups, key, &place))
        return unshaped_time(r, now);
    assert(place < r->at.n && r->at.at != NULL);
    struct roof_group *g = &r->at.at[place];
    if (g->roof < 0)
        g->roof = r->time(r->w, call, g->now);
    if (g->roof <= 0)
        return unshaped_time(r, now);
    return nanos_of(g->roof * num_share((double)(t->end - t->begin), (double)g->now));
}

static void bring_to_roof(struct roof *r, struct replay_change *c)
{
    const struct device_tasks *tasks = &r->w->a->tasks;

    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        if (!is_picked(r, t))
            continue;
        uint32_t key = roof_key(r, t);
        if (key == NO_SLICE)
            continue;
        uint32_t fresh = (uint32_t)r->at.n, place = hash_add(&r->groups, key, fresh);
        if (place == fresh)
            vec_push(&r->at, ((struct roof_group){0, -1}));
        assert(place < r->at.n && r->at.at != NULL);
        r->at.at[place].now += t->end - t->begin;
    }
    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        uint32_t node = r->w->replay->node_of_task[i];
        if (!is_picked(r, t))
            continue;
        nanos after = time_of_task(r, t, c->dur[node]);
        c->dur[node] = after < c->dur[node] ? after : c->dur[node];
    }
    hash_free(&r->groups);
    vec_free(&r->at);
}

/* ---- without tensor cores ---- */

static bool is_slow_product(const struct roof *r, const struct device_task *t)
{
    return t->is_simt && !t->is_fp64 && whatif_fits(r->w, call_of_task(r->w, t), r->site);
}

static double product_time(struct whatif *w, const struct host_call *call, nanos now)
{
    (void)now;
    return tensor_time(w, call, roof_float_peak(w->device));
}

void whatif_gemm_at_roof(struct whatif *w, struct str site, struct replay_change *c)
{
    struct roof r = {.w = w,
                     .site = site,
                     .picks = is_slow_product,
                     .key = key_op,
                     .time = product_time,
                     .unshaped = roof_float_gain(w->device)};

    bring_to_roof(&r, c);
}

/* ---- families ---- */

static bool is_of_family(const struct roof *r, const struct device_task *t, enum kernel_family f)
{
    return t->family == f && (r->site.n == 0 || str_equal(r->site, str_of(kernel_family_name(f))));
}

static bool is_tensor_product(const struct roof *r, const struct device_task *t)
{
    return !t->is_simt &&
           (is_of_family(r, t, FAMILY_GEMM_TENSOR) || is_of_family(r, t, FAMILY_CONV));
}

/* Products that are far below what their units reach. */
static double inefficient_time(struct whatif *w, const struct host_call *call, nanos now)
{
    enum dtype type = operator_work_of(&w->works, whatif_operator(w, call))->is.type;
    double roof = tensor_time(w, call, device_product_peak(w->device, type));

    if (now < LIMIT_INEFFICIENT_LEAST || (double)now * 100 < roof * LIMIT_INEFFICIENT)
        return (double)now;
    return roof;
}

static bool is_index_sort(const struct roof *r, const struct device_task *t)
{
    return is_of_family(r, t, FAMILY_INDEX_SORT);
}

/* Sorting as top-k, indexing as a mask, of the largest tensor of the outermost operator. */
static double index_sort_time(struct whatif *w, const struct host_call *call, nanos now)
{
    struct operator_ref ref = {call->outer, whatif_operator(w, call).kernel};
    struct recorded_work work = operator_work_of(&w->works, ref)->is;
    double bytes = work.largest * (dtype_bits(work.type) > 0 ? dtype_bytes(work.type) : 4);
    struct str name = capture_text(w->cap, w->cap->slices.name[call->outer]);
    bool is_sort = str_contains(name, S("sort")) || str_contains(name, S("unique"));
    double time = roof_bytes_time(w->device, bytes, is_sort ? LIMIT_SORT_ROOF : LIMIT_INDEX_ROOF);

    (void)now;
    return time > 0 ? time + (is_sort ? LIMIT_SORT_START : LIMIT_INDEX_START) : 0;
}

void whatif_family_at_roof(struct whatif *w, struct str site, struct replay_change *c)
{
    struct roof products = {
        .w = w, .site = site, .picks = is_tensor_product, .key = key_op, .time = inefficient_time};
    struct roof sorts = {
        .w = w, .site = site, .picks = is_index_sort, .key = key_outer, .time = index_sort_time};

    bring_to_roof(&products, c);
    bring_to_roof(&sorts, c);
    if (site.n == 0 || str_equal(site, S("gemm_simt")))
        whatif_gemm_at_roof(w, S(""), c);
}

/* ---- doubles ---- */

/* What is left of a kernel's time when its doubles are floats, in percent. */
static int percent_left(const struct whatif *w, const struct device_task *t)
{
    struct str name = capture_text(w->cap, w->cap->slices.name[t->slice]);

    switch ((enum kernel_family)t->family) {
    case FAMILY_REDUCE:
        return str_contains(name, S("reduce_kernel")) ? LIMIT_FP32_REDUCE : LIMIT_FP32_NORM;
    case FAMILY_LAYOUT:
        return LIMIT_FP32_LAYOUT;
    default:
        return str_contains(name, S("vectorized")) ? LIMIT_FP32_VECTORIZED : LIMIT_FP32_ELEMENTWISE;
    }
}

static bool is_double_product(const struct roof *r, const struct device_task *t)
{
    return t->is_fp64 && t->is_simt && whatif_fits(r->w, call_of_task(r->w, t), r->site);
}

/* Kernels of doubles do the same in floats, by the rates of the device for both; products of them
 * reach the roof of floats. */
void whatif_no_fp64(struct whatif *w, struct str site, struct replay_change *c)
{
    struct roof r = {.w = w,
                     .site = site,
                     .picks = is_double_product,
                     .key = key_op,
                     .time = product_time,
                     .unshaped = roof_float_gain(w->device)};

    for (size_t i = 0; i < w->a->tasks.n; i++) {
        const struct device_task *t = &w->a->tasks.at[i];
        uint32_t node = w->replay->node_of_task[i];
        if (!t->is_fp64 || t->is_simt || t->call == NO_CALL ||
            (call_of_task(w, t)->op == NO_SLICE && !t->is_graph) ||
            !whatif_fits(w, call_of_task(w, t), site))
            continue;
        c->dur[node] = c->dur[node] / 100 * percent_left(w, t);
    }
    bring_to_roof(&r, c);
}
