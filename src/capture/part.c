/*
 * Copies what is in a cut, or several whole captures into one, with numbers of its own for names,
 * lanes and slices.
 */
#include "capture/cut.h"

#include "base/limits.h"
#include "capture/title.h"

struct copying {
    const struct cut *cut;
    const struct capture *from;
    struct capture *to;
    strid *texts;    /* by number in `from`; 0: not copied yet */
    uint32_t *lanes; /* by number in `from`, plus one; 0: likewise */
    uint32_t *slices;
    VEC_OF(struct attr) list;
    const struct join_part *part; /* NULL: times and processes stay */
};

static nanos copy_time(const struct copying *c, nanos t)
{
    if (c->part == NULL)
        return t;
    const struct clock_shift *s = &c->part->shift;
    double rest = s->fine + s->drift * (double)nanos_sub(t, s->from);
    return nanos_sub(nanos_sub(t, s->offset), nanos_of(rest));
}

static strid copy_text(struct copying *c, strid id)
{
    if (id != 0 && c->texts[id] == 0)
        c->texts[id] = capture_intern(c->to, capture_text(c->from, id));
    return id != 0 ? c->texts[id] : 0;
}

static attr_run copy_run(struct copying *c, attr_run run, bool is_set)
{
    struct attr_walk walk = attrs_walk(&c->from->attrs, run);
    struct attr attr;

    c->list.n = 0;
    while (attrs_next(&walk, &attr)) {
        attr.key = copy_text(c, attr.key);
        if (attr.type == ATTR_TEXT)
            attr = attr_text(attr.key, copy_text(c, attr.text));
        vec_push(&c->list, attr);
    }
    return is_set ? attrs_set(&c->to->attrs, c->list.at, c->list.n)
                  : attrs_own(&c->to->attrs, c->list.at, c->list.n);
}

static bool has_label(const struct copying *c)
{
    return c->part != NULL && c->part->label.n > 0;
}

/* With the label of the rank before the title of the process. */
static strid label_process(struct copying *c, struct str title)
{
    return capture_intern_format(c->to, "%.*s%s%.*s", STR_ARGS(c->part->label),
                                 title.n > 0 ? " " : "", STR_ARGS(title));
}

static uint32_t copy_lane(struct copying *c, lane_id id)
{
    struct lane_key key = c->from->lanes.at[id].key;
    char title[TITLE_TEXT];
    bool is_device = key.kind == LANE_STREAM || key.kind == LANE_COMM;

    key.process = has_label(c) ? label_process(c, title_process(c->from, id, title))
                               : copy_text(c, key.process);
    key.name = copy_text(c, key.name);
    if (has_label(c) && is_device && key.device < 0)
        key.device = (int32_t)c->from->facts.device;
    lane_id to = capture_lane(c->to, key);
    if (c->part != NULL && to < LIMIT_LANES)
        c->to->lanes.at[to].rank = c->part->rank;
    return to;
}

static void copy_slices(struct copying *c)
{
    for (size_t i = 0; i < c->from->slices.n; i++) {
        if (!cut_has(c->cut, i))
            continue;
        struct slice slice = cut_slice(c->cut, i);
        lane_id id = slice.lane;
        if (c->lanes[id] == 0)
            c->lanes[id] = copy_lane(c, id) + 1;
        slice.lane = c->lanes[id] - 1;
        nanos end = copy_time(c, nanos_add(slice.begin, slice.dur));
        slice.begin = copy_time(c, slice.begin);
        slice.dur = nanos_sub(end, slice.begin);
        slice.name = copy_text(c, slice.name);
        slice.set = copy_run(c, slice.set, true);
        slice.own = copy_run(c, slice.own, false);
        c->slices[i] = capture_slice(c->to, &slice);
    }
    for (size_t i = 0; i < c->from->flows.n; i++) {
        const struct flow *flow = &c->from->flows.at[i];
        if (cut_has_flow(c->cut, flow))
            capture_flow(c->to, flow->kind, c->slices[flow->from], c->slices[flow->to]);
    }
}

static void copy_series(struct copying *c)
{
    for (size_t i = 0; i < c->from->series.n; i++) {
        const struct series *series = &c->from->series.at[i];
        if (!c->cut->series[i])
            continue;
        strid process = has_label(c) ? label_process(c, capture_text(c->from, series->process))
                                     : copy_text(c, series->process);
        series_id id =
            capture_series(c->to, process, copy_text(c, series->name), copy_text(c, series->unit));
        for (size_t k = 0; k < series->samples.n; k++)
            if (cut_has_sample(c->cut, series->samples.at[k].at))
                capture_sample(c->to, id, copy_time(c, series->samples.at[k].at),
                               series->samples.at[k].value);
    }
}

/* Does it overlap a window? */
static bool is_inside(const struct copying *c, nanos begin, nanos end)
{
    const struct interval_set *windows = &c->cut->options.windows;

    for (size_t i = 0; i < windows->n; i++)
        if (begin < windows->at[i].end && end > windows->at[i].begin)
            return true;
    return windows->n == 0 && !c->cut->options.nothing;
}

static void copy_records(struct copying *c)
{
    const struct capture *from = c->from;

    for (size_t i = 0; i < from->marks.n; i++) {
        struct mark mark = from->marks.at[i];
        mark.name = copy_text(c, mark.name);
        if (!is_inside(c, mark.begin, mark.end))
            continue;
        mark.begin = copy_time(c, mark.begin);
        mark.end = copy_time(c, mark.end);
        vec_push(&c->to->marks, mark);
    }
    for (size_t i = 0; i < from->allocations.n; i++) {
        struct allocation one = from->allocations.at[i];
        one.name = copy_text(c, one.name);
        bool is_kept = one.end < one.begin; /* until the end */
        if (!is_inside(c, one.begin, is_kept ? INT64_MAX : one.end))
            continue;
        one.begin = copy_time(c, one.begin);
        one.end = is_kept ? nanos_sub(one.begin, 1) : copy_time(c, one.end);
        vec_push(&c->to->allocations, one);
    }
    for (size_t i = 0; i < from->comm_ops.n; i++) {
        struct comm_op op = from->comm_ops.at[i];
        op.name = copy_text(c, op.name);
        op.group = copy_text(c, op.group);
        op.step = copy_text(c, op.step);
        if (!is_inside(c, op.begin, nanos_add(op.begin, op.elapse)))
            continue;
        op.begin = copy_time(c, op.begin);
        vec_push(&c->to->comm_ops, op);
    }
    for (size_t i = 0; i < from->comm_groups.n; i++) {
        struct comm_group group = from->comm_groups.at[i];
        group.id = copy_text(c, group.id);
        group.name = copy_text(c, group.name);
        group.ranks = copy_text(c, group.ranks);
        vec_push(&c->to->comm_groups, group);
    }
}

static void copy_sources(struct copying *c)
{
    for (size_t i = 0; i < c->from->sources.n; i++)
        capture_source(c->to, c->from->sources.at[i]);
    for (size_t i = 0; i < c->from->losses.n; i++)
        vec_push(&c->to->losses, c->from->losses.at[i]);
}

static void copy_facts(struct copying *c)
{
    const struct capture *from = c->from;
    struct capture *to = c->to;

    to->facts = from->facts;
    to->facts.kind = copy_text(c, from->facts.kind);
    to->facts.producer = copy_text(c, from->facts.producer);
    to->facts.device_name = copy_text(c, from->facts.device_name);
    to->facts.device_cc = copy_text(c, from->facts.device_cc);
    to->facts.host = copy_text(c, from->facts.host);
    to->clock = from->clock;
    to->origin = from->origin;
    to->kernels_read = c->cut->kernels;
    to->name = arena_cstr(&to->arena, str_of(from->name));
    copy_sources(c);
}

/* What profilers summed up over the whole run. */
static void copy_totals(struct copying *c)
{
    const struct capture *from = c->from;

    for (size_t i = 0; i < from->comm_links.n; i++) {
        struct comm_link link = from->comm_links.at[i];
        link.name = copy_text(c, link.name);
        link.group = copy_text(c, link.group);
        link.step = copy_text(c, link.step);
        link.op = copy_text(c, link.op);
        link.transport = copy_text(c, link.transport);
        vec_push(&c->to->comm_links, link);
    }
    for (size_t i = 0; i < from->step_traces.n; i++) {
        struct step_trace row = from->step_traces.at[i];
        row.step = copy_text(c, row.step);
        vec_push(&c->to->step_traces, row);
    }
}

/* Zeroed numbers. */
static uint32_t *numbers(size_t n)
{
    uint32_t *all = mem_grow(NULL, sizeof(*all), n + 1);

    return memset(all, 0, (n + 1) * sizeof(*all));
}

static void copying_begin(struct copying *c)
{
    c->texts = numbers(c->from->strings.strings.n);
    c->lanes = numbers(c->from->lanes.n);
    c->slices = numbers(c->from->slices.n);
}

static void copying_end(struct copying *c)
{
    mem_free(c->texts);
    mem_free(c->lanes);
    mem_free(c->slices);
    vec_free(&c->list);
}

struct capture *capture_part(const struct cut *cut)
{
    struct copying c = {.cut = cut, .from = cut->cap, .to = capture_new()};

    copying_begin(&c);
    copy_facts(&c);
    copy_slices(&c);
    copy_series(&c);
    copy_records(&c);
    capture_seal(c.to);
    copying_end(&c);
    return c.to;
}

/* Facts of the first that another one contradicts are unknown of all. */
static void join_facts(struct copying *c)
{
    struct facts *all = &c->to->facts;
    const struct facts *one = &c->from->facts;
    const struct {
        strid *all, one;
    } names[] = {{&all->kind, one->kind},
                 {&all->producer, one->producer},
                 {&all->device_name, one->device_name},
                 {&all->device_cc, one->device_cc},
                 {&all->host, one->host}};
    const struct {
        int64_t *all, one;
    } counts[] = {{&all->device_memory, one->device_memory},
                  {&all->device_cores, one->device_cores},
                  {&all->device_clock, one->device_clock},
                  {&all->device_bandwidth, one->device_bandwidth},
                  {&all->level, one->level},
                  {&all->record_shapes, one->record_shapes},
                  {&all->with_stack, one->with_stack}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (*names[i].all != copy_text(c, names[i].one))
            *names[i].all = 0;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (*counts[i].all != counts[i].one)
            *counts[i].all = UNKNOWN;
    all->rank = UNKNOWN;
    all->device = UNKNOWN;
}

static void join_one(struct capture *to, const struct join_part *part, bool is_first)
{
    struct copying c = {.from = part->cap, .to = to, .part = part};
    struct cut whole;

    cut_init(&whole, part->cap, &(struct cut_options){0});
    c.cut = &whole;
    copying_begin(&c);
    uint64_t kernels = to->kernels_read;
    if (is_first) {
        copy_facts(&c);
    } else {
        join_facts(&c);
        copy_sources(&c);
    }
    to->kernels_read = kernels + part->cap->kernels_read;
    copy_slices(&c);
    copy_series(&c);
    copy_records(&c);
    copy_totals(&c);
    copying_end(&c);
    cut_fini(&whole);
}

struct capture *capture_join(const struct join_part *parts, size_t n, struct clock clock)
{
    struct capture *to = capture_new();

    for (size_t i = 0; i < n; i++)
        join_one(to, &parts[i], i == 0);
    to->clock = clock;
    capture_seal(to);
    return to;
}
