#include "render/render.h"

#include "base/testing.h"

static void draw_check(struct text *text, const char *expected)
{
    text_char(text, '\0');
    assert_string_equal(text->at, expected);
    text_clear(text);
}

TEST(a_bar_ends_at_an_eighth)
{
    struct text text = {0};

    render_bar(&text, 0.5, 4, false);
    draw_check(&text, "██");
    render_bar(&text, 0.53125, 4, false);
    draw_check(&text, "██▏");
    render_bar(&text, 7, 4, false);
    draw_check(&text, "████");
    render_bar(&text, 0.1, 4, true);
    draw_check(&text, "");
    render_bar(&text, 0.7, 4, true);
    draw_check(&text, "###");
    render_bar(&text, -1, 4, true);
    draw_check(&text, "");
    text_free(&text);
}

TEST(a_series_keeps_its_peaks)
{
    static const double steps[] = {1, 1, 8, 1, 1, 1, 4, 1};
    struct text text = {0};

    render_series(&text, (struct report_values){steps, ARRAY_LEN(steps)}, 20, false);
    draw_check(&text, "▂▂█▂▂▂▅▂");
    render_series(&text, (struct report_values){steps, ARRAY_LEN(steps)}, 4, true);
    draw_check(&text, ".#.=");
    render_series(&text, (struct report_values){steps, 0}, 4, true);
    draw_check(&text, "");
    render_series(&text, (struct report_values){(const double[]){0, 0}, 2}, 4, true);
    draw_check(&text, "__");
    text_free(&text);
}

TEST_MAIN("render/draw", T(a_bar_ends_at_an_eighth), T(a_series_keeps_its_peaks))
