#include "base/diag.h"

#include "base/limits.h"
#include "base/testing.h"

static const struct where nowhere = {0};

TEST(a_code_is_counted_and_its_first_three_texts_are_kept)
{
    struct diag d;

    diag_init(&d);
    for (unsigned i = 1; i <= 1000; i++)
        diag_add(&d, SEV_LOSS, "x.bad", (struct where){.path = "a.csv", .line = i}, "row %u", i);
    assert_int_equal(d.entries.n, 1);
    assert_int_equal(d.entries.at[0].count, 1000);
    assert_int_equal(d.entries.at[0].severity, SEV_LOSS);
    assert_string_equal(d.entries.at[0].first[0].text, "row 1");
    assert_string_equal(d.entries.at[0].first[2].text, "row 3");
    assert_int_equal(d.entries.at[0].first[2].where.line, 3);
    assert_string_equal(d.entries.at[0].first[2].where.path, "a.csv");
    assert_int_equal(diag_count(&d, "x.bad"), 1000);
    assert_int_equal(diag_count(&d, "x.other"), 0);
    diag_fini(&d);
}

TEST(codes_keep_the_order_in_which_they_came)
{
    struct diag d;

    diag_init(&d);
    diag_add(&d, SEV_WARN, "b.b", nowhere, "first");
    diag_add(&d, SEV_WARN, "a.a", nowhere, "second");
    diag_add(&d, SEV_WARN, "b.b", nowhere, "third");
    diag_add(&d, SEV_NOTE, "b.b", nowhere, "another severity is another entry");
    assert_int_equal(d.entries.n, 3);
    assert_string_equal(d.entries.at[0].code, "b.b");
    assert_string_equal(d.entries.at[1].code, "a.a");
    assert_int_equal(d.entries.at[2].severity, SEV_NOTE);
    assert_int_equal(diag_count(&d, "b.b"), 3);
    diag_fini(&d);
}

TEST(failing_counts_an_error_and_hands_the_status_on)
{
    struct diag d;

    diag_init(&d);
    assert_int_equal(diag_fail(&d, ST_FORMAT, "x.no", (struct where){.path = "p"}, "no %s", "way"),
                     ST_FORMAT);
    assert_int_equal(d.entries.at[0].severity, SEV_ERROR);
    assert_string_equal(d.entries.at[0].first[0].text, "no way");
    diag_fini(&d);
}

TEST(paths_and_texts_are_copied)
{
    struct diag d;
    char path[] = "a.csv", text[] = "text";

    diag_init(&d);
    diag_add(&d, SEV_WARN, "x.x", (struct where){.path = path}, "%s", text);
    path[0] = text[0] = '#';
    assert_string_equal(d.entries.at[0].first[0].where.path, "a.csv");
    assert_string_equal(d.entries.at[0].first[0].text, "text");
    diag_add(&d, SEV_WARN, "x.y", nowhere, "without a path");
    assert_null(d.entries.at[1].first[0].where.path);
    diag_fini(&d);
}

TEST(merging_counts_on_and_keeps_the_earliest_texts)
{
    struct diag d, task[2];

    diag_init(&d);
    diag_init(&task[0]);
    diag_init(&task[1]);
    diag_add(&d, SEV_LOSS, "x.x", nowhere, "0");
    for (int i = 0; i < 2; i++)
        diag_add(&task[0], SEV_LOSS, "x.x", nowhere, "task 0");
    for (int i = 0; i < 10; i++)
        diag_add(&task[1], SEV_LOSS, "x.x", nowhere, "task 1");
    diag_add(&task[1], SEV_WARN, "y.y", (struct where){.path = "p", .byte = 5}, "new");
    diag_merge(&d, &task[0]);
    diag_merge(&d, &task[1]);
    diag_fini(&task[0]);
    diag_fini(&task[1]);

    assert_int_equal(diag_count(&d, "x.x"), 13); /* 1 + 2 + 10 */
    assert_string_equal(d.entries.at[0].first[0].text, "0");
    assert_string_equal(d.entries.at[0].first[2].text, "task 0");
    assert_int_equal(d.entries.n, 2);
    assert_int_equal(d.entries.at[1].count, 1);
    assert_string_equal(d.entries.at[1].first[0].where.path, "p");
    assert_int_equal(d.entries.at[1].first[0].where.byte, 5);
    diag_fini(&d);
}

TEST(merging_fills_free_places_and_counts_the_rest)
{
    struct diag d, from;

    diag_init(&d);
    diag_init(&from);
    diag_add(&d, SEV_LOSS, "x.x", nowhere, "own");
    for (int i = 0; i < 7; i++)
        diag_add(&from, SEV_LOSS, "x.x", nowhere, "other %d", i);
    diag_merge(&d, &from);
    assert_int_equal(d.entries.at[0].count, 8);
    assert_string_equal(d.entries.at[0].first[1].text, "other 0");
    assert_string_equal(d.entries.at[0].first[2].text, "other 1");
    assert_int_equal(from.entries.at[0].count, 7);
    diag_fini(&from);
    diag_fini(&d);
}

TEST(hints_keep_their_order_and_are_merged)
{
    struct diag d, from;

    diag_init(&d);
    diag_init(&from);
    diag_hint(&d, "looked for", "%s", "kernel_details.csv");
    diag_hint(&from, "try", "100 %% of %s", "it");
    diag_merge(&d, &from);
    diag_fini(&from);
    assert_int_equal(d.hints.n, 2);
    assert_string_equal(d.hints.at[0].label, "looked for");
    assert_string_equal(d.hints.at[0].text, "kernel_details.csv");
    assert_string_equal(d.hints.at[1].text, "100 % of it");
    diag_fini(&d);
}

TEST(a_long_text_is_cut_between_characters)
{
    struct diag d;
    char text[2 * LIMIT_CODE_TEXT + 1];

    diag_init(&d);
    for (size_t i = 0; i < LIMIT_CODE_TEXT; i++)
        memcpy(text + 2 * i, "\xc3\xbc", 2);
    text[2 * LIMIT_CODE_TEXT] = '\0';
    diag_add(&d, SEV_WARN, "x.x", nowhere, "%s", text);
    diag_add(&d, SEV_WARN, "x.x", nowhere, "-%s", text);
    /* 1023 bytes fit: 511 two-byte characters, and one less of them after a dash at most. */
    assert_int_equal(strlen(d.entries.at[0].first[0].text), 1022);
    size_t n = strlen(d.entries.at[0].first[1].text);
    assert_true(n == 1023 || n == 1021);
    assert_int_equal((unsigned char)d.entries.at[0].first[1].text[n - 1], 0xbc);
    diag_fini(&d);
}

TEST(severities_have_the_names_users_see)
{
    assert_string_equal(severity_name(SEV_NOTE), "note");
    assert_string_equal(severity_name(SEV_WARN), "warning");
    assert_string_equal(severity_name(SEV_LOSS), "data loss");
    assert_string_equal(severity_name(SEV_ERROR), "error");
}

TEST_MAIN("base/diag", T(a_code_is_counted_and_its_first_three_texts_are_kept),
          T(codes_keep_the_order_in_which_they_came),
          T(failing_counts_an_error_and_hands_the_status_on), T(paths_and_texts_are_copied),
          T(merging_counts_on_and_keeps_the_earliest_texts),
          T(merging_fills_free_places_and_counts_the_rest),
          T(hints_keep_their_order_and_are_merged), T(a_long_text_is_cut_between_characters),
          T(severities_have_the_names_users_see))
