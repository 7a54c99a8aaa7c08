/*
 * Databases as pages: a prediction against what was measured, and what the tables hold.
 */
#include <math.h>
#include <stdlib.h>

#include "opdb/compare/m6.h"
#include "opdb/predict/accuracy.h"
#include "opdb/rows/check.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "page/pages.h"
#include "text/page.h"

enum { WORST_SHOWN = 8, SHAPE_WIDTH = 60, POINTS = 2000, FINDINGS = 1000 };

#define IS_EXACT 0.005 /* of the measured time */

static double ns_of(double us)
{
    return us * 1e3;
}

/* ---- a comparison ---- */

static double off(const struct shape_row *r)
{
    return fabs(r->predicted_us - r->measured_us);
}

/* Furthest off in time first; the order of the rows decides between equals. */
struct worst {
    const struct shape_row *row;
    size_t was;
};

ORDER_BY(by_error, struct worst, ORDER(off(y->row), off(x->row)) ?: ORDER(x->was, y->was));

struct judged {
    struct worst *at;
    size_t n;
    double predicted, measured, off; /* us, sums */
    size_t unpredicted, unmeasured;
};

static struct judged database_judge(struct page_file *page, const struct shape_rows *rows)
{
    struct judged j = {.at = ARENA_ARRAY(&page->arena, struct worst, rows->at.n + 1),
                       .n = rows->at.n};

    for (size_t i = 0; i < rows->at.n; i++) {
        const struct shape_row *r = &rows->at.at[i];
        j.at[i] = (struct worst){r, i};
        j.predicted += r->predicted_us;
        j.measured += r->measured_us;
        j.off += off(r);
        j.unpredicted += r->predicted_n == 0;
        j.unmeasured += r->measured_n == 0;
    }
    if (j.n > 0)
        qsort(j.at, j.n, sizeof(*j.at), by_error);
    return j;
}

static void add_verdict(struct page_file *page, const struct judged *j, double predicted,
                        double measured)
{
    double share = num_share(predicted - measured, measured);
    const struct message *m = fabs(share) < IS_EXACT ? &page_text.db_exact
                              : share < 0            ? &page_text.db_low
                                                     : &page_text.db_high;

    page->verdict = (struct page_verdict){
        .id = "database",
        .text =
            PAGE_TELL(page, m, PLACE("predicted", page_time_text(&page->arena, ns_of(predicted))),
                      PLACE("measured", page_time_text(&page->arena, ns_of(measured))),
                      PLACE("share", page_share_text(&page->arena, fabs(share)))),
        .replay_error = -1,
    };
    if (j->n > 0 && j->off > 0)
        page->verdict.evidence =
            PAGE_TELL(page, &page_text.db_evidence, PLACE("kernel", j->at[0].row->kernel),
                      PLACE("share", page_share_text(&page->arena, off(j->at[0].row) / j->off)),
                      PLACE("n", j->n));
    else
        page->verdict.evidence = page_say(page, &page_text.db_evidence_none);
}

static void add_actions(struct page_file *page, const struct judged *j)
{
    for (size_t i = 0; i < j->n && page->n_actions < PAGE_ACTIONS; i++) {
        const struct shape_row *r = j->at[i].row;
        if (!(off(r) > 0))
            break;
        page->actions[page->n_actions++] = (struct page_action){
            .id = "measure",
            .title = PAGE_TELL(page,
                               r->measured_n == 0    ? &page_text.db_remove
                               : r->predicted_n == 0 ? &page_text.db_add
                                                     : &page_text.db_measure,
                               PLACE("kernel", r->kernel)),
            .evidence =
                PAGE_TELL(page,
                          r->predicted_n == 0  ? &page_text.db_row_unpredicted
                          : r->measured_n == 0 ? &page_text.db_row_unmeasured
                                               : &page_text.db_row,
                          PLACE("shapes", str_fit(r->shapes, SHAPE_WIDTH)),
                          PLACE("measured", page_time_text(&page->arena, ns_of(r->measured_us))),
                          PLACE("predicted", page_time_text(&page->arena, ns_of(r->predicted_us))),
                          PLACE("off", page_time_text(&page->arena, ns_of(off(r))))),
            .show = page_say(page, &page_text.show_row),
            .link = page_row_address(page, "errors", i),
        };
    }
}

static void add_scatter(struct page_file *page, struct page_panel *panel, const struct judged *j)
{
    struct page_chart *c = page_chart_add(panel, &page_text.heading_scatter);
    double low = INFINITY, high = 0;

    c->is_square = true;
    c->x_unit = c->y_unit = PAGE_NS;
    c->x_label = &page_text.axis_measured;
    c->y_label = &page_text.axis_predicted;
    for (size_t i = 0; i < j->n && c->points.n < POINTS; i++) {
        const struct shape_row *r = j->at[i].row;
        if (!(r->measured_us > 0) || !(r->predicted_us > 0))
            continue;
        low = fmin(low, fmin(r->measured_us, r->predicted_us));
        high = fmax(high, fmax(r->measured_us, r->predicted_us));
        vec_push(&c->points, ((struct page_point){
                                 ns_of(r->measured_us), ns_of(r->predicted_us),
                                 ns_of(r->measured_us), wording_plain(r->kernel),
                                 r->predicted_us < r->measured_us ? PAGE_MATRIX : PAGE_COMM, i}));
    }
    page_part(panel)->room = c->points.n > 0 ? PAGE_HALF : PAGE_BELOW;
    page_part(panel)->note = page_say(page, &page_text.scatter_note);
    if (high > 0) {
        double ends[] = {ns_of(low) / 1e3, ns_of(low), ns_of(high) * 1e3};
        page_curve_add(c, page_say(page, &page_text.curve_equal), ends, ends, ARRAY_LEN(ends));
    }
}

static void add_errors(struct page_file *page, const struct judged *j)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_kernel, PAGE_NAME, false}, {&page_text.col_shape, PAGE_NAME, false},
        {&page_text.col_measured, PAGE_NS, false}, {&page_text.col_predicted, PAGE_NS, false},
        {&page_text.col_off, PAGE_NS, true},       {&page_text.col_error, PAGE_CHANGE, false},
        {&page_text.col_count, PAGE_COUNT, false}, {&page_text.col_source, PAGE_TEXT, false},
    };
    struct page_panel *panel = page_panel_add(page, "errors", &page_text.nav_errors);

    add_scatter(page, panel, j);
    struct page_table *t =
        page_table_add(panel, &page_text.heading_errors, columns, ARRAY_LEN(columns));
    page_part(panel)->room = PAGE_HALF;
    t->shown = WORST_SHOWN;
    t->columns_shown = 6;
    for (size_t i = 0; i < j->n; i++) {
        const struct shape_row *r = j->at[i].row;
        page_cell_text(t, r->kernel);
        page_cell_text(t, r->shapes);
        page_cell_number(t, r->measured_n > 0 ? ns_of(r->measured_us) : NAN);
        page_cell_number(t, r->predicted_n > 0 ? ns_of(r->predicted_us) : NAN);
        page_cell_number(t, ns_of(off(r)));
        page_cell_number(t, isfinite(r->delta_pct) ? r->delta_pct / 100 : NAN);
        page_cell_number(t, (double)(r->measured_n > 0 ? r->measured_n : r->predicted_n));
        page_cell_text(t, r->source);
    }
}

void page_shapes(struct page_file *page, const struct shape_rows *rows, const char *measured,
                 const char *other)
{
    struct judged j = database_judge(page, rows);

    page->title = arena_str(&page->arena, str_basename(str_of(other)));
    page_add_fact(page, PAGE_TELL(page, &page_text.db_against,
                                  PLACE("name", str_basename(str_of(measured)))));
    page_add_fact(page, PAGE_TELL(page, &page_text.db_rows, PLACE("n", j.n)));
    if (page->verdict.text.english.n == 0)
        add_verdict(page, &j, j.predicted, j.measured);
    add_actions(page, &j);
    add_errors(page, &j);
    if (j.unpredicted > 0)
        page_add_missing(page,
                         PAGE_TELL(page, &page_text.missing_predicted, PLACE("n", j.unpredicted)));
    if (j.unmeasured > 0)
        page_add_missing(page, PAGE_TELL(page, &page_text.missing_pass, PLACE("n", j.unmeasured)));
    page_add_missing(page, page_say(page, &page_text.missing_spread));
}

void page_m6(struct page_file *page, const struct m6 *m, const struct shape_rows *rows)
{
    struct judged j = database_judge(page, rows);

    add_verdict(page, &j, m->hit_us, m->total_us);
    page_shapes(page, rows, m->measured, m->trace);
    /* How much of the prediction rests on measurements. */
    const struct {
        const struct message *label;
        double value;
    } shares[] = {{&page_text.metric_m1, m->metrics.m1},
                  {&page_text.metric_m2, m->metrics.m2},
                  {&page_text.metric_m3, m->metrics.m3},
                  {&page_text.metric_m4, m->metrics.m4},
                  {&page_text.metric_m5, m->metrics.m5}};
    struct page_panel *panel = page_panel_add(page, "coverage", &page_text.nav_coverage);
    struct page_bars *bars = page_bars_add(panel, &page_text.heading_coverage, PAGE_SHARE, 1);

    page_part(panel)->room = PAGE_HALF;
    for (size_t i = 0; i < ARRAY_LEN(shares); i++)
        if (isfinite(shares[i].value))
            page_bar_add(bars, (struct page_bar){.label = page_say(page, shares[i].label),
                                                 .value = shares[i].value,
                                                 .family = PAGE_VECTOR});
}

void page_accuracy(struct page_file *page, const struct accuracy *a, const char *dir)
{
    struct shape_rows rows;

    shape_rows_init(&rows);
    for (size_t i = 0; i < a->points.n; i++) {
        const struct accuracy_point *p = &a->points.at[i];
        struct shape_row row = {.kernel = p->kernel,
                                .shapes = p->shapes,
                                .predicted_us = p->predicted_us,
                                .measured_us = p->measured_us,
                                .predicted_n = 1,
                                .measured_n = 1,
                                .source = S("left out")};
        vec_push(&rows.at, row);
    }
    shape_rows_sort(&rows);
    page_shapes(page, &rows, dir, "each row left out once");
    shape_rows_free(&rows);
}

/* ---- the tables ---- */

static void add_tables(struct page_file *page, const struct check *check)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_operator, PAGE_NAME, false},
        {&page_text.col_rows, PAGE_COUNT, true},
        {&page_text.col_valid, PAGE_COUNT, false},
        {&page_text.col_valid_share, PAGE_SHARE, false},
        {&page_text.col_file, PAGE_NAME, false},
    };
    struct page_panel *panel = page_panel_add(page, "tables", &page_text.nav_tables);
    struct page_table *t =
        page_table_add(panel, &page_text.heading_tables, columns, ARRAY_LEN(columns));

    page_part(panel)->room = PAGE_WHOLE;
    t->shown = 12;
    for (size_t i = 0; i < check->tables.n; i++) {
        const struct check_table *of = &check->tables.at[i];
        page_cell_text(t, of->op);
        page_cell_number(t, (double)of->rows);
        page_cell_number(t, (double)of->valid);
        page_cell_number(t, of->rows > 0 ? num_share((double)of->valid, (double)of->rows) : NAN);
        page_cell_text(t, str_basename(str_of(of->path)));
    }
}

static void add_findings(struct page_file *page, const struct check *check)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_finding, PAGE_TEXT, false},
        {&page_text.col_file, PAGE_NAME, false},
        {&page_text.col_line, PAGE_PLAIN, false},
        {&page_text.col_kind, PAGE_TEXT, false},
    };

    if (check->findings.n == 0)
        return;
    struct page_panel *panel = page_panel_add(page, "findings", &page_text.nav_findings);
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < check->findings.n && i < FINDINGS; i++) {
        const struct check_finding *f = &check->findings.at[i];
        page_cell_text(t, f->what);
        page_cell_text(t, str_basename(str_of(f->path)));
        page_cell_number(t, (double)f->line);
        page_cell_wording(t,
                          page_say(page, f->is_note ? &page_text.db_note : &page_text.db_problem));
    }
}

void page_check(struct page_file *page, const struct check *check, const char *dir)
{
    page->title = arena_str(&page->arena, str_basename(str_of(dir)));
    page_add_fact(page, PAGE_TELL(page, &page_text.db_tables, PLACE("n", check->tables.n)));
    page_add_fact(page, PAGE_TELL(page, &page_text.db_rows, PLACE("n", check->rows)));
    page->verdict = (struct page_verdict){
        .id = "database",
        .text = PAGE_TELL(page,
                          check->problems > 0          ? &page_text.db_bad
                          : check->valid < check->rows ? &page_text.db_gaps
                                                       : &page_text.db_good,
                          PLACE("n", check->problems), PLACE("valid", check->valid),
                          PLACE("rows", check->rows), PLACE("tables", check->tables.n)),
        .evidence = PAGE_TELL(page, &page_text.db_check_evidence,
                              PLACE("problems", check->problems), PLACE("notes", check->notes)),
        .replay_error = -1,
    };
    add_tables(page, check);
    add_findings(page, check);
    page_add_missing(page, page_say(page, &page_text.missing_prediction));
}
