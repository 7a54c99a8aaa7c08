/*
 * What changed between two runs. See report.h.
 */
#include "gpu/judge/report.h"
#include "text/gpu.h"

#include <math.h>

#define SAME    "\xe2\x89\x88" /* ≈ */
#define ARROW   "\xe2\x86\x92" /* → */
#define MISSING "\xe2\x80\x93"

const char *gpu_compare_refusal(const struct gpu_run *a, struct gpu_run *b)
{
    for (size_t i = 0; i < b->params.list.n; i++) {
        const struct gpu_param *now = &b->params.list.at[i];
        const struct gpu_param *then = gpu_params_get(&a->params, arena_cstr(&b->arena, now->name));
        if (then == NULL || !str_equal(then->text, now->text))
            return arena_printf(&b->arena, "the parameter %.*s differs", STR_ARGS(now->name));
    }
    if (a->params.list.n != b->params.list.n)
        return "the parameters differ";
    if (!str_equal(a->device.name, b->device.name))
        return arena_printf(&b->arena, "the devices differ: \"%.*s\" and \"%.*s\"",
                            STR_ARGS(a->device.name), STR_ARGS(b->device.name));
    if (!str_equal(a->mode, b->mode))
        return "the modes differ";
    if (!str_equal(a->clock.policy, b->clock.policy))
        return "the clock policies differ";
    return NULL;
}

bool gpu_is_noise(double previous, double current, double cv_previous, double cv_current)
{
    double spread = 2 * (fmax(0, cv_previous) + fmax(0, cv_current)); /* a missing one is 0 */

    return fabs(current - previous) <= fmax(0.01, spread) * previous;
}

static struct str compare_number(struct arena *arena, double value, int decimals)
{
    return isfinite(value) ? arena_format(arena, "%.*f", decimals, value) : S(MISSING);
}

static void judge_compare_add(struct gpu_run *run, const char *metric, double then, double now,
                              int decimals, struct str change)
{
    if (!isfinite(then) && !isfinite(now))
        return;
    if (!isfinite(then) || !isfinite(now))
        change = S(MISSING);
    vec_push(&run->changes,
             ((struct gpu_change){str_of(metric), compare_number(&run->arena, then, decimals),
                                  compare_number(&run->arena, now, decimals), change}));
}

/* A timing of the whole: repeated runs in event mode, else the main kernel's launches. */
static struct gpu_timing timing_of(const struct gpu_run *run)
{
    const struct gpu_stage *s = gpu_run_main_stage(run, NULL);

    if (run->timings.n > 0)
        return gpu_timing_of(run->timings.at, run->timings.n);
    return s != NULL ? s->timing : gpu_timing_of(NULL, 0);
}

static void add_duration(const struct gpu_run *a, struct gpu_run *b)
{
    struct gpu_timing then = timing_of(a), now = timing_of(b);
    double from = a->timings.n > 0 ? then.median : gpu_run_duration(a),
           to = b->timings.n > 0 ? now.median : gpu_run_duration(b);
    double pct = 100 * (to - from) / from, speedup = from / to;
    struct str change = {"", 0};

    if (gpu_is_noise(from, to, then.cv, now.cv))
        change = arena_format(&b->arena, SAME " %+.1f%%", pct);
    else
        change = MESSAGE(LANG_EN, &b->arena, to < from ? &gpu_text.faster : &gpu_text.slower,
                         PLACE("change", arena_format(&b->arena, "%+.1f%%", pct)));
    if (then.n > 1 && now.n > 1)
        change = MESSAGE(LANG_EN, &b->arena, &gpu_text.speedup_range, PLACE("change", change),
                         PLACE("speedup", speedup), PLACE("low", then.low / now.high),
                         PLACE("high", then.high / now.low));
    else
        change = MESSAGE(LANG_EN, &b->arena, &gpu_text.speedup, PLACE("change", change),
                         PLACE("speedup", speedup));
    judge_compare_add(b, "Duration (us)", from / 1e3, to / 1e3, 2, change);
}

static void add_percent(struct gpu_run *b, const char *metric, double then, double now)
{
    judge_compare_add(b, metric, then, now, 2,
                      then > 0 ? arena_format(&b->arena, "%+.1f%%", 100 * (now - then) / then)
                               : S(MISSING));
}

static void add_difference(struct gpu_run *b, const char *metric, double then, double now,
                           int decimals, const char *unit)
{
    judge_compare_add(b, metric, then, now, decimals,
                      arena_format(&b->arena, "%+.*f%s", decimals, now - then, unit));
}

static void add_class(struct gpu_run *b, const struct gpu_class *then, const struct gpu_class *now)
{
    struct str from = arena_format(&b->arena, "%s (%s)", gpu_bound_name(then->bound), then->sub);
    struct str to = arena_format(&b->arena, "%s (%s)", gpu_bound_name(now->bound), now->sub);

    vec_push(&b->changes, ((struct gpu_change){S("Bottleneck"), from, to,
                                               str_equal(from, to)
                                                   ? S("same")
                                                   : arena_format(&b->arena, "%.*s " ARROW " %.*s",
                                                                  STR_ARGS(from), STR_ARGS(to))}));
}

void gpu_compare(const struct gpu_run *a, struct gpu_run *b)
{
    const struct gpu_stage *then = gpu_run_main_stage(a, NULL), *now = gpu_run_main_stage(b, NULL);

    b->changes.n = 0;
    add_duration(a, b);
    if (then == NULL || now == NULL)
        return;
    add_percent(b, "Achieved TFLOPs/s", then->roofline.tflops, now->roofline.tflops);
    add_percent(b, "Achieved GB/s", then->roofline.gbps, now->roofline.gbps);
    if (then->main != NULL && now->main != NULL) {
        const double *x = then->main->m, *y = now->main->m;
        add_difference(b, "TC%", x[GPU_M_TC_PCT], y[GPU_M_TC_PCT], 1, " pp");
        add_difference(b, "DRAM%", x[GPU_M_DRAM_PCT], y[GPU_M_DRAM_PCT], 1, " pp");
        add_difference(b, "Occ%", x[GPU_M_OCC], y[GPU_M_OCC], 1, " pp");
        add_difference(b, "L2 hit%", x[GPU_M_L2_HIT], y[GPU_M_L2_HIT], 1, " pp");
        add_difference(b, "Registers/thread", x[GPU_M_REGS], y[GPU_M_REGS], 0, "");
        add_difference(b, "Local bytes", 32 * gpu_local_sectors(then->main),
                       32 * gpu_local_sectors(now->main), 0, "");
        add_difference(b, "Shared bytes", x[GPU_M_SMEM_STATIC] + fmax(0, x[GPU_M_SMEM_DYNAMIC]),
                       y[GPU_M_SMEM_STATIC] + fmax(0, y[GPU_M_SMEM_DYNAMIC]), 0, "");
        /* Clocks that nobody held: what the cycles say. */
        if (!b->clock.is_locked && now->class.bound == GPU_COMPUTE)
            add_percent(b, "Duration (us) at the previous clock", then->dur_ns / 1e3,
                        now->dur_ns / 1e3 * y[GPU_M_SM_CLOCK_HZ] / x[GPU_M_SM_CLOCK_HZ]);
    }
    add_class(b, &then->class, &now->class);
}
