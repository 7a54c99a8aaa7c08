/*
 * Panels: what a page holds of them for its script, and what its first screen draws.
 */
#include "page/page_panel.h"

#include <math.h>

#include "base/tables/tree.h"
#include "page/page_html.h"
#include "page/page_json.h"
#include "page/page_testing.h"
#include "text/page.h"

static struct page_file page;

static void panel_begin(void)
{
    page_init(&page, PAGE_GPU, &(struct page_options){.lang = LANG_EN});
}

/* The panels as JSON, read back. */
static const struct tree *panels_of(struct text *json)
{
    struct page_json escaped = {text_sink(json)};
    struct tree_error error;
    struct json_writer w;

    json_write_init(&w, page_json_sink(&escaped), JSON_COMPACT);
    json_write_object(&w);
    page_write_panels(&page, &w);
    json_write_end(&w);
    json_write_finish(&w);
    const struct tree *panels =
        tree_get(tree_read_json(&page.arena, text_view(json), &error), S("panels"));
    assert_non_null(panels);
    return panels;
}

static const struct tree *panel_part_of(const struct tree *panels)
{
    return tree_items(tree_get(tree_items(panels), S("parts")));
}

/* What the first screen shows of them. */
static struct text drawn(enum lang lang, bool is_top)
{
    struct text out = {0};

    page_draw_panels(&(struct page_html){.sink = text_sink(&out), .page = &page, .lang = lang},
                     is_top);
    return out;
}

static size_t count_of(const struct text *text, const char *what)
{
    struct str left = text_view(text), word = str_of(what);
    size_t n = 0, at;

    while ((at = str_find(left, word)) < left.n) {
        left = str_part(left, at + word.n, left.n);
        n++;
    }
    return n;
}

static void panel_end(struct text *a, struct text *b)
{
    text_free(a);
    text_free(b);
    page_fini(&page);
}

TEST(bars_have_widths_and_what_they_save)
{
    struct text json = {0};

    panel_begin();
    struct page_panel *p = page_panel_add(&page, "whatif", &page_text.nav_what_if);
    struct page_bars *bars = page_bars_add(p, NULL, PAGE_NS, 2000);
    page_part(p)->room = PAGE_HALF;
    bars->is_saved = true;
    page_bar_add(bars, (struct page_bar){.label = wording_plain(S("<MTE2> & \"more\"")),
                                         .value = 500,
                                         .before = 2000,
                                         .family = PAGE_COPY,
                                         .link = page_row_address(&page, "whatif", 3)});
    page_bar_add(bars, (struct page_bar){.label = wording_plain(S("over")),
                                         .value = 9000,
                                         .family = PAGE_HATCHED});
    const struct tree *part = panel_part_of(panels_of(&json));
    assert_str(tree_get_text(part, S("type"), S("")), "bars");
    assert_str(tree_get_text(part, S("unit"), S("")), "ns");
    const struct tree *bar = tree_items(tree_get(part, S("bars")));
    assert_str(tree_get_text(bar, S("label"), S("")), "<MTE2> & \"more\"");
    assert_true(tree_number(tree_get(bar, S("before"))) == 2000);
    assert_str(tree_get_text(bar, S("link"), S("")), "#v=whatif&row=3");
    assert_int_equal(tree_get(bar->next, S("before"))->kind, TREE_NULL);
    assert_int_equal(count_of(&json, "<"), 0); /* nothing that could end the element */

    struct text html = drawn(LANG_EN, false), top = drawn(LANG_EN, true);
    assert_int_equal(count_of(&html, "&lt;MTE2&gt; &amp; &quot;more&quot;</a>"), 1);
    assert_int_equal(count_of(&html, "href=\"#v=whatif&amp;row=3\""), 1);
    assert_int_equal(count_of(&html, "width=\"25.00%\""), 1);
    assert_int_equal(count_of(&html, "width=\"100.00%\""), 2); /* before, and what is over */
    assert_int_equal(count_of(&html, "better-text"), 1);
    assert_int_equal(top.n, 0);
    text_free(&top);
    panel_end(&json, &html);
}

TEST(a_grid_has_heat_texts_and_links)
{
    struct text json = {0};

    panel_begin();
    struct page_panel *p = page_panel_add(&page, "ranks", &page_text.cluster_ranks);
    struct page_grid *g = page_grid_add(p, &page_text.cluster_heat, 2, 2);
    double *ratio = page_metric_add(
        p, g, (struct page_metric){.name = &page_text.cluster_compute, .is_ratio = true});
    page_part(p)->room = PAGE_WHOLE;
    g->links = ARENA_ARRAY(&page.arena, struct str, 4);
    for (size_t i = 0; i < 2; i++)
        g->rows.names[i] = g->columns.names[i] = wording_plain(i == 0 ? S("<a>") : S("b"));
    g->rows.is_marked[1] = true;
    g->links[2] = S("#v=slowest&row=1");
    ratio[0] = 1;
    ratio[2] = 1.5;
    const struct tree *part = panel_part_of(panels_of(&json));
    assert_str(tree_get_text(part, S("type"), S("")), "grid");
    assert_true(tree_number(tree_items(tree_get(part, S("rowsMarked")))) == 1);
    const struct tree *value =
        tree_items(tree_get(tree_items(tree_get(part, S("metrics"))), S("values")));
    assert_true(tree_number(value) == 1);
    assert_int_equal(value->next->kind, TREE_NULL);

    struct text html = drawn(LANG_EN, false);
    assert_int_equal(count_of(&html, "fill-opacity=\"0.05\""), 1); /* usual */
    assert_int_equal(count_of(&html, "fill-opacity=\"0.50\""), 1); /* the largest */
    assert_int_equal(count_of(&html, "href=\"#v=slowest&amp;row=1\""), 1);
    assert_int_equal(count_of(&html, "1.50 ×</text>"), 1);
    assert_int_equal(count_of(&html, "axis slow"), 1);
    panel_end(&json, &html);
}

TEST(lanes_have_spans_on_one_axis_of_time)
{
    static const struct page_legend legend[] = {{&page_text.cluster_compute, PAGE_MATRIX},
                                                {&page_text.cluster_waiting, PAGE_HATCHED}};
    struct text json = {0};
    size_t first[] = {1};

    panel_begin();
    struct page_panel *p = page_panel_add(&page, "slowest", &page_text.cluster_worst);
    struct page_lanes *l = page_lanes_add(p, NULL, 2);
    page_part(p)->room = PAGE_WHOLE;
    l->rows.names[0] = wording_plain(S("rank 0"));
    l->rows.names[1] = wording_plain(S("rank 1"));
    l->until = 2000;
    l->legend = legend;
    l->n_legend = 2;
    l->first = first;
    l->n_first = 1;
    vec_push(&l->names, wording_plain(S("work")));
    vec_push(&l->spans, ((struct page_span){0, 0, false, PAGE_MATRIX, 0, 500}));
    vec_push(&l->spans, ((struct page_span){1, 0, true, PAGE_HATCHED, 1000, 2000}));
    const struct tree *part = panel_part_of(panels_of(&json));
    assert_str(tree_get_text(part, S("type"), S("")), "lanes");
    const struct tree *span = tree_items(tree_get(part, S("spans")));
    assert_true(tree_number(tree_items(span->next)) == 1);
    assert_true(tree_number(tree_items(span->next)->next) == 1);

    struct text html = drawn(LANG_EN, false);
    assert_int_equal(count_of(&html, "work, 1.00"), 1); /* of the row that is open */
    assert_int_equal(count_of(&html, "x=\"56.000%\""), 1);
    assert_int_equal(count_of(&html, "rank 0"), 0);
    panel_end(&json, &html);
}

TEST(tables_keep_rows_links_and_unknown_numbers)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_kernel, PAGE_NAME, false},
        {&page_text.col_share, PAGE_SHARE, true},
        {&page_text.col_count, PAGE_COUNT, false},
    };
    struct text json = {0};

    panel_begin();
    struct page_panel *p = page_panel_add(&page, "hot", &page_text.nav_roofline);
    struct page_table *t = page_table_add(p, NULL, columns, ARRAY_LEN(columns));
    page_part(p)->room = PAGE_WHOLE;
    t->shown = 1;
    t->columns_shown = 2;
    for (int i = 0; i < 3; i++) {
        page_cell_text(t, i == 0 ? S("first") : S("other"));
        page_cell_number(t, i == 1 ? NAN : 0.25);
        page_cell_number(t, 1e6 * i);
        if (i != 1)
            page_row_link(t, page_row_address(&page, "hot", (size_t)i));
    }
    assert_int_equal(page_table_rows(t), 3);
    const struct tree *part = panel_part_of(panels_of(&json));
    const struct tree *row = tree_items(tree_get(part, S("rows")));
    assert_int_equal(tree_get(part, S("rows"))->n, 3);
    assert_str(tree_text(row->first), "first");
    assert_int_equal(row->next->first->next->kind, TREE_NULL);
    assert_true(tree_number(row->next->next->last) == 2e6);
    const struct tree *link = tree_items(tree_get(part, S("links")));
    assert_str(tree_text(link), "#v=hot&row=0");
    assert_str(tree_text(link->next), "");

    struct text html = drawn(LANG_ZH, false);
    assert_int_equal(count_of(&html, "<tr>"), 2); /* its head, and one row */
    assert_int_equal(count_of(&html, "<th "), 2);
    assert_int_equal(count_of(&html, "first</a>"), 1);
    assert_true(count_of(&html, "占比") > 0);
    panel_end(&json, &html);
}

TEST(charts_are_logarithmic_and_leave_out_what_is_not_positive)
{
    const double x[] = {1, 10, 1000}, y[] = {1e9, 1e10, 1e10};
    struct text json = {0};

    panel_begin();
    struct page_panel *p = page_panel_add(&page, "roofline", &page_text.nav_roofline);
    struct page_chart *c = page_chart_add(p, &page_text.nav_roofline);
    page_part(p)->room = PAGE_HALF;
    c->x_unit = PAGE_PLAIN;
    c->y_unit = PAGE_FLOPS;
    c->x_label = c->y_label = &page_text.axis_intensity;
    page_curve_add(c, wording_plain(S("roof")), x, y, ARRAY_LEN(x));
    for (int i = 0; i < 3; i++)
        vec_push(&c->points, ((struct page_point){.x = i == 2 ? 0 : 10,
                                                  .y = i == 1 ? NAN : 1e9,
                                                  .size = 1,
                                                  .name = wording_plain(S("point")),
                                                  .row = i == 0 ? 7 : SIZE_MAX}));
    const struct tree *part = panel_part_of(panels_of(&json));
    const struct tree *point = tree_items(tree_get(part, S("points")));
    assert_true(tree_number(tree_get(point, S("row"))) == 7);
    assert_int_equal(tree_get(point->next, S("row"))->kind, TREE_NULL);
    const struct tree *curve = tree_items(tree_get(part, S("curves")));
    assert_int_equal(tree_get(curve, S("points"))->n, 3);

    struct text html = drawn(LANG_EN, false);
    assert_int_equal(count_of(&html, "<circle"), 1);
    assert_int_equal(count_of(&html, "href=\"#v=roofline&amp;row=7\""), 1);
    assert_int_equal(count_of(&html, "class=\"roof\""), 1);
    assert_int_equal(count_of(&html, "nan"), 0);
    assert_int_equal(count_of(&html, "inf"), 0);
    panel_end(&json, &html);
}

TEST(maps_are_for_the_script)
{
    struct text json = {0};

    panel_begin();
    struct page_panel *p = page_panel_add(&page, "buffers", &page_text.nav_buffers);
    struct page_map *m = page_map_add(p, NULL, wording_plain(S("UB")));
    m->size = 196608;
    m->until = 1000;
    vec_push(&m->boxes, ((struct page_box){.name = wording_plain(S("%a")),
                                           .from = 1,
                                           .to = 5,
                                           .at = 64,
                                           .size = 32,
                                           .row = SIZE_MAX}));
    const struct tree *part = panel_part_of(panels_of(&json));
    assert_str(tree_get_text(part, S("name"), S("")), "UB");
    assert_true(tree_number(tree_get(tree_items(tree_get(part, S("boxes"))), S("at"))) == 64);
    struct text html = drawn(LANG_EN, false);
    assert_int_equal(count_of(&html, "<section"), 0); /* below the first screen */
    panel_end(&json, &html);
}

TEST(numbers_have_units)
{
    static const struct {
        enum page_unit unit;
        double value;
        const char *text;
    } cases[] = {
        {PAGE_NS, 1500, "1.50\u202fµs"},
        {PAGE_SHARE, 0.055, "5.5\u202f%"},
        {PAGE_CHANGE, 0.5, "+50\u202f%"},
        {PAGE_COUNT, 12345, "12\u202f345"},
        {PAGE_BANDWIDTH, 2.5e9, "2.50\u202fGB/s"},
        {PAGE_FLOPS, 3e12, "3\u202fTFLOP/s"},
        {PAGE_PLAIN, 7, "7"},
        {PAGE_PLAIN, 0.125, "0.125"},
        {PAGE_TICKS, 2000, "2.00\u202fµs"},
    };

    panel_begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(
            arena_cstr(&page.arena, page_number_text(&page, cases[i].unit, cases[i].value)),
            cases[i].text);
    page.has_cycles = true;
    assert_str(page_number_text(&page, PAGE_TICKS, 2000), "2\u202f000");
    page_fini(&page);
}

TEST_MAIN("page/page_panel", T(bars_have_widths_and_what_they_save),
          T(a_grid_has_heat_texts_and_links), T(lanes_have_spans_on_one_axis_of_time),
          T(tables_keep_rows_links_and_unknown_numbers),
          T(charts_are_logarithmic_and_leave_out_what_is_not_positive), T(maps_are_for_the_script),
          T(numbers_have_units))
