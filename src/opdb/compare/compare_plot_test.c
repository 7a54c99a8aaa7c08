#include "opdb/compare/compare_shapes.h"

#include "base/testing.h"

static struct text plot_draw(struct plot_point *points, size_t n)
{
    struct text out = {0};
    struct json_writer j;
    struct arena arena;
    struct plot plot;

    arena_init(&arena);
    plot_make(&plot, &arena, points, n);
    json_write_init(&j, text_sink(&out), JSON_COMPACT);
    record_json(&j, &plot_record, &plot, NULL);
    assert_true(json_write_finish(&j));
    arena_free(&arena);
    return out;
}

TEST(points_with_both_times_are_drawn_and_the_furthest_come_first)
{
    struct plot_point points[] = {
        {S_INIT("near"), S_INIT(""), 100, 104, 0}, /* +4 %, the bin from -5 to 5 */
        {S_INIT("far"), S_INIT(""), 100, 50, 0},   /* -50 % opens the bin from -50 */
        {S_INIT("alone"), S_INIT(""), 0, 70, 0},
    };
    struct text out = plot_draw(points, 3);
    struct str all = {out.at, out.n};
    size_t worst = str_find(all, S("\"worst\":[{\"kernel_type\":\"alone\""));

    assert_true(worst < all.n);
    assert_true(str_find(str_part(all, 0, worst), S("alone")) == worst);
    assert_true(str_contains(all, S("{\"from_pct\":-5.0,\"to_pct\":5.0,\"count\":1}")));
    assert_true(str_contains(all, S("{\"from_pct\":-50.0,\"to_pct\":-25.0,\"count\":1}")));
    assert_true(str_contains(all, S("{\"from_pct\":null,\"to_pct\":-75.0,\"count\":0}")));
    text_free(&out);
}

TEST(no_points_draw_nothing)
{
    struct text out = plot_draw(NULL, 0);
    struct str all = {out.at, out.n};

    assert_true(str_starts(all, S("{\"scatter\":[],\"error_histogram\":[")));
    assert_true(str_contains(all, S("\"worst\":[]}")));
    text_free(&out);
}

TEST_MAIN("opdb/compare/compare_plot",
          T(points_with_both_times_are_drawn_and_the_furthest_come_first),
          T(no_points_draw_nothing))
