#include "base/text/c_locale.h"

#include <stdio.h>

#include "base/testing_locale.h"

TEST(what_was_set_comes_back)
{
    locale_t own = duplocale(c_locale()), first = uselocale(own);
    locale_t before = c_locale_begin();

    assert_ptr_equal(before, own);
    assert_ptr_equal(uselocale((locale_t)0), c_locale());
    c_locale_end(before);
    assert_ptr_equal(uselocale(first), own);
    freelocale(own);
}

TEST(a_decimal_comma_around_us_is_not_seen)
{
    char text[16];

    locale_comma_begin();
    locale_t before = c_locale_begin();
    snprintf(text, sizeof(text), "%.1f", 0.5);
    c_locale_end(before);
    locale_comma_end();
    assert_string_equal(text, "0.5");
}

TEST_MAIN("base/text/c_locale", T(what_was_set_comes_back),
          T(a_decimal_comma_around_us_is_not_seen))
