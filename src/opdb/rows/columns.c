/*
 * The names of columns.
 */
#include "opdb/rows/columns.h"

#define BLOCK_B                                                                                    \
    S_INIT("OP State"), S_INIT("Accelerator Core"), S_INIT("Input Shapes"),                        \
        S_INIT("Input Data Types"), S_INIT("Input Formats"), S_INIT("Output Shapes"),              \
        S_INIT("Output Data Types"), S_INIT("Output Formats")

const struct str column_identity[SIGNATURE_CELLS] = {BLOCK_B, S_INIT("OP Type"), S_INIT("EP Size")};

/* X(name) for each counter, in the order of the tables. */
#define COUNTERS(X)                                                                                \
    X("aicore_time(us)")                                                                           \
    X("aic_total_cycles")                                                                          \
    X("aic_mac_time(us)")                                                                          \
    X("aic_mac_ratio")                                                                             \
    X("aic_scalar_time(us)")                                                                       \
    X("aic_scalar_ratio")                                                                          \
    X("aic_mte1_time(us)")                                                                         \
    X("aic_mte1_ratio")                                                                            \
    X("aic_mte2_time(us)")                                                                         \
    X("aic_mte2_ratio")                                                                            \
    X("aic_fixpipe_time(us)")                                                                      \
    X("aic_fixpipe_ratio")                                                                         \
    X("aic_icache_miss_rate")                                                                      \
    X("aiv_time(us)")                                                                              \
    X("aiv_total_cycles")                                                                          \
    X("aiv_vec_time(us)")                                                                          \
    X("aiv_vec_ratio")                                                                             \
    X("aiv_scalar_time(us)")                                                                       \
    X("aiv_scalar_ratio")                                                                          \
    X("aiv_mte2_time(us)")                                                                         \
    X("aiv_mte2_ratio")                                                                            \
    X("aiv_mte3_time(us)")                                                                         \
    X("aiv_mte3_ratio")                                                                            \
    X("aiv_icache_miss_rate")                                                                      \
    X("cube_utilization(%)")

#define PLAIN(name)    S_INIT(name),
#define PROFILED(name) S_INIT("Profiling Average " name),
#define BENCH(name)    S_INIT("MicroBench " name),

const struct str column_counter[COUNTER_N] = {COUNTERS(PLAIN)};
const struct str column_profiled[COUNTER_N] = {COUNTERS(PROFILED)};
const struct str column_bench[COUNTER_N] = {COUNTERS(BENCH)};

const struct str column_runtime[RUNTIME_N] = {S_INIT("Runtime source_profile"),
                                              S_INIT("Runtime actual_seq_lengths_shape"),
                                              S_INIT("Runtime actual_seq_lengths_values"),
                                              S_INIT("Runtime actual_seq_lengths_kv_shape"),
                                              S_INIT("Runtime actual_seq_lengths_kv_values"),
                                              S_INIT("Runtime avg_seq_len"),
                                              S_INIT("Runtime block_table_shape"),
                                              S_INIT("Runtime block_table_valid_blocks"),
                                              S_INIT("Runtime num_heads"),
                                              S_INIT("Runtime num_key_value_heads"),
                                              S_INIT("Runtime sparse_mode"),
                                              S_INIT("Runtime input_layout"),
                                              S_INIT("Runtime block_size"),
                                              S_INIT("Runtime attn_state"),
                                              S_INIT("Runtime kv_cache_mode"),
                                              S_INIT("Runtime metadata_completeness")};

static const struct str parsed[] = {BLOCK_B, S_INIT("Profiling Average Duration(us)"),
                                    S_INIT("Profiling Median Duration(us)"),
                                    S_INIT("Profiling Std Duration(us)"), COUNTERS(PROFILED)};

const struct str *columns_parsed(void)
{
    _Static_assert(ARRAY_LEN(parsed) == PARSED_N, "the columns of section B, durations and C");
    return parsed;
}
