/*
 * Copies what is in a cut, with numbers of its own for names, lanes and slices.
 */
#include "capture/cut.h"

struct copying {
    const struct cut *cut;
    const struct capture *from;
    struct capture *to;
    strid *texts;    /* by number in `from`; 0: not copied yet */
    uint32_t *lanes; /* by number in `from`, plus one; 0: likewise */
    uint32_t *slices;
    VEC_OF(struct attr) list;
};

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

static void copy_slices(struct copying *c)
{
    for (size_t i = 0; i < c->from->slices.n; i++) {
        if (!cut_has(c->cut, i))
            continue;
        struct slice slice = cut_slice(c->cut, i);
        lane_id id = slice.lane;
        if (c->lanes[id] == 0) {
            struct lane_key key = c->from->lanes.at[id].key;
            key.process = copy_text(c, key.process);
            key.name = copy_text(c, key.name);
            c->lanes[id] = capture_lane(c->to, key) + 1;
        }
        slice.lane = c->lanes[id] - 1;
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
        series_id id = capture_series(c->to, copy_text(c, series->process),
                                      copy_text(c, series->name), copy_text(c, series->unit));
        for (size_t k = 0; k < series->samples.n; k++)
            if (cut_has_sample(c->cut, series->samples.at[k].at))
                capture_sample(c->to, id, series->samples.at[k].at, series->samples.at[k].value);
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
        if (is_inside(c, mark.begin, mark.end))
            vec_push(&c->to->marks, mark);
    }
    for (size_t i = 0; i < from->allocations.n; i++) {
        struct allocation one = from->allocations.at[i];
        one.name = copy_text(c, one.name);
        if (is_inside(c, one.begin, one.end < one.begin ? INT64_MAX : one.end))
            vec_push(&c->to->allocations, one);
    }
    for (size_t i = 0; i < from->comm_ops.n; i++) {
        struct comm_op op = from->comm_ops.at[i];
        op.name = copy_text(c, op.name);
        op.group = copy_text(c, op.group);
        op.step = copy_text(c, op.step);
        if (is_inside(c, op.begin, nanos_add(op.begin, op.elapse)))
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
    for (size_t i = 0; i < from->sources.n; i++)
        capture_source(to, from->sources.at[i]);
    for (size_t i = 0; i < from->losses.n; i++)
        vec_push(&to->losses, from->losses.at[i]);
}

/* Zeroed numbers. */
static uint32_t *numbers(size_t n)
{
    uint32_t *all = mem_grow(NULL, sizeof(*all), n + 1);

    return memset(all, 0, (n + 1) * sizeof(*all));
}

struct capture *capture_part(const struct cut *cut)
{
    const struct capture *from = cut->cap;
    struct copying c = {.cut = cut, .from = from, .to = capture_new()};

    c.texts = numbers(from->strings.strings.n);
    c.lanes = numbers(from->lanes.n);
    c.slices = numbers(from->slices.n);
    copy_facts(&c);
    copy_slices(&c);
    copy_series(&c);
    copy_records(&c);
    capture_seal(c.to);
    mem_free(c.texts);
    mem_free(c.lanes);
    mem_free(c.slices);
    vec_free(&c.list);
    return c.to;
}
