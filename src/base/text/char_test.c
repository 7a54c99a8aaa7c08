/* Tests of char: all 256 bytes against the C locale's own classes. */
#include "base/text/char.h"

#include <ctype.h>
#include <string.h>

#include "base/testing.h"

TEST(classes_are_those_of_the_c_locale)
{
    for (int i = 0; i < 256; i++) {
        char c = (char)i;
        assert_int_equal(char_is_digit(c), isdigit(i) != 0);
        assert_int_equal(char_is_lower(c), islower(i) != 0);
        assert_int_equal(char_is_upper(c), isupper(i) != 0);
        assert_int_equal(char_is_letter(c), isalpha(i) != 0);
        assert_int_equal(char_is_alnum(c), isalnum(i) != 0);
        assert_int_equal(char_is_word(c), isalnum(i) != 0 || c == '_');
        assert_int_equal(char_is_space(c), isspace(i) != 0);
        assert_int_equal(char_is_blank(c), i != 0 && strchr(" \t\r\n", i) != NULL);
        assert_int_equal((unsigned char)char_lower(c), tolower(i));
        assert_int_equal((unsigned char)char_upper(c), toupper(i));
    }
}

TEST(hexadecimal_digits_have_a_value)
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < 256; i++) {
        const char *at = i != 0 ? strchr(digits, tolower(i)) : NULL;
        assert_int_equal(char_hex((char)i), at != NULL ? at - digits : -1);
    }
}

TEST_MAIN("base/text/char", T(classes_are_those_of_the_c_locale),
          T(hexadecimal_digits_have_a_value))
