#include "synth/to_tables.h"

#include "synth/to_kernels.h"

static const char *const names[TABLE_COUNT] = {
    [TABLE_KERNELS] = "kernel_details.csv",
    [TABLE_COMM] = "communication.json",
    [TABLE_MATRIX] = "communication_matrix.json",
    [TABLE_STEPS] = "step_trace_time.csv",
    [TABLE_OPERATORS] = "operator_details.csv",
    [TABLE_MEMORY] = "memory_record.csv",
    [TABLE_OP_STATISTIC] = "op_statistic.csv",
    [TABLE_OP_SUMMARY] = "op_summary_20260101000000.csv",
};

const char *to_table_name(enum table table)
{
    return names[table];
}

bool to_table_is_wanted(enum table table, int64_t level)
{
    return level > 0 ||
           (table != TABLE_COMM && table != TABLE_MATRIX && table != TABLE_OP_STATISTIC);
}

void to_tables_init(struct to_tables *t, const struct sim *s, const struct truth *truth)
{
    *t = (struct to_tables){.sim = s, .rank = truth->rank, .truth = truth};
    t->dialect = dialect_of(s->options);
    arena_init(&t->scratch);
}

void to_tables_fini(struct to_tables *t)
{
    for (int k = 0; k < TABLE_COUNT; k++)
        put_abort(&t->put[k]);
    arena_free(&t->scratch);
}

static const char *device_column(const struct to_tables *t)
{
    return t->dialect.is_new ? "Device_id," : "";
}

static void head(struct to_tables *t, enum table table)
{
    struct put *p = &t->put[table];

    switch (table) {
    case TABLE_KERNELS:
    case TABLE_OP_SUMMARY:
        to_kernels_head(p, &t->dialect, table == TABLE_OP_SUMMARY);
        break;
    case TABLE_COMM:
    case TABLE_MATRIX:
        PUT(p, "{");
        break;
    case TABLE_STEPS:
        PUTF(p,
             "%Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"
             "Bubble,Communication(Not Overlapped and Exclude Receive),Preparing%",
             Z(device_column(t)), Z(t->dialect.line_end));
        break;
    case TABLE_OPERATORS:
        PUT(p, "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device "
               "Self Duration(us),Device Total Duration(us),Device Self Duration With AICore(us),"
               "Device Total Duration With AICore(us)\r\n");
        break;
    case TABLE_MEMORY:
        PUT(p, "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
               "Stream Ptr,Device Type\r\n");
        break;
    default:
        put_str(p, str_of(device_column(t)));
        PUT(p, "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
               "Ratio(%)\n");
    }
}

enum status to_tables_open(struct to_tables *t, enum table table, const char *path, struct diag *d)
{
    TRY(put_open(&t->put[table], path, 0, d));
    head(t, table);
    return ST_OK;
}

static void step_times(struct to_tables *t, const struct step_sets *sets)
{
    struct put *p = &t->put[TABLE_STEPS];
    const struct step *step = &t->rank->step;
    nanos comm = account_length(&sets->communication), exposed = account_length(&sets->exposed);

    if (t->dialect.is_new)
        PUTF(p, "%,", N(t->rank->id % 8));
    PUTF(p, "%,%,%,%,%,%,%,0,%,%%", N(step->number), M(account_length(&sets->computing)),
         M(exposed), M(comm - exposed), M(comm), M(account_length(&sets->free)),
         M(sets->last - sets->first), M(exposed), M(sets->first - step->begin),
         Z(t->dialect.line_end));
    t->rows[TABLE_STEPS]++;
}

static void operator_row(struct to_tables *t, const struct task *task)
{
    struct put *p = &t->put[TABLE_OPERATORS];
    const struct op *op = task->op;
    nanos core = op_is_core(op->code) ? task->dur : 0;

    PUTF(p, "%,\"", Z(op->kind->host));
    put_list(p, op->in, ";\r\n");
    PUT(p, "\",\"");
    if (t->sim->options->stacks)
        put_stack(p, op, ";\r\n", &t->scratch);
    PUTF(p, "\",%,%,%,%,%,%\r\n", M(task->launch_dur), M(task->launch_dur), M(task->dur),
         M(task->dur), M(core), M(core));
    t->rows[TABLE_OPERATORS]++;
}

static void memory_rows(struct to_tables *t)
{
    enum { PERIOD = 20000000 };
    struct put *p = &t->put[TABLE_MEMORY];
    const struct step *step = &t->rank->step;
    int64_t device = t->rank->id % 8;

    for (nanos at = step->begin; at < step->next_begin; at += PERIOD) {
        PUTF(p, "APP,%\t,,58211.%,,,NPU:%\r\n", U(at), N(at / 1000 % 1000), N(device));
        for (int k = 0; k < 2; k++)
            PUTF(p, "%,%\t,47102.%,52224.0,47102.%,187650048,NPU:%\r\n",
                 Z(k == 0 ? "PTA" : "PTA+GE"), U(at + 120), N(at / 777 % 1000), N(at / 777 % 1000),
                 N(device));
        t->rows[TABLE_MEMORY] += 3;
    }
}

/* MB with six decimals: bytes. */
static void put_mb(struct put *p, int64_t bytes)
{
    PUTF(p, "%", L(bytes));
}

#define NO_LINK                                                                                    \
    "{\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, \"Bandwidth(GB/s)\": 0, \"Large Packet "   \
    "Ratio\": 0, \"Size Distribution\": {}}"

static void bandwidth(struct put *p, int64_t bytes, nanos dur)
{
    PUTF(p, "%", L(dur > 0 ? bytes * 10000 / dur * 100 : 0));
}

static void link_info(struct put *p, int64_t bytes, nanos transit)
{
    PUT(p, "{\"Transit Size(MB)\": ");
    put_mb(p, bytes);
    PUTF(p, ", \"Transit Time(ms)\": %, \"Bandwidth(GB/s)\": ", L(transit));
    bandwidth(p, bytes, transit);
    PUTF(p, ", \"Large Packet Ratio\": %, \"Size Distribution\": {\"",
         Z(bytes / COMM_PLANES > 32000000 ? "1.0" : "0.0"));
    put_mb(p, bytes / COMM_PLANES);
    PUTF(p, "\": [%, %]}}", N(COMM_PLANES), L(transit));
}

/* a / (a + b) with four decimals. */
static void ratio(struct put *p, nanos a, nanos b)
{
    int64_t v = a + b > 0 ? (a * 10000 + (a + b) / 2) / (a + b) : 0;

    PUTF(p, "%", L(v * 100));
}

static void comm_entry(struct put *p, const char *name, const char *group, nanos begin,
                       const struct task *t)
{
    nanos idle = t->dur - t->transit - t->waited;

    if (group != NULL)
        PUTF(p, "\"%@%\": ", Z(name), Z(group));
    else
        PUTF(p, "\"%\": ", Z(name));
    PUT(p, "{\"Communication Time Info\": {");
    if (begin > 0)
        PUTF(p, "\"Start Timestamp(us)\": %.%, ", N(begin / 1000), N(begin / 100 % 10));
    PUTF(p,
         "\"Elapse Time(ms)\": %, \"Transit Time(ms)\": %, \"Wait Time(ms)\": %, "
         "\"Synchronization Time(ms)\": %, \"Idle Time(ms)\": %, \"Wait Time Ratio\": ",
         L(t->dur), L(t->transit), L(t->waited), L(t->waited), L(idle > 0 ? idle : 0));
    ratio(p, t->waited, t->transit);
    PUT(p, ", \"Synchronization Time Ratio\": ");
    ratio(p, t->waited, t->transit);
    PUT(p, "}, \"Communication Bandwidth Info\": {\"RDMA\": " NO_LINK ", \"HCCS\": ");
    link_info(p, t->bytes, t->transit);
    PUT(p, ", \"PCIE\": " NO_LINK ", \"SDMA\": ");
    link_info(p, t->bytes, t->transit);
    PUT(p, ", \"SIO\": " NO_LINK "}}");
}

static void comm_step(struct to_tables *t)
{
    struct put *p = &t->put[TABLE_COMM];
    const struct step *step = &t->rank->step;
    struct task total = {0};

    PUTF(p, "%\"step%\": {\"p2p\": {}, \"collective\": {", Z(t->rows[TABLE_COMM] > 0 ? ", " : ""),
         N(step->number));
    for (size_t i = 0; i < step->tasks.n; i++) {
        const struct task *c = &step->tasks.at[i];
        if (c->kind != TASK_COMM)
            continue;
        comm_entry(p, c->name, t->sim->group, c->begin, c);
        PUT(p, ", ");
        total.dur += c->dur;
        total.transit += c->transit;
        total.waited += c->waited;
        total.bytes += c->bytes;
    }
    comm_entry(p, "Total Op Info", NULL, 0, &total);
    PUT(p, "}}");
    t->rows[TABLE_COMM]++;
}

/* Who sent how much to whom: by operator in old files, the largest of each kind in newer ones. */
static void matrix_step(struct to_tables *t)
{
    struct put *p = &t->put[TABLE_MATRIX];
    const struct step *step = &t->rank->step;
    bool seen[OP_COUNT] = {false}, has_one = false;

    PUTF(p, "%\"step%\": {\"p2p\": {}, \"collective\": {", Z(t->rows[TABLE_MATRIX] > 0 ? ", " : ""),
         N(step->number));
    for (size_t i = 0; i < step->tasks.n; i++) {
        const struct task *c = &step->tasks.at[i];
        static const char *const kinds[] = {"allreduce", "reducescatter", "allgather", "alltoallv"};
        if (c->kind != TASK_COMM || (!t->dialect.is_old && seen[c->op->code]))
            continue;
        seen[c->op->code] = true;
        PUTF(p, "%\"%%@%\": {", Z(has_one ? ", " : ""),
             Z(t->dialect.is_old ? c->name : kinds[c->op->code - OP_ALLREDUCE]),
             Z(t->dialect.is_old ? "" : "-top1"), Z(t->sim->group));
        for (int64_t peer = 0; peer < t->sim->world; peer++) {
            bool is_self = peer == t->rank->id;
            PUTF(p, "%\"%-%\": {\"Transport Type\": \"%\", \"Transit Size(MB)\": ",
                 Z(peer > 0 ? ", " : ""), N(t->rank->id), N(peer), Z(is_self ? "LOCAL" : "HCCS"));
            put_mb(p, c->bytes / t->sim->world);
            PUTF(p, ", \"Transit Time(ms)\": %, \"Bandwidth(GB/s)\": ", L(c->transit));
            bandwidth(p, c->bytes / t->sim->world, c->transit);
            PUTF(p, ", \"Op Name\": \"%\"}", Z(c->name));
        }
        PUT(p, "}");
        has_one = true;
    }
    PUT(p, "}}");
    t->rows[TABLE_MATRIX]++;
}

void to_tables_step(struct to_tables *t)
{
    const struct step *step = &t->rank->step;

    for (size_t i = 0; i < step->tasks.n; i++) {
        const struct task *task = &step->tasks.at[i];
        if (task->kind != TASK_KERNEL && task->kind != TASK_COMM)
            continue;
        for (int k = 0; k < 2; k++) {
            enum table table = k == 0 ? TABLE_KERNELS : TABLE_OP_SUMMARY;
            if (t->put[table].path == NULL)
                continue;
            to_kernels_row(&t->put[table], &t->dialect, k == 1, t->rank, task);
            t->rows[table]++;
        }
        if (t->put[TABLE_OPERATORS].path != NULL)
            operator_row(t, task);
    }
    if (t->put[TABLE_STEPS].path != NULL && step->is_marked)
        step_times(t, &t->truth->sets);
    if (t->put[TABLE_MEMORY].path != NULL)
        memory_rows(t);
    if (t->put[TABLE_COMM].path != NULL && step->is_marked)
        comm_step(t);
    if (t->put[TABLE_MATRIX].path != NULL && step->is_marked)
        matrix_step(t);
}

static void op_statistic(struct to_tables *t)
{
    struct put *p = &t->put[TABLE_OP_STATISTIC];
    struct truth_sum sums[OP_COUNT];
    size_t n = truth_sums(t->truth, true, sums);
    nanos all = 0;

    for (size_t i = 0; i < n; i++)
        all += sums[i].total.dur;
    for (size_t i = 0; i < n; i++) {
        const struct truth_total *total = &sums[i].total;
        bool is_comm = strcmp(sums[i].core, "COMM") == 0;
        if (t->dialect.is_new)
            PUTF(p, "%,", N(t->rank->id % 8));
        PUTF(p, "%,%,%,%,%,%,%,%\n", Z(sums[i].name),
             Z(is_comm ? t->dialect.comm_core : sums[i].core), N(total->count), M(total->dur),
             M(total->shortest), M(total->dur / total->count), M(total->longest),
             M(total->dur * 1000 / (all / 100 + 1)));
        t->rows[TABLE_OP_STATISTIC]++;
    }
}

void to_tables_end(struct to_tables *t)
{
    if (t->put[TABLE_COMM].path != NULL)
        PUT(&t->put[TABLE_COMM], "}");
    if (t->put[TABLE_MATRIX].path != NULL)
        PUT(&t->put[TABLE_MATRIX], "}");
    if (t->put[TABLE_OP_STATISTIC].path != NULL)
        op_statistic(t);
}

void to_tables_info(struct put *p, const struct sim *s, const struct rank *r, int64_t steps)
{
    const struct synth_options *o = s->options;
    const char *stack = o->stacks ? "true" : "false";
    const char *under = o->flavor == SYNTH_OLD ? "_" : "";

    PUT(p, "{\n    \"config\": {\n        \"common_config\": {\n            \"activities\": [\n"
           "                \"ProfilerActivity.CPU\",\n                \"ProfilerActivity.NPU\"\n"
           "            ],\n");
    PUTF(p,
         "            \"schedule\": {\n                \"%wait\": 0,\n                \"%active\": "
         "%,\n                \"%warmup\": 1,\n                \"%repeat\": 1,\n                "
         "\"%skip_first\": 0\n            },\n",
         Z(under), Z(under), N(steps), Z(under), Z(under), Z(under));
    PUTF(p,
         "            \"record_shapes\": true,\n            \"profile_memory\": true,\n"
         "            \"with_stack\": %,\n            \"with_flops\": false,\n            "
         "\"with_modules\": %\n        },\n        \"experimental_config\": {\n            "
         "\"_profiler_level\": \"Level%\",\n            \"_aic_metrics\": \"%\",\n",
         Z(stack), Z(stack), N(o->level),
         Z(o->level > 0 ? "ACL_AICORE_PIPE_UTILIZATION" : "ACL_AICORE_NONE"));
    PUTF(p,
         "            \"_l2_cache\": false,\n            \"_msprof_tx\": false,\n            "
         "\"_data_simplification\": true,\n            \"record_op_args\": false,\n            "
         "\"_export_type\": \"%\"\n        }\n    },\n",
         Z((o->formats & SYNTH_TEXT) != 0 ? "text" : "db"));
    PUTF(p,
         "    \"start_info\": {\n        \"syscnt_enable\": true,\n        \"freq\": 100,\n        "
         "\"start_cnt\": 17238197612056,\n        \"start_monotonic\": 172163581670080\n    },\n"
         "    \"end_info\": {\n        \"collectionTimeEnd\": %,\n        \"MonotonicTimeEnd\": "
         "172164265133640\n    },\n    \"rank_id\": %\n}\n",
         N(r->host), N(r->id));
}

void to_tables_metadata(struct put *p, const struct sim *s, const struct rank *r)
{
    PUTF(p,
         "{\n    \"ENV_VARIABLES\": {\n        \"ASCEND_LAUNCH_BLOCKING\": \"\"\n    },\n    "
         "\"distributed_args\": {\n        \"tensor_model_parallel_size\": 8,\n        \"rank\": "
         "%,\n        \"world_size\": %\n    },\n    \"parallel_group_info\": {\n        \"%\": "
         "{\n            \"group_name\": \"default_group\",\n            \"group_rank\": %,\n"
         "            \"global_ranks\": [",
         N(r->id), N(s->world), Z(s->group), N(r->id));
    for (int64_t i = 0; i < s->world; i++)
        PUTF(p, "%%", Z(i > 0 ? ", " : ""), N(i));
    PUT(p, "]\n        }\n    }\n}\n");
}
