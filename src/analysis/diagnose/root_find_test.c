#include "analysis/diagnose/root_find.h"

#include "analysis/diagnose/diagnosis.h"
#include "analysis/diagnose/roof.h"
#include "analysis/diagnose/root_limits.h"
#include "analysis/diagnose/testing_diagnose.h"

/* Of a program without a framework, recorded by nsys. */
static const struct diagnosis *diagnose_native(void)
{
    cap->facts.vendor = VENDOR_NVIDIA;
    cap->facts.kind = capture_intern(cap, S("nsys"));
    cap->facts.device_name = capture_intern(cap, S("NVIDIA A100-SXM4-80GB"));
    start_study();
    study.options.step_choice = STEP_CHOICE_FOUND;
    return study_diagnosis(&study);
}

static const struct diagnosis_cause *listed(const struct diagnosis *d, const char *id)
{
    for (size_t i = 0; i < d->n_causes; i++)
        if (strcmp(d->causes[i].id, id) == 0)
            return &d->causes[i];
    return NULL;
}

/* ---- what is healthy ---- */

/* 100 kernels of a name back to back. */
static const struct diagnosis *run(const char *kernel)
{
    for (int i = 0; i < 100; i++)
        launch_named(kernel, i * MS, i * MS + 5 * US, i * MS + 6 * US, i * MS + 998 * US);
    return diagnose_native();
}

TEST(a_library_that_keeps_the_device_busy_is_healthy)
{
    assert_string_equal(run("cutlass_80_tensorop_s1688gemm_128x64")->verdict.id, "healthy");
}

/* Its name says what it computes, but not how well. */
TEST(a_product_that_somebody_wrote_is_not)
{
    const struct diagnosis *d = run("matmul_tiled(float *, float *)");

    assert_string_equal(d->verdict.id, "unknown");
    assert_true(str_find(d->text.english, S("kernels of unknown kind")) < d->text.english.n);
}

TEST(nor_is_a_recording_without_kernels)
{
    task("7", SLICE_COPY, "Memset (Device)", 0, 2 * US);
    assert_string_equal(diagnose_native()->verdict.id, "unknown");
}

/* ---- copies ---- */

/* Pinned copies that take nearly all of a short recording, and a kernel. */
static const struct diagnosis *copy(void)
{
    for (int i = 0; i < 4; i++) {
        nanos at = i * 100 * MS;
        uint32_t from = host(SLICE_RUNTIME, "cudaMemcpyAsync", at, at + 5 * US);
        capture_flow(
            cap, FLOW_LAUNCH, from,
            task("7", SLICE_COPY, "Memcpy HtoD (Pinned -> Device)", at + 6 * US, at + 95 * MS));
        launch_named("saxpy", at + 6 * US, at + 10 * US, at + 95 * MS, at + 96 * MS);
        host(SLICE_RUNTIME, "cudaStreamSynchronize", at + 11 * US, at + 96 * MS);
    }
    return diagnose_native();
}

/* What a repair saves nobody knows, but that copies run alone is a fact. */
TEST(copies_that_run_alone_are_named)
{
    const struct diagnosis *d = copy();

    assert_string_equal(d->verdict.id, "copy_exposed");
    assert_int_equal(d->verdict.bound, SAVING_AT_MOST);
    assert_int_equal(d->verdict.confidence, CONFIDENCE_POSSIBLE);
    assert_true(d->verdict.saving_share > 0.9);
}

/* ---- fills ---- */

TEST(memory_that_is_filled_again_and_again_is_named)
{
    for (int i = 0; i < 50; i++) {
        launch_named("saxpy", i * MS, i * MS + 5 * US, i * MS + 6 * US, i * MS + 700 * US);
        uint32_t from = host(SLICE_RUNTIME, "cudaMemsetAsync", i * MS + 6 * US, i * MS + 9 * US);
        capture_flow(
            cap, FLOW_LAUNCH, from,
            task("7", SLICE_COPY, "Memset (Device)", i * MS + 701 * US, i * MS + 999 * US));
    }
    const struct diagnosis_cause *c = listed(diagnose_native(), "fills");

    assert_non_null(c);
    assert_true(c->saving_share > 0.29 && c->saving_share < 0.31);
    assert_int_equal(c->bound, SAVING_AT_MOST);
}

/* ---- managed memory ---- */

/* A kernel, and `pages` of what it wrote, which the host reads one after the other. */
static const struct diagnosis *read_pages(int pages)
{
    launch_named("saxpy", 0, 5 * US, 6 * US, 10 * MS);
    for (int i = 0; i < pages; i++)
        task("7", SLICE_COPY, "Memcpy UM DtoH (Managed -> Managed)", (11 + i) * MS,
             (11 + i) * MS + 20 * US);
    return diagnose_native();
}

TEST(a_host_that_reads_managed_memory_is_told_by_its_migrations)
{
    const struct diagnosis *d = read_pages(40);

    assert_string_equal(d->verdict.id, "host_untraced");
    assert_int_equal(d->verdict.confidence, CONFIDENCE_POSSIBLE);
    assert_true(str_find(d->text.english, S("(40 migrations)")) < d->text.english.n);
}

TEST(a_few_pages_are_chance)
{
    assert_null(listed(read_pages(4), "host_untraced"));
}

/* ---- allocations ---- */

static void add_loop(nanos at, bool allocates)
{
    for (int i = 0; i < 20; i++, at += MS) {
        if (allocates) {
            host(SLICE_RUNTIME, "cudaMalloc", at, at + 150 * US);
            host(SLICE_RUNTIME, "cudaFree", at + 150 * US, at + 300 * US);
        }
        launch_named("saxpy", at + 300 * US, at + 306 * US, at + 307 * US, at + 990 * US);
    }
}

/* What is given back behind the last launch is the end of a program. */
TEST(frees_behind_all_work_are_no_matter_of_the_allocator)
{
    for (int i = 0; i < 10; i++)
        host(SLICE_RUNTIME, "cudaMalloc", i * MS, i * MS + 900 * US);
    add_loop(10 * MS, false);
    for (int i = 0; i < 10; i++)
        host(SLICE_RUNTIME, "cudaFree", 29400 * US + i * 50 * US, 29440 * US + i * 50 * US);
    assert_null(listed(diagnose_native(), "allocator"));
}

TEST(frees_between_launches_are)
{
    add_loop(0, true);
    assert_non_null(listed(diagnose_native(), "allocator"));
}

/* ---- clocks ---- */

/* Eight steps, the last three 30 % slower; `shapes`: what their operators take, or NULL. */
static const struct diagnosis *slow_down(const char *shapes)
{
    nanos at = 0;

    for (int step = 0; step < 8; step++) {
        nanos each = step < 5 ? MS : 1300 * US;
        step_mark(step, at, at + 10 * each);
        for (int i = 0; i < 10; i++, at += each) {
            if (shapes != NULL)
                shaped_op("aten::mm", shapes, "float;float", at, at + 9 * US);
            launch_named("ampere_sgemm_128x64_tn", at + US, at + 6 * US, at + 7 * US,
                         at + each - US);
        }
    }
    return diagnose_native();
}

TEST(equal_work_that_takes_longer_is_a_clock_drop)
{
    assert_non_null(listed(slow_down("512,512;512,512"), "clock_drop"));
}

/* Kernels of one name may do less and less. */
TEST(equal_names_are_no_equal_work)
{
    assert_null(listed(slow_down(NULL), "clock_drop"));
}

/* ---- the begin of a recording ---- */

/* One marked step: its second kernel waits long for something that was there before. */
TEST(what_the_first_work_of_a_recording_waits_for_is_no_cause)
{
    step_mark(0, 0, 500 * MS);
    launch_named("cutlass_gemm", 0, 5 * US, 6 * US, 10 * US);
    launch_named("cutlass_gemm", 12 * US, 17 * US, 400 * MS, 401 * MS);
    for (int i = 0; i < 99; i++)
        launch_named("cutlass_gemm", MS + i * 10 * US, MS + i * 10 * US + 5 * US,
                     (401 + i) * MS + US, (402 + i) * MS);
    const struct diagnosis *d = diagnose_native();

    assert_null(listed(d, "device_dependency"));
    assert_string_equal(d->verdict.id, "unknown");
}

/* ---- a start-up before steps that nobody marked ---- */

TEST(the_start_up_of_found_steps_is_one_of_the_run)
{
    nanos at = 0;

    launch_named("cutlass_gemm", at, at + 5 * US, at + 6 * US, at + 500 * US);
    launch_named("convolution", MS, 201 * MS, 201 * MS + US, 202 * MS);
    at = 202 * MS;
    for (int step = 0; step < 20; step++, at += 3 * MS) {
        host(SLICE_ANNOTATION, "enumerate(DataLoader)#__next__", at, at + 10 * US);
        launch_named("cutlass_gemm", at + 20 * US, at + 25 * US, at + 26 * US, at + MS);
        launch_named("elementwise", at + MS, at + MS + 5 * US, at + MS + 6 * US, at + 2 * MS);
        launch_named("softmax", at + 2 * MS, at + 2 * MS + 5 * US, at + 2 * MS + 6 * US,
                     at + 3 * MS - 5 * US);
        if (step == 0) { /* the loop's own first call */
            launch_named("layer_norm", at + 3 * MS, at + 63 * MS, at + 63 * MS + US, at + 64 * MS);
            at += 61 * MS;
        }
    }
    const struct diagnosis *d = diagnose_native();
    const struct diagnosis_cause *c = listed(d, "start_up");

    assert_false(d->is_pseudo);
    assert_non_null(c);
    assert_int_equal(c->base, BASE_RUN);
    assert_true(c->saving > 59 * MS && c->saving <= 61 * MS);
    assert_string_equal(d->verdict.id, "start_up");
    assert_int_equal(d->slow.step, SIZE_MAX); /* the first is no slow one */
}

/* ---- roofs ---- */

TEST(a_roof_is_what_the_vendor_reaches)
{
    const struct device *a100 = device_find(&device_builtin, S("A100-SXM4-80GB"));
    const struct device *mi300 = device_find(&device_builtin, S("AMD Instinct MI300X"));

    assert_int_equal(roof_percent(a100, ROOF_PRODUCT, PEAK_BF16, 0), 72);
    assert_int_equal(roof_percent(mi300, ROOF_PRODUCT, PEAK_BF16, 0), 54);
    assert_int_equal(roof_percent(mi300, ROOF_CONVOLUTION, PEAK_BF16, 0), 41); /* 55 * 54 / 72 */
    assert_int_equal(roof_percent(NULL, ROOF_PRODUCT, PEAK_BF16, 0), 72);
}

TEST_MAIN("analysis/diagnose/root_find", CASE(a_library_that_keeps_the_device_busy_is_healthy),
          CASE(a_product_that_somebody_wrote_is_not), CASE(nor_is_a_recording_without_kernels),
          CASE(copies_that_run_alone_are_named),
          CASE(memory_that_is_filled_again_and_again_is_named),
          CASE(a_host_that_reads_managed_memory_is_told_by_its_migrations),
          CASE(a_few_pages_are_chance), CASE(frees_behind_all_work_are_no_matter_of_the_allocator),
          CASE(frees_between_launches_are), CASE(equal_work_that_takes_longer_is_a_clock_drop),
          CASE(equal_names_are_no_equal_work),
          CASE(what_the_first_work_of_a_recording_waits_for_is_no_cause),
          CASE(the_start_up_of_found_steps_is_one_of_the_run),
          CASE(a_roof_is_what_the_vendor_reaches))
