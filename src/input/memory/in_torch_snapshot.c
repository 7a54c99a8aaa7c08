/*
 * torch-snapshot: what PyTorch's caching allocator held and did, as
 * torch.cuda.memory._dump_snapshot() and its twins for NPUs and XPUs pickle it.
 *
 * A pickle is a program; of its operations those are carried out that build data, and any other is
 * refused by name. Events and blocks become a struct snapshot, the totals counters, named ranges
 * annotations. A file that was cut keeps what was complete.
 * Format reference: docs/formats/torch-snapshot.md
 */
#include "input/memory/snapshot_in.h"
#include "input/trace/step_name.h"

enum { WINDOW = 1 << 20, SAMPLES_MOST = 1 << 20 };

static bool claims_snapshot(struct str name)
{
    return str_ends(name, S(".pickle")) || str_ends(name, S(".pkl")) ||
           str_ends(name, S(".pickle.gz")) || str_ends(name, S(".pkl.gz"));
}

static int snapshot_probe(const struct probe *p)
{
    struct str head = p->head;

    if (head.n < 3 || (uint8_t)head.at[0] != 0x80 || head.at[1] < 2 || head.at[1] > 5)
        return 0;
    if (str_contains(head, S("segments")) || str_contains(head, S("segment_type")) ||
        str_contains(head, S("device_traces")))
        return 90;
    return claims_snapshot(p->name) ? 40 : 0;
}

/* ---- into the capture ---- */

/* Counters of the totals. Of very many events the largest of several in a row stands for them. */
static void put_counters(struct capture *cap, const struct snapshot_trace *t)
{
    const struct snapshot_event *events = cap->snapshot->events.at + t->first;
    strid process = capture_intern_format(cap, "device %lld", (long long)t->device);
    strid unit = capture_intern(cap, S("B"));
    series_id series[] = {capture_series(cap, process, capture_intern(cap, S("allocated")), unit),
                          capture_series(cap, process, capture_intern(cap, S("reserved")), unit)};
    int64_t level[2], last[2] = {-1, -1};
    size_t stride = t->n / SAMPLES_MOST + 1;

    snapshot_before(cap->snapshot, t, &level[0], &level[1]);
    for (size_t i = 0; i < t->n; i += stride) {
        int64_t most[2] = {INT64_MIN, INT64_MIN};
        nanos at[2] = {0, 0};
        for (size_t k = i; k < i + stride && k < t->n; k++) {
            level[0] = nanos_add(level[0], snapshot_allocates(&events[k]));
            level[1] = nanos_add(level[1], snapshot_reserves(&events[k]));
            for (size_t which = 0; which < 2; which++)
                if (level[which] > most[which]) {
                    most[which] = level[which];
                    at[which] = events[k].at;
                }
        }
        for (size_t which = 0; which < 2; which++)
            if (most[which] != last[which]) {
                capture_sample(cap, series[which], at[which], (double)most[which]);
                last[which] = most[which];
            }
    }
}

static void put_ranges(struct capture *cap)
{
    const struct snapshot *s = cap->snapshot;

    for (size_t i = 0; i < s->ranges.n; i++) {
        const struct snapshot_range *r = &s->ranges.at[i];
        struct slice slice = {.kind = SLICE_ANNOTATION,
                              .name = r->name,
                              .begin = r->begin,
                              .dur = r->end >= r->begin ? r->end - r->begin : 0};
        struct lane_key key = {.kind = LANE_THREAD, .device = -1};
        key.process = capture_intern_format(cap, "device %lld", (long long)r->device);
        key.name = capture_intern(cap, S("annotations"));
        slice.lane = capture_lane(cap, key);
        step_name_mark(cap, &slice, true);
        capture_slice(cap, &slice);
    }
}

static uint64_t snapshot_byte(const struct snapshot_reader *r)
{
    return r->base - (uint64_t)(r->end - r->at);
}

/* The snapshot, its totals as counters, its ranges as annotations. */
static void fill_capture(struct snapshot_reader *r)
{
    struct capture *cap = r->cap;
    struct snapshot *s = r->out;

    cap->snapshot = s;
    r->out = NULL;
    for (size_t i = 0; i < s->traces.n; i++)
        if (s->traces.at[i].n > 0)
            put_counters(cap, &s->traces.at[i]);
    put_ranges(cap);
    cap->facts.kind = capture_intern(cap, S("torch_snapshot"));
    if (r->is_npu)
        cap->facts.vendor = VENDOR_ASCEND;
    if (s->traces.n == 1)
        cap->facts.device = s->traces.at[0].device;
    cap->clock.has_unix = s->has_times;
    if (!s->has_times && s->events.n > 0)
        import_report(r->i, SEV_NOTE, "snapshot.no-time",
                      "no times are recorded: events are numbered instead");
    if (s->is_cut)
        import_lose(r->i, import_byte(r->i, snapshot_byte(r)), "snapshot.damaged",
                    "%s; what was complete is read",
                    r->damage != NULL ? r->damage : "the file ends early");
}

static void free_reader(struct snapshot_reader *r)
{
    snapshot_free(r->out);
    vec_free(&r->stack);
    vec_free(&r->marks);
    vec_free(&r->memo);
    vec_free(&r->wide);
    vec_free(&r->keys);
    vec_free(&r->actions);
    vec_free(&r->frames);
    vec_free(&r->stacks);
    vec_free(&r->histories);
    vec_free(&r->stages);
    vec_free(&r->runs);
    vec_free(&r->traces);
    hash_free(&r->frame_ids);
    hash_free(&r->stack_ids);
}

/* What it is instead. */
static enum status refuse_pickle(struct snapshot_reader *r)
{
    struct import *i = r->i;

    if (r->damage != NULL || r->out->is_cut ||
        (r->stack.n > 0 && r->stack.at[0].kind != PICKLE_OTHER))
        return import_refuse(i, import_byte(i, snapshot_byte(r)), "snapshot.damaged",
                             r->damage != NULL ? r->damage
                                               : "nothing of the memory snapshot can be read");
    diag_hint(i->in->diag, "looked for", "a dictionary with segments and device_traces");
    diag_hint(i->in->diag, "try", "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")");
    return import_refuse(i, import_file(i), "snapshot.other",
                         "a pickle, but not a memory snapshot");
}

static enum status read_pickle(struct snapshot_reader *r)
{
    enum status st = snapshot_run(r);

    if (r->damage != NULL) { /* as a file that ends there */
        r->out->is_cut = true;
        st = ST_OK;
    }
    if (st == ST_OK)
        st = snapshot_records_finish(r) ? ST_OK : refuse_pickle(r);
    /* The machine's own memory goes before the counters are made. */
    vec_free(&r->memo);
    vec_free(&r->wide);
    if (st == ST_OK)
        fill_capture(r);
    free_reader(r);
    return st;
}

static enum status read_snapshot(struct import *i)
{
    struct snapshot_reader r = {.i = i, .cap = i->cap};
    struct str text = i->in->text;

    if (i->cap->snapshot != NULL) /* of another file of the same run */
        return import_refuse(i, import_file(i), "snapshot.second", "a second memory snapshot");
    if (text.at == NULL) {
        TRY(stream_open_fast(&r.stream, i->in->path, WINDOW, i->in->has_fault, i->in->diag));
        r.has_stream = true;
    } else {
        r.at = (const uint8_t *)text.at;
        r.end = r.at + text.n;
        r.base = text.n;
    }
    r.out = mem_grow(NULL, sizeof(*r.out), 1);
    *r.out = (struct snapshot){.has_times = false};
    enum status st = read_pickle(&r);
    i->bytes = r.base;
    if (r.has_stream)
        stream_close(&r.stream);
    return st;
}

const struct input_format input_torch_snapshot = {
    .name = "torch-snapshot",
    .summary = "memory snapshot of PyTorch (pickle, also gzip)",
    .looks_for = "*.pickle, *.pkl",
    .claims = claims_snapshot,
    .streams = true,
    .role = ROLE_WHOLE,
    .source = SOURCE_OTHER,
    .probe = snapshot_probe,
    .read = read_snapshot,
};
