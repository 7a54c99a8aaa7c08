#include "input/kept.h"

#include "base/testing.h"
#include "capture/fleet.h"

static const char *const sample = "examples/ascend-small";

static struct fleet *kept_load(struct input_kept *const *list, struct input_options options)
{
    struct fleet *fleet = NULL;
    struct diag d;

    options.kept = list;
    diag_init(&d);
    assert_int_equal(input_load_all(sample, &options, &d, &fleet), ST_OK);
    diag_fini(&d);
    return fleet;
}

TEST(a_path_is_read_once)
{
    struct input_kept *list[] = {input_kept_new(sample), NULL};
    struct input_options options = input_defaults();
    struct fleet *first = kept_load(list, options);
    struct capture *cap = NULL;
    struct diag d;

    fleet_free(first); /* does nothing */
    assert_ptr_equal(kept_load(list, options), first);
    options.kept = list;
    diag_init(&d);
    assert_int_equal(input_load(sample, &options, &d, &cap), ST_OK);
    assert_ptr_equal(cap, first->ranks.at[0]);
    diag_fini(&d);
    capture_free(cap);
    input_kept_free(list[0]);
}

TEST(other_options_read_it_again)
{
    struct input_kept *list[] = {input_kept_new(sample), NULL};
    struct input_options options = input_defaults();
    struct fleet *first = kept_load(list, options);

    options.pmu = true; /* the sample has a table of kernels */
    struct fleet *counters = kept_load(list, options);
    assert_ptr_not_equal(counters, first);
    assert_ptr_equal(kept_load(list, options), counters);
    options.pmu = false;
    options.source = INPUT_CSV;
    assert_ptr_not_equal(kept_load(list, options), first);
    input_kept_free(list[0]);
}

TEST(another_path_is_not_kept)
{
    struct input_kept *list[] = {input_kept_new("elsewhere"), NULL};
    struct fleet *fleet = kept_load(list, input_defaults());

    assert_null(input_kept_find(list, sample));
    assert_ptr_equal(input_kept_find(list, "elsewhere"), list[0]);
    assert_null(input_kept_find(NULL, sample));
    assert_false(fleet->is_shared);
    fleet_free(fleet);
    input_kept_free(list[0]);
    input_kept_free(NULL);
}

TEST(a_failure_is_not_kept)
{
    struct input_kept *list[] = {input_kept_new("/nowhere"), NULL};
    struct input_options options = input_defaults();
    struct fleet *fleet = NULL;
    struct diag d;

    options.kept = list;
    for (int i = 0; i < 2; i++) {
        diag_init(&d);
        assert_int_equal(input_load_all("/nowhere", &options, &d, &fleet), ST_NOT_FOUND);
        assert_int_equal(d.failure, ST_NOT_FOUND);
        assert_int_equal(diag_count(&d, "file.missing"), 1);
        diag_fini(&d);
    }
    input_kept_free(list[0]);
}

TEST_MAIN("input/kept", T(a_path_is_read_once), T(other_options_read_it_again),
          T(another_path_is_not_kept), T(a_failure_is_not_kept))
