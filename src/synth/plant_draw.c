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

enum { MS = 1000000 };

static int64_t pick(struct rng *r, const int64_t *values, size_t n)
{
    return values[rng_below(r, (int64_t)n)];
}

/* Time of a step's products at two thirds of the peak, and of its optimizer. */
static nanos device_time(const struct plant *p)
{
    bool is_training = plant_kinds[p->cause].program == PLANT_TRAIN;
    int64_t layers = 12 * p->layers * p->hidden * p->hidden;
    int64_t flops = 2 * p->tokens * (layers + (is_training ? p->hidden * p->vocab : 0));
    nanos optimizer = is_training ? machine_bytes(p->m, 28 * layers, 450) : 0;

    return machine_flops(p->m, PEAK_BF16, is_training ? 3 * flops : flops, 600) + optimizer;
}

static void draw_sizes(struct plant *p, struct rng *r)
{
    bool is_npu = p->m->kind == MACHINE_NPU;

    p->hidden = pick(r, (const int64_t[]){2048, 3072, 4096}, 3);
    p->tokens = pick(r, (const int64_t[]){4096, 6144, 8192}, 3) / (is_npu ? 2 : 1);
    p->layers = rng_between(r, 3, 5);
    p->vocab = rng_between(r, 60, 125) * 256;
    p->size = 1024;
    p->head = 128;
    p->amount = 1;
    switch (p->cause) {
    case PLANT_MEMORY_BOUND:
        p->hidden = pick(r, (const int64_t[]){8192, 10240, 12288}, 3);
        p->tokens = rng_between(r, 2, 8) * 8;
        p->size = p->tokens;
        break;
    case PLANT_LAUNCH_BOUND:
        p->hidden = pick(r, (const int64_t[]){1024, 1536, 2048}, 3) / (is_npu ? 2 : 1);
        p->tokens = rng_between(r, 1, 16);
        p->size = p->tokens;
        p->layers = rng_between(r, 8, 16);
        p->vocab = 8192;
        break;
    case PLANT_HOST_SYNC:
    case PLANT_ALLOCATOR:
    case PLANT_VARIABLE_SHAPES:
        p->hidden = 3072;
        p->tokens = rng_between(r, 4, 6) * (is_npu ? 512 : 1024);
        p->size = 512;
        p->layers = rng_between(r, 5, 8);
        break;
    case PLANT_GEMM_NO_TENSOR_CORE:
        p->tokens /= 4;
        break;
    case PLANT_GEMM_INEFFICIENT:
        p->hidden = rng_between(r, 1100, 1900) * 2 - 1;
        break;
    case PLANT_ELEMENTWISE_UNFUSED:
    case PLANT_LAYOUT_COPIES:
    case PLANT_ATTENTION_UNFUSED:
        p->hidden = 2048;
        break;
    case PLANT_OPTIMIZER_UNFUSED:
        p->hidden = pick(r, (const int64_t[]){768, 1024, 1280}, 3);
        p->tokens = rng_between(r, 8, 14) * (is_npu ? 512 : 1024);
        p->layers = rng_between(r, 4, 7);
        p->vocab = 4096;
        break;
    default:
        break;
    }
    if (plant_has(p, PLANT_GEMM_INEFFICIENT) && !p->is_sick)
        p->hidden += (8 - p->hidden % 8) % 8;
}

/* How much of the problem there is. */
static void draw_problem(struct plant *p, struct rng *r)
{
    nanos device = device_time(p);
    int64_t percent = rng_between(r, 20, 60);

    switch (p->cause) {
    case PLANT_INPUT_PIPELINE:
    case PLANT_CPU_OPERATOR:
    case PLANT_HOST_UNTRACED:
    case PLANT_PYTHON_OVERHEAD:
        p->pause = device * rng_between(r, 140, 260) / 100;
        p->amount = rng_between(r, 1, 3);
        break;
    case PLANT_SLOW_STEP_SAME_WORK:
        p->pause = device * rng_between(r, 300, 700) / 100;
        break;
    case PLANT_SLOW_STEP_MORE_WORK:
        p->amount = rng_between(r, 4, 9);
        break;
    case PLANT_COMPILATION:
        p->pause = rng_between(r, 60, 400) * MS;
        p->amount = rng_between(r, 2, 6);
        break;
    case PLANT_ALLOCATOR:
    case PLANT_VARIABLE_SHAPES:
        p->pause = rng_between(r, 90, 260) * US;
        break;
    case PLANT_PAGEABLE_COPY:
        p->amount = device * percent / 100 * p->pageable_rate / 1000;
        break;
    case PLANT_COPY_EXPOSED:
        p->amount = device * percent / 100 * p->pinned_rate / 1000;
        break;
    case PLANT_NO_OVERLAP:
        p->amount = device / p->layers * (percent + 20) / 100 * p->pinned_rate / 1000;
        break;
    case PLANT_COPY_UNNEEDED:
        p->is_pageable = rng_below(r, 2) == 0;
        p->amount =
            device * percent / 100 * (p->is_pageable ? p->pageable_rate : p->pinned_rate) / 1000;
        break;
    case PLANT_FP64_USED:
        p->amount = rng_between(r, 8, 14);
        break;
    case PLANT_ELEMENTWISE_UNFUSED:
        p->amount = rng_between(r, 5, 12);
        break;
    case PLANT_LAYOUT_COPIES:
        p->amount = rng_between(r, 2, 4);
        break;
    case PLANT_INDEX_SORT_HEAVY:
        p->vocab = 128000;
        p->amount = device * percent / 100 / machine_bytes(p->m, 4 * p->vocab, 9) + 1;
        break;
    case PLANT_AICPU_EXPOSED:
        p->pause = device / p->layers * percent / 100;
        break;
    case PLANT_DEVICE_DEPENDENCY:
        p->amount = rng_between(r, 10, 20) * 2;
        p->pause = rng_between(r, 45, 90) * US;
        break;
    case PLANT_CLOCK_DROP:
        p->amount = rng_between(r, 2, 3);
        p->slow = rng_between(r, 1350, 1700);
        break;
    default:
        break;
    }
}

static void draw_comm(struct plant *p, struct rng *r)
{
    int64_t bytes = 24 * p->hidden * p->hidden * p->layers;
    int64_t percent = rng_between(r, 25, 60); /* of the backward pass */

    p->has_comm = rng_below(r, 2) == 0 || plant_has(p, PLANT_COMM_EXPOSED);
    p->has_comm &= plant_kinds[p->cause].program == PLANT_TRAIN &&
                   p->cause != PLANT_OPTIMIZER_UNFUSED && p->cause != PLANT_GEMM_NO_TENSOR_CORE;
    p->comm_rate = bytes * 1000 / (device_time(p) * 2 / 3 * percent / 100 + 1);
}

void plant_draw(struct plant *p, struct machine *m, enum plant_cause cause, bool is_sick,
                uint64_t seed, int64_t steps)
{
    struct rng r = rng_seed(seed, 0x5eed + (uint64_t)cause);
    bool is_npu = m->kind == MACHINE_NPU;

    *p = (struct plant){.m = m, .cause = cause, .is_sick = is_sick, .seed = seed};
    p->first = (int)rng_between(&r, 1, 5);
    p->steps = steps > 0 ? (int)steps : (int)rng_between(&r, 6, 9);
    p->odd_step = p->first + rng_between(&r, 2, p->steps > 4 ? p->steps - 3 : 2);
    p->pinned_rate = is_npu ? rng_between(&r, 20000, 26000) : rng_between(&r, 52000, 55200);
    p->pageable_rate = is_npu ? rng_between(&r, 4000, 9000) : rng_between(&r, 5000, 12000);
    p->fused_host = rng_between(&r, 190, 270) * US;
    p->fused_parameter = rng_between(&r, 4200, 5600);
    p->logs_loss = rng_below(&r, 3) == 0;
    draw_sizes(p, &r);
    draw_comm(p, &r);
    draw_problem(p, &r);
    m->has_stacks = cause == PLANT_PYTHON_OVERHEAD;
}
