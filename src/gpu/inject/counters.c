/*
 * Counters mode: chosen launches under the Range Profiler. See session.h.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/inject/launch.h"
#include "gpu/inject/metric_set.h"

enum {
    CONTEXTS_MOST = 1024, /* at the same time */
    KERNELS_MOST = 8192,  /* distinct launches whose count is limited */
    RANGES = 64,          /* of one launch: a graph has one for each kernel */
    RANGES_MOST = 1024,   /* of a graph whose kernels are known */
    NOTES_MOST = 32,
};

#define SAME_WORK 0.01 /* instructions of launches with the same work differ by less */

/* The profiler of one context. */
struct target {
    void *context, *profiler;
    struct metric_set set;
    size_t part;   /* of the set: what the profiler is ready for */
    uint8_t *data; /* of one launch */
    size_t data_bytes, ranges;
    bool is_failed;
};

/* Launches of one name and shape. */
struct counted_kernel {
    uint64_t key, turns;
    uint32_t passed_over; /* since the last one that was measured */
    uint32_t done[METRIC_PARTS_MOST];
    double inst;   /* instructions of the last one measured; 0: none yet */
    bool is_mixed; /* they differ: launches of one shape had different work */
    bool is_tensor;
};

static struct {
    struct inject_session *session;
    pthread_mutex_t lock;                  /* held from a chosen launch's begin to its end */
    struct target *targets[CONTEXTS_MOST]; /* those that ended are used again */
    unsigned n_targets;
    struct counted_kernel kernels[KERNELS_MOST]; /* by name, grid and block */
    struct counted_kernel others;                /* those that find the table full share it */
    uint64_t launches, matching, measured, changes;
    char passed[256]; /* the last kernel that was not measured, and may still run; empty: none */
    char *unreplayed[NOTES_MOST];
    unsigned n_unreplayed;
    bool is_told_capture, is_told_ranges;
} c = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The launch this thread is inside of. */
static _Thread_local struct {
    struct target *target;
    struct counted_kernel *kernel;
    struct launch launch;
    uint64_t number, buffer_bytes;
    int64_t at;
    bool by_steps, is_pushed, is_spoiled;
    bool is_inside; /* of calls of our own */
} now;

/* ---- one context ---- */

static void end_part(struct inject_session *s, struct target *t)
{
    if (t->profiler != NULL)
        s->cupti.RangeProfilerDisable(&CUPTI_WITH(profiler, profiler, .profiler = t->profiler));
    t->profiler = NULL;
    free(t->data);
    t->data = NULL;
}

/* Makes the profiler ready for a part. One that has measured another part gives no values: it is
 * closed and opened again, which takes a fifth of a second. */
static bool use_part(struct inject_session *s, struct target *t, size_t part, size_t ranges)
{
    struct cupti_enable_params enable = CUPTI_WITH(enable, profiler, .context = t->context);

    if (t->profiler != NULL && t->part == part && t->ranges >= ranges)
        return true;
    t->ranges = ranges > t->ranges ? ranges : t->ranges;
    end_part(s, t);
    if (!SESSION_CALL(s, RangeProfilerEnable, &enable))
        return false;
    t->profiler = enable.profiler;
    t->part = part;
    struct cupti_data_size_params size =
        CUPTI_WITH(data_size, bytes, .profiler = t->profiler, .metrics = t->set.parts[part].names,
                   .n = t->set.parts[part].n, .ranges = t->ranges, .nodes = (uint32_t)t->ranges);
    if (!SESSION_CALL(s, RangeProfilerGetCounterDataSize, &size))
        return false;
    t->data_bytes = size.bytes;
    t->data = malloc(size.bytes);
    return t->data != NULL;
}

/* NULL when this context cannot be measured. The profiler is initialised here, not before the first
 * launch: the driver is still starting when it loads us. */
static struct target *target_of(struct inject_session *s, const struct launch *l)
{
    struct target *t = NULL;

    for (unsigned i = 0; i < c.n_targets; i++) /* the counters serve one context at a time */
        if (c.targets[i]->context != l->context)
            end_part(s, c.targets[i]);
    for (unsigned i = 0; i < c.n_targets; i++)
        if (c.targets[i]->context == l->context)
            return c.targets[i]->is_failed ? NULL : c.targets[i];
        else if (c.targets[i]->context == NULL)
            t = c.targets[i];
    if (t == NULL && c.n_targets < CONTEXTS_MOST && (t = calloc(1, sizeof(*t))) != NULL)
        c.targets[c.n_targets++] = t;
    if (t == NULL)
        return NULL;
    *t = (struct target){.context = l->context};
    t->is_failed = !SESSION_CALL(s, ProfilerInitialize, &CUPTI_WITH(plain, private)) ||
                   !metric_set_make(s, &t->set, t->context, l->device) ||
                   !use_part(s, t, 0, RANGES);
    session_flush(s);
    return t->is_failed ? NULL : t;
}

/* ---- which launches ---- */

/* FNV-1a over name, grid, block, shared memory and graph: launches of equal work are one kernel.
 * The table does not grow inside a profiled program; what does not fit is counted together. */
static struct counted_kernel *kernel_of(const struct launch *l)
{
    uint64_t key = 1469598103934665603u;

    for (const char *at = l->name; *at != '\0'; at++)
        key = (key ^ (unsigned char)*at) * 1099511628211u;
    for (int i = 0; i < 3; i++)
        key = ((key ^ l->grid[i]) * 1099511628211u ^ l->block[i]) * 1099511628211u;
    key = (key ^ l->shared) * 1099511628211u;
    key = (key ^ (uint64_t)(uintptr_t)l->graph) * 1099511628211u;
    key = key != 0 ? key : 1;

    for (size_t i = 0; i < KERNELS_MOST; i++) {
        struct counted_kernel *k = &c.kernels[(key + i) % KERNELS_MOST];
        if (k->key == 0)
            k->key = key;
        if (k->key == key)
            return k;
    }
    return &c.others;
}

/* How often a kernel is measured for a part. The first part is so a second time, when the caches
 * are warm; and where launches differ, each sort has to come by all parts. The first part also says
 * whether those of tensor operations are worth it. */
static uint64_t rounds_of(const struct inject_session *s, const struct counted_kernel *k,
                          const struct metric_set *set, size_t part)
{
    uint64_t each = (s->settings.per_kernel + set->n_parts - 1) / set->n_parts;

    if (set->parts[part].is_tensor && !k->is_tensor)
        return 0;
    return k->is_mixed ? 3 * each : each + (part == 0 && set->n_parts > 1);
}

/* The part that a kernel had least often; every second round backwards, so that launches that
 * alternate do not meet the same parts again. The number of parts: it had all of them. */
static size_t wanted_part(const struct inject_session *s, const struct counted_kernel *k,
                          const struct metric_set *set)
{
    size_t parts = set->n_parts, wanted = parts;
    bool is_back = k->turns / parts % 2 == 1;

    for (size_t n = 0; n < parts; n++) {
        size_t i = is_back ? parts - 1 - n : n;
        if (k->done[i] < rounds_of(s, k, set, i) &&
            (wanted == parts || k->done[i] < k->done[wanted]))
            wanted = i;
    }
    return wanted;
}

/* The part that a launch is measured for; false: none, let it pass. A change of part takes a sixth
 * of a second, so that after many a kernel that wants another one has to wait the longer the more
 * changes there were; the others use what there is meanwhile. */
static bool choose_part(const struct inject_session *s, const struct target *t,
                        struct counted_kernel *k, size_t *part)
{
    enum { FREE_CHANGES = 240 };
    size_t parts = t->set.n_parts, wanted = wanted_part(s, k, &t->set);

    *part = t->part;
    /* Every launch counts: the parts forth and back (0 1, 1 0, 0 1, ...), so that every round has
     * all, and changes are few. */
    if (s->settings.per_kernel == 0) {
        size_t at = k->turns % parts;
        *part = k->turns / parts % 2 == 0 ? at : parts - 1 - at;
        return true;
    }
    if (wanted == parts)
        return false;
    bool has_use = k->done[t->part] < rounds_of(s, k, &t->set, t->part),
         is_free = c.changes < FREE_CHANGES;
    /* The first part decides on the class, and a kernel may come only once. */
    bool is_first = k->turns == 0 && c.changes < FREE_CHANGES / 2;
    if (has_use && !is_first && (k->done[wanted] >= k->done[t->part] || !is_free))
        return true;
    *part = wanted;
    return is_free || k->passed_over++ >= c.changes / FREE_CHANGES;
}

/* Whether it must not run twice: it waits for kernels elsewhere. */
static bool is_unreplayable(const struct launch *l)
{
    return l->is_multi_device || strstr(l->name, "nccl") != NULL ||
           strstr(l->name, "nvshmem") != NULL ||
           (strstr(l->name, "cooperative") != NULL && strstr(l->name, "spin") != NULL) ||
           (strstr(l->name, "persistent") != NULL && strstr(l->name, "comm") != NULL);
}

static void note_unreplayed(struct inject_session *s, const struct launch *l)
{
    for (unsigned i = 0; i < c.n_unreplayed; i++)
        if (strcmp(c.unreplayed[i], l->name) == 0)
            return;
    if (c.n_unreplayed == NOTES_MOST)
        return;
    char *name = strdup(l->name);
    if (name == NULL)
        return;
    c.unreplayed[c.n_unreplayed++] = name;
    session_note(s, "not-replayed", 0, name);
}

/* The settings' choice; counts as it goes. NULL: not this one. */
static struct counted_kernel *counters_choose(struct inject_session *s, const struct launch *l)
{
    if (!launch_matches(s, l))
        return NULL;
    c.matching++;
    if (c.matching <= s->settings.skip ||
        (s->settings.count > 0 && c.measured >= s->settings.count))
        return NULL;
    if (!launch_is_captured(s, l))
        return kernel_of(l);
    if (!c.is_told_capture)
        session_note(s, "capturing", 0, l->name);
    c.is_told_capture = true;
    return NULL;
}

/* ---- one launch ---- */

/* CUPTI's own ranges do not know the kernels of a graph: they are run one by one, in ranges of
 * ours, or not counted. */
static bool can_run_steps(const struct inject_session *s, const struct target *t,
                          const struct launch *l)
{
    return t->set.parts[t->part].passes == 1 && s->cupti.RangeProfilerPushRange != NULL &&
           s->cupti.RangeProfilerPopRange != NULL && s->cuda.ctx_synchronize != NULL &&
           graph_steps(l->graph) > 0;
}

static void note_ranges(struct inject_session *s)
{
    if (!c.is_told_ranges)
        session_note(s, "ranges-differ", 0, now.launch.name);
    c.is_told_ranges = true;
}

static bool inject_counters_start(struct inject_session *s, struct target *t)
{
    const struct metric_part *part = &t->set.parts[t->part];
    struct cupti_config_params config = CUPTI_WITH(
        config, target_level, .profiler = t->profiler, .config_bytes = part->config_bytes,
        .config = part->config, .data_bytes = t->data_bytes, .data = t->data,
        .range = now.by_steps ? RANGE_USER : RANGE_AUTO,
        .replay = now.by_steps ? REPLAY_USER : REPLAY_KERNEL, .ranges = t->ranges, .levels = 1,
        .least_level = 1);

    return SESSION_CALL(s, RangeProfilerCounterDataImageInitialize,
                        &CUPTI_WITH(data_init, image, .profiler = t->profiler,
                                    .bytes = t->data_bytes, .image = t->data)) &&
           SESSION_CALL(s, RangeProfilerSetConfig, &config) &&
           SESSION_CALL(s, RangeProfilerStart,
                        &CUPTI_WITH(profiler, profiler, .profiler = t->profiler));
}

/* Ranges of one name would be one. */
static void push(struct inject_session *s, struct target *t, size_t number)
{
    char name[24];
    struct cupti_push_params params = CUPTI_WITH(push, name, .profiler = t->profiler, .name = name);

    snprintf(name, sizeof(name), "%zu", number);

    now.is_pushed = SESSION_CALL(s, RangeProfilerPushRange, &params);
    now.is_spoiled |= !now.is_pushed;
}

static void pop(struct inject_session *s, struct target *t)
{
    if (!now.is_pushed)
        return;
    s->cuda.ctx_synchronize();
    now.is_pushed = false;
    now.is_spoiled |= !SESSION_CALL(s, RangeProfilerPopRange,
                                    &CUPTI_WITH(profiler, profiler, .profiler = t->profiler));
}

/* The nodes of a graph one by one, in launches of our own; the program's own launch, which comes
 * next, has the last one. After a failure it has all that are left. */
static void run_steps(struct inject_session *s, struct target *t, const struct launch *l)
{
    size_t n = graph_steps(l->graph), i = 0;

    now.is_inside = true;
    for (bool is_good = true; i < n && is_good; i += is_good) {
        is_good = graph_only(&s->cuda, l->graph, i);
        if (is_good && graph_step_is_kernel(l->graph, i))
            push(s, t, i);
        if (i + 1 == n)
            break;
        is_good = is_good && s->cuda.graph_launch(l->graph, l->stream) == 0 &&
                  s->cuda.ctx_synchronize() == 0;
        pop(s, t);
        if (!is_good) {
            now.is_spoiled = true;
            graph_rest(&s->cuda, l->graph, i);
        }
    }
    now.is_inside = false;
}

/* Whether this launch executed about as many instructions as the one measured before. */
static void compare_work(struct counted_kernel *k, const struct metric_part *part,
                         const double *values)
{
    for (size_t i = 0; i < part->n; i++) {
        bool is_count = strstr(part->names[i], "inst_executed.sum") != NULL ||
                        strstr(part->names[i], "inst_executed_realtime.sum") != NULL;
        if (!is_count || !(values[i] > 0) || strstr(part->names[i], "__sass_") != NULL)
            continue;
        k->is_mixed |= k->inst > 0 && fabs(values[i] - k->inst) > SAME_WORK * k->inst;
        k->inst = values[i];
        return;
    }
}

/* Where the tensor cores had nothing to do, their operations are 0 without being counted. */
static void compare_tensor(struct counted_kernel *k, const struct metric_set *set,
                           const struct metric_part *part, double *values)
{
    for (size_t i = 0; i < part->n; i++) {
        double share = values[part->place[i]];
        if (!metric_is_tensor_share(part->names[i]) || isnan(share))
            continue;
        k->is_tensor |= share > 0;
        for (size_t m = 0; m < set->n && !(share > 0); m++)
            if (metric_is_tensor(set->names[m]))
                values[m] = 0;
    }
}

/* A value for every metric of the set; those of other parts have none. */
static void write_range(struct inject_session *s, struct target *t, size_t range)
{
    struct metric_part *part = &t->set.parts[t->part];
    double own[TRACE_METRICS_MOST], values[TRACE_METRICS_MOST];
    struct cupti_evaluate_params params =
        CUPTI_WITH(evaluate, values, .host = part->host, .image = t->data, .bytes = t->data_bytes,
                   .range = range, .metrics = part->names, .n = part->n, .values = own);

    for (size_t i = 0; i < TRACE_METRICS_MOST; i++)
        own[i] = values[i] = NAN;
    if (!SESSION_CALL(s, ProfilerHostEvaluateToGpuValues, &params))
        return;
    for (size_t i = 0; i < part->n; i++)
        if (!now.by_steps || !metric_is_of_time(part->names[i]))
            values[part->place[i]] = own[i];
    if (t->set.has_buffers && now.buffer_bytes > 0)
        values[t->set.n - 1] = (double)now.buffer_bytes;
    if (!now.launch.is_graph) /* the kernels of a graph differ anyway */
        compare_work(now.kernel, part, own);
    compare_tensor(now.kernel, &t->set, part, values);
    pthread_mutex_lock(&s->lock);
    struct writer_event e = {
        .tag = TRACE_COUNTER,
        .site = launch_site(&s->writer, &now.launch),
        .start = now.at,
        .correlation = (int64_t)now.number,
    };
    writer_counter(&s->writer, &e, (uint32_t)part->passes, values, t->set.n);
    writer_flush(&s->writer);
    pthread_mutex_unlock(&s->lock);
}

/* A plain launch is one range. Those of a graph are its kernels. */
static void write_ranges(struct inject_session *s, struct target *t)
{
    struct cupti_data_info_params info =
        CUPTI_WITH(data_info, ranges, .image = t->data, .bytes = t->data_bytes);
    size_t n = 1;
    const struct graph_kernel *nodes = now.by_steps ? graph_kernels(now.launch.graph, &n) : NULL;

    if (!SESSION_CALL(s, RangeProfilerGetCounterDataInfo, &info))
        return;
    if (info.ranges != n || (now.by_steps && nodes == NULL)) {
        note_ranges(s);
        return; /* it cannot be told which kernels they are */
    }
    for (size_t i = 0; i < n && i < t->ranges; i++) {
        if (nodes != NULL) {
            now.launch.name = nodes[i].name;
            now.launch.shared = nodes[i].shared;
            memcpy(now.launch.grid, nodes[i].grid, sizeof(now.launch.grid));
            memcpy(now.launch.block, nodes[i].block, sizeof(now.launch.block));
        }
        write_range(s, t, i);
    }
}

static void stop(struct inject_session *s, struct target *t)
{
    struct cupti_decode_params decode = CUPTI_WITH(decode, dropped, .profiler = t->profiler);

    if (s->cuda.ctx_synchronize != NULL)
        s->cuda.ctx_synchronize();
    pop(s, t);
    if (now.by_steps) {
        now.is_inside = true;
        graph_rest(&s->cuda, now.launch.graph, 0);
        now.is_inside = false;
    }
    t->is_failed =
        !SESSION_CALL(s, RangeProfilerStop, &CUPTI_WITH(stop, all_passes, .profiler = t->profiler));
    if (t->is_failed || !SESSION_CALL(s, RangeProfilerDecodeData, &decode))
        return;
    s->lost_ranges += decode.dropped;
    if (!now.is_spoiled)
        write_ranges(s, t);
}

static bool counters_begin(struct inject_session *s, struct target *t, struct counted_kernel *k)
{
    size_t part, ranges = RANGES, n = 0; /* at most; n: kernels of a graph */

    if (!choose_part(s, t, k, &part))
        return false;
    c.changes += part != t->part;
    k->passed_over = 0;
    k->turns++;
    if (now.launch.is_graph && graph_kernels(now.launch.graph, &n) != NULL && n > RANGES)
        ranges = n < RANGES_MOST ? n : RANGES_MOST;
    bool is_ready = use_part(s, t, part, ranges);
    now.by_steps = is_ready && now.launch.is_graph && can_run_steps(s, t, &now.launch);
    if (is_ready && now.launch.is_graph && !now.by_steps) {
        note_ranges(s);
        return false;
    }
    if (is_ready && inject_counters_start(s, t)) {
        k->done[part]++;
        now.kernel = k;
        now.is_pushed = now.is_spoiled = false;
        if (now.by_steps)
            run_steps(s, t, &now.launch);
        return true;
    }
    t->is_failed = true;
    return false;
}

static void launch_begins(struct inject_session *s, const struct launch *l)
{
    pthread_mutex_lock(&c.lock);
    uint64_t number = c.launches++;
    struct counted_kernel *k = counters_choose(s, l);
    struct target *t = k != NULL ? target_of(s, l) : NULL;
    if (t != NULL && t->set.passes > 1 && is_unreplayable(l)) {
        note_unreplayed(s, l);
        t = NULL;
    }
    now.launch = *l;
    now.number = number;
    now.buffer_bytes = t != NULL && t->set.has_buffers ? launch_buffer_bytes(s, l) : 0;
    now.at = session_now(s);
    if (t != NULL && c.passed[0] != '\0')
        session_running(s, c.passed); /* the profiler waits for it */
    bool is_started = t != NULL && counters_begin(s, t, k);
    launch_seen(l->name, is_started);
    if (!is_started) {
        snprintf(c.passed, sizeof(c.passed), "%s", l->name);
        pthread_mutex_unlock(&c.lock);
        return;
    }
    c.passed[0] = '\0';
    session_running(s, l->name);
    c.measured++;
    now.target = t; /* the lock is kept until the launch ends */
}

static void launch_ends(struct inject_session *s)
{
    struct target *t = now.target;

    if (t == NULL)
        return;
    now.target = NULL;
    stop(s, t);
    session_running(s, NULL);
    pthread_mutex_unlock(&c.lock);
}

static void context_ends(struct inject_session *s, void *context)
{
    pthread_mutex_lock(&c.lock);
    for (unsigned i = 0; i < c.n_targets; i++) {
        struct target *t = c.targets[i];
        if (t->context != context)
            continue;
        end_part(s, t);
        metric_set_free(s, &t->set);
        *t = (struct target){.is_failed = true};
    }
    pthread_mutex_unlock(&c.lock);
}

static void on_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    struct inject_session *s = user;
    const struct cupti_callback_data *call = data;
    struct launch launch;

    if (atomic_load(&s->is_over) || now.is_inside)
        return;
    if (domain == DOMAIN_NVTX)
        launch_range(s, id, data);
    else if (domain == DOMAIN_RESOURCE && id == RESOURCE_CONTEXT_ENDS)
        context_ends(s, ((const struct cupti_resource_data *)data)->context);
    else if (domain == DOMAIN_DRIVER && (launch_capture(id, call) || graph_follow(s, id, call)))
        return;
    else if (domain == DOMAIN_DRIVER && call->site == 1)
        launch_ends(s);
    else if (domain == DOMAIN_DRIVER && now.target == NULL && launch_from(s, id, call, &launch))
        launch_begins(s, &launch);
}

static bool counters_start(struct inject_session *s)
{
    if (!metric_set_is_possible(s) || s->settings.n_metrics == 0) {
        session_note(s, "no-cupti", 0,
                     s->settings.n_metrics == 0 ? "no metrics were requested"
                                                : "this libcupti has no range profiler");
        return false;
    }
    if (!session_subscribe(s, on_callback))
        return false;
    c.session = s;
    launch_subscribe(s);
    graph_subscribe(s);
    return true;
}

static void counters_stop(struct inject_session *s)
{
    if (c.session == NULL)
        return;
    pthread_mutex_lock(&c.lock);
    launch_report_seen(s, c.matching, "launches");
    pthread_mutex_unlock(&c.lock);
}

const struct inject_recorder inject_counters = {counters_start, counters_stop, NULL};
