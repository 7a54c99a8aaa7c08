#include "gpu/collect/sampled.h"

#include "base/testing_arena.h"
#include "base/text/text.h"
#include "gpu/judge/kernel.h"

#define STALLED "smsp__pcsamp_warps_issue_stalled_"

static const char *const reasons[] = {"smsp__pcsamp_sample_count", STALLED "wait",
                                      STALLED "wait_not_issued", STALLED "barrier"};

/* 0x10 comes twice; reason 9 is none. */
static const uint64_t first[] = {1, 6, 2, 4}, again[] = {3, 1, 1, 2, 9, 5}, second[] = {3, 11};
static const struct trace_pc samples[] = {
    {"k", 1, 0x10, first, 2},
    {"k", 1, 0x10, again, 3},
    {"k", 1, 0x40, second, 1},
    {"other", 1, 0x10, second, 1},
};
static const struct gpu_samples all = {samples, ARRAY_LEN(samples), reasons, ARRAY_LEN(reasons)};

TEST(samples_of_an_instruction_are_added_up)
{
    struct gpu_listing l = {.kernel = S("k")};

    assert_true(gpu_listing_sample(&l, all, S("k"), &arena));
    assert_int_equal(l.sass.n, 2);
    assert_int_equal(l.stall_names.n, 3);
    assert_str(l.stall_names.at[0], "stall_wait");
    assert_int_equal(l.sass.at[0].pc, 0x10);
    assert_true(l.sass.at[0].samples == 9); /* 6 and 2 waiting, 1 at a barrier */
    assert_str(l.sass.at[0].cells[1], "4");
    assert_true(l.sass.at[1].samples == 11);
    assert_true(l.samples == 20);
    gpu_listing_free(&l);
    l = (struct gpu_listing){0};
    assert_false(gpu_listing_sample(&l, all, S("none"), &arena));
    gpu_listing_free(&l);
}

TEST(rows_of_a_listing_keep_their_text)
{
    struct gpu_listing l = {.kernel = S("k")};

    for (size_t i = 0; i < 5; i++)
        vec_push(&l.sass, ((struct gpu_sass){.pc = 0x10 * i, .text = S("NOP"), .order = i}));
    assert_true(gpu_listing_sample(&l, all, S("k"), &arena));
    assert_int_equal(l.sass.n, 5);
    assert_true(l.sass.at[0].samples == 0);
    assert_str(l.sass.at[1].text, "NOP");
    assert_true(l.sass.at[1].samples == 9);
    gpu_listing_free(&l);
}

TEST(lines_have_the_samples_of_their_instructions)
{
    struct gpu_listing l = {.kernel = S("k")};
    struct gpu_kernel k = gpu_kernel_none();

    gpu_listing_sample(&l, all, S("k"), &arena);
    for (size_t i = 0; i < l.sass.n; i++) {
        l.sass.at[i].file = S("a.cu");
        l.sass.at[i].line = i + 2;
    }
    gpu_listing_lines(&l, S("a.cu"), S("one\n  two\nthree\nfour\n"), &arena);
    assert_int_equal(l.lines.n, 4);
    assert_true(l.lines.at[0].samples != l.lines.at[0].samples);
    assert_true(l.lines.at[1].samples == 9 && l.lines.at[2].samples == 11);
    assert_str(l.lines.at[2].stall, "stall_barrier");
    gpu_listing_attach(&arena, &l, &k);
    assert_int_equal(k.hot_lines.n, 2);
    assert_str(k.hot_lines.at[0].place, "a.cu:3");
    assert_str(k.hot_lines.at[1].text, "two");
    assert_true(k.hot_lines.at[1].share == 45);
    gpu_kernel_free(&k);
    gpu_listing_free(&l);
}

/* As on an H200: the barrier is at 0xc80, and warps that wait for it are seen at 0xc90. */
TEST(a_wait_at_a_barrier_belongs_to_the_barrier)
{
    static const uint64_t waits[] = {3, 89}, works[] = {1, 10};
    static const struct trace_pc scan[] = {{"k", 1, 0xc80, works, 1}, {"k", 1, 0xc90, waits, 1}};
    struct gpu_samples two = {scan, ARRAY_LEN(scan), reasons, ARRAY_LEN(reasons)};
    struct gpu_listing l = {.kernel = S("k")};

    gpu_listing_sample(&l, two, S("k"), &arena);
    for (size_t i = 0; i < l.sass.n; i++) {
        l.sass.at[i].file = S("a.cu");
        l.sass.at[i].line = i + 1;
    }
    gpu_listing_lines(&l, S("a.cu"), S("__syncthreads();\nout[i] = v;\n"), &arena);
    assert_true(l.lines.at[0].samples == 99);
    assert_str(l.lines.at[0].stall, "stall_barrier");
    gpu_listing_free(&l);
}

TEST(without_the_source_sampled_lines_are_left)
{
    struct gpu_listing l = {.kernel = S("k")};

    gpu_listing_sample(&l, all, S("k"), &arena);
    l.sass.at[0].file = l.sass.at[1].file = S("a.cu");
    l.sass.at[0].line = 7;
    l.sass.at[1].line = 1 << 20; /* no file is that long */
    gpu_listing_lines(&l, S("a.cu"), S(""), &arena);
    assert_int_equal(l.lines.n, 1);
    assert_int_equal(l.lines.at[0].line, 7);
    gpu_listing_free(&l);
}

TEST_MAIN("gpu/collect/sampled", TA(samples_of_an_instruction_are_added_up),
          TA(rows_of_a_listing_keep_their_text), TA(lines_have_the_samples_of_their_instructions),
          TA(a_wait_at_a_barrier_belongs_to_the_barrier),
          TA(without_the_source_sampled_lines_are_left))
