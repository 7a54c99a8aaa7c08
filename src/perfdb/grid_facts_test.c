#include "perfdb/grid_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/testing.h"

static enum status read_text(const char *text, struct grid_facts *facts, struct diag *d)
{
    char dir[] = "/tmp/strata-facts-XXXXXX", path[64];

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/op_mapping.yaml", dir);
    if (text != NULL) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
    }
    enum status st = grid_facts_read(facts, dir, d);
    unlink(path);
    rmdir(dir);
    return st;
}

TEST(kernels_get_the_facts_of_the_first_entry_that_names_them)
{
    struct grid_facts f;
    struct diag d;

    diag_init(&d);
    assert_int_equal(read_text("operator_mappings:\n"
                               "  a: {kernel_type: Add, query_mode: elementwise,\n"
                               "      alternate_kernel_types: [AddX, Mul]}\n"
                               "  b: {kernel_type: Mul, zero_cost: true}\n"
                               "  c: {kernel_type: Comm, category: communication}\n"
                               "  d: {kernel_type: Parts, composite: yes}\n"
                               "  e: {kernel_type: No, zero_cost: off, composite: 0}\n"
                               "  f: {zero_cost: true}\n"
                               "  g: 5\n",
                               &f, &d),
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
    diag_fini(&d);
}

TEST(entries_may_stand_at_the_top)
{
    struct grid_facts f;
    struct diag d;

    diag_init(&d);
    assert_int_equal(read_text("aten.add: {kernel_type: Add, zero_cost: true}\n", &f, &d), ST_OK);
    assert_true(grid_facts_of(&f, S("Add")).is_free);
    grid_facts_free(&f);
    diag_fini(&d);
}

TEST(no_file_is_no_facts_and_a_broken_one_is_refused)
{
    struct grid_facts f;
    struct diag d;

    diag_init(&d);
    assert_int_equal(read_text(NULL, &f, &d), ST_OK);
    assert_false(f.is_there);
    grid_facts_free(&f);
    assert_int_not_equal(read_text("a: [", &f, &d), ST_OK);
    grid_facts_free(&f);
    diag_fini(&d);
}

TEST_MAIN("perfdb/grid_facts", T(kernels_get_the_facts_of_the_first_entry_that_names_them),
          T(entries_may_stand_at_the_top), T(no_file_is_no_facts_and_a_broken_one_is_refused))
