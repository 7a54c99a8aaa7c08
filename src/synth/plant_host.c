/*
 * plant: what the host does besides launching: data, files, loops, values it reads.
 */
#include "synth/plant.h"

void plant_copy(struct plant *p, struct machine_copy copy)
{
    int64_t rate = copy.is_pageable ? p->pageable_rate : p->pinned_rate;

    copy.dur = copy.bytes * 1000 / rate + machine_draw(p->m, 700, 1100);
    machine_copy(p->m, &copy);
}

void plant_item(struct plant *p)
{
    struct machine *m = p->m;

    machine_op(m, "aten::item", "", "FLOAT");
    machine_op(m, "aten::_local_scalar_dense", "", "FLOAT");
    plant_copy(p, (struct machine_copy){.way = COPY_DEVICE_TO_HOST, .bytes = 4});
    machine_sync(m, STREAM_COMPUTE);
    machine_end(m);
    machine_end(m);
    machine_python(m);
}

/* ---- input ---- */

/* Samples are decoded one by one: operators of the CPU, and libraries nobody records. */
static void decode_samples(struct plant *p)
{
    struct machine *m = p->m;
    nanos rest = p->pause;

    while (rest > 0) {
        nanos library = machine_draw(m, 700000, 1900000);
        machine_work(m, BUSY_INPUT, library);
        machine_op(m, "aten::upsample_bilinear2d", "1,3,160,160", "FLOAT");
        nanos scale = machine_draw(m, 300000, 900000);
        machine_work(m, BUSY_INPUT, scale);
        machine_end(m);
        machine_op(m, "aten::stack", "3,224,224", "FLOAT");
        machine_end(m);
        rest -= library + scale;
    }
}

/* Workers have the next batch ready, most of the time. */
static void next_batch(struct plant *p)
{
    struct machine *m = p->m;
    bool is_slow = plant_is(p, PLANT_INPUT_PIPELINE);

    machine_site(m, "batch");
    machine_range(m, is_slow ? "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
                             : "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
    m->host += machine_draw(m, 30000, 90000);
    m->is_input = is_slow;
    if (is_slow)
        decode_samples(p);
    machine_end(m);
    m->is_input = false;
    machine_python(m);
}

/* The loader's thread stacks and pins the batch after this one; it launches nothing. */
static void helper_thread(struct plant *p)
{
    struct machine *m = p->m;
    nanos at = m->host + machine_draw(m, 20000, 400000);

    for (int i = 0; i < 3; i++) {
        nanos dur = machine_draw(m, 40000, 300000);
        struct host_event *e = sim_host(m->rank, HOST_OP, THREAD_HELPER,
                                        i == 2 ? "aten::pin_memory" : "aten::stack", at, dur);
        e->parent = -1;
        e->id = ++m->external;
        at += dur + machine_draw(m, 5000, 60000);
    }
}

/* batch.to(device) as PyTorch records it: to > _to_copy > empty_strided, copy_; the runtime's copy
 * is inside copy_. From pageable memory the call returns after the copy, so a blocking one waits
 * for its stream. */
static void move_batch(struct plant *p, struct machine_copy copy)
{
    struct machine *m = p->m;

    machine_op(m, "aten::to", SHAPE(p, copy.bytes / 4), "FLOAT");
    machine_op(m, "aten::_to_copy", SHAPE(p, copy.bytes / 4), "FLOAT");
    machine_leaf(m, "aten::empty_strided");
    machine_op(m, "aten::copy_", SHAPE(p, copy.bytes / 4, NEXT, copy.bytes / 4), "FLOAT;FLOAT");
    plant_copy(p, copy);
    if (copy.blocks && copy.is_pageable)
        machine_sync(m, copy.stream);
    machine_end(m);
    machine_end(m);
    machine_end(m);
    machine_python(m);
}

void plant_input(struct plant *p, int step)
{
    struct machine *m = p->m;
    struct machine_copy copy = {.way = COPY_HOST_TO_DEVICE, .bytes = p->tokens * 8};

    if (plant_kinds[p->cause].program == PLANT_DECODE) {
        copy.bytes = 64; /* positions */
    } else {
        next_batch(p);
        helper_thread(p);
    }
    if (plant_has(p, PLANT_PAGEABLE_COPY)) {
        copy.bytes = p->amount;
        copy.is_pageable = copy.blocks = p->is_sick;
    } else if (plant_has(p, PLANT_COPY_EXPOSED)) {
        copy.bytes = p->amount;
    }
    /* The repaired twin copies on a stream of its own, always the batch of the next step, so that
     * the copy runs beside compute; the first step has to bring its own as well. */
    if (plant_has(p, PLANT_COPY_EXPOSED) && !p->is_sick) {
        copy.stream = STREAM_COPY;
        if (step == p->first)
            move_batch(p, copy);
        machine_wait(m, STREAM_COMPUTE, STREAM_COPY);
    }
    move_batch(p, copy);
    machine_op(m, "aten::copy_", "1;1", "FLOAT;FLOAT"); /* a scalar, pageable as most are */
    plant_copy(p,
               (struct machine_copy){.way = COPY_HOST_TO_DEVICE, .bytes = 8, .is_pageable = true});
    machine_end(m);
}

/* ---- inside the step ---- */

void plant_host(struct plant *p, int step)
{
    static const char *const names[] = {"aten::sort", "aten::histc", "aten::cumsum"};
    struct machine *m = p->m;

    machine_site(m, "host");
    if (machine_draw(m, 0, 7) == 0) /* somebody else's turn */
        m->host += machine_draw(m, 60000, 160000);
    for (int64_t i = 0; plant_is(p, PLANT_CPU_OPERATOR) && i < p->amount; i++) {
        machine_op(m, names[i % 3], SHAPE(p, p->tokens, 1024), "FLOAT");
        machine_work(m, BUSY_OPERATOR, p->pause / p->amount);
        machine_end(m);
        machine_python(m);
    }
    if (plant_is(p, PLANT_HOST_UNTRACED) ||
        (plant_is(p, PLANT_SLOW_STEP_SAME_WORK) && step == p->odd_step))
        machine_work(m, BUSY_UNTRACED, p->pause * machine_draw(m, 950, 1050) / 1000);
    if (plant_has(p, PLANT_PYTHON_OVERHEAD)) {
        machine_frame(m, "train.py(88): train_step");
        machine_frame(m, "beam.py(41): reorder");
        machine_work(m, BUSY_PYTHON, p->is_sick ? p->pause : p->pause / 50);
        machine_end(m);
        machine_end(m);
    }
}
