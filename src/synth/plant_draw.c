/*
 * plant: the catalogue, and sizes and rates of a seed.
 */
#include "synth/plant.h"

const struct plant_kind plant_kinds[PLANT_COUNT] = {
#define PLANT(code, id_, program_, machines_, change_, also_, planted_, repaired_)                 \
    [PLANT_##code] = {id_, program_, machines_, change_, also_, planted_, repaired_},
#include "synth/plants.def"
#undef PLANT
};

const char *const plant_names[PLANT_COUNT + 1] = {
#define PLANT(code, id, program, machines, change, also, planted, repaired) [PLANT_##code] = id,
#include "synth/plants.def"
#undef PLANT
};

/* A number from first to last, times the third. */
struct range {
    int64_t first, last, unit;
};

static int64_t draw(struct rng *r, struct range from)
{
    return rng_between(r, from.first, from.last) * from.unit;
}

/* Time of a step's products at 60 % of the peak. */
static nanos product_time(const struct plant *p)
{
    bool is_training = plant_kinds[p->cause].program == PLANT_TRAIN;
    int64_t layers = 12 * p->layers * p->hidden * p->hidden;
    int64_t flops = 2 * p->tokens * (layers + (is_training ? p->hidden * p->vocab : 0));

    return machine_flops(p->m, PEAK_BF16, is_training ? 3 * flops : flops, 600);
}

/* The same with the optimizer. */
static nanos device_time(const struct plant *p)
{
    bool is_training = plant_kinds[p->cause].program == PLANT_TRAIN;
    int64_t parameters = is_training ? 12 * p->layers * p->hidden * p->hidden : 0;

    return product_time(p) + machine_bytes(p->m, 28 * parameters, 450);
}

/* Sizes; what a row does not name is as usual. */
struct plant_sizes {
    enum plant_cause cause;
    struct range hidden, tokens, layers, vocab;
    int64_t length; /* of a sequence; 0: all tokens */
};

static const struct plant_sizes usual = {
    .hidden = {2, 4, 1024}, .tokens = {2, 4, 2048}, .layers = {3, 5, 1}, .vocab = {60, 125, 256}};

static const struct plant_sizes sizes[] = {
    {PLANT_MEMORY_BOUND, {4, 6, 2048}, {2, 8, 8}, {0}, {0}, 0},
    {PLANT_LAUNCH_BOUND, {2, 4, 512}, {2, 16, 1}, {8, 16, 1}, {32, 32, 256}, 0},
    {PLANT_HOST_SYNC, {3, 3, 1024}, {5, 8, 512}, {5, 8, 1}, {0}, 512},
    {PLANT_ALLOCATOR, {3, 3, 1024}, {5, 8, 512}, {5, 8, 1}, {0}, 512},
    {PLANT_VARIABLE_SHAPES, {3, 3, 1024}, {5, 8, 512}, {5, 8, 1}, {0}, 512},
    {PLANT_GEMM_NO_TENSOR_CORE, {0}, {2, 4, 512}, {0}, {0}, 512},
    {PLANT_GEMM_INEFFICIENT, {1100, 1900, 2}, {0}, {0}, {0}, 1024},
    {PLANT_FP64_USED, {2, 2, 1024}, {0}, {2, 3, 1}, {0}, 1024},
    {PLANT_ELEMENTWISE_UNFUSED, {2, 2, 1024}, {0}, {0}, {0}, 1024},
    {PLANT_LAYOUT_COPIES, {2, 2, 1024}, {0}, {0}, {0}, 1024},
    {PLANT_ATTENTION_UNFUSED, {2, 2, 1024}, {0}, {0}, {0}, 1024},
    {PLANT_OPTIMIZER_UNFUSED, {3, 5, 256}, {8, 14, 1024}, {4, 7, 1}, {16, 16, 256}, 1024},
    {PLANT_INDEX_SORT_HEAVY, {0}, {0}, {0}, {500, 500, 256}, 1024},
    {PLANT_COUNT, {0}, {0}, {0}, {0}, 1024}, /* all others */
};

static int64_t draw_or(struct rng *r, struct range own, struct range otherwise)
{
    return draw(r, own.unit > 0 ? own : otherwise);
}

static void draw_sizes(struct plant *p, struct rng *r)
{
    const struct plant_sizes *s = sizes;

    while (s->cause != p->cause && s->cause != PLANT_COUNT)
        s++;
    p->hidden = draw_or(r, s->hidden, usual.hidden);
    p->tokens = draw_or(r, s->tokens, usual.tokens);
    p->layers = draw_or(r, s->layers, usual.layers);
    p->vocab = draw_or(r, s->vocab, usual.vocab);
    p->size = s->length > 0 ? s->length : p->tokens;
    p->head = 128;
    p->amount = 1;
    if (p->m->kind == MACHINE_NPU) { /* a smaller device */
        p->tokens /= 2;
        p->size /= 2;
        p->hidden /= plant_has(p, PLANT_LAUNCH_BOUND) ? 2 : 1;
    }
    if (plant_has(p, PLANT_GEMM_INEFFICIENT)) /* odd, or padded to a multiple of eight */
        p->hidden = p->is_sick ? p->hidden - 1 : p->hidden + (8 - p->hidden % 8) % 8;
}

/* How much of a problem there is: its number, its length in us or in percent of the step. */
struct plant_amount {
    enum plant_cause cause;
    struct range amount, us, percent;
};

static const struct plant_amount amounts[] = {
    {PLANT_INPUT_PIPELINE, {1, 3, 1}, {0}, {140, 260, 1}},
    {PLANT_CPU_OPERATOR, {1, 3, 1}, {0}, {140, 260, 1}},
    {PLANT_HOST_UNTRACED, {1, 3, 1}, {0}, {140, 260, 1}},
    {PLANT_PYTHON_OVERHEAD, {1, 3, 1}, {0}, {140, 260, 1}},
    {PLANT_SLOW_STEP_SAME_WORK, {1, 1, 1}, {0}, {300, 700, 1}},
    {PLANT_SLOW_STEP_MORE_WORK, {4, 9, 1}, {0}, {0}},
    {PLANT_COMPILATION, {2, 6, 1}, {60, 400, 1000}, {0}},
    {PLANT_ALLOCATOR, {1, 1, 1}, {90, 260, 1}, {0}},
    {PLANT_VARIABLE_SHAPES, {1, 1, 1}, {90, 260, 1}, {0}},
    {PLANT_FP64_USED, {8, 14, 1}, {0}, {0}},
    {PLANT_ELEMENTWISE_UNFUSED, {5, 12, 1}, {0}, {0}},
    {PLANT_LAYOUT_COPIES, {2, 4, 1}, {0}, {0}},
    {PLANT_DEVICE_DEPENDENCY, {10, 20, 2}, {45, 90, 1}, {0}},
    {PLANT_CLOCK_DROP, {2, 3, 1}, {0}, {0}},
};

/* Work that takes a share of the step. */
static void draw_share(struct plant *p, struct rng *r)
{
    nanos part = device_time(p) / 100 * rng_between(r, 20, 60);

    switch (p->cause) {
    case PLANT_PAGEABLE_COPY:
        p->amount = part * p->pageable_rate / 1000;
        break;
    case PLANT_COPY_EXPOSED:
        p->amount = part * p->pinned_rate / 1000;
        break;
    case PLANT_NO_OVERLAP:
        p->amount = (part + device_time(p) / 5) / p->layers * p->pinned_rate / 1000;
        break;
    case PLANT_COPY_UNNEEDED:
        p->is_pageable = rng_below(r, 2) == 0;
        p->amount = part * (p->is_pageable ? p->pageable_rate : p->pinned_rate) / 1000;
        break;
    case PLANT_INDEX_SORT_HEAVY:
        p->amount = part / machine_bytes(p->m, 4 * p->vocab, 9) + 1;
        break;
    case PLANT_AICPU_EXPOSED:
        p->pause = part / p->layers;
        break;
    default:
        break;
    }
}

static void draw_comm(struct plant *p, struct rng *r)
{
    bool is_exposed = plant_has(p, PLANT_COMM_EXPOSED);
    int64_t bytes = 24 * p->hidden * p->hidden * p->layers;
    int64_t percent = is_exposed ? rng_between(r, 35, 70) : rng_between(r, 15, 40);

    p->has_comm = rng_below(r, 2) == 0 || is_exposed;
    p->has_comm &= plant_kinds[p->cause].program == PLANT_TRAIN &&
                   p->cause != PLANT_OPTIMIZER_UNFUSED && p->cause != PLANT_GEMM_NO_TENSOR_CORE;
    p->comm_rate = bytes * 1000 / (product_time(p) * 2 / 3 * percent / 100 + 1);
}

void plant_draw(struct plant *p, struct machine *m, enum plant_cause cause, bool is_sick,
                uint64_t seed, int64_t steps)
{
    struct rng r = rng_seed(seed, 0x5eed + (uint64_t)cause);
    bool is_npu = m->kind == MACHINE_NPU;

    *p = (struct plant){.m = m, .cause = cause, .is_sick = is_sick, .seed = seed};
    p->first = (int)rng_between(&r, 1, 5);
    p->steps = steps > 0 ? (int)steps : (int)rng_between(&r, 6, 9);
    if (cause == PLANT_CLOCK_DROP && p->steps < 8)
        p->steps = 8; /* most steps have the full clock */
    p->odd_step = p->first + rng_between(&r, 2, p->steps > 4 ? p->steps - 3 : 2);
    p->pinned_rate = is_npu ? rng_between(&r, 20000, 26000) : rng_between(&r, 52000, 55200);
    p->pageable_rate = is_npu ? rng_between(&r, 4000, 9000) : rng_between(&r, 5000, 12000);
    p->fused_host = rng_between(&r, 190, 270) * US;
    p->fused_parameter = rng_between(&r, 4200, 5600);
    /* A host that runs ahead hides a pause of one step. */
    p->logs_loss = rng_below(&r, 3) == 0 || cause == PLANT_SLOW_STEP_SAME_WORK;
    draw_sizes(p, &r);
    draw_comm(p, &r);
    for (size_t i = 0; i < ARRAY_LEN(amounts); i++)
        if (amounts[i].cause == cause) {
            p->amount = draw(&r, amounts[i].amount);
            p->pause =
                draw(&r, amounts[i].us) * US + device_time(p) / 100 * draw(&r, amounts[i].percent);
        }
    draw_share(p, &r);
    p->slow = rng_between(&r, 1350, 1700);
    m->has_stacks = cause == PLANT_PYTHON_OVERHEAD;
}
