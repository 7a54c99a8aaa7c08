/*
 * Grids of cells, such as ranks by steps, and rows over one axis of time: drawn on the first
 * screen, and as JSON.
 */
#include <math.h>

#include "page/page_data.h"
#include "page/page_html.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "text/page.h"

enum {
    LABEL = 12,        /* percent of the width */
    FEW = 16,          /* rows that are high, */
    HIGH = 24,         /* pixels, */
    LOW = 12,          /* and of more */
    ROWS_SHOWN = 32,   /* on the first screen */
    TEXTS = 16,        /* columns with texts in their cells */
    LANE = 26,         /* pixels of a row over time */
    LANES_SHOWN = 8,   /* on the first screen */
    SPANS_SHOWN = 4000 /* likewise */
};

/* How strong the colour of a value is, 0 to 1. */
static double heat_of(const struct page_metric *metric, double value, double most)
{
    if (metric->is_ratio)
        return value > 1 ? (value - 1) / (fmax(most, 1.05) - 1) : 0;
    if (most <= 0)
        return 0;
    return metric->is_low ? 1 - value / most : value / most;
}

static struct str metric_text(struct page_file *page, const struct page_metric *metric,
                              double value)
{
    return metric->is_ratio ? arena_format(&page->arena, "%.2f ×", value)
                            : page_number_text(page, metric->unit, value);
}

/* ---- grids on the first screen ---- */

static int row_height(size_t rows)
{
    return rows <= FEW ? HIGH : LOW;
}

static void put_row_name(struct page_html *h, const struct page_axis *rows, size_t row, int y,
                         int baseline)
{
    page_html_format(h, "<text class=\"axis%s\" x=\"0\" y=\"%d\">%s</text>\n",
                     rows->is_marked[row] ? " slow" : "", y + baseline,
                     page_escape(h, str_fit(page_wording(h->page, h->lang, rows->names[row]), 20)));
}

static void grid_put_cell(struct page_html *h, const struct page_grid *g, size_t row, size_t column,
                          double most, size_t texts)
{
    const struct page_metric *metric = &g->metrics[0];
    size_t at = row * g->columns.n + column;
    int high = row_height(g->rows.n);
    double width = (100.0 - LABEL) / (double)g->columns.n;
    bool has_link = g->links != NULL && g->links[at].n > 0;

    if (!isfinite(metric->values[at]))
        return;
    if (has_link)
        page_html_format(h, "<a href=\"%s\">", page_escape(h, g->links[at]));
    page_html_format(
        h,
        "<svg x=\"%.3f%%\" y=\"%d\" width=\"%.3f%%\" height=\"%d\"><title>%s</title><rect "
        "class=\"heat\" width=\"100%%\" height=\"100%%\" fill-opacity=\"%.2f\"/>",
        LABEL + (double)column * width, (int)row * high, width * 0.97, high - 2,
        page_escape(h,
                    arena_format(&h->page->arena, "%.*s, %.*s: %.*s",
                                 STR_ARGS(page_wording(h->page, h->lang, g->rows.names[row])),
                                 STR_ARGS(page_wording(h->page, h->lang, g->columns.names[column])),
                                 STR_ARGS(metric_text(h->page, metric, metric->values[at])))),
        0.05 + 0.45 * heat_of(metric, metric->values[at], most));
    if (high == HIGH && g->columns.n <= texts)
        page_html_format(
            h, "<text class=\"wide\" x=\"50%%\" y=\"15\" text-anchor=\"middle\">%s</text>",
            page_escape(h, metric_text(h->page, metric, metric->values[at])));
    page_html_put(h, has_link ? S("</svg></a>\n") : S("</svg>\n"));
}

void page_grid_draw(struct page_html *h, const char *id, const struct page_part *part)
{
    const struct page_grid *g = part->grid;
    size_t rows = g->rows.n < ROWS_SHOWN ? g->rows.n : ROWS_SHOWN;
    int high = row_height(g->rows.n);

    if (g->n_metrics == 0 || g->columns.n == 0)
        return;
    double most = 0;
    for (size_t i = 0; i < g->rows.n * g->columns.n; i++)
        most = fmax(most, g->metrics[0].values[i]);
    page_draw_begin(h, id, (int)rows * high + 20, page_wording(h->page, h->lang, part->title));
    for (size_t r = 0; r < rows; r++) {
        if (high == HIGH || r % 4 == 0 || g->rows.is_marked[r])
            put_row_name(h, &g->rows, r, (int)r * high, high == HIGH ? 15 : 9);
        for (size_t c = 0; c < g->columns.n; c++)
            grid_put_cell(h, g, r, c, most, part->room == PAGE_HALF ? TEXTS / 2 : TEXTS);
    }
    size_t every = (g->columns.n + TEXTS - 1) / TEXTS;
    double width = (100.0 - LABEL) / (double)g->columns.n;
    for (size_t i = 0; i < g->columns.n; i += every)
        page_html_format(
            h, "<text class=\"axis%s\" x=\"%.3f%%\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
            g->columns.is_marked[i] ? " slow" : "", LABEL + ((double)i + 0.5) * width,
            (int)rows * high + 14,
            page_escape(h, str_fit(page_wording(h->page, h->lang, g->columns.names[i]), 12)));
    page_html_put(h, S("</svg>\n"));
}

/* ---- rows over time on the first screen ---- */

static void put_span(struct page_html *h, const struct page_lanes *l, const struct page_span *s,
                     int y)
{
    double scale = l->until > 0 ? (100.0 - LABEL) / l->until : 0;

    page_html_format(h, "<rect x=\"%.3f%%\" y=\"%d\" width=\"%.3f%%\" height=\"%d\" ",
                     LABEL + s->from * scale, y + (s->is_below ? 13 : 2),
                     fmax(0.03, (s->to - s->from) * scale), s->is_below ? 9 : 10);
    if (s->family >= 0)
        page_html_format(h, "class=\"f%d\"", s->family);
    else
        page_html_put(h, S("fill=\"url(#h-sync)\""));
    page_html_format(h, "><title>%s, %s</title></rect>\n",
                     page_escape_wording(h, l->names.at[s->text]),
                     page_escape(h, page_time_text(&h->page->arena, s->to - s->from)));
}

void page_lanes_draw(struct page_html *h, const char *id, const struct page_part *part)
{
    const struct page_lanes *l = part->lanes;
    size_t rows = l->n_first < LANES_SHOWN ? l->n_first : LANES_SHOWN, spans = 0;

    page_draw_begin(h, id, (int)rows * LANE + 16, page_wording(h->page, h->lang, part->title));
    for (size_t i = 0; i < rows; i++) {
        put_row_name(h, &l->rows, l->first[i], (int)i * LANE, 16);
        for (size_t k = 0; k < l->spans.n; k++)
            if (l->spans.at[k].row == l->first[i] && spans++ < SPANS_SHOWN)
                put_span(h, l, &l->spans.at[k], (int)i * LANE);
    }
    page_html_format(
        h,
        "<text class=\"axis\" x=\"%d%%\" y=\"%d\">0</text><text class=\"axis\" x=\"100%%\" "
        "y=\"%d\" text-anchor=\"end\">%s</text></svg>\n<ul class=\"legend\">",
        LABEL, (int)rows * LANE + 12, (int)rows * LANE + 12,
        page_escape(h, page_time_text(&h->page->arena, l->until)));
    for (size_t i = 0; i < l->n_legend; i++) {
        page_html_put(h, S("<li>"));
        if (l->legend[i].family >= 0)
            page_html_format(h, "<span class=\"swatch f%d\"></span>", l->legend[i].family);
        else
            page_html_put(h, S("<svg class=\"swatch\" width=\"12\" height=\"12\"><rect "
                               "width=\"12\" height=\"12\" fill=\"url(#h-sync)\"/></svg>"));
        page_html_format(h, "%s</li>", page_escape_message(h, l->legend[i].label));
    }
    page_html_put(h, S("</ul>\n"));
}

/* ---- JSON ---- */

/* Names of an axis, and the marked ones; they end the list. */
static void put_names(struct json_writer *w, struct page_file *page, const struct page_axis *axis)
{
    for (size_t i = 0; i < axis->n; i++)
        page_json_text(w, page, axis->names[i]);
    json_write_end(w);
}

static void put_marks(struct json_writer *w, const struct page_axis *axis)
{
    for (size_t i = 0; i < axis->n; i++)
        if (axis->is_marked[i])
            json_write_i64(w, (int64_t)i);
    json_write_end(w);
}

void page_grid_json(struct json_writer *w, struct page_file *page, const struct page_grid *g)
{
    size_t cells = g->rows.n * g->columns.n;

    page_put_grid_part_type(w, "grid");
    page_put_grid_part_rows(w);
    put_names(w, page, &g->rows);
    page_put_grid_part_rowsMarked(w);
    put_marks(w, &g->rows);
    page_put_grid_part_columns(w);
    put_names(w, page, &g->columns);
    page_put_grid_part_columnsMarked(w);
    put_marks(w, &g->columns);
    page_put_grid_part_metrics(w);
    for (size_t i = 0; i < g->n_metrics; i++) {
        const struct page_metric *metric = &g->metrics[i];
        json_write_object(w);
        page_put_metric_name(w, metric->name);
        page_put_metric_unit(w, page_units[metric->unit]);
        page_put_metric_ratio(w, metric->is_ratio);
        page_put_metric_low(w, metric->is_low);
        page_put_metric_values(w);
        for (size_t k = 0; k < cells; k++)
            json_write_f64(w, num_round(metric->values[k], 4));
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
    page_put_grid_part_links(w);
    for (size_t i = 0; i < cells && g->links != NULL; i++)
        json_write_string(w, g->links[i]);
    json_write_end(w);
}

/* Ends the list. */
static void put_spans(struct json_writer *w, const struct page_span *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int64_t span[] = {at[i].row,         at[i].is_below, llround(at[i].from),
                                llround(at[i].to), at[i].family,   at[i].text};
        page_json_numbers(w, NULL, span, ARRAY_LEN(span));
    }
    json_write_end(w);
}

/* Rows over time: names once, spans by their places. */
void page_lanes_json(struct json_writer *w, struct page_file *page, const struct page_lanes *l)
{
    page_put_lanes_part_type(w, "lanes");
    page_put_lanes_part_rows(w);
    put_names(w, page, &l->rows);
    page_put_lanes_part_rowsMarked(w);
    put_marks(w, &l->rows);
    page_put_lanes_part_until(w, l->until);
    page_put_lanes_part_names(w);
    for (size_t i = 0; i < l->names.n; i++)
        page_json_text(w, page, l->names.at[i]);
    json_write_end(w);
    page_put_lanes_part_spans(w);
    put_spans(w, l->spans.at, l->spans.n);
    page_put_lanes_part_path(w);
    put_spans(w, l->path.at, l->path.n);
    page_put_lanes_part_legend(w);
    for (size_t i = 0; i < l->n_legend; i++) {
        json_write_object(w);
        page_put_legend_label(w, l->legend[i].label);
        page_put_legend_family(w, l->legend[i].family);
        json_write_end(w);
    }
    json_write_end(w);
    page_put_lanes_part_first(w);
    for (size_t i = 0; i < l->n_first; i++)
        json_write_i64(w, (int64_t)l->first[i]);
    json_write_end(w);
}
