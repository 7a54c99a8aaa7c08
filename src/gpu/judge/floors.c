/*
 * Floors of stages and groups, as `strata gpu roofline` tells them.
 */
#include "gpu/judge/floors.h"

#include <math.h>

const char *gpu_floor_text(struct arena *arena, int decimals, double value)
{
    if (!isfinite(value))
        return "-";
    return arena_printf(arena, decimals == 4 ? "%.4g" : "%.1f", value);
}

/* A prediction: the floor is the duration. */
static struct gpu_floor floor_of(const struct gpu_run *run, const struct gpu_stage *stage)
{
    enum peak peak = PEAK_BF16;
    struct gpu_floor f = {.name = stage->name, .group = stage->group, .work = stage->work};

    gpu_peak_of_dtype(stage->dtype, &peak);
    f.peak = run->peaks.tflops[peak] > 0 ? run->peaks.tflops[peak] : NAN;
    f.peak_name = peak_name(peak);
    f.compute_ns = f.work.flops / f.peak / 1e3;
    f.memory_ns = f.work.bytes / run->peaks.gbps;
    f.floor_ns = gpu_floor_ns(stage->work, run->peaks.tflops[peak], run->peaks.gbps, 1, 1);
    struct gpu_roofline r =
        gpu_roofline_of(f.floor_ns, stage->work, NAN, run->peaks.tflops[peak], &run->peaks);
    f.ai = r.ai;
    f.ridge = r.ridge;
    f.bound = r.bound;
    return f;
}

/* Stages that run at the same time share the device: their work is added up. */
static struct gpu_floor floors_group_of(const struct gpu_floors *all, size_t first)
{
    struct gpu_floor g = all->at[first];

    g.name = g.group;
    for (size_t i = first + 1; i < all->n; i++)
        if (str_equal(all->at[i].group, g.group)) {
            g.work.flops += all->at[i].work.flops;
            g.work.bytes += all->at[i].work.bytes;
            g.compute_ns += all->at[i].compute_ns;
            g.memory_ns += all->at[i].memory_ns;
        }
    g.floor_ns = fmax(g.compute_ns, g.memory_ns);
    g.ai = g.work.flops / g.work.bytes;
    g.bound = isnan(g.compute_ns + g.memory_ns) ? ""
              : g.memory_ns > g.compute_ns      ? "memory"
                                                : "compute";
    return g;
}

/* Members of a group run side by side: the group's floor counts in the total, theirs do not. */
struct gpu_floors gpu_floors_of(struct arena *arena, const struct gpu_run *run)
{
    struct gpu_floors all = {
        .device = run->device.name,
        .gbps = run->peaks.gbps,
        .source = run->peaks.source,
        .at = ARENA_ARRAY(arena, struct gpu_floor, 2 * run->stages.n + 1),
        .n = run->stages.n,
    };

    all.groups = all.at + all.n;
    for (size_t i = 0; i < all.n; i++) {
        all.at[i] = floor_of(run, &run->stages.at[i]);
        all.total_ns += all.at[i].group.n == 0 ? all.at[i].floor_ns : 0;
    }
    for (size_t i = 0; i < all.n; i++)
        if (gpu_run_opens_group(run, i)) {
            all.groups[all.n_groups] = floors_group_of(&all, i);
            all.total_ns += all.groups[all.n_groups++].floor_ns;
        }
    for (size_t k = 0; k < all.n + all.n_groups; k++) {
        struct gpu_floor *f = &all.at[k];
        const double values[GPU_FLOOR_TEXTS] = {
            f->work.flops,       f->work.bytes,      f->ai,
            f->compute_ns / 1e3, f->memory_ns / 1e3, f->floor_ns / 1e3};
        for (size_t i = 0; i < GPU_FLOOR_TEXTS; i++)
            f->shown[i] = gpu_floor_text(arena, i < 2 ? 4 : 1, values[i]);
        f->bound_shown = f->bound[0] != '\0' ? f->bound : "-";
    }
    return all;
}

#define SHOWN(i, head_) FIELD(struct gpu_floor, shown[i], NULL, .head = (head_), .is_right = true)
#define NAME            FIELD(struct gpu_floor, name, "name", .head = "stage")
#define WORK                                                                                       \
    FIELD(struct gpu_floor, work.flops, "flops"), FIELD(struct gpu_floor, work.bytes, "bytes"),    \
        FIELD(struct gpu_floor, ai, "intensity_flop_per_byte")
#define TIMES                                                                                      \
    FIELD(struct gpu_floor, compute_ns, "compute_us", .scale = 1e3),                               \
        FIELD(struct gpu_floor, memory_ns, "memory_us", .scale = 1e3),                             \
        FIELD(struct gpu_floor, floor_ns, "floor_us", .scale = 1e3),                               \
        FIELD(struct gpu_floor, bound, "bound")

static const struct field floor_fields[] = {
    NAME,
    FIELD(struct gpu_floor, group, "group", .missing = MISSING_EMPTY, .is_optional = true),
    WORK,
    FIELD(struct gpu_floor, ridge, "ridge_flop_per_byte"),
    FIELD(struct gpu_floor, peak_name, "peak_type"),
    FIELD(struct gpu_floor, peak, "peak_tflops"),
    TIMES,
    SHOWN(0, "FLOP"),
    SHOWN(1, "bytes"),
    SHOWN(2, "FLOP/B"),
    SHOWN(3, "compute us"),
    SHOWN(4, "memory us"),
    SHOWN(5, "floor us"),
    FIELD(struct gpu_floor, bound_shown, NULL, .head = "bound"),
};
const struct record gpu_floor_record = RECORD(struct gpu_floor, floor_fields);

static const struct field group_fields[] = {NAME, WORK, TIMES};
static const struct record group_record = RECORD(struct gpu_floor, group_fields);

static const struct field floors_fields[] = {
    FIELD(struct gpu_floors, device, "device"),
    FIELD(struct gpu_floors, gbps, "gbps"),
    FIELD_OF_ENUM(struct gpu_floors, source, "peaks_from", gpu_peak_source_name, GPU_PEAK_SOURCES),
    FIELD_LIST(struct gpu_floors, at, n, "stages", &gpu_floor_record),
    FIELD_LIST(struct gpu_floors, groups, n_groups, "groups", &group_record),
    FIELD(struct gpu_floors, total_ns, "floor_us", .scale = 1e3),
};
static const struct record floors_record = RECORD(struct gpu_floors, floors_fields);

const struct schema gpu_floors_schema = {
    .name = "strata.gpu-roofline/1",
    .title = "how long work must take at least on a device",
    .record = &floors_record,
};
