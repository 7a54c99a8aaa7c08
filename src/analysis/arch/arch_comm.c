/*
 * What each stream is for, and how much communication hides behind compute.
 */
#include "analysis/arch/arch_comm.h"

#include <stdlib.h>

#include "analysis/arch/arch_draw.h"
#include "analysis/study.h"

const char *arch_hidden_name(double fraction)
{
    if (fraction > 0.9)
        return "well hidden";
    return fraction >= 0.5 ? "partly hidden" : "exposed";
}

struct lane_sum {
    size_t kernels, comm, part, expert, aicpu, copy, markers;
};

struct finder {
    struct study *st;
    const struct arch_ops *ops;
    const struct arch_markers *m;
    struct arch_comm *out;
    struct kernel_order kernels;
    const struct slices *s;
};

static struct interval_set of_lane(struct finder *f, uint32_t lane, struct interval *room)
{
    const struct lane *l = &f->st->cap->lanes.at[lane];
    struct interval_set set = {room, 0};

    for (size_t i = l->first; i < l->first + l->n; i++)
        if (study_is_kernel(f->st, i))
            set.at[set.n++] = (struct interval){f->s->begin[i], slices_end(f->s, i)};
    interval_merge(&set);
    return set;
}

/* Device halves that lie inside a whole collective are no time of their own. */
static nanos sum_of_comm(struct finder *f)
{
    nanos sum = 0, until = INT64_MIN, since = INT64_MIN;

    for (size_t i = 0; i < f->kernels.n; i++) {
        size_t slice = f->kernels.at[i];
        nanos begin = f->s->begin[slice], end = slices_end(f->s, slice);
        if (f->s->kind[slice] == SLICE_COMM) {
            sum = nanos_add(sum, f->s->dur[slice]);
            if (end > until) {
                since = begin;
                until = end;
            }
        } else if (f->s->kind[slice] == SLICE_COMM_PART) {
            nanos inside = nanos_sub(end < until ? end : until, begin);
            if (since > begin || inside < 0 || inside < f->s->dur[slice] / 10 * 9)
                sum = nanos_add(sum, f->s->dur[slice]);
        }
    }
    return sum;
}

static const char *purpose_of(const struct lane_sum *sum, bool is_main)
{
    if (is_main)
        return "main compute";
    if (sum->markers > 0)
        return "second main compute";
    if (sum->part * 2 >= sum->kernels)
        return "AICPU communication";
    if (sum->comm * 2 >= sum->kernels)
        return sum->expert * 2 >= sum->comm ? "all-to-all" : "collectives";
    if (sum->copy * 2 >= sum->kernels)
        return "copy";
    if (sum->aicpu * 2 >= sum->kernels)
        return "AICPU";
    return "auxiliary compute";
}

ORDER_BY(busiest_first, struct arch_stream,
         ORDER(y->main_overlap < 0, x->main_overlap < 0) ?: ORDER(y->busy, x->busy)
         ?: ORDER(x->lane, y->lane));

static void count_kernel(struct finder *f, struct lane_sum *sum, size_t kernel)
{
    sum->kernels++;
    switch (f->s->kind[f->kernels.at[kernel]]) {
    case SLICE_COMM:
        if (f->ops->at[f->ops->of_kernel[kernel]].is_aicpu) {
            sum->part++;
            break;
        }
        sum->comm++;
        sum->expert += f->ops->at[f->ops->of_kernel[kernel]].comm == COMM_EXPERT;
        break;
    case SLICE_COMM_PART:
        sum->part++;
        break;
    case SLICE_AICPU:
        sum->aicpu++;
        break;
    case SLICE_COPY:
        sum->copy++;
        break;
    default:
        break;
    }
}

static void find_streams(struct finder *f)
{
    size_t lanes = f->st->cap->lanes.n;
    struct lane_sum *sums = ARENA_ARRAY(&f->st->scratch, struct lane_sum, lanes);
    struct interval *main_room = ARENA_ARRAY(&f->st->scratch, struct interval, f->kernels.n);
    struct interval *room = ARENA_ARRAY(&f->st->scratch, struct interval, f->kernels.n);

    for (size_t i = 0; i < f->kernels.n; i++)
        count_kernel(f, &sums[f->s->lane[f->kernels.at[i]]], i);
    for (size_t i = 0; i < f->m->n; i++)
        sums[f->s->lane[f->kernels.at[f->m->at[i].kernel]]].markers++;
    f->out->streams = ARENA_ARRAY(&f->st->scratch, struct arch_stream, lanes);
    struct interval_set main_busy = {main_room, 0};
    if (f->kernels.n > 0)
        main_busy = of_lane(f, f->m->main_lane, main_room);
    for (uint32_t i = 0; i < lanes; i++) {
        if (sums[i].kernels == 0)
            continue;
        struct interval_set busy = of_lane(f, i, room);
        bool is_main = i == f->m->main_lane;
        nanos length = interval_length(busy);
        double overlap =
            is_main || length == 0 ? 0 : (double)interval_overlap(busy, main_busy) / (double)length;
        f->out->streams[f->out->n_streams++] = (struct arch_stream){
            .lane = i,
            .name = arch_stream_name(f->st, i),
            .purpose = purpose_of(&sums[i], is_main),
            .kernels = sums[i].kernels,
            .busy = length,
            .is_comm = (sums[i].comm + sums[i].part) * 2 >= sums[i].kernels,
            .main_overlap = is_main ? -1 : overlap,
        };
        f->out->main_streams += sums[i].markers > 0;
    }
    if (f->out->n_streams > 1)
        qsort(f->out->streams, f->out->n_streams, sizeof(*f->out->streams), busiest_first);
}

static void take_told(struct finder *f)
{
    const struct capture *cap = f->st->cap;
    double transit = 0;

    for (size_t i = 0; i < cap->comm_ops.n; i++) {
        f->out->told_ops++;
        f->out->told_elapse = nanos_add(f->out->told_elapse, cap->comm_ops.at[i].elapse);
        f->out->told_megabytes += cap->comm_ops.at[i].megabytes;
        transit += cap->comm_ops.at[i].transit_ms;
    }
    if (transit > 0)
        f->out->told_gbps = f->out->told_megabytes / transit;
    f->out->has_told = f->out->told_ops > 0;
}

const struct arch_comm *arch_comm_find(struct study *st, const struct arch_ops *ops,
                                       const struct arch_markers *markers)
{
    struct arch_comm *out = ARENA_NEW(&st->scratch, struct arch_comm);
    struct finder f = {st, ops, markers, out, study_kernels(st), &st->cap->slices};
    struct interval_set busy = study_busy(st);

    struct interval_set comm = study_gather(st, study_is_comm);
    struct interval_set compute = study_gather(st, study_is_compute);
    out->comm_union = interval_length(comm);
    out->compute_union = interval_length(compute);
    out->hidden = interval_overlap(comm, compute);
    out->exposed = out->comm_union - out->hidden;
    out->comm_sum = sum_of_comm(&f);
    if (out->comm_union > 0)
        out->hidden_fraction = (double)out->hidden / (double)out->comm_union;
    if (out->comm_sum > 0)
        out->hidden_by_sum = (double)out->hidden / (double)out->comm_sum;
    for (size_t i = 0; i < f.kernels.n; i++)
        out->kernel_sum = nanos_add(out->kernel_sum, f.s->dur[f.kernels.at[i]]);
    if (busy.n > 0)
        out->wall = nanos_sub(busy.at[busy.n - 1].end, busy.at[0].begin);
    if (out->wall > 0)
        out->sum_over_wall = (double)out->kernel_sum / (double)out->wall;
    out->verdict =
        out->comm_union > 0 ? arch_hidden_name(out->hidden_fraction) : "no communication";
    find_streams(&f);
    take_told(&f);
    return out;
}
