#include "analysis/tables/exposed.h"

#include "analysis/testing_study.h"

static void exposed_add(const char *stream, enum slice_kind kind, nanos begin, nanos dur)
{
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, str_of(stream))};

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, S("k")),
                                       .kind = kind});
}

/* Compute [0,40) and [60,100), collectives [30,50) and [45,70) on two streams: 40 in all, of which
 * [40,60) is exposed. */
TEST(what_compute_covers_is_hidden)
{
    exposed_add("1", SLICE_COMPUTE, 0, 40 * US);
    exposed_add("1", SLICE_COMPUTE, 60 * US, 40 * US);
    exposed_add("2", SLICE_COMM, 30 * US, 20 * US);
    exposed_add("3", SLICE_COMM_PART, 45 * US, 25 * US);
    start_study();
    const struct exposed *e = exposed_find(&study);

    assert_int_equal(e->n, 1);
    assert_str(e->steps[0].id, "pseudo");
    assert_int_equal(e->steps[0].comm, 40 * US);
    assert_int_equal(e->steps[0].exposed, 20 * US);
    assert_true(e->steps[0].share == 0.2);
    assert_int_equal(e->all.exposed, 20 * US);
}

TEST(without_collectives_nothing_is_exposed)
{
    exposed_add("1", SLICE_COMPUTE, 0, 40 * US);
    start_study();

    assert_int_equal(exposed_find(&study)->all.comm, 0);
    assert_true(exposed_find(&study)->all.share == 0);
}

TEST_MAIN("analysis/tables/exposed", CASE(what_compute_covers_is_hidden),
          CASE(without_collectives_nothing_is_exposed))
