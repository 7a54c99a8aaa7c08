/*
 * Views as JSON, for the script.
 */
#include "page/page_data.h"
#include "page/page_panel.h"
#include "text/page.h"

const char *const page_units[PAGE_UNITS] = {
    [PAGE_TEXT] = "text",           [PAGE_NAME] = "name",     [PAGE_CODE] = "code",
    [PAGE_COUNT] = "count",         [PAGE_TICKS] = "ticks",   [PAGE_NS] = "ns",
    [PAGE_SHARE] = "share",         [PAGE_CHANGE] = "change", [PAGE_BYTES] = "bytes",
    [PAGE_BANDWIDTH] = "bandwidth", [PAGE_FLOPS] = "flops",   [PAGE_PLAIN] = "plain",
};

void page_json_text(struct json_writer *w, struct page_file *page, struct wording text)
{
    struct str en = page_wording(page, LANG_EN, text), zh = page_wording(page, LANG_ZH, text);

    if (str_equal(en, zh))
        json_write_string(w, en);
    else
        page_json_wording(w, page, NULL, text);
}

static void put_bars(struct json_writer *w, struct page_file *page, const struct page_bars *bars)
{
    page_put_bars_part_type(w, "bars");
    page_put_bars_part_unit(w, page_units[bars->unit]);
    page_put_bars_part_most(w, bars->most);
    page_put_bars_part_stack(w, bars->is_stack);
    page_put_bars_part_saved(w, bars->is_saved);
    page_put_bars_part_bars(w);
    for (size_t i = 0; i < bars->at.n; i++) {
        const struct page_bar *bar = &bars->at.at[i];
        json_write_object(w);
        page_put_bar_label(w, page, bar->label);
        page_put_bar_note(w, page, bar->note);
        page_put_bar_value(w, bar->value);
        if (bar->before > 0)
            page_put_bar_before(w, bar->before);
        else
            page_null_bar_before(w);
        page_put_bar_family(w, bar->family);
        page_put_bar_link(w, bar->link);
        json_write_end(w);
    }
    json_write_end(w);
}

static void json_put_table(struct json_writer *w, struct page_file *page,
                           const struct page_table *t)
{
    page_put_table_part_type(w, "table");
    page_put_table_part_columns(w);
    for (size_t c = 0; c < t->n_columns; c++) {
        json_write_object(w);
        page_put_column_head(w, t->columns[c].head);
        page_put_column_unit(w, page_units[t->columns[c].unit]);
        page_put_column_bar(w, t->columns[c].has_bar);
        json_write_end(w);
    }
    json_write_end(w);
    page_put_table_part_rows(w);
    for (size_t i = 0; i < page_table_rows(t); i++) {
        json_write_array(w);
        for (size_t c = 0; c < t->n_columns; c++) {
            const struct page_cell *cell = &t->cells.at[i * t->n_columns + c];
            if (page_is_text(t->columns[c].unit))
                page_json_text(w, page, cell->text);
            else
                json_write_f64(w, num_round(cell->number, 6));
        }
        json_write_end(w);
    }
    json_write_end(w);
    page_put_table_part_links(w);
    for (size_t i = 0; i < t->links.n; i++)
        json_write_string(w, t->links.at[i]);
    json_write_end(w);
}

static void put_curve(struct json_writer *w, struct page_file *page, const struct page_curve *c)
{
    json_write_object(w);
    page_put_curve_label(w, page, c->label);
    page_put_curve_points(w);
    for (size_t i = 0; i < c->x.n; i++) {
        json_write_array(w);
        json_write_f64(w, c->x.at[i]);
        json_write_f64(w, c->y.at[i]);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

static void put_chart(struct json_writer *w, struct page_file *page, const struct page_chart *c)
{
    page_put_chart_part_type(w, "chart");
    page_put_chart_part_square(w, c->is_square);
    page_put_chart_part_xUnit(w, page_units[c->x_unit]);
    page_put_chart_part_yUnit(w, page_units[c->y_unit]);
    page_put_chart_part_xLabel(w, c->x_label);
    page_put_chart_part_yLabel(w, c->y_label);
    page_put_chart_part_points(w);
    for (size_t i = 0; i < c->points.n; i++) {
        const struct page_point *p = &c->points.at[i];
        json_write_object(w);
        page_put_point_name(w, page, p->name);
        page_put_point_x(w, p->x);
        page_put_point_y(w, p->y);
        page_put_point_size(w, p->size);
        page_put_point_family(w, p->family);
        page_put_point_row(w, p->row != SIZE_MAX, (int64_t)p->row);
        json_write_end(w);
    }
    json_write_end(w);
    page_put_chart_part_curves(w);
    for (size_t i = 0; i < c->curves.n; i++)
        put_curve(w, page, &c->curves.at[i]);
    json_write_end(w);
}

static void put_map(struct json_writer *w, struct page_file *page, const struct page_map *m)
{
    page_put_map_part_type(w, "map");
    page_put_map_part_name(w, page, m->name);
    page_put_map_part_size(w, m->size);
    page_put_map_part_until(w, m->until);
    page_put_map_part_boxes(w);
    for (size_t i = 0; i < m->boxes.n; i++) {
        const struct page_box *b = &m->boxes.at[i];
        json_write_object(w);
        page_put_box_name(w, page, b->name);
        page_put_box_from(w, b->from);
        page_put_box_to(w, b->to);
        page_put_box_at(w, b->at);
        page_put_box_size(w, b->size);
        page_put_box_family(w, b->family);
        page_put_box_row(w, b->row != SIZE_MAX, (int64_t)b->row);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_part(struct json_writer *w, struct page_file *page, const struct page_part *part)
{
    json_write_object(w);
    page_put_part_title(w, page, part->title);
    page_put_part_text(w, page, part->note);
    switch (part->kind) {
    case PAGE_PART_BARS:
        put_bars(w, page, part->bars);
        break;
    case PAGE_PART_TABLE:
        json_put_table(w, page, part->table);
        break;
    case PAGE_PART_CHART:
        put_chart(w, page, part->chart);
        break;
    case PAGE_PART_MAP:
        put_map(w, page, part->map);
        break;
    case PAGE_PART_GRID:
        page_grid_json(w, page, part->grid);
        break;
    case PAGE_PART_LANES:
        page_lanes_json(w, page, part->lanes);
        break;
    }
    json_write_end(w);
}

void page_write_panels(struct page_file *page, struct json_writer *w)
{
    page_put_model_panels(w);
    for (size_t i = 0; i < page->panels.n; i++) {
        const struct page_panel *panel = page->panels.at[i];
        json_write_object(w);
        page_put_panel_id(w, panel->id);
        page_put_panel_title(w, panel->title);
        page_put_panel_parts(w);
        for (size_t k = 0; k < panel->parts.n; k++)
            put_part(w, page, &panel->parts.at[k]);
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
}
