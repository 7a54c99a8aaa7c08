/*
 * The runs of annotation and event mode. See gpu_modes.h.
 */
#include "flow/gpu_modes.h"

#include <math.h>
#include <string.h>

enum { NAMES_SHOWN = 8 };

struct str gpu_seen_names(const struct gpu_variants *v, size_t most, struct arena *arena)
{
    struct str text = S("");
    size_t n = 0;

    for (size_t i = 0; i < v->at.n && n < most; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = !str_equal(v->at.at[k].name, v->at.at[i].name);
        if (!is_new)
            continue;
        text = arena_format(arena, "%.*s%s%.*s", STR_ARGS(text), n > 0 ? ", " : "",
                            STR_ARGS(v->at.at[i].name));
        n++;
    }
    return n > 0 ? text : S("none");
}

static enum gpu_outcome fail_no_kernels(struct gpu_collect *c, const struct gpu_variants *v,
                                        const struct gpu_plan *plan)
{
    const char *regex = gpu_selections_regex(plan->selections, plan->stages.n, c->arena);

    diag_fail(c->diag, ST_NOT_FOUND, "gpu.no-kernels", (struct where){0},
              "no kernel was profiled: %s%s matched nothing",
              regex != NULL ? "the expression " : "", regex != NULL ? regex : "the ranges");
    diag_hint(c->diag, "seen", "%.*s", STR_ARGS(gpu_seen_names(v, NAMES_SHOWN, c->arena)));
    diag_hint(c->diag, "try",
              "another --select expression; child processes must inherit the environment");
    return GPU_USAGE;
}

/* Without a plan of the user every kernel that matters is a stage. */
static void make_stages(struct gpu_plan *plan, const struct gpu_recorded *timing,
                        struct arena *arena)
{
    struct gpu_variants v = {0};
    struct str *names;
    const struct gpu_param *dtype = gpu_params_get(&plan->params, "dtype");

    gpu_variants_time(&v, timing->launches.at, timing->launches.n, -1);
    size_t n = gpu_variants_make_stages(&v, arena, &names);
    for (size_t i = 0; i < n; i++)
        vec_push(&plan->stages, ((struct gpu_spec_stage){
                                    .name = names[i],
                                    .select = str_of(gpu_regex_of_name(names[i], arena)),
                                    .dtype = dtype != NULL ? dtype->text : S(""),
                                }));
    gpu_variants_free(&v);
    gpu_plan_select(plan, arena);
}

/* One counter run, attached to the variants. */
static enum gpu_outcome count(struct gpu_collect *c, const char *part, struct gpu_pick pick,
                              struct gpu_metric_set metrics, int stage, struct gpu_measured *out)
{
    struct gpu_recorded *r = &out->counting.at[out->counting.n++];
    enum gpu_outcome code = gpu_collect_counters(c, part, pick, metrics, r, &out->is_degraded);

    out->is_partial |= gpu_recorded_note(r, "not-replayed") != NULL;
    gpu_variants_count(&out->variants, r->counted.at, r->counted.n, stage, c->arena);
    return code;
}

/* Counters of all stages that a regex selects, then of each range. */
static enum gpu_outcome count_stages(struct gpu_collect *c, struct gpu_plan *plan,
                                     const struct gpu_profile_job *job,
                                     struct gpu_metric_set metrics, struct gpu_measured *out)
{
    /* Small kernels, too: they can be asked for later. */
    const char *regex = out->has_own_stages
                            ? "."
                            : gpu_selections_regex(plan->selections, plan->stages.n, c->arena);
    enum gpu_outcome code = GPU_DONE;

    vec_reserve(&out->counting, plan->stages.n + 1); /* variants point into them: not moved */
    for (size_t i = 0; i <= plan->stages.n && code == GPU_DONE && !out->is_degraded; i++) {
        const char *range = i > 0 ? plan->selections[i - 1].range : NULL;
        const char *number = i > 0 ? arena_printf(c->arena, "-%zu", i) : "";
        struct gpu_pick pick = {i > 0 ? NULL : regex, range, job->skip, job->count};
        if (pick.regex == NULL && range == NULL)
            continue;
        code = count(c, arena_printf(c->arena, "trace/counters%s", number), pick, metrics,
                     (int)i - 1, out);
    }
    return code;
}

/* Ranges are timed by events: activity records do not tell which range they are in. */
static enum gpu_outcome time_ranges(struct gpu_collect *c, struct gpu_plan *plan,
                                    const struct gpu_profile_job *job, struct gpu_measured *out)
{
    enum gpu_outcome code = GPU_DONE;

    for (size_t i = 0; i < plan->stages.n && code == GPU_DONE; i++) {
        struct gpu_recorded events;
        size_t starts;
        if (plan->selections[i].range == NULL)
            continue;
        struct gpu_pick pick = {.range = plan->selections[i].range, .skip = job->skip};
        code = gpu_collect_events(c, arena_printf(c->arena, "trace/range-%zu", i + 1), pick, 0, 1,
                                  &events, &starts);
        gpu_variants_time(&out->variants, events.runs.at, events.runs.n, (int)i);
        gpu_recorded_free(&events);
    }
    return code;
}

static enum gpu_outcome check_stages(struct gpu_collect *c, const struct gpu_plan *plan,
                                     struct gpu_measured *out)
{
    size_t found = 0;

    for (size_t i = 0; i < plan->stages.n; i++) {
        if (gpu_variants_main(&out->variants, (int)i) != NULL) {
            found++;
            continue;
        }
        out->is_partial = true;
        diag_add(c->diag, SEV_LOSS, "gpu.stage-empty", (struct where){0},
                 "stage %.*s: no kernel matches %.*s; kernels: %.*s",
                 STR_ARGS(plan->stages.at[i].name), STR_ARGS(plan->stages.at[i].select),
                 STR_ARGS(gpu_seen_names(&out->variants, NAMES_SHOWN, c->arena)));
    }
    return found > 0 ? GPU_DONE : fail_no_kernels(c, &out->variants, plan);
}

enum gpu_outcome gpu_measure_annotation(struct gpu_collect *c, struct gpu_plan *plan,
                                        const struct gpu_profile_job *job,
                                        struct gpu_metric_set metrics, struct gpu_measured *out)
{
    *out = (struct gpu_measured){0};
    enum gpu_outcome code = gpu_collect_trace(c, "trace/timing", "min", &out->timing);
    if (code != GPU_DONE && (code != GPU_WORKLOAD || out->timing.launches.n == 0))
        return code;
    out->has_own_stages = plan->stages.n == 0;
    if (out->has_own_stages)
        make_stages(plan, &out->timing, c->arena);
    gpu_variants_time(&out->variants, out->timing.launches.at, out->timing.launches.n, -1);
    if (code == GPU_DONE)
        code = time_ranges(c, plan, job, out);
    if (code == GPU_DONE)
        code = count_stages(c, plan, job, metrics, out);
    if (code == GPU_DONE && job->is_sampled && !out->is_degraded) {
        double busy = 0;
        for (size_t i = 0; i < out->timing.launches.n; i++)
            busy += (double)out->timing.launches.at[i].duration_ns;
        code = gpu_collect_samples(c, "trace/samples", busy, &out->sampled);
    }
    enum status st = gpu_variants_sort(&out->variants, plan->selections, plan->stages.n, c->diag);
    if (st != ST_OK)
        return GPU_USAGE;
    gpu_variants_split(&out->variants);
    enum gpu_outcome found = check_stages(c, plan, out);
    return code != GPU_DONE ? code : found;
}

enum gpu_outcome gpu_measure_event(struct gpu_collect *c, struct gpu_plan *plan,
                                   const struct gpu_profile_job *job, struct gpu_measured *out)
{
    struct gpu_pick pick = {.skip = job->skip};

    *out = (struct gpu_measured){0};
    if (plan->stages.n == 0) {
        vec_push(&plan->stages, ((struct gpu_spec_stage){.name = plan->kernel, .select = S(".")}));
        gpu_plan_select(plan, c->arena);
    }
    pick.regex = plan->selections[0].regex;
    pick.range = plan->selections[0].range;
    enum gpu_outcome code = gpu_collect_events(c, "trace/event", pick, job->warmup, job->runs,
                                               &out->events, &out->starts);
    gpu_variants_time(&out->variants, out->events.runs.at, out->events.runs.n, 0);
    gpu_variants_sort(&out->variants, NULL, 0, c->diag);
    if (code == GPU_DONE && out->events.runs.n == 0) {
        for (size_t i = 0; i < out->events.seen.n; i++)
            diag_hint(c->diag, "seen", "%s", out->events.seen.at[i].name);
        return fail_no_kernels(c, &out->variants, plan);
    }
    if (out->starts > 1)
        diag_add(c->diag, SEV_NOTE, "gpu.restarted", (struct where){0},
                 "the program ran %zu times for %zu timed runs", out->starts, out->events.runs.n);
    return code;
}

void gpu_measured_free(struct gpu_measured *m)
{
    gpu_recorded_free(&m->timing);
    gpu_recorded_free(&m->events);
    gpu_recorded_free(&m->sampled);
    for (size_t i = 0; i < m->counting.n; i++)
        gpu_recorded_free(&m->counting.at[i]);
    vec_free(&m->counting);
    gpu_variants_free(&m->variants);
}
