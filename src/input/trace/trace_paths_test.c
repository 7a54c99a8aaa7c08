/*
 * Events of known layouts, read along their paths, give what the thorough reader gives: the same
 * rows, the same numbers, the same troubles.
 */
#include "input/trace/trace_paths.h"

#include <stdio.h>

#include "base/testing.h"
#include "input/trace_same.h"

enum { COPIES = 12 };

static struct trace_chunk best, plain, off;

static int paths_fresh(void **state)
{
    (void)state;
    trace_chunk_init(&best, TRACE_ASCEND);
    trace_chunk_init(&plain, TRACE_ASCEND);
    trace_chunk_init(&off, TRACE_ASCEND);
    trace_paths_init(plain.paths, PATHS_PLAIN);
    trace_paths_init(off.paths, PATHS_OFF);
    return 0;
}

static int paths_done(void **state)
{
    (void)state;
    trace_chunk_fini(&best);
    trace_chunk_fini(&plain);
    trace_chunk_fini(&off);
    return 0;
}

static void paths_read_text(struct trace_chunk *c, struct str text)
{
    c->text = text;
    c->offset = c->from = 0;
    c->limit = text.n;
    c->is_last = true;
    trace_chunk_read(c, 0);
}

/* All three agree about `text`, with what it taught, too. */
static void paths_check(struct str text)
{
    for (int round = 0; round < 2; round++) {
        paths_read_text(&best, text);
        paths_read_text(&plain, text);
        paths_read_text(&off, text);
        assert_true(trace_same_chunks(&best, &off));
        assert_true(trace_same_chunks(&plain, &off));
    }
}

/* An ordinary event stands around each of the others, so that there is a layout to leave. */
static const char ordinary[] =
    "{\"ph\": \"X\", \"name\": \"op\", \"pid\": 1, \"tid\": 2, \"ts\": \"1736412474700001.000\", "
    "\"dur\": 1.5, \"cat\": \"cpu_op\", \"args\": {\"Call stack\": \"a;\\r\\nb\", \"n\": 7}}";

static void check_event(const char *event)
{
    static char text[64 << 10];
    size_t n = 0;

    for (int i = 0; i < COPIES; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s, %s, ", ordinary, event);
    n += (size_t)snprintf(text + n, sizeof(text) - n, "%s]", ordinary);
    assert_true(n < sizeof(text));
    paths_check((struct str){text, n});
}

TEST(known_layouts_are_walked)
{
    check_event(ordinary);
    assert_int_equal(off.rows.n, 2 * COPIES + 1);
    assert_int_equal(off.paths->n, 1);
    assert_true(best.paths->n > 1);
    /* No more than the first event and those near the end of the text were read otherwise. */
    assert_true(best.paths->credit > 0);
    assert_non_null(best.paths->nodes[0].child);
}

TEST(all_phases_agree)
{
    check_event(
        "{\"ph\": \"s\", \"bp\": \"e\", \"name\": \"f\", \"id\": 12, \"pid\": 1, \"tid\": 2, "
        "\"ts\": \"1.5\", \"cat\": \"async_npu\"}");
    check_event(
        "{\"ph\": \"f\", \"name\": \"f\", \"id\": \"x1\", \"pid\": 1, \"tid\": 2, \"ts\": 1.5, "
        "\"cat\": \"async_npu\"}");
    check_event("{\"ph\": \"C\", \"name\": \"c\", \"pid\": 1, \"tid\": 2, \"ts\": 3, \"args\": "
                "{\"value\": 4.25}}");
    check_event("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 2, \"args\": "
                "{\"name\": \"CANN\"}}");
    check_event("{\"ph\": \"B\", \"name\": \"b\", \"pid\": 1, \"tid\": 2, \"ts\": 3}");
    check_event("{\"ph\": \"E\", \"name\": \"b\", \"pid\": 1, \"tid\": 2, \"ts\": 4}");
    check_event("{\"ph\": \"?\", \"ts\": 4}");
    check_event("{\"name\": \"no phase\"}");
}

/* Writes `place` with the value for every @ in it. */
static size_t fill_in(char *to, const char *place, const char *value)
{
    size_t n = 0;

    for (; *place != '\0'; place++) {
        if (*place != '@') {
            to[n++] = *place;
            continue;
        }
        memcpy(to + n, value, strlen(value));
        n += strlen(value);
    }
    to[n] = '\0';
    return n;
}

TEST(odd_values_agree)
{
    static const char *const values[] = {
        "\"\"",     "\"a\\\"b\"", "\"a\\\\\"", "\"\\u0041\"", "\"\xc3\xa9\"",
        "\"\xff\"", "\"\x01\"",   "null",      "true",        "NaN",
        "-1",       "1e5",        "1.",        "-0.5",        "4294967295",
        "\"12\"",   "\" 12 \"",   "[1, [2]]",  "{\"a\": 1}",  "12345678901234567890",
        "1.23456",  "00012.5",    "-",
    };
    static const char *const places[] = {
        "{\"ph\": \"X\", \"name\": @, \"pid\": 1, \"tid\": 2, \"ts\": 1.5, \"dur\": 2}",
        "{\"ph\": \"X\", \"name\": \"n\", \"pid\": @, \"tid\": 2, \"ts\": 1.5, \"dur\": 2}",
        "{\"ph\": \"X\", \"name\": \"n\", \"pid\": 1, \"tid\": 2, \"ts\": @, \"dur\": 2}",
        "{\"ph\": \"X\", \"name\": \"n\", \"pid\": 1, \"tid\": 2, \"ts\": 1.5, \"dur\": @}",
        "{\"ph\": \"X\", \"name\": \"n\", \"cat\": @, \"pid\": 1, \"tid\": 2, \"ts\": 1, \"dur\": "
        "2}",
        "{\"ph\": @, \"name\": \"n\", \"pid\": 1, \"tid\": 2, \"ts\": 1.5, \"dur\": 2}",
        "{\"ph\": \"X\", \"name\": \"n\", \"pid\": 1, \"ts\": 1, \"dur\": 2, \"args\": {\"k\": @}}",
        "{\"ph\": \"X\", \"name\": \"n\", \"pid\": 1, \"ts\": 1, \"dur\": 2, \"args\": "
        "{\"Task Type\": @, \"connection_id\": @}}",
        "{\"ph\": \"s\", \"name\": \"n\", \"id\": @, \"pid\": 1, \"tid\": 2, \"ts\": 1}",
    };
    char event[512];

    for (size_t p = 0; p < ARRAY_LEN(places); p++)
        for (size_t v = 0; v < ARRAY_LEN(values); v++) {
            /* Written by the good value and by the odd one in turn. */
            size_t n = fill_in(event, places[p], "7");
            event[n++] = ',';
            fill_in(event + n, places[p], values[v]);
            check_event(event);
        }
}

TEST(odd_layouts_agree)
{
    check_event("{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2}");
    check_event(
        "{ \"ph\" : \"X\" , \"name\" : \"n\" , \"ts\" : 1 , \"dur\" : 2 , \"args\" : { } }");
    check_event("{\"ph\": \"X\", \"name\": \"a\", \"name\": \"b\", \"ts\": 1, \"dur\": 2}");
    check_event("{\"ph\": \"X\", \"ts\": 1, \"dur\": 2, \"args\": {\"k\": \"1\", \"k\": \"2\"}}");
    check_event(
        "{\"ph\": \"X\", \"ts\": 1, \"dur\": 2, \"args\": {\"k\": 1}, \"args\": {\"j\": 2}}");
    check_event("{\"args\": {\"Task Type\": \"AI_CORE\", \"k\": 1}, \"dur\": 2, \"ts\": 1, "
                "\"name\": \"n\", \"ph\": \"X\"}");
    check_event("{\"ph\": \"X\", \"ts\": 1, \"dur\": 2,}");
    check_event("{\"ph\": \"X\", \"ts\": 1 \"dur\": 2}");
    check_event("{}");
    check_event("7");
    check_event("{\"ph\": \"X\", \"p\\u0069d\": 1, \"ts\": 1, \"dur\": 2}");
    check_event(
        "{\"ph\": \"X\", \"name\": \"n\", \"ts\": 1, \"dur\": 2, \"args\": {\"an argument with a "
        "name that is longer than any text that a node of the tree can hold at once\": 1}}");
}

TEST(arguments_of_python_functions_are_left_out)
{
    static const char python[] =
        "{\"ph\": \"X\", \"name\": \"p\", \"pid\": 1, \"tid\": 2, \"ts\": \"5.000\", \"dur\": 1.5, "
        "\"cat\": \"python_function\", \"args\": {\"Call stack\": \"mine\", \"n\": 7}}";

    check_event(python);
    for (size_t i = 0; i < best.strings.at.n; i++)
        assert_false(str_equal(best.strings.at.at[i].raw, S("mine")));
}

/* More categories and threads than there are places for constants. */
TEST(values_without_number_agree)
{
    static char text[256 << 10];
    size_t n = 0;

    for (int i = 0; i < 1000; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "%s{\"ph\": \"X\", \"name\": \"n%d\", \"pid\": %d, \"tid\": %d, "
                              "\"ts\": %d.%03d, \"dur\": %d, \"cat\": \"c%d\", \"args\": {\"s\": "
                              "\"%d\"}}",
                              i > 0 ? ", " : "", i % 7, i % 3, i % 77, i, i % 1000, i % 1999,
                              i % 50 == 49 ? i : i % 2, i % 13);
    n += (size_t)snprintf(text + n, sizeof(text) - n, "]");
    assert_true(n < sizeof(text));
    paths_check((struct str){text, n});
    assert_int_equal(best.rows.n, 1000);
}

/* Arguments that are not kept become part of the texts while they are few, and values then. */
TEST(arguments_that_are_not_kept_agree)
{
    static char text[512 << 10];
    size_t n = 0;

    for (int i = 0; i < 1000; i++)
        n += (size_t)snprintf(
            text + n, sizeof(text) - n,
            "%s{\"ph\": \"%c\", \"name\": \"n\", \"pid\": 1, \"tid\": 2, \"ts\": %d, \"dur\": 1, "
            "\"args\": {\"Model Id\": %s, \"Mode\": \"m%d\", \"Task Id\": %d, \"Batch Id\": %d, "
            "\"notify_id\": \"%d\", \"dst rank\": 4294967295%s}}",
            i > 0 ? ", " : "", "XXCXi"[i % 5], i, i % 3 == 0 ? "4294967295" : "7", i % 2, i,
            i > 500 ? i : i % 3, i,
            i % 11 == 0   ? "1"
            : i % 13 == 0 ? ".0"
                          : "");
    n += (size_t)snprintf(text + n, sizeof(text) - n, "]");
    assert_true(n < sizeof(text));
    paths_check((struct str){text, n});
    assert_true(best.paths->credit > 0);
    assert_int_equal(best.rows.n, 800);
    assert_true(best.samples.n > 0);
}

/* A tree that is full is no reason to read anything else. */
TEST(layouts_without_number_agree)
{
    static char text[512 << 10];
    size_t n = 0;

    for (int i = 0; i < 2000; i++)
        n +=
            (size_t)snprintf(text + n, sizeof(text) - n,
                             "%s{\"ph\": \"X\", \"name\": \"n\", \"ts\": %d, \"dur\": 2, \"args\": "
                             "{\"key%d\": %d}}%s%s",
                             i > 0 ? ", " : "", i, i, i, ", ", ordinary);
    n += (size_t)snprintf(text + n, sizeof(text) - n, "]");
    assert_true(n < sizeof(text));
    paths_check((struct str){text, n});
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, paths_fresh, paths_done)

TEST_MAIN("input/trace/trace_paths", CASE(known_layouts_are_walked), CASE(all_phases_agree),
          CASE(odd_values_agree), CASE(odd_layouts_agree),
          CASE(arguments_of_python_functions_are_left_out), CASE(values_without_number_agree),
          CASE(arguments_that_are_not_kept_agree), CASE(layouts_without_number_agree))
