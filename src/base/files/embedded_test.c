#include "base/files/embedded.h"

#include <string.h>

#include "base/testing.h"

TEST(files_are_found_in_path_order_with_a_zero_byte_behind_them)
{
    size_t n = 0;

    for (const struct embedded *e = embedded_files; e->path; e++, n++) {
        assert_ptr_equal(embedded_file(e->path).at, e->text.at);
        assert_int_equal(e->text.at[e->text.n], '\0');
        if (n > 0)
            assert_true(strcmp(e[-1].path, e->path) < 0);
    }
    assert_true(n > 0);
    assert_null(embedded_file("no/such.file").at);
}

TEST(the_text_is_that_of_the_file)
{
    assert_true(str_starts(embedded_file("pto/chips.csv"), S("chip,arch,")));
}

TEST_MAIN("base/files/embedded", T(files_are_found_in_path_order_with_a_zero_byte_behind_them),
          T(the_text_is_that_of_the_file))
