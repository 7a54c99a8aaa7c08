/*
 * chrome: trace events as JSON, one a line, as chrome://tracing and Perfetto open them.
 *
 * Format reference: docs/formats/chrome-output.md
 */
#include "base/files/gz_write.h"
#include "render/timelines/tracks.h"

enum { ROW_ORDER = 1000 }; /* room for rows between two lanes in the viewer's order */

/* The writer, and each section at which a part of the events is drawn. */
struct chrome_writer {
    struct text_out out;
    const struct cut *cut;
    struct tracks *tracks;
    struct tracks_arrows arrows;
    const char *const *arrow_names; /* by flow kind: what arrows are called */
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

static void put_header(struct chrome_writer *w)
{
    const struct capture *cap = w->cut->cap;

    text_out_put(&w->out, S("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":"
                            "\"strata\",\"source\":"));
    text_out_quoted(&w->out, str_of(cap->name));
    text_out_pair(&w->out, S(",\"origin\":"), str_of(origin_name(cap->origin)));
    if (cap->facts.vendor == VENDOR_AMD) /* the words are those of NVIDIA's GPUs */
        text_out_put(&w->out, S(",\"vendor\":\"amd\""));
    text_out_put(&w->out, S("}"));
    if (cap->clock.has_unix && cap->clock.to_unix != 0)
        text_out_pair_i64(&w->out, S(",\"baseTimeNanoseconds\":"), cap->clock.to_unix);
    if (cap->facts.rank >= 0) {
        text_out_pair_i64(&w->out, S(",\"distributedInfo\":{\"rank\":"), cap->facts.rank);
        if (cap->facts.world_size >= 0)
            text_out_pair_i64(&w->out, S(",\"world_size\":"), cap->facts.world_size);
        text_out_put(&w->out, S("}"));
    }
    text_out_put(&w->out, S(",\"traceEvents\":["));
}

static void put_processes(struct chrome_writer *w)
{
    for (size_t i = 0; i < w->tracks->processes.n; i++) {
        const struct tracks_process *p = &w->tracks->processes.at[i];
        begin_event(w, S("{\"ph\":\"M\",\"name\":\"process_name\""));
        text_out_pair_i64(&w->out, S(",\"pid\":"), p->pid);
        text_out_pair(&w->out, S(",\"args\":{\"name\":"), p->name);
        text_out_put(&w->out, S("}}"));
        int64_t device = p->device >= 0 ? p->device : w->cut->cap->facts.device;
        if (!p->is_host && device >= 0 && capture_is_ascend(w->cut->cap)) {
            begin_event(w, S("{\"ph\":\"M\",\"name\":\"process_labels\""));
            text_out_pair_i64(&w->out, S(",\"pid\":"), p->pid);
            text_out_pair_i64(&w->out, S(",\"args\":{\"labels\":\"NPU "), device); /* "NPU 3" */
            text_out_put(&w->out, S("\"}}"));
        }
        begin_event(w, S("{\"ph\":\"M\",\"name\":\"process_sort_index\""));
        text_out_pair_i64(&w->out, S(",\"pid\":"), p->pid);
        text_out_pair_i64(&w->out, S(",\"args\":{\"sort_index\":"), (int64_t)i);
        text_out_put(&w->out, S("}}"));
    }
}

static int64_t number_row(void *ctx, lane_id lane, size_t row)
{
    struct chrome_writer *w = ctx;
    const struct tracks_lane *l = &w->tracks->lanes[lane];

    return row == 0 ? l->tid : tracks_fresh_tid(w->tracks, l->process);
}

/* The fields that name a row. */
static void chrome_put_head(struct chrome_writer *w, lane_id lane, int64_t tid)
{
    text_out_pair_i64(&w->out, S(",\"pid\":"),
                      w->tracks->processes.at[w->tracks->lanes[lane].process].pid);
    text_out_pair_i64(&w->out, S(",\"tid\":"), tid);
}

/* A row begins: its name and its place. */
static void chrome_put_row(struct chrome_writer *w, lane_id lane, size_t row, int64_t tid)
{
    int64_t order = (int64_t)lane * ROW_ORDER + (row < ROW_ORDER ? (int64_t)row : ROW_ORDER - 1);
    struct arena arena;

    arena_init(&arena);
    begin_event(w, S("{\"ph\":\"M\",\"name\":\"thread_name\""));
    chrome_put_head(w, lane, tid);
    text_out_pair(&w->out, S(",\"args\":{\"name\":"),
                  tracks_row_name(w->tracks, lane, row, &arena));
    text_out_put(&w->out, S("}}"));
    arena_free(&arena);
    begin_event(w, S("{\"ph\":\"M\",\"name\":\"thread_sort_index\""));
    chrome_put_head(w, lane, tid);
    text_out_pair_i64(&w->out, S(",\"args\":{\"sort_index\":"), order);
    text_out_put(&w->out, S("}}"));
    if (row == 0)
        return;
    begin_event(w, S("{\"ph\":\"M\",\"name\":\"strata_row_of\"")); /* viewers pass it over */
    chrome_put_head(w, lane, tid);
    text_out_pair_i64(&w->out, S(",\"args\":{\"name\":"), w->tracks->lanes[lane].tid);
    text_out_put(&w->out, S("}}"));
}

/* Readers of Ascend timelines classify device work by task type. If the profile has
 * no task type, the kind of the slice is used. */
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

static void put_arrow(struct chrome_writer *w, struct str begin, size_t flow,
                      const struct slice *slice, int64_t tid)
{
    struct str name = str_of(w->arrow_names[w->cut->cap->flows.at[flow].kind]);

    begin_event(w, begin);
    text_out_pair_i64(&w->out, S(",\"id\":"), (int64_t)flow + 1);
    chrome_put_head(w, slice->lane, tid);
    text_out_pair_us(&w->out, S(",\"ts\":"), slice->begin);
    text_out_put(&w->out, S(",\"cat\":\""));
    text_out_put(&w->out, name);
    text_out_put(&w->out, S("\",\"name\":\""));
    text_out_put(&w->out, name);
    text_out_put(&w->out, S("\"}"));
}

static void chrome_put_slice(struct chrome_writer *w, uint32_t number, int64_t tid)
{
    const struct capture *cap = w->cut->cap;
    struct slice slice = cut_slice(w->cut, number);
    size_t flow;

    begin_event(w, S("{\"ph\":\"X\""));
    chrome_put_head(w, slice.lane, tid);
    text_out_pair_us(&w->out, S(",\"ts\":"), slice.begin);
    text_out_pair_us(&w->out, S(",\"dur\":"), slice.dur);
    text_out_pair(&w->out, S(",\"cat\":"), timeline_category(cap, &slice));
    text_out_pair(&w->out, S(",\"name\":"), capture_text(cap, slice.name));
    timeline_args(&w->out, cap, &slice, S(",\"args\":"), task_type(cap, &slice));
    text_out_put(&w->out, S("}"));
    /* Both ends of an arrow are written with the slice they stand at. */
    if (w->arrows.tracks == NULL)
        w->arrows = tracks_arrows_from(w->tracks, number);
    while (tracks_arrow_from(&w->arrows, number, &flow))
        put_arrow(w, S("{\"ph\":\"s\""), flow, &slice, tid);
    while (tracks_arrow_to(&w->arrows, number, &flow))
        put_arrow(w, S("{\"ph\":\"f\",\"bp\":\"e\""), flow, &slice, tid);
}

static void put_sample(struct chrome_writer *w, size_t id, const struct sample *s)
{
    const struct capture *cap = w->cut->cap;
    const struct series *series = &cap->series.at[id];
    struct str unit = capture_text(cap, series->unit);

    begin_event(w, S("{\"ph\":\"C\""));
    text_out_pair_i64(&w->out, S(",\"pid\":"), w->tracks->processes.at[w->tracks->series[id]].pid);
    text_out_pair_us(&w->out, S(",\"ts\":"), s->at);
    text_out_pair(&w->out, S(",\"name\":"), capture_text(cap, series->name));
    text_out_pair(&w->out, S(",\"args\":{"), unit.n > 0 ? unit : S("value"));
    text_out_put(&w->out, S(":"));
    text_out_f64(&w->out, s->value);
    text_out_put(&w->out, S("}}"));
}

static void *begin_section(const void *ctx, struct sink out)
{
    const struct chrome_writer *w = ctx;
    struct chrome_writer *section = mem_grow(NULL, sizeof(*section), 1);

    text_out_open(&section->out, out);
    section->cut = w->cut;
    section->tracks = w->tracks;
    section->arrows = (struct tracks_arrows){0};
    section->arrow_names = w->arrow_names;
    section->has_events = w->has_events;
    return section;
}

static void chrome_draw(void *ctx, const struct tracks_mark *mark)
{
    struct chrome_writer *w = ctx;

    if (mark->what == TRACKS_ROW)
        chrome_put_row(w, mark->number, mark->row, mark->id);
    else if (mark->what == TRACKS_SLICE)
        chrome_put_slice(w, mark->number, mark->id);
    else
        put_sample(w, mark->number, &w->cut->cap->series.at[mark->number].samples.at[mark->row]);
}

static void chrome_flush(void *ctx)
{
    struct chrome_writer *w = ctx;

    text_out_flush(&w->out);
    w->arrows = (struct tracks_arrows){0}; /* the next batch may begin anywhere */
}

/* To `out`, or to `gz` where there is one. */
static bool write_events(const struct cut *cut, const struct timeline_options *options,
                         struct sink out, struct gz_write *gz)
{
    static const struct tracks_pen pen = {
        .number_row = number_row,
        .begin = begin_section,
        .draw = chrome_draw,
        .flush = chrome_flush,
        .end = mem_free,
    };
    struct chrome_writer *w = mem_grow(NULL, sizeof(*w), 1);
    struct tracks tracks;
    struct tracks_job job = {cut, options, &pen, w, out, gz};

    memset(w, 0, sizeof(*w));
    text_out_open(&w->out, gz != NULL ? gz_write_sink(gz) : out);
    w->cut = cut;
    w->tracks = &tracks;
    w->arrow_names = arrow_names(cut->cap);
    tracks_init(&tracks, cut, !capture_is_ascend(cut->cap));
    put_header(w);
    put_processes(w);
    text_out_flush(&w->out);
    bool goes_on = tracks_draw(&job);
    text_out_put(&w->out, S("\n]}\n"));
    bool is_done = text_out_close(&w->out) && goes_on;
    tracks_fini(&tracks);
    mem_free(w);
    return is_done;
}

static bool write_chrome(const struct cut *cut, const struct timeline_options *options,
                         struct sink out)
{
    return write_events(cut, options, out, NULL);
}

static bool write_chrome_gz(const struct cut *cut, const struct timeline_options *options,
                            struct sink out)
{
    struct gz_write gz;

    gz_write_open(&gz, out);
    bool is_done = write_events(cut, options, out, &gz);
    return gz_write_close(&gz) && is_done;
}

const struct timeline_format timeline_chrome = {
    .name = "chrome",
    .endings = (const char *const[]){".json", NULL},
    .summary = "Chrome trace events (JSON), for chrome://tracing and Perfetto",
    .write = write_chrome,
};

const struct timeline_format timeline_chrome_gz = {
    .name = "chrome-gz",
    .endings = (const char *const[]){".json.gz", NULL},
    .summary = "Chrome trace events, compressed with gzip",
    .is_binary = true,
    .write = write_chrome_gz,
};
