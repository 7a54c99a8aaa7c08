/*
 * page_panel - views of results that are no captures: bars, tables, charts and maps of memory, as
 * plain data. Whoever has a result fills them; the first screen draws some, the script all.
 *
 *     struct page_panel *p = page_panel_add(page, "stalls", &page_text.heading_stalls);
 *     struct page_bars *bars = page_bars_add(p, PAGE_SHARE, 1);
 *     page_bar_add(bars, (struct page_bar){.label = label, .value = 0.89});
 *
 * Everything lives in the arena of the page; numbers that are not known are NAN.
 */
#ifndef STRATA_PAGE_PAGE_PANEL_H
#define STRATA_PAGE_PAGE_PANEL_H

#include "page/page.h"

enum { PAGE_NO_FAMILY = -1, PAGE_HATCHED = -2 };

/* What a number is, and how it is written. */
enum page_unit {
    PAGE_TEXT,
    PAGE_NAME, /* of something in the data: in letters of equal width */
    PAGE_CODE, /* a line of a program: its blanks count */
    PAGE_COUNT,
    PAGE_TICKS, /* cycles, or nanoseconds where the page has none */
    PAGE_NS,
    PAGE_SHARE,  /* 0 to 1 */
    PAGE_CHANGE, /* a share with its sign */
    PAGE_BYTES,
    PAGE_BANDWIDTH, /* bytes a second */
    PAGE_FLOPS,     /* a second */
    PAGE_PLAIN,
    PAGE_UNITS
};

/* Where a part stands on the first screen. */
enum page_room { PAGE_BELOW, PAGE_HALF, PAGE_WHOLE, PAGE_TOP }; /* BELOW: not there */

struct page_bar {
    struct wording label, note;
    double value, before; /* before: what it was, drawn as an outline; 0: nothing */
    int family;           /* or PAGE_NO_FAMILY, PAGE_HATCHED */
    struct str link;      /* may be empty */
};

struct page_bars {
    enum page_unit unit;
    double most;   /* full width */
    bool is_stack; /* one bar of parts that add up to `most` */
    bool is_saved; /* the change from `before` is told too */
    VEC_OF(struct page_bar) at;
};

struct page_table_column {
    const struct message *head;
    enum page_unit unit;
    bool has_bar; /* a bar behind the number, against the column's largest */
};

struct page_cell {
    double number;
    struct wording text; /* of columns that are texts */
};

struct page_table {
    const struct page_table_column *columns;
    size_t n_columns;
    VEC_OF(struct page_cell) cells; /* row by row */
    VEC_OF(struct str) links;       /* of rows; may be empty texts */
    size_t shown, columns_shown;    /* on the first screen; 0: all */
};

struct page_point {
    double x, y, size;
    struct wording name;
    int family;
    size_t row; /* of the table beside it; SIZE_MAX: none */
};

/* A roof, or the line where both sides are equal. */
struct page_curve {
    struct wording label;
    VEC_OF(double) x;
    VEC_OF(double) y;
};

/* Both axes are logarithmic. A curve may lead out of the chart; its second point is in it. */
struct page_chart {
    bool is_square; /* both axes are the same */
    enum page_unit x_unit, y_unit;
    const struct message *x_label, *y_label;
    VEC_OF(struct page_point) points;
    VEC_OF(struct page_curve) curves;
};

/* A buffer: where in its memory, from when to when. */
struct page_box {
    struct wording name;
    double from, to, at, size;
    int family;
    size_t row;
};

struct page_map {
    struct wording name; /* of the memory */
    double size, until;  /* bytes it has; end of time */
    VEC_OF(struct page_box) boxes;
};

/* What the cells of a grid can show; the first one is drawn on the first screen. */
struct page_metric {
    const struct message *name;
    enum page_unit unit;
    bool is_ratio;  /* 1 is usual: only what is above has colour */
    bool is_low;    /* the least has most colour */
    double *values; /* row by row; NAN: nothing there */
};

enum { PAGE_METRICS = 3 };

struct page_axis {
    struct wording *names;
    bool *is_marked;
    size_t n;
};

/* Ranks by steps, or ranks by ranks. */
struct page_grid {
    struct page_axis rows, columns;
    struct page_metric metrics[PAGE_METRICS];
    size_t n_metrics;
    struct str *links; /* of cells, row by row; NULL: none */
};

/* A time of one row; texts are places in `names` of the lanes. */
struct page_span {
    uint32_t row, text;
    bool is_below; /* in the lower half of the row */
    int family;    /* or PAGE_HATCHED */
    double from, to;
};

struct page_legend {
    const struct message *label;
    int family;
};

/* Several rows over one axis of time, nanoseconds. */
struct page_lanes {
    struct page_axis rows;
    double until;
    VEC_OF(struct wording) names;
    VEC_OF(struct page_span) spans;
    VEC_OF(struct page_span) path; /* drawn as a line through them */
    const struct page_legend *legend;
    size_t n_legend;
    size_t *first; /* rows that are shown at first, the others on request */
    size_t n_first;
};

enum page_part_kind {
    PAGE_PART_BARS,
    PAGE_PART_TABLE,
    PAGE_PART_CHART,
    PAGE_PART_MAP,
    PAGE_PART_GRID,
    PAGE_PART_LANES,
};

struct page_part {
    enum page_part_kind kind;
    enum page_room room;
    struct wording title, note; /* may be empty; the title is then the view's */
    union {
        struct page_bars *bars;
        struct page_table *table;
        struct page_chart *chart;
        struct page_map *map;
        struct page_grid *grid;
        struct page_lanes *lanes;
    };
};

struct page_panel {
    const char *id; /* of the view: letters */
    struct page_file *page;
    const struct message *title;
    VEC_OF(struct page_part) parts;
};

struct page_panel *page_panel_add(struct page_file *page, const char *id,
                                  const struct message *title);
void page_panels_free(struct page_file *page);

/* Parts, below the others of the view; page_part() is the last one. */
struct page_bars *page_bars_add(struct page_panel *panel, const struct message *title,
                                enum page_unit unit, double most);
struct page_table *page_table_add(struct page_panel *panel, const struct message *title,
                                  const struct page_table_column *columns, size_t n_columns);
struct page_chart *page_chart_add(struct page_panel *panel, const struct message *title);
struct page_map *page_map_add(struct page_panel *panel, const struct message *title,
                              struct wording name);
struct page_grid *page_grid_add(struct page_panel *panel, const struct message *title, size_t rows,
                                size_t columns);
struct page_lanes *page_lanes_add(struct page_panel *panel, const struct message *title,
                                  size_t rows);
struct page_part *page_part(struct page_panel *panel);

/* A further metric of a grid; gives its values, which are NAN. */
double *page_metric_add(struct page_panel *panel, struct page_grid *g, struct page_metric metric);

void page_bar_add(struct page_bars *bars, struct page_bar bar);

/* Cells from left to right; the first of a row begins it. A link belongs to the row begun last. */
void page_cell_number(struct page_table *t, double number);
void page_cell_text(struct page_table *t, struct str text);
void page_cell_wording(struct page_table *t, struct wording text);
void page_row_link(struct page_table *t, struct str link);

static inline size_t page_table_rows(const struct page_table *t)
{
    return t->n_columns > 0 ? t->cells.n / t->n_columns : 0;
}

void page_curve_add(struct page_chart *c, struct wording label, const double *x, const double *y,
                    size_t n);

/* "#v=stalls&row=3": the address of a row of the view's first table. */
struct str page_row_address(struct page_file *page, const char *view, size_t row);

/* ---- for the files of this folder ---- */

/* A number with its unit, for people. */
struct str page_number_text(struct page_file *page, enum page_unit unit, double value);

void page_write_panels(struct page_file *page, struct json_writer *w);
void page_grid_json(struct json_writer *w, struct page_file *page, const struct page_grid *g);
void page_lanes_json(struct json_writer *w, struct page_file *page, const struct page_lanes *l);
void page_grid_draw(struct page_html *h, const char *id, const struct page_part *part);
void page_lanes_draw(struct page_html *h, const char *id, const struct page_part *part);

/* A text, once when it is the same in both languages; the words of units. */
void page_json_text(struct json_writer *w, struct page_file *page, struct wording text);
extern const char *const page_units[PAGE_UNITS];

/* Those above the actions, or the others. */
void page_draw_panels(struct page_html *h, bool is_top);
void page_draw_pipes(struct page_html *h);

static inline bool page_is_text(enum page_unit unit)
{
    return unit <= PAGE_CODE;
}

#endif
