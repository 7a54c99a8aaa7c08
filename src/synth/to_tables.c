/*
 * to_tables: the CSV and JSON files beside an Ascend timeline.
 */
#include "base/files/embedded.h"
#include "synth/to.h"

/* ---- kernels ---- */

enum { PMU_NEW_COLUMNS = 25, PMU_OLD_COLUMNS = 4 };

static void missing(struct put *p, int columns)
{
    for (int i = 0; i < columns; i++)
        PUT(p, ",N/A");
}

/* A unit that is busy for a part of the time, in percent, and its pipes, per mille of that; then
 * its misses. */
static void unit_pmu(struct put *p, const struct synth_task *t, int part, const int *pipes,
                     size_t n, int64_t misses)
{
    nanos busy = t->dur * part / 100;

    PUTF(p, ",%,%", put_short(busy), busy * 18 / 10 * t->op->kind->blocks);
    for (size_t i = 0; i < n; i++)
        PUTF(p, ",%,%", put_short(busy * pipes[i] / 1000), put_short(pipes[i]));
    PUTF(p, ",%", put_short(misses));
}

static void pmu(struct put *p, bool is_old, const struct synth_task *t)
{
    const struct op_kind *kind = t->op->kind;
    static const int vector[] = {188, 85, 585, 201};
    const int cube[] = {kind->mac, 51, 312, kind->mac > 700 ? 544 : 844, 120};
    bool is_vector = strcmp(kind->core, "AI_VECTOR_CORE") == 0;

    if (t->kind == TASK_COMM || t->op->code == OP_AICPU) {
        missing(p, is_old ? PMU_OLD_COLUMNS : PMU_NEW_COLUMNS);
    } else if (is_old) {
        nanos busy = t->dur * 9 / 10, cubes = is_vector ? 0 : busy, vectors = busy - cubes;
        PUTF(p, ",%,%,%,%", put_short(cubes), cubes * 18 / 10, put_short(vectors),
             vectors * 18 / 10);
    } else if (is_vector) {
        PUT(p, ",0.0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0");
        unit_pmu(p, t, 93, vector, ARRAY_LEN(vector), 23);
        PUT(p, ",0");
    } else {
        unit_pmu(p, t, 94, cube, ARRAY_LEN(cube), 4);
        unit_pmu(p, t, strcmp(kind->core, "MIX_AIC") == 0 ? 30 : 0, vector, ARRAY_LEN(vector), 23);
        PUTF(p, ",%", put_short((int64_t)kind->mac * 100));
    }
}

/* Shapes were quoted once before the CSV writer quoted them again; msprof's own writer does not. */
static void shapes(struct put *p, const struct dialect *d, bool is_summary,
                   const struct synth_task *t)
{
    const struct synth_op *op = t->op;
    const char *quote = is_summary ? "\"" : "\"\"\"";

    if (t->kind == TASK_COMM) {
        missing(p, 7);
        return;
    }
    PUTF(p, ",%%%,%,%,%%%,%,%,N/A", quote, op->in, quote, op->kind->in_types,
         d->is_old ? op->in_formats_old : op->in_formats, quote, op->out, quote,
         op->kind->out_types, d->is_old ? op->out_formats_old : op->out_formats);
}

static void kernels_row(struct put *p, const struct dialect *d, bool is_summary,
                        const struct rank *r, const struct synth_task *t)
{
    const struct op_kind *kind = t->op->kind;
    bool is_comm = t->kind == TASK_COMM, is_mix = strncmp(kind->core, "MIX", 3) == 0;

    if (!is_summary) {
        if (r->step.is_marked)
            PUTF(p, "%", r->step.number);
        PUT(p, ",");
        if (d->level == 0) {
            PUTF(p, "%,N/A,%,%%,%,%,0%", t->name, is_comm ? d->comm_core : "N/A", put_us(t->begin),
                 d->stamp_end, put_short(t->dur), put_short(t->wait), d->line_end);
            return;
        }
    }
    if (is_summary || d->is_new)
        PUTF(p, "%,", r->id % 8);
    if (is_comm)
        PUT(p, "4294967295,N/A,N/A");
    else
        PUTF(p, "4294967295,%,%", t->task_id, to_stream(t->stream));
    PUTF(p, ",%,%,", t->name, kind->type);
    if (is_summary || !d->is_old)
        PUTF(p, "%,", is_comm ? "N/A" : "dynamic");
    PUTF(p, "%,%%,%,%,%,", is_comm ? d->comm_core : kind->core, put_us(t->begin),
         is_summary ? "\t" : d->stamp_end, put_short(t->dur), put_short(t->wait), kind->blocks);
    if (is_comm)
        PUT(p, "N/A,N/A");
    else
        PUTF(p, "%,%", is_mix ? kind->blocks * 2 : 0,
             strcmp(kind->core, "AI_CORE") == 0 ? "YES" : "NO");
    shapes(p, d, is_summary, t);
    pmu(p, !is_summary && d->is_old, t);
    put_str(p, is_summary ? S("\n") : str_of(d->line_end));
}

/* ---- files ---- */

enum table_kind {
    TABLE_KERNELS,
    TABLE_COMM,
    TABLE_MATRIX,
    TABLE_STEPS,
    TABLE_OPERATORS,
    TABLE_MEMORY,
    TABLE_OP_STATISTIC,
    TABLE_OP_SUMMARY,
    TABLE_COUNT,
};

struct tables {
    struct put put[TABLE_COUNT]; /* those that are open */
    uint64_t rows[TABLE_COUNT];
    struct dialect dialect;
    const struct sim *sim;
    const struct rank *rank;
    struct outlet *to;
};

static const struct {
    const char *name;
    unsigned format;
    int level;         /* from which on there is one */
    bool has_device;   /* of the newest files: Device_id is the first column */
    const char *begin; /* what follows the head; NULL: the line end of the generation */
} files[TABLE_COUNT] = {
    [TABLE_KERNELS] = {"kernel_details.csv", SYNTH_TEXT, 0, false, NULL},
    [TABLE_COMM] = {"communication.json", SYNTH_TEXT, 1, false, "{"},
    [TABLE_MATRIX] = {"communication_matrix.json", SYNTH_TEXT, 1, false, "{"},
    [TABLE_STEPS] = {"step_trace_time.csv", SYNTH_TEXT, 0, true, NULL},
    [TABLE_OPERATORS] = {"operator_details.csv", SYNTH_TEXT, 0, false, "\r\n"},
    [TABLE_MEMORY] = {"memory_record.csv", SYNTH_TEXT, 0, false, "\r\n"},
    [TABLE_OP_STATISTIC] = {"op_statistic.csv", SYNTH_TEXT, 1, true, "\n"},
    [TABLE_OP_SUMMARY] = {"op_summary_20260101000000.csv", SYNTH_MSPROF, 0, false, "\n"},
};

/* The head of a table, which may differ by generation; nothing for other files. */
static struct str head_of(const char *name, const struct dialect *d)
{
    struct str rest = embedded_file("synth/heads.txt"), line, file, generation;
    const char *mine = d->level == 0 ? "level0" : d->is_old ? "old" : d->is_new ? "new" : "mid";

    while (str_split(&rest, '\n', &line))
        if (str_split(&line, '|', &file) && str_equal(file, str_of(name)) &&
            str_split(&line, '|', &generation) &&
            (generation.n == 0 || str_equal(generation, str_of(mine))))
            return line;
    return S("");
}

static enum status open_tables(void *self, struct outlet *to)
{
    struct tables *t = self;

    t->to = to;
    t->sim = to->sim;
    t->rank = to->rank;
    t->dialect = to->dialect;
    for (int k = 0; k < TABLE_COUNT; k++) {
        struct put *p = &t->put[k];
        if ((to->sim->options->formats & files[k].format) == 0 ||
            to->sim->options->level < files[k].level)
            continue;
        TRY(to_open(to, p, k == TABLE_OP_SUMMARY ? to_msprof_folder(to) : to_output_folder(to),
                    files[k].name, 0));
        if (files[k].has_device && t->dialect.is_new)
            PUT(p, "Device_id,");
        put_str(p, head_of(files[k].name, &t->dialect));
        put_str(p, str_of(files[k].begin != NULL ? files[k].begin : t->dialect.line_end));
    }
    return ST_OK;
}

static void abort_tables(void *self)
{
    struct tables *t = self;

    for (int k = 0; k < TABLE_COUNT; k++)
        put_abort(&t->put[k]);
}

/* In the newest files the device comes first. */
static void put_device(struct tables *t, struct put *p)
{
    if (t->dialect.is_new)
        PUTF(p, "%,", t->rank->id % 8);
}

static void step_times(struct tables *t, const struct step_sets *sets)
{
    struct put *p = &t->put[TABLE_STEPS];
    const struct synth_step *step = &t->rank->step;
    nanos comm = account_length(&sets->communication), exposed = account_length(&sets->exposed);

    put_device(t, p);
    PUTF(p, "%,%,%,%,%,%,%,0,%,%%", step->number, put_short(account_length(&sets->computing)),
         put_short(exposed), put_short(comm - exposed), put_short(comm),
         put_short(account_length(&sets->free)), put_short(sets->last - sets->first),
         put_short(exposed), put_short(sets->first - step->begin), t->dialect.line_end);
    t->rows[TABLE_STEPS]++;
}

static void operator_row(struct tables *t, const struct synth_task *task)
{
    struct put *p = &t->put[TABLE_OPERATORS];
    const struct synth_op *op = task->op;
    nanos core = op_is_core(op->code) ? task->dur : 0;
    struct arena *a = &t->to->scratch;

    PUTF(p, "%,'%','%',%,%,%,%,%,%\r\n", op->kind->host, to_shapes(a, op, ";\r\n"),
         t->sim->options->stacks ? to_stack(a, op, ";\r\n") : S(""), put_short(task->launch_dur),
         put_short(task->launch_dur), put_short(task->dur), put_short(task->dur), put_short(core),
         put_short(core));
    t->rows[TABLE_OPERATORS]++;
}

static void memory_rows(struct tables *t)
{
    enum { PERIOD = 20000000 };
    struct put *p = &t->put[TABLE_MEMORY];
    const struct synth_step *step = &t->rank->step;
    int64_t device = t->rank->id % 8;

    for (nanos at = step->begin; at < step->next_begin; at += PERIOD) {
        PUTF(p, "APP,%\t,,58211.%,,,NPU:%\r\n", put_us(at), at / 1000 % 1000, device);
        for (int k = 0; k < 2; k++)
            PUTF(p, "%,%\t,47102.%,52224.0,47102.%,187650048,NPU:%\r\n", k == 0 ? "PTA" : "PTA+GE",
                 put_us(at + 120), at / 777 % 1000, at / 777 % 1000, device);
        t->rows[TABLE_MEMORY] += 3;
    }
}

#define NO_LINK                                                                                    \
    "{'Transit Size(MB)': 0, 'Transit Time(ms)': 0, 'Bandwidth(GB/s)': 0, 'Large Packet Ratio': "  \
    "0, 'Size Distribution': {}}"

static struct put_arg bandwidth(int64_t bytes, nanos dur)
{
    return put_ms(dur > 0 ? bytes * 10000 / dur * 100 : 0);
}

/* Bytes are MB with six decimals, as nanoseconds are milliseconds. */
static void link_info(struct put *p, int64_t bytes, nanos transit)
{
    PUTF(p,
         "{'Transit Size(MB)': %, 'Transit Time(ms)': %, 'Bandwidth(GB/s)': %, 'Large Packet "
         "Ratio': %, 'Size Distribution': {'%': [%, %]}}",
         put_ms(bytes), put_ms(transit), bandwidth(bytes, transit),
         bytes / COMM_PLANES > 32000000 ? "1.0" : "0.0", put_ms(bytes / COMM_PLANES), COMM_PLANES,
         put_ms(transit));
}

static void comm_entry(struct put *p, const char *name, const char *group, nanos begin,
                       const struct synth_task *t)
{
    nanos idle = t->dur - t->transit - t->waited, all = t->waited + t->transit;
    /* With four decimals. */
    struct put_arg ratio = put_ms(all > 0 ? (t->waited * 10000 + all / 2) / all * 100 : 0);

    PUTF(p, "'%%%': {'Communication Time Info': {", name, group[0] != '\0' ? "@" : "", group);
    if (begin > 0)
        PUTF(p, "'Start Timestamp(us)': %, ", put_fixed(begin / 100, 1));
    PUTF(p,
         "'Elapse Time(ms)': %, 'Transit Time(ms)': %, 'Wait Time(ms)': %, 'Synchronization "
         "Time(ms)': %, 'Idle Time(ms)': %, 'Wait Time Ratio': %, 'Synchronization Time Ratio': %",
         put_ms(t->dur), put_ms(t->transit), put_ms(t->waited), put_ms(t->waited),
         put_ms(idle > 0 ? idle : 0), ratio, ratio);
    PUT(p, "}, 'Communication Bandwidth Info': {'RDMA': " NO_LINK ", 'HCCS': ");
    link_info(p, t->bytes, t->transit);
    PUT(p, ", 'PCIE': " NO_LINK ", 'SDMA': ");
    link_info(p, t->bytes, t->transit);
    PUT(p, ", 'SIO': " NO_LINK "}}");
}

static void comm_step(struct tables *t)
{
    struct put *p = &t->put[TABLE_COMM];
    const struct synth_step *step = &t->rank->step;
    struct synth_task total = {0};

    PUTF(p, "%'step%': {'p2p': {}, 'collective': {", t->rows[TABLE_COMM] > 0 ? ", " : "",
         step->number);
    for (size_t i = 0; i < step->tasks.n; i++) {
        const struct synth_task *c = &step->tasks.at[i];
        if (c->kind != TASK_COMM)
            continue;
        comm_entry(p, c->name, t->sim->group, c->begin, c);
        PUT(p, ", ");
        total.dur += c->dur;
        total.transit += c->transit;
        total.waited += c->waited;
        total.bytes += c->bytes;
    }
    comm_entry(p, "Total Op Info", "", 0, &total);
    PUT(p, "}}");
    t->rows[TABLE_COMM]++;
}

/* Who sent how much to whom: by operator in old files, the largest of each kind in newer ones. */
static void matrix_step(struct tables *t)
{
    struct put *p = &t->put[TABLE_MATRIX];
    const struct synth_step *step = &t->rank->step;
    bool seen[OP_COUNT] = {false}, has_one = false;

    PUTF(p, "%'step%': {'p2p': {}, 'collective': {", t->rows[TABLE_MATRIX] > 0 ? ", " : "",
         step->number);
    for (size_t i = 0; i < step->tasks.n; i++) {
        const struct synth_task *c = &step->tasks.at[i];
        static const char *const kinds[] = {"allreduce", "reducescatter", "allgather", "alltoallv"};
        if (c->kind != TASK_COMM || (!t->dialect.is_old && seen[c->op->code]))
            continue;
        seen[c->op->code] = true;
        PUTF(p, "%'%%@%': {", has_one ? ", " : "",
             t->dialect.is_old ? c->name : kinds[c->op->code - OP_ALLREDUCE],
             t->dialect.is_old ? "" : "-top1", t->sim->group);
        for (int64_t peer = 0; peer < t->sim->world; peer++) {
            bool is_self = peer == t->rank->id;
            PUTF(p,
                 "%'%-%': {'Transport Type': '%', 'Transit Size(MB)': %, 'Transit Time(ms)': %, "
                 "'Bandwidth(GB/s)': %, 'Op Name': '%'}",
                 peer > 0 ? ", " : "", t->rank->id, peer, is_self ? "LOCAL" : "HCCS",
                 put_ms(c->bytes / t->sim->world), put_ms(c->transit),
                 bandwidth(c->bytes / t->sim->world, c->transit), c->name);
        }
        PUT(p, "}");
        has_one = true;
    }
    PUT(p, "}}");
    t->rows[TABLE_MATRIX]++;
}

static void tables_write_step(void *self)
{
    struct tables *t = self;
    const struct synth_step *step = &t->rank->step;

    for (size_t i = 0; i < step->tasks.n; i++) {
        const struct synth_task *task = &step->tasks.at[i];
        if (task->kind != TASK_KERNEL && task->kind != TASK_COMM)
            continue;
        for (int k = 0; k < 2; k++) {
            enum table_kind table = k == 0 ? TABLE_KERNELS : TABLE_OP_SUMMARY;
            if (t->put[table].out == NULL)
                continue;
            kernels_row(&t->put[table], &t->dialect, k == 1, t->rank, task);
            t->rows[table]++;
        }
        if (t->put[TABLE_OPERATORS].out != NULL)
            operator_row(t, task);
    }
    if (t->put[TABLE_STEPS].out != NULL && step->is_marked)
        step_times(t, &t->to->truth->sets);
    if (t->put[TABLE_MEMORY].out != NULL)
        memory_rows(t);
    if (t->put[TABLE_COMM].out != NULL && step->is_marked)
        comm_step(t);
    if (t->put[TABLE_MATRIX].out != NULL && step->is_marked)
        matrix_step(t);
}

static void op_statistic(struct tables *t)
{
    struct put *p = &t->put[TABLE_OP_STATISTIC];
    struct truth_sum sums[OP_COUNT];
    size_t n = truth_sums(t->to->truth, true, sums);
    nanos all = 0;

    for (size_t i = 0; i < n; i++)
        all += sums[i].total.dur;
    for (size_t i = 0; i < n; i++) {
        const struct truth_total *total = &sums[i].total;
        bool is_comm = strcmp(sums[i].core, "COMM") == 0;
        put_device(t, p);
        PUTF(p, "%,%,%,%,%,%,%,%\n", sums[i].name, is_comm ? t->dialect.comm_core : sums[i].core,
             total->count, put_short(total->dur), put_short(total->shortest),
             put_short(total->dur / total->count), put_short(total->longest),
             put_short(total->dur * 1000 / (all / 100 + 1)));
        t->rows[TABLE_OP_STATISTIC]++;
    }
}

static enum status close_tables(void *self)
{
    struct tables *t = self;

    if (t->put[TABLE_OP_STATISTIC].out != NULL)
        op_statistic(t);
    for (int k = 0; k < TABLE_COUNT; k++) {
        if (t->put[k].out == NULL)
            continue;
        if (k == TABLE_COMM || k == TABLE_MATRIX)
            PUT(&t->put[k], "}");
        TRY(to_close(t->to, &t->put[k], t->rows[k], t->rows[k]));
    }
    return ST_OK;
}

const struct to_writer to_tables = {
    .formats = SYNTH_TEXT | SYNTH_MSPROF,
    .size = sizeof(struct tables),
    .open = open_tables,
    .step = tables_write_step,
    .close = close_tables,
    .abort = abort_tables,
};
