#include "analysis/arch/structures.h"

#include "analysis/arch/arch.h"
#include "analysis/arch_testing.h"

static const struct arch *arch;

static const struct structures *structures(void)
{
    start_study();
    arch = arch_find(&study, &(struct arch_options){0});
    return structures_find(&study, arch);
}

TEST(clocks_are_read_beside_each_other)
{
    assert_int_equal(clocks_read(&(struct clocks){1, 100, 100, 100, 100}), CLOCKS_SEQUENTIAL);
    assert_int_equal(clocks_read(&(struct clocks){1, 100, 100, 120, 120}), 0);
    assert_int_equal(clocks_read(&(struct clocks){1, 100, 100, 121, 121}), CLOCKS_OVERLAP);
    assert_int_equal(clocks_read(&(struct clocks){1, 121, 100, 100, 100}), CLOCKS_GAPS);
    assert_int_equal(clocks_read(&(struct clocks){1, 100, 100, 100, 151}), CLOCKS_WAIT_HEAVY);
    assert_string_equal(clocks_meaning_text(CLOCKS_GAPS), "gaps inside");
}

/* Two layers with an all-reduce beside the second matmul of each. */
TEST(a_layer_is_a_block_with_sides)
{
    for (int i = 0; i < 2; i++) {
        nanos at = i * 10 * MS;
        add_on("1", "FusedInferAttentionScore", at, 2 * MS);
        add_on("1", "MatMul", at + 3 * MS, 4 * MS);
        add_on("9", "hcom_allReduce_1", at + 5 * MS, 4 * MS);
        add_on("1", "Cast", at + 7 * MS, 5 * US);
    }
    const struct structures *s = structures();
    assert_string_equal(s->source, "marker");
    assert_int_equal(s->n, 2);
    const struct structure *a = &s->at[0], *b = &s->at[1];
    assert_int_equal(a->type, STRUCTURE_TRANSFORMER_BLOCK);
    assert_int_equal(a->all.kernels, 4);
    assert_int_equal(a->all.wall, 9 * MS);
    assert_int_equal(a->all.busy, 8 * MS);
    assert_int_equal(a->all.sum, 10 * MS + 5 * US);
    assert_int_equal(a->parts[PART_BLOCK].kernels, 2);
    assert_int_equal(a->parts[PART_BLOCK].sum, 6 * MS);
    assert_int_equal(a->parts[PART_COMM].sum, 4 * MS);
    assert_int_equal(a->parts[PART_SMALL].kernels, 1);
    assert_int_equal(a->comm_under_block, 2 * MS);
    assert_int_equal(a->bubbles, 1);
    assert_int_equal(a->bubble_total, MS);
    assert_int_equal(b->gap_before, MS);
    assert_int_equal(b->number, 1);
    assert_true(a->share == 9.0 / 19);
}

TEST(a_time_lies_in_the_last_structure_that_began)
{
    add_on("1", "FusedInferAttentionScore", 0, 5 * MS);
    add_on("1", "FusedInferAttentionScore", 6 * MS, 1 * MS);
    const struct structures *s = structures();

    assert_ptr_equal(structures_at(s, 0, 5 * MS), &s->at[0]);
    assert_ptr_equal(structures_at(s, 0, 6 * MS), &s->at[1]);
    assert_null(structures_at(s, 0, -1));
    assert_null(structures_at(s, 7, MS));
}

TEST(the_longest_stands_first)
{
    add_on("1", "FusedInferAttentionScore", 0, 5 * MS);
    add_on("1", "FusedInferAttentionScore", 6 * MS, 1 * MS);
    add_on("1", "MatMul", 9 * MS, 1 * MS);
    const struct structures *s = structures();
    assert_int_equal(s->n_ranked, 2);
    assert_int_equal(s->by_wall[0], 0); /* 5 ms against 4 ms */
}

TEST(a_step_without_layers_is_one_structure)
{
    add_on("1", "Conv", 0, MS);
    const struct structures *s = structures();
    assert_string_equal(s->source, "step");
    assert_int_equal(s->n, 1);
    assert_int_equal(s->at[0].type, STRUCTURE_UNKNOWN);
}

TEST(nothing_has_no_structures)
{
    assert_int_equal(structures()->n, 0);
}

TEST_MAIN("analysis/arch/structures", T(clocks_are_read_beside_each_other),
          CASE(a_layer_is_a_block_with_sides), CASE(a_time_lies_in_the_last_structure_that_began),
          CASE(the_longest_stands_first), CASE(a_step_without_layers_is_one_structure),
          CASE(nothing_has_no_structures))
