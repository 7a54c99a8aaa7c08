#include "gpu/inject/cupti.h"

#include <stdlib.h>
#include <string.h>

#include "base/asan.h"
#include "base/testing.h"

/* The first LITE of these are one group, all of them another; libcupti tells without a GPU how many
 * passes each takes on a chip. */
static const char *metrics[] = {
    "gpu__time_duration.sum",
    "sm__cycles_elapsed.max",
    "sm__cycles_active.avg",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "lts__t_sector_hit_rate.pct",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "smsp__warps_eligible.avg.per_cycle_active",
    "smsp__inst_executed.sum",
    "sm__inst_executed_pipe_tensor.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
};

enum { LITE = 8, STANDARD = sizeof(metrics) / sizeof(metrics[0]) };

static struct cupti cupti;

static int passes_of(const char *chip, size_t n, size_t *passes)
{
    struct cupti_host_params host = {.size = CUPTI_SIZE(cupti_host_params, host), .chip = chip};
    int result = cupti.ProfilerHostInitialize(&host);
    struct cupti_metrics_params list = {
        .size = CUPTI_SIZE(cupti_metrics_params, n), .host = host.host, .metrics = metrics, .n = n};

    if (result != CUPTI_OK || (result = cupti.ProfilerHostConfigAddMetrics(&list)) != CUPTI_OK)
        return result;
    struct cupti_image_size_params size = {.size = CUPTI_SIZE(cupti_image_size_params, bytes),
                                           .host = host.host};
    result = cupti.ProfilerHostGetConfigImageSize(&size);
    struct cupti_image_params image = {.size = CUPTI_SIZE(cupti_image_params, image),
                                       .host = host.host,
                                       .bytes = size.bytes,
                                       .image = calloc(1, size.bytes)};
    if (result == CUPTI_OK)
        result = cupti.ProfilerHostGetConfigImage(&image);
    struct cupti_passes_params count = {
        .size = CUPTI_SIZE(cupti_passes_params, passes), .bytes = size.bytes, .image = image.image};
    if (result == CUPTI_OK)
        result = cupti.ProfilerHostGetNumOfPasses(&count);
    *passes = count.passes;
    free(image.image);
    cupti.ProfilerHostDeinitialize(&(struct cupti_host_end_params){
        .size = CUPTI_SIZE(cupti_host_end_params, host), .host = host.host});
    return result;
}

TEST(passes_of_metric_groups_without_a_gpu)
{
    static const char *const chips[] = {"GA100", "GH100", "AD102", "GB100"};
    size_t passes = 0;
    char missing[256];

    /* The vendor's libraries are bound deeply, which the address sanitizer does not stand. */
    if (WITH_ASAN || !cupti_open(&cupti, missing, sizeof(missing)) ||
        cupti.ProfilerHostInitialize == NULL || cupti.ProfilerHostGetNumOfPasses == NULL)
        skip();
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        assert_int_equal(passes_of(chips[i], LITE, &passes), CUPTI_OK);
        assert_int_equal(passes, 1);
        assert_int_equal(passes_of(chips[i], STANDARD, &passes), CUPTI_OK);
        assert_int_equal(passes, 2);
    }
    assert_int_not_equal(passes_of("XX999", LITE, &passes), CUPTI_OK);
}

TEST(a_library_that_is_not_there_is_told)
{
    struct cupti none;
    char missing[256] = "";

    setenv("STRATA_CUPTI_PATH", "/nowhere/libcupti.so", 1);
    assert_false(cupti_open(&none, missing, sizeof(missing)));
    assert_non_null(strstr(missing, "not found"));
    unsetenv("STRATA_CUPTI_PATH");
}

TEST(results_have_words)
{
    assert_string_equal(cupti_result_code(35), "not-permitted");
    assert_string_equal(cupti_result_code(39), "other-profiler");
    assert_string_equal(cupti_result_code(43), "unsupported");
    assert_string_equal(cupti_result_code(999), "failed");
}

/* A library that is mapped is used before any other: the one that is not there comes first. */
TEST_MAIN("gpu/inject/cupti", T(a_library_that_is_not_there_is_told),
          T(passes_of_metric_groups_without_a_gpu), T(results_have_words))
