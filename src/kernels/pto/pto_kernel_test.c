#include "kernels/pto/pto_kernel.h"

#include "base/testing.h"
#include "capture/capture.h"
#include "kernels/pto/pto_buffers.h"
#include "kernels/pto/pto_judge.h"
#include "kernels/pto/pto_sim_job.h"

/* out[row] = in[row] + n for the row of this block. */
static const char *const text =
    "module {\n"
    "func.func @k(%in: !pto.ptr<f32>, %out: !pto.ptr<f32>, %n: f32, %__pypto_spmd_block_idx: i32) "
    "attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
    "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    "%cols = arith.constant ${COLS} : index\n%c4 = arith.constant 4 : index\n"
    "%z = arith.constant 0 : i64\n"
    "%row = arith.index_cast %__pypto_spmd_block_idx : i32 to index\n"
    "%iv = pto.make_tensor_view %in, shape = [%c4, %cols], strides = [%cols, %c1] : "
    "!pto.tensor_view<?x?xf32>\n"
    "%ov = pto.make_tensor_view %out, shape = [%c4, %cols], strides = [%cols, %c1] : "
    "!pto.tensor_view<?x?xf32>\n"
    "%ip = pto.partition_view %iv, offsets = [%row, %c0], sizes = [%c1, %cols] : "
    "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x${COLS}xf32>\n"
    "%op = pto.partition_view %ov, offsets = [%row, %c0], sizes = [%c1, %cols] : "
    "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x${COLS}xf32>\n"
    "%t = pto.alloc_tile addr = %z : !pto.tile_buf<vec, 1x${COLS}xf32>\n"
    "pto.tload ins(%ip : !pto.partition_tensor_view<1x${COLS}xf32>) outs(%t : "
    "!pto.tile_buf<vec, 1x${COLS}xf32>)\n"
    "pto.tadds ins(%t, %n : !pto.tile_buf<vec, 1x${COLS}xf32>, f32) outs(%t : "
    "!pto.tile_buf<vec, 1x${COLS}xf32>)\n"
    "pto.tstore ins(%t : !pto.tile_buf<vec, 1x${COLS}xf32>) outs(%op : "
    "!pto.partition_tensor_view<1x${COLS}xf32>)\nreturn\n}\n}\n";

struct world {
    struct pto_kernel k;
    struct pto_setup setup;
    struct pto_costs *costs;
    struct diag d;
};

static const struct text_param cols[] = {{S_INIT("COLS"), S_INIT("64")}};

static void open_world(struct world *w)
{
    pto_kernel_init(&w->k);
    diag_init(&w->d);
    w->costs = pto_costs_new();
    w->setup = (struct pto_setup){.path = "k.pto",
                                  .text = str_of(text),
                                  .params = cols,
                                  .n_params = 1,
                                  .target = -1,
                                  .blocks = 1};
}

static void close_world(struct world *w)
{
    pto_kernel_free(&w->k);
    pto_costs_free(w->costs);
    diag_fini(&w->d);
}

static enum status kernel_run(struct world *w)
{
    TRY(pto_kernel_load(&w->k, &w->setup, &w->d));
    TRY(pto_kernel_bind(&w->k, &w->setup, &w->d));
    return pto_kernel_run(&w->k, w->costs, &w->setup, &w->d);
}

static float at(const struct world *w, size_t arg, size_t i)
{
    float value;

    memcpy(&value, w->k.bindings.at[arg].data + i * sizeof(value), sizeof(value));
    return value;
}

TEST(every_block_computes_its_part)
{
    static const struct text_param args[] = {{S_INIT("n"), S_INIT("0.5")}};
    static const struct text_param fills[] = {{S_INIT("%in"), S_INIT("ramp")}};
    struct world w;

    open_world(&w);
    w.setup.has_memory = true;
    w.setup.blocks = 4;
    w.setup.args = args;
    w.setup.n_args = 1;
    w.setup.fills = fills;
    w.setup.n_fills = 1;
    assert_int_equal(kernel_run(&w), ST_OK);
    assert_int_equal(w.k.bindings.at[1].size, 4 * 64 * 4);
    for (size_t i = 0; i < 4 * 64; i++)
        assert_true(at(&w, 1, i) == (float)i + 0.5F);
    close_world(&w);
}

TEST(blocks_are_spread_over_the_cores)
{
    struct world w;

    open_world(&w);
    assert_int_equal(kernel_run(&w), ST_OK);
    int64_t one = w.k.total;
    w.setup.blocks = 7;
    w.setup.cores = 3; /* six vector cores */
    assert_int_equal(kernel_run(&w), ST_OK);
    assert_int_equal(w.k.blocks.n, 7);
    assert_int_equal(w.k.total, w.k.blocks.at[0] + w.k.blocks.at[6] - w.k.options.start);
    assert_true(w.k.blocks.at[0] >= one); /* six share the memory, and start one after another */
    w.setup.cores = 0;
    assert_int_equal(kernel_run(&w), ST_OK);
    assert_int_equal(w.k.options.cores, 4);
    assert_int_equal(w.k.total, w.k.blocks.at[w.k.longest]); /* all at once */
    close_world(&w);
}

TEST(running_again_leaves_the_buffers_alone)
{
    static const struct text_param fills[] = {{S_INIT("in"), S_INIT("one")}};
    struct world w;

    open_world(&w);
    w.setup.has_memory = true;
    w.setup.fills = fills;
    w.setup.n_fills = 1;
    assert_int_equal(kernel_run(&w), ST_OK);
    memset(w.k.bindings.at[1].data, 0, w.k.bindings.at[1].size);
    assert_int_equal(pto_kernel_again(&w.k, &w.k.sim, w.costs, &w.k.options, &w.d), ST_OK);
    assert_true(at(&w, 1, 0) == 0);
    close_world(&w);
}

TEST(wrong_arguments_are_refused)
{
    static const struct {
        struct text_param given;
        const char *code;
        bool is_fill;
    } cases[] = {
        {{S_INIT("m"), S_INIT("1")}, "pto-sim.no-argument", false},
        {{S_INIT("n"), S_INIT("x")}, "pto-sim.argument", false},
        {{S_INIT("in"), S_INIT("1")}, "pto-sim.argument", false},
        {{S_INIT("n"), S_INIT("zero")}, "pto-sim.argument", true},
        {{S_INIT("in"), S_INIT("noise")}, "pto-sim.fill", true},
        {{S_INIT("9"), S_INIT("1")}, "pto-sim.no-argument", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        open_world(&w);
        if (cases[i].is_fill)
            w.setup.fills = &cases[i].given;
        else
            w.setup.args = &cases[i].given;
        w.setup.n_fills = cases[i].is_fill;
        w.setup.n_args = !cases[i].is_fill;
        assert_int_not_equal(kernel_run(&w), ST_OK);
        assert_int_equal(diag_count(&w.d, cases[i].code), 1);
        close_world(&w);
    }
}

TEST(a_chip_of_another_architecture_is_refused)
{
    struct world w;

    open_world(&w);
    w.setup.chip = S("Ascend950");
    w.setup.target = PTO_A2A3;
    assert_int_equal(kernel_run(&w), ST_UNSUPPORTED);
    close_world(&w);
}

TEST(fills_follow_their_rule)
{
    float values[4];
    int32_t numbers[4];
    struct diag d;

    diag_init(&d);
    assert_int_equal(
        pto_buffer_fill((unsigned char *)values, sizeof(values), PTO_F32, S("const:2.5"), 0, 0, &d),
        ST_OK);
    assert_true(values[0] == 2.5F && values[3] == 2.5F);
    assert_int_equal(
        pto_buffer_fill((unsigned char *)values, sizeof(values), PTO_F32, S("random"), 7, 1, &d),
        ST_OK);
    for (size_t i = 0; i < 4; i++)
        assert_true(values[i] >= -1 && values[i] < 1);
    assert_true(values[0] != values[1]);
    assert_int_equal(
        pto_buffer_fill((unsigned char *)numbers, sizeof(numbers), PTO_I32, S("random"), 7, 1, &d),
        ST_OK);
    for (size_t i = 0; i < 4; i++)
        assert_in_range(numbers[i], 0, 15);
    diag_fini(&d);
}

TEST(the_timeline_is_of_the_longest_block)
{
    struct incore_view view;
    struct capture *cap = NULL;
    struct world w;

    open_world(&w);
    w.setup.blocks = 2;
    assert_int_equal(kernel_run(&w), ST_OK);
    assert_int_equal(pto_sim_capture(&w.k, w.costs, &w.setup, &w.d, &cap), ST_OK);
    assert_int_equal(w.k.sim.total, w.k.outcome.total);
    pto_sim_view(cap, 16, &view);
    assert_int_equal(view.strips.n, 3);
    assert_int_equal(strlen(view.strips.at[0].cells), 16);
    incore_view_free(&view);
    capture_free(cap);
    close_world(&w);
}

TEST(the_bound_saves_the_most_and_the_outcome_stays)
{
    struct pto_what_ifs list = {0};
    struct capture *cap = NULL;
    struct world w;

    open_world(&w);
    assert_int_equal(kernel_run(&w), ST_OK);
    int64_t total = w.k.outcome.total;
    pto_judge(&w.k, w.costs, &w.setup, false);
    enum limit bound = w.k.outcome.limits.bound;
    pto_judge(&w.k, w.costs, &w.setup, true);
    assert_int_equal(w.k.outcome.limits.bound, bound);
    pto_what_if_list(&w.k.outcome.limits, &list);
    assert_true(list.n >= 4);
    assert_int_equal(list.at[0].what, bound);
    assert_int_equal(w.k.outcome.total, total);
    assert_int_equal(pto_sim_capture(&w.k, w.costs, &w.setup, &w.d, &cap), ST_OK);
    assert_int_equal(w.k.sim.total, total);
    capture_free(cap);
    for (size_t i = 0; i < list.n; i++)
        assert_in_range(list.at[i].cycles, 1, total);
    vec_free(&list);
    close_world(&w);
}

TEST_MAIN("kernels/pto/pto_kernel", T(every_block_computes_its_part),
          T(blocks_are_spread_over_the_cores), T(running_again_leaves_the_buffers_alone),
          T(wrong_arguments_are_refused), T(a_chip_of_another_architecture_is_refused),
          T(fills_follow_their_rule), T(the_timeline_is_of_the_longest_block),
          T(the_bound_saves_the_most_and_the_outcome_stays))
