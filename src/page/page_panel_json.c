/*
 * Views as JSON, for the script.
 */
#include "page/page_json.h"
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

static void put_key_text(struct json_writer *w, struct page_file *page, const char *key,
                         struct wording text)
{
    json_write_key(w, str_of(key));
    if (text.english.n > 0)
        page_json_text(w, page, text);
    else
        json_write_null(w);
}

static void put_rounded(struct json_writer *w, const char *key, double value)
{
    json_put_f64(w, key, num_round(value, 6));
}

static void put_bars(struct json_writer *w, struct page_file *page, const struct page_bars *bars)
{
    json_put_text(w, "type", "bars");
    json_put_text(w, "unit", page_units[bars->unit]);
    put_rounded(w, "most", bars->most);
    json_put_bool(w, "stack", bars->is_stack);
    json_put_bool(w, "saved", bars->is_saved);
    json_put_array(w, "bars");
    for (size_t i = 0; i < bars->at.n; i++) {
        const struct page_bar *bar = &bars->at.at[i];
        json_write_object(w);
        put_key_text(w, page, "label", bar->label);
        put_key_text(w, page, "note", bar->note);
        put_rounded(w, "value", bar->value);
        if (bar->before > 0)
            put_rounded(w, "before", bar->before);
        else
            json_put_null(w, "before");
        json_put_i64(w, "family", bar->family);
        json_put_str_or_null(w, "link", bar->link);
        json_write_end(w);
    }
    json_write_end(w);
}

static void json_put_table(struct json_writer *w, struct page_file *page,
                           const struct page_table *t)
{
    json_put_text(w, "type", "table");
    json_put_array(w, "columns");
    for (size_t c = 0; c < t->n_columns; c++) {
        json_write_object(w);
        page_json_message(w, "head", t->columns[c].head);
        json_put_text(w, "unit", page_units[t->columns[c].unit]);
        json_put_bool(w, "bar", t->columns[c].has_bar);
        json_write_end(w);
    }
    json_write_end(w);
    json_put_array(w, "rows");
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
    json_put_array(w, "links");
    for (size_t i = 0; i < t->links.n; i++)
        json_write_string(w, t->links.at[i]);
    json_write_end(w);
}

static void put_curve(struct json_writer *w, struct page_file *page, const struct page_curve *c)
{
    json_write_object(w);
    put_key_text(w, page, "label", c->label);
    json_put_array(w, "points");
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
    json_put_text(w, "type", "chart");
    json_put_bool(w, "square", c->is_square);
    json_put_text(w, "xUnit", page_units[c->x_unit]);
    json_put_text(w, "yUnit", page_units[c->y_unit]);
    page_json_message(w, "xLabel", c->x_label);
    page_json_message(w, "yLabel", c->y_label);
    json_put_array(w, "points");
    for (size_t i = 0; i < c->points.n; i++) {
        const struct page_point *p = &c->points.at[i];
        json_write_object(w);
        put_key_text(w, page, "name", p->name);
        json_put_f64(w, "x", p->x);
        json_put_f64(w, "y", p->y);
        put_rounded(w, "size", p->size);
        json_put_i64(w, "family", p->family);
        json_put_known(w, "row", p->row != SIZE_MAX, (int64_t)p->row);
        json_write_end(w);
    }
    json_write_end(w);
    json_put_array(w, "curves");
    for (size_t i = 0; i < c->curves.n; i++)
        put_curve(w, page, &c->curves.at[i]);
    json_write_end(w);
}

static void put_map(struct json_writer *w, struct page_file *page, const struct page_map *m)
{
    json_put_text(w, "type", "map");
    put_key_text(w, page, "name", m->name);
    put_rounded(w, "size", m->size);
    put_rounded(w, "until", m->until);
    json_put_array(w, "boxes");
    for (size_t i = 0; i < m->boxes.n; i++) {
        const struct page_box *b = &m->boxes.at[i];
        json_write_object(w);
        put_key_text(w, page, "name", b->name);
        put_rounded(w, "from", b->from);
        put_rounded(w, "to", b->to);
        put_rounded(w, "at", b->at);
        put_rounded(w, "size", b->size);
        json_put_i64(w, "family", b->family);
        json_put_known(w, "row", b->row != SIZE_MAX, (int64_t)b->row);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_part(struct json_writer *w, struct page_file *page, const struct page_part *part)
{
    json_write_object(w);
    put_key_text(w, page, "title", part->title);
    put_key_text(w, page, "text", part->note);
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
    json_put_array(w, "panels");
    for (size_t i = 0; i < page->panels.n; i++) {
        const struct page_panel *panel = page->panels.at[i];
        json_write_object(w);
        json_put_text(w, "id", panel->id);
        page_json_message(w, "title", panel->title);
        json_put_array(w, "parts");
        for (size_t k = 0; k < panel->parts.n; k++)
            put_part(w, page, &panel->parts.at[k]);
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
}
