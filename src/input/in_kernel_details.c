/*
 * kernel-details: one row per kernel, as torch_npu and msprof export them.
 *
 * Header names changed over the years and mixed headers exist, so every column is found by a list
 * of names. A row needs a name, a start and a duration; what else there is becomes attributes.
 * Format reference: docs/formats/kernel-details.md
 */
#include "base/csv.h"
#include "capture/capture.h"
#include "input/classify.h"
#include "input/input.h"

enum column {
    COL_NAME,
    COL_START,
    COL_DUR,
    COL_WAIT,
    COL_STEP,
    COL_DEVICE,
    COL_STREAM,
    COL_TASK,
    COL_TYPE,
    COL_CORE,
    COL_STATE,
    COL_BLOCK_DIM,
    COL_MIX_BLOCK_DIM,
    COL_INPUT_SHAPES,
    COL_INPUT_DTYPES,
    COL_INPUT_FORMATS,
    COL_OUTPUT_SHAPES,
    COL_OUTPUT_DTYPES,
    COL_OUTPUT_FORMATS,
    COL_COUNT
};

enum { MAX_NAMES = 4 };

static const struct str column_names[COL_COUNT][MAX_NAMES] = {
    [COL_NAME] = {S_INIT("Name"), S_INIT("Op Name"), S_INIT("op_name"), S_INIT("kernel_name")},
    [COL_START] = {S_INIT("Start Time(us)"), S_INIT("Task Start Time(us)"),
                   S_INIT("task_start_time"), S_INIT("task_start(us)")},
    [COL_DUR] = {S_INIT("Duration(us)"), S_INIT("Task Duration(us)"), S_INIT("task_duration"),
                 S_INIT("task_time(us)")},
    [COL_WAIT] = {S_INIT("Wait Time(us)"), S_INIT("Task Wait Time(us)")},
    [COL_STEP] = {S_INIT("Step Id"), S_INIT("Step ID")},
    [COL_DEVICE] = {S_INIT("Device_id"), S_INIT("device_id")},
    [COL_STREAM] = {S_INIT("Stream ID"), S_INIT("stream_id")},
    [COL_TASK] = {S_INIT("Task ID"), S_INIT("task_id")},
    [COL_TYPE] = {S_INIT("Type"), S_INIT("OP Type"), S_INIT("op_type")},
    [COL_CORE] = {S_INIT("Accelerator Core"), S_INIT("Task Type"), S_INIT("task_type"),
                  S_INIT("kernel_type")},
    [COL_STATE] = {S_INIT("OP State"), S_INIT("op_state")},
    [COL_BLOCK_DIM] = {S_INIT("Block Dim"), S_INIT("Block Num"), S_INIT("block_dim")},
    [COL_MIX_BLOCK_DIM] = {S_INIT("Mix Block Dim"), S_INIT("Mix Block Num"),
                           S_INIT("mix_block_dim")},
    [COL_INPUT_SHAPES] = {S_INIT("Input Shapes"), S_INIT("input_shapes")},
    [COL_INPUT_DTYPES] = {S_INIT("Input Data Types"), S_INIT("input_data_types")},
    [COL_INPUT_FORMATS] = {S_INIT("Input Formats"), S_INIT("input_formats")},
    [COL_OUTPUT_SHAPES] = {S_INIT("Output Shapes"), S_INIT("output_shapes")},
    [COL_OUTPUT_DTYPES] = {S_INIT("Output Data Types"), S_INIT("output_data_types")},
    [COL_OUTPUT_FORMATS] = {S_INIT("Output Formats"), S_INIT("output_formats")},
};

/* Columns that repeat from row to row and go into the attribute set as text. */
static const struct {
    enum column column;
    enum capture_key key;
} text_attrs[] = {
    {COL_STATE, KEY_STATE},
    {COL_INPUT_SHAPES, KEY_INPUT_SHAPES},
    {COL_INPUT_DTYPES, KEY_INPUT_DTYPES},
    {COL_INPUT_FORMATS, KEY_INPUT_FORMATS},
    {COL_OUTPUT_SHAPES, KEY_OUTPUT_SHAPES},
    {COL_OUTPUT_DTYPES, KEY_OUTPUT_DTYPES},
    {COL_OUTPUT_FORMATS, KEY_OUTPUT_FORMATS},
};

static const struct {
    enum column column;
    enum capture_key key;
} number_attrs[] = {
    {COL_BLOCK_DIM, KEY_BLOCK_DIM},
    {COL_MIX_BLOCK_DIM, KEY_MIX_BLOCK_DIM},
};

/* Longer kernels are overflowed counters (the exporter's own limit): 7 days. */
static const nanos longest_kernel = 7 * 86400 * (nanos)1000000000;

struct reader {
    const struct input_file *in;
    struct capture *cap;
    struct csv csv;
    struct arena scratch; /* unquoted cells of one row */
    int column[COL_COUNT];
    uint64_t rows, lost;
};

static int find_column(const struct csv *csv, enum column c)
{
    for (size_t i = 0; i < MAX_NAMES && column_names[c][i].n > 0; i++) {
        int found = csv_column(csv, column_names[c][i]);
        if (found >= 0)
            return found;
    }
    return -1;
}

static bool is_kernel_table(const struct csv *csv)
{
    return find_column(csv, COL_NAME) >= 0 && find_column(csv, COL_START) >= 0 &&
           find_column(csv, COL_DUR) >= 0;
}

static int probe(const struct probe *p)
{
    struct csv csv;

    csv_open(&csv, p->head);
    return is_kernel_table(&csv) ? 90 : 0;
}

static bool claims(struct str name)
{
    return str_equal(name, S("kernel_details.csv"));
}

static void lose(struct reader *r, const char *code, const char *text)
{
    r->lost++;
    diag_add(r->in->diag, SEV_LOSS, code, (struct where){r->in->path, r->csv.line, 0},
             "row skipped: %s", text);
}

static struct str cell(const struct reader *r, enum column c)
{
    return csv_cell(&r->csv, r->column[c]);
}

/* Shapes were quoted before the table was written: after CSV unquoting one pair is left. */
static struct str plain_text(struct reader *r, enum column c)
{
    struct str s = str_trim(csv_unquote(cell(r, c), &r->scratch));

    if (s.n >= 2 && s.at[0] == '"' && s.at[s.n - 1] == '"')
        s = str_part(s, 1, s.n - 2);
    return s;
}

/* Start and duration, or the reason why the row is of no use. */
static bool take_times(struct reader *r, struct slice *slice)
{
    struct str start = cell(r, COL_START), dur = cell(r, COL_DUR);

    if (!num_us(start, &slice->begin)) {
        lose(r, "kernel-details.no-start", "no start time");
        return false;
    }
    if (!num_us(dur, &slice->dur)) {
        lose(r, "kernel-details.no-duration", "no duration");
        return false;
    }
    if (slice->dur < 0 || slice->dur > longest_kernel) {
        lose(r, "kernel-details.bad-duration", "duration is negative or over 7 days");
        return false;
    }
    return true;
}

static attr_run take_set(struct reader *r, struct str type, struct str core)
{
    struct attr list[2 + ARRAY_LEN(text_attrs) + ARRAY_LEN(number_attrs)];
    struct capture *cap = r->cap;
    size_t n = 0;

    if (!num_is_missing(type))
        list[n++] = attr_text(capture_key(cap, KEY_TYPE), capture_intern(cap, type));
    if (!num_is_missing(core))
        list[n++] = attr_text(capture_key(cap, KEY_CORE), capture_intern(cap, core));
    for (size_t i = 0; i < ARRAY_LEN(text_attrs); i++) {
        struct str text = plain_text(r, text_attrs[i].column);
        if (!num_is_missing(text))
            list[n++] = attr_text(capture_key(cap, text_attrs[i].key), capture_intern(cap, text));
    }
    for (size_t i = 0; i < ARRAY_LEN(number_attrs); i++) {
        int64_t number;
        if (num_i64(cell(r, number_attrs[i].column), &number))
            list[n++] = attr_int(capture_key(cap, number_attrs[i].key), number);
    }
    return attrs_set(&cap->attrs, list, n);
}

static attr_run take_own(struct reader *r)
{
    struct str step = str_trim(cell(r, COL_STEP));
    struct capture *cap = r->cap;
    struct attr list[3];
    size_t n = 0;
    int64_t task;
    nanos wait;

    if (!num_is_missing(step))
        list[n++] = attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, step));
    if (num_us(cell(r, COL_WAIT), &wait))
        list[n++] = attr_time(capture_key(cap, KEY_WAIT), wait);
    if (num_i64(cell(r, COL_TASK), &task))
        list[n++] = attr_int(capture_key(cap, KEY_TASK), task);
    return attrs_own(&cap->attrs, list, n);
}

static lane_id take_lane(struct reader *r, enum slice_kind kind)
{
    struct str stream = str_trim(cell(r, COL_STREAM));
    struct lane_key key = {.kind = LANE_STREAM, .device = -1};
    int64_t device;

    if (num_i64(cell(r, COL_DEVICE), &device) && device >= 0 && device <= INT32_MAX)
        key.device = (int32_t)device;
    if (num_is_missing(stream)) {
        stream = S("N/A");
        if (kind == SLICE_COMM)
            key.kind = LANE_COMM;
    }
    key.name = capture_intern(r->cap, stream);
    return capture_lane(r->cap, key);
}

static void take_row(struct reader *r)
{
    struct slice slice = {0};

    if (r->csv.n_cells != csv_header_count(&r->csv) || r->csv.is_broken) {
        lose(r, "kernel-details.field-count", "it has more or fewer fields than the header");
        return;
    }
    r->rows++;
    if (!take_times(r, &slice))
        return;
    struct arena_mark mark = arena_mark(&r->scratch);
    struct str name = plain_text(r, COL_NAME);
    struct str type = plain_text(r, COL_TYPE);
    struct str core = classify_core(plain_text(r, COL_CORE));
    slice.kind = classify_kernel(core, name, type);
    slice.name = capture_intern(r->cap, name);
    slice.lane = take_lane(r, slice.kind);
    slice.set = take_set(r, type, core);
    slice.own = take_own(r);
    capture_slice(r->cap, &slice);
    arena_rewind(&r->scratch, mark);
}

static enum status read_kernel_details(const struct input_file *in, struct capture *cap)
{
    struct reader r = {.in = in, .cap = cap};

    csv_open(&r.csv, in->text);
    if (!is_kernel_table(&r.csv))
        return diag_fail(in->diag, ST_FORMAT, "kernel-details.no-header",
                         (struct where){in->path, 1, 0},
                         "no header with Name, Start Time(us) and Duration(us)");
    for (size_t c = 0; c < COL_COUNT; c++)
        r.column[c] = find_column(&r.csv, (enum column)c);
    arena_init(&r.scratch);
    while (csv_next(&r.csv))
        take_row(&r);
    arena_free(&r.scratch);
    capture_source(cap, (struct source){.path = in->path,
                                        .format = input_kernel_details.name,
                                        .bytes = in->text.n,
                                        .rows = r.rows,
                                        .lost = r.lost});
    return ST_OK;
}

const struct input_format input_kernel_details = {
    .name = "kernel-details",
    .summary = "kernel table of an Ascend profile (CSV)",
    .looks_for = "kernel_details.csv",
    .role = ROLE_KERNELS,
    .claims = claims,
    .probe = probe,
    .read = read_kernel_details,
};
