#include "base/files/user_settings.h"

#include "base/testing_arena.h"

static const char *settings_find(const char *text, const char *key)
{
    struct config_value value = {0};

    config_find(&arena, "config", str_of(text), key, &value, &diag);
    return value.text;
}

TEST(the_last_line_of_a_key_holds)
{
    assert_string_equal(
        settings_find("a = 1\n  gpu.clock.default=base # why\n", "gpu.clock.default"), "base");
    assert_string_equal(settings_find("k = 1\nk = 2", "k"), "2");
    assert_string_equal(settings_find("k =\n", "k"), "");
    assert_null(settings_find("# k = 1\nkk = 2\n\n", "k"));
    assert_null(settings_find("", "k"));
    assert_int_equal(diag.entries.n, 0);
    assert_null(settings_find("k\n=\n", "k"));
    assert_int_equal(diag.entries.n, 1);
}

TEST_MAIN("base/files/user_settings", TA(the_last_line_of_a_key_holds))
