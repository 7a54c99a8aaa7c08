#include "flow/flow_check.h"

#include "base/testing.h"
#include "base/text.h"

TEST(junit_escapes_what_xml_cannot_hold)
{
    struct gate_result list[] = {
        {.gate = "a<b & \"c\"", .capture = "x\033[2J", .is_passed = true, .text = "fine"},
        {.gate = "g", .capture = "\xff", .is_passed = false, .text = "1 > 0"},
    };
    const struct gate_results results = {.at = list, .n = 2, .failed = 1};
    struct text xml = {0};

    gate_results_junit(&results, "p", &xml);
    struct str text = text_view(&xml);
    assert_true(str_find(text, S("tests=\"2\" failures=\"1\"")) < text.n);
    assert_true(str_find(text, S("name=\"a&lt;b &amp; &quot;c&quot;\"")) < text.n);
    assert_true(str_find(text, S("message=\"1 &gt; 0\"")) < text.n);
    assert_int_equal(str_find_char(text, '\033'), text.n);
    assert_int_equal(str_find_char(text, '\xff'), text.n);
    text_free(&xml);
}

TEST_MAIN("flow/flow_check", T(junit_escapes_what_xml_cannot_hold))
