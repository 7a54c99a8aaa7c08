/*
 * Work of kernels by step, against the peak and the bandwidth of the device.
 */
#include "analysis/ops/op_stats.h"
#include "analysis/steps/steps.h"

struct sums {
    struct op_step out;
    nanos device, known;
    double peak;
};

static void add_step(struct study *st, const struct kernel_works *works, size_t number,
                     struct sums *sums)
{
    const struct step *step = &study_steps(st)->at[number];
    struct kernel_range range = study_step_kernels(st, number);
    struct kernel_order kernels = study_kernels(st);

    sums->out.duration = nanos_add(sums->out.duration, step->window.end - step->window.begin);
    for (size_t i = range.from; i < range.to; i++) {
        const struct kernel_work *w = &works->at[i];
        nanos time = st->cap->slices.dur[kernels.at[i]];
        sums->device = nanos_add(sums->device, time);
        sums->known = nanos_add(sums->known, w->state == WORK_KNOWN ? time : 0);
        sums->out.flops += w->matrix;
        sums->out.bytes += w->bytes;
        sums->peak += w->peak;
    }
}

static struct op_step rate(const struct sums *sums, const struct device *device)
{
    struct op_step out = sums->out;

    out.known = num_share(sums->known, sums->device);
    if (out.duration <= 0)
        return out;
    out.mfu = sums->peak / (double)out.duration;
    if (device != NULL && device->gbps > 0)
        out.bandwidth = out.bytes / device->gbps / (double)out.duration;
    return out;
}

struct op_step *op_steps_find(struct study *st, const struct kernel_works *works, size_t *n)
{
    const struct steps *steps = study_steps(st);
    struct op_step *out = ARENA_ARRAY(&st->scratch, struct op_step, steps->n + 1);
    struct sums all = {.out.id = S("all")};

    *n = 0;
    for (size_t i = 0; i < steps->n; i++) {
        struct sums one = {.out.id = steps->at[i].id};
        add_step(st, works, i, &one);
        add_step(st, works, i, &all);
        out[(*n)++] = rate(&one, works->device);
    }
    if (steps->n > 1)
        out[(*n)++] = rate(&all, works->device);
    return out;
}
