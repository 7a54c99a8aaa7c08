/*
 * Runs of changed replays, recorded and without the profiler.
 */
#include "analysis/diagnose/whatif.h"

#include "analysis/diagnose/whatif_changes.h"
#include "analysis/study.h"

bool whatif_parse(struct str text, struct whatif_change *out)
{
    size_t colon = str_find_char(text, ':');
    struct str name = str_part(text, 0, colon);

    for (int i = 0; i < WHATIFS; i++)
        if (str_equal(name, str_of(whatif_kinds[i].name))) {
            *out = (struct whatif_change){(enum whatif_id)i, str_part(text, colon + 1, text.n)};
            return true;
        }
    return false;
}

static const enum kernel_family roofs[] = {FAMILY_GEMM_TENSOR, FAMILY_CONV, FAMILY_INDEX_SORT};

size_t whatif_candidates(struct whatif_change out[WHATIF_CANDIDATES])
{
    size_t n = 0;

    for (int id = 0; id < WHATIFS; id++) {
        const char *class;
        if (id == WHATIF_INPUT_READY)
            for (size_t i = 0; (class = whatif_work_class(i)) != NULL; i++)
                out[n++] = (struct whatif_change){WHATIF_INPUT_READY, str_of(class)};
        else if (id == WHATIF_FAMILY_AT_ROOF)
            for (size_t i = 0; i < ARRAY_LEN(roofs); i++)
                out[n++] = (struct whatif_change){WHATIF_FAMILY_AT_ROOF,
                                                  str_of(kernel_family_name(roofs[i]))};
        else
            out[n++] = (struct whatif_change){(enum whatif_id)id, S("")};
    }
    return n;
}

/* What slow steps take more than their like, in this run. */
static nanos excess_of(const struct whatif *w, struct str site)
{
    const struct accounting *a = w->a;
    nanos *times = mem_grow(NULL, sizeof(*times), a->n + 1), excess = 0;
    nanos *usual = mem_grow(NULL, sizeof(*usual), a->n + 1);

    for (size_t i = 0; i < a->n; i++)
        times[i] = i > 0 ? nanos_sub(w->ends[i], w->ends[i - 1]) : 0;
    accounting_usual(a, times, usual);
    for (size_t i = 1; i < a->n; i++) {
        bool is_it = site.n == 0 || str_equal(site, a->steps[i].id);
        if (a->steps[i].is_slow && is_it && times[i] > usual[i])
            excess += times[i] - usual[i];
    }
    mem_free(usual);
    mem_free(times);
    return excess;
}

nanos whatif_begin(const struct whatif *w)
{
    nanos begin = w->a->steps[0].window.begin;

    if (w->before != REPLAY_NONE)
        begin += w->times.end[w->before] - w->before_end;
    if (w->first == REPLAY_NONE)
        return begin;
    nanos first = w->times.begin[w->first] + w->change.lead[w->first];
    return first < begin || w->a->is_pseudo ? first : begin; /* launched sooner, begun sooner */
}

/* The last call that ended before the first step, on the thread that launches its work. */
static uint32_t node_before_steps(const struct whatif *w)
{
    const struct accounting *a = w->a;
    const struct replay_node *nodes = w->replay->nodes;
    uint32_t at = w->first != REPLAY_NONE ? nodes[w->first].cause : REPLAY_NONE;

    while (at != REPLAY_NONE && a->host.calls[nodes[at].ref].end > a->steps[0].window.begin)
        at = nodes[at].prev;
    return at;
}

/* A replay with `cost` taken out (NULL: as recorded) and the changes made. */
static void whatif_make(struct whatif *w, const struct whatif_change *changes, size_t n,
                        const struct profiler_cost *cost)
{
    replay_change_reset(w->replay, &w->change);
    w->is_bare = cost != NULL;
    if (cost != NULL) {
        /* Takes the profiler's cost out of the host's nodes. */
        const struct trace_replay *r = w->replay;
        uint32_t step = TASK_NO_STEP;
        for (size_t i = 0; i < r->n; i++) {
            const struct replay_node *node = &r->nodes[i];
            if (node->kind != REPLAY_HOST)
                continue;
            const struct host_call *call = &w->a->host.calls[node->ref];
            bool has_before = node->prev != REPLAY_NONE;
            uint32_t now = call->tasks > 0 ? w->a->tasks.at[call->first_task].step : step;
            w->change.lead[i] =
                profiler_cost_stretch(cost, call, has_before ? call - 1 : NULL, now != step);
            w->change.dur[i] = profiler_cost_call(cost, call, w->change.dur[i]);
            step = now;
        }
    }
    for (size_t i = 0; i < n; i++)
        whatif_kinds[changes[i].id].edit(w, changes[i].site, &w->change);
}

/* Mean step time of a run over the whole steps; without any the first one's. */
static nanos time_of(struct whatif *w, const struct whatif_change *changes, size_t n,
                     const struct profiler_cost *cost)
{
    const struct accounting *a = w->a;
    size_t steps = 0; /* with work, after the first, which touches the recording's begin */

    for (size_t i = 1; i < a->n; i++)
        steps += a->steps[i].tasks > 0;
    whatif_make(w, changes, n, cost);
    trace_replay_run(w->replay, &w->change, &w->times);
    trace_replay_ends(w->replay, &w->times, w->ends);
    if (a->n == 0)
        return 0;
    if (steps == 0)
        return nanos_sub(w->ends[a->n - 1], whatif_begin(w));
    nanos excess = w->change.is_even ? excess_of(w, w->change.even) : 0;
    return (nanos_sub(w->ends[a->n - 1], w->ends[0]) - excess) / (nanos)steps;
}

/* Without the profiler's cost; when that is not known the run is the recorded one. */
static nanos bare_time(struct whatif *w, const struct whatif_change *changes, size_t n,
                       nanos profiled)
{
    return profiler_cost_is_known(w->cost) ? time_of(w, changes, n, w->cost) : profiled;
}

void whatif_init(struct whatif *w, struct study *st, const struct accounting *a)
{
    bool is_assumed;
    const struct device *device = roof_device(st, &is_assumed);

    *w = (struct whatif){
        .cap = st->cap,
        .a = a,
        .device = device,
        .is_device_assumed = is_assumed,
        .replay = trace_replay_build(a, &st->scratch),
        .cost = profiler_cost_of(st->cap),

        .works = {.cap = st->cap},
        .before = REPLAY_NONE,
        .first = REPLAY_NONE,
    };
    for (size_t i = a->tasks.n; i-- > 0;) /* the first task of the steps */
        if (a->tasks.at[i].step != TASK_NO_STEP)
            w->first = w->replay->node_of_task[i];
    w->times = replay_times_new(w->replay->n);
    w->change = trace_replay_plain(w->replay);
    w->ends = ARENA_ARRAY(&st->scratch, nanos, a->n);
    w->profiled = time_of(w, NULL, 0, NULL);
    w->before = node_before_steps(w);
    w->before_end = w->before != REPLAY_NONE ? w->times.end[w->before] : 0;
    w->bare = bare_time(w, NULL, 0, w->profiled);
}

void whatif_fini(struct whatif *w)
{
    replay_times_free(&w->times);
    replay_change_free(&w->change);
    operator_works_free(&w->works);
}

static double saving_of(nanos before, nanos after, nanos whole)
{
    return num_share((double)before - (double)after, (double)whole);
}

struct whatif_result whatif_run(struct whatif *w, const struct whatif_change *changes, size_t n)
{
    struct whatif_result result = {
        .change = n > 0 ? whatif_kinds[changes[n - 1].id].name : "nothing",
        .site = n > 0 ? changes[n - 1].site : S(""),
        .profiled = time_of(w, changes, n, NULL),
        .bound = n > 0 ? whatif_kinds[changes[n - 1].id].bound : NULL,
        .is_calibrated = profiler_cost_is_known(w->cost),
    };

    result.bare = bare_time(w, changes, n, result.profiled);
    result.bare_low = result.bare_high = result.bare;
    result.saving = saving_of(w->bare, result.bare, w->bare);
    result.profiled_saving = saving_of(w->profiled, result.profiled, w->profiled);
    return result;
}

void whatif_bound(struct whatif *w, const struct whatif_change *changes, size_t n,
                  struct whatif_result *result)
{
    if (!profiler_cost_is_known(w->cost))
        return;
    result->bare_low = time_of(w, changes, n, &w->cost[PROFILER_COST_HIGH]);
    result->bare_high = time_of(w, changes, n, &w->cost[PROFILER_COST_LOW]);
}

struct whatif_result whatif_run_bounded(struct whatif *w, const struct whatif_change *changes,
                                        size_t n)
{
    struct whatif_result result = whatif_run(w, changes, n);

    whatif_bound(w, changes, n, &result);
    return result;
}

/* Candidates on top of changes that are made already, or `is_growing`: the first of them, the first
 * two, and so on. Each of `parts` threads has buffers of its own and every `parts`-th run. */
struct round {
    struct whatif *w;
    const struct whatif_change *made, *candidates;
    size_t n_made, n, parts;
    struct whatif_result *out;
    bool is_growing;
};

static void run_part(void *ctx, size_t part)
{
    struct round *round = ctx;
    struct whatif own = *round->w, *w = part == 0 ? round->w : &own;
    struct whatif_change list[WHATIF_GREEDY];

    if (part > 0) {
        own.times = replay_times_new(own.replay->n);
        own.change = trace_replay_plain(own.replay);
        own.ends = mem_grow(NULL, sizeof(*own.ends), own.a->n + 1);
        own.works = (struct operator_works){.cap = own.cap};
    }
    for (size_t i = 0; i < round->n_made; i++)
        list[i] = round->made[i];
    for (size_t i = part; i < round->n; i += round->parts) {
        list[round->n_made] = round->candidates[i];
        round->out[i] = round->is_growing ? whatif_run(w, round->candidates, i + 1)
                                          : whatif_run(w, list, round->n_made + 1);
    }
    if (part > 0) {
        mem_free(own.ends);
        whatif_fini(&own);
    }
}

static void run_round(struct round *round)
{
    size_t width = round->w->pool != NULL ? pool_width(round->w->pool) : 1;

    round->parts = width < WHATIF_THREADS ? width : WHATIF_THREADS;
    if (round->parts > round->n)
        round->parts = round->n;
    pool_for(round->w->pool, round->parts, run_part, round);
}

void whatif_run_each(struct whatif *w, const struct whatif_change *candidates, size_t n,
                     struct whatif_result *out)
{
    run_round(&(struct round){.w = w, .candidates = candidates, .n = n, .out = out});
}

void whatif_run_growing(struct whatif *w, const struct whatif_change *changes, size_t n,
                        struct whatif_result *out)
{
    run_round(
        &(struct round){.w = w, .candidates = changes, .n = n, .out = out, .is_growing = true});
}

size_t whatif_greedy(struct whatif *w, const struct whatif_change *candidates,
                     const struct whatif_result *single, size_t n, double least,
                     struct whatif_result out[WHATIF_GREEDY])
{
    struct whatif_change list[WHATIF_GREEDY];
    struct whatif_result now[WHATIF_CANDIDATES] = {0};
    nanos profiled = w->profiled, bare = w->bare;
    size_t found = 0;

    while (found < WHATIF_GREEDY) {
        size_t best = SIZE_MAX;
        if (found > 0)
            run_round(&(struct round){w, list, candidates, found, n, 0, now, false});
        for (size_t i = 0; i < n; i++) {
            struct whatif_result r = found > 0 ? now[i] : single[i];
            r.saving = saving_of(bare, r.bare, w->bare);
            r.profiled_saving = saving_of(profiled, r.profiled, w->profiled);
            if (r.saving >= least && (best == SIZE_MAX || r.saving > out[found].saving)) {
                out[found] = r;
                best = i;
            }
        }
        if (best == SIZE_MAX)
            break;
        list[found] = candidates[best];
        bare = out[found].bare;
        profiled = out[found].profiled;
        found++;
    }
    return found;
}

void whatif_times(struct whatif *w, const struct whatif_change *changes, size_t n)
{
    whatif_make(w, changes, n, NULL);
    trace_replay_run(w->replay, &w->change, &w->times);
}
