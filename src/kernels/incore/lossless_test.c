#include "kernels/incore/files.h"

#include "base/formats/json_write.h"
#include "base/testing.h"

static struct incore_lossless told;

/* The events of the result, without the frame; lives until the next call. */
static const char *events_of(const char *events)
{
    static struct text out;
    struct arena arena;
    const char *reason;

    arena_init(&arena);
    text_free(&out);
    out = (struct text){0};
    struct str text = arena_format(&arena, "{\"a\":[1],\"traceEvents\":[%s],\"z\":2}", events);
    assert_int_equal(incore_lossless_write(text, text_sink(&out), &told, &reason), ST_OK);
    text_sink(&out).write(&out, (struct str){"", 1});
    arena_free(&arena);
    assert_memory_equal(out.at, "{\"a\":[1],\"traceEvents\":[", 24);
    char *end = strstr(out.at, "],\"z\":2}");
    assert_non_null(end);
    *end = '\0';
    return out.at + 24;
}

TEST(what_overlaps_gets_rows_and_all_of_them_a_number)
{
    const char *out =
        events_of("{\"ph\":\"X\",\"pid\":\"core0\",\"tid\":\"MTE2\",\"ts\":1,\"dur\":2,\"x\":[7]},"
                  "{\"ph\":\"X\",\"pid\":\"core0\",\"tid\":\"MTE2\",\"ts\":1,\"dur\":3},"
                  "{\"ph\":\"X\",\"pid\":\"core0\",\"tid\":\"CUBE\",\"ts\":1,\"dur\":3},"
                  "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":\"core0\",\"tid\":\"MTE2\","
                  "\"args\":{\"sort_index\":6}},"
                  "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":\"core0\",\"tid\":\"CUBE\","
                  "\"args\":{\"sort_index\":4}}");

    /* The longer one comes first and stands on row 0. */
    assert_string_equal(
        out, "\n{\"ph\":\"X\",\"pid\":\"core0\",\"tid\":\"MTE2#1\",\"ts\":1,\"dur\":2,\"x\":[7]},"
             "\n{\"ph\":\"X\",\"pid\":\"core0\",\"tid\":\"MTE2#0\",\"ts\":1,\"dur\":3},"
             "\n{\"ph\":\"X\",\"pid\":\"core0\",\"tid\":\"CUBE\",\"ts\":1,\"dur\":3},"
             "\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":\"core0\",\"tid\":\"MTE2#0\","
             "\"args\":{\"sort_index\":600}},"
             "\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":\"core0\",\"tid\":\"MTE2#1\","
             "\"args\":{\"sort_index\":601}},"
             "\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":\"core0\",\"tid\":\"CUBE\","
             "\"args\":{\"sort_index\":400}}");
    assert_int_equal(told.rows, 3);
}

TEST(a_pair_becomes_one_event_even_when_its_ends_are_swapped)
{
    const char *out = events_of(
        "{\"ph\":\"B\",\"pid\":\"core0\",\"tid\":\"MTE2\",\"id\":\"a\",\"ts\":5,\"name\":\"S\"},"
        "{\"ph\":\"E\",\"pid\":\"core0\",\"tid\":\"MTE2\",\"id\":\"a\",\"ts\":4.5,\"name\":\"S\"},"
        "{\"ph\":\"E\",\"pid\":\"core0\",\"tid\":\"MTE2\",\"id\":\"b\",\"ts\":6,\"name\":\"S\"}");

    assert_string_equal(
        out,
        "\n{\"ph\":\"X\",\"pid\":\"core0\",\"tid\":\"MTE2\",\"id\":\"a\",\"ts\":4.5,\"name\":\"S\","
        "\"dur\":0.5},"
        "\n{\"ph\":\"E\",\"pid\":\"core0\",\"tid\":\"MTE2\",\"id\":\"b\",\"ts\":6,\"name\":\"S\"}");
    assert_int_equal(told.pairs, 1);
    assert_int_equal(told.unpaired, 1);
}

TEST(arrows_go_to_the_row_of_their_flag)
{
    const char *out =
        events_of("{\"ph\":\"X\",\"pid\":\"core0\",\"tid\":\"V\",\"ts\":0,\"dur\":9},"
                  "{\"ph\":\"B\",\"pid\":\"core0\",\"tid\":\"V\",\"id\":\"f\",\"ts\":1,\"name\":"
                  "\"SET_FLAG\"},"
                  "{\"ph\":\"E\",\"pid\":\"core0\",\"tid\":\"V\",\"id\":\"f\",\"ts\":2,\"name\":"
                  "\"SET_FLAG\"},"
                  "{\"ph\":\"s\",\"pid\":\"core0\",\"tid\":\"V\",\"id\":\"f\",\"ts\":2},"
                  "{\"ph\":\"t\",\"pid\":\"core0\",\"tid\":\"V\",\"id\":\"g\",\"ts\":2}");

    assert_non_null(strstr(out, "{\"ph\":\"s\",\"pid\":\"core0\",\"tid\":\"V#1\""));
    assert_non_null(strstr(out, "{\"ph\":\"t\",\"pid\":\"core0\",\"tid\":\"V#0\""));
}

TEST(other_processes_and_damage_pass_through)
{
    static const char events[] = "{\"ph\":\"X\",\"pid\":\"host\",\"tid\":1,\"ts\":1,\"dur\":2},7,"
                                 "{\"ph\":\"X\",\"pid\":\"host\",\"tid\":1,\"ts\":1,\"dur\":2},"
                                 "{\"ph\":\"X\",\"pid\":\"core0\",\"tid\":{},\"ts\":1},"
                                 "{\"ph\":\"C\",\"pid\":\"core0\",\"ts\":\"x\"}";
    struct text none = {0};
    const char *reason = NULL;
    const char *out = events_of(events);

    assert_int_equal(told.slices + told.pairs, 0);
    for (const char *a = events, *b = out; *a != '\0'; a++, b++) {
        while (*b == '\n')
            b++;
        assert_int_equal(*a, *b);
    }
    assert_int_equal(incore_lossless_write(S("{\"traceEvents\":[{\"ph\":\"X\"}"), text_sink(&none),
                                           &told, &reason),
                     ST_FORMAT);
    assert_non_null(reason);
    assert_int_equal(none.n, 0);
}

TEST_MAIN("kernels/incore/lossless", T(what_overlaps_gets_rows_and_all_of_them_a_number),
          T(a_pair_becomes_one_event_even_when_its_ends_are_swapped),
          T(arrows_go_to_the_row_of_their_flag), T(other_processes_and_damage_pass_through))
