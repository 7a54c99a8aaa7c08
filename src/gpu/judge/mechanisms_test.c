#include "gpu/judge/rules.h"

#include <math.h>

#include "base/testing.h"

/* A kernel with the whole mix, in which nothing is wrong: memory is 85 % busy. */
struct fixture {
    struct arena arena;
    struct gpu_kernel kernel;
    struct gpu_occupancy occupancy;
    struct gpu_roofline roofline;
    struct gpu_class class;
    struct gpu_peaks peaks;
    struct gpu_case c;
    struct gpu_opportunities found;
};

static void mechanisms_begin(struct fixture *f)
{
    *f = (struct fixture){
        .peaks = {.gbps = 4800, .sm_count = 132, .tflops = {[PEAK_TF32] = 494.7}},
        .occupancy = {.waves = 9, .limiter = "warps", .next_pct = NAN, .max_warps = 64}};
    arena_init(&f->arena);
    f->kernel = gpu_kernel_none();
    f->kernel.cc = S("9.0");
    double *m = f->kernel.m;
    for (int i = 0; i < GPU_METRICS; i++)
        m[i] = 0;
    m[GPU_M_L1_PCT] = m[GPU_M_L1_ACTIVE_PCT] = m[GPU_M_L2_PCT] = m[GPU_M_SM_PCT] = NAN;
    m[GPU_M_DUR_NS] = 1e6;
    m[GPU_M_SM_CYCLES] = m[GPU_M_SM_ACTIVE] = 1.98e6;
    m[GPU_M_DRAM_PCT] = 85;
    m[GPU_M_DRAM_RD] = 4e9;
    m[GPU_M_BUFFER_BYTES] = 4e9;
    m[GPU_M_OCC] = 90;
    m[GPU_M_ISSUE_PCT] = 10;
    m[GPU_M_INST] = 1e7;
    m[GPU_M_THREAD_INST] = m[GPU_M_THREAD_INST_ON] = 3.2e8;
    m[GPU_M_GLOBAL_LD_BYTES] = 4e9;
    m[GPU_M_GLOBAL_LD_SECT] = m[GPU_M_L1_SECT] = 4e9 / 32;
    gpu_kernel_stall(&f->kernel, S("long_scoreboard"), 130);
    f->c = (struct gpu_case){&f->kernel, &f->occupancy, &f->roofline,
                             &f->class,  &f->peaks,     .work = {.flops = NAN, .bytes = NAN},
                             .share = 1};
}

static const struct gpu_opportunity *first(struct fixture *f)
{
    static const struct gpu_opportunity none = {0};

    f->roofline = gpu_roofline_of(f->kernel.m[GPU_M_DUR_NS], f->c.work, gpu_dram_bytes(&f->kernel),
                                  0, &f->peaks);
    f->class = gpu_classify(&f->kernel, &f->occupancy, &f->roofline);
    gpu_opportunities_find(&f->arena, &f->c, &f->found);
    return f->found.all.n > 0 && f->found.all.at[0].is_ranked ? &f->found.all.at[0] : &none;
}

static void mechanisms_end(struct fixture *f)
{
    vec_free(&f->found.all);
    gpu_kernel_free(&f->kernel);
    arena_free(&f->arena);
}

static void mechanisms_expect(struct fixture *f, int id, double gain)
{
    const struct gpu_opportunity *o = first(f);

    assert_int_equal(o->id, id);
    assert_true(fabs(o->gain - gain) < 0.5);
    mechanisms_end(f);
}

TEST(a_healthy_kernel_has_nothing_to_gain)
{
    struct fixture f;

    mechanisms_begin(&f);
    mechanisms_expect(&f, 0, 0);
}

TEST(what_is_read_again_is_a_matter_of_locality)
{
    struct fixture f;

    mechanisms_begin(&f); /* four times the buffers: a quarter of the time is left */
    f.kernel.m[GPU_M_BUFFER_BYTES] = 1e9;
    mechanisms_expect(&f, 2, 75 * 0.85 / 0.9);
    mechanisms_begin(&f); /* unless the second-level cache is the next limit */
    f.kernel.m[GPU_M_BUFFER_BYTES] = 1e9;
    f.kernel.m[GPU_M_L2_TAG_PCT] = 60;
    mechanisms_expect(&f, 2, 40);
}

TEST(sectors_that_are_not_used)
{
    struct fixture f;

    mechanisms_begin(&f); /* one of four bytes */
    f.kernel.m[GPU_M_GLOBAL_LD_BYTES] = 1e9;
    mechanisms_expect(&f, 9, 75 * 0.9);
    mechanisms_begin(&f); /* the cache keeps the sectors until they are: they cost its own time */
    f.kernel.m[GPU_M_GLOBAL_LD_BYTES] = 1e9;
    f.kernel.m[GPU_M_L1_HIT] = 100;
    f.kernel.m[GPU_M_L1_LSU_PCT] = 80;
    f.kernel.m[GPU_M_DRAM_PCT] = 10;
    f.kernel.m[GPU_M_ISSUE_PCT] = 70;
    mechanisms_expect(&f, 9, 30);
    mechanisms_begin(&f); /* behind the cache nothing is moved twice, and memory sets the time */
    f.kernel.m[GPU_M_GLOBAL_LD_BYTES] = 2e9;
    f.kernel.m[GPU_M_L2_HIT_SECT] = f.kernel.m[GPU_M_L2_MISS_SECT] = 1e9 / 32;
    f.kernel.m[GPU_M_L1_LSU_PCT] = 45;
    mechanisms_expect(&f, 0, 0);
    mechanisms_begin(&f);
    f.kernel.m[GPU_M_GLOBAL_LD_BYTES] = 3.3e9; /* 26.4 of 32 */
    mechanisms_expect(&f, 0, 0);
}

TEST(lanes_that_do_nothing)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_DRAM_PCT] = 5;
    f.kernel.m[GPU_M_ISSUE_PCT] = 90;
    f.kernel.m[GPU_M_THREAD_INST] = f.kernel.m[GPU_M_THREAD_INST_ON] = 8e7; /* 8 of 32 */
    mechanisms_expect(&f, 15, 0.75 * 90);
    mechanisms_begin(&f); /* memory sets the time: nothing is gained by fewer instructions */
    f.kernel.m[GPU_M_THREAD_INST] = 8e7;
    mechanisms_expect(&f, 0, 0);
}

TEST(one_address_for_all)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_DRAM_PCT] = 1;
    f.kernel.m[GPU_M_GLOBAL_RED] = 1e5;
    f.kernel.m[GPU_M_ATOMIC_PCT] = 0.4;
    f.kernel.m[GPU_M_ATOMIC_MAX_PCT] = 33;
    mechanisms_expect(&f, 16, 90);
    mechanisms_begin(&f); /* many addresses: no slice of the cache has more than others */
    f.kernel.m[GPU_M_GLOBAL_RED] = 1e5;
    f.kernel.m[GPU_M_ATOMIC_PCT] = 30;
    f.kernel.m[GPU_M_ATOMIC_MAX_PCT] = 33;
    mechanisms_expect(&f, 0, 0);
}

TEST(double_precision_that_nobody_asked_for)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_DRAM_PCT] = 1;
    f.kernel.m[GPU_M_XU_PCT] = 93; /* conversions */
    f.kernel.m[GPU_M_FP64_PCT] = 12;
    f.kernel.m[GPU_M_DOUBLE_OPS] = 1e8;
    f.kernel.m[GPU_M_CONVERSION] = 2e8;
    assert_true(str_contains(first(&f)->trigger, S("literals with f")));
    mechanisms_end(&f);
    mechanisms_begin(&f); /* meant: no conversions */
    f.kernel.m[GPU_M_DRAM_PCT] = 1;
    f.kernel.m[GPU_M_FP64_PCT] = 90;
    f.kernel.m[GPU_M_DOUBLE_OPS] = 3e8;
    mechanisms_expect(&f, 19, 55);
}

TEST(functions_of_double_precision)
{
    struct fixture f;

    mechanisms_begin(
        &f); /* the issue slots are full of what a function in double precision is made of */
    f.kernel.m[GPU_M_DRAM_PCT] = 36;
    f.kernel.m[GPU_M_ISSUE_PCT] = 86;
    f.kernel.m[GPU_M_FP64_PCT] = 55;
    f.kernel.m[GPU_M_DOUBLE_OPS] = 1e8;
    f.kernel.m[GPU_M_GLOBAL_LD] = f.kernel.m[GPU_M_GLOBAL_ST] = 1.3e5;
    f.kernel.m[GPU_M_CONVERSION] = 1.2e7; /* more than one for each value that comes or goes */
    f.kernel.m[GPU_M_MEMORY_INST] = f.kernel.m[GPU_M_CONTROL] = 1.6e7;
    mechanisms_expect(&f, 19, 60); /* memory is the next limit */
}

TEST(blocks_of_different_length)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_DRAM_PCT] = 20;
    f.kernel.m[GPU_M_SM_ACTIVE] *= 0.4;
    mechanisms_expect(&f, 24, 60);
    mechanisms_begin(&f); /* too short to tell */
    f.kernel.m[GPU_M_DRAM_PCT] = 20;
    f.kernel.m[GPU_M_SM_ACTIVE] *= 0.4;
    f.kernel.m[GPU_M_DUR_NS] = 15e3;
    assert_int_not_equal(first(&f)->id, 24);
    mechanisms_end(&f);
}

TEST(a_few_bytes_at_a_time)
{
    struct fixture f;

    mechanisms_begin(&f); /* a byte for each lane, and memory has time */
    f.kernel.m[GPU_M_DRAM_PCT] = 18;
    f.kernel.m[GPU_M_GLOBAL_LD] = 4e9 / 32;
    mechanisms_expect(&f, 25, 80);
    mechanisms_begin(&f); /* sixteen: nothing wider is there */
    f.kernel.m[GPU_M_DRAM_PCT] = 18;
    f.kernel.m[GPU_M_GLOBAL_LD] = 4e9 / 32 / 16;
    assert_int_not_equal(first(&f)->id, 25);
    mechanisms_end(&f);
}

TEST(small_blocks_limit_the_occupancy)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_DRAM_PCT] = 18;
    f.kernel.m[GPU_M_OCC] = 50;
    f.occupancy = (struct gpu_occupancy){.is_known = true,
                                         .waves = 9,
                                         .limiter = "blocks",
                                         .theory_pct = 50,
                                         .next_pct = NAN,
                                         .max_warps = 64,
                                         .warps_per_block = 1,
                                         .lim_warps = 64,
                                         .lim_blocks = 32};
    mechanisms_expect(&f, 5, 50);
}

TEST(waiting_for_spills_is_no_matter_of_occupancy)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_DRAM_PCT] = 2;
    f.kernel.m[GPU_M_OCC] = 6;
    f.kernel.m[GPU_M_LOCAL_LD] = 0.9 * f.kernel.m[GPU_M_L1_SECT];
    f.occupancy = (struct gpu_occupancy){.is_known = true,
                                         .waves = 2,
                                         .limiter = "shared memory",
                                         .theory_pct = 6.25,
                                         .next_pct = 12.5,
                                         .max_warps = 64,
                                         .warps_per_block = 4,
                                         .lim_warps = 16,
                                         .lim_blocks = 32};
    mechanisms_expect(&f, 6, 90); /* they wait for nothing else */
}

TEST(half_precision_is_no_tensor_work)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_TC_PCT] = 2;
    f.kernel.m[GPU_M_TC_INST] = f.kernel.m[GPU_M_TC_HMMA] = 1e6;
    f.kernel.m[GPU_M_HALF_OPS] = 3.2e7; /* as many, by 32 lanes */
    assert_false(gpu_uses_tensor(&f.kernel));
    f.kernel.m[GPU_M_HALF_OPS] = 1e6;
    assert_true(gpu_uses_tensor(&f.kernel));
    mechanisms_end(&f);
}

TEST(constants_at_many_addresses)
{
    struct fixture f;

    mechanisms_begin(&f); /* 16 addresses a load, and warps wait for that */
    f.kernel.m[GPU_M_DRAM_PCT] = 5;
    f.kernel.m[GPU_M_CONSTANT_PCT] = 80;
    f.kernel.m[GPU_M_CONSTANT_LD] = 1e6;
    f.kernel.m[GPU_M_CONSTANT_REQ] = 16e6;
    f.kernel.n_stalls = 0;
    gpu_kernel_stall(&f.kernel, S("mio_throttle"), 130);
    mechanisms_expect(&f, 22, 100 * 15 / 16.0 * 0.9);
    mechanisms_begin(&f); /* one address: as it should be */
    f.kernel.m[GPU_M_DRAM_PCT] = 5;
    f.kernel.m[GPU_M_CONSTANT_PCT] = 80;
    f.kernel.m[GPU_M_CONSTANT_LD] = f.kernel.m[GPU_M_CONSTANT_REQ] = 1e6;
    assert_int_not_equal(first(&f)->id, 22);
    mechanisms_end(&f);
}

TEST(code_that_does_not_fit_its_cache)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_DRAM_PCT] = 5;
    f.kernel.n_stalls = 0;
    gpu_kernel_stall(&f.kernel, S("no_instruction"), 72);
    gpu_kernel_stall(&f.kernel, S("wait"), 70);
    mechanisms_expect(&f, 23, 50); /* of the 144 cycles that a warp has for each instruction */
}

TEST(rules_hold_beside_other_work)
{
    struct fixture f;

    mechanisms_begin(&f); /* conflicts of two ways, and a few atomics that have none */
    f.kernel.m[GPU_M_DRAM_PCT] = 5;
    f.kernel.m[GPU_M_L1_LSU_PCT] = 90;
    f.kernel.m[GPU_M_WAVEFRONTS] = 0.9 * 1.98e6 * 132;
    f.kernel.m[GPU_M_CONFLICTS] = 0.5 * f.kernel.m[GPU_M_WAVEFRONTS];
    f.kernel.m[GPU_M_SHARED_ATOM] = f.kernel.m[GPU_M_SHARED_ATOM_WAVES] = 1e4;
    mechanisms_expect(&f, 10, 45);
    mechanisms_begin(&f); /* those of atomics are theirs */
    f.kernel.m[GPU_M_DRAM_PCT] = 5;
    f.kernel.m[GPU_M_L1_LSU_PCT] = 90;
    f.kernel.m[GPU_M_WAVEFRONTS] = 0.9 * 1.98e6 * 132;
    f.kernel.m[GPU_M_CONFLICTS] = 31.0 / 32 * f.kernel.m[GPU_M_WAVEFRONTS];
    f.kernel.m[GPU_M_SHARED_ATOM_WAVES] = f.kernel.m[GPU_M_WAVEFRONTS];
    f.kernel.m[GPU_M_SHARED_ATOM] = f.kernel.m[GPU_M_WAVEFRONTS] / 32;
    assert_int_equal(first(&f)->id, 16);
    mechanisms_end(&f);
    mechanisms_begin(&f); /* special functions, and some double precision that is meant */
    f.kernel.m[GPU_M_DRAM_PCT] = 5;
    f.kernel.m[GPU_M_XU_PCT] = 90;
    f.kernel.m[GPU_M_ISSUE_PCT] = 30;
    f.kernel.m[GPU_M_DOUBLE_OPS] = 1e7;
    assert_int_equal(first(&f)->id, 18);
    mechanisms_end(&f);
}

TEST(lanes_that_are_masked)
{
    struct fixture f;

    mechanisms_begin(
        &f); /* two short sides of a branch: all lanes take part, half of them do nothing */
    f.kernel.m[GPU_M_DRAM_PCT] = 5;
    f.kernel.m[GPU_M_ISSUE_PCT] = 90;
    f.kernel.m[GPU_M_THREAD_INST_ON] = 1.6e8;
    mechanisms_expect(&f, 15, 45);
    mechanisms_begin(&f); /* checks of bounds mask a few */
    f.kernel.m[GPU_M_DRAM_PCT] = 5;
    f.kernel.m[GPU_M_ISSUE_PCT] = 90;
    f.kernel.m[GPU_M_THREAD_INST_ON] = 2.6e8;
    mechanisms_expect(&f, 0, 0);
}

TEST(strides_by_their_length)
{
    static const double gains[] = {0, 45, 67.5, 78.75};

    for (int i = 1; i < 4; i++) { /* every second, fourth, eighth word: all sectors come anyway */
        struct fixture f;
        mechanisms_begin(&f);
        f.kernel.m[GPU_M_GLOBAL_LD_BYTES] = 4e9 / (1 << i);
        mechanisms_expect(&f, 9, gains[i]);
    }
}

TEST(bytes_that_fill_the_first_level)
{
    struct fixture f;

    mechanisms_begin(
        &f); /* a byte a lane, each request a wavefront: words need a quarter of them */
    f.kernel.m[GPU_M_DRAM_PCT] = 20;
    f.kernel.m[GPU_M_L1_LSU_PCT] = 90;
    f.kernel.m[GPU_M_GLOBAL_LD] = 0.9 * 1.98e6 * 132;
    f.kernel.m[GPU_M_GLOBAL_LD_BYTES] = 32 * f.kernel.m[GPU_M_GLOBAL_LD];
    f.kernel.m[GPU_M_GLOBAL_LD_SECT] = f.kernel.m[GPU_M_GLOBAL_LD];
    mechanisms_expect(&f, 25, 75 * 0.9);
    mechanisms_begin(&f); /* words: the cache gives what it can */
    f.kernel.m[GPU_M_DRAM_PCT] = 20;
    f.kernel.m[GPU_M_L1_LSU_PCT] = 90;
    f.kernel.m[GPU_M_GLOBAL_LD] = 0.9 * 1.98e6 * 132;
    f.kernel.m[GPU_M_GLOBAL_LD_BYTES] = 128 * f.kernel.m[GPU_M_GLOBAL_LD];
    f.kernel.m[GPU_M_GLOBAL_LD_SECT] = 4 * f.kernel.m[GPU_M_GLOBAL_LD];
    assert_int_not_equal(first(&f)->id, 25);
    mechanisms_end(&f);
}

TEST(blocks_for_three_quarters_of_the_device)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_DRAM_PCT] = 20;
    f.kernel.m[GPU_M_SM_ACTIVE] *= 0.76;
    f.kernel.grid[0] = 100;
    f.kernel.grid[1] = f.kernel.grid[2] = 1;
    f.occupancy.waves = 100.0 / 132 / 16;
    f.occupancy.blocks_per_sm = 16;
    mechanisms_expect(&f, 7, 24);
}

TEST(a_pipe_beside_the_tensor_cores_may_be_the_limit)
{
    const char *pipe;
    struct fixture f;

    mechanisms_begin(&f);
    f.kernel.m[GPU_M_TC_PCT] = 20;
    f.kernel.m[GPU_M_TC_INST] = 1e6;
    f.kernel.m[GPU_M_FMA_PCT] = 50;
    assert_true(gpu_compute_pct(&f.kernel, &pipe) == 20);
    f.kernel.m[GPU_M_FMA_PCT] = 85;
    assert_true(gpu_compute_pct(&f.kernel, &pipe) == 85);
    assert_string_equal(pipe, "fma");
    mechanisms_end(&f);
}

/* Two blocks for 1.9 us: what a kernel without work takes cannot be gained. */
TEST(a_kernel_of_two_microseconds_has_little_to_gain)
{
    struct fixture f;

    mechanisms_begin(&f);
    f.occupancy.waves = 0.01;
    f.kernel.m[GPU_M_DUR_NS] = 1900;
    f.kernel.m[GPU_M_DRAM_PCT] = 1;
    f.kernel.m[GPU_M_SM_CYCLES] = 3800;
    f.kernel.m[GPU_M_SM_ACTIVE] = 40;
    const struct gpu_opportunity *o = first(&f);
    assert_int_equal(o->id, 7);
    assert_true(o->gain <= 100 * (1 - GPU_EMPTY_NS / 1900) + 0.01);
    mechanisms_end(&f);
}

/* One block of 256 threads on each multiprocessor, which has room for eight; all wait for memory
 * that is 5 % busy. Where they wait for the instruction before, more of them are not the remedy. */
TEST(a_grid_of_one_block_a_multiprocessor)
{
    static const char *const reasons[] = {"long_scoreboard", "wait"};

    for (int i = 0; i < 2; i++) {
        struct fixture f;
        mechanisms_begin(&f);
        f.kernel.n_stalls = 0;
        gpu_kernel_stall(&f.kernel, str_of(reasons[i]), 80);
        gpu_kernel_stall(&f.kernel, S("selected"), 1);
        f.occupancy = (struct gpu_occupancy){.waves = 0.125,
                                             .blocks_per_sm = 8,
                                             .limiter = "warps",
                                             .theory_pct = 100,
                                             .max_warps = 64,
                                             .is_known = true};
        f.kernel.grid[0] = 132;
        f.kernel.grid[1] = f.kernel.grid[2] = 1;
        f.kernel.m[GPU_M_DRAM_PCT] = 5;
        f.kernel.m[GPU_M_OCC] = 12.5;
        f.kernel.m[GPU_M_ISSUE_PCT] = 2.5;
        f.kernel.m[GPU_M_GLOBAL_LD] = 4e9 / 128;
        assert_int_equal(first(&f)->id == 7, i == 0);
        mechanisms_end(&f);
    }
}

TEST_MAIN("gpu/judge/mechanisms", T(a_healthy_kernel_has_nothing_to_gain),
          T(what_is_read_again_is_a_matter_of_locality), T(sectors_that_are_not_used),
          T(lanes_that_do_nothing), T(one_address_for_all),
          T(double_precision_that_nobody_asked_for), T(functions_of_double_precision),
          T(blocks_of_different_length), T(a_few_bytes_at_a_time),
          T(small_blocks_limit_the_occupancy), T(waiting_for_spills_is_no_matter_of_occupancy),
          T(half_precision_is_no_tensor_work), T(constants_at_many_addresses),
          T(code_that_does_not_fit_its_cache), T(rules_hold_beside_other_work),
          T(lanes_that_are_masked), T(strides_by_their_length), T(bytes_that_fill_the_first_level),
          T(blocks_for_three_quarters_of_the_device),
          T(a_pipe_beside_the_tensor_cores_may_be_the_limit),
          T(a_kernel_of_two_microseconds_has_little_to_gain),
          T(a_grid_of_one_block_a_multiprocessor))
