#include "cli/opt.h"

#include "base/testing.h"

struct args {
    bool quiet, list_only, no_check;
    const char *target;
    struct words funcs, sizes;
    int64_t runs;
    uint64_t room;
    double peak;
    int color;
};

static const char *const colors[] = {"auto", "always", "never", NULL};

static const struct opt options[] = {
    OPT_GROUP("What to run"),
    OPT_STRING('t', "target", "ARCH", struct args, target, "a2a3 or a5"),
    OPT_LIST('f', "func", "NAME", struct args, funcs, "only this kernel"),
    OPT_WORDS(0, "sizes", "N", struct args, sizes, "sizes"),
    OPT_FLAG('l', "list-funcs", struct args, list_only, "show the kernels and stop"),
    OPT_FLAG(0, "no-check", struct args, no_check, "skip the check"),
    OPT_INT('n', "runs", "N", struct args, runs, 1, 100, "how often"),
    OPT_SIZE(0, "room", "BYTES", struct args, room, "how much"),
    OPT_DOUBLE(0, "peak", "X", struct args, peak, "how fast"),
    OPT_CHOICE(0, "color", colors, struct args, color, "colour"),
};

static const struct opt more[] = {
    OPT_FLAG('q', "quiet", struct args, quiet, "say less"),
};

/* One parse of a NULL-terminated list of words. */
struct run {
    struct args args;
    struct words rest;
    struct diag diag;
    bool is_good;
};

static void opt_test_parse(struct run *r, const char *const *words)
{
    struct opt_set sets[] = {{options, ARRAY_LEN(options), &r->args},
                             {more, ARRAY_LEN(more), &r->args}};
    int argc = 0;

    while (words[argc] != NULL)
        argc++;
    diag_init(&r->diag);
    r->is_good = opt_parse(sets, 2, argc, words, &r->rest, &r->diag);
}

static void opt_test_release(struct run *r)
{
    opt_release((struct opt_set){options, ARRAY_LEN(options), &r->args});
    vec_free(&r->rest);
    diag_fini(&r->diag);
}

#define PARSE(r, ...) opt_test_parse((r), (const char *const[]){__VA_ARGS__, NULL})

/* The words are refused with exactly this sentence. */
static void opt_assert_refused(const char *const *words, const char *text)
{
    struct run r = {0};

    opt_test_parse(&r, words);
    assert_false(r.is_good);
    assert_int_equal(r.diag.entries.n, 1);
    assert_string_equal(r.diag.entries.at[0].first[0].text, text);
    opt_test_release(&r);
}

#define REFUSED(text, ...) opt_assert_refused((const char *const[]){__VA_ARGS__, NULL}, (text))

TEST(long_names_take_values_with_a_blank_or_an_equals_sign)
{
    struct run r = {0};

    PARSE(&r, "--target", "a5", "--runs=7", "--peak", "1.5e3", "--color=never");

    assert_true(r.is_good);
    assert_string_equal(r.args.target, "a5");
    assert_int_equal(r.args.runs, 7);
    assert_true(r.args.peak == 1500);
    assert_int_equal(r.args.color, 2);
    opt_test_release(&r);
}

TEST(letters_bundle_and_the_last_may_take_the_rest_as_value)
{
    struct run r = {0};

    PARSE(&r, "-lqta5", "-n", "3");

    assert_true(r.is_good);
    assert_true(r.args.list_only && r.args.quiet);
    assert_string_equal(r.args.target, "a5");
    assert_int_equal(r.args.runs, 3);
    opt_test_release(&r);
}

TEST(an_open_list_takes_words_up_to_the_next_option)
{
    struct run r = {0};

    PARSE(&r, "--sizes", "8", "16", "32", "-q", "rest", "--sizes=64", "more");

    assert_true(r.is_good && r.args.quiet);
    assert_int_equal(r.args.sizes.n, 4);
    assert_string_equal(r.args.sizes.at[2], "32");
    assert_int_equal(r.rest.n, 2);
    opt_test_release(&r);
}

TEST(lists_collect_and_single_values_keep_the_last)
{
    struct run r = {0};

    PARSE(&r, "--func", "a", "-fb", "--func=c", "-n1", "-n2");

    assert_int_equal(r.args.funcs.n, 3);
    assert_string_equal(r.args.funcs.at[0], "a");
    assert_string_equal(r.args.funcs.at[2], "c");
    assert_int_equal(r.args.runs, 2);
    opt_test_release(&r);
}

TEST(no_in_front_undoes_flags_texts_and_lists)
{
    struct run r = {.args = {.quiet = true}};

    PARSE(&r, "--no-quiet", "--target", "x", "--no-target", "-f", "a", "--no-func", "--no-check",
          "--check", "--no-list-funcs");

    assert_true(r.is_good);
    assert_false(r.args.quiet);
    assert_null(r.args.target);
    assert_int_equal(r.args.funcs.n, 0);
    assert_false(r.args.no_check);
    opt_test_release(&r);
}

TEST(operands_may_stand_anywhere_and_two_dashes_end_the_options)
{
    struct run r = {0};

    PARSE(&r, "one", "-q", "-", "--", "--target", "-l");

    assert_true(r.is_good);
    assert_int_equal(r.rest.n, 4);
    assert_string_equal(r.rest.at[0], "one");
    assert_string_equal(r.rest.at[1], "-");
    assert_string_equal(r.rest.at[2], "--target");
    assert_null(r.args.target);
    assert_false(r.args.list_only);
    opt_test_release(&r);
}

TEST(sizes_know_decimal_and_binary_suffixes)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"4096", 4096},  {"64k", 64000},     {"2Gi", UINT64_C(2147483648)},
                 {"3M", 3000000}, {"25MB", 25000000}, {"1KiB", 1024}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct run r = {0};
        PARSE(&r, "--room", cases[i].text);
        assert_true(r.is_good);
        assert_int_equal(r.args.room, cases[i].value);
        opt_test_release(&r);
    }
}

TEST(mistakes_name_the_option)
{
    REFUSED("unknown option --tarrget", "--tarrget", "x");
    REFUSED("unknown option -z", "-qz");
    REFUSED("--target needs a value: ARCH", "--target");
    REFUSED("--runs needs a value: N", "-n");
    REFUSED("--quiet takes no value", "--quiet=1");
    REFUSED("--no-quiet takes no value", "--no-quiet=1");
    REFUSED("unknown option --no-runs", "--no-runs");
    REFUSED("value out of range: --runs 101 (1 to 100)", "--runs=101");
    REFUSED("--runs: \"\" is not a whole number", "--runs=");
    REFUSED("--peak: \"nan\" is not a number", "--peak", "nan");
    REFUSED("--color: \"red\" is not one of auto|always|never", "--color", "red");
    REFUSED("--room: \"18446744073709551615k\" is not a size such as 4096, 64k or 2Gi", "--room",
            "18446744073709551615k");
}

TEST(shortened_names_are_refused_but_understood)
{
    struct run r = {0};

    PARSE(&r, "--list");

    assert_false(r.is_good);
    assert_int_equal(r.diag.hints.n, 1);
    assert_string_equal(r.diag.hints.at[0].text, "--list-funcs");
    opt_test_release(&r);
}

TEST(the_nearest_name_is_offered_when_it_is_near)
{
    static const char *const names[] = {"anomaly", "arch", "q"};

    assert_string_equal(opt_nearest("anomly", names, 3), "anomaly");
    assert_string_equal(opt_nearest("ahrc", names, 3), "arch");
    assert_null(opt_nearest("version", names, 3));
    assert_null(opt_nearest("x", names, 3));
    assert_null(opt_nearest("", names, 0));
}

TEST(a_very_long_unknown_name_is_cut_not_overrun)
{
    char word[300];
    struct run r = {0};

    memset(word, 'x', sizeof(word));
    memcpy(word, "--", 2);
    word[sizeof(word) - 1] = '\0';
    PARSE(&r, word);
    assert_false(r.is_good);
    opt_test_release(&r);
}

TEST_MAIN("cli/opt", T(long_names_take_values_with_a_blank_or_an_equals_sign),
          T(letters_bundle_and_the_last_may_take_the_rest_as_value),
          T(lists_collect_and_single_values_keep_the_last),
          T(an_open_list_takes_words_up_to_the_next_option),
          T(an_open_list_takes_words_up_to_the_next_option),
          T(no_in_front_undoes_flags_texts_and_lists),
          T(operands_may_stand_anywhere_and_two_dashes_end_the_options),
          T(sizes_know_decimal_and_binary_suffixes), T(mistakes_name_the_option),
          T(shortened_names_are_refused_but_understood),
          T(the_nearest_name_is_offered_when_it_is_near),
          T(a_very_long_unknown_name_is_cut_not_overrun))
