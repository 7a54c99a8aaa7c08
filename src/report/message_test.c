/*
 * Tests of messages: places, plurals, words, the language of the environment.
 */
#include "report/message.h"

#include <stdlib.h>

#include "base/testing_arena.h"

static const struct message steps = {
    .in = {S_INIT("{n} {n|step|steps} idle {share}"), S_INIT("{share} of {n}")},
    .key = "test.steps"};

TEST(places_are_filled_by_name)
{
    assert_str(
        MESSAGE(LANG_EN, &arena, &steps, PLACE("n", 2), place_quantity("share", 0.5, UNIT_RATIO)),
        "2 steps idle 50.0 %");
    assert_str(MESSAGE(LANG_EN, &arena, &steps, PLACE("share", "nothing"), PLACE("n", (size_t)1)),
               "1 step idle nothing");
    assert_str(MESSAGE(LANG_ZH, &arena, &steps, PLACE("n", -3), PLACE("share", S("x"))), "x of -3");
}

TEST(numbers_have_the_digits_asked_for)
{
    static const struct message m = {.in = {S_INIT("{x:.1} {x:.0} {x:4g} {x}")}};

    assert_str(MESSAGE(LANG_EN, &arena, &m, PLACE("x", 1234.56)), "1234.6 1235 1235 1234.56");
}

TEST(a_phrase_is_said_in_any_language)
{
    struct phrase p = PHRASE(&arena, &steps, PLACE("n", 1), PLACE("share", "all"));

    assert_str(phrase_text(LANG_EN, &arena, p), "1 step idle all");
    assert_str(phrase_text(LANG_ZH, &arena, p), "all of 1");
    assert_str(phrase_text(LANG_ZH, &arena, (struct phrase){0}), "");
    assert_str(phrase_text(LANG_ZH, &arena, phrase_plain(&steps)), "{share} of {n}");
}

TEST(what_was_said_in_english_is_retold)
{
    static const struct message list[] = {
        {{S_INIT("{a} and {b}"), S_INIT("{b} after {a}")}, "test.both"},
        {{S_INIT("{n} {n|row|rows} of {file}"), S_INIT("{file}: {n}")}, "test.rows"},
    };

    assert_str(message_translate(LANG_ZH, &arena, S("2 rows of x.csv"), list, 2), "x.csv: 2");
    assert_str(message_translate(LANG_ZH, &arena, S("1 row of busy"), list, 2), "忙碌: 1");
    assert_str(message_translate(LANG_ZH, &arena, S("2 lines of x.csv"), list, 2),
               "2 lines of x.csv");
    assert_str(message_translate(LANG_EN, &arena, S("2 rows of x.csv"), list, 2),
               "2 rows of x.csv");
}

TEST(a_wording_is_english_for_documents)
{
    struct wording w = WORDING(&arena, &steps, PLACE("n", 2), PLACE("share", "all"));
    struct wording busy = wording_plain(S("busy"));
    static const struct message outer = {.in = {S_INIT("{what}!"), S_INIT("!{what}")}};

    assert_str(w.english, "2 steps idle all");
    assert_str(wording_text(LANG_ZH, &arena, w), "all of 2");
    assert_str(wording_text(LANG_ZH, &arena, busy), "忙碌");
    assert_str(MESSAGE(LANG_ZH, &arena, &outer, place_wording("what", &w)), "!all of 2");
    assert_str(MESSAGE(LANG_ZH, &arena, &outer, place_wording("what", &busy)), "!忙碌");
}

TEST(words_are_found_by_their_english)
{
    assert_str(message_word(LANG_ZH, S("busy ms")), "忙碌 ms");
    assert_str(message_word(LANG_EN, S("busy ms")), "busy ms");
    assert_str(message_word(LANG_ZH, S("MatMulV2")), "MatMulV2");
}

TEST(the_catalogue_has_both_languages)
{
    size_t n = 0;

    for (const struct message_area *area = message_areas; area->n > 0; area++)
        for (size_t i = 0; i < area->n; i++, n++)
            for (int lang = 0; lang < LANGS; lang++)
                assert_true(area->at[i].in[lang].n > 0);
    assert_true(n > 100);
}

TEST(the_environment_chooses_chinese)
{
    setenv("LC_ALL", "", 1);
    setenv("LC_MESSAGES", "", 1);
    setenv("LANG", "zh_CN.UTF-8", 1);
    assert_int_equal(lang_of_environment(), LANG_ZH);
    setenv("LC_MESSAGES", "de_DE.UTF-8", 1);
    assert_int_equal(lang_of_environment(), LANG_EN);
    setenv("LC_ALL", "zh", 1);
    assert_int_equal(lang_of_environment(), LANG_ZH);
    setenv("LC_ALL", "C", 1);
    assert_int_equal(lang_of_environment(), LANG_EN);
}

TEST_MAIN("report/message", TA(places_are_filled_by_name), TA(numbers_have_the_digits_asked_for),
          TA(a_phrase_is_said_in_any_language), TA(words_are_found_by_their_english),
          TA(what_was_said_in_english_is_retold), TA(a_wording_is_english_for_documents),
          TA(the_catalogue_has_both_languages), TA(the_environment_chooses_chinese))
