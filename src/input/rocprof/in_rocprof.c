/*
 * rocprof: tables of AMD's profilers, one row for each kernel, copy or call. The kernel table is
 * results.csv of rocprof, or *_kernel_trace.csv of rocprofv3 (and of rocprofv2, with other words);
 * beside it rocprofv3 writes tables of copies, calls, markers and devices.
 * Format reference: docs/formats/rocprof.md
 */
#include "capture/classify.h"
#include "input/rocprof/rocprof.h"
#include "input/trace/step_name.h"
#include "input/trace/trace_links.h"

enum rocprof_column {
    COL_NAME,
    COL_BEGIN,
    COL_END,
    COL_DEVICE,
    COL_STREAM,
    COL_QUEUE,
    COL_LINK,
    COL_GRID,
    COL_GRID_Y,
    COL_GRID_Z,
    COL_BLOCK,
    COL_BLOCK_Y,
    COL_BLOCK_Z,
    COL_DOMAIN,
    COL_PROCESS,
    COL_THREAD,
    COL_FROM,
    COL_TO,
    COLUMNS
};

/* What each version calls a column. */
static const struct str names[COLUMNS][3] = {
    [COL_NAME] = {S_INIT("Kernel_Name"), S_INIT("KernelName"), S_INIT("Function")},
    [COL_BEGIN] = {S_INIT("Start_Timestamp"), S_INIT("BeginNs")},
    [COL_END] = {S_INIT("End_Timestamp"), S_INIT("EndNs")},
    [COL_DEVICE] = {S_INIT("Agent_Id"), S_INIT("gpu-id"), S_INIT("GPU_ID")},
    [COL_STREAM] = {S_INIT("Stream_Id")},
    [COL_QUEUE] = {S_INIT("Queue_Id"), S_INIT("queue-id"), S_INIT("Queue_ID")},
    [COL_LINK] = {S_INIT("Correlation_Id"), S_INIT("Correlation_ID")},
    [COL_GRID] = {S_INIT("Grid_Size_X"), S_INIT("grd"), S_INIT("GRD")},
    [COL_GRID_Y] = {S_INIT("Grid_Size_Y")},
    [COL_GRID_Z] = {S_INIT("Grid_Size_Z")},
    [COL_BLOCK] = {S_INIT("Workgroup_Size_X"), S_INIT("wgr"), S_INIT("WGR")},
    [COL_BLOCK_Y] = {S_INIT("Workgroup_Size_Y")},
    [COL_BLOCK_Z] = {S_INIT("Workgroup_Size_Z")},
    [COL_DOMAIN] = {S_INIT("Domain")},
    [COL_PROCESS] = {S_INIT("Process_Id")},
    [COL_THREAD] = {S_INIT("Thread_Id")},
    [COL_FROM] = {S_INIT("Source_Agent_Id")},
    [COL_TO] = {S_INIT("Destination_Agent_Id")},
};

struct columns {
    int at[COLUMNS]; /* -1: not there */
};

static int find_column(const struct csv *csv, enum rocprof_column c)
{
    int at = -1;

    for (size_t i = 0; i < ARRAY_LEN(names[c]) && at < 0; i++)
        if (names[c][i].n > 0)
            at = csv_column(csv, names[c][i]);
    return at;
}

static bool has(const struct csv *csv, enum rocprof_column c)
{
    return find_column(csv, c) >= 0;
}

static struct str rocprof_cell(const struct csv *csv, const struct columns *t,
                               enum rocprof_column c)
{
    return str_trim(csv_cell(csv, t->at[c]));
}

static int64_t rocprof_number(const struct csv *csv, const struct columns *t, enum rocprof_column c,
                              int64_t otherwise)
{
    int64_t n;

    return num_i64(rocprof_cell(csv, t, c), &n) ? n : otherwise;
}

static bool take_times(const struct csv *csv, const struct columns *t, struct slice *slice)
{
    int64_t end;

    if (csv->is_broken || csv->n_cells != csv_header_count(csv) ||
        !num_i64(rocprof_cell(csv, t, COL_BEGIN), &slice->begin) ||
        !num_i64(rocprof_cell(csv, t, COL_END), &end))
        return false;
    slice->dur = nanos_sub(end, slice->begin);
    return import_lasts(slice->dur);
}

/* The number that ties a call to the work it caused. */
static void take_link(struct import *i, const struct csv *csv, const struct columns *t,
                      struct slice *slice)
{
    int64_t link = rocprof_number(csv, t, COL_LINK, 0);
    struct attr own = attr_int(capture_key(i->cap, KEY_LINK), link);

    if (link > 0)
        slice->own = attrs_own(&i->cap->attrs, &own, 1);
}

static enum import_row take_kernel(struct import *i, const struct csv *csv, void *ctx)
{
    const struct columns *t = ctx;
    struct slice slice = {0};
    int32_t device = rocprof_device(rocprof_cell(csv, t, COL_DEVICE));
    struct str name = rocprof_kernel_name(rocprof_cell(csv, t, COL_NAME));
    struct attr set[2];
    int64_t grid[3], block[3];

    if (name.n == 0 || !take_times(csv, t, &slice))
        return ROW_LOST;
    if (import_is_other_device(i, device))
        return ROW_PASSED;
    slice.name = capture_intern(i->cap, name);
    /* The stream, or the queue where streams were not recorded. */
    struct str stream = rocprof_cell(csv, t, COL_STREAM);
    slice.lane = import_lane(i->cap, LANE_STREAM, device,
                             stream.n > 0 ? stream : rocprof_cell(csv, t, COL_QUEUE));
    slice.kind = classify_kernel(VENDOR_AMD, S(""), name, S(""));
    take_link(i, csv, t, &slice);
    for (int k = 0; k < 3; k++) { /* rocprof has the products only */
        grid[k] = rocprof_number(csv, t, (enum rocprof_column)(COL_GRID + k), k > 0);
        block[k] = rocprof_number(csv, t, (enum rocprof_column)(COL_BLOCK + k), k > 0);
    }
    slice.set = attrs_set(&i->cap->attrs, set, rocprof_shapes(i->cap, grid, block, set));
    capture_slice(i->cap, &slice);
    return ROW_TAKEN;
}

/* A copy belongs to the device that it reads or fills; of two to the one it fills. */
static enum import_row take_copy(struct import *i, const struct csv *csv, const struct columns *t)
{
    struct slice slice = {.kind = SLICE_COPY};
    struct str name = str_trim(csv_cell(csv, csv_column(csv, S("Direction"))));
    bool is_out = str_ends(name, S("DEVICE_TO_HOST"));
    int32_t device = rocprof_device(rocprof_cell(csv, t, is_out ? COL_FROM : COL_TO));

    if (!take_times(csv, t, &slice))
        return ROW_LOST;
    if (import_is_other_device(i, device))
        return ROW_PASSED;
    struct str stream = rocprof_cell(csv, t, COL_STREAM);
    slice.name = capture_intern(i->cap, name.n > 0 ? name : S("MEMORY_COPY"));
    slice.lane = import_lane(i->cap, LANE_STREAM, device, stream.n > 0 ? stream : S("copies"));
    take_link(i, csv, t, &slice);
    capture_slice(i->cap, &slice);
    return ROW_TAKEN;
}

static enum import_row take_call(struct import *i, const struct csv *csv, const struct columns *t)
{
    struct slice slice = {.kind = rocprof_call_kind(rocprof_cell(csv, t, COL_DOMAIN))};

    if (!take_times(csv, t, &slice))
        return ROW_LOST;
    slice.name = capture_intern(i->cap, rocprof_cell(csv, t, COL_NAME));
    slice.lane = rocprof_thread(i->cap, rocprof_number(csv, t, COL_PROCESS, 0),
                                rocprof_number(csv, t, COL_THREAD, 0));
    if (slice.kind == SLICE_ANNOTATION)
        step_name_mark(i->cap, &slice, true);
    else
        take_link(i, csv, t, &slice);
    capture_slice(i->cap, &slice);
    return ROW_TAKEN;
}

static bool is_agents(const struct csv *csv)
{
    return csv_column(csv, S("Agent_Type")) >= 0 && csv_column(csv, S("Node_Id")) >= 0;
}

/* The name of the first GPU, or of the one that is read. */
static enum import_row take_agent(struct import *i, const struct csv *csv)
{
    struct facts *f = &i->cap->facts;
    struct str name = str_trim(csv_cell(csv, csv_column(csv, S("Product_Name"))));

    if (!str_equal(str_trim(csv_cell(csv, csv_column(csv, S("Agent_Type")))), S("GPU")) ||
        name.n == 0)
        return ROW_PASSED;
    if (f->device_name == 0)
        f->device_name = capture_intern(i->cap, name);
    return ROW_TAKEN;
}

static enum import_row take_beside(struct import *i, const struct csv *csv, void *ctx)
{
    const struct columns *t = ctx;

    if (is_agents(csv))
        return take_agent(i, csv);
    return t->at[COL_DOMAIN] >= 0 ? take_call(i, csv, t) : take_copy(i, csv, t);
}

/* Counters repeat the kernel in each of their rows: that is no timeline. */
static bool is_kernels(const struct csv *csv)
{
    return has(csv, COL_BEGIN) && has(csv, COL_END) && csv_column(csv, S("Counter_Name")) < 0 &&
           (csv_column(csv, S("Kernel_Name")) >= 0 || csv_column(csv, S("KernelName")) >= 0);
}

static bool is_beside(const struct csv *csv)
{
    bool has_times = has(csv, COL_BEGIN) && has(csv, COL_END);

    return is_agents(csv) ||
           (has_times && has(csv, COL_DOMAIN) && csv_column(csv, S("Function")) >= 0) ||
           (has_times && csv_column(csv, S("Direction")) >= 0 && has(csv, COL_TO));
}

static const struct import_table kernels = {
    .is = is_kernels,
    .no_header = {"rocprof.no-header", "not a kernel table of rocprof: unknown header"},
    .bad_row = {"rocprof.bad-row", "row skipped: no name, begin or end"},
    .take = take_kernel,
};

static const struct import_table beside = {
    .is = is_beside,
    .no_header = {"rocprof.no-header", "not a table of rocprofv3: unknown header"},
    .bad_row = {"rocprof.bad-row", "row skipped: no begin or end"},
    .take = take_beside,
};

static enum status rocprof_read_table(struct import *i)
{
    struct columns t;
    struct csv csv;

    TRY(import_table_open(i, i->format->table, &csv));
    for (int c = 0; c < COLUMNS; c++)
        t.at[c] = find_column(&csv, (enum rocprof_column)c);
    import_table_rows(i, i->format->table, &csv, &t);
    if (i->cap->facts.kind == 0)
        i->cap->facts.kind = capture_intern(i->cap, S("rocprof"));
    if (t.at[COL_LINK] >= 0)
        trace_links_add(i->cap, 0);
    return ST_OK;
}

const struct input_format input_rocprof = {
    .name = "rocprof",
    .summary = "kernel table of rocprof or rocprofv3 (CSV)",
    .looks_for = "*kernel_trace.csv, results.csv",
    .role = ROLE_KERNELS,
    .vendor = VENDOR_AMD,
    .source = SOURCE_KERNEL_TABLE,
    .names = "*kernel_trace.csv, results.csv",
    .table = &kernels,
    .read = rocprof_read_table,
};

const struct input_format input_rocprof_calls = {
    .name = "rocprof-calls",
    .summary = "calls, copies, markers and devices of rocprofv3 (CSV)",
    .looks_for = "*_api_trace.csv, *memory_copy_trace.csv, *agent_info.csv",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_AMD,
    .names = "*hip_api_trace.csv, *hsa_api_trace.csv, *rccl_api_trace.csv, *marker_api_trace.csv, "
             "*memory_copy_trace.csv, *agent_info.csv",
    .table = &beside,
    .read = rocprof_read_table,
};
