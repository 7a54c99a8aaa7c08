#include "analysis/steps/step_units.h"

#include <stdio.h>

#include "analysis/testing_study.h"

static uint32_t on_host(enum slice_kind kind, const char *name, nanos begin, nanos end)
{
    struct lane_key key = {.kind = LANE_THREAD, .tid = 1};

    return capture_slice(cap, &(struct slice){.begin = begin,
                                              .dur = end - begin,
                                              .lane = capture_lane(cap, key),
                                              .kind = kind,
                                              .name = capture_intern(cap, str_of(name))});
}

static void range(const char *name, nanos begin, nanos end)
{
    on_host(SLICE_ANNOTATION, name, begin, end);
}

static uint32_t on_device(enum slice_kind kind, const char *name, nanos begin)
{
    struct lane_key key = {.kind = LANE_STREAM};

    return capture_slice(cap, &(struct slice){.begin = begin,
                                              .dur = 5,
                                              .lane = capture_lane(cap, key),
                                              .kind = kind,
                                              .name = capture_intern(cap, str_of(name))});
}

/* A kernel that runs 1000 later. */
static void launch(const char *name, nanos at)
{
    uint32_t call = on_host(SLICE_RUNTIME, "cudaLaunchKernel", at, at + 2);

    capture_flow(cap, FLOW_LAUNCH, call, on_device(SLICE_COMPUTE, name, at + 1000));
}

static void kernels(const char *names, nanos *at)
{
    struct str rest = str_of(names);

    while (rest.n > 0) {
        size_t n = str_find_char(rest, ' ');
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)n, rest.at);
        on_device(str_contains(str_of(name), S("Memcpy")) ? SLICE_COPY : SLICE_COMPUTE, name, *at);
        rest = str_part(rest, n + (n < rest.n), rest.n);
        *at += 10;
    }
}

static const struct step_units *units_look(void)
{
    start_study();
    return study_step_units(&study);
}

#define NEXT "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

/* At the end the loader is asked once more. */
TEST(a_step_begins_when_its_input_is_loaded)
{
    for (int i = 0; i < 4; i++) {
        range(NEXT, i * 100, i * 100 + 30);
        launch("gemm", i * 100 + 40);
        range("Optimizer.step#SGD.step", i * 100 + 80, i * 100 + 90);
    }
    range(NEXT, 400, 410);
    const struct step_units *u = units_look();

    assert_int_equal(u->by, FOUND_LOADER);
    assert_int_equal(u->n, 4);
    assert_int_equal(u->at[1], 100);
    assert_int_equal(u->times[3], 340);
}

TEST(with_accumulation_the_optimizer_ends_a_step)
{
    for (int i = 0; i < 8; i++) {
        range(NEXT, i * 100, i * 100 + 30);
        launch("gemm", i * 100 + 40);
        if (i % 2 == 1)
            range("Optimizer.step#SGD.step", i * 100 + 80, i * 100 + 90);
    }
    const struct step_units *u = units_look();

    assert_int_equal(u->by, FOUND_OPTIMIZER);
    assert_int_equal(u->n, 4);
    assert_int_equal(u->at[0], 40);
    assert_int_equal(u->at[1], 190);
}

/* One for the matrices and one for the rest; two of one class for two models. */
TEST(several_optimizers_make_one_step)
{
    for (int i = 0; i < 4; i++) {
        launch("gemm", i * 100 + 10);
        range("Optimizer.step#Muon.step", i * 100 + 40, i * 100 + 50);
        range("Optimizer.step#AdamW.step", i * 100 + 60, i * 100 + 70);
    }
    const struct step_units *u = units_look();

    assert_int_equal(u->n, 4);
    assert_int_equal(u->at[1], 70);
}

TEST(optimizers_of_one_class_are_told_by_their_work)
{
    for (int i = 0; i < 4; i++) {
        launch("gemm", i * 100 + 10);
        range("Optimizer.step#Adam.step", i * 100 + 20, i * 100 + 30);
        launch("adam", i * 100 + 22);
        launch("gemm", i * 100 + 50);
        range("Optimizer.step#Adam.step", i * 100 + 60, i * 100 + 80);
        launch("adam", i * 100 + 62);
        launch("adam", i * 100 + 66);
    }
    const struct step_units *u = units_look();

    assert_int_equal(u->n, 4);
    assert_int_equal(u->at[1], 80);
}

TEST(what_follows_the_last_optimizer_is_a_step_if_it_is_like_one)
{
    for (int i = 0; i < 4; i++) {
        launch("gemm", i * 100 + 40);
        if (i < 3)
            range("Optimizer.step#SGD.step", i * 100 + 80, i * 100 + 90);
    }
    assert_int_equal(units_look()->n, 4);
}

TEST(ranges_of_one_name_are_steps_whatever_their_number)
{
    char name[32];

    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "iter %d", i);
        range(name, i * 100, i * 100 + 90);
        range("forward", i * 100 + 1, i * 100 + 30);
        launch("gemm", i * 100 + 40);
    }
    const struct step_units *u = units_look();

    assert_int_equal(u->by, FOUND_RANGES);
    assert_int_equal(u->n, 5);
}

TEST(ranges_of_layers_are_no_steps)
{
    char name[32];

    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "layer_%d", i);
        range(name, i * 100, i * 100 + 90);
        launch("gemm", i * 100 + 40);
    }
    assert_int_equal(units_look()->n, 0);
}

TEST(ranges_beside_the_work_are_no_steps)
{
    for (int i = 0; i < 5; i++) {
        range("log", i * 100, i * 100 + 10);
        launch("gemm", i * 100 + 40);
    }
    assert_int_equal(units_look()->n, 0);
}

static void graph(const char *name, nanos at)
{
    uint32_t call = on_host(SLICE_RUNTIME, "cudaGraphLaunch", at, at + 2);

    for (int i = 0; i < 2; i++)
        capture_flow(cap, FLOW_LAUNCH, call, on_device(SLICE_COMPUTE, name, at + 1000 + 10 * i));
}

/* Forward and backward are graphs of their own. */
TEST(the_sequence_of_graphs_that_repeats_is_a_step)
{
    for (int i = 0; i < 4; i++) {
        graph("forward_gemm", i * 100);
        graph("backward_gemm", i * 100 + 50);
    }
    const struct step_units *u = units_look();

    assert_int_equal(u->by, FOUND_GRAPHS);
    assert_int_equal(u->n, 4);
    assert_int_equal(u->at[1], 100);
}

/* Layers with a graph each, and a sampler behind the last of them. */
TEST(graphs_of_equal_layers_are_parts_of_a_step)
{
    for (int i = 0; i < 12; i++) {
        graph("layer_gemm", i * 100);
        if (i % 3 == 2)
            launch("argmax", i * 100 + 50);
    }
    const struct step_units *u = units_look();

    assert_int_equal(u->by, FOUND_GRAPHS);
    assert_int_equal(u->n, 4);
    assert_int_equal(u->at[1], 300);
}

/* Attention between the graphs of layers, and as many samplers as tokens: no period is known. */
TEST(pieces_of_a_pass_are_no_steps)
{
    for (int i = 0; i < 12; i++) {
        graph("layer_gemm", i * 100);
        launch("flash_fwd_kernel", i * 100 + 20);
        for (int k = 0; i % 3 == 2 && k <= i; k++)
            launch("argmax", i * 100 + 50 + 2 * k);
    }
    assert_int_equal(units_look()->n, 0);
}

TEST(a_graph_that_warms_up_hides_no_steps)
{
    graph("warm_up_gemm", 0);
    for (int i = 1; i <= 12; i++)
        graph("a_gemm", i * 100);
    const struct step_units *u = units_look();

    assert_int_equal(u->n, 12);
    assert_int_equal(u->at[0], 100);
}

TEST(graphs_that_do_not_repeat_are_no_steps)
{
    graph("a_gemm", 0);
    graph("b_gemm", 100);
    graph("a_gemm", 200);
    graph("a_gemm", 300);
    assert_int_equal(units_look()->n, 0);
}

TEST(rounds_between_copies_from_the_host_are_steps)
{
    nanos at = 0;

    for (int i = 0; i < 6; i++)
        kernels("Memcpy_HtoD Memcpy_HtoD gemm relu gemm relu", &at);
    const struct step_units *u = units_look();

    assert_int_equal(u->by, FOUND_LOOP);
    assert_int_equal(u->n, 6);
    assert_int_equal(u->at[1], 60);
}

TEST(copies_between_unequal_work_are_no_steps)
{
    nanos at = 0;

    for (int i = 0; i < 6; i++) {
        kernels("Memcpy_HtoD gemm relu", &at);
        for (int k = 0; k < i; k++)
            kernels("gemm", &at);
    }
    assert_int_equal(units_look()->n, 0);
}

TEST(kernels_that_repeat_and_multiply_nothing_are_a_loop)
{
    nanos at = 0;

    for (int i = 0; i < 20; i++)
        kernels("stencil_add axpy_update norm_sum", &at);
    const struct step_units *u = units_look();

    assert_int_equal(u->by, FOUND_LOOP);
    assert_int_equal(u->n, 20);
}

/* They may be the layers of one pass. */
TEST(kernels_that_repeat_and_multiply_are_none)
{
    nanos at = 0;

    for (int i = 0; i < 20; i++)
        kernels("gemm relu norm_sum", &at);
    assert_int_equal(units_look()->n, 0);
}

TEST_MAIN("analysis/steps/step_units", CASE(a_step_begins_when_its_input_is_loaded),
          CASE(with_accumulation_the_optimizer_ends_a_step), CASE(several_optimizers_make_one_step),
          CASE(optimizers_of_one_class_are_told_by_their_work),
          CASE(what_follows_the_last_optimizer_is_a_step_if_it_is_like_one),
          CASE(ranges_of_one_name_are_steps_whatever_their_number),
          CASE(ranges_of_layers_are_no_steps), CASE(ranges_beside_the_work_are_no_steps),
          CASE(the_sequence_of_graphs_that_repeats_is_a_step),
          CASE(graphs_of_equal_layers_are_parts_of_a_step), CASE(pieces_of_a_pass_are_no_steps),
          CASE(a_graph_that_warms_up_hides_no_steps), CASE(graphs_that_do_not_repeat_are_no_steps),
          CASE(rounds_between_copies_from_the_host_are_steps),
          CASE(copies_between_unequal_work_are_no_steps),
          CASE(kernels_that_repeat_and_multiply_nothing_are_a_loop),
          CASE(kernels_that_repeat_and_multiply_are_none))
