/*
 * What changed between two runs. See compare.h and report.h.
 */
#include "gpu/judge/compare.h"

#include <math.h>
#include <stdlib.h>

#include "gpu/collect/run_record.h"
#include "gpu/judge/report.h"
#include "report/report.h"
#include "text/gpu.h"

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

/* ---- launches matched ---- */

struct matched_launch {
    const struct gpu_kernel *kernel;
    size_t side;
};

static int shape_order(const uint32_t *a, const uint32_t *b)
{
    return ORDER(a[0], b[0]) ?: ORDER(a[1], b[1]) ?: ORDER(a[2], b[2]);
}

ORDER_BY(launches_by_kind, struct matched_launch,
         str_compare(x->kernel->name, y->kernel->name)
             ?: shape_order(x->kernel->grid, y->kernel->grid)
             ?: shape_order(x->kernel->block, y->kernel->block) ?: ORDER(x->side, y->side)
             ?: ORDER(x->kernel->id, y->kernel->id));

static bool is_one_kind(const struct matched_launch *a, const struct matched_launch *b)
{
    return str_equal(a->kernel->name, b->kernel->name) &&
           shape_order(a->kernel->grid, b->kernel->grid) == 0 &&
           shape_order(a->kernel->block, b->kernel->block) == 0;
}

static struct str shape_of(struct arena *arena, const struct gpu_kernel *k)
{
    if (gpu_kernel_blocks(k) == 0)
        return S("");
    return arena_format(arena, "%ux%ux%u of %ux%ux%u", k->grid[0], k->grid[1], k->grid[2],
                        k->block[0], k->block[1], k->block[2]);
}

/* The first `most` launches of one side, each with the mean of those it stands for: their sum, and
 * as samples. */
static struct noise_side sample_launches(struct arena *arena, const struct matched_launch *list,
                                         size_t n, size_t side, uint64_t most, double *total)
{
    double *at = ARENA_ARRAY(arena, double, n + 1);
    size_t *first = ARENA_ARRAY(arena, size_t, 2);

    *total = 0;
    for (size_t i = 0; i < n && most > 0; i++) {
        uint64_t many = gpu_kernel_launches(list[i].kernel);
        double each = gpu_kernel_total(list[i].kernel) / (double)many;
        if (list[i].side != side)
            continue;
        many = many < most ? many : most;
        most -= many;
        *total += each * (double)many;
        at[first[1]++] = each;
    }
    return (struct noise_side){at, first, 1};
}

static bool is_equal(const struct noise_side *sides)
{
    size_t n = sides[0].first[1];

    return n == sides[1].first[1] &&
           (n == 0 || memcmp(sides[0].at, sides[1].at, n * sizeof(*sides[0].at)) == 0);
}

static uint64_t count_launches(const struct matched_launch *list, size_t n, size_t side)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += list[i].side == side ? gpu_kernel_launches(list[i].kernel) : 0;
    return sum;
}

/* The change of all matched launches, where the mean of their samples has another: some stand for
 * several launches. Its interval moves with it. */
static void weigh_change(struct gpu_kernel_change *k)
{
    double relative = k->total[0] > 0 ? k->total[1] / k->total[0] - 1 : NAN;
    double by = (1 + relative) / (1 + k->change.relative);

    k->change.low = (1 + k->change.low) * by - 1;
    k->change.high = (1 + k->change.high) * by - 1;
    k->change.relative = relative;
}

/* Launches of one kernel and shape on both sides. */
static void match_kind(struct gpu_comparison *out, struct arena *arena,
                       const struct matched_launch *list, size_t n)
{
    struct gpu_kernel_change k = {.name = list[0].kernel->name,
                                  .shape = shape_of(arena, list[0].kernel)};
    struct noise_side sides[2];

    for (size_t side = 0; side < 2; side++)
        k.launches[side] = count_launches(list, n, side);
    k.matched = k.launches[0] < k.launches[1] ? k.launches[0] : k.launches[1];
    for (size_t side = 0; side < 2; side++)
        sides[side] = sample_launches(arena, list, n, side, k.matched, &k.total[side]);
    if (k.matched > 0) {
        k.change = noise_judge(arena, sides[0], sides[1],
                               (struct noise_options){NOISE_BETWEEN, NOISE_LIMIT, true});
        weigh_change(&k);
        bool is_same = is_equal(sides);
        if (is_same || k.change.is_doubled) /* no samples are needed for either */
            k.change.verdict = is_same ? NOISE_NOTHING : NOISE_SLOWER;
        out->is_equal = out->is_equal && is_same;
        out->fastest += k.change.fastest[1] * (double)k.matched;
        out->slowest += k.change.slowest[0] * (double)k.matched;
        out->kernels[out->n_kernels++] = k;
        out->matched += k.matched;
        out->total[0] += k.total[0];
        out->total[1] += k.total[1];
    }
    for (size_t side = 0; side < 2; side++) {
        uint64_t alone = k.launches[side] - k.matched;
        out->alone[side] += alone;
        if (alone == 0)
            continue;
        struct gpu_kernel_change *u = &out->unmatched[out->n_unmatched++];
        double all;
        *u = (struct gpu_kernel_change){.name = k.name, .shape = k.shape};
        sample_launches(arena, list, n, side, k.launches[side], &all);
        u->launches[side] = alone;
        u->total[side] = all - k.total[side];
    }
}

ORDER_BY(largest_kernel_first, struct gpu_kernel_change,
         ORDER(fabs(y->total[1] - y->total[0]), fabs(x->total[1] - x->total[0]))
             ?: str_compare(x->name, y->name) ?: str_compare(x->shape, y->shape));

/* Launches of both runs are sorted together, so that those of one kind lie side by side. */
static void match_launches(struct gpu_comparison *out, const struct gpu_run *a,
                           const struct gpu_run *b, struct arena *arena)
{
    const struct gpu_run *runs[2] = {a, b};
    size_t n = 0, room = a->kernels.n + b->kernels.n + 1;
    struct matched_launch *list = ARENA_ARRAY(arena, struct matched_launch, room);

    out->kernels = ARENA_ARRAY(arena, struct gpu_kernel_change, room);
    out->unmatched = ARENA_ARRAY(arena, struct gpu_kernel_change, 2 * room);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < runs[side]->kernels.n; i++)
            list[n++] = (struct matched_launch){&runs[side]->kernels.at[i], side};
    if (n > 1)
        qsort(list, n, sizeof(*list), launches_by_kind);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && is_one_kind(&list[i], &list[i + 1]))
            continue;
        match_kind(out, arena, list + from, i + 1 - from);
        from = i + 1;
    }
    if (out->n_kernels > 1)
        qsort(out->kernels, out->n_kernels, sizeof(*out->kernels), largest_kernel_first);
    if (out->n_unmatched > 1)
        qsort(out->unmatched, out->n_unmatched, sizeof(*out->unmatched), largest_kernel_first);
}

/* Bounds of the whole are sums of those of its kernels; one without makes it have none. */
static void bound_whole(struct gpu_comparison *out)
{
    double low = 0, high = 0;

    out->relative = out->total[0] > 0 ? out->total[1] / out->total[0] - 1 : NAN;
    for (size_t i = 0; i < out->n_kernels; i++) {
        low += out->kernels[i].total[0] * out->kernels[i].change.low;
        high += out->kernels[i].total[0] * out->kernels[i].change.high;
    }
    out->low = out->total[0] > 0 ? low / out->total[0] : NAN;
    out->high = out->total[0] > 0 ? high / out->total[0] : NAN;
}

/* Runs that were timed as a whole, again and again, without counters. */
static void compare_timings(struct gpu_comparison *out, const struct gpu_run *a,
                            const struct gpu_run *b, struct arena *arena)
{
    const size_t ends[2][2] = {{0, a->timings.n}, {0, b->timings.n}};

    const struct noise_side sides[] = {{a->timings.at, ends[0], 1}, {b->timings.at, ends[1], 1}};

    out->is_whole = true;
    out->timings = noise_judge(arena, sides[0], sides[1],
                               (struct noise_options){NOISE_BETWEEN, NOISE_LIMIT, true});
    out->is_equal = is_equal(sides);
    out->fastest = out->timings.fastest[1];
    out->slowest = out->timings.slowest[0];
    out->total[0] = out->timings.mean[0];
    out->total[1] = out->timings.mean[1];
    out->relative = out->timings.relative;
    out->low = out->timings.low;
    out->high = out->timings.high;
}

static struct str said_of_duration(const struct gpu_comparison *c, struct arena *arena)
{
    struct str change = arena_format(arena, "%+.1f%%", 100 * c->relative);

    if (c->verdict == NOISE_NOTHING)
        return arena_format(arena, SAME " %.*s", STR_ARGS(change));
    return MESSAGE(LANG_EN, arena,
                   c->verdict == NOISE_FASTER   ? &gpu_text.faster
                   : c->verdict == NOISE_SLOWER ? &gpu_text.slower
                                                : &gpu_text.cannot_tell,
                   PLACE("change", change));
}

static void add_duration(const struct gpu_comparison *c, struct gpu_run *b)
{
    double speedup = 1 / (1 + c->relative);
    struct str change = said_of_duration(c, &b->arena);

    if (isfinite(c->low))
        change = MESSAGE(LANG_EN, &b->arena, &gpu_text.speedup_range, PLACE("change", change),
                         PLACE("speedup", speedup), PLACE("low", 1 / (1 + c->high)),
                         PLACE("high", 1 / (1 + c->low)));
    else
        change = MESSAGE(LANG_EN, &b->arena, &gpu_text.speedup, PLACE("change", change),
                         PLACE("speedup", speedup));
    judge_compare_add(b, "Duration (us)", c->total[0] / 1e3, c->total[1] / 1e3, 2, change);
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

/* Counters of the main stages, where both are of the same kernel. */
static void add_stages(const struct gpu_run *a, struct gpu_run *b)
{
    const struct gpu_stage *then = gpu_run_main_stage(a, NULL), *now = gpu_run_main_stage(b, NULL);

    if (then == NULL || now == NULL ||
        (then->main != NULL && now->main != NULL &&
         !str_equal(gpu_function_name(then->main->name), gpu_function_name(now->main->name))))
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

const struct gpu_comparison *gpu_compare_find(const struct gpu_run *a, struct gpu_run *b)
{
    struct gpu_comparison *out = ARENA_NEW(&b->arena, struct gpu_comparison);

    out->is_equal = true;
    match_launches(out, a, b, &b->arena);
    bound_whole(out);
    if (a->timings.n > 0 && b->timings.n > 0)
        compare_timings(out, a, b, &b->arena);
    out->is_equal = out->is_equal && (out->matched > 0 || out->is_whole);
    out->is_doubled = out->fastest > 2 * out->slowest;
    out->verdict = out->is_equal     ? NOISE_NOTHING
                   : out->is_doubled ? NOISE_SLOWER
                                     : noise_verdict_of(out->low, out->high, NOISE_LIMIT);
    b->changes.n = 0;
    if (out->total[0] > 0)
        add_duration(out, b);
    add_stages(a, b);
    out->changes = b->changes.at;
    out->n_changes = b->changes.n;
    return out;
}

enum gate_verdict gpu_compare_gate(const struct gpu_comparison *c, double limit)
{
    return c->is_equal     ? GATE_PASS
           : c->is_doubled ? GATE_FAIL
                           : noise_gate_of(c->relative, c->low, c->high, limit);
}

void gpu_compare(const struct gpu_run *a, struct gpu_run *b)
{
    gpu_compare_find(a, b);
}

/* ---- described ---- */

static struct field_value kernel_verdict(const void *record, const struct record_env *env)
{
    const struct gpu_kernel_change *k = record;

    (void)env;
    return value_text(str_of(noise_verdict_name(k->change.verdict)));
}

#define LAUNCHES(side, key, head_)                                                                 \
    FIELD(struct gpu_kernel_change, launches[side], key, .head = (head_))
#define TOTAL(side, key, head_)                                                                    \
    FIELD(struct gpu_kernel_change, total[side], key, .head = (head_), .unit = UNIT_US)

static const struct field kernel_fields[] = {
    FIELD(struct gpu_kernel_change, name, "kernel", .head = "kernel"),
    FIELD(struct gpu_kernel_change, shape, "launch", .head = "launch", .drop = 1),
    FIELD(struct gpu_kernel_change, matched, "matched", .head = "matched"),
    LAUNCHES(0, "launches_a", NULL),
    LAUNCHES(1, "launches_b", NULL),
    TOTAL(0, "ns_a", "A us"),
    TOTAL(1, "ns_b", "B us"),
    FIELD(struct gpu_kernel_change, change.relative, "change_ratio", .head = "change %",
          .unit = UNIT_RATIO),
    FIELD(struct gpu_kernel_change, change.low, "low", .head = "from %", .unit = UNIT_RATIO),
    FIELD(struct gpu_kernel_change, change.high, "high", .head = "to %", .unit = UNIT_RATIO),
    FIELD_CALC(FIELD_STR, "verdict", kernel_verdict, .head = "verdict"),
};
static const struct record kernel_record = RECORD(struct gpu_kernel_change, kernel_fields);

static const struct field unmatched_fields[] = {
    FIELD(struct gpu_kernel_change, name, "kernel", .head = "kernel not in both"),
    FIELD(struct gpu_kernel_change, shape, "launch", .head = "launch", .drop = 1),
    LAUNCHES(0, "launches_a", "A alone"),
    LAUNCHES(1, "launches_b", "B alone"),
    TOTAL(0, "ns_a", "A us"),
    TOTAL(1, "ns_b", "B us"),
};
static const struct record unmatched_record = RECORD(struct gpu_kernel_change, unmatched_fields);

static const struct field compare_fields[] = {
    FIELD(struct gpu_comparison, matched, "matched_launches"),
    FIELD(struct gpu_comparison, alone[0], "unmatched_launches_a"),
    FIELD(struct gpu_comparison, alone[1], "unmatched_launches_b"),
    FIELD(struct gpu_comparison, is_whole, "timed_as_a_whole"),
    FIELD(struct gpu_comparison, total[0], "ns_a", .about = "of matched launches; else of a run"),
    FIELD(struct gpu_comparison, total[1], "ns_b"),
    FIELD(struct gpu_comparison, relative, "change_ratio"),
    FIELD(struct gpu_comparison, low, "low", .about = "of the 99 % interval of change_ratio"),
    FIELD(struct gpu_comparison, high, "high"),
    FIELD_OF_ENUM(struct gpu_comparison, verdict, "verdict", noise_verdict_name, NOISE_FASTER + 1),
    FIELD_LIST(struct gpu_comparison, kernels, n_kernels, "kernels", &kernel_record),
    FIELD_LIST(struct gpu_comparison, unmatched, n_unmatched, "unmatched", &unmatched_record),
    FIELD_LIST(struct gpu_comparison, changes, n_changes, "changes", &gpu_change_record),
};
static const struct record compare_record = RECORD(struct gpu_comparison, compare_fields);

const struct schema gpu_compare_schema = {
    .name = "strata.gpu-compare/2",
    .title = "what changed from one GPU run to another, kernel by kernel",
    .record = &compare_record,
};

enum { ROWS_SHOWN = 15 };

void gpu_compare_describe(const void *comparison, struct report *r)
{
    const struct gpu_comparison *c = comparison;

    report_text(r, REPORT_MESSAGE(r, c->matched > 0 ? &gpu_text.matched : &gpu_text.none_matched,
                                  PLACE("n", (unsigned long long)c->matched),
                                  PLACE("a", (unsigned long long)c->alone[0]),
                                  PLACE("b", (unsigned long long)c->alone[1])));
    report_records(r, &gpu_change_record, c->changes, c->n_changes, NULL);
    if (c->n_kernels > 0)
        report_records(r, &kernel_record, c->kernels,
                       c->n_kernels < ROWS_SHOWN ? c->n_kernels : ROWS_SHOWN, NULL);
    if (c->n_unmatched > 0)
        report_records(r, &unmatched_record, c->unmatched,
                       c->n_unmatched < ROWS_SHOWN ? c->n_unmatched : ROWS_SHOWN, NULL);
}
