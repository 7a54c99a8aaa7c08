#include "gpu/ncu_csv.h"

#include <math.h>

#include "base/csv.h"
#include "base/mangled.h"
#include "base/num.h"
#include "gpu/units.h"

/* Columns that every launch page begins with. */
enum {
    COL_ID,
    COL_KERNEL,
    COL_CONTEXT,
    COL_STREAM,
    COL_BLOCK,
    COL_GRID,
    COL_DEVICE,
    COL_CC,
    HEADS
};

static const struct str heads[HEADS] = {
    S_INIT("ID"),         S_INIT("Kernel Name"), S_INIT("Context"), S_INIT("Stream"),
    S_INIT("Block Size"), S_INIT("Grid Size"),   S_INIT("Device"),  S_INIT("CC"),
};

/* Names of the details page, which occur in several sections: the pair is the key. */
static const struct {
    struct str section, name;
    enum gpu_metric metric;
} displays[] = {
    {S_INIT("GPU Speed Of Light Throughput"), S_INIT("Duration"), GPU_M_DUR_NS},
    {S_INIT("GPU Speed Of Light Throughput"), S_INIT("Elapsed Cycles"), GPU_M_SM_CYCLES},
    {S_INIT("GPU Speed Of Light Throughput"), S_INIT("SM Active Cycles"), GPU_M_SM_ACTIVE},
    {S_INIT("GPU Speed Of Light Throughput"), S_INIT("SM Frequency"), GPU_M_SM_CLOCK_HZ},
    {S_INIT("GPU Speed Of Light Throughput"), S_INIT("Compute (SM) Throughput"), GPU_M_SM_PCT},
    {S_INIT("GPU Speed Of Light Throughput"), S_INIT("DRAM Throughput"), GPU_M_DRAM_PCT},
    {S_INIT("GPU Speed Of Light Throughput"), S_INIT("L1/TEX Cache Throughput"), GPU_M_L1_PCT},
    {S_INIT("GPU Speed Of Light Throughput"), S_INIT("L2 Cache Throughput"), GPU_M_L2_PCT},
    {S_INIT("Memory Workload Analysis"), S_INIT("L1/TEX Hit Rate"), GPU_M_L1_HIT},
    {S_INIT("Memory Workload Analysis"), S_INIT("L2 Hit Rate"), GPU_M_L2_HIT},
    {S_INIT("Memory Workload Analysis"), S_INIT("Local Memory Spilling Requests"), GPU_M_SPILL_REQ},
    {S_INIT("Occupancy"), S_INIT("Achieved Occupancy"), GPU_M_OCC},
    {S_INIT("Occupancy"), S_INIT("Theoretical Occupancy"), GPU_M_OCC_THEORY},
    {S_INIT("Occupancy"), S_INIT("Block Limit Registers"), GPU_M_LIM_REGS},
    {S_INIT("Occupancy"), S_INIT("Block Limit Shared Mem"), GPU_M_LIM_SMEM},
    {S_INIT("Occupancy"), S_INIT("Block Limit Warps"), GPU_M_LIM_WARPS},
    {S_INIT("Occupancy"), S_INIT("Block Limit SM"), GPU_M_LIM_BLOCKS},
    {S_INIT("Occupancy"), S_INIT("Block Limit Barriers"), GPU_M_LIM_BARRIERS},
    {S_INIT("Launch Statistics"), S_INIT("Waves Per SM"), GPU_M_WAVES},
    {S_INIT("Launch Statistics"), S_INIT("Registers Per Thread"), GPU_M_REGS},
    {S_INIT("Launch Statistics"), S_INIT("# SMs"), GPU_M_SM_COUNT},
    {S_INIT("Launch Statistics"), S_INIT("Static Shared Memory Per Block"), GPU_M_SMEM_STATIC},
    {S_INIT("Launch Statistics"), S_INIT("Dynamic Shared Memory Per Block"), GPU_M_SMEM_DYNAMIC},
    {S_INIT("Launch Statistics"), S_INIT("Shared Memory Configuration Size"), GPU_M_SMEM_CONFIG},
    {S_INIT("Scheduler Statistics"), S_INIT("Eligible Warps Per Scheduler"), GPU_M_ELIGIBLE},
};

struct column {
    int metric, rank; /* metric -1: none of ours */
    bool is_stall, is_scratch;
    struct str name, unit, stall;
    double factor;
};

struct page {
    struct gpu_import *in;
    const char *path;
    struct diag *d;
    struct csv csv;
    enum gpu_page kind;
    enum gpu_number_style style;
    int head[HEADS];
    struct column *columns; /* of a raw page */
    size_t n_columns;
    size_t first;   /* kernels before this one came from other files */
    size_t current; /* SIZE_MAX: none */
    uint64_t line_base;
};

void gpu_import_free(struct gpu_import *in)
{
    for (size_t i = 0; i < in->kernels.n; i++)
        gpu_kernel_free(&in->kernels.at[i]);
    for (size_t i = 0; i < in->listings.n; i++)
        gpu_listing_free(&in->listings.at[i]);
    vec_free(&in->kernels);
    vec_free(&in->pages);
    vec_free(&in->listings);
    vec_free(&in->ptx);
}

static enum gpu_page page_of_line(struct str line)
{
    static const struct {
        struct str begin;
        enum gpu_page page;
    } begins[] = {
        {S_INIT("\"File Path\","), GPU_PAGE_SOURCE},
        {S_INIT("\"Function Name\","), GPU_PAGE_SOURCE},
        {S_INIT("\"Kernel Name\",\""), GPU_PAGE_SOURCE},
        {S_INIT("\"Address\",\"Source\""), GPU_PAGE_SOURCE},
        {S_INIT("\"Line No\",\"Source\""), GPU_PAGE_SOURCE},
        {S_INIT("range,kernel,"), GPU_PAGE_RANGES},
        {S_INIT("Time (%),Total Time (ns),Instances,"), GPU_PAGE_SUMMARY},
    };

    for (size_t i = 0; i < ARRAY_LEN(begins); i++)
        if (str_starts(line, begins[i].begin))
            return begins[i].page;
    if (!str_starts(line, S("\"ID\",")) && !str_starts(line, S("ID,")))
        return GPU_PAGE_NONE;
    if (str_find(line, S("Body Item Label")) < line.n)
        return GPU_PAGE_LABELLED;
    if (str_find(line, S("Metric Name")) < line.n)
        return GPU_PAGE_DETAILS;
    return str_find(line, S("Kernel Name")) < line.n ? GPU_PAGE_RAW : GPU_PAGE_NONE;
}

/* Source pages begin alike: the first header tells which one it is. */
static bool is_ptx(struct str text)
{
    enum { LINES = 4 };

    for (int i = 0; i < LINES && text.n > 0; i++) {
        struct str line = str_part(text, 0, str_find_char(text, '\n'));
        if (gpu_ptx_is_header(line))
            return true;
        if (str_starts(line, S("\"Line No\"")) || str_starts(line, S("\"Address\"")))
            return false;
        text = str_part(text, line.n + 1, text.n);
    }
    return false;
}

enum gpu_page gpu_page_of(struct str text, size_t *header)
{
    size_t at = 0;

    if (str_starts(text, S("\xef\xbb\xbf")))
        at = 3;
    while (at < text.n) {
        struct str rest = str_part(text, at, text.n);
        struct str line = str_part(rest, 0, str_find_char(rest, '\n'));
        enum gpu_page page = page_of_line(line);
        if (page != GPU_PAGE_NONE) {
            *header = at;
            return page == GPU_PAGE_SOURCE && is_ptx(rest) ? GPU_PAGE_PTX : page;
        }
        at += line.n + 1;
    }
    return GPU_PAGE_NONE;
}

static struct where here(const struct page *p)
{
    return (struct where){.path = p->path, .line = p->csv.line + p->line_base};
}

static void lose(struct page *p, const char *why)
{
    p->in->lost++;
    diag_add(p->d, SEV_LOSS, "ncu-csv.bad-row", here(p), "row skipped: %s", why);
}

/* "(16, 16, 1)" */
static void read_dims(struct str text, uint32_t dims[3])
{
    struct str rest = text, one;

    if (text.n >= 2 && text.at[0] == '(' && text.at[text.n - 1] == ')')
        rest = str_part(text, 1, text.n - 2);
    for (size_t i = 0; i < 3 && str_split(&rest, ',', &one); i++) {
        uint64_t value;
        if (num_u64(str_trim(one), &value) && value <= UINT32_MAX)
            dims[i] = (uint32_t)value;
    }
}

static struct str keep(struct page *p, struct str text)
{
    return arena_str(p->in->arena, csv_unquote(text, p->in->arena));
}

static bool same_launch(const struct gpu_kernel *a, const struct gpu_kernel *b)
{
    return a->id == b->id && str_equal(a->name, b->name) &&
           memcmp(a->grid, b->grid, sizeof(a->grid)) == 0;
}

/* The launch of this row: the one before, one that another page told of, or a new one. */
static struct gpu_kernel *launch(struct page *p, uint64_t id)
{
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_import *in = p->in;
    unsigned bit = 1u << p->kind;

    k.id = id;
    k.name = csv_unquote(csv_cell(&p->csv, p->head[COL_KERNEL]), in->arena);
    if (p->kind == GPU_PAGE_RANGES) /* these have the names of the driver */
        k.name = mangled_plain(k.name);
    read_dims(csv_cell(&p->csv, p->head[COL_GRID]), k.grid);
    read_dims(csv_cell(&p->csv, p->head[COL_BLOCK]), k.block);
    if (p->current != SIZE_MAX && p->kind != GPU_PAGE_RAW &&
        same_launch(&in->kernels.at[p->current], &k))
        return &in->kernels.at[p->current];
    for (size_t i = 0; i < in->kernels.n; i++)
        if (same_launch(&in->kernels.at[i], &k) &&
            ((in->pages.at[i] & bit) == 0 || i >= p->first)) {
            if (p->kind == GPU_PAGE_RAW && (in->pages.at[i] & bit) != 0)
                continue; /* a raw page has one row a launch */
            in->pages.at[i] |= bit;
            p->current = i;
            return &in->kernels.at[i];
        }
    k.name = arena_str(in->arena, k.name);
    k.cc = keep(p, csv_cell(&p->csv, p->head[COL_CC]));
    k.context = keep(p, csv_cell(&p->csv, p->head[COL_CONTEXT]));
    k.stream = keep(p, csv_cell(&p->csv, p->head[COL_STREAM]));
    k.device = keep(p, csv_cell(&p->csv, p->head[COL_DEVICE]));
    p->current = in->kernels.n;
    vec_push(&in->kernels, k);
    vec_push(&in->pages, bit);
    return &in->kernels.at[p->current];
}

static void keep_value(struct page *p, struct gpu_kernel *k, struct gpu_value value)
{
    if (p->in->values >= GPU_VALUES_MAX) {
        diag_add(p->d, SEV_LOSS, "ncu-csv.too-many-values", here(p),
                 "more than %d values: only those the rules use are kept", GPU_VALUES_MAX);
        return;
    }
    p->in->values++;
    vec_push(&k->values, value);
}

static void name_column(struct page *p, struct column *c, struct str name)
{
    *c = (struct column){.factor = 1};
    c->metric = gpu_metric_of_counter(name, &c->rank);
    c->name = arena_str(p->in->arena, name);
    c->is_scratch = str_starts(name, S("derived_tempMetric"));
    c->is_stall = gpu_stall_of_counter(c->name, &c->stall);
}

/* One value of a raw page; a better name of the same metric wins. */
static void take_value(struct page *p, struct gpu_kernel *k, const struct column *c,
                       struct str text, int rank[GPU_METRICS])
{
    struct gpu_value value = {.name = c->name, .unit = c->unit, .number = NAN};

    if (text.n == 0 || c->is_scratch)
        return;
    if (gpu_number(text, p->style, &value.number))
        value.number *= c->factor;
    else
        value.text = keep(p, text);
    keep_value(p, k, value);
    if (isnan(value.number))
        return;
    if (c->is_stall)
        gpu_kernel_stall(k, c->stall, value.number);
    if (c->metric >= 0 && c->rank < rank[c->metric]) {
        k->m[c->metric] = value.number;
        rank[c->metric] = c->rank;
    }
}

/* Pages of --set full give instructions per cycle only: times the cycles they are counts. */
static void count_instructions(struct gpu_kernel *k)
{
    static const struct {
        struct str name;
        enum gpu_metric metric;
    } parts[] = {
        {S_INIT("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed"),
         GPU_M_FFMA},
        {S_INIT("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed"),
         GPU_M_FADD},
        {S_INIT("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed"),
         GPU_M_FMUL},
        {S_INIT("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.per_cycle_elapsed"),
         GPU_M_HFMA},
        {S_INIT("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.per_cycle_elapsed"),
         GPU_M_DFMA},
    };
    double elapsed = NAN;

    for (size_t i = 0; i < k->values.n && isnan(elapsed); i++)
        if (str_equal(k->values.at[i].name, S("sm__cycles_elapsed.avg")))
            elapsed = k->values.at[i].number;
    for (size_t i = 0; i < k->values.n && !isnan(elapsed); i++)
        for (size_t j = 0; j < ARRAY_LEN(parts); j++)
            if (isnan(k->m[parts[j].metric]) && str_equal(k->values.at[i].name, parts[j].name))
                k->m[parts[j].metric] = k->values.at[i].number * elapsed;
}

static void read_units(struct page *p)
{
    for (size_t i = 0; i < p->n_columns; i++)
        p->columns[i].unit =
            arena_str(p->in->arena, gpu_base_unit(p->in->arena, csv_cell(&p->csv, (int)i),
                                                  &p->columns[i].factor));
}

static bool is_head(const struct page *p, int column)
{
    for (size_t i = 0; i < HEADS; i++)
        if (p->head[i] == column)
            return true;
    return str_equal(csv_header(&p->csv, (size_t)column), S("Process ID")) ||
           str_equal(csv_header(&p->csv, (size_t)column), S("Process Name")) ||
           str_equal(csv_header(&p->csv, (size_t)column), S("Host Name"));
}

/* Name and data of a raw page or of ranges, which differ in how they begin. */
static void read_launches(struct page *p)
{
    bool is_raw = p->kind == GPU_PAGE_RAW;
    int id_column = is_raw ? p->head[COL_ID] : 0;

    p->n_columns = csv_header_count(&p->csv);
    p->columns = ARENA_ARRAY(p->in->arena, struct column, p->n_columns + 1);
    for (size_t i = 0; i < p->n_columns; i++)
        name_column(p, &p->columns[i], csv_header(&p->csv, i));
    while (csv_next(&p->csv)) {
        int rank[GPU_METRICS];
        uint64_t id;
        struct str id_text = csv_cell(&p->csv, id_column);
        if (is_raw && id_text.n == 0 && p->csv.n_cells > HEADS) {
            read_units(p);
            continue;
        }
        if (!num_u64(id_text, &id)) {
            lose(p, "no launch number");
            continue;
        }
        struct gpu_kernel *k = launch(p, id);
        for (size_t i = 0; i < GPU_METRICS; i++)
            rank[i] = INT32_MAX;
        for (size_t i = 0; i < p->n_columns; i++)
            if (is_raw ? !is_head(p, (int)i) : i >= 2)
                take_value(p, k, &p->columns[i], csv_cell(&p->csv, (int)i), rank);
        count_instructions(k);
        p->in->rows++;
    }
}

static int metric_of_display(struct str section, struct str name)
{
    int rank;

    for (size_t i = 0; i < ARRAY_LEN(displays); i++)
        if (str_equal(displays[i].section, section) && str_equal(displays[i].name, name))
            return (int)displays[i].metric;
    return str_equal(section, S("Command line profiler metrics"))
               ? gpu_metric_of_counter(name, &rank)
               : -1;
}

struct details {
    int section, name, unit, value, rule, type, text, speedup_type, speedup;
};

static void read_rule(struct page *p, const struct details *c, struct gpu_kernel *k)
{
    struct gpu_rule rule = {
        .section = keep(p, csv_cell(&p->csv, c->section)),
        .name = keep(p, csv_cell(&p->csv, c->rule)),
        .type = keep(p, csv_cell(&p->csv, c->type)),
        .text = keep(p, csv_cell(&p->csv, c->text)),
        .speedup_type = keep(p, csv_cell(&p->csv, c->speedup_type)),
        .speedup = NAN,
    };

    gpu_number(csv_cell(&p->csv, c->speedup), p->style, &rule.speedup);
    vec_push(&k->rules, rule);
}

static void read_metric(struct page *p, const struct details *c, struct gpu_kernel *k)
{
    struct str text = csv_cell(&p->csv, c->value);
    double factor;
    struct gpu_value value = {
        .section = keep(p, csv_cell(&p->csv, c->section)),
        .name = keep(p, csv_cell(&p->csv, c->name)),
        .unit = arena_str(p->in->arena,
                          gpu_base_unit(p->in->arena, csv_cell(&p->csv, c->unit), &factor)),
        .number = NAN,
    };
    int metric = metric_of_display(value.section, value.name);
    bool has_raw = (p->in->pages.at[p->current] & 1u << GPU_PAGE_RAW) != 0;

    if (gpu_number(text, p->style, &value.number))
        value.number *= factor;
    else
        value.text = keep(p, text);
    keep_value(p, k, value);
    if (isnan(value.number))
        return;
    /* The raw page has all digits. */
    if (metric >= 0 && !(has_raw && !isnan(k->m[metric])))
        k->m[metric] = value.number;
    if (str_equal(value.section, S("Scheduler Statistics")) &&
        str_equal(value.name, S("No Eligible")) && isnan(k->m[GPU_M_ISSUE_PCT]))
        k->m[GPU_M_ISSUE_PCT] = 100 - value.number;
}

/* The details page gives L1 per active cycle; rules want elapsed ones, and a kernel of few blocks
 * leaves most multiprocessors idle. */
static void scale_l1(struct page *p)
{
    for (size_t i = 0; i < p->in->kernels.n; i++) {
        struct gpu_kernel *k = &p->in->kernels.at[i];
        double active = k->m[GPU_M_SM_ACTIVE] / k->m[GPU_M_SM_CYCLES];
        if (i >= p->first && (p->in->pages.at[i] & 1u << GPU_PAGE_RAW) == 0 && active < 1)
            k->m[GPU_M_L1_PCT] *= active;
    }
}

static void read_details(struct page *p)
{
    struct details c = {
        .section = csv_column(&p->csv, S("Section Name")),
        .name = csv_column(&p->csv, S("Metric Name")),
        .unit = csv_column(&p->csv, S("Metric Unit")),
        .value = csv_column(&p->csv, S("Metric Value")),
        .rule = csv_column(&p->csv, S("Rule Name")),
        .type = csv_column(&p->csv, S("Rule Type")),
        .text = csv_column(&p->csv, S("Rule Description")),
        .speedup_type = csv_column(&p->csv, S("Estimated Speedup Type")),
        .speedup = csv_column(&p->csv, S("Estimated Speedup")),
    };

    while (csv_next(&p->csv)) {
        uint64_t id;
        if (!num_u64(csv_cell(&p->csv, p->head[COL_ID]), &id)) {
            lose(p, "no launch number");
            continue;
        }
        struct gpu_kernel *k = launch(p, id);
        if (csv_cell(&p->csv, c.rule).n > 0)
            read_rule(p, &c, k);
        else if (csv_cell(&p->csv, c.name).n > 0)
            read_metric(p, &c, k);
        p->in->rows++;
    }
    scale_l1(p);
}

/* nsys stats: a row stands for all launches of a name. */
static void read_summary(struct page *p)
{
    int total = csv_column(&p->csv, S("Total Time (ns)")),
        count = csv_column(&p->csv, S("Instances")), median = csv_column(&p->csv, S("Med (ns)")),
        name = csv_column(&p->csv, S("Name"));

    while (csv_next(&p->csv)) {
        struct gpu_kernel k = gpu_kernel_none();
        if (!num_u64(csv_cell(&p->csv, count), &k.launches) ||
            !gpu_number(csv_cell(&p->csv, total), p->style, &k.total_ns) ||
            !gpu_number(csv_cell(&p->csv, median), p->style, &k.m[GPU_M_DUR_NS])) {
            lose(p, "no total, count or median");
            continue;
        }
        k.id = p->in->kernels.n;
        k.name = keep(p, csv_cell(&p->csv, name));
        vec_push(&p->in->kernels, k);
        vec_push(&p->in->pages, 1u << p->kind);
        p->in->rows++;
    }
}

/* English unless the values of the page say otherwise. Works on a copy of the reader. */
static enum gpu_number_style find_style(const struct page *p, struct csv csv)
{
    int value = csv_column(&csv, S("Metric Value")), for_continental = 0;

    while (csv_next(&csv))
        for (size_t i = 0; i < csv.n_cells && i < LIMIT_CSV_COLUMNS; i++) {
            if (value >= 0 ? (int)i != value : i < csv_header_count(&csv) && is_head(p, (int)i))
                continue;
            int says = gpu_number_evidence(csv_cell(&csv, (int)i));
            if (says > 0)
                return GPU_NUMBERS_ENGLISH;
            for_continental += says < 0 && for_continental < 1;
        }
    return for_continental > 0 ? GPU_NUMBERS_CONTINENTAL : GPU_NUMBERS_ENGLISH;
}

static uint64_t lines_in(struct str text)
{
    uint64_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.at[i] == '\n';
    return n;
}

static void read_page(struct page *p)
{
    switch (p->kind) {
    case GPU_PAGE_RAW:
    case GPU_PAGE_RANGES:
        read_launches(p);
        break;
    case GPU_PAGE_SUMMARY:
        read_summary(p);
        break;
    default:
        read_details(p);
    }
}

enum status gpu_ncu_read(struct gpu_import *in, const char *path, struct str text, struct diag *d)
{
    size_t header = 0;
    enum gpu_page kind = gpu_page_of(text, &header);
    uint64_t rows = in->rows;

    if (kind == GPU_PAGE_NONE)
        return diag_fail(d, ST_UNSUPPORTED, "ncu-csv.no-header", (struct where){.path = path},
                         "no header of an Nsight Compute page");
    if (kind == GPU_PAGE_SOURCE)
        return gpu_source_read(in, path, str_part(text, header, text.n), d);
    if (kind == GPU_PAGE_PTX)
        return gpu_ptx_read(in, path, str_part(text, header, text.n), d);
    struct page *p = ARENA_NEW(in->arena, struct page);
    *p = (struct page){.in = in,
                       .path = path,
                       .d = d,
                       .kind = kind,
                       .first = in->kernels.n,
                       .current = SIZE_MAX,
                       .line_base = lines_in(str_part(text, 0, header))};
    csv_open(&p->csv, str_part(text, header, text.n));
    for (size_t i = 0; i < HEADS; i++)
        p->head[i] = csv_column(&p->csv, heads[i]);
    if (kind == GPU_PAGE_RANGES)
        p->head[COL_KERNEL] = csv_column(&p->csv, S("kernel"));
    p->style = find_style(p, p->csv);
    read_page(p);
    if (in->rows == rows)
        return diag_fail(d, ST_FORMAT, "ncu-csv.no-rows", (struct where){.path = path},
                         "the page holds no launch");
    return ST_OK;
}
