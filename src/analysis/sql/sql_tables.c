/*
 * The small tables: accounting, captures, collectives, counters, flows, gaps, lanes, sources,
 * steps, step_times.
 *
 * Each counts its rows by capture and gives one column of one row. Rows of all captures are
 * numbered through, and that number is the first column, id.
 */
#include "analysis/sql/sql_module.h"

enum lookup { LOOK_ALL, LOOK_ID, LOOK_FROM, LOOK_TO };

struct cursor {
    sqlite3_vtab_cursor base;
    const struct sql_vtab *tab;
    const uint32_t *order; /* NULL: the numbers themselves */
    size_t at, end;
    size_t part; /* the capture of the row */
};

/* Some rows are computed to be counted, so tables that no query names are left alone. */
static void tables_count_rows(struct sql_vtab *tab)
{
    const struct sql_view *v = tab->binding->view;

    if (tab->bases != NULL)
        return;
    tab->bases = mem_grow(NULL, sizeof(*tab->bases), v->part_count + 1);
    tab->bases[0] = 0;
    for (size_t p = 0; p < v->part_count; p++)
        tab->bases[p + 1] = tab->bases[p] + sql_rows_count(tab->binding->table->rows, &v->parts[p]);
}

enum { FLOW_FROM = 1, FLOW_TO = 2 };

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct sql_vtab *tab = (struct sql_vtab *)base;

    JOB_BOUNDARY(return SQLITE_NOMEM);
    if (tab->binding->view->is_declaring)
        return SQLITE_OK;
    tables_count_rows(tab);
    double rows = (double)tab->bases[tab->binding->view->part_count] + 1;
    enum lookup best = LOOK_ALL;
    int term = -1;

    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        enum lookup look = LOOK_ALL;
        if (!c->usable || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (c->iColumn <= 0)
            look = LOOK_ID;
        else if (tab->binding->table->rows == SQL_FLOWS && c->iColumn == FLOW_FROM)
            look = LOOK_FROM;
        else if (tab->binding->table->rows == SQL_FLOWS && c->iColumn == FLOW_TO)
            look = LOOK_TO;
        if (look == LOOK_ALL || (best != LOOK_ALL && best < look))
            continue;
        best = look;
        term = i;
    }
    if (term >= 0)
        info->aConstraintUsage[term].argvIndex = 1;
    info->idxNum = (int)best;
    info->idxFlags = best == LOOK_ID ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    info->estimatedRows = best == LOOK_ALL ? (sqlite3_int64)rows : best == LOOK_ID ? 1 : 2;
    info->estimatedCost = best == LOOK_ALL ? rows : best == LOOK_ID ? 1 : 8;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    JOB_BOUNDARY(return SQLITE_NOMEM);
    tables_count_rows((struct sql_vtab *)base);
    struct cursor *c = mem_grow(NULL, sizeof(*c), 1);
    *c = (struct cursor){.tab = (const struct sql_vtab *)base};
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    mem_free(base);
    return SQLITE_OK;
}

static size_t tables_row_of(const struct cursor *c)
{
    return c->order != NULL ? c->order[c->at] : c->at;
}

static void find_part(struct cursor *c)
{
    const size_t *bases = c->tab->bases;
    size_t row;

    if (c->at >= c->end)
        return;
    row = tables_row_of(c);
    if (row < bases[c->part])
        c->part = 0;
    while (row >= bases[c->part + 1])
        c->part++;
}

/* One end of the arrow with this number, as the tables number slices. */
static uint32_t flow_end(const struct sql_vtab *tab, size_t row, bool is_target)
{
    const struct sql_view *v = tab->binding->view;
    size_t p = 0;

    while (row >= tab->bases[p + 1])
        p++;
    const struct flow *f = &v->parts[p].cap->flows.at[row - tab->bases[p]];
    return v->parts[p].base + (is_target ? f->to : f->from);
}

/* A counting sort of the arrows by the slice they point to. */
static void sort_targets(struct sql_vtab *tab)
{
    const struct sql_view *v = tab->binding->view;
    size_t n = tab->bases[v->part_count], sum = 0;
    uint32_t *next = mem_grow(NULL, sizeof(*next), (size_t)v->slices + 1);

    memset(next, 0, sizeof(*next) * ((size_t)v->slices + 1));
    tab->by_target = mem_grow(NULL, sizeof(*tab->by_target), n + 1);
    for (size_t i = 0; i < n; i++)
        next[flow_end(tab, i, true)]++;
    for (size_t g = 0; g < v->slices; g++) {
        uint32_t count = next[g];
        next[g] = (uint32_t)sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        tab->by_target[next[flow_end(tab, i, true)]++] = (uint32_t)i;
    mem_free(next);
}

/* First place whose end is at least `g`; flows stand sorted by where they come from. */
static size_t search_flows(const struct sql_vtab *tab, const uint32_t *order, int64_t g)
{
    size_t place;

    vec_bisect(place, tab->bases[tab->binding->view->part_count], i,
               flow_end(tab, order != NULL ? order[i] : i, order != NULL) < g);
    return place;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                  sqlite3_value **argv)
{
    struct cursor *c = (struct cursor *)base;
    struct sql_vtab *tab = (struct sql_vtab *)c->base.pVtab;
    size_t n = tab->bases[tab->binding->view->part_count];

    JOB_BOUNDARY(return SQLITE_NOMEM);
    (void)text;
    c->at = c->part = 0;
    c->end = n;
    c->order = NULL;
    if (argc > 0 && sqlite3_value_numeric_type(argv[0]) == SQLITE_INTEGER) {
        int64_t key = sqlite3_value_int64(argv[0]);
        if (number == LOOK_ID) {
            c->at = key >= 0 && (uint64_t)key < n ? (size_t)key : n;
            c->end = c->at < n ? c->at + 1 : n;
        } else {
            if (number == LOOK_TO && tab->by_target == NULL)
                sort_targets(tab);
            c->order = number == LOOK_TO ? tab->by_target : NULL;
            c->at = search_flows(tab, c->order, key);
            c->end = key == INT64_MAX ? n : search_flows(tab, c->order, key + 1);
        }
    }
    find_part(c);
    return SQLITE_OK;
}

static int tables_next(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;

    c->at++;
    find_part(c);
    return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *c = (const struct cursor *)base;

    return c->at >= c->end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int number)
{
    const struct cursor *c = (const struct cursor *)base;
    const struct sql_view *v = c->tab->binding->view;

    if (number == 0)
        sqlite3_result_int64(out, (sqlite3_int64)tables_row_of(c));
    else
        sql_give_value(out, sql_rows_value(c->tab->binding->table->rows, &v->parts[c->part],
                                           tables_row_of(c) - c->tab->bases[c->part], number));
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)tables_row_of((const struct cursor *)base);
    return SQLITE_OK;
}

const sqlite3_module sql_rows_module = {
    .iVersion = 1,
    .xConnect = sql_connect,
    .xBestIndex = best_index,
    .xDisconnect = sql_disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = tables_next,
    .xEof = eof,
    .xColumn = column,
    .xRowid = rowid,
};
