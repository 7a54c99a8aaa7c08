#include "synth/machine.h"

#include "base/testing.h"

struct bench {
    struct synth_options o;
    struct arena arena;
    struct sim sim;
    struct machine m;
};

static void setup(struct bench *b, enum machine_kind kind)
{
    b->o = (struct synth_options)SYNTH_DEFAULTS;
    arena_init(&b->arena);
    sim_init(&b->sim, &b->o, &b->arena);
    machine_init(&b->m, kind, 7, &b->sim.ranks[0], &b->sim.names);
    machine_step_begin(&b->m, 1);
}

static void teardown(struct bench *b)
{
    machine_fini(&b->m);
    sim_fini(&b->sim);
    arena_free(&b->arena);
}

static void machine_test_launch(struct bench *b, nanos dur, enum synth_stream stream)
{
    machine_op(&b->m, "aten::mul", "8", "FLOAT");
    machine_launch(&b->m, &(struct machine_kernel){.code = OP_P_MUL, .dur = dur, .stream = stream});
    machine_end(&b->m);
}

static const struct machine_task *task(const struct bench *b, size_t i)
{
    return &b->m.tasks.at[i];
}

TEST(time_follows_from_peaks)
{
    struct bench b;

    setup(&b, MACHINE_GPU);
    /* 1e12 operations at half of 989.4 TFLOP/s; 4.8e9 bytes at half of 4800 GB/s. */
    assert_int_equal(machine_flops(&b.m, PEAK_BF16, 1000000000000, 500), 2021427);
    assert_int_equal(machine_bytes(&b.m, 4800000000, 500), 2000000);
    teardown(&b);
}

TEST(a_stream_runs_in_order_and_after_the_launch)
{
    for (int kind = 0; kind < MACHINE_KINDS; kind++) {
        struct bench b;
        setup(&b, (enum machine_kind)kind);
        for (int i = 0; i < 50; i++)
            machine_test_launch(&b, i % 3 == 0 ? 2000 : 60000, STREAM_COMPUTE);
        for (size_t i = 0; i < b.m.tasks.n; i++) {
            const struct machine_timeline *t = kind == MACHINE_GPU ? &b.m.main : &b.m.queued;
            assert_true(task(&b, i)->begin > t->calls.at[task(&b, i)->call].begin);
            assert_true(i == 0 || task(&b, i)->begin > task(&b, i - 1)->end);
        }
        teardown(&b);
    }
}

TEST(a_full_queue_blocks_the_launch)
{
    struct bench b;

    setup(&b, MACHINE_GPU);
    for (int i = 0; i < 1100; i++)
        machine_test_launch(&b, 100000, STREAM_COMPUTE);
    const struct machine_call *call = &b.m.main.calls.at[1099];
    assert_true(call->end >= task(&b, 1099 - 1024)->begin);
    assert_true(call->end < task(&b, 1099)->begin);
    teardown(&b);
}

TEST(a_synchronise_call_returns_after_the_device)
{
    struct bench b;

    setup(&b, MACHINE_NPU);
    machine_test_launch(&b, 5000000, STREAM_COMPUTE);
    machine_test_launch(&b, 100, STREAM_SIDE);
    machine_sync(&b.m, STREAM_SIDE);
    assert_true(b.m.host < task(&b, 0)->end);
    machine_sync(&b.m, STREAM_COUNT);
    assert_true(b.m.host > task(&b, 0)->end);
    teardown(&b);
}

TEST(a_stream_waits_for_another)
{
    struct bench b;

    setup(&b, MACHINE_GPU);
    machine_test_launch(&b, 900000, STREAM_COMPUTE);
    machine_test_launch(&b, 5000, STREAM_SIDE);
    assert_true(task(&b, 1)->begin < task(&b, 0)->end);
    machine_wait(&b.m, STREAM_SIDE, STREAM_COMPUTE);
    machine_test_launch(&b, 5000, STREAM_SIDE);
    assert_true(task(&b, 2)->begin > task(&b, 0)->end);
    assert_int_equal(task(&b, 2)->awaited, task(&b, 0)->end);
    machine_test_launch(&b, 5000, STREAM_SIDE); /* once is enough */
    assert_int_equal(task(&b, 3)->awaited, 0);
    teardown(&b);
}

TEST(a_blocking_copy_lies_inside_its_call)
{
    struct bench b;

    setup(&b, MACHINE_GPU);
    machine_test_launch(&b, 300000, STREAM_COMPUTE);
    machine_copy(&b.m, &(struct machine_copy){.bytes = 1 << 20, .dur = 90000, .blocks = true});
    const struct machine_call *call = &b.m.main.calls.at[task(&b, 1)->call];
    assert_true(task(&b, 1)->begin > task(&b, 0)->end);
    assert_true(call->begin < task(&b, 1)->begin && call->end > task(&b, 1)->end);
    assert_int_equal(call->work, BUSY_STAGING);
    teardown(&b);
}

TEST(nodes_of_a_graph_have_one_call)
{
    struct bench b;

    setup(&b, MACHINE_GPU);
    machine_graph_begin(&b.m, 3);
    nanos host = b.m.host;
    for (int i = 0; i < 3; i++)
        machine_launch(&b.m, &(struct machine_kernel){.code = OP_P_MUL, .dur = 4000});
    machine_graph_end(&b.m);
    assert_int_equal(b.m.host, host);
    assert_int_equal(task(&b, 0)->call, task(&b, 2)->call);
    assert_true(task(&b, 0)->is_graph);
    teardown(&b);
}

TEST(a_site_keeps_its_numbers_when_another_goes)
{
    struct bench a, b;

    setup(&a, MACHINE_GPU);
    setup(&b, MACHINE_GPU);
    machine_test_launch(&a, 1000, STREAM_COMPUTE);
    machine_op(&a.m, "aten::item", "", "");
    machine_sync(&a.m, STREAM_COMPUTE);
    machine_end(&a.m);
    machine_test_launch(&a, 50000, STREAM_COMPUTE);
    machine_test_launch(&b, 1000, STREAM_COMPUTE);
    machine_test_launch(&b, 50000, STREAM_COMPUTE);
    assert_int_equal(task(&a, 1)->end - task(&a, 1)->begin, task(&b, 1)->end - task(&b, 1)->begin);
    teardown(&a);
    teardown(&b);
}

TEST(the_profiler_costs_time)
{
    struct bench a, b;

    setup(&a, MACHINE_GPU);
    setup(&b, MACHINE_GPU);
    b.m.is_bare = true;
    for (int i = 0; i < 20; i++) {
        machine_test_launch(&a, 1000, STREAM_COMPUTE);
        machine_test_launch(&b, 1000, STREAM_COMPUTE);
    }
    assert_int_equal(a.m.host - b.m.host,
                     20 * (a.m.costs.recorded_op / 2 * 2 + a.m.costs.recorded_call));
    teardown(&a);
    teardown(&b);
}

TEST_MAIN("synth/machine", T(time_follows_from_peaks),
          T(a_stream_runs_in_order_and_after_the_launch), T(a_full_queue_blocks_the_launch),
          T(a_synchronise_call_returns_after_the_device), T(a_stream_waits_for_another),
          T(a_blocking_copy_lies_inside_its_call), T(nodes_of_a_graph_have_one_call),
          T(a_site_keeps_its_numbers_when_another_goes), T(the_profiler_costs_time))
