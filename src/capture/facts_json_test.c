#include <stdlib.h>

#include "base/testing.h"
#include "capture/facts_json.h"

static struct capture *made(void)
{
    struct capture *cap = capture_new();

    cap->facts.vendor = VENDOR_AMD;
    cap->facts.rank = 5;
    cap->facts.device_memory = 68719476736;
    cap->facts.host = capture_intern(cap, S("node\t\"7\""));
    cap->clock = (struct clock){.hz = 1000000000, .to_unix = -12, .has_unix = true};
    cap->origin = ORIGIN_SIMULATED;
    vec_push(&cap->marks,
             ((struct mark){MARK_ITERATION, capture_intern(cap, S("step 1")), 1, -200, 10}));
    vec_push(&cap->marks, ((struct mark){MARK_STEP_TRACE, 0, 2, 10, 20}));
    capture_seal(cap);
    return cap;
}

TEST(facts_and_marks_come_back)
{
    struct capture *cap = made(), *again = capture_new();
    struct arena arena;
    struct cut cut;

    arena_init(&arena);
    cut_init(&cut, cap, &(struct cut_options){0});
    assert_int_equal(facts_json_read(again, facts_json(&cut, 200, &arena)), 200);
    cut_fini(&cut);

    assert_int_equal(again->facts.vendor, VENDOR_AMD);
    assert_int_equal(again->facts.rank, 5);
    assert_int_equal(again->facts.world_size, UNKNOWN);
    assert_int_equal(again->facts.device_memory, 68719476736);
    assert_str(capture_text(again, again->facts.host), "node\t\"7\"");
    assert_int_equal(again->clock.to_unix, -12);
    assert_int_equal(again->origin, ORIGIN_SIMULATED);
    assert_int_equal(again->marks.n, 2);
    assert_int_equal(again->marks.at[0].begin, -200);
    assert_str(capture_text(again, again->marks.at[0].name), "step 1");
    assert_int_equal(again->marks.at[1].source, MARK_STEP_TRACE);
    arena_free(&arena);
    capture_free(again);
    capture_free(cap);
}

TEST(damaged_facts_stay_unknown)
{
    struct capture *cap = capture_new();

    assert_int_equal(facts_json_read(cap, S("")), 0);
    assert_int_equal(facts_json_read(cap, S("[1]")), 0);
    assert_int_equal(facts_json_read(cap, S("{\"vendor\":99,\"rank\":\"x\",\"shift\":7,\"marks\":"
                                            "[[9,\"a\",1,2,3],[1,\"b\",1],{},[1,\"c\",4,5,6")),
                     7);
    assert_int_equal(cap->facts.vendor, VENDOR_UNKNOWN);
    assert_int_equal(cap->facts.rank, UNKNOWN);
    assert_int_equal(cap->marks.n, 0);
    capture_free(cap);
}

TEST_MAIN("capture/facts_json", T(facts_and_marks_come_back), T(damaged_facts_stay_unknown))
