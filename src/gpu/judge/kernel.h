/*
 * kernel - one launch of a GPU kernel: its name, its shape and what was counted.
 *
 * Whoever collects or imports fills these; rules, roofline and reports read them. A metric that
 * was not collected is NAN, never 0, and every value is in base units: ns, byte, hz, percent.
 * Texts belong to the arena of the run (gpu/collect/run.h).
 */
#ifndef STRATA_GPU_JUDGE_KERNEL_H
#define STRATA_GPU_JUDGE_KERNEL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/tables/vec.h"

enum gpu_metric {
#define GPU_METRIC(sym, name, unit, counters) GPU_M_##sym,
#include "gpu/collect/metrics.def"
#undef GPU_METRIC
};

enum {
    GPU_METRICS = GPU_M_SM_COUNT + 1,
    GPU_STALLS = 32, /* reasons kept; chips have some 20 */
};

/* Average warps that wait for one reason, per issued instruction. */
struct gpu_stall {
    struct str reason; /* "long_scoreboard" */
    double ratio;
};

/* One value as the tool printed it, in base units; kept so that an import loses nothing. */
struct gpu_value {
    struct str section; /* of a details page; else empty */
    struct str name, unit;
    struct str text; /* of a value that is no number, "n/a" included */
    double number;   /* NAN for those */
};

/* Advice of the tool. */
struct gpu_rule {
    struct str section, name, type, text; /* type: OPT, INF or WRN */
    struct str speedup_type;              /* "global", "local" or empty */
    double speedup;                       /* percent; NAN when none is given */
};

/* A source line or an instruction where warps were seen waiting. */
struct gpu_hot {
    struct str place; /* "file:line" or the address */
    struct str text;
    double samples, share, inst; /* share: percent of the kernel's samples */
    struct str stall;            /* the most frequent reason; empty when none */
};

struct gpu_kernel {
    uint64_t id;                            /* of the launch, within its run */
    uint64_t pid;                           /* of the process; 0: not known */
    struct str name;                        /* demangled where possible */
    struct str cc;                          /* "9.0"; empty when not known */
    struct str context, stream, device;     /* as the tool names them; may be empty */
    struct str nvtx;                        /* the range around the launch; may be empty */
    uint32_t grid[3], block[3], cluster[3]; /* 0: not known, or no cluster */
    uint64_t launches;                      /* that this one stands for; 0 is 1 */
    double total_ns;                        /* of all of them; NAN: launches times DUR_NS */
    double m[GPU_METRICS];
    struct gpu_stall stalls[GPU_STALLS];
    size_t n_stalls;
    VEC_OF(struct gpu_value) values;
    VEC_OF(struct gpu_rule) rules;
    VEC_OF(struct gpu_hot) hot_instructions, hot_lines;
};

/* A kernel with every metric missing. */
struct gpu_kernel gpu_kernel_none(void);
void gpu_kernel_free(struct gpu_kernel *k);

/* "dur_ns", "ns". */
const char *gpu_metric_name(enum gpu_metric metric);
const char *gpu_metric_unit(enum gpu_metric metric);

/* The metric that a counter feeds, and how good a name it is (0 the first); -1 when none does. */
int gpu_metric_of_counter(struct str counter, int *rank);

/* The metric with one of our own names; -1 when there is none. */
int gpu_metric_of_name(struct str name);

/* Reads "smsp__average_warps_issue_stalled_<reason>_per_issue_active.ratio", and the sum that it is
 * made of, "smsp__warps_issue_stalled_<reason>.sum"; false for others. */
bool gpu_stall_of_counter(struct str counter, struct str *reason);

/* Adds or replaces a stall reason; beyond GPU_STALLS it is dropped. */
void gpu_kernel_stall(struct gpu_kernel *k, struct str reason, double ratio);

/* The reason with the largest ratio besides "selected", and its share of all waiting (0 to 1).
 * False when stalls were not collected. */
bool gpu_kernel_top_stall(const struct gpu_kernel *k, struct str *reason, double *share);

/* Whether its launches took turns with the counters of annotation mode. */
bool gpu_kernel_took_turns(const struct gpu_kernel *k);

/* What a kernel with turns lacks of the counters that exclude causes, as it had too few launches:
 * "instruction mix", …; NULL: nothing, or it was counted in another way. */
const char *gpu_kernel_lacks(const struct gpu_kernel *k);

/* How many launches it stands for: 1 to UINT32_MAX, so that sums of them do not overflow. */
uint64_t gpu_kernel_launches(const struct gpu_kernel *k);

/* Time of all launches that it stands for, in ns; 0 when not known. */
double gpu_kernel_total(const struct gpu_kernel *k);

/* Blocks of the grid, threads of a block; 0 when not known. */
uint64_t gpu_kernel_blocks(const struct gpu_kernel *k);
uint64_t gpu_kernel_threads(const struct gpu_kernel *k);

/* Without the number of a size, "#2". A view into `name`. */
struct str gpu_function_name(struct str name);

/* Whether tensor instructions were issued: at least 0.1 % of the time; counters carry noise below
 * that. False when not collected. */
bool gpu_uses_tensor(const struct gpu_kernel *k);

/* Busy share of the pipes that compute, in percent, and the pipe's name: the tensor pipe where it
 * is used, unless another one is the limit. NAN when not collected. */
double gpu_compute_pct(const struct gpu_kernel *k, const char **pipe);

/* The part of the time in which multiprocessors had work; NAN: not collected. */
double gpu_active_part(const struct gpu_kernel *k);

/* Busy share of L1 and of L2 over elapsed cycles; worked out from active cycles, or by stand-ins,
 * when the throughput itself was not collected. */
double gpu_l1_pct(const struct gpu_kernel *k);
double gpu_l2_pct(const struct gpu_kernel *k);

/* The larger of the two, and which it is. NAN when neither was collected. */
double gpu_chip_pct(const struct gpu_kernel *k, const char **level);

/* How busy the busiest of them and of device memory is, and its name. NAN when none is known. */
double gpu_kernel_limit(const struct gpu_kernel *k, const char **unit);

/* Bytes moved to and from memory; sectors of local memory. NAN when not collected. */
double gpu_dram_bytes(const struct gpu_kernel *k);
double gpu_local_sectors(const struct gpu_kernel *k);

#endif
