/*
 * chrome: trace events as JSON, one a line, as chrome://tracing and Perfetto open them.
 *
 * Format reference: docs/formats/chrome-output.md
 */
#include "base/gz_write.h"
#include "render/tracks.h"

enum { ROW_ORDER = 1000 }; /* room for rows between two lanes in the viewer's order */

struct chrome_writer {
    struct text_out out;
    const struct cut *cut;
    const struct timeline_options *options;
    struct tracks tracks;
    struct tracks_rows rows;
    struct arena arena; /* texts of one lane */
    struct arena_mark mark;
    VEC_OF(struct str) heads;  /* by row of the lane: the fields that name it */
    const char *const *arrows; /* by flow kind: what arrows are called */
    bool has_events;
};

/* What arrows of a kind are called where the profile comes from: viewers and readers know them. */
static const char *const *arrow_names(const struct capture *cap)
{
    static const char *const gpu[] = {"ac2g", "async_task_queue", "fwdbwd", "flag", "flow"};
    static const char *const npu[] = {"async_npu", "async_task_queue", "fwdbwd", "flag", "flow"};

    return capture_is_ascend(cap) ? npu : gpu;
}

static void begin_event(struct chrome_writer *w, struct str text)
{
    text_out_put(&w->out, w->has_events ? S(",\n") : S("\n"));
    w->has_events = true;
    text_out_put(&w->out, text);
}

static void put_number(struct chrome_writer *w, struct str key, int64_t value)
{
    text_out_put(&w->out, key);
    text_out_i64(&w->out, value);
}

static void put_header(struct chrome_writer *w)
{
    const struct capture *cap = w->cut->cap;

    text_out_put(&w->out, S("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":"
                            "\"strata\",\"source\":"));
    text_out_quoted(&w->out, str_of(cap->name));
    text_out_put(&w->out, S(",\"origin\":"));
    text_out_quoted(&w->out, str_of(origin_name(cap->origin)));
    if (cap->facts.vendor == VENDOR_AMD) /* the words are those of NVIDIA's GPUs */
        text_out_put(&w->out, S(",\"vendor\":\"amd\""));
    text_out_put(&w->out, S("}"));
    if (cap->clock.has_unix && cap->clock.to_unix != 0)
        put_number(w, S(",\"baseTimeNanoseconds\":"), cap->clock.to_unix);
    if (cap->facts.rank >= 0) {
        put_number(w, S(",\"distributedInfo\":{\"rank\":"), cap->facts.rank);
        if (cap->facts.world_size >= 0)
            put_number(w, S(",\"world_size\":"), cap->facts.world_size);
        text_out_put(&w->out, S("}"));
    }
    text_out_put(&w->out, S(",\"traceEvents\":["));
}

/* "NPU 3": how Ascend's timelines tell the device of a process. */
static void put_label(struct chrome_writer *w, const struct tracks_process *p)
{
    int64_t device = p->device >= 0 ? p->device : w->cut->cap->facts.device;

    if (p->is_host || device < 0 || !capture_is_ascend(w->cut->cap))
        return;
    begin_event(w, S("{\"ph\":\"M\",\"name\":\"process_labels\""));
    put_number(w, S(",\"pid\":"), p->pid);
    put_number(w, S(",\"args\":{\"labels\":\"NPU "), device);
    text_out_put(&w->out, S("\"}}"));
}

static void put_processes(struct chrome_writer *w)
{
    for (size_t i = 0; i < w->tracks.processes.n; i++) {
        const struct tracks_process *p = &w->tracks.processes.at[i];
        begin_event(w, S("{\"ph\":\"M\",\"name\":\"process_name\""));
        put_number(w, S(",\"pid\":"), p->pid);
        text_out_put(&w->out, S(",\"args\":{\"name\":"));
        text_out_quoted(&w->out, p->name);
        text_out_put(&w->out, S("}}"));
        put_label(w, p);
        begin_event(w, S("{\"ph\":\"M\",\"name\":\"process_sort_index\""));
        put_number(w, S(",\"pid\":"), p->pid);
        put_number(w, S(",\"args\":{\"sort_index\":"), (int64_t)i);
        text_out_put(&w->out, S("}}"));
    }
}

/* A row begins: its name, its place, and the fields that every event on it has. */
static void add_row(void *ctx, lane_id lane, size_t row)
{
    struct chrome_writer *w = ctx;
    const struct tracks_lane *l = &w->tracks.lanes[lane];
    int64_t pid = w->tracks.processes.at[l->process].pid;
    int64_t tid = row == 0 ? l->tid : tracks_fresh_tid(&w->tracks, l->process);
    long long p = pid, t = tid;

    if (row == 0) { /* of the lane before nothing is needed */
        arena_rewind(&w->arena, w->mark);
        w->heads.n = 0;
    }
    struct str head = arena_format(&w->arena, ",\"pid\":%lld,\"tid\":%lld", p, t);
    int64_t order = (int64_t)lane * ROW_ORDER + (row < ROW_ORDER ? (int64_t)row : ROW_ORDER - 1);

    vec_push(&w->heads, head);
    begin_event(w, S("{\"ph\":\"M\",\"name\":\"thread_name\""));
    text_out_put(&w->out, head);
    text_out_put(&w->out, S(",\"args\":{\"name\":"));
    text_out_quoted(&w->out, tracks_row_name(&w->tracks, lane, row, &w->arena));
    text_out_put(&w->out, S("}}"));
    begin_event(w, S("{\"ph\":\"M\",\"name\":\"thread_sort_index\""));
    text_out_put(&w->out, head);
    put_number(w, S(",\"args\":{\"sort_index\":"), order);
    text_out_put(&w->out, S("}}"));
    if (row == 0)
        return;
    begin_event(w, S("{\"ph\":\"M\",\"name\":\"strata_row_of\"")); /* viewers pass it over */
    text_out_put(&w->out, head);
    put_number(w, S(",\"args\":{\"name\":"), l->tid);
    text_out_put(&w->out, S("}}"));
}

/* Readers of Ascend timelines tell the work of a device by its task type. Where the profile has
 * none the kind of the slice stands in for it. */
static struct str task_type(const struct capture *cap, const struct slice *slice)
{
    static const struct str types[] = {
        [SLICE_COMPUTE] = S_INIT("\"Task Type\":\"OTHER\""),
        [SLICE_COMM] = S_INIT("\"Task Type\":\"OTHER\""),
        [SLICE_COMM_PART] = S_INIT("\"Task Type\":\"OTHER\""),
        [SLICE_AICPU] = S_INIT("\"Task Type\":\"AI_CPU\""),
        [SLICE_COPY] = S_INIT("\"Task Type\":\"SDMA_SQE\""),
        [SLICE_WAIT] = S_INIT("\"Task Type\":\"WAIT\""),
        [SLICE_CONTROL] = S_INIT("\"Task Type\":\"CONTROL\""),
    };

    if (slice->kind >= ARRAY_LEN(types) || !capture_is_ascend(cap) ||
        cap->lanes.at[slice->lane].key.kind != LANE_STREAM ||
        attrs_get(&cap->attrs, slice->set, cap->keys[KEY_CORE]).type != ATTR_NONE ||
        attrs_get(&cap->attrs, slice->own, cap->keys[KEY_CORE]).type != ATTR_NONE)
        return S("");
    return types[slice->kind];
}

static void put_arrow(struct chrome_writer *w, struct str begin, size_t flow, struct str head,
                      nanos at)
{
    struct str name = str_of(w->arrows[w->cut->cap->flows.at[flow].kind]);

    begin_event(w, begin);
    put_number(w, S(",\"id\":"), (int64_t)flow + 1);
    text_out_put(&w->out, head);
    text_out_put(&w->out, S(",\"ts\":"));
    text_out_us(&w->out, at);
    text_out_put(&w->out, S(",\"cat\":\""));
    text_out_put(&w->out, name);
    text_out_put(&w->out, S("\",\"name\":\""));
    text_out_put(&w->out, name);
    text_out_put(&w->out, S("\"}"));
}

/* Both ends are written with the slice they stand at, so no slice's row has to be remembered. */
static void put_arrows(struct chrome_writer *w, uint32_t slice, struct str head, nanos at)
{
    size_t flow;

    while (tracks_arrow_from(&w->tracks, slice, &flow))
        put_arrow(w, S("{\"ph\":\"s\""), flow, head, at);
    while (tracks_arrow_to(&w->tracks, slice, &flow))
        put_arrow(w, S("{\"ph\":\"f\",\"bp\":\"e\""), flow, head, at);
}

static void put_slice(void *ctx, uint32_t number, const struct slice *slice, size_t row, nanos end)
{
    struct chrome_writer *w = ctx;
    const struct capture *cap = w->cut->cap;
    struct str head = w->heads.at[row];

    (void)end;
    begin_event(w, S("{\"ph\":\"X\""));
    text_out_put(&w->out, head);
    text_out_put(&w->out, S(",\"ts\":"));
    text_out_us(&w->out, slice->begin);
    text_out_put(&w->out, S(",\"dur\":"));
    text_out_us(&w->out, slice->dur);
    text_out_put(&w->out, S(",\"cat\":"));
    text_out_quoted(&w->out, timeline_category(cap, slice));
    text_out_put(&w->out, S(",\"name\":"));
    text_out_quoted(&w->out, capture_text(cap, slice->name));
    timeline_args(&w->out, cap, slice, S(",\"args\":"), task_type(cap, slice));
    text_out_put(&w->out, S("}"));
    put_arrows(w, number, head, slice->begin);
}

static void put_sample(void *ctx, size_t id, const struct sample *s)
{
    struct chrome_writer *w = ctx;
    const struct capture *cap = w->cut->cap;
    const struct series *series = &cap->series.at[id];
    struct str unit = capture_text(cap, series->unit);

    begin_event(w, S("{\"ph\":\"C\""));
    put_number(w, S(",\"pid\":"), w->tracks.processes.at[w->tracks.series[id]].pid);
    text_out_put(&w->out, S(",\"ts\":"));
    text_out_us(&w->out, s->at);
    text_out_put(&w->out, S(",\"name\":"));
    text_out_quoted(&w->out, capture_text(cap, series->name));
    text_out_put(&w->out, S(",\"args\":{"));
    text_out_quoted(&w->out, unit.n > 0 ? unit : S("value"));
    text_out_put(&w->out, S(":"));
    text_out_f64(&w->out, s->value);
    text_out_put(&w->out, S("}}"));
}

static bool write_all(struct chrome_writer *w)
{
    static const struct tracks_pen pen = {.row = add_row, .slice = put_slice, .sample = put_sample};

    put_header(w);
    put_processes(w);
    bool goes_on = tracks_walk(&w->rows, w->cut, w->options, &w->out, &pen, w);
    text_out_put(&w->out, S("\n]}\n"));
    return text_out_close(&w->out) && goes_on;
}

static bool write_chrome(const struct cut *cut, const struct timeline_options *options,
                         struct sink out)
{
    struct chrome_writer *w = mem_grow(NULL, sizeof(*w), 1);

    memset(w, 0, sizeof(*w));
    text_out_open(&w->out, out);
    w->cut = cut;
    w->options = options;
    w->arrows = arrow_names(cut->cap);
    arena_init(&w->arena);
    w->mark = arena_mark(&w->arena);
    tracks_init(&w->tracks, cut, !capture_is_ascend(cut->cap));
    bool is_done = write_all(w);
    tracks_fini(&w->tracks);
    tracks_rows_free(&w->rows);
    vec_free(&w->heads);
    arena_free(&w->arena);
    mem_free(w);
    return is_done;
}

static bool write_chrome_gz(const struct cut *cut, const struct timeline_options *options,
                            struct sink out)
{
    struct gz_write gz;

    gz_write_open(&gz, out);
    bool is_done = write_chrome(cut, options, gz_write_sink(&gz));
    return gz_write_close(&gz) && is_done;
}

static const char *const endings[] = {".json", NULL};
static const char *const gz_endings[] = {".json.gz", NULL};

const struct timeline_format timeline_chrome = {
    .name = "chrome",
    .endings = endings,
    .summary = "Chrome trace events (JSON), for chrome://tracing and Perfetto",
    .write = write_chrome,
};

const struct timeline_format timeline_chrome_gz = {
    .name = "chrome-gz",
    .endings = gz_endings,
    .summary = "Chrome trace events, compressed with gzip",
    .is_binary = true,
    .write = write_chrome_gz,
};
