/*
 * What dictionaries and lists of a memory snapshot are: by their keys and by what is in them.
 */
#include <stdlib.h>

#include "input/memory/snapshot_in.h"

/* ---- texts ---- */

static const struct str key_texts[SNAP_KEYS] = {
    [SNAP_ACTION] = S_INIT("action"),
    [SNAP_ADDR] = S_INIT("addr"),
    [SNAP_SIZE] = S_INIT("size"),
    [SNAP_STREAM] = S_INIT("stream"),
    [SNAP_FRAMES] = S_INIT("frames"),
    [SNAP_TIME] = S_INIT("time_us"),
    [SNAP_FREE] = S_INIT("device_free"),
    [SNAP_DEVICE] = S_INIT("device"),
    [SNAP_ADDRESS] = S_INIT("address"),
    [SNAP_TOTAL] = S_INIT("total_size"),
    [SNAP_ALLOCATED] = S_INIT("allocated_size"),
    [SNAP_ACTIVE] = S_INIT("active_size"),
    [SNAP_REQUESTED] = S_INIT("requested_size"),
    [SNAP_TYPE] = S_INIT("segment_type"),
    [SNAP_EXPANDABLE] = S_INIT("is_expandable"),
    [SNAP_BLOCKS] = S_INIT("blocks"),
    [SNAP_STATE] = S_INIT("state"),
    [SNAP_HISTORY] = S_INIT("history"),
    [SNAP_REAL_SIZE] = S_INIT("real_size"),
    [SNAP_FILENAME] = S_INIT("filename"),
    [SNAP_LINE] = S_INIT("line"),
    [SNAP_NAME] = S_INIT("name"),
    [SNAP_STAGE] = S_INIT("stage"),
    [SNAP_SEGMENTS] = S_INIT("segments"),
    [SNAP_TRACES] = S_INIT("device_traces"),
    [SNAP_RANGES] = S_INIT("external_annotations"),
    [SNAP_SETTINGS] = S_INIT("PYTORCH_CUDA_ALLOC_CONF"),
};

enum snapshot_key snapshot_records_key(struct snapshot_reader *r, strid text)
{
    while (r->keys.n <= text)
        vec_push(&r->keys, 0);
    if (r->keys.at[text] == 0) {
        struct str name = capture_text(r->cap, text);
        uint8_t key = SNAP_UNKNOWN;
        for (uint8_t k = 1; k < SNAP_KEYS && name.n < 32; k++)
            key = str_equal(name, key_texts[k]) ? k : key;
        r->keys.at[text] = (uint8_t)(key + 1);
    }
    return (enum snapshot_key)(r->keys.at[text] - 1);
}

static enum snapshot_action records_action(struct snapshot_reader *r, strid text)
{
    while (r->actions.n <= text)
        vec_push(&r->actions, 0);
    if (r->actions.at[text] == 0) {
        struct str name = capture_text(r->cap, text);
        uint8_t action = SNAPSHOT_OTHER;
        for (uint8_t k = 0; k < SNAPSHOT_OTHER; k++)
            if (str_equal(name, str_of(snapshot_action_name((enum snapshot_action)k))))
                action = k;
        r->actions.at[text] = (uint8_t)(action + 1);
    }
    return (enum snapshot_action)(r->actions.at[text] - 1);
}

/* ---- keys and values of a dictionary ---- */

/* Of each key its last value. */
struct snapshot_items {
    const struct pickle_value *at[SNAP_KEYS];
};

static const struct pickle_value *items_get(const struct snapshot_items *items,
                                            enum snapshot_key key, enum pickle_kind kind)
{
    const struct pickle_value *v = items->at[key];

    return v != NULL && v->kind == kind ? v : NULL;
}

static int64_t items_number(const struct snapshot_items *items, enum snapshot_key key)
{
    const struct pickle_value *v = items_get(items, key, PICKLE_INT);

    return v != NULL ? v->number : 0;
}

static strid items_text(const struct snapshot_items *items, enum snapshot_key key)
{
    const struct pickle_value *v = items_get(items, key, PICKLE_TEXT);

    return v != NULL ? (strid)v->number : 0;
}

/* Sizes below zero, or above 2^62, are damage. */
static int64_t items_bytes(const struct snapshot_items *items, enum snapshot_key key)
{
    int64_t bytes = items_number(items, key);

    return bytes < 0 || bytes > (int64_t)1 << 62 ? 0 : bytes;
}

/* ---- records ---- */

/* A time in microseconds since 1970, if it is one. */
static bool records_time(const struct snapshot_items *items, nanos *out)
{
    const struct pickle_value *v = items_get(items, SNAP_TIME, PICKLE_INT);

    if (v == NULL || v->number < 0 || v->number > (int64_t)4000000000 * 1000000)
        return false;
    *out = v->number * 1000;
    return true;
}

static void records_entry(struct snapshot_reader *r, const struct snapshot_items *items)
{
    enum snapshot_action action = records_action(r, items_text(items, SNAP_ACTION));
    enum snapshot_key place = action == SNAPSHOT_OOM ? SNAP_FREE : SNAP_ADDR;
    struct snapshot_event event = {
        .address = (uint64_t)items_number(items, place),
        .bytes = items_bytes(items, SNAP_SIZE),
        .action = (uint8_t)action,
    };

    r->open.count[action]++;
    r->i->rows++;
    if (records_time(items, &event.at))
        r->out->has_times = true;
    else
        event.at = (nanos)r->entries; /* less that of the first, once it is known */
    if (action == SNAPSHOT_FREE_COMPLETED || action == SNAPSHOT_OTHER)
        return;
    event.stack = snapshot_stack_text(r, items->at[SNAP_FRAMES]);
    vec_push(&r->out->events, event);
}

static uint8_t records_state(struct snapshot_reader *r, strid text)
{
    struct str name = capture_text(r->cap, text);

    if (str_equal(name, S("active_allocated")))
        return SNAPSHOT_ACTIVE;
    return str_starts(name, S("active_")) ? SNAPSHOT_PENDING : SNAPSHOT_INACTIVE;
}

static int64_t records_block(struct snapshot_reader *r, const struct snapshot_items *items)
{
    const struct pickle_value *history = items_get(items, SNAP_HISTORY, PICKLE_HISTORY);
    struct snapshot_block b = {
        .address = (uint64_t)items_number(items, SNAP_ADDRESS),
        .bytes = items_bytes(items, SNAP_SIZE),
        .requested = items_bytes(items, SNAP_REQUESTED),
        .stack = snapshot_stack_text(r, items->at[SNAP_FRAMES]),
        .state = records_state(r, items_text(items, SNAP_STATE)),
    };

    if (history != NULL) {
        const struct snapshot_block *h = &r->histories.at[history->number];
        b.stack = b.stack != 0 ? b.stack : h->stack;
        if (items->at[SNAP_REQUESTED] == NULL)
            b.requested = h->requested;
    } else if (items->at[SNAP_REQUESTED] == NULL) {
        b.requested = b.bytes;
    }
    b.segment = items->at[SNAP_ADDRESS] == NULL; /* until it has a segment: no address */
    r->i->rows++;
    vec_push(&r->out->blocks, b);
    return (int64_t)r->out->blocks.n - 1;
}

static int64_t records_history(struct snapshot_reader *r, const struct snapshot_items *items)
{
    vec_push(&r->histories,
             ((struct snapshot_block){.requested = items_bytes(items, SNAP_REAL_SIZE),
                                      .stack = snapshot_stack_text(r, items->at[SNAP_FRAMES])}));
    return (int64_t)r->histories.n - 1;
}

/* Its blocks have become records before it. */
static int64_t records_segment(struct snapshot_reader *r, const struct snapshot_items *items)
{
    const struct pickle_value *blocks = items_get(items, SNAP_BLOCKS, PICKLE_BLOCKS);
    struct snapshot_segment s = {
        .address = (uint64_t)items_number(items, SNAP_ADDRESS),
        .device = items_number(items, SNAP_DEVICE),
        .stream = items_number(items, SNAP_STREAM),
        .bytes = items_bytes(items, SNAP_TOTAL),
        .allocated = items_bytes(items, SNAP_ALLOCATED),
        .active = items_bytes(items, SNAP_ACTIVE),
        .requested = items_bytes(items, SNAP_REQUESTED),
        .is_expandable = items_number(items, SNAP_EXPANDABLE) != 0,
    };

    if (blocks != NULL) {
        s.first = (size_t)blocks->number;
        s.n = blocks->n;
    }
    r->i->rows++;
    vec_push(&r->out->segments, s);
    return (int64_t)r->out->segments.n - 1;
}

static int64_t records_stage(struct snapshot_reader *r, const struct snapshot_items *items)
{
    struct snapshot_stage stage = {
        .name = items_text(items, SNAP_NAME),
        .device = items_number(items, SNAP_DEVICE),
        .is_end = str_equal_nocase(capture_text(r->cap, items_text(items, SNAP_STAGE)), S("END")),
    };

    records_time(items, &stage.time);
    vec_push(&r->stages, stage);
    return (int64_t)r->stages.n - 1;
}

/* ---- dictionaries ---- */

/* What a dictionary with these keys is. */
static enum pickle_kind items_kind(const struct snapshot_items *items)
{
    if (items->at[SNAP_ACTION] != NULL)
        return PICKLE_ENTRY;
    if (items->at[SNAP_FILENAME] != NULL)
        return PICKLE_FRAME;
    if (items->at[SNAP_TYPE] != NULL || items->at[SNAP_TOTAL] != NULL)
        return PICKLE_SEGMENT;
    if (items->at[SNAP_STATE] != NULL && items->at[SNAP_SIZE] != NULL)
        return PICKLE_BLOCK;
    if (items->at[SNAP_REAL_SIZE] != NULL)
        return PICKLE_HISTORY;
    if (items->at[SNAP_STAGE] != NULL)
        return PICKLE_RANGE;
    return items->at[SNAP_SEGMENTS] != NULL || items->at[SNAP_TRACES] != NULL ? PICKLE_ROOT
                                                                              : PICKLE_OTHER;
}

static void take_root(struct snapshot_reader *r, const struct snapshot_items *items)
{
    if (items->at[SNAP_SEGMENTS] != NULL)
        r->segments = *items->at[SNAP_SEGMENTS];
    if (items->at[SNAP_TRACES] != NULL)
        r->devices = *items->at[SNAP_TRACES];
    if (items->at[SNAP_RANGES] != NULL)
        r->ranges = *items->at[SNAP_RANGES];
}

/* Makes the record that a dictionary stands for. */
static void make_record(struct snapshot_reader *r, struct pickle_value *dict,
                        const struct snapshot_items *items)
{
    dict->kind = (uint8_t)items_kind(items);
    dict->n = 1;
    switch (dict->kind) {
    case PICKLE_ENTRY:
        records_entry(r, items);
        dict->number = (int64_t)r->entries++;
        return;
    case PICKLE_FRAME:
        dict->number =
            snapshot_stack_frame(r, items_text(items, SNAP_FILENAME),
                                 items_number(items, SNAP_LINE), items_text(items, SNAP_NAME));
        return;
    case PICKLE_BLOCK:
        dict->number = records_block(r, items);
        return;
    case PICKLE_HISTORY:
        dict->number = records_history(r, items);
        return;
    case PICKLE_SEGMENT:
        dict->number = records_segment(r, items);
        return;
    case PICKLE_RANGE:
        dict->number = records_stage(r, items);
        return;
    case PICKLE_ROOT:
        take_root(r, items);
        return;
    default:
        if (items_text(items, SNAP_SETTINGS) != 0)
            r->out->settings = items_text(items, SNAP_SETTINGS);
        dict->number = 0;
    }
}

void snapshot_records_set(struct snapshot_reader *r, struct pickle_value *dict,
                          const struct pickle_value *pairs, size_t n)
{
    struct snapshot_items items = {{0}};

    for (size_t i = 0; i < n; i++)
        if (pairs[2 * i].kind == PICKLE_TEXT)
            items.at[snapshot_records_key(r, (strid)pairs[2 * i].number)] = &pairs[2 * i + 1];
    items.at[SNAP_UNKNOWN] = NULL;
    if (dict->kind == PICKLE_DICT)
        make_record(r, dict, &items);
    else if (dict->kind == PICKLE_ROOT)
        take_root(r, &items);
}

/* ---- lists ---- */

static bool are_all(const struct pickle_value *values, size_t n, enum pickle_kind kind)
{
    for (size_t i = 0; i < n; i++)
        if (values[i].kind != kind)
            return false;
    return true;
}

static bool are_lists(const struct pickle_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i].kind != PICKLE_TRACE && values[i].kind != PICKLE_LIST)
            return false;
    return true;
}

static void add_counts(struct snapshot_run *run, const struct snapshot_run *more)
{
    for (size_t k = 0; k < SNAPSHOT_ACTIONS; k++)
        run->count[k] += more->count[k];
}

/* All entries since the last list that got some. */
static void take_open(struct snapshot_reader *r, struct snapshot_run *run)
{
    add_counts(run, &r->open);
    run->n = r->out->events.n - run->first;
    r->open = (struct snapshot_run){.first = r->out->events.n, .number = r->entries};
}

static void append_entries(struct snapshot_reader *r, struct pickle_value *list)
{
    if (list->kind == PICKLE_LIST) {
        struct snapshot_run run = {.first = r->open.first, .number = r->open.number};
        list->kind = PICKLE_TRACE;
        list->number = (int64_t)r->runs.n;
        vec_push(&r->runs, run);
    }
    take_open(r, &r->runs.at[list->number]);
}

static void append_traces(struct snapshot_reader *r, struct pickle_value *list,
                          const struct pickle_value *values, size_t n)
{
    if (list->kind == PICKLE_LIST) {
        list->kind = PICKLE_TRACES;
        list->number = (int64_t)r->traces.n;
        list->n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t run = (uint32_t)values[i].number;
        if (values[i].kind == PICKLE_LIST) {
            run = (uint32_t)r->runs.n;
            vec_push(&r->runs, ((struct snapshot_run){.first = r->out->events.n}));
        }
        vec_push(&r->traces, run);
    }
    list->n += n;
}

/* Records lie one behind the other, as their list has them. */
static void append_records(struct pickle_value *list, const struct pickle_value *values, size_t n,
                           enum pickle_kind kind)
{
    if (list->kind == PICKLE_LIST) {
        list->kind = (uint8_t)kind;
        list->number = values[0].number;
        list->n = 0;
    }
    for (size_t i = 0; i < n && list->kind == kind; i++) {
        if (values[i].number != list->number + (int64_t)list->n)
            list->kind = PICKLE_OTHER;
        list->n += values[i].n;
    }
}

void snapshot_records_append(struct snapshot_reader *r, struct pickle_value *list,
                             const struct pickle_value *values, size_t n)
{
    static const uint8_t lists[PICKLE_KINDS] = {
        [PICKLE_FRAME] = PICKLE_STACK,     [PICKLE_ENTRY] = PICKLE_TRACE,
        [PICKLE_BLOCK] = PICKLE_BLOCKS,    [PICKLE_SEGMENT] = PICKLE_SEGMENTS,
        [PICKLE_HISTORY] = PICKLE_HISTORY, [PICKLE_RANGE] = PICKLE_RANGES,
    };
    enum pickle_kind kind = (enum pickle_kind)values[0].kind;
    enum pickle_kind becomes = (enum pickle_kind)lists[kind];

    if (list->kind <= PICKLE_LIST && list->kind != PICKLE_LIST)
        return; /* no list */
    if (becomes != PICKLE_NONE && (list->kind == PICKLE_LIST || list->kind == becomes) &&
        are_all(values, n, kind)) {
        if (kind == PICKLE_FRAME)
            snapshot_stack_append(r, list, values, n);
        else if (kind == PICKLE_ENTRY)
            append_entries(r, list);
        else if (kind == PICKLE_HISTORY)
            *list = (struct pickle_value){PICKLE_HISTORY, list->memo, {values[0].number}, 1};
        else
            append_records(list, values, n, becomes);
    } else if ((list->kind == PICKLE_LIST || list->kind == PICKLE_TRACES) && are_lists(values, n)) {
        append_traces(r, list, values, n);
    } else {
        list->kind = PICKLE_OTHER;
        list->number = 0;
    }
}

/* ---- the whole ---- */

/* Of a file that was cut: the lists that would have become the root's. The value above the key
 * "device_traces" is the list of devices; lists above that are a device each. */
static void find_cut_lists(struct snapshot_reader *r)
{
    size_t at = r->stack.n;

    r->segments = (struct pickle_value){PICKLE_SEGMENTS, PICKLE_NO_MEMO, {0}, r->out->segments.n};
    for (size_t i = 0; i + 1 < r->stack.n; i++) {
        const struct pickle_value *v = &r->stack.at[i];
        if (v->kind != PICKLE_TEXT)
            continue;
        enum snapshot_key key = snapshot_records_key(r, (strid)v->number);
        if (key == SNAP_TRACES)
            at = i + 1;
        else if (key == SNAP_SEGMENTS && v[1].kind == PICKLE_SEGMENTS)
            r->segments = v[1];
    }
    if (at >= r->stack.n)
        return;
    struct pickle_value devices = r->stack.at[at];
    for (size_t i = at + 1; i < r->stack.n; i++) {
        struct pickle_value list = r->stack.at[i];
        if (!are_lists(&list, 1))
            break;
        if (i + 1 >= r->stack.n || !are_lists(&r->stack.at[i + 1], 1))
            append_entries(r, &list); /* those of the last are still on their way */
        append_traces(r, &devices, &list, 1);
    }
    r->devices = devices;
}

static void keep_traces(struct snapshot_reader *r)
{
    struct snapshot *s = r->out;

    if (r->devices.kind != PICKLE_TRACES)
        return;
    for (size_t i = 0; i < r->devices.n; i++) {
        const struct snapshot_run *run = &r->runs.at[r->traces.at[(size_t)r->devices.number + i]];
        struct snapshot_trace t = {.device = (int64_t)i, .first = run->first, .n = run->n};
        uint64_t all = 0;
        for (size_t k = 0; k < SNAPSHOT_ACTIONS; k++)
            all += t.count[k] = run->count[k];
        for (size_t k = t.first; k < t.first + t.n && !s->has_times; k++)
            s->events.at[k].at -= (nanos)run->number;
        if (all > 0)
            vec_push(&s->traces, t);
    }
}

/* Segments by device; blocks know theirs. Older PyTorch gives no addresses of blocks: they fill
 * their segment. */
static void keep_segments(struct snapshot_reader *r)
{
    struct snapshot *s = r->out;
    size_t n = 0;

    if (r->segments.kind == PICKLE_SEGMENTS)
        for (size_t i = 0; i < r->segments.n; i++)
            s->segments.at[n++] = s->segments.at[(size_t)r->segments.number + i];
    s->segments.n = n;
    for (size_t i = 0; i < n; i++) {
        const struct snapshot_segment *segment = &s->segments.at[i];
        uint64_t address = segment->address;
        for (size_t k = segment->first; k < segment->first + segment->n; k++) {
            struct snapshot_block *b = &s->blocks.at[k];
            if (b->segment != 0)
                b->address = address;
            b->segment = (uint32_t)i;
            address += (uint64_t)b->bytes;
        }
    }
}

ORDER_BY(by_device, struct snapshot_segment,
         ORDER(x->device, y->device) ?: ORDER(x->first, y->first) ?: ORDER(x->address, y->address));

ORDER_BY(traces_by_device, struct snapshot_trace, ORDER(x->device, y->device));

/* A device that has segments and no events has a trace, too. */
static void add_quiet_devices(struct snapshot *s)
{
    for (size_t i = 0; i < s->segments.n; i++) {
        bool is_there = false;
        for (size_t k = 0; k < s->traces.n && !is_there; k++)
            is_there = s->traces.at[k].device == s->segments.at[i].device;
        if (!is_there && s->traces.n < 1024)
            vec_push(&s->traces, ((struct snapshot_trace){.device = s->segments.at[i].device}));
    }
    if (s->traces.n > 1)
        qsort(s->traces.at, s->traces.n, sizeof(*s->traces.at), traces_by_device);
}

/* Begins and ends of ranges by name and device, the last begin first. */
static void keep_ranges(struct snapshot_reader *r)
{
    struct snapshot *s = r->out;
    size_t first = (size_t)r->ranges.number;

    if (r->ranges.kind != PICKLE_RANGES)
        return;
    for (size_t i = first; i < first + r->ranges.n; i++) {
        const struct snapshot_stage *stage = &r->stages.at[i];
        if (!stage->is_end) {
            vec_push(&s->ranges, ((struct snapshot_range){stage->name, stage->device, stage->time,
                                                          stage->time - 1}));
            continue;
        }
        for (size_t k = s->ranges.n; k-- > 0 && s->ranges.n - k < 1024;) {
            struct snapshot_range *open = &s->ranges.at[k];
            if (open->name != stage->name || open->device != stage->device ||
                open->end >= open->begin)
                continue;
            open->end = stage->time;
            break;
        }
    }
}

bool snapshot_records_finish(struct snapshot_reader *r)
{
    const struct pickle_value *root = r->stack.n > 0 ? &r->stack.at[0] : NULL;

    if (r->out->is_cut)
        find_cut_lists(r);
    else if (root != NULL && root->kind == PICKLE_SEGMENTS)
        r->segments = *root; /* a bare list */
    else if (root == NULL || root->kind != PICKLE_ROOT)
        return false;
    keep_traces(r);
    keep_segments(r);
    if (r->out->segments.n > 1)
        qsort(r->out->segments.at, r->out->segments.n, sizeof(*r->out->segments.at), by_device);
    for (size_t i = 0; i < r->out->segments.n; i++)
        for (size_t k = 0; k < r->out->segments.at[i].n; k++)
            r->out->blocks.at[r->out->segments.at[i].first + k].segment = (uint32_t)i;
    add_quiet_devices(r->out);
    keep_ranges(r);
    return !r->out->is_cut || r->out->segments.n > 0 || r->out->events.n > 0;
}
