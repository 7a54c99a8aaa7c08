#include "render/timelines/flame.h"

#include "base/diag.h"
#include "base/files/gz.h"
#include "base/testing_arena.h"
#include "base/text/text.h"

static void flame_add(struct capture *cap, lane_id lane, const char *name, nanos begin, nanos dur)
{
    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = lane,
                                       .name = capture_intern(cap, str_of(name))});
}

static struct capture *flame_sample(void)
{
    struct capture *cap = capture_new();
    lane_id main = capture_lane(cap, (struct lane_key){.kind = LANE_THREAD,
                                                       .device = -1,
                                                       .name = capture_intern(cap, S("main")),
                                                       .pid = 4,
                                                       .tid = 5});

    flame_add(cap, main, "step", 100, 100);
    flame_add(cap, main, "a;b\n", 110, 40);
    flame_add(cap, main, "leaf", 120, 10);
    flame_add(cap, main, "leaf", 135, 10);
    flame_add(cap, main, "late", 145, 30); /* overlaps a;b without lying in it */
    flame_add(cap, main, "step", 300, 10);
    cap->name = "run";
    capture_seal(cap);
    return cap;
}

static struct text flame_render(const struct timeline_format *format, const struct capture *cap)
{
    struct text text = {0};
    struct timeline_options how = {0};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    assert_true(format->write(&cut, &how, text_sink(&text)));
    cut_fini(&cut);
    return text;
}

TEST(stacks_hold_the_time_that_no_inner_slice_has)
{
    struct capture *cap = flame_sample();
    struct text text = flame_render(&timeline_folded, cap);

    assert_str(text_view(&text), "process 4;main;step 40\n"
                                 "process 4;main;step;a:b\\n 20\n"
                                 "process 4;main;step;a:b\\n;leaf 20\n"
                                 "process 4;main;step;late 30\n");
    text_free(&text);
    capture_free(cap);
}

TEST(slices_nested_without_end_are_counted_with_the_deepest)
{
    enum { DEEP = FLAME_DEPTH + 100 };
    struct capture *cap = capture_new();
    lane_id lane = capture_lane(cap, (struct lane_key){.kind = LANE_STREAM});
    struct flame flame;
    struct cut cut;

    for (nanos i = 0; i < DEEP; i++)
        flame_add(cap, lane, "again", i, 2 * DEEP - 2 * i);
    capture_seal(cap);
    cut_init(&cut, cap, &(struct cut_options){0});
    assert_true(flame_init(&flame, &cut, &(struct timeline_options){0}));
    assert_int_equal(flame.nodes.n, FLAME_DEPTH + 3);
    assert_int_equal(flame.nodes.at[FLAME_DEPTH + 2].count, 101);
    assert_int_equal(flame.nodes.at[FLAME_DEPTH + 2].self, 2 * DEEP - 2 * (FLAME_DEPTH - 1));
    nanos all = 0;
    for (size_t i = 0; i < flame.nodes.n; i++)
        all += flame.nodes.at[i].self;
    assert_int_equal(all, 2 * DEEP);
    flame_fini(&flame);
    cut_fini(&cut);
    capture_free(cap);
}

TEST(speedscope_has_a_profile_for_each_row)
{
    struct capture *cap = flame_sample();
    struct text text = flame_render(&timeline_speedscope, cap);

    text_char(&text, '\0');
    assert_non_null(strstr(text.at, "\"frames\":[\n{\"name\":\"step\"},\n{\"name\":\"a;b\\n\"},\n"
                                    "{\"name\":\"leaf\"},\n{\"name\":\"late\"}]}"));
    assert_non_null(strstr(
        text.at,
        "{\"type\":\"evented\",\"name\":\"process 4 / "
        "main\",\"unit\":\"nanoseconds\",\"startValue\":0,"
        "\"endValue\":210,\"events\":[\n{\"type\":\"O\",\"frame\":0,\"at\":0},\n"
        "{\"type\":\"O\",\"frame\":1,\"at\":10},\n{\"type\":\"O\",\"frame\":2,\"at\":20},\n"
        "{\"type\":\"C\",\"frame\":2,\"at\":30},\n{\"type\":\"O\",\"frame\":2,\"at\":35},\n"
        "{\"type\":\"C\",\"frame\":2,\"at\":45},\n{\"type\":\"C\",\"frame\":1,\"at\":50},\n"
        "{\"type\":\"C\",\"frame\":0,\"at\":100},\n{\"type\":\"O\",\"frame\":0,\"at\":200},\n"
        "{\"type\":\"C\",\"frame\":0,\"at\":210}]}"));
    assert_non_null(strstr(text.at, "\"name\":\"process 4 / main (2)\""));
    assert_non_null(strstr(text.at, "[\n{\"type\":\"O\",\"frame\":3,\"at\":45},\n"
                                    "{\"type\":\"C\",\"frame\":3,\"at\":75}]"));
    text_free(&text);
    capture_free(cap);
}

TEST(pprof_has_a_sample_for_each_stack)
{
    struct capture *cap = flame_sample();
    struct text packed = flame_render(&timeline_pprof, cap);
    struct str text;

    assert_int_equal(gz_read_all(text_view(&packed), 1 << 20, "f", &diag, &arena, &text), ST_OK);
    /* Two types of values; then step, called by the thread, called by the process: twice, 40 ns. */
    static const char head[] = "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"
                               "\x12\x09\x0a\x03\x01\x02\x03\x12\x02\x02\x28";
    assert_true(text.n > sizeof(head));
    assert_memory_equal(text.at, head, sizeof(head) - 1);
    text_free(&packed);
    capture_free(cap);
}

TEST_MAIN("render/timelines/flame", T(stacks_hold_the_time_that_no_inner_slice_has),
          T(slices_nested_without_end_are_counted_with_the_deepest),
          T(speedscope_has_a_profile_for_each_row), TA(pprof_has_a_sample_for_each_stack))
