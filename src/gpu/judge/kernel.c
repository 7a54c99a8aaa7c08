/*
 * Metrics of a kernel and what follows from them. See kernel.h.
 */
#include "gpu/judge/kernel.h"

#include <math.h>

#include "base/text/char.h"

static const struct metric {
    const char *name, *unit, *counters;
} metrics[] = {
#define GPU_METRIC(sym, name, unit, counters) {name, unit, counters},
#include "gpu/collect/metrics.def"
#undef GPU_METRIC
};

static const struct str stall_prefix = S_INIT("smsp__average_warps_issue_stalled_"),
                        stall_suffix = S_INIT("_per_issue_active.ratio");

struct gpu_kernel gpu_kernel_none(void)
{
    struct gpu_kernel k = {.total_ns = NAN};

    for (size_t i = 0; i < GPU_METRICS; i++)
        k.m[i] = (double)NAN;
    return k;
}

void gpu_kernel_free(struct gpu_kernel *k)
{
    vec_free(&k->values);
    vec_free(&k->rules);
    vec_free(&k->hot_instructions);
    vec_free(&k->hot_lines);
}

const char *gpu_metric_name(enum gpu_metric metric)
{
    return metrics[metric].name;
}

const char *gpu_metric_unit(enum gpu_metric metric)
{
    return metrics[metric].unit;
}

int gpu_metric_of_counter(struct str counter, int *rank)
{
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
        struct str rest = str_of(metrics[i].counters), one;
        for (*rank = 0; str_split(&rest, '|', &one); ++*rank)
            if (one.n > 0 && str_equal(one, counter))
                return (int)i;
    }
    return -1;
}

int gpu_metric_of_name(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
        if (str_equal(name, str_of(metrics[i].name)))
            return (int)i;
    return -1;
}

static bool is_between(struct str text, struct str prefix, struct str suffix, struct str *between)
{
    if (!str_starts(text, prefix) || !str_ends(text, suffix) || text.n <= prefix.n + suffix.n)
        return false;
    *between = str_part(text, prefix.n, text.n - prefix.n - suffix.n);
    return true;
}

bool gpu_stall_of_counter(struct str counter, struct str *reason)
{
    return is_between(counter, stall_prefix, stall_suffix, reason) ||
           is_between(counter, S("smsp__warps_issue_stalled_"), S(".sum"), reason);
}

void gpu_kernel_stall(struct gpu_kernel *k, struct str reason, double ratio)
{
    for (size_t i = 0; i < k->n_stalls; i++)
        if (str_equal(k->stalls[i].reason, reason)) {
            k->stalls[i].ratio = ratio;
            return;
        }
    if (k->n_stalls < GPU_STALLS)
        k->stalls[k->n_stalls++] = (struct gpu_stall){reason, ratio};
}

bool gpu_kernel_top_stall(const struct gpu_kernel *k, struct str *reason, double *share)
{
    double total = 0, best = 0;

    for (size_t i = 0; i < k->n_stalls; i++) {
        /* The selected warp is the one that issues: it does not wait. */
        if (!(k->stalls[i].ratio > 0) || str_equal(k->stalls[i].reason, S("selected")))
            continue;
        total += k->stalls[i].ratio;
        if (k->stalls[i].ratio > best) {
            best = k->stalls[i].ratio;
            *reason = k->stalls[i].reason;
        }
    }
    if (!(total > 0))
        return false;
    *share = best / total;
    return true;
}

bool gpu_kernel_took_turns(const struct gpu_kernel *k)
{
    return !isnan(k->m[GPU_M_BUFFER_BYTES]) || !isnan(k->m[GPU_M_THREAD_INST_ON]);
}

/* Any of the metrics, up to SM_COUNT, which is a launch resource. */
static bool misses(const struct gpu_kernel *k, const enum gpu_metric *list)
{
    for (; *list != GPU_M_SM_COUNT; list++)
        if (isnan(k->m[*list]))
            return true;
    return false;
}

#define METRICS(...) ((const enum gpu_metric[]){__VA_ARGS__, GPU_M_SM_COUNT})

static bool misses_stalls(const struct gpu_kernel *k)
{
    static const struct str reasons[] = {S_INIT("barrier"),
                                         S_INIT("long_scoreboard"),
                                         S_INIT("short_scoreboard"),
                                         S_INIT("mio_throttle"),
                                         S_INIT("wait"),
                                         S_INIT("no_instruction")};

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        bool is_known = false;
        for (size_t s = 0; s < k->n_stalls; s++)
            is_known |= str_equal(k->stalls[s].reason, reasons[i]) && !isnan(k->stalls[s].ratio);
        if (!is_known)
            return true;
    }
    return false;
}

const char *gpu_kernel_lacks(const struct gpu_kernel *k)
{
    bool has_atomics = k->m[GPU_M_GLOBAL_RED] + k->m[GPU_M_GLOBAL_ATOM] > 0;

    if (!gpu_kernel_took_turns(k))
        return NULL;
    if (misses(k, METRICS(GPU_M_SM_CYCLES, GPU_M_SM_ACTIVE, GPU_M_DRAM_PCT, GPU_M_DRAM_RD,
                          GPU_M_DRAM_WR, GPU_M_TC_PCT, GPU_M_OCC, GPU_M_ISSUE_PCT, GPU_M_FMA_PCT,
                          GPU_M_ALU_PCT, GPU_M_XU_PCT)) ||
        isnan(gpu_l1_pct(k)) || isnan(gpu_l2_pct(k)))
        return "busy units";
    if (misses(k, METRICS(GPU_M_INST, GPU_M_THREAD_INST, GPU_M_THREAD_INST_ON, GPU_M_FFMA,
                          GPU_M_HFMA, GPU_M_HALF_OPS, GPU_M_DOUBLE_OPS, GPU_M_INTEGER,
                          GPU_M_CONVERSION, GPU_M_CONTROL, GPU_M_MEMORY_INST)))
        return "instruction mix";
    if (misses(k, METRICS(GPU_M_GLOBAL_LD, GPU_M_GLOBAL_ST, GPU_M_GLOBAL_RED, GPU_M_GLOBAL_ATOM,
                          GPU_M_GLOBAL_LD_BYTES, GPU_M_GLOBAL_ST_BYTES, GPU_M_GLOBAL_LD_SECT,
                          GPU_M_GLOBAL_ST_SECT, GPU_M_LOCAL_LD, GPU_M_LOCAL_ST, GPU_M_SHARED_LD,
                          GPU_M_SHARED_ATOM, GPU_M_SHARED_ATOM_WAVES)))
        return "memory access";
    if (misses(k, METRICS(GPU_M_L2_HIT, GPU_M_L1_SECT)))
        return "cache sectors";
    if (misses(k, METRICS(GPU_M_CONFLICTS, GPU_M_WAVEFRONTS)))
        return "bank conflicts";
    if (has_atomics && misses(k, METRICS(GPU_M_ATOMIC_PCT, GPU_M_ATOMIC_MAX_PCT)))
        return "atomics";
    if (k->m[GPU_M_TC_PCT] >= 0.1 && isnan(k->m[GPU_M_TC_INST]))
        return "tensor operations";
    return misses_stalls(k) ? "stall reasons" : NULL;
}

uint64_t gpu_kernel_launches(const struct gpu_kernel *k)
{
    return k->launches == 0 ? 1 : k->launches < UINT32_MAX ? k->launches : UINT32_MAX;
}

double gpu_kernel_total(const struct gpu_kernel *k)
{
    double total =
        isnan(k->total_ns) ? k->m[GPU_M_DUR_NS] * (k->launches > 0 ? k->launches : 1) : k->total_ns;

    return total > 0 ? total : 0;
}

static uint64_t product(const uint32_t dims[3])
{
    uint64_t xy = (uint64_t)dims[0] * dims[1], xyz;

    return __builtin_mul_overflow(xy, dims[2], &xyz) ? UINT64_MAX : xyz;
}

uint64_t gpu_kernel_blocks(const struct gpu_kernel *k)
{
    return product(k->grid);
}

uint64_t gpu_kernel_threads(const struct gpu_kernel *k)
{
    return product(k->block);
}

struct str gpu_function_name(struct str name)
{
    size_t n = name.n - str_last_digits(name);
    bool has_number = n < name.n && n > 1 && name.at[n - 1] == '#';

    return has_number ? str_part(name, 0, n - 1) : name;
}

bool gpu_uses_tensor(const struct gpu_kernel *k)
{
    /* Some instructions for half precision run in the tensor pipe, too. */
    double scalar = k->m[GPU_M_HALF_OPS] * k->m[GPU_M_INST] / k->m[GPU_M_THREAD_INST];

    if (!isnan(k->m[GPU_M_TC_PCT]))
        return k->m[GPU_M_TC_PCT] >= 0.1 && !(k->m[GPU_M_TC_INST] < 1.5 * scalar);
    return k->m[GPU_M_TC_INST] > 0;
}

#define PIPE_AT_LIMIT 60.0 /* percent: as busy as a pipe that bounds a kernel */

double gpu_compute_pct(const struct gpu_kernel *k, const char **pipe)
{
    static const struct {
        enum gpu_metric metric;
        const char *name;
    } pipes[] = {{GPU_M_FMA_PCT, "fma"},
                 {GPU_M_ALU_PCT, "alu"},
                 {GPU_M_FP64_PCT, "fp64"},
                 {GPU_M_XU_PCT, "xu"}};
    double best = (double)NAN, tensor = k->m[GPU_M_TC_PCT];

    for (size_t i = 0; i < ARRAY_LEN(pipes); i++) {
        double pct = k->m[pipes[i].metric];
        if (!isnan(pct) && !(pct <= best)) {
            best = pct;
            *pipe = pipes[i].name;
        }
    }
    /* Whether they are scalar halves may not have been counted. */
    bool is_seen = !gpu_kernel_took_turns(k) || !isnan(k->m[GPU_M_TC_INST] * k->m[GPU_M_HALF_OPS]);
    bool is_other = best > tensor && (best >= PIPE_AT_LIMIT || !is_seen);
    if (tensor >= 0.1 && gpu_uses_tensor(k) && !is_other) {
        *pipe = "tensor";
        return tensor;
    }
    if (isnan(best)) {
        best = k->m[GPU_M_SM_PCT];
        *pipe = "sm";
    }
    return best;
}

double gpu_active_part(const struct gpu_kernel *k)
{
    return k->m[GPU_M_SM_ACTIVE] / k->m[GPU_M_SM_CYCLES];
}

double gpu_l1_pct(const struct gpu_kernel *k)
{
    double active = gpu_active_part(k);

    if (!isnan(k->m[GPU_M_L1_PCT]))
        return k->m[GPU_M_L1_PCT];
    /* Rules want elapsed cycles: a kernel of few blocks leaves most multiprocessors idle. */
    if (!isnan(k->m[GPU_M_L1_ACTIVE_PCT]))
        return k->m[GPU_M_L1_ACTIVE_PCT] * (active < 1 ? active : 1);
    return k->m[GPU_M_L1_LSU_PCT];
}

double gpu_l2_pct(const struct gpu_kernel *k)
{
    double parts = fmax(fmax(k->m[GPU_M_L2_TAG_PCT], k->m[GPU_M_L2_DATA_PCT]),
                        k->m[GPU_M_L2_XBAR_PCT]); /* fmax passes over what is missing */

    return isnan(k->m[GPU_M_L2_PCT]) ? parts : k->m[GPU_M_L2_PCT];
}

double gpu_chip_pct(const struct gpu_kernel *k, const char **level)
{
    double l1 = gpu_l1_pct(k), l2 = gpu_l2_pct(k);

    *level = isnan(l1) || l2 > l1 ? "l2" : "l1";
    return fmax(l1, l2);
}

#define GPU_TENSOR_BUSY 75.0 /* percent: as busy as products of matrices make them */

double gpu_kernel_limit(const struct gpu_kernel *k, const char **unit)
{
    const char *pipe, *level;
    double comp = gpu_compute_pct(k, &pipe), chip = gpu_chip_pct(k, &level);
    double busiest = fmax(fmax(comp, k->m[GPU_M_DRAM_PCT]), chip);

    /* Products feed the tensor cores from L1: both are busy, and the first is what they are for. */
    if (gpu_uses_tensor(k) && comp >= GPU_TENSOR_BUSY && strcmp(pipe, "tensor") == 0)
        busiest = comp;
    *unit = comp == busiest ? pipe : chip == busiest ? level : "dram";
    return busiest;
}

double gpu_dram_bytes(const struct gpu_kernel *k)
{
    double counted = k->m[GPU_M_DRAM_RD] + k->m[GPU_M_DRAM_WR];

    return isnan(counted) ? k->m[GPU_M_DRAM_RATE] * k->m[GPU_M_DUR_NS] / 1e9 : counted;
}

double gpu_local_sectors(const struct gpu_kernel *k)
{
    return k->m[GPU_M_LOCAL_LD] + k->m[GPU_M_LOCAL_ST];
}
