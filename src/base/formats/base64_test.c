#include "base/formats/base64.h"

#include "base/testing.h"
#include "base/text/text.h"

TEST(bytes_are_padded_to_three)
{
    static const struct {
        struct str bytes, text;
    } cases[] = {
        {S_INIT(""), S_INIT("")},
        {S_INIT("f"), S_INIT("Zg==")},
        {S_INIT("fo"), S_INIT("Zm8=")},
        {S_INIT("foo"), S_INIT("Zm9v")},
        {S_INIT("foobar"), S_INIT("Zm9vYmFy")},
        {S_INIT("\xff\xef\xbe"), S_INIT("/+++")},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct text out = {0};
        assert_true(base64_write(cases[i].bytes, text_sink(&out)));
        assert_int_equal(out.n, base64_size(cases[i].bytes.n));
        assert_true(str_equal(text_view(&out), cases[i].text));
        text_free(&out);
    }
}

TEST_MAIN("base/formats/base64", T(bytes_are_padded_to_three))
