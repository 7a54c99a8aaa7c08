/*
 * csv: the kernels or all slices of a capture as a table, by begin.
 *
 * Format reference: docs/formats/csv-output.md
 */
#include "base/formats/csv_write.h"
#include "base/formats/json_write.h"
#include "base/tables/heap.h"
#include "capture/title.h"
#include "render/timelines/timeline.h"

enum { BETWEEN_TICKS = 4096 }; /* rows between two looks at the clock and the user */

/* The next slice of a lane. */
struct head {
    nanos begin;
    size_t slice, end;
};

/* Lanes are in order of time each; a heap of their next slices gives one order over all. */
struct merge {
    const struct cut *cut;
    bool kernels_only;
    VEC_OF(struct head) heap;
};

struct csv_writer {
    struct csv_write csv;
    const struct cut *cut;
    const struct timeline_options *options;
    struct text args;
    struct text_out args_out;
    uint64_t bytes;
    struct sink to;
};

ORDER_BY(by_begin, struct head, ORDER(x->begin, y->begin) ?: ORDER(x->slice, y->slice));

static void sink_down(struct merge *m, size_t i)
{
    heap_sink(m->heap.at, m->heap.n, sizeof(*m->heap.at), i, by_begin);
}

/* Moves a head to the first slice at or after its own that is wanted; false at the end. */
static bool settle(const struct merge *m, struct head *head)
{
    const struct slices *s = &m->cut->cap->slices;

    for (; head->slice < head->end; head->slice++)
        if (cut_has(m->cut, head->slice) &&
            (!m->kernels_only || slice_is_kernel((enum slice_kind)s->kind[head->slice]))) {
            head->begin = cut_slice(m->cut, head->slice).begin;
            return true;
        }
    return false;
}

static void merge_init(struct merge *m, const struct cut *cut, bool kernels_only)
{
    *m = (struct merge){.cut = cut, .kernels_only = kernels_only};
    for (size_t i = 0; i < cut->cap->lanes.n; i++) {
        const struct lane *lane = &cut->cap->lanes.at[i];
        struct head head = {.slice = lane->first, .end = lane->first + lane->n};
        if (cut->lanes[i] && settle(m, &head))
            vec_push(&m->heap, head);
    }
    for (size_t i = m->heap.n; i > 0; i--)
        sink_down(m, i - 1);
}

static bool merge_next(struct merge *m, size_t *slice)
{
    if (m->heap.n == 0)
        return false;
    struct head *first = &m->heap.at[0];
    *slice = first->slice++;
    if (!settle(m, first))
        *first = m->heap.at[--m->heap.n];
    sink_down(m, 0);
    return true;
}

static bool count_bytes(void *ctx, struct str text)
{
    struct csv_writer *w = ctx;

    w->bytes += text.n;
    return w->to.write(w->to.ctx, text);
}

static void put_attr(struct csv_writer *w, struct attr a)
{
    switch ((enum attr_type)a.type) {
    case ATTR_NONE:
        csv_write_cell(&w->csv, S(""));
        break;
    case ATTR_TEXT:
        csv_write_cell(&w->csv, capture_text(w->cut->cap, a.text));
        break;
    case ATTR_INT:
    case ATTR_TIME:
        csv_write_i64(&w->csv, a.number);
        break;
    case ATTR_REAL:
        csv_write_f64(&w->csv, a.real);
        break;
    }
}

/* Whether ranks are joined: rows say which. */
static bool has_ranks(const struct capture *cap)
{
    size_t i = 0;

    while (i < cap->lanes.n && cap->lanes.at[i].rank < 0)
        i++;
    return i < cap->lanes.n;
}

static void csv_put_rank(struct csv_writer *w, size_t i)
{
    int64_t rank = w->cut->cap->lanes.at[w->cut->cap->slices.lane[i]].rank;

    if (rank >= 0)
        csv_write_i64(&w->csv, rank);
    else
        csv_write_cell(&w->csv, S(""));
}

static void put_device(struct csv_writer *w, const struct lane_key *key)
{
    int64_t device = key->device >= 0 ? key->device : w->cut->cap->facts.device;

    if (device >= 0)
        csv_write_i64(&w->csv, device);
    else
        csv_write_cell(&w->csv, S(""));
}

/* The step id of a kernel table; else the step that the slice begins in. */
static void put_step(struct csv_writer *w, size_t i, nanos begin)
{
    struct attr id = capture_slice_attr(w->cut->cap, i, KEY_STEP);
    const struct timeline_step *steps = w->options->steps;
    size_t at;

    vec_bisect(at, id.type == ATTR_NONE ? w->options->steps_n : 0, k, steps[k].at.end <= begin);
    if (id.type == ATTR_NONE && at < w->options->steps_n && steps[at].at.begin <= begin)
        csv_write_i64(&w->csv, steps[at].number);
    else
        put_attr(w, id);
}

static const char *const kernel_columns[] = {
    "start_ns",      "dur_ns",        "device",        "stream",        "name",
    "type",          "core",          "class",         "step",          "wait_ns",
    "task",          "block_dim",     "mix_block_dim", "input_shapes",  "input_dtypes",
    "input_formats", "output_shapes", "output_dtypes", "output_formats"};

static void render_csv_put_kernel(struct csv_writer *w, size_t i)
{
    static const enum capture_key rest[] = {KEY_WAIT,          KEY_TASK,          KEY_BLOCK_DIM,
                                            KEY_MIX_BLOCK_DIM, KEY_INPUT_SHAPES,  KEY_INPUT_DTYPES,
                                            KEY_INPUT_FORMATS, KEY_OUTPUT_SHAPES, KEY_OUTPUT_DTYPES,
                                            KEY_OUTPUT_FORMATS};
    const struct capture *cap = w->cut->cap;
    struct slice slice = cut_slice(w->cut, i);
    const struct lane_key *key = &cap->lanes.at[slice.lane].key;

    csv_write_i64(&w->csv, slice.begin);
    csv_write_i64(&w->csv, slice.dur);
    put_device(w, key);
    csv_write_cell(&w->csv, key->kind == LANE_COMM ? S("N/A") : capture_text(cap, key->name));
    csv_write_cell(&w->csv, capture_text(cap, slice.name));
    put_attr(w, capture_slice_attr(cap, i, KEY_TYPE));
    put_attr(w, capture_slice_attr(cap, i, KEY_CORE));
    csv_write_cell(&w->csv, str_of(slice_kind_name(slice.kind)));
    put_step(w, i, slice.begin);
    for (size_t k = 0; k < ARRAY_LEN(rest); k++)
        put_attr(w, capture_slice_attr(cap, i, rest[k]));
}

static const char *const slice_columns[] = {"start_ns", "dur_ns", "process", "lane",
                                            "device",   "pid",    "tid",     "kind",
                                            "cat",      "name",   "step",    "args"};

static void csv_put_slice(struct csv_writer *w, size_t i)
{
    const struct capture *cap = w->cut->cap;
    struct slice slice = cut_slice(w->cut, i);
    const struct lane_key *key = &cap->lanes.at[slice.lane].key;
    char process[TITLE_TEXT], lane[TITLE_TEXT];

    csv_write_i64(&w->csv, slice.begin);
    csv_write_i64(&w->csv, slice.dur);
    csv_write_cell(&w->csv, title_process(cap, slice.lane, process));
    csv_write_cell(&w->csv, title_lane(cap, slice.lane, lane));
    put_device(w, key);
    for (size_t k = 0; k < 2; k++) {
        int64_t number = k == 0 ? key->pid : key->tid;
        if (number != 0)
            csv_write_i64(&w->csv, number);
        else
            csv_write_cell(&w->csv, S(""));
    }
    csv_write_cell(&w->csv, str_of(slice_kind_name(slice.kind)));
    put_attr(w, capture_slice_attr(cap, i, KEY_CAT));
    csv_write_cell(&w->csv, capture_text(cap, slice.name));
    put_step(w, i, slice.begin);
    w->args.n = 0;
    text_out_open(&w->args_out, text_sink(&w->args));
    timeline_args(&w->args_out, cap, &slice, S(""), S(""));
    text_out_close(&w->args_out);
    csv_write_cell(&w->csv, (struct str){w->args.at, w->args.n});
}

static bool csv_write_rows(struct csv_writer *w, const struct timeline_options *options)
{
    bool kernels = options->rows == TIMELINE_KERNELS, goes_on = true;
    const char *const *columns = kernels ? kernel_columns : slice_columns;
    size_t n = kernels ? ARRAY_LEN(kernel_columns) : ARRAY_LEN(slice_columns);
    struct merge merge;
    size_t slice, rows = 0;
    bool is_ranks = has_ranks(w->cut->cap);

    for (size_t i = 0; i < n; i++)
        csv_write_cell(&w->csv, str_of(columns[i]));
    if (is_ranks)
        csv_write_cell(&w->csv, S("rank"));
    csv_write_row(&w->csv);
    merge_init(&merge, w->cut, kernels);
    while (goes_on && merge_next(&merge, &slice)) {
        if (kernels)
            render_csv_put_kernel(w, slice);
        else
            csv_put_slice(w, slice);
        if (is_ranks)
            csv_put_rank(w, slice);
        csv_write_row(&w->csv);
        if (++rows % BETWEEN_TICKS == 0)
            goes_on = !w->csv.text.has_failed && timeline_goes_on(options, w->bytes);
    }
    vec_free(&merge.heap);
    return csv_write_close(&w->csv) && goes_on;
}

static bool write_csv(const struct cut *cut, const struct timeline_options *options,
                      struct sink out)
{
    struct csv_writer *w = mem_grow(NULL, sizeof(*w), 1);

    memset(w, 0, sizeof(*w));
    w->cut = cut;
    w->to = out;
    w->options = options;
    csv_write_open(&w->csv, (struct sink){count_bytes, w});
    w->csv.is_safe = options->csv_safe;
    bool is_done = csv_write_rows(w, options);
    text_free(&w->args);
    mem_free(w);
    return is_done;
}

const struct timeline_format timeline_csv = {
    .name = "csv",
    .endings = (const char *const[]){".csv", NULL},
    .summary = "a table of kernels or of all slices (CSV)",
    .is_table = true,
    .write = write_csv,
};
