#include "opdb/compare/compare_trace.h"

#include "base/testing.h"

static struct predicted p;
static struct diag d;

static int compare_trace_begin(void **state)
{
    (void)state;
    diag_init(&d);
    p = (struct predicted){0};
    return 0;
}

static int compare_trace_end(void **state)
{
    (void)state;
    predicted_free(&p);
    diag_fini(&d);
    return 0;
}

#define TW(name) cmocka_unit_test_setup_teardown(name, compare_trace_begin, compare_trace_end)

static enum status compare_trace_parse(const char *text)
{
    return predicted_parse(&p, "t.json", str_of(text), &d);
}

TEST(values_are_copied_as_text)
{
    assert_int_equal(
        compare_trace_parse(
            "\xef\xbb\xbf{\"traceEvents\":[{\"name\":\"a\\u00b5\",\"ph\":\"X\",\"dur\":1.50,"
            "\"pid\":1,\"args\":{\"composite\":true,\"confidence\":0.9,\"source\":null,"
            "\"zero_cost\":false,\"sub_kernel_shapes\":[ {\"k\": 1} ],\"kernel_type\":\"K\","
            "\"kernel_type\":\"L\"}}]}"),
        ST_OK);
    assert_int_equal(p.events.n, 1);
    const struct predicted_event *e = &p.events.at[0];
    assert_str(e->name, "a\u00b5");
    assert_str(e->dur_text, "1.50");
    assert_true(e->dur == 1.5);
    assert_str(e->args[TRACE_COMPOSITE], "True");
    assert_str(e->args[TRACE_CONFIDENCE], "0.9");
    assert_str(e->args[TRACE_SOURCE], "");
    assert_str(e->args[TRACE_ZERO_COST], "False");
    assert_str(e->args[TRACE_SUB_SHAPES], "[ {\"k\": 1} ]");
    assert_str(e->args[TRACE_KERNEL_TYPE], "L");
}

TEST(what_is_missing_is_empty_or_0)
{
    assert_int_equal(
        compare_trace_parse("{\"traceEvents\":[{\"ph\":\"X\"},{\"ph\":\"X\",\"args\":null,"
                            "\"dur\":\"7\"},{\"ph\":\"B\",\"name\":\"b\"},{\"ph\":1}]}"),
        ST_OK);
    assert_int_equal(p.events.n, 2);
    assert_str(p.events.at[0].name, "");
    assert_str(p.events.at[0].dur_text, "0");
    assert_str(p.events.at[1].dur_text, "7");
    assert_true(p.events.at[1].dur == 0);
}

TEST(the_first_process_with_a_telling_name_is_the_prediction)
{
    assert_int_equal(
        compare_trace_parse(
            "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":4,\"args\":{\"name\":\"analytic\"}},"
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\"4\",\"args\":{\"name\":\"My "
            "Empirical (PID: 1)\"}},"
            "{\"ph\":\"X\",\"pid\":4},{\"ph\":\"X\",\"pid\":\"4\"},{\"ph\":\"X\"}]"),
        ST_OK);
    assert_int_equal(p.processes.n, 3);
    assert_int_equal(p.named, 1);
    assert_true(p.processes.at[1].is_text);
    assert_int_equal(p.events.at[1].process, 1);
    assert_str(p.processes.at[2].pid, "None");
}

TEST(damage_is_refused_with_its_line)
{
    static const char *const texts[] = {
        "",
        "{",
        "[{\"ph\":\"X\"}",
        "{\"traceEvents\":[1,]}",
        "{} x",
        "version https://git-lfs.github.com/spec/v1\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(compare_trace_parse(texts[i]), ST_FORMAT);
        predicted_free(&p);
    }
    assert_int_equal(diag_count(&d, "perfdb.trace-json"), ARRAY_LEN(texts));
    compare_trace_parse("{\n\"traceEvents\":\n[}]}");
    assert_int_equal(d.entries.at[0].first[0].where.line, 1);
    assert_int_equal(d.hints.n, 1); /* git lfs pull */
}

TEST(no_list_of_events_is_an_empty_trace_and_said_so)
{
    assert_int_equal(compare_trace_parse("{\"traceEvents\":3}"), ST_OK);
    assert_int_equal(diag_count(&d, "perfdb.trace-no-events"), 1);
    predicted_free(&p);
    assert_int_equal(compare_trace_parse("{\"traceEvents\":[1,[2],{\"ph\":\"X\"}]}"), ST_OK);
    assert_int_equal(p.events.n, 1);
    assert_int_equal(diag_count(&d, "perfdb.trace-odd-event"), 1);
}

TEST(lists_of_kernels_are_trimmed)
{
    struct str *k;

    predicted_parse(&p, "t", S("[]"), &d);
    assert_int_equal(compare_trace_kernels(&p.arena, S("A,B , ,C"), &k), 3);
    assert_str(k[1], "B");
    assert_int_equal(compare_trace_kernels(&p.arena, S(","), &k), 0);
    assert_int_equal(compare_trace_kernels(&p.arena, S(""), &k), 0);
    assert_str(compare_trace_operator(S("torch.ops.aten.mm")), "aten.mm");
    assert_str(compare_trace_operator(S("aten.mm")), "aten.mm");
}

TEST_MAIN("opdb/compare/compare_trace", TW(values_are_copied_as_text),
          TW(what_is_missing_is_empty_or_0),
          TW(the_first_process_with_a_telling_name_is_the_prediction),
          TW(damage_is_refused_with_its_line), TW(no_list_of_events_is_an_empty_trace_and_said_so),
          TW(lists_of_kernels_are_trimmed))
