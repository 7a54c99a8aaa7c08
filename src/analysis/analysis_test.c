#include "analysis/sql/sql_table.h"

#include "base/testing.h"
#include "base/testing_arena.h"

static bool is_table(const struct analysis *a)
{
    return a->schema == &sql_table_schema;
}

/* Analyses, then tables that are statements; each by name. */
TEST(the_table_is_in_order_and_whole)
{
    const struct analysis *a, *before = NULL;

    for (size_t i = 0; (a = analysis_at(i)) != NULL; i++) {
        assert_true(before == NULL || is_table(before) < is_table(a) ||
                    strcmp(before->name, a->name) < 0);
        assert_ptr_equal(analysis_named(str_of(a->name)), a);
        assert_non_null(a->summary);
        assert_non_null(a->schema->record);
        before = a;
    }
    assert_non_null(before);
    assert_null(analysis_named(S("nothing")));
}

TEST(needs_are_named_in_the_order_of_their_bits)
{
    assert_string_equal(analysis_needs_text(&arena, 0), "");
    assert_string_equal(analysis_needs_text(&arena, HAS_STEPS), "steps");
    assert_string_equal(analysis_needs_text(&arena, HAS_COMM | HAS_KERNELS),
                        "kernels, communication");
}

TEST(a_capture_without_what_is_needed_is_warned_of)
{
    const struct analysis hungry = {.name = "hungry", .needs = HAS_KERNELS | HAS_HOST};
    struct capture *cap = capture_new();
    struct diag d;

    diag_init(&d);
    cap->has = HAS_KERNELS | HAS_HOST | HAS_STEPS;
    analysis_check_needs(&hungry, cap, &d);
    assert_int_equal(d.entries.n, 0);
    cap->has = HAS_KERNELS;
    analysis_check_needs(&hungry, cap, &d);
    assert_int_equal(d.entries.n, 1);
    assert_string_equal(d.entries.at[0].first[0].text,
                        "hungry needs host events, and the capture has none");
    diag_fini(&d);
    capture_free(cap);
}

TEST_MAIN("analysis/analysis", TA(the_table_is_in_order_and_whole),
          TA(needs_are_named_in_the_order_of_their_bits),
          TA(a_capture_without_what_is_needed_is_warned_of))
