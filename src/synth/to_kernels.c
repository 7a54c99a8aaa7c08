/*
 * to_kernels: rows of kernel_details.csv and of msprof's op_summary.
 */
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
    static const struct str summary =
        S_INIT("Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start "
               "Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 "
               "Eligible," SHAPES PMU_NEW);
    static const struct str level0 =
        S_INIT("Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block "
               "Dim");
    static const struct str old =
        S_INIT("Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),"
               "Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible," SHAPES PMU_OLD);
    static const struct str mid =
        S_INIT("Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start "
               "Time(us),Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 "
               "Eligible," SHAPES PMU_NEW);
    static const struct str new =
        S_INIT("Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,"
               "Start Time(us),Duration(us),Wait Time(us),Block Num,Mix Block Num,HF32 "
               "Eligible," SHAPES PMU_NEW);

    put_str(p, is_summary      ? summary
               : d->level == 0 ? level0
               : d->is_old     ? old
               : d->is_new     ? new
                               : mid);
    put_str(p, is_summary ? S("\n") : str_of(d->line_end));
}

static void missing(struct put *p, int columns)
{
    for (int i = 0; i < columns; i++)
        PUT(p, ",N/A");
}

/* A share of a time: ",time,ratio". */
static void share(struct put *p, nanos dur, int permille)
{
    PUTF(p, ",%,%", put_short(dur * permille / 1000), put_short(permille));
}

static void cube_pmu(struct put *p, const struct task *t)
{
    nanos busy = t->dur * 94 / 100;
    int mac = t->op->kind->mac;

    PUTF(p, ",%,%", put_short(busy), busy * 18 / 10 * t->op->kind->blocks);
    share(p, busy, mac);
    share(p, busy, 51);
    share(p, busy, 312);
    share(p, busy, mac > 700 ? 544 : 844);
    share(p, busy, 120);
    PUTF(p, ",%", put_short(4));
}

static void vector_pmu(struct put *p, const struct task *t, int part)
{
    nanos busy = t->dur * part / 100;

    PUTF(p, ",%,%", put_short(busy), busy * 18 / 10 * t->op->kind->blocks);
    share(p, busy, 188);
    share(p, busy, 85);
    share(p, busy, 585);
    share(p, busy, 201);
    PUTF(p, ",%", put_short(23));
}

static void pmu(struct put *p, bool is_old, const struct task *t)
{
    const struct op_kind *kind = t->op->kind;
    bool is_vector = strcmp(kind->core, "AI_VECTOR_CORE") == 0;

    if (t->kind == TASK_COMM || t->op->code == OP_AICPU) {
        missing(p, is_old ? PMU_OLD_COLUMNS : PMU_NEW_COLUMNS);
    } else if (is_old) {
        nanos cube = is_vector ? 0 : t->dur * 9 / 10, vector = is_vector ? t->dur * 9 / 10 : 0;
        PUTF(p, ",%,%,%,%", put_short(cube), cube * 18 / 10, put_short(vector), vector * 18 / 10);
    } else if (is_vector) {
        PUT(p, ",0.0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0");
        vector_pmu(p, t, 93);
        PUT(p, ",0");
    } else {
        cube_pmu(p, t);
        vector_pmu(p, t, strcmp(kind->core, "MIX_AIC") == 0 ? 30 : 0);
        PUTF(p, ",%", put_short((int64_t)kind->mac * 100));
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
    PUTF(p, ",%%%,%,%,%%%,%,%,N/A", quote, op->in, quote, op->kind->in_types,
         d->is_old ? op->in_formats_old : op->in_formats, quote, op->out, quote,
         op->kind->out_types, d->is_old ? op->out_formats_old : op->out_formats);
}

void to_kernels_row(struct put *p, const struct dialect *d, bool is_summary, const struct rank *r,
                    const struct task *t)
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
        PUTF(p, "4294967295,%,%", t->task_id, stream_number(t->stream));
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
