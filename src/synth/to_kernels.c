#include "synth/to_kernels.h"

#define SHAPES                                                                                     \
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"  \
    "Context ID"
#define PMU_NEW                                                                                    \
    ",aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),"        \
    "aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,"          \
    "aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,"   \
    "aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),"       \
    "aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)"
#define PMU_OLD ",aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles"

enum { PMU_NEW_COLUMNS = 25, PMU_OLD_COLUMNS = 4 };

void to_kernels_head(struct put *p, const struct dialect *d, bool is_summary)
{
    if (is_summary) {
        PUT(p, "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start "
               "Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 "
               "Eligible," SHAPES PMU_NEW "\n");
        return;
    }
    if (d->level == 0)
        PUT(p, "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block "
               "Dim");
    else if (d->is_old)
        PUT(p, "Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),"
               "Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible," SHAPES PMU_OLD);
    else if (d->is_new)
        PUT(p, "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,"
               "Start Time(us),Duration(us),Wait Time(us),Block Num,Mix Block Num,HF32 "
               "Eligible," SHAPES PMU_NEW);
    else
        PUT(p, "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start "
               "Time(us),Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 "
               "Eligible," SHAPES PMU_NEW);
    put_str(p, str_of(d->line_end));
}

static void missing(struct put *p, int columns)
{
    for (int i = 0; i < columns; i++)
        PUT(p, ",N/A");
}

/* A share of a time: ",time,ratio". */
static void share(struct put *p, nanos dur, int permille)
{
    PUTF(p, ",%,%", M(dur * permille / 1000), M(permille));
}

static void cube_pmu(struct put *p, const struct task *t)
{
    nanos busy = t->dur * 94 / 100;
    int mac = t->op->kind->mac;

    PUTF(p, ",%,%", M(busy), N(busy * 18 / 10 * t->op->kind->blocks));
    share(p, busy, mac);
    share(p, busy, 51);
    share(p, busy, 312);
    share(p, busy, mac > 700 ? 544 : 844);
    share(p, busy, 120);
    PUTF(p, ",%", M(4));
}

static void vector_pmu(struct put *p, const struct task *t, int part)
{
    nanos busy = t->dur * part / 100;

    PUTF(p, ",%,%", M(busy), N(busy * 18 / 10 * t->op->kind->blocks));
    share(p, busy, 188);
    share(p, busy, 85);
    share(p, busy, 585);
    share(p, busy, 201);
    PUTF(p, ",%", M(23));
}

static void pmu(struct put *p, const struct dialect *d, bool is_old, const struct task *t)
{
    const struct op_kind *kind = t->op->kind;
    bool is_vector = strcmp(kind->core, "AI_VECTOR_CORE") == 0;

    (void)d;
    if (t->kind == TASK_COMM || t->op->code == OP_AICPU) {
        missing(p, is_old ? PMU_OLD_COLUMNS : PMU_NEW_COLUMNS);
    } else if (is_old) {
        nanos cube = is_vector ? 0 : t->dur * 9 / 10, vector = is_vector ? t->dur * 9 / 10 : 0;
        PUTF(p, ",%,%,%,%", M(cube), N(cube * 18 / 10), M(vector), N(vector * 18 / 10));
    } else if (is_vector) {
        PUT(p, ",0.0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0");
        vector_pmu(p, t, 93);
        PUT(p, ",0");
    } else {
        cube_pmu(p, t);
        vector_pmu(p, t, strcmp(kind->core, "MIX_AIC") == 0 ? 30 : 0);
        PUTF(p, ",%", M((int64_t)kind->mac * 100));
    }
}

/* Shapes were quoted once before the CSV writer quoted them again; msprof's own writer does not. */
static void shapes(struct put *p, const struct dialect *d, bool is_summary, const struct task *t)
{
    const struct op *op = t->op;
    const char *quote = is_summary ? "\"" : "\"\"\"";

    if (t->kind == TASK_COMM) {
        missing(p, 7);
        return;
    }
    PUTF(p, ",%%%,%,%,%%%,%,%,N/A", Z(quote), Z(op->in), Z(quote), Z(op->kind->in_types),
         Z(d->is_old ? op->in_formats_old : op->in_formats), Z(quote), Z(op->out), Z(quote),
         Z(op->kind->out_types), Z(d->is_old ? op->out_formats_old : op->out_formats));
}

static void ids(struct put *p, const struct task *t)
{
    if (t->kind == TASK_COMM)
        PUT(p, "4294967295,N/A,N/A");
    else
        PUTF(p, "4294967295,%,%", N(t->task_id), N(stream_number(t->stream)));
}

static void row_level0(struct put *p, const struct dialect *d, const struct task *t)
{
    PUTF(p, "%,N/A,%,%%,%,%,0%", Z(t->name), Z(t->kind == TASK_COMM ? d->comm_core : "N/A"),
         U(t->begin), Z(d->stamp_end), M(t->dur), M(t->wait), Z(d->line_end));
}

void to_kernels_row(struct put *p, const struct dialect *d, bool is_summary, const struct rank *r,
                    const struct task *t)
{
    const struct op_kind *kind = t->op->kind;
    bool is_comm = t->kind == TASK_COMM, is_mix = strncmp(kind->core, "MIX", 3) == 0;

    if (!is_summary) {
        if (r->step.is_marked)
            PUTF(p, "%", N(r->step.number));
        PUT(p, ",");
        if (d->level == 0) {
            row_level0(p, d, t);
            return;
        }
    }
    if (is_summary || d->is_new)
        PUTF(p, "%,", N(r->id % 8));
    ids(p, t);
    PUTF(p, ",%,%,", Z(t->name), Z(kind->type));
    if (is_summary || !d->is_old)
        PUTF(p, "%,", Z(is_comm ? "N/A" : "dynamic"));
    PUTF(p, "%,%%,%,%,%,", Z(is_comm ? d->comm_core : kind->core), U(t->begin),
         Z(is_summary ? "\t" : d->stamp_end), M(t->dur), M(t->wait), N(kind->blocks));
    if (is_comm)
        PUT(p, "N/A,N/A");
    else
        PUTF(p, "%,%", N(is_mix ? kind->blocks * 2 : 0),
             Z(strcmp(kind->core, "AI_CORE") == 0 ? "YES" : "NO"));
    shapes(p, d, is_summary, t);
    pmu(p, d, !is_summary && d->is_old, t);
    put_str(p, is_summary ? S("\n") : str_of(d->line_end));
}
