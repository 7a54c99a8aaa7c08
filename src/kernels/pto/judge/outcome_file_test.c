#include "kernels/pto/judge/outcome_file.h"

#include "base/testing.h"
#include "base/testing_arena.h"

#define HEAD "name,cycles,saved\n"
#define RUN  HEAD "total,1000,\nstart,100,\ninstructions,7,\nmhz,1850,\nchip,X1,\n"

TEST(what_is_put_is_read_again)
{
    struct pto_outcome_kept o = {
        .limits = {.total = 1000}, .start = 100, .mhz = 1650, .chip = S("X1"), .instructions = 7};
    struct pto_outcome_kept again;
    struct text text = {0};

    limits_add(&o.limits, LIMIT_READ, 600);
    limits_add(&o.limits, LIMIT_LAUNCH, 100);
    limits_add(&o.limits, LIMIT_WRITE, 5); /* cannot be the bound: not tried */
    limits_try(&o.limits, LIMIT_READ, 450);
    limits_try(&o.limits, LIMIT_LAUNCH, 900);
    limits_judge(&o.limits);
    assert_true(pto_outcome_keep(&o, text_sink(&text)));
    assert_true(pto_outcome_recall(text_view(&text), &again));
    assert_int_equal(again.start, 100);
    assert_int_equal(again.instructions, 7);
    assert_true(again.mhz == 1650 && str_equal(again.chip, S("X1")));
    assert_memory_equal(&again.limits, &o.limits, sizeof(o.limits));
    assert_int_equal(again.limits.bound, LIMIT_READ);
    assert_true(again.limits.at[0].saved_share == 0.55);
    text_free(&text);
}

TEST(numbers_that_cannot_be_are_no_outcome)
{
    static const struct {
        const char *text;
        bool is_good;
    } cases[] = {
        {RUN "read,600,550\n", true},
        {RUN, true}, /* nothing bounds it */
        {"", false},
        {"total,1000,\n", false},              /* no head */
        {HEAD "start,1,\nmhz,1850,\n", false}, /* no total */
        {HEAD "total,0,\nmhz,1850,\n", false},
        {HEAD "total,10,\nstart,11,\nmhz,1850,\n", false},
        {HEAD "total,10,\nstart,1,\n", false}, /* no clock */
        {HEAD "total,10,\nmhz,nan,\n", false},
        {HEAD "total,10,\nmhz,-1,\n", false},
        {HEAD "total,9223372036854775807,\nmhz,1850,\n", false},
        {RUN "read,1001,\n", false},    /* longer than all */
        {RUN "read,600,1001\n", false}, /* saves more than there is */
        {RUN "read,-1,\n", false},
        {RUN "read,600,550\nread,1,1\n", false}, /* twice */
        {RUN "gravity,600,550\n", false},
        {RUN "read,\"600", false}, /* cut short */
    };
    struct pto_outcome_kept o;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (pto_outcome_recall(str_of(cases[i].text), &o) != cases[i].is_good)
            fail_msg("%s", cases[i].text);
}

TEST_MAIN("kernels/pto/judge/outcome_file", T(what_is_put_is_read_again),
          T(numbers_that_cannot_be_are_no_outcome))
