#include "kernels/pto/judge/replay.h"

#include "base/testing.h"

#define HEAD "queue,pos,name,duration,waits,signals,start,end\n"

static enum status replay(struct pto_replay *r, const char *text, uint32_t sync_base)
{
    struct diag d;

    diag_init(&d);
    pto_replay_init(r);
    enum status status = pto_replay_read(r, str_of(text), "r.csv", &d);
    if (status == ST_OK)
        pto_replay_run(r, sync_base);
    else
        assert_int_equal(diag_count(&d, "pto-replay.bad-row"), 1);
    diag_fini(&d);
    return status;
}

TEST(queues_run_in_order_and_wait_for_channels)
{
    struct pto_replay r;

    assert_int_equal(replay(&r,
                            HEAD "MTE2_AIV,0,a,10,,7,0,10\nMTE2_AIV,1,b,10,,7,10,20\n"
                                 "VEC,0,c,3,7,,10,13\nVEC,1,d,3,7,,20,23\n",
                            0),
                     ST_OK);
    assert_int_equal(r.different, 0);
    assert_int_equal(r.total, 23);
    assert_int_equal(r.busy[5], 6);
    pto_replay_free(&r);
}

TEST(channels_below_the_base_stay_signalled)
{
    static const char *text = HEAD "Scalar,0,a,5,,7,,\nVEC,0,b,1,7,,,\nCUBE,0,c,1,7,,,\n";
    struct pto_replay r;

    assert_int_equal(replay(&r, text, 100), ST_OK);
    assert_int_equal(r.stuck, 0);
    assert_int_equal(r.entries.at[2].start, 5);
    pto_replay_free(&r);
    assert_int_equal(replay(&r, text, 0), ST_OK); /* one signal for two: the earlier queue has it */
    assert_int_equal(r.stuck, 1);
    assert_int_equal(r.entries.at[1].start, 5);
    assert_int_equal(r.entries.at[2].start, -1);
    pto_replay_free(&r);
}

TEST(times_that_differ_are_counted)
{
    struct pto_replay r;

    assert_int_equal(replay(&r, HEAD "VEC,0,a,5,,,0,5\nVEC,1,b,5,,,5,11\n", 0), ST_OK);
    assert_int_equal(r.different, 1);
    assert_ptr_equal(r.first_different, &r.entries.at[1]);
    pto_replay_free(&r);
}

TEST(rows_that_make_no_sense_are_refused)
{
    static const char *const texts[] = {
        "a,b\n1,2\n",
        HEAD "PIPE,0,a,1,,,,\n",
        HEAD "VEC,0,a,-1,,,,\n",
        HEAD "VEC,0,a,x,,,,\n",
        HEAD "VEC,0,a,1,1|,,,\n",
        HEAD "VEC,0,a,1,,99999999999,,\n",
        HEAD "VEC,0,a,1,,,soon,\n",
    };
    struct pto_replay r;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(replay(&r, texts[i], 0), ST_FORMAT);
        pto_replay_free(&r);
    }
}

TEST_MAIN("kernels/pto/judge/replay", T(queues_run_in_order_and_wait_for_channels),
          T(channels_below_the_base_stay_signalled), T(times_that_differ_are_counted),
          T(rows_that_make_no_sense_are_refused))
