/*
 * Windows of the steps, and who claims each instant of them.
 */
#include "analysis/diagnose/accounting.h"

#include <stdlib.h>

#include "analysis/diagnose/limits.h"
#include "analysis/idle/idle.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"

ENUM_NAMES(idle_cause_name, enum idle_cause, "device_latency", "device_dependency", "sync",
           "allocator", "compile_load", "copy_staging", "launch", "cpu_operator", "input", "python",
           "untraced", "start_up", "unknown")
ENUM_NAMES(gap_state_name, enum gap_state, "queued", "drained", "host_slower", "unlinked")

/* ---- windows ---- */

/* Steps of these sources are cut on the host; the others lie on the device's clock. */
static bool is_cut_on_host(enum step_source source)
{
    return source == STEPS_PROFILER || source == STEPS_ITERATION || source == STEPS_MARKER;
}

/* A mark's own end: the last step launches nothing after it. */
static nanos end_of_mark(const struct capture *cap, const struct step *step)
{
    for (size_t i = 0; i < cap->marks.n; i++)
        if (cap->marks.at[i].begin == step->window.begin &&
            cap->marks.at[i].end > step->window.begin)
            return device_time(cap->marks.at[i].end);
    return device_time(INT64_MAX);
}

static uint32_t step_at(const struct accounting *a, nanos time)
{
    size_t place;

    vec_bisect(place, a->n, i, a->steps[i].host.begin <= time);
    return place > 0 && time < a->steps[place - 1].host.end ? (uint32_t)place - 1 : TASK_NO_STEP;
}

/* Where the first window may begin: not before the first task if that was queued for long, behind
 * work that is not recorded. */
static nanos first_begin(const struct accounting *a)
{
    const struct device_task *t = a->tasks.n > 0 ? &a->tasks.at[0] : NULL;
    nanos mark = a->n > 0 ? a->steps[0].host.begin : 0;

    if (t == NULL || t->begin <= mark)
        return mark;
    bool is_queued =
        t->call != TASK_NO_CALL && t->begin - LIMIT_LAUNCH_LATE > a->host.calls[t->call].end;
    return a->is_pseudo || is_queued ? t->begin : mark;
}

/* The end of each step's device work; windows lie end to end. */
static void set_windows(struct accounting *a)
{
    nanos end = INT64_MIN;
    bool has_begun = false;

    for (size_t i = 0; i < a->n; i++)
        a->steps[i].window = (struct interval){INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i];
        if (t->step == TASK_NO_STEP) {
            if (!has_begun && t->end > end)
                end = t->end;
            continue;
        }
        has_begun = true;
        struct account_step *s = &a->steps[t->step];
        s->window.end = t->end > s->window.end ? t->end : s->window.end;
        s->tasks++;
    }
    nanos first = first_begin(a);
    end = end > first ? end : first;
    for (size_t i = 0; i < a->n; i++) {
        struct account_step *s = &a->steps[i];
        s->window.begin = end;
        end = s->window.end > end ? s->window.end : end;
        s->window.end = end;
    }
}

static void take_steps(struct study *st, struct accounting *a, struct arena *arena)
{
    const struct steps *steps = study_steps(st);

    a->n = steps->n;
    a->steps = ARENA_ARRAY(arena, struct account_step, steps->n);
    a->is_pseudo = steps->source == STEPS_PSEUDO;
    for (size_t i = 0; i < a->n; i++) {
        const struct step *s = &steps->at[i];
        a->steps[i] = (struct account_step){
            .id = s->id,
            .number = s->number,
            .host = {device_time(s->window.begin), device_time(s->window.end)}};
        if (i + 1 == a->n)
            a->steps[i].host.end =
                is_cut_on_host(steps->source) ? end_of_mark(st->cap, s) : device_time(INT64_MAX);
    }
    /* Work without a recorded launch counts where it starts, but not before the first launched
     * task: then it was launched before the recording began. */
    bool on_host = is_cut_on_host(steps->source);
    bool has_launch = false;
    for (size_t i = 0; i < a->tasks.n; i++) {
        struct device_task *t = &a->tasks.at[i];
        if (on_host && t->call != TASK_NO_CALL) {
            has_launch = true;
            t->step = step_at(a, host_call_asked(&a->host, &a->host.calls[t->call])->begin);
        } else if (!on_host || has_launch || a->host.links == 0) {
            t->step = step_at(a, t->begin);
        }
        a->orphans += t->step == TASK_NO_STEP;
    }
    set_windows(a);
}

/* ---- claims ---- */

/* A part of the timeline that one task claims. */
struct claim {
    nanos begin, end;
    uint32_t task;
};

struct claims {
    struct claim *at;
    size_t n;
};

static int accounting_class_of(const struct device_task *t)
{
    if (t->class == TASK_COMPUTE)
        return ACCOUNT_COMPUTE + t->family;
    return t->class == TASK_COMM ? ACCOUNT_COMM : ACCOUNT_COPY + t->copy;
}

/* Of tasks of one class the one that started first has the time. */
static struct claims claims_of(const struct device_tasks *tasks, enum task_class class)
{
    struct claims out = {mem_grow(NULL, sizeof(*out.at), tasks->n + 1), 0};
    nanos covered = INT64_MIN;

    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        if (t->class != class || t->end <= covered || t->end <= t->begin)
            continue;
        nanos begin = t->begin > covered ? t->begin : covered;
        out.at[out.n++] = (struct claim){begin, t->end, (uint32_t)i};
        covered = t->end;
    }
    return out;
}

/* Claims of `high`, and those of `low` where there are none. */
static struct claims merge_claims(struct claims high, struct claims low)
{
    struct claims out = {mem_grow(NULL, sizeof(*out.at), 2 * high.n + low.n + 1), 0};
    size_t k = 0;
    nanos covered = INT64_MIN;

    for (size_t i = 0; i <= high.n; i++) {
        nanos until = i < high.n ? high.at[i].begin : INT64_MAX;
        while (k < low.n && low.at[k].begin < until) {
            struct claim c = low.at[k];
            c.begin = c.begin > covered ? c.begin : covered;
            if (c.end > until) {
                c.end = until;
                if (c.begin < c.end)
                    out.at[out.n++] = c;
                break;
            }
            if (c.begin < c.end)
                out.at[out.n++] = c;
            k++;
        }
        if (i < high.n) {
            out.at[out.n++] = high.at[i];
            covered = high.at[i].end;
        }
    }
    mem_free(high.at);
    mem_free(low.at);
    return out;
}

/* ---- sums ---- */

/* Claims and the idle time between them, in order. */
static void add_up(struct accounting *a, struct idle_finder *finder, struct claims claims)
{
    size_t step = 0;
    nanos now = a->n > 0 ? a->steps[0].window.begin : 0;

    for (size_t i = 0; i < claims.n && a->n > 0; i++) {
        const struct claim *c = &claims.at[i];
        while (step < a->n && a->steps[step].window.end <= now)
            step++;
        if (step == a->n)
            break;
        if (c->begin > now)
            idle_add(finder, (struct interval){now, c->begin});
        while (step < a->n && a->steps[step].window.end <= c->begin)
            step++;
        int class = accounting_class_of(&a->tasks.at[c->task]);
        for (size_t k = step; k < a->n && a->steps[k].window.begin < c->end; k++) {
            struct interval w = a->steps[k].window;
            nanos begin = c->begin > w.begin ? c->begin : w.begin;
            nanos end = c->end < w.end ? c->end : w.end;
            if (begin < end)
                a->steps[k].by[class] += end - begin;
        }
        now = c->end > now ? c->end : now;
    }
    if (a->n > 0 && now < a->steps[a->n - 1].window.end)
        idle_add(finder, (struct interval){now, a->steps[a->n - 1].window.end});
}

static void sum_step(struct account_step *s)
{
    for (int i = 0; i < ACCOUNT_CLASSES; i++) {
        nanos *sum = i < ACCOUNT_COMM   ? &s->compute
                     : i < ACCOUNT_COPY ? &s->comm_exposed
                     : i < ACCOUNT_IDLE ? &s->copy_exposed
                                        : &s->idle;
        *sum += s->by[i];
    }
}

static void sum_steps(struct accounting *a)
{
    struct account_step *all = &a->all;

    for (size_t i = 0; i < a->n; i++) {
        struct account_step *s = &a->steps[i];
        sum_step(s);
        for (int k = 0; k < ACCOUNT_CLASSES; k++)
            all->by[k] += s->by[k];
        all->tasks += s->tasks;
        all->drained += s->drained;
        all->host_slower += s->host_slower;
    }
    if (a->n > 0)
        all->window = (struct interval){a->steps[0].window.begin, a->steps[a->n - 1].window.end};
    sum_step(all);
}

/* ---- kinds of steps ---- */

/* Steps are of one group when the names of their compute kernels are the same, however often and
 * in whatever order; copies do not count. */
static void group_steps(const struct capture *cap, struct accounting *a)
{
    struct hash groups = {0};

    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i];
        if (t->step != TASK_NO_STEP && t->class == TASK_COMPUTE)
            a->steps[t->step].work += hash_mix(cap->slices.name[t->slice], t->class);
    }
    for (size_t i = 0; i < a->n; i++) {
        uint32_t fresh = (uint32_t)a->groups;
        a->steps[i].group = hash_add(&groups, a->steps[i].work, fresh);
        a->groups += a->steps[i].group == fresh;
    }
    hash_free(&groups);
}

/* A step to be put in order of its work. */
struct group_member {
    uint32_t group, step;
    nanos compute;
};

ORDER_BY(by_group_compute, struct group_member,
         ORDER(x->group, y->group) ?: ORDER(x->compute, y->compute) ?: ORDER(x->step, y->step));

/* Prefill and decode may run the same kernels on more or less data: where the compute times of a
 * group fall apart, each side with enough steps for a habit, the longer ones are a group of their
 * own. Idle time and waiting do not count, so a step that was held up stays with its like. */
static void split_groups(struct accounting *a)
{
    struct group_member *list = mem_grow(NULL, sizeof(*list), a->n + 1);

    for (size_t i = 0; i < a->n; i++)
        list[i] = (struct group_member){a->steps[i].group, (uint32_t)i, a->steps[i].compute};
    qsort(list, a->n, sizeof(*list), by_group_compute);
    for (size_t from = 0, end; from < a->n; from = end) {
        for (end = from + 1; end < a->n && list[end].group == list[from].group; end++)
            ;
        uint32_t group = list[from].group;
        size_t start = from;
        for (size_t i = from + 1; i < end; i++) {
            bool is_apart = list[i].compute > LIMIT_KIND_RATIO * list[i - 1].compute &&
                            i - start >= LIMIT_LIKE_STEPS && end - i >= LIMIT_LIKE_STEPS;
            if (is_apart) {
                group = (uint32_t)a->groups++;
                start = i;
            }
            a->steps[list[i].step].group = group;
        }
    }
    mem_free(list);
}

void accounting_usual(const struct accounting *a, const nanos *times, nanos *out)
{
    size_t *first = mem_grow(NULL, sizeof(*first), a->groups + 2);
    nanos *values = mem_grow(NULL, sizeof(*values), a->n + 1);
    uint32_t *order = mem_grow(NULL, sizeof(*order), a->n + 1);

    /* Steps by group, those of one together, in order; the first step is left out. */
    memset(first, 0, sizeof(*first) * (a->groups + 2));
    for (size_t i = 1; i < a->n; i++)
        first[a->steps[i].group + 2]++;
    for (size_t i = 0; i <= a->groups; i++)
        first[i + 1] += first[i];
    for (size_t i = 1; i < a->n; i++)
        order[first[a->steps[i].group + 1]++] = (uint32_t)i;
    for (size_t i = 1; i < a->n; i++)
        values[i - 1] = times[i];
    nanos all = host_timeline_median(values, a->n > 1 ? a->n - 1 : 0);
    for (size_t i = 0; i < a->n; i++)
        out[i] = all;
    for (size_t g = 0; g < a->groups; g++) {
        size_t n = first[g + 1] - first[g];
        for (size_t i = 0; i < n; i++)
            values[i] = times[order[first[g] + i]];
        nanos median = n >= LIMIT_LIKE_STEPS ? host_timeline_median(values, n) : all;
        for (size_t i = 0; i < n; i++)
            out[order[first[g] + i]] = median;
    }
    mem_free(order);
    mem_free(values);
    mem_free(first);
}

/* A slow step is far above what is usual for its like, by share and by their spread. */
static void find_slow_steps(struct accounting *a)
{
    nanos *times = mem_grow(NULL, sizeof(*times), a->n + 1);
    nanos *usual = mem_grow(NULL, sizeof(*usual), a->n + 1);
    nanos *spread = mem_grow(NULL, sizeof(*spread), a->n + 1);

    for (size_t i = 0; i < a->n; i++)
        times[i] = account_step_time(&a->steps[i]);
    accounting_usual(a, times, usual);
    for (size_t i = 1; i < a->n; i++)
        spread[i - 1] = llabs(times[i] - usual[i]);
    nanos normal = host_timeline_median(spread, a->n > 1 ? a->n - 1 : 0);
    for (size_t i = 1; a->n >= LIMIT_SLOW_STEPS && i < a->n; i++)
        a->steps[i].is_slow = times[i] / LIMIT_SLOW_STEP >= usual[i] / 100 &&
                              times[i] - usual[i] >= LIMIT_SLOW_SPREAD * normal && times[i] > 0;
    mem_free(spread);
    mem_free(usual);
    mem_free(times);
}

static const char *missing_of(const struct accounting *a, const struct capture *cap)
{
    if (a->tasks.n == 0)
        return "no device work is recorded";
    if ((cap->has & HAS_HOST) == 0)
        return "no host events are recorded, so idle time has no known cause";
    if (a->host.links == 0)
        return "no launch is linked to its device work, so idle time has no known cause";
    return NULL;
}

/* Moves the pieces into the arena. */
static void keep_pieces(struct accounting *a, struct arena *arena)
{
    struct idle_piece *at = STUDY_KEEP(arena, a->pieces);

    mem_free(a->pieces.at);
    a->pieces.at = at;
    a->pieces.cap = a->pieces.n;
}

struct accounting *accounting_of_device(struct study *st, int32_t device, struct arena *arena)
{
    struct accounting *a = ARENA_NEW(arena, struct accounting);
    struct idle_finder finder;
    size_t n = 0;

    a->tasks = device_tasks_find(st->cap, device, arena);
    a->host = host_timelines_find(st->cap, &a->tasks, arena);
    take_steps(st, a, arena);
    idle_init(&finder, st->cap, a, arena);
    struct claims claims = claims_of(&a->tasks, TASK_COMPUTE);
    claims = merge_claims(claims, claims_of(&a->tasks, TASK_COMM));
    claims = merge_claims(claims, claims_of(&a->tasks, TASK_COPY));
    add_up(a, &finder, claims);
    mem_free(claims.at);
    idle_fini(&finder);
    keep_pieces(a, arena);
    sum_steps(a);
    /* Medians; the first step touches the beginning of the recording. */
    nanos *values = mem_grow(NULL, sizeof(*values), a->n + 1);
    for (size_t i = a->n > 1; i < a->n; i++)
        values[n++] = account_step_time(&a->steps[i]);
    a->step_time = host_timeline_median(values, n);
    n = 0;
    for (size_t i = 0; i + 1 < a->n; i++)
        values[n++] = a->steps[i].host.end - a->steps[i].host.begin;
    a->host_period = host_timeline_median(values, n);
    mem_free(values);
    group_steps(st->cap, a);
    split_groups(a);
    find_slow_steps(a);
    a->missing = missing_of(a, st->cap);
    return a;
}

const struct accounting *accounting_find(struct study *st)
{
    int32_t device;
    size_t n = device_tasks_devices(st->cap, &device, 1);

    return study_account(st, n > 0 ? device : -1);
}

/* ---- metrics ---- */

static struct field_value class_ms(const void *record, const char *text,
                                   const struct record_env *env)
{
    const struct account_step *s = record;
    nanos sum = 0;

    (void)env;
    for (int i = 0; i < ACCOUNT_CLASSES; i++)
        if (strcmp(account_class_name(i), text) == 0)
            sum += s->by[i];
    return value_int(sum);
}

#define STEP_MS(member, key_)  FIELD(struct account_step, member, key_, .form = FORM_MS)
#define CLASS_MS(key_, class_) FIELD_LOOKED_UP(FIELD_I64, key_, class_ms, class_, .form = FORM_MS)

static const struct field metric_fields[] = {
    STEP_MS(compute, "compute_ms"),
    STEP_MS(comm_exposed, "comm_exposed_ms"),
    STEP_MS(copy_exposed, "copy_exposed_ms"),
    STEP_MS(idle, "idle_ms"),
    STEP_MS(drained, "idle_drained_ms"),
    STEP_MS(host_slower, "idle_host_slower_ms"),
    CLASS_MS("idle_device_latency_ms", "idle.device_latency"),
    CLASS_MS("idle_device_dependency_ms", "idle.device_dependency"),
    CLASS_MS("idle_sync_ms", "idle.sync"),
    CLASS_MS("idle_allocator_ms", "idle.allocator"),
    CLASS_MS("idle_compile_load_ms", "idle.compile_load"),
    CLASS_MS("idle_copy_staging_ms", "idle.copy_staging"),
    CLASS_MS("idle_launch_ms", "idle.launch"),
    CLASS_MS("idle_cpu_operator_ms", "idle.cpu_operator"),
    CLASS_MS("idle_input_ms", "idle.input"),
    CLASS_MS("idle_python_ms", "idle.python"),
    CLASS_MS("idle_untraced_ms", "idle.untraced"),
    CLASS_MS("idle_start_up_ms", "idle.start_up"),
    CLASS_MS("idle_unknown_ms", "idle.unknown"),
};
const struct record account_metrics_record = RECORD(struct account_step, metric_fields);

enum {
    MIXED_SHARE = 10, /* percent of the time that a kind of steps takes to be worth telling apart */
    MIXED_RATIO = 150, /* percent of another kind's length */
};

/* Whether two kinds of steps, each of several steps, take a good part of the time and differ. */
static bool account_is_mixed(const struct accounting *a, const struct account_mean *mean)
{
    struct group_sum {
        nanos time;
        size_t n;
    };
    VEC_OF(struct group_sum) sums = {0};
    struct hash by_group = {0};
    nanos shortest = INT64_MAX, longest = 0;

    for (size_t i = mean->first; i < a->n; i++) {
        if (a->steps[i].tasks == 0)
            continue;
        uint32_t at = hash_add(&by_group, (uint64_t)a->steps[i].group, (uint32_t)sums.n);
        if (at == sums.n)
            vec_push(&sums, ((struct group_sum){0}));
        sums.at[at].time += account_step_time(&a->steps[i]);
        sums.at[at].n++;
    }
    for (size_t i = 0; i < sums.n; i++) {
        if (sums.at[i].n < 2 ||
            num_share((double)sums.at[i].time, (double)mean->window) < MIXED_SHARE / 100.0)
            continue;
        nanos each = sums.at[i].time / (nanos)sums.at[i].n;
        shortest = each < shortest ? each : shortest;
        longest = each > longest ? each : longest;
    }
    hash_free(&by_group);
    vec_free(&sums);
    return longest > 0 && (double)longest * 100 > (double)shortest * MIXED_RATIO;
}

struct account_mean account_mean_of(const struct accounting *a)
{
    struct account_mean mean = {0};

    for (size_t i = 1; i < a->n; i++)
        mean.steps += a->steps[i].tasks > 0;
    mean.first = mean.steps > 0;
    mean.steps += mean.steps == 0;
    for (int class = 0; class < ACCOUNT_CLASSES; class ++) {
        for (size_t i = mean.first; i < a->n; i++)
            mean.all[class] += a->steps[i].by[class];
        mean.window += mean.all[class];
    }
    mean.is_mixed = account_is_mixed(a, &mean);
    mean.units = mean.is_mixed ? 1 : mean.steps;
    mean.time = mean.window / (nanos)mean.units;
    /* Each class is rounded where its sum with those before it is, so that all add up. */
    nanos sum = 0, before = 0;
    for (int class = 0; class < ACCOUNT_CLASSES; class ++) {
        sum += mean.all[class];
        mean.by[class] = sum / (nanos)mean.units - before;
        before = sum / (nanos)mean.units;
    }
    return mean;
}
