/*
 * The details page: a row for each metric or rule of a launch. Metrics are known by the names that
 * people see, which occur in several sections: the pair is the key.
 */
#include <math.h>

#include "base/text/num.h"
#include "gpu/ncu/ncu_page.h"

#define SOL       S_INIT("GPU Speed Of Light Throughput")
#define MEMORY    S_INIT("Memory Workload Analysis")
#define LAUNCH    S_INIT("Launch Statistics")
#define OCCUPANCY S_INIT("Occupancy")
#define SCHEDULER S_INIT("Scheduler Statistics")

static const struct {
    struct str section, name;
    enum gpu_metric metric;
} displays[] = {
    {SOL, S_INIT("Duration"), GPU_M_DUR_NS},
    {SOL, S_INIT("Elapsed Cycles"), GPU_M_SM_CYCLES},
    {SOL, S_INIT("SM Active Cycles"), GPU_M_SM_ACTIVE},
    {SOL, S_INIT("SM Frequency"), GPU_M_SM_CLOCK_HZ},
    {SOL, S_INIT("Compute (SM) Throughput"), GPU_M_SM_PCT},
    {SOL, S_INIT("DRAM Throughput"), GPU_M_DRAM_PCT},
    {SOL, S_INIT("L1/TEX Cache Throughput"), GPU_M_L1_ACTIVE_PCT},
    {SOL, S_INIT("L2 Cache Throughput"), GPU_M_L2_PCT},
    /* Up to version 2021. */
    {SOL, S_INIT("SM [%]"), GPU_M_SM_PCT},
    {SOL, S_INIT("SOL SM"), GPU_M_SM_PCT},
    {SOL, S_INIT("SOL DRAM"), GPU_M_DRAM_PCT},
    {SOL, S_INIT("SOL L1/TEX Cache"), GPU_M_L1_ACTIVE_PCT},
    {SOL, S_INIT("SOL L2 Cache"), GPU_M_L2_PCT},
    {MEMORY, S_INIT("Memory Throughput"), GPU_M_DRAM_RATE},
    {MEMORY, S_INIT("L1/TEX Hit Rate"), GPU_M_L1_HIT},
    {MEMORY, S_INIT("L2 Hit Rate"), GPU_M_L2_HIT},
    {MEMORY, S_INIT("Local Memory Spilling Requests"), GPU_M_SPILL_REQ},
    {OCCUPANCY, S_INIT("Achieved Occupancy"), GPU_M_OCC},
    {OCCUPANCY, S_INIT("Theoretical Occupancy"), GPU_M_OCC_THEORY},
    {OCCUPANCY, S_INIT("Block Limit Registers"), GPU_M_LIM_REGS},
    {OCCUPANCY, S_INIT("Block Limit Shared Mem"), GPU_M_LIM_SMEM},
    {OCCUPANCY, S_INIT("Block Limit Warps"), GPU_M_LIM_WARPS},
    {OCCUPANCY, S_INIT("Block Limit SM"), GPU_M_LIM_BLOCKS},
    {OCCUPANCY, S_INIT("Block Limit Barriers"), GPU_M_LIM_BARRIERS},
    {LAUNCH, S_INIT("Waves Per SM"), GPU_M_WAVES},
    {LAUNCH, S_INIT("Registers Per Thread"), GPU_M_REGS},
    {LAUNCH, S_INIT("# SMs"), GPU_M_SM_COUNT},
    {LAUNCH, S_INIT("Static Shared Memory Per Block"), GPU_M_SMEM_STATIC},
    {LAUNCH, S_INIT("Dynamic Shared Memory Per Block"), GPU_M_SMEM_DYNAMIC},
    {LAUNCH, S_INIT("Shared Memory Configuration Size"), GPU_M_SMEM_CONFIG},
    {SCHEDULER, S_INIT("Eligible Warps Per Scheduler"), GPU_M_ELIGIBLE},
};

struct details {
    int section, name, unit, value, rule, type, text, speedup_type, speedup;
};

static int metric_of(struct str section, struct str name)
{
    int rank;

    if (str_equal(section, S("GPU Speed Of Light"))) /* so until version 2021 */
        section = displays[0].section;
    for (size_t i = 0; i < ARRAY_LEN(displays); i++)
        if (str_equal(displays[i].section, section) && str_equal(displays[i].name, name))
            return (int)displays[i].metric;
    return gpu_metric_of_counter(name, &rank); /* of a run with --metrics */
}

static void read_rule(struct ncu_page *p, const struct details *c, struct gpu_kernel *k)
{
    struct gpu_rule rule = {
        .section = ncu_keep(p, csv_cell(&p->csv, c->section)),
        .name = ncu_keep(p, csv_cell(&p->csv, c->rule)),
        .type = ncu_keep(p, csv_cell(&p->csv, c->type)),
        .text = ncu_keep(p, csv_cell(&p->csv, c->text)),
        .speedup_type = ncu_keep(p, csv_cell(&p->csv, c->speedup_type)),
        .speedup = NAN,
    };

    gpu_number(csv_cell(&p->csv, c->speedup), p->style, &rule.speedup);
    vec_push(&k->rules, rule);
}

/* Pages of older tools have no column for the shape of a launch, only its size. */
static void find_shape(struct gpu_kernel *k, const struct gpu_value *v)
{
    uint32_t *to = str_equal(v->name, S("Grid Size"))    ? k->grid
                   : str_equal(v->name, S("Block Size")) ? k->block
                                                         : NULL;

    if (to == NULL || to[0] > 0 || !(v->number >= 1 && v->number <= UINT32_MAX))
        return;
    to[0] = num_u32_of(v->number);
    to[1] = to[2] = 1;
}

static void read_metric(struct ncu_page *p, const struct details *c, struct gpu_kernel *k)
{
    double factor;
    struct gpu_value value = {
        .section = ncu_keep(p, csv_cell(&p->csv, c->section)),
        .name = ncu_keep(p, csv_cell(&p->csv, c->name)),
        .unit = arena_str(p->in->arena,
                          gpu_base_unit(p->in->arena, csv_cell(&p->csv, c->unit), &factor)),
    };
    int metric = metric_of(value.section, value.name);
    bool has_raw = (p->in->known.at[p->current].kinds & 1u << GPU_PAGE_RAW) != 0;
    struct str stall;

    ncu_read_value(p, csv_cell(&p->csv, c->value), factor, &value);
    ncu_keep_value(p, k, value);
    if (isnan(value.number))
        return;
    if (gpu_stall_of_counter(value.name, &stall))
        gpu_kernel_stall(k, stall, value.number);
    /* The raw page has all digits. */
    if (metric >= 0 && !(has_raw && !isnan(k->m[metric])))
        k->m[metric] = value.number;
    if (str_equal(value.section, S("Scheduler Statistics")) &&
        str_equal(value.name, S("No Eligible")) && isnan(k->m[GPU_M_ISSUE_PCT]))
        k->m[GPU_M_ISSUE_PCT] = 100 - value.number;
    if (str_equal(value.name, S(NCU_INVOCATIONS)) && value.number >= 1 && value.number < UINT32_MAX)
        k->launches = num_u64_of(value.number);
    find_shape(k, &value);
}

void ncu_read_details(struct ncu_page *p)
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
    bool is_units;

    while (ncu_next(p, &is_units)) {
        struct gpu_kernel *k = ncu_launch(p);
        if (csv_cell(&p->csv, c.rule).n > 0)
            read_rule(p, &c, k);
        else if (csv_cell(&p->csv, c.name).n > 0)
            read_metric(p, &c, k);
        p->in->rows++;
    }
}
