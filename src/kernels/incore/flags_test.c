/*
 * Texts of flags, as recorders spell them.
 */
#include "kernels/incore/flags.h"

#include "base/testing.h"

TEST(three_spellings_mean_one_flag)
{
    static const char *const texts[] = {
        "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:3",
        "pipe_type:MTE2,tigger_pipe:V,event_id:3",
        " PIPE : MTE2 , TRIGGERPIPE : VECTOR , hset_sync_id : 3 ",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct incore_detail d = incore_detail_read(str_of(texts[i]), false);
        assert_str(d.producer_pipe, "MTE2");
        assert_str(d.consumer_pipe, "VECTOR");
        assert_str(d.id, "3");
    }
}

TEST(the_text_stays_as_written_beside_its_meaning)
{
    struct incore_detail d = incore_detail_read(S("PIPE:FIXP,TRIGGERPIPE:M,FLAGID:0"), false);

    assert_str(d.producer, "FIXP");
    assert_str(d.producer_pipe, "FIXPIPE");
    assert_str(d.consumer_pipe, "CUBE");
}

TEST(compatible_rules_know_one_spelling_and_one_alias)
{
    struct incore_detail d = incore_detail_read(S("PIPE:FIXP,TRIGGERPIPE:VEC,FLAGID:1"), true);

    assert_str(d.producer_pipe, "FIXP");
    assert_str(d.consumer_pipe, "VECTOR");
    d = incore_detail_read(S("pipe_type:MTE2,tigger_pipe:V,event_id:3"), true);
    assert_null(d.producer.at);
    assert_null(d.id.at);
    assert_str(d.producer_pipe, "");
}

TEST(what_is_absent_or_broken_is_absent)
{
    static const char *const texts[] = {"", ",,,", "PIPE", "nothing here", "PIP:MTE2,:3,FLAG:1"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct incore_detail d = incore_detail_read(str_of(texts[i]), false);
        assert_null(d.producer.at);
        assert_null(d.consumer.at);
        assert_null(d.id.at);
        assert_non_null(d.producer_pipe.at);
        assert_non_null(d.consumer_pipe.at);
    }
    struct incore_detail d = incore_detail_read((struct str){0}, false);
    assert_null(d.id.at);
    /* The value begins behind the first colon, the last of two keys counts. */
    d = incore_detail_read(S("FLAGID:1:2,FLAGID:"), false);
    assert_int_equal(d.id.n, 0);
    d = incore_detail_read(S("FLAGID:1:2"), false);
    assert_str(d.id, "1:2");
}

TEST_MAIN("kernels/incore/flags", T(three_spellings_mean_one_flag),
          T(the_text_stays_as_written_beside_its_meaning),
          T(compatible_rules_know_one_spelling_and_one_alias),
          T(what_is_absent_or_broken_is_absent))
