#include "opdb/grid/grid_rules.h"

#include "base/testing_folder.h"

static enum status facts_read_text(const char *text, struct grid_facts *facts)
{
    scratch_put("op_mapping.yaml", text);
    return grid_facts_read(facts, scratch, &diag);
}

TEST(kernels_get_the_facts_of_the_first_entry_that_names_them)
{
    struct grid_facts f;

    assert_int_equal(facts_read_text("operator_mappings:\n"
                                     "  a: {kernel_type: Add, query_mode: elementwise,\n"
                                     "      alternate_kernel_types: [AddX, Mul]}\n"
                                     "  b: {kernel_type: Mul, zero_cost: true}\n"
                                     "  c: {kernel_type: Comm, category: communication}\n"
                                     "  d: {kernel_type: Parts, composite: yes}\n"
                                     "  e: {kernel_type: No, zero_cost: off, composite: 0}\n"
                                     "  f: {zero_cost: true}\n"
                                     "  g: 5\n",
                                     &f),
                     ST_OK);
    assert_true(f.is_there);
    assert_true(grid_facts_of(&f, S("Add")).is_elementwise);
    assert_str(grid_facts_of(&f, S("AddX")).alternates_of, "Add");
    assert_true(grid_facts_of(&f, S("AddX")).is_elementwise);
    assert_false(grid_facts_of(&f, S("Mul")).is_free); /* named by entry a before */
    assert_true(grid_facts_of(&f, S("Comm")).is_free);
    assert_true(grid_facts_of(&f, S("Parts")).is_free);
    assert_false(grid_facts_of(&f, S("No")).is_free);
    assert_false(grid_facts_of(&f, S("Unknown")).is_free);
    grid_facts_free(&f);
}

TEST(entries_may_stand_at_the_top)
{
    struct grid_facts f;

    assert_int_equal(facts_read_text("aten.add: {kernel_type: Add, zero_cost: true}\n", &f), ST_OK);
    assert_true(grid_facts_of(&f, S("Add")).is_free);
    grid_facts_free(&f);
}

TEST(no_file_is_no_facts_and_a_broken_one_is_refused)
{
    struct grid_facts f;

    assert_int_equal(grid_facts_read(&f, scratch, &diag), ST_OK);
    assert_false(f.is_there);
    grid_facts_free(&f);
    assert_int_not_equal(facts_read_text("a: [", &f), ST_OK);
    grid_facts_free(&f);
}

TEST_MAIN("opdb/grid/grid_facts", TS(kernels_get_the_facts_of_the_first_entry_that_names_them),
          TS(entries_may_stand_at_the_top), TS(no_file_is_no_facts_and_a_broken_one_is_refused))
