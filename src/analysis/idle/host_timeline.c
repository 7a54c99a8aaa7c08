/*
 * One pass over the events of the launching threads.
 */
#include "analysis/idle/host_timeline.h"

#include "analysis/diagnose/limits.h"
#include "analysis/idle/host_threads.h"
#include "analysis/ops/op_tree.h"
#include "analysis/study.h"

enum { DEPTH = 256, THREADS = 16 };

/* What is going on at a moment, for the sums of a stretch. */
enum activity { ACT_NOTHING, ACT_OPERATOR, ACT_LAUNCHING, ACT_FRAME, ACTIVITIES };

struct open_event {
    nanos begin, end;
    uint32_t slice;
    uint8_t kind;  /* enum slice_kind */
    uint8_t range; /* enum range_kind */
    bool is_call;
};

/* One lane of a thread on its way through time; calls of a driver may have a lane of their own. */
struct reader {
    size_t next, last; /* slices */
    int64_t tid;
    struct open_event stack[DEPTH];
    size_t depth;
};

/* The stretch that is being summed up. */
struct sums {
    nanos begin, by[ACTIVITIES], input, compile, longest, held;
    uint32_t filler;
    uint32_t ops, calls, lookups, pieces, switches, longer;
    bool has_long; /* a slice or an operator that launches nothing of LIMIT_LONG_SLICE */
};

/* What is remembered of names, by string number. */
struct name_memo {
    uint8_t known, call, range, family;
    bool is_lookup;
};

struct walk {
    const struct capture *cap;
    struct name_memo *names;
    const uint8_t *launching; /* bit per slice: an outermost operator that touches the device */
    uint32_t *call_of;        /* call of each launching slice */
    struct hash queue;        /* what was put into a queue, by the slice that takes it out */
    struct hash types;        /* enum host_types by the texts of types and shapes */
    struct reader *readers;
    size_t n;
    struct sums sums;
    nanos now;
    uint32_t open_call; /* the call that runs, or NO_CALL */
    uint32_t open_ranges[RANGE_OPTIMIZER + 1];
    uint32_t timeline;
    struct host_lanes lanes;
    uint8_t *walked;      /* bit per lane */
    uint8_t *takes_queue; /* bit per lane: it takes work out of a queue */
    VEC_OF(struct host_call) calls;
};

static bool has_bit(const uint8_t *bits, size_t i)
{
    return (bits[i / 8] >> i % 8 & 1) != 0;
}

static void set_bit(uint8_t *bits, size_t i)
{
    bits[i / 8] |= (uint8_t)(1 << i % 8);
}

static uint8_t *zeroed(size_t n)
{
    return memset(mem_grow(NULL, 1, n), 0, n);
}

static const struct name_memo *memo_of(const struct capture *cap, struct name_memo *names, strid id)
{
    struct name_memo *m = &names[id];

    if (m->known == 0) {
        struct str text = capture_text(cap, id);
        *m =
            (struct name_memo){1, (uint8_t)host_call_kind(text), (uint8_t)host_range_kind(text),
                               (uint8_t)kernel_family_of_operator(text), host_call_is_lookup(text)};
    }
    return m;
}

/* ---- which slices launch ---- */

/* A slice that becomes a call of the timeline. */
static enum call_kind call_kind_of(const struct walk *w, size_t slice)
{
    enum slice_kind kind = (enum slice_kind)w->cap->slices.kind[slice];
    bool is_linked = w->call_of[slice] != NO_SLICE;
    enum call_kind call = CALL_NONE;

    if (kind == SLICE_RUNTIME)
        call = (enum call_kind)memo_of(w->cap, w->names, w->cap->slices.name[slice])->call;
    if (call != CALL_NONE || !is_linked)
        return call;
    return kind == SLICE_QUEUE ? CALL_ENQUEUE : CALL_LAUNCH;
}

/* Marks the outermost operators of a lane that hold a call of another lane, or its own. */
static void mark_launching(const struct walk *w, const struct lane *ops, const struct lane *calls,
                           uint8_t *bits)
{
    const struct slices *s = &w->cap->slices;
    nanos end = INT64_MIN;
    size_t outer = 0, op = ops->first;

    for (size_t i = calls->first; i < calls->first + calls->n; i++) {
        for (; op < ops->first + ops->n && s->begin[op] <= s->begin[i]; op++)
            if (s->kind[op] == SLICE_HOST_OP && s->begin[op] >= end) {
                outer = op;
                end = slices_end(s, op);
            }
        if (s->begin[i] < end && call_kind_of(w, i) != CALL_NONE)
            set_bit(bits, outer);
    }
}

/* The same for all lanes of threads; those of one thread go together. */
static void mark_all_launching(const struct walk *w, uint8_t *bits)
{
    for (size_t i = 0; i < w->cap->lanes.n; i++) {
        const struct lane *lane = &w->cap->lanes.at[i];
        struct host_lanes same = host_lanes_of(w->cap, &w->lanes, i);
        for (size_t k = 0; k < same.n; k++)
            mark_launching(w, lane, &w->cap->lanes.at[same.at[k]], bits);
        if (same.n == 0 && lane->key.kind == LANE_THREAD)
            mark_launching(w, lane, lane, bits);
    }
}

/* ---- sums of a stretch ---- */

static bool is_same_thread(const struct reader *a, const struct reader *b)
{
    return a == b || (a->tid != 0 && a->tid == b->tid);
}

static const struct reader *reader_of(const struct walk *w, const struct open_event *e)
{
    for (size_t i = 0; i < w->n; i++)
        if (e >= w->readers[i].stack && e < w->readers[i].stack + w->readers[i].depth)
            return &w->readers[i];
    return NULL;
}

/* The outermost operator that is open on the thread of an event. */
static const struct open_event *outermost(const struct walk *w, const struct open_event *e)
{
    const struct reader *own = reader_of(w, e);

    for (size_t i = 0; i < w->n && own != NULL; i++) {
        const struct reader *r = &w->readers[i];
        for (size_t k = 0; k < r->depth && is_same_thread(r, own); k++)
            if (r->stack[k].kind == SLICE_HOST_OP)
                return &r->stack[k];
    }
    return NULL;
}

static enum activity activity_of(const struct walk *w, const struct open_event *e)
{
    const struct open_event *outer = e != NULL ? outermost(w, e) : NULL;

    if (outer != NULL)
        return has_bit(w->launching, outer->slice) ? ACT_LAUNCHING : ACT_OPERATOR;
    return e != NULL && e->kind == SLICE_PYTHON ? ACT_FRAME : ACT_NOTHING;
}

/* A piece between two events may be a wait for the interpreter lock. */
static void add_piece(struct sums *sums, nanos span)
{
    size_t switches = host_stretch_switches(span);

    sums->pieces++;
    sums->switches += switches > 0;
    sums->longer += switches > 1;
    if (span >= LIMIT_SWITCH / 100 * 99)
        sums->held += span;
}

/* Moves to `t`; the time in between belongs to what is innermost now. */
static void pass_time(struct walk *w, nanos t)
{
    nanos span = t > w->now ? nanos_sub(t, w->now) : 0;

    if (span == 0)
        return;
    if (w->open_call == NO_CALL) {
        struct sums *sums = &w->sums;
        /* The event that began last among those that are innermost on their threads. */
        const struct open_event *e = NULL;
        for (size_t i = 0; i < w->n; i++) {
            const struct reader *r = &w->readers[i];
            const struct open_event *top = r->depth > 0 ? &r->stack[r->depth - 1] : NULL;
            if (top != NULL && (e == NULL || top->begin > e->begin))
                e = top;
        }
        enum activity act = activity_of(w, e);
        if (act == ACT_LAUNCHING && span >= LIMIT_LONG_SLICE)
            act = ACT_NOTHING; /* the operator stands still: nobody recorded why */
        sums->by[act] += span;
        sums->has_long |= span >= LIMIT_LONG_SLICE;
        if (span >= LIMIT_LONG_STRETCH)
            add_piece(sums, span);
        sums->input += w->open_ranges[RANGE_INPUT] > 0 ? span : 0;
        sums->compile += w->open_ranges[RANGE_COMPILE] > 0 ? span : 0;
        if (span > sums->longest && e != NULL &&
            (e->kind == SLICE_HOST_OP || e->kind == SLICE_PYTHON || e->kind == SLICE_RUNTIME ||
             e->kind == SLICE_QUEUE || e->kind == SLICE_GC || e->kind == SLICE_OS)) {
            sums->longest = span;
            sums->filler = e->slice;
        }
    }
    w->now = t;
}

static enum stretch_class timeline_class_of(const struct sums *s, nanos whole)
{
    nanos op = s->by[ACT_OPERATOR], frame = s->by[ACT_FRAME], none = s->by[ACT_NOTHING];
    nanos launching = s->by[ACT_LAUNCHING];

    if (s->compile >= whole / 10 * 3 && s->compile >= LIMIT_COMPILE)
        return STRETCH_COMPILE;
    if (s->input > 0 && s->input >= whole / 2)
        return STRETCH_INPUT;
    if (launching >= op && launching >= frame && launching >= none)
        return STRETCH_LAUNCH;
    if (op >= frame && op >= none)
        return STRETCH_OPERATOR;
    return frame >= none ? STRETCH_PYTHON : STRETCH_UNTRACED;
}

static uint16_t small(uint32_t n)
{
    return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

static void start_stretch(struct walk *w)
{
    w->sums = (struct sums){.begin = w->now, .filler = NO_SLICE};
}

/* ---- events ---- */

/* Closes what ends by `t`, in order. */
static void close_until(struct walk *w, nanos t)
{
    for (;;) {
        struct reader *first = NULL;
        for (size_t i = 0; i < w->n; i++) {
            struct reader *r = &w->readers[i];
            if (r->depth > 0 && r->stack[r->depth - 1].end <= t &&
                (first == NULL || r->stack[r->depth - 1].end < first->stack[first->depth - 1].end))
                first = r;
        }
        if (first == NULL)
            return;
        const struct open_event *e = &first->stack[first->depth - 1];
        pass_time(w, e->end);
        if (e->is_call && w->open_call != NO_CALL) {
            w->calls.at[w->open_call].end = w->now;
            w->open_call = NO_CALL;
            start_stretch(w);
        } else if (e->kind == SLICE_HOST_OP && w->open_call == NO_CALL &&
                   e->end - e->begin >= LIMIT_LONG_SLICE && activity_of(w, e) == ACT_OPERATOR) {
            w->sums.has_long = true;
        }
        w->open_ranges[e->range]--;
        first->depth--;
    }
}

/* Operators around a call on one lane: families and types. */
static void look_around(const struct walk *w, const struct reader *r, struct host_call *call)
{
    for (size_t i = r->depth; i-- > 0;) {
        const struct open_event *e = &r->stack[i];
        if (e->range == RANGE_OPTIMIZER)
            call->is_optimizer = true;
        if (e->kind != SLICE_HOST_OP)
            continue;
        if (call->op == NO_SLICE)
            call->op = e->slice;
        call->outer = e->slice;
        if (call->family == FAMILY_OTHER)
            call->family = memo_of(w->cap, w->names, w->cap->slices.name[e->slice])->family;
    }
}

/* Types of the innermost operator around the call that names any. Few texts are of many calls. */
static void look_at_types(struct walk *w, const struct reader *r, struct host_call *call)
{
    for (size_t i = r->depth; i-- > 0;) {
        if (r->stack[i].kind != SLICE_HOST_OP)
            continue;
        struct attr types = capture_slice_attr(w->cap, r->stack[i].slice, KEY_INPUT_DTYPES);
        if (types.type != ATTR_TEXT || capture_text(w->cap, types.text).n == 0)
            continue;
        struct attr shapes = capture_slice_attr(w->cap, r->stack[i].slice, KEY_INPUT_SHAPES);
        strid of_shapes = shapes.type == ATTR_TEXT ? shapes.text : 0;
        uint64_t key = (uint64_t)types.text << 32 | of_shapes;
        uint32_t seen;
        if (!hash_get(&w->types, key, &seen)) {
            seen =
                host_types_seen(capture_text(w->cap, types.text), capture_text(w->cap, of_shapes));
            hash_put(&w->types, key, seen);
        }
        call->is_fp64 |= (seen & HOST_TYPES_F64) != 0;
        call->is_float |= (seen & HOST_TYPES_F32_FIRST) != 0;
        return;
    }
}

/* The event by which the thread took out of its queue what it launches now, if it did so since the
 * last call; until then it had nothing to do. */
static const struct open_event *taken_by(const struct walk *w, const struct reader *own)
{
    uint32_t from;

    for (size_t k = 0; k < w->n && w->queue.n > 0; k++) {
        const struct reader *r = &w->readers[k];
        for (size_t i = r->depth; i-- > 0 && is_same_thread(r, own);)
            if (r->stack[i].kind == SLICE_QUEUE && hash_get(&w->queue, r->stack[i].slice, &from))
                return r->stack[i].begin >= w->sums.begin ? &r->stack[i] : NULL;
    }
    return NULL;
}

static void open_call(struct walk *w, const struct reader *r, size_t slice, enum call_kind kind)
{
    const struct open_event *taken = taken_by(w, r);
    nanos stretch = nanos_sub(w->now, taken != NULL ? taken->begin : w->sums.begin);
    struct host_call call = {
        .begin = w->now,
        .end = w->now,
        .stretch = stretch > 0 ? stretch : 0,
        .slice = (uint32_t)slice,
        .filler = w->sums.filler,
        .first_task = UINT32_MAX,
        .enqueued_by = taken != NULL ? taken->slice : NO_CALL, /* its call is found later */
        .ops = small(w->sums.ops),
        .calls = small(w->sums.calls),
        .lookups = small(w->sums.lookups),
        .held = w->sums.held,
        .pieces = small(w->sums.pieces),
        .switches = small(w->sums.switches),
        .longer = small(w->sums.longer),
        .timeline = w->timeline,
        .kind = (uint8_t)kind,
        .class = (uint8_t)timeline_class_of(&w->sums, stretch),
        .is_candidate =
            stretch >= LIMIT_LONG_SLICE && (w->sums.has_long || stretch >= LIMIT_LONG_STRETCH),
    };

    if (taken != NULL) {
        call.class = STRETCH_LAUNCH;
        call.is_candidate = false;
    }
    call.op = call.outer = NO_SLICE;
    call.family = FAMILY_OTHER;
    for (size_t i = 0; i < w->n; i++)
        if (is_same_thread(&w->readers[i], r)) {
            look_around(w, &w->readers[i], &call);
            look_at_types(w, &w->readers[i], &call);
        }
    w->open_call = (uint32_t)w->calls.n;
    vec_push(&w->calls, call);
}

static void push(struct walk *w, struct reader *r, size_t slice)
{
    const struct slices *s = &w->cap->slices;
    enum slice_kind kind = (enum slice_kind)s->kind[slice];
    enum call_kind call = call_kind_of(w, slice);
    bool is_new = call != CALL_NONE && w->open_call == NO_CALL;

    if (is_new)
        open_call(w, r, slice, call);
    else if (kind == SLICE_HOST_OP)
        w->sums.ops++;
    else if (kind == SLICE_RUNTIME) {
        w->sums.calls++;
        w->sums.lookups += memo_of(w->cap, w->names, s->name[slice])->is_lookup;
    }
    if (call != CALL_NONE)
        w->call_of[slice] = w->open_call;
    if (r->depth == DEPTH) {
        if (is_new) { /* too deep to be followed: a call without length */
            w->open_call = NO_CALL;
            start_stretch(w);
        }
        return;
    }
    r->stack[r->depth++] = (struct open_event){
        .begin = device_time(s->begin[slice]),
        .end = device_time(slices_end(s, slice)),
        .slice = (uint32_t)slice,
        .kind = (uint8_t)kind,
        .range = memo_of(w->cap, w->names, s->name[slice])->range,
        .is_call = is_new,
    };
    w->open_ranges[r->stack[r->depth - 1].range]++;
}

/* The thread whose next event begins first. */
static struct reader *next_reader(const struct walk *w)
{
    struct reader *best = NULL;

    for (size_t i = 0; i < w->n; i++) {
        struct reader *r = &w->readers[i];
        while (r->next < r->last &&
               !host_threads_is_host((enum slice_kind)w->cap->slices.kind[r->next]))
            r->next++;
        if (r->next < r->last &&
            (best == NULL || w->cap->slices.begin[r->next] < w->cap->slices.begin[best->next]))
            best = r;
    }
    return best;
}

/* ---- the result ---- */

static void mark_queues(struct walk *w)
{
    uint32_t from;

    for (size_t k = 0; w->queue.n > 0 && k < w->cap->lanes.n; k++) {
        const struct lane *lane = &w->cap->lanes.at[k];
        for (size_t i = lane->first; i < lane->first + lane->n; i++)
            if (w->cap->slices.kind[i] == SLICE_QUEUE && hash_get(&w->queue, i, &from)) {
                set_bit(w->takes_queue, k);
                break;
            }
    }
}

/* A thread that launches what others put into its queue. */
static bool takes_from_queue(const struct walk *w, size_t lane)
{
    struct host_lanes own = host_lanes_of(w->cap, &w->lanes, lane);

    for (size_t i = 0; i < own.n; i++)
        if (has_bit(w->takes_queue, own.at[i]))
            return true;
    return has_bit(w->takes_queue, lane);
}

static void add_reader(struct walk *w, size_t lane)
{
    const struct lane *l = &w->cap->lanes.at[lane];

    if (has_bit(w->walked, lane) || w->n == THREADS)
        return;
    set_bit(w->walked, lane);
    struct reader *r = &w->readers[w->n++];
    r->next = l->first;
    r->last = l->first + l->n;
    r->tid = l->key.tid;
    r->depth = 0;
}

/* A lane, and the others of the same thread. */
static void add_readers(struct walk *w, size_t lane)
{
    struct host_lanes own = host_lanes_of(w->cap, &w->lanes, lane);

    if (own.n == 0)
        add_reader(w, lane);
    for (size_t i = 0; i < own.n; i++)
        add_reader(w, own.at[i]);
}

/* Adds the threads that take turns with those that are there; the others stay in the list. */
static size_t add_turns(struct walk *w, struct host_thread *threads, size_t n)
{
    struct interval_set busy = host_threads_busy(w->cap, &w->cap->lanes.at[threads[0].lane]);
    size_t left = 0;

    for (size_t i = 1; i < n; i++) {
        size_t lane = threads[i].lane;
        if (has_bit(w->walked, lane))
            continue;
        struct interval_set own = host_threads_busy(w->cap, &w->cap->lanes.at[lane]);
        nanos both = interval_overlap(own, busy);
        if (w->n == THREADS || both > interval_length(own) / LIMIT_TURNS ||
            takes_from_queue(w, lane)) {
            mem_free(own.at);
            threads[left++] = threads[i];
            continue;
        }
        busy = host_threads_join(busy, own);
        add_readers(w, lane);
    }
    mem_free(busy.at);
    return left;
}

/* Walks the first thread of the list and, `may_join`, all that take turns with it; what is left of
 * the list. */
static size_t walk_group(struct walk *w, struct host_thread *threads, size_t n, bool may_join)
{
    w->n = 0;
    add_readers(w, threads[0].lane);
    if (may_join)
        n = add_turns(w, threads, n);
    struct reader *r = next_reader(w);
    w->open_call = NO_CALL;
    w->now = r != NULL ? device_time(w->cap->slices.begin[r->next]) : 0;
    start_stretch(w);
    for (; r != NULL; r = next_reader(w)) {
        size_t slice = r->next++;
        nanos begin = device_time(w->cap->slices.begin[slice]);
        close_until(w, begin);
        pass_time(w, begin);
        push(w, r, slice);
    }
    close_until(w, INT64_MAX);
    return n;
}

static void walk_all(struct walk *w, struct host_timelines *out, struct arena *arena)
{
    struct host_thread *threads = mem_grow(NULL, sizeof(*threads), w->cap->lanes.n + 1);
    size_t n = host_threads_find(w->cap, w->call_of, threads);

    out->at = ARENA_ARRAY(arena, struct host_timeline, n);
    for (; n > 0 && out->count < LIMIT_GROUPS; w->timeline++) {
        size_t first = w->calls.n;
        n = walk_group(w, threads, n, true);
        out->at[out->count++] = (struct host_timeline){.first = first, .n = w->calls.n - first};
    }
    for (size_t i = 0; i < n; i++) {
        size_t first = w->calls.n;
        if (has_bit(w->walked, threads[i].lane))
            continue;
        walk_group(w, &threads[i], 1, false);
        out->at[out->count++] = (struct host_timeline){.first = first, .n = w->calls.n - first};
        w->timeline++;
    }
    mem_free(threads);
}

struct host_timelines host_timelines_find(const struct capture *cap, struct device_tasks *tasks,
                                          struct arena *arena)
{
    struct host_timelines out = {0};
    uint32_t *launch = op_tree_launches(cap);
    uint8_t *bits = zeroed(cap->slices.n / 8 + 1);
    struct walk w = {.cap = cap, .launching = bits};

    w.names = mem_grow(NULL, sizeof(*w.names), cap->strings.strings.n + 1);
    memset(w.names, 0, sizeof(*w.names) * (cap->strings.strings.n + 1));
    w.call_of = mem_grow(NULL, sizeof(*w.call_of), cap->slices.n + 1);
    memset(w.call_of, 0xff, sizeof(*w.call_of) * (cap->slices.n + 1));
    w.readers = mem_grow(NULL, sizeof(*w.readers), THREADS);
    for (size_t i = 0; i < tasks->n; i++)
        if (launch[tasks->at[i].slice] != NO_SLICE)
            w.call_of[launch[tasks->at[i].slice]] = 0; /* has a link; its number comes later */
    host_threads_queues(cap, &w.queue, w.call_of);
    w.lanes = host_lanes_find(cap);
    mark_all_launching(&w, bits);
    w.walked = zeroed(cap->lanes.n / 8 + 1);
    w.takes_queue = zeroed(cap->lanes.n / 8 + 1);
    mark_queues(&w);
    walk_all(&w, &out, arena);
    out.n = w.calls.n;
    out.calls = STUDY_KEEP(arena, w.calls);
    host_links_queues(&w.queue, w.call_of, &out);
    host_links_tasks(cap, launch, w.call_of, tasks, &out);
    host_stretches_judge(cap, tasks, &out);
    hash_free(&w.queue);
    hash_free(&w.types);
    vec_free(&w.calls);
    mem_free(w.lanes.at);
    mem_free(w.walked);
    mem_free(w.takes_queue);
    mem_free(w.readers);
    mem_free(w.call_of);
    mem_free(w.names);
    mem_free(bits);
    mem_free(launch);
    return out;
}
