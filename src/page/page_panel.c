/*
 * Views as plain data: making and releasing them.
 */
#include "page/page_panel.h"

#include <math.h>

#include "page/page_number.h"

struct page_panel *page_panel_add(struct page_file *page, const char *id,
                                  const struct message *title)
{
    struct page_panel *panel = ARENA_NEW(&page->arena, struct page_panel);

    *panel = (struct page_panel){.id = id, .page = page, .title = title};
    vec_push(&page->panels, panel);
    return panel;
}

static void free_part(struct page_part *part)
{
    switch (part->kind) {
    case PAGE_PART_BARS:
        vec_free(&part->bars->at);
        break;
    case PAGE_PART_TABLE:
        vec_free(&part->table->cells);
        vec_free(&part->table->links);
        break;
    case PAGE_PART_CHART:
        for (size_t i = 0; i < part->chart->curves.n; i++) {
            vec_free(&part->chart->curves.at[i].x);
            vec_free(&part->chart->curves.at[i].y);
        }
        vec_free(&part->chart->curves);
        vec_free(&part->chart->points);
        break;
    case PAGE_PART_MAP:
        vec_free(&part->map->boxes);
        break;
    case PAGE_PART_GRID:
        break; /* in the arena */
    case PAGE_PART_LANES:
        vec_free(&part->lanes->names);
        vec_free(&part->lanes->spans);
        vec_free(&part->lanes->path);
        break;
    }
}

void page_panels_free(struct page_file *page)
{
    for (size_t i = 0; i < page->panels.n; i++) {
        struct page_panel *panel = page->panels.at[i];
        for (size_t k = 0; k < panel->parts.n; k++)
            free_part(&panel->parts.at[k]);
        vec_free(&panel->parts);
    }
    vec_free(&page->panels);
}

struct page_part *page_part(struct page_panel *panel)
{
    return &panel->parts.at[panel->parts.n - 1];
}

static struct page_part *add_part(struct page_panel *panel, enum page_part_kind kind,
                                  const struct message *title)
{
    struct page_part part = {.kind = kind};

    if (title != NULL)
        part.title = page_say(panel->page, title);
    vec_push(&panel->parts, part);
    return page_part(panel);
}

struct page_bars *page_bars_add(struct page_panel *panel, const struct message *title,
                                enum page_unit unit, double most)
{
    struct page_bars *bars = ARENA_NEW(&panel->page->arena, struct page_bars);

    *bars = (struct page_bars){.unit = unit, .most = most};
    add_part(panel, PAGE_PART_BARS, title)->bars = bars;
    return bars;
}

struct page_table *page_table_add(struct page_panel *panel, const struct message *title,
                                  const struct page_table_column *columns, size_t n_columns)
{
    struct page_table *table = ARENA_NEW(&panel->page->arena, struct page_table);

    *table = (struct page_table){.columns = columns, .n_columns = n_columns};
    add_part(panel, PAGE_PART_TABLE, title)->table = table;
    return table;
}

struct page_chart *page_chart_add(struct page_panel *panel, const struct message *title)
{
    struct page_chart *chart = ARENA_NEW(&panel->page->arena, struct page_chart);

    *chart = (struct page_chart){0};
    add_part(panel, PAGE_PART_CHART, title)->chart = chart;
    return chart;
}

struct page_map *page_map_add(struct page_panel *panel, const struct message *title,
                              struct wording name)
{
    struct page_map *map = ARENA_NEW(&panel->page->arena, struct page_map);

    *map = (struct page_map){.name = name};
    add_part(panel, PAGE_PART_MAP, title)->map = map;
    return map;
}

static struct page_axis axis_of(struct page_panel *panel, size_t n)
{
    struct arena *arena = &panel->page->arena;

    return (struct page_axis){ARENA_ARRAY(arena, struct wording, n), ARENA_ARRAY(arena, bool, n),
                              n};
}

struct page_grid *page_grid_add(struct page_panel *panel, const struct message *title, size_t rows,
                                size_t columns)
{
    struct page_grid *grid = ARENA_NEW(&panel->page->arena, struct page_grid);

    *grid = (struct page_grid){.rows = axis_of(panel, rows), .columns = axis_of(panel, columns)};
    add_part(panel, PAGE_PART_GRID, title)->grid = grid;
    return grid;
}

double *page_metric_add(struct page_panel *panel, struct page_grid *g, struct page_metric metric)
{
    size_t cells = g->rows.n * g->columns.n;

    metric.values = ARENA_ARRAY(&panel->page->arena, double, cells);
    for (size_t i = 0; i < cells; i++)
        metric.values[i] = NAN;
    g->metrics[g->n_metrics++] = metric;
    return metric.values;
}

struct page_lanes *page_lanes_add(struct page_panel *panel, const struct message *title,
                                  size_t rows)
{
    struct page_lanes *lanes = ARENA_NEW(&panel->page->arena, struct page_lanes);

    *lanes = (struct page_lanes){.rows = axis_of(panel, rows)};
    add_part(panel, PAGE_PART_LANES, title)->lanes = lanes;
    return lanes;
}

void page_bar_add(struct page_bars *bars, struct page_bar bar)
{
    vec_push(&bars->at, bar);
}

static void add_cell(struct page_table *t, struct page_cell cell)
{
    if (t->cells.n % t->n_columns == 0)
        vec_push(&t->links, S(""));
    vec_push(&t->cells, cell);
}

void page_cell_number(struct page_table *t, double number)
{
    add_cell(t, (struct page_cell){.number = number});
}

void page_cell_wording(struct page_table *t, struct wording text)
{
    add_cell(t, (struct page_cell){.text = text});
}

void page_cell_text(struct page_table *t, struct str text)
{
    page_cell_wording(t, wording_plain(text));
}

void page_row_link(struct page_table *t, struct str link)
{
    t->links.at[t->links.n - 1] = link;
}

void page_curve_add(struct page_chart *c, struct wording label, const double *x, const double *y,
                    size_t n)
{
    struct page_curve curve = {.label = label};

    for (size_t i = 0; i < n; i++) {
        vec_push(&curve.x, x[i]);
        vec_push(&curve.y, y[i]);
    }
    vec_push(&c->curves, curve);
}

struct str page_row_address(struct page_file *page, const char *view, size_t row)
{
    return arena_format(&page->arena, "#v=%s&row=%zu", view, row);
}

struct str page_number_text(struct page_file *page, enum page_unit unit, double value)
{
    struct arena *arena = &page->arena;

    switch (unit) {
    case PAGE_TICKS:
        return page->has_cycles ? page_whole_text(arena, value) : page_time_text(arena, value);
    case PAGE_COUNT:
        return page_whole_text(arena, value);
    case PAGE_NS:
        return page_time_text(arena, value);
    case PAGE_SHARE:
        return page_share_text(arena, value);
    case PAGE_CHANGE:
        return value > 0 ? arena_format(arena, "+%.*s", STR_ARGS(page_share_text(arena, value)))
                         : page_share_text(arena, value);
    case PAGE_BYTES:
        return page_scaled_text(arena, value, "B");
    case PAGE_BANDWIDTH:
        return page_scaled_text(arena, value, "B/s");
    case PAGE_FLOPS:
        return page_scaled_text(arena, value, "FLOP/s");
    default:
        return value == floor(value) ? page_whole_text(arena, value)
                                     : arena_format(arena, "%.3g", value);
    }
}
