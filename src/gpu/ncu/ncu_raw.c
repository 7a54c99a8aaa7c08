/*
 * Pages with a row for each launch and a column for each metric: `--page raw`, and counters by
 * range.
 */
#include <math.h>

#include "base/text/num.h"
#include "gpu/ncu/ncu_page.h"

struct raw_column {
    int metric, rank; /* metric -1: none of ours */
    bool is_stall, is_left_out;
    struct str name, unit, stall;
    double factor;
};

static struct raw_column column_of(struct ncu_page *p, size_t i)
{
    struct str name = csv_header(&p->csv, i);
    struct raw_column c = {.factor = 1};

    c.metric = gpu_metric_of_counter(name, &c.rank);
    c.name = arena_str(p->in->arena, name);
    c.is_stall = gpu_stall_of_counter(c.name, &c.stall);
    /* Scratch, launch data, and what an earlier column told already. */
    c.is_left_out = str_starts(name, S("derived_tempMetric")) ||
                    csv_column(&p->csv, name) < (int)i ||
                    (p->kind == GPU_PAGE_RAW ? ncu_is_head(p, (int)i) : i < 2);
    return c;
}

/* One value; a better name of the same metric wins. */
static void keep_value(struct ncu_page *p, struct gpu_kernel *k, const struct raw_column *c,
                       struct str text, int rank[GPU_METRICS])
{
    struct gpu_value value = {.name = c->name, .unit = c->unit};

    if (text.n == 0 || c->is_left_out)
        return;
    ncu_read_value(p, text, c->factor, &value);
    ncu_keep_value(p, k, value);
    if (isnan(value.number))
        return;
    if (c->is_stall)
        gpu_kernel_stall(k, c->stall, value.number);
    if (c->metric >= 0 && c->rank < rank[c->metric]) {
        k->m[c->metric] = value.number;
        rank[c->metric] = c->rank;
    }
}

static double raw_value_of(const struct gpu_kernel *k, const char *name)
{
    for (size_t i = 0; i < k->values.n; i++)
        if (str_equal(k->values.at[i].name, str_of(name)))
            return k->values.at[i].number;
    return NAN;
}

/* Pages of --set full give instructions per cycle only: times the cycles they are counts. */
static void count_instructions(struct gpu_kernel *k)
{
    static const struct {
        const char *name;
        enum gpu_metric metric;
    } parts[] = {
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", GPU_M_FFMA},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed", GPU_M_FADD},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed", GPU_M_FMUL},
        {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.per_cycle_elapsed", GPU_M_HFMA},
        {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.per_cycle_elapsed", GPU_M_DFMA},
    };
    double elapsed = raw_value_of(k, "sm__cycles_elapsed.avg");

    for (size_t i = 0; i < ARRAY_LEN(parts) && !isnan(elapsed); i++)
        if (isnan(k->m[parts[i].metric]))
            k->m[parts[i].metric] = raw_value_of(k, parts[i].name) * elapsed;
}

/* Pages of older tools have no column for the shape of a launch, but counters. */
static void find_shape(struct gpu_kernel *k)
{
    static const struct {
        const char *name;
        size_t axis;
        bool is_block;
    } parts[] = {
        {"launch__grid_dim_x", 0, false}, {"launch__grid_dim_y", 1, false},
        {"launch__grid_dim_z", 2, false}, {"launch__block_dim_x", 0, true},
        {"launch__block_dim_y", 1, true}, {"launch__block_dim_z", 2, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        uint32_t *to = (parts[i].is_block ? k->block : k->grid) + parts[i].axis;
        double value = *to == 0 ? raw_value_of(k, parts[i].name) : NAN;
        if (value >= 1 && value <= UINT32_MAX)
            *to = num_u32_of(value);
    }
}

void ncu_read_launches(struct ncu_page *p)
{
    struct arena *arena = p->in->arena;
    size_t n = csv_header_count(&p->csv);
    struct raw_column *columns = ARENA_ARRAY(arena, struct raw_column, n + 1);
    bool is_units;

    for (size_t i = 0; i < n; i++)
        columns[i] = column_of(p, i);
    while (ncu_next(p, &is_units)) {
        int rank[GPU_METRICS];
        for (size_t i = 0; is_units && i < n; i++)
            columns[i].unit = arena_str(
                arena, gpu_base_unit(arena, csv_cell(&p->csv, (int)i), &columns[i].factor));
        if (is_units)
            continue;
        struct gpu_kernel *k = ncu_launch(p);
        for (size_t i = 0; i < GPU_METRICS; i++)
            rank[i] = INT32_MAX;
        for (size_t i = 0; i < n; i++)
            keep_value(p, k, &columns[i], csv_cell(&p->csv, (int)i), rank);
        count_instructions(k);
        find_shape(k);
        p->in->rows++;
    }
}
