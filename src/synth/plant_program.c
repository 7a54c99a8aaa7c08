/*
 * plant: steps of training, prefill and decode, and where each problem sits in them.
 */
#include "base/run/cancel.h"
#include "synth/plant.h"

enum { MB = 1000000, BUCKET = 25 * MB };

/* ---- forward ---- */

/* On tensors with a row for each token. */
static void elementwise(struct plant *p, const char *op, enum op_code code, int64_t columns,
                        int64_t tensors)
{
    plant_simple(
        p, &(struct plant_simple){
               .op = op, .code = code, .rows = p->tokens, .columns = columns, .tensors = tensors});
}

static void norm(struct plant *p, int64_t rows)
{
    machine_op(p->m, "aten::layer_norm", SHAPE(p, rows, p->hidden), "DT_BF16");
    plant_simple(p, &(struct plant_simple){.op = "aten::native_layer_norm",
                                           .code = OP_P_NORM,
                                           .rows = rows,
                                           .columns = p->hidden,
                                           .tensors = 2});
    machine_end(p->m);
}

static void contiguous(struct plant *p, int64_t columns)
{
    machine_op(p->m, "aten::contiguous", SHAPE(p, p->tokens, columns), "DT_BF16");
    machine_op(p->m, "aten::clone", SHAPE(p, p->tokens, columns), "DT_BF16");
    elementwise(p, "aten::copy_", OP_P_COPY, columns, 2);
    machine_end(p->m);
    machine_end(p->m);
}

/* Memory for the result of an operator, when none is kept. */
static void allocate(struct plant *p)
{
    struct machine *m = p->m;

    if (!plant_is(p, PLANT_ALLOCATOR) && !plant_is(p, PLANT_VARIABLE_SHAPES))
        return;
    machine_op(m, "aten::empty", "", "");
    machine_call(m, "cudaMalloc", BUSY_ALLOCATOR, machine_draw(m, p->pause / 2, p->pause * 3 / 2),
                 false);
    machine_end(m);
}

/* Scaled, shifted and gated besides: several elementwise operators on one tensor. */
static void activation(struct plant *p)
{
    static const struct {
        const char *op;
        enum op_code code;
        int tensors;
    } ops[] = {{"aten::mul", OP_P_MUL, 2},      {"aten::add", OP_ADD, 2},
               {"aten::sigmoid", OP_P_GELU, 2}, {"aten::sub", OP_ADD, 3},
               {"aten::tanh", OP_P_GELU, 2},    {"aten::div", OP_P_MUL, 2},
               {"aten::clamp", OP_P_GELU, 2},   {"aten::addcmul", OP_P_MUL, 3},
               {"aten::silu", OP_P_GELU, 2},    {"aten::neg", OP_P_MUL, 2},
               {"aten::pow", OP_P_GELU, 2},     {"aten::exp", OP_P_GELU, 2}};
    int64_t columns = 4 * p->hidden;

    if (plant_has(p, PLANT_ELEMENTWISE_UNFUSED) && !p->is_sick) {
        elementwise(p, "triton_poi_fused_add_gelu_mul_0", OP_P_FUSED, columns, 3);
        return;
    }
    for (int64_t i = 0; plant_is(p, PLANT_ELEMENTWISE_UNFUSED) && i < p->amount; i++)
        elementwise(p, ops[i % 12].op, ops[i % 12].code, columns, ops[i % 12].tensors);
    elementwise(p, "aten::gelu", OP_P_GELU, columns, 2);
}

static void after_product(struct plant *p)
{
    if (plant_has(p, PLANT_HOST_SYNC))
        elementwise(p, "aten::max", OP_P_SUM, p->hidden, 1);
    if (plant_is(p, PLANT_HOST_SYNC)) /* else the statistic stays on the device */
        plant_item(p);
    for (int64_t i = 0; plant_is(p, PLANT_LAYOUT_COPIES) && i < p->amount; i++)
        contiguous(p, p->hidden);
}

static void aicpu(struct plant *p)
{
    if (!plant_has(p, PLANT_AICPU_EXPOSED))
        return;
    machine_op(p->m, "aten::bitwise_xor", SHAPE(p, p->tokens), "INT64");
    machine_launch(p->m, &(struct machine_kernel){.code = p->is_sick ? OP_AICPU : OP_P_CAST,
                                                  .dur = p->is_sick ? p->pause : 4000,
                                                  .in = SHAPE(p, p->tokens),
                                                  .out = SHAPE(p, p->tokens)});
    machine_end(p->m);
    machine_python(p->m);
}

/* Independent kernels that use a part of the device each, on two streams. */
static void side_work(struct plant *p)
{
    struct machine *m = p->m;

    if (!plant_has(p, PLANT_DEVICE_DEPENDENCY))
        return;
    machine_wait(m, STREAM_SIDE, STREAM_COMPUTE);
    for (int64_t i = 0; i < p->amount; i++) {
        enum synth_stream stream = i % 2 == 0 ? STREAM_COMPUTE : STREAM_SIDE;
        enum synth_stream other = i % 2 == 0 ? STREAM_SIDE : STREAM_COMPUTE;
        if (p->is_sick)
            machine_wait(m, stream, other);
        machine_op(m, "aten::sum", SHAPE(p, 4096, p->hidden), "DT_BF16");
        machine_launch(m, &(struct machine_kernel){.code = OP_P_SUM,
                                                   .dur = p->pause,
                                                   .in = SHAPE(p, 4096, p->hidden),
                                                   .out = SHAPE(p, p->hidden),
                                                   .stream = stream});
        machine_end(m);
        machine_python(m);
    }
    machine_wait(m, STREAM_COMPUTE, STREAM_SIDE);
}

static void forward_layer(struct plant *p)
{
    int64_t h = p->hidden, t = p->tokens;

    norm(p, t);
    allocate(p);
    plant_linear(p, SLOT_QKV, t, h, 3 * h);
    after_product(p);
    allocate(p);
    plant_attention(p);
    aicpu(p);
    contiguous(p, h / 8); /* every program has a few */
    allocate(p);
    plant_linear(p, SLOT_OUT, t, h, h);
    after_product(p);
    elementwise(p, "aten::add", OP_ADD, h, 3);
    norm(p, t);
    allocate(p);
    plant_linear(p, SLOT_UP, t, h, 4 * h);
    after_product(p);
    activation(p);
    allocate(p);
    plant_linear(p, SLOT_DOWN, t, 4 * h, h);
    after_product(p);
    elementwise(p, "aten::add", OP_ADD, h, 3);
}

static void embed(struct plant *p)
{
    elementwise(p, "aten::embedding", p->m->graph_call != 0 ? OP_P_EMBED_FUSED : OP_P_EMBED,
                p->hidden, 2);
}

/* ---- training ---- */

/* Gradients of a product are reduced as they come, or all at the end. */
static void reduce(struct plant *p, int64_t elements, bool is_end)
{
    int64_t bytes = 2 * elements;
    bool at_end = plant_is(p, PLANT_COMM_EXPOSED);

    if (!p->has_comm || at_end != is_end)
        return;
    for (; bytes > 0; bytes -= BUCKET)
        plant_all_reduce(p, bytes < BUCKET ? bytes : BUCKET);
}

static void simple_grad(struct plant *p, const char *name, const char *op, enum op_code code,
                        int64_t columns)
{
    struct machine *m = p->m;

    machine_op(m, arena_printf(m->names, "autograd::engine::evaluate_function: %s", name), "", "");
    machine_op(m, name, "", "");
    elementwise(p, op, code, columns, 3);
    machine_end(m);
    machine_end(m);
}

static void backward_layer(struct plant *p)
{
    int64_t h = p->hidden, t = p->tokens;

    plant_linear_grad(p, SLOT_DOWN, t, 4 * h, h);
    reduce(p, 4 * h * h, false);
    simple_grad(p, "GeluBackward0", "aten::gelu_backward", OP_P_GELU_GRAD, 4 * h);
    plant_linear_grad(p, SLOT_UP, t, h, 4 * h);
    reduce(p, 4 * h * h, false);
    simple_grad(p, "NativeLayerNormBackward0", "aten::native_layer_norm_backward", OP_P_NORM_GRAD,
                h);
    plant_linear_grad(p, SLOT_OUT, t, h, h);
    reduce(p, h * h, false);
    plant_attention_grad(p);
    plant_linear_grad(p, SLOT_QKV, t, h, 3 * h);
    reduce(p, 3 * h * h, false);
    simple_grad(p, "NativeLayerNormBackward0", "aten::native_layer_norm_backward", OP_P_NORM_GRAD,
                h);
}

/* Scaled and smoothed, in double by accident: operators on the logits. */
static void loss(struct plant *p)
{
    bool is_double = p->is_sick;

    plant_linear(p, SLOT_HEAD, p->tokens, p->hidden, p->vocab);
    for (int64_t i = 0; plant_has(p, PLANT_FP64_USED) && i < p->amount; i++)
        plant_simple(p, &(struct plant_simple){.op = i % 2 == 0 ? "aten::mul" : "aten::sub",
                                               .code = is_double ? OP_P_DOUBLE : OP_P_SINGLE,
                                               .rows = p->tokens,
                                               .columns = p->vocab,
                                               .tensors = 3,
                                               .width = is_double ? 8 : 4,
                                               .types = is_double ? "DOUBLE" : "FLOAT"});
    elementwise(p, "aten::_log_softmax", OP_P_LOSS, p->vocab, 3);
    machine_op(p->m, "aten::nll_loss", SHAPE(p, p->tokens, p->vocab), "FLOAT");
    elementwise(p, "aten::nll_loss_forward", OP_P_SUM, 8, 1);
    machine_end(p->m);
}

static void train_step(struct plant *p, int step)
{
    struct machine *m = p->m;
    int64_t passes = plant_is(p, PLANT_SLOW_STEP_MORE_WORK) && step == p->odd_step ? p->amount : 0;

    embed(p);
    for (int64_t k = 0; k <= passes; k++)
        for (int64_t i = 0; i < p->layers; i++)
            forward_layer(p);
    loss(p);
    plant_host(p, step);
    machine_switch(m, THREAD_BACKWARD);
    simple_grad(p, "LogSoftmaxBackward0", "aten::_log_softmax_backward_data", OP_P_LOSS_GRAD,
                p->vocab);
    plant_linear_grad(p, SLOT_HEAD, p->tokens, p->hidden, p->vocab);
    for (int64_t i = 0; i < p->layers; i++)
        backward_layer(p);
    machine_switch(m, THREAD_MAIN);
    reduce(p, 12 * p->hidden * p->hidden * p->layers, true);
    if (p->has_comm)
        machine_wait(m, STREAM_COMPUTE, STREAM_COMM);
    plant_optimizer(p);
    if (p->logs_loss)
        plant_item(p);
}

/* ---- prefill ---- */

/* Weights of a layer come from the host while the one before it is computed, if a second buffer
 * lets them. */
static void fetch_weights(struct plant *p)
{
    struct machine *m = p->m;

    machine_op(m, "aten::copy_", SHAPE(p, p->size, p->hidden), "DT_BF16");
    plant_copy(p, (struct machine_copy){
                      .way = COPY_HOST_TO_DEVICE, .bytes = p->amount, .stream = STREAM_COPY});
    machine_end(m);
}

static void offloaded_layers(struct plant *p, int step)
{
    struct machine *m = p->m;
    bool is_last = step == p->first + p->steps - 1;

    if (p->is_sick || step == p->first) {
        machine_wait(m, STREAM_COPY, STREAM_COMPUTE);
        fetch_weights(p);
    }
    for (int64_t i = 0; i < p->layers; i++) {
        bool has_next = i + 1 < p->layers;
        machine_wait(m, STREAM_COMPUTE, STREAM_COPY);
        if (!p->is_sick && (has_next || !is_last)) { /* of the next step after the last layer */
            machine_wait(m, STREAM_COPY, STREAM_COMPUTE); /* the layer before left its buffer */
            fetch_weights(p);
        }
        forward_layer(p);
        if (p->is_sick && has_next) {
            machine_wait(m, STREAM_COPY, STREAM_COMPUTE);
            fetch_weights(p);
        }
    }
}

/* Sampling: of sorted logits, or of the largest ones. Times of both as measured on an H200: sorting
 * moves 39 to 48 GB/s, top-k takes 75 to 95 us and reads at 6 to 8 % of the bandwidth. */
static void program_sample(struct plant *p)
{
    enum { SORT_KERNELS = 5, TOPK_KERNELS = 3 };
    struct machine *m = p->m;
    const char *shape = SHAPE(p, p->amount, p->vocab);
    bool sorts = p->is_sick;
    int kernels = sorts ? SORT_KERNELS : TOPK_KERNELS;
    int64_t bytes = 4 * p->amount * p->vocab;
    nanos all = sorts ? machine_bytes(m, bytes, plant_share(p, SLOT_SORT, 8, 10))
                      : machine_bytes(m, bytes, plant_share(p, SLOT_TOPK, 60, 80)) +
                            plant_share(p, SLOT_TOPK_START, 75, 95) * US;

    if (!plant_has(p, PLANT_INDEX_SORT_HEAVY))
        return;
    machine_op(m, sorts ? "aten::sort" : "aten::topk", shape, "FLOAT");
    for (int i = 0; i < kernels; i++)
        machine_launch(m, &(struct machine_kernel){.code = sorts ? OP_P_SORT : OP_P_TOPK,
                                                   .dur = all / kernels,
                                                   .in = shape,
                                                   .out = shape});
    machine_end(m);
    machine_python(m);
}

/* The result goes to the host: all of it, or what was picked on the device. */
static void result(struct plant *p)
{
    struct machine *m = p->m;
    bool is_all = plant_is(p, PLANT_COPY_UNNEEDED);

    program_sample(p);
    plant_simple(p, &(struct plant_simple){.op = "aten::argmax",
                                           .code = OP_ARGMAX,
                                           .rows = 64,
                                           .columns = p->vocab,
                                           .tensors = 1});
    machine_op(m, "aten::to", SHAPE(p, 64), "INT64");
    machine_op(m, "aten::copy_", SHAPE(p, 64), "INT64");
    plant_copy(p, (struct machine_copy){.way = COPY_DEVICE_TO_HOST,
                                        .bytes = is_all ? p->amount : 512,
                                        .blocks = is_all,
                                        .is_pageable = is_all && p->is_pageable});
    machine_sync(m, STREAM_COMPUTE);
    machine_end(m);
    machine_end(m);
    machine_python(m);
}

/* What was compiled for other lengths does not fit. */
static void compile(struct plant *p, int step)
{
    static const char *const ranges[] = {"dynamo", "entire_frame_compile",
                                         "_compile.compile_inner (dynamo_timed)",
                                         "compile_fx.<locals>.fw_compiler_base"};
    struct machine *m = p->m;

    if (!plant_is(p, PLANT_COMPILATION) || step % 2 == 0)
        return;
    if (m->kind == MACHINE_NPU) {
        for (int64_t i = 0; i < p->amount; i++)
            machine_call(m, "opCompile", BUSY_COMPILE, p->pause / p->amount, false);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        machine_op(m, ranges[i], "", "");
    machine_work(m, BUSY_COMPILE, p->pause);
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        machine_end(m);
    machine_call(m, "cuModuleLoadData", BUSY_COMPILE, p->pause / 100, false);
}

/* The cache of allocations goes back to the driver. */
static void empty_cache(struct plant *p)
{
    struct machine *m = p->m;

    machine_site(m, "empty_cache");
    if (plant_is(p, PLANT_ALLOCATOR) || plant_is(p, PLANT_VARIABLE_SHAPES))
        for (int64_t i = 0; i < 5 * p->layers; i++) {
            machine_call(m, "cudaFree", BUSY_ALLOCATOR,
                         machine_draw(m, p->pause / 3, p->pause * 2 / 3), i == 0);
            m->host += m->costs.leaf;
        }
}

static void prefill_step(struct plant *p, int step)
{
    int64_t tokens = p->tokens;

    if (plant_has(p, PLANT_VARIABLE_SHAPES))
        p->tokens = tokens * machine_draw(p->m, 24, 40) / 32 / p->size * p->size + p->size;
    compile(p, step);
    embed(p);
    if (plant_has(p, PLANT_NO_OVERLAP))
        offloaded_layers(p, step);
    else
        for (int64_t i = 0; i < p->layers; i++) {
            forward_layer(p);
            side_work(p);
        }
    norm(p, 64);
    plant_linear(p, SLOT_HEAD, 64, p->hidden, p->vocab);
    plant_host(p, step);
    result(p);
    empty_cache(p);
    p->tokens = tokens;
}

/* ---- decode ---- */

static void decode_layers(struct plant *p)
{
    embed(p);
    for (int64_t i = 0; i < p->layers; i++)
        forward_layer(p);
    norm(p, p->tokens);
    plant_linear(p, SLOT_HEAD, p->tokens, p->hidden, p->vocab);
    elementwise(p, "aten::argmax", OP_ARGMAX, p->vocab, 1);
}

static void decode_step(struct plant *p, int step)
{
    enum { LAYER_KERNELS = 11, OTHERS = 4 };
    struct machine *m = p->m;
    bool is_graph = !plant_is(p, PLANT_LAUNCH_BOUND);

    if (is_graph) {
        machine_graph_begin(m, p->layers * LAYER_KERNELS + OTHERS);
        nanos host = m->host;
        size_t events = m->rank->step.host.n;
        decode_layers(p);
        m->host = host; /* nobody launches */
        m->rank->step.host.n = events;
        machine_graph_end(m);
    } else {
        decode_layers(p);
    }
    if (plant_has(p, PLANT_LAUNCH_BOUND) || step % 8 == 0)
        plant_item(p);
}

static void run_step(struct plant *p, int step)
{
    struct machine *m = p->m;
    bool drops =
        plant_is(p, PLANT_CLOCK_DROP) && step >= p->odd_step && step < p->odd_step + p->amount;

    m->clock = drops ? p->slow : 1000;
    plant_input(p, step);
    switch (plant_kinds[p->cause].program) {
    case PLANT_TRAIN:
        train_step(p, step);
        break;
    case PLANT_PREFILL:
        prefill_step(p, step);
        break;
    default:
        decode_step(p, step);
    }
}

enum status plant_execute(struct plant *p, nanos *marks, void (*done)(void *ctx), void *ctx)
{
    struct machine *m = p->m;

    for (int i = 0; i < p->steps; i++) {
        machine_step_begin(m, p->first + i);
        marks[i] = m->rank->step.begin;
        /* Work that was launched before the recording began; an NPU's profiler shows nothing of it.
         */
        for (int64_t n = i == 0 && m->kind == MACHINE_GPU ? machine_draw(m, 6, 24) : 0; n > 0; n--)
            machine_earlier(m, &(struct machine_kernel){.code = OP_P_GEMM,
                                                        .dur = machine_draw(m, 20000, 60000)});
        run_step(p, p->first + i);
        machine_step_end(m);
        if (i + 1 == p->steps)
            machine_sync(m, STREAM_COUNT); /* the profiler's own */
        sim_order_tasks(m->rank);
        if (done != NULL)
            done(ctx);
        arena_free(m->names);
        arena_init(m->names);
        if (cancelled())
            return ST_CANCELLED;
    }
    return ST_OK;
}
