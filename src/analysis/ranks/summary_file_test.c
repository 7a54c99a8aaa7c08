#include "analysis/ranks/summary_file.h"

#include "analysis/ranks/testing_cluster.h"

static struct rank_summary *file_sample(void)
{
    struct test_cluster t = {.ranks = 2};
    struct rank_summary *s = test_ranks(&t);

    s->links = ARENA_ARRAY(&arena, struct summary_link, 1);
    s->links[0] = (struct summary_link){0, 1, 2.5, 0.5, S("HCCS")};
    s->n_links = 1;
    s->groups[0].ranks = ARENA_ARRAY(&arena, int64_t, 2);
    s->groups[0].ranks[1] = 1;
    s->groups[0].n = 2;
    return s;
}

TEST(a_summary_is_read_back_as_it_was)
{
    struct rank_summary *s = file_sample(), got;
    struct str bytes = summary_encode(s, &arena);

    assert_true(summary_decode(bytes, &arena, &got));
    assert_int_equal(got.n_calls, s->n_calls);
    assert_memory_equal(got.calls, s->calls, sizeof(*s->calls) * s->n_calls);
    assert_memory_equal(got.steps, s->steps, sizeof(*s->steps) * s->n_steps);
    assert_int_equal(got.families[3].time, s->families[3].time);
    assert_int_equal(got.groups[0].ranks[1], 1);
    assert_true(got.links[0].ms == 0.5);
    struct str again = summary_encode(&got, &arena);
    assert_true(str_equal(bytes, again));
}

TEST(every_changed_byte_and_every_cut_is_refused)
{
    struct str bytes = summary_encode(file_sample(), &arena);
    char *copy = arena_cstr(&arena, bytes);
    struct rank_summary got;

    for (size_t i = 0; i < bytes.n; i++) {
        copy[i] ^= 0x21;
        assert_false(summary_decode((struct str){copy, bytes.n}, &arena, &got));
        copy[i] ^= 0x21;
    }
    for (size_t n = 0; n < bytes.n; n += 7)
        assert_false(summary_decode((struct str){copy, n}, &arena, &got));
}

TEST(a_summary_of_many_calls_is_cut_to_its_size)
{
    enum { CALLS = 200000 };
    struct rank_summary *s = file_sample(), got;

    s->calls = ARENA_ARRAY(&arena, struct summary_call, CALLS);
    s->n_calls = CALLS;
    for (size_t i = 0; i < CALLS; i++)
        s->calls[i] = (struct summary_call){.after = SUMMARY_NO_CALL,
                                            .step = (int32_t)(i * TEST_STEPS / CALLS),
                                            .begin = (nanos)i * 1000,
                                            .end = (nanos)i * 1000 + 900,
                                            .stretch = 777777};
    struct str bytes = summary_encode(s, &arena);
    assert_true(bytes.n <= SUMMARY_MOST);
    assert_true(summary_decode(bytes, &arena, &got));
    assert_true(got.n_calls > 0 && got.calls_cut > 0);
    assert_int_equal(got.n_calls + got.calls_cut, CALLS);
}

TEST_MAIN("analysis/ranks/summary_file", TA(a_summary_is_read_back_as_it_was),
          TA(every_changed_byte_and_every_cut_is_refused),
          TA(a_summary_of_many_calls_is_cut_to_its_size))
