#include "driver/workload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/testing_folder.h"

static struct workload_result shell(const char *script, struct workload run,
                                    struct workload_watch watch)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct workload_result result;

    run.argv = argv;
    run.label = "running";
    assert_int_equal(workload_run(&run, &watch, &arena, &result, &diag), ST_OK);
    return result;
}

TEST(the_environment_is_the_contract_of_the_injection_library)
{
    struct workload run = {.inject = INJECT_COUNTERS,
                           .injected = "/lib/x.so",
                           .trace_dir = fs_join(&arena, scratch, "trace"),
                           .kernels = "^a|^b",
                           .metrics = "m.sum,n.sum",
                           .skip = 1,
                           .per_kernel = 2,
                           .passes = 2,
                           .device = 3};
    struct workload_result r =
        shell("env | grep -E '^(CUDA_INJ|NVTX_INJ|STRATA_INJECT_|STRATA_TRACE)' | sort; "
              "test -d \"$STRATA_TRACE_DIR\"",
              run, (struct workload_watch){0});

    assert_int_equal(r.end, WORKLOAD_DONE);
    assert_string_equal(r.out.at, arena_printf(&arena,
                                               "CUDA_INJECTION64_PATH=/lib/x.so\n"
                                               "NVTX_INJECTION64_PATH=/lib/x.so\n"
                                               "STRATA_INJECT_COUNT=0\n"
                                               "STRATA_INJECT_DEVICE=3\n"
                                               "STRATA_INJECT_KERNEL=^a|^b\n"
                                               "STRATA_INJECT_METRICS=m.sum,n.sum\n"
                                               "STRATA_INJECT_MODE=counters\n"
                                               "STRATA_INJECT_PASSES=2\n"
                                               "STRATA_INJECT_PER_KERNEL=2\n"
                                               "STRATA_INJECT_REPLAY=0\n"
                                               "STRATA_INJECT_SKIP=1\n"
                                               "STRATA_TRACE_DIR=%s/trace\n",
                                               scratch));
}

TEST(ends_of_programs_are_told_apart)
{
    struct workload_watch watch = {.limit_ms = 300};

    assert_int_equal(shell("exit 3", (struct workload){0}, watch).code, 3);
    assert_int_equal(diag_count(&diag, "gpu.workload"), 1);
    assert_int_equal(shell("kill -SEGV $$", (struct workload){0}, watch).signal, SIGSEGV);
    assert_int_equal(shell("sleep 9", (struct workload){0}, watch).end, WORKLOAD_LATE);
    assert_int_equal(diag_count(&diag, "gpu.timeout"), 1);
}

TEST(a_program_that_is_not_there_is_told)
{
    const char *const argv[] = {"/nowhere/demo", NULL};
    struct workload_watch watch = {0};
    struct workload_result r;

    workload_run(&(struct workload){.argv = argv}, &watch, &arena, &r, &diag);
    assert_int_equal(r.end, WORKLOAD_MISSING);
    assert_int_equal(diag_count(&diag, "tool.missing"), 1);
}

TEST(a_recording_that_stands_still_is_ended)
{
    struct workload run = {.inject = INJECT_COUNTERS,
                           .injected = "/lib/x.so",
                           .trace_dir = fs_join(&arena, scratch, "trace")};
    struct workload_watch watch = {.silence_ms = 700};

    /* Before the first record nothing is known to hang. */
    assert_int_equal(shell("sleep 2", run, watch).end, WORKLOAD_DONE);
    struct workload_result r =
        shell("echo x > $STRATA_TRACE_DIR/trace-1.strata; sleep 20", run, watch);
    assert_int_equal(r.end, WORKLOAD_HUNG);
    assert_int_equal(r.recorded, 2);
    assert_int_equal(diag_count(&diag, "gpu.hung"), 1);
}

TEST(a_program_that_computes_on_its_own_does_not_hang)
{
    struct nvml nvml;
    struct nvml_gpu *gpu = NULL;
    struct workload run = {.inject = INJECT_COUNTERS,
                           .injected = "/lib/x.so",
                           .trace_dir = fs_join(&arena, scratch, "trace")};
    const char *script = "echo x > $STRATA_TRACE_DIR/trace-1.strata; sleep 2.5";

    assert_int_equal(nvml_open(&nvml, &arena, NULL), NVML_OK);
    assert_int_equal(nvml.by_index(0, &gpu), NVML_OK);
    struct workload_watch watch = {.silence_ms = 700, .nvml = &nvml, .gpu = gpu};
    setenv("FAKE_NVML_BUSY", "0", 1);
    assert_int_equal(shell(script, run, watch).end, WORKLOAD_DONE);
    setenv("FAKE_NVML_BUSY", "100", 1);
    assert_int_equal(shell(script, run, watch).end, WORKLOAD_HUNG);
    nvml_close(&nvml);
}

TEST_MAIN("driver/workload", TS(the_environment_is_the_contract_of_the_injection_library),
          TS(ends_of_programs_are_told_apart), TS(a_program_that_is_not_there_is_told),
          TS(a_recording_that_stands_still_is_ended),
          TS(a_program_that_computes_on_its_own_does_not_hang))
