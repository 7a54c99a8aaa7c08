#include "gpu/judge/rules.h"

#include <math.h>

#include "base/testing.h"

static struct gpu_kernel occupancy_launch(uint32_t grid, uint32_t block, double regs, double smem,
                                          double config)
{
    struct gpu_kernel k = gpu_kernel_none();

    k.grid[0] = grid;
    k.grid[1] = k.grid[2] = 1;
    k.block[0] = block;
    k.block[1] = k.block[2] = 1;
    k.m[GPU_M_REGS] = regs;
    k.m[GPU_M_SMEM_STATIC] = smem;
    k.m[GPU_M_SMEM_CONFIG] = config;
    return k;
}

TEST(registers_and_warps_allow_eight_blocks_of_256)
{
    struct gpu_kernel k = occupancy_launch(16384, 256, 32, 0, NAN);
    struct gpu_occupancy o = gpu_occupancy_of(&k, S("9.0"), 132);

    assert_int_equal(o.lim_regs, 8);
    assert_int_equal(o.lim_warps, 8);
    assert_true(fabs(o.waves - 15.515) < 0.001); /* 16384 / (8 * 132) */
    assert_true(o.theory_pct == 100);
}

TEST(shared_memory_counts_the_kibibyte_of_the_driver)
{
    struct gpu_kernel k = occupancy_launch(4096, 1024, 32, 8192, 32768);
    struct gpu_occupancy o = gpu_occupancy_of(&k, S("9.0"), 132);

    assert_int_equal(o.lim_regs, 2);
    assert_int_equal(o.lim_smem, 3); /* 32768 / 9216 */
}

TEST(registers_are_handed_out_in_eights)
{
    struct gpu_kernel k = occupancy_launch(1, 32, 22, 0, 32768);
    struct gpu_occupancy o = gpu_occupancy_of(&k, S("9.0"), 132);

    assert_int_equal(o.lim_regs, 84); /* 65536 / (24 * 32) = 85, rounded down to 84 */
    assert_int_equal(o.blocks_per_sm, 32);
    assert_true(o.theory_pct == 50);
    k = occupancy_launch(1056, 512, 16, 0, 16384);
    assert_int_equal(gpu_occupancy_of(&k, S("9.0"), 132).lim_regs, 8);
}

TEST(the_next_block_has_a_price)
{
    /* 132 KB each: one block of 8 warps fits; two fit in 228 KiB / 2 = 116736 bytes. */
    struct gpu_kernel k = occupancy_launch(1024, 256, 128, 135168, NAN);
    struct gpu_occupancy o = gpu_occupancy_of(&k, S("9.0"), 132);

    assert_int_equal(o.blocks_per_sm, 1);
    assert_string_equal(o.limiter, "shared memory");
    assert_true(o.next_pct == 25);
    assert_true(o.bytes_to_free == 136192 - 116736);
    assert_true(o.regs_to_free == 0);
}

TEST(limits_of_the_tool_stand_in_for_resources)
{
    struct gpu_kernel k = occupancy_launch(340, 256, NAN, NAN, NAN);

    k.m[GPU_M_LIM_REGS] = 1;
    k.m[GPU_M_LIM_SMEM] = 1;
    struct gpu_occupancy o = gpu_occupancy_of(&k, S("12.0"), 170);
    assert_true(fabs(o.theory_pct - 16.667) < 0.001); /* 8 of 48 warps */
    assert_true(o.waves == 2);
}

TEST(chips_from_volta_to_blackwell)
{
    struct gpu_kernel k = occupancy_launch(1000, 256, 32, 16384, NAN);

    k.m[GPU_M_SMEM_DYNAMIC] = 0;
    /* 96 KiB hold six blocks of 16 KiB, nothing is kept for the driver; Turing has 32 warps. */
    assert_int_equal(gpu_occupancy_of(&k, S("7.0"), 80).blocks_per_sm, 6);
    assert_int_equal(gpu_occupancy_of(&k, S("7.5"), 72).blocks_per_sm, 4);
    /* 100 KiB, 17 each: five; by 48 warps six. */
    assert_int_equal(gpu_occupancy_of(&k, S("8.6"), 84).blocks_per_sm, 5);
    assert_int_equal(gpu_occupancy_of(&k, S("8.7"), 16).blocks_per_sm, 6);
    assert_int_equal(gpu_occupancy_of(&k, S("10.3"), 148).blocks_per_sm, 8);
    assert_int_equal(gpu_occupancy_of(&k, S("11.0"), 20).blocks_per_sm, 6);
    assert_int_equal(gpu_occupancy_of(&k, S("12.1"), 48).blocks_per_sm, 5);
    assert_false(gpu_occupancy_of(&k, S("6.1"), 20).is_known);
}

TEST(nothing_known_promises_nothing)
{
    struct gpu_kernel k = gpu_kernel_none();

    assert_false(gpu_occupancy_of(&k, S("9.0"), 132).is_known);
    k = occupancy_launch(1, 2000, 32, 0, NAN);
    assert_false(gpu_occupancy_of(&k, S("9.0"), 132).is_known);
    k = occupancy_launch(1, 32, NAN, NAN, NAN);
    assert_false(gpu_occupancy_of(&k, S("9.0"), 132).is_known);
}

TEST_MAIN("gpu/judge/occupancy", T(registers_and_warps_allow_eight_blocks_of_256),
          T(shared_memory_counts_the_kibibyte_of_the_driver), T(registers_are_handed_out_in_eights),
          T(the_next_block_has_a_price), T(limits_of_the_tool_stand_in_for_resources),
          T(chips_from_volta_to_blackwell), T(nothing_known_promises_nothing))
