/*
 * Replayed durations put into one table.
 */
#include "opdb/rows/update.h"

#include <math.h>
#include <stdlib.h>

#include "base/files/fs.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

#define LEGACY_AVERAGE S("MicroBench Duration(us)")

static bool is_dropped(struct str name)
{
    return str_equal(name, S("MicroBench Task Duration(us)")) ||
           str_equal(name, S("MicroBench Kernel Duration(us)"));
}

struct names {
    VEC_OF(struct str) at;
};

static bool has(const struct names *names, struct str name)
{
    for (size_t i = 0; i < names->at.n; i++)
        if (str_equal(cell_trim(names->at.at[i]), name))
            return true;
    return false;
}

/* Block B and the replayed duration first, then what is left. */
static void put_average_in_front(struct names *names)
{
    struct names out = {0};

    for (size_t i = 0; i < IDENTITY_N; i++)
        vec_push(&out.at, column_identity[i]);
    vec_push(&out.at, COL_AVERAGE);
    for (size_t i = 0; i < names->at.n; i++)
        if (!str_is_one_of(cell_trim(names->at.at[i]), column_identity, IDENTITY_N))
            vec_push(&out.at, names->at.at[i]);
    vec_free(&names->at);
    *names = out;
}

/* The counters of the replay stand before those of the profile. */
static void put_counters_in(struct names *names)
{
    struct names out = {0};

    for (size_t i = 0; i < names->at.n; i++) {
        for (size_t k = 0; k < COUNTER_N; k++)
            if (str_equal(cell_trim(names->at.at[i]), column_profiled[k]) &&
                !has(names, column_bench[k]) && !has(&out, column_bench[k]))
                vec_push(&out.at, column_bench[k]);
        vec_push(&out.at, names->at.at[i]);
    }
    vec_free(&names->at);
    *names = out;
}

/* Renames what older tools wrote and puts in the columns of a replay. */
static void update_columns(struct op_table *t)
{
    struct names names = {0};
    int legacy = table_column(t, LEGACY_AVERAGE);

    if (legacy >= 0 && table_column(t, COL_AVERAGE) < 0)
        t->columns.at[legacy] = COL_AVERAGE;
    for (size_t i = 0; i < t->columns.n; i++)
        if (!is_dropped(cell_trim(t->columns.at[i])))
            vec_push(&names.at, t->columns.at[i]);
    if (!has(&names, COL_AVERAGE))
        put_average_in_front(&names);
    put_counters_in(&names);
    table_arrange(t, names.at.at, names.at.n);
    vec_free(&names.at);
}

/* The columns of a table that was not there: block B, the four durations, and the counters of
 * replay and profile side by side. */
static void update_columns_new(struct op_table *t)
{
    struct names names = {0};

    for (size_t i = 0; i < IDENTITY_N; i++)
        vec_push(&names.at, column_identity[i]);
    vec_push(&names.at, COL_AVERAGE);
    vec_push(&names.at, COL_PROFILED);
    vec_push(&names.at, COL_PROFILED_MID);
    vec_push(&names.at, COL_PROFILED_STD);
    for (size_t i = 0; i < COUNTER_N; i++) {
        vec_push(&names.at, column_bench[i]);
        vec_push(&names.at, column_profiled[i]);
    }
    table_arrange(t, names.at.at, names.at.n);
    vec_free(&names.at);
}

/* The work on one table. */
struct work {
    struct update *u;
    const struct update_how *how;
    struct signature_columns keys;
    struct signature_index index;
    int average, profiled;
    int identity[IDENTITY_N], counters[COUNTER_N];
};

static void update_say(struct work *w, struct str line)
{
    vec_push(&w->u->messages, line);
}

static struct str shapes_of(struct work *w, size_t row)
{
    struct op_table *t = &w->u->table;

    return signature_text(&w->u->arena, table_cell(t, row, w->keys.at[ID_INPUT_SHAPES]),
                          table_cell(t, row, w->keys.at[ID_OUTPUT_SHAPES]));
}

static void list_add(struct update_list *list, struct str text)
{
    if (list->n < UPDATE_EXAMPLES)
        list->first[list->n] = text;
    list->n++;
}

/* The one EP size of all offers, or empty. */
static struct str common_ep_size(const struct update_offer *offer)
{
    struct str one = {0};

    for (size_t i = 0; i < offer->n_merge + offer->n_match; i++) {
        uint32_t at = i < offer->n_merge ? offer->merge[i] : offer->match[i - offer->n_merge];
        struct str ep = offer->summary->cases.at[at].ep_size;
        if (ep.n > 0 && one.n > 0 && !str_equal(one, ep))
            return S("");
        one = ep.n > 0 ? ep : one;
    }
    return one;
}

/* Tables from before there was an EP size: all their rows are taken to have that of the replay. */
static void add_ep_size(struct work *w, const struct update_offer *offer)
{
    struct update *u = w->u;
    struct str ep = common_ep_size(offer);

    if (!str_equal(signature_op(u->op), S("DispatchFFNCombine")) || ep.n == 0 ||
        table_column(&u->table, COL_EP_SIZE) >= 0)
        return;
    int column = table_add_column(&u->table, COL_EP_SIZE);
    if (u->is_new)
        return;
    for (size_t row = 0; row < u->table.n_rows; row++)
        table_set(&u->table, row, column, ep);
    update_say(
        w, arena_format(&u->arena,
                        "[WARN] %.*s has no EP Size column; using incoming EP Size=%.*s for legacy "
                        "row matching.",
                        STR_ARGS(u->file), STR_ARGS(ep)));
}

static void update_find_columns(struct work *w)
{
    const struct op_table *t = &w->u->table;

    w->keys = signature_find(t);
    w->average = table_column(t, COL_AVERAGE);
    w->profiled = table_column(t, COL_PROFILED);
    for (size_t i = 0; i < IDENTITY_N; i++)
        w->identity[i] = table_column(t, column_identity[i]);
    for (size_t i = 0; i < COUNTER_N; i++)
        w->counters[i] = table_column(t, column_bench[i]);
}

ORDER_BY(by_count, struct update_duplicate,
         ORDER(y->count, x->count) ?: str_compare(x->shapes, y->shapes));

/* Rows by signature; the first of several counts, and the others are told. */
static void index_rows(struct work *w)
{
    struct update *u = w->u;
    struct op_table *t = &u->table;
    uint32_t *count = mem_grow(NULL, sizeof(*count), t->n_rows + 1);

    memset(count, 0, (t->n_rows + 1) * sizeof(*count));
    for (size_t row = 0; row < t->n_rows; row++) {
        struct signature_row cells = signature_read(t, row, &w->keys);
        struct signature s = signature_of(&u->arena, u->op, &cells);
        count[signature_index_add(&w->index, &s, (uint32_t)row, NULL)]++;
    }
    for (size_t row = 0; row < t->n_rows; row++)
        if (count[row] > 1)
            vec_push(&u->duplicates, ((struct update_duplicate){shapes_of(w, row), count[row]}));
    if (u->duplicates.n > 0)
        qsort(u->duplicates.at, u->duplicates.n, sizeof(*u->duplicates.at), by_count);
    mem_free(count);
}

static void set_figure(struct work *w, size_t row, int column, double value)
{
    struct update *u = w->u;
    char text[CELL_TEXT];
    struct str fresh = {text, cell_print6(text, value)};

    if (str_equal(table_cell(&u->table, row, column), fresh))
        return;
    table_set(&u->table, row, column, arena_str(&u->arena, fresh));
    u->is_changed = true;
}

static void set_figures(struct work *w, size_t row, const struct summary_case *c)
{
    set_figure(w, row, w->average, c->shortest);
    for (size_t i = 0; i < COUNTER_N; i++)
        if (w->counters[i] >= 0)
            set_figure(w, row, w->counters[i], c->sums[i] / (double)c->n);
}

static void no_match(struct work *w, const struct summary_case *c, const struct signature *s,
                     bool may_add)
{
    struct update *u = w->u;
    struct str shapes =
        signature_text(&u->arena, c->cells[ID_INPUT_SHAPES], c->cells[ID_OUTPUT_SHAPES]);

    if (!may_add) {
        update_say(w, arena_format(&u->arena,
                                   "[WARN] match-only profiling row did not match %.*s: %.*s",
                                   STR_ARGS(u->file), STR_ARGS(shapes)));
        return;
    }
    list_add(&u->missing, shapes);
    if (w->how->mode != UPDATE_ALL)
        return;
    struct op_table *t = &u->table;
    size_t row = table_add_row(t);
    int ep_size = table_column(t, COL_EP_SIZE);
    for (size_t i = 0; i < IDENTITY_N; i++)
        if (w->identity[i] >= 0)
            table_set(t, row, w->identity[i], c->cells[i]);
    if (ep_size >= 0 && c->ep_size.n > 0)
        table_set(t, row, ep_size, c->ep_size);
    set_figures(w, row, c);
    signature_index_add(&w->index, s, (uint32_t)row, NULL);
    u->added++;
    u->is_changed = true;
}

static void note_gap(struct work *w, size_t row)
{
    struct update *u = w->u;
    double bench = cell_f64(table_cell(&u->table, row, w->average));
    double profiled = cell_f64(table_cell(&u->table, row, w->profiled));

    if (!(bench > 0 && profiled > 0))
        return;
    struct update_gap gap = {
        .op = u->op,
        .file = u->file,
        .shapes = shapes_of(w, row),
        .bench_us = bench,
        .profiled_us = profiled,
        .difference_us = fabs(bench - profiled),
        .ratio = bench / profiled,
    };
    vec_push(&u->gaps, gap);
}

/* A case that may only match never adds a row and never touches one that was measured. */
static void apply_case(struct work *w, const struct summary_case *c, bool may_add)
{
    struct update *u = w->u;
    struct op_table *t = &u->table;
    struct signature_row cells = {0};
    memcpy(cells.cell, c->cells, sizeof(c->cells));
    cells.cell[ID_EP_SIZE] = c->ep_size;
    struct signature s = signature_of(&u->arena, u->op, &cells);
    uint32_t row = signature_index_get(&w->index, &s);

    if (row == UINT32_MAX) {
        no_match(w, c, &s, may_add);
        return;
    }
    u->matched++;
    bool may_update =
        w->how->mode == UPDATE_ALL ||
        !cell_is_measured(table_cell(t, row, w->average), table_cell(t, row, w->profiled));
    if (!may_update && !may_add)
        return;
    if (may_update) {
        struct str before = cell_trim(table_cell(t, row, w->average));
        set_figures(w, row, c);
        u->updated += !str_equal(before, cell_trim(table_cell(t, row, w->average)));
    } else {
        u->unchanged++;
    }
    note_gap(w, row);
}

/* Which rows have no duration, replayed or profiled; for mem_free(). */
static bool *empty_rows(const struct op_table *t, struct arena *arena, struct update_list *out)
{
    int average = table_column(t, COL_AVERAGE), profiled = table_column(t, COL_PROFILED);
    int in = table_column(t, COL_INPUT_SHAPES), made = table_column(t, COL_OUTPUT_SHAPES);
    bool *is_empty = mem_grow(NULL, sizeof(*is_empty), t->n_rows + 1);

    for (size_t row = 0; row < t->n_rows; row++) {
        is_empty[row] =
            !cell_is_measured(table_cell(t, row, average), table_cell(t, row, profiled));
        if (is_empty[row])
            list_add(out, signature_text(arena, table_cell(t, row, in), table_cell(t, row, made)));
    }
    return is_empty;
}

static void prune_rows(struct work *w)
{
    struct update *u = w->u;
    bool *is_empty = empty_rows(&u->table, &u->arena, &u->deleted);

    if (u->deleted.n > 0) {
        u->is_changed = true;
        update_say(w, arena_format(&u->arena,
                                   "[PRUNE] %.*s: %llu rows deleted, which have no duration, "
                                   "replayed or profiled",
                                   STR_ARGS(u->file), (unsigned long long)u->deleted.n));
    }
    table_drop_rows(&u->table, is_empty);
    mem_free(is_empty);
}

/* The cells as they are now; the texts stay with `t`. */
static void remember(struct op_table *copy, const struct op_table *t)
{
    table_init(copy, t->path);
    table_arrange(copy, t->columns.at, t->columns.n);
    vec_reserve(&copy->cells, t->cells.n);
    if (t->cells.n > 0)
        memcpy(copy->cells.at, t->cells.at, t->cells.n * sizeof(*t->cells.at));
    copy->cells.n = t->cells.n;
    copy->n_rows = t->n_rows;
}

enum status update_make(struct update *u, const char *path, const struct update_offer *offer,
                        const struct update_how *how, struct diag *d)
{
    struct work w = {.u = u, .how = how};

    *u = (struct update){.path = path, .op = table_stem(path), .is_new = !fs_exists(path)};
    arena_init(&u->arena);
    u->file = str_basename(str_of(path));
    if (u->is_new) {
        table_init(&u->table, path);
        update_columns_new(&u->table);
    } else {
        TRY(table_read(&u->table, path, d));
        update_columns(&u->table);
    }
    add_ep_size(&w, offer);
    update_find_columns(&w);
    index_rows(&w);
    u->is_changed = u->is_new;
    if (how->keep_old)
        remember(&u->old, &u->table);
    for (size_t i = 0; i < offer->n_merge; i++)
        apply_case(&w, &offer->summary->cases.at[offer->merge[i]], true);
    for (size_t i = 0; i < offer->n_match; i++)
        apply_case(&w, &offer->summary->cases.at[offer->match[i]], false);
    if (how->prune)
        prune_rows(&w);
    signature_index_free(&w.index);
    return ST_OK;
}

void update_free(struct update *u)
{
    table_free(&u->table);
    table_free(&u->old);
    vec_free(&u->duplicates);
    vec_free(&u->gaps);
    vec_free(&u->messages);
    arena_free(&u->arena);
}

enum status update_prune(const char *path, struct arena *arena, struct update_list *out,
                         struct diag *d)
{
    struct op_table t;
    enum status st = table_read(&t, path, d);

    *out = (struct update_list){0};
    if (st == ST_OK) {
        bool *is_empty = empty_rows(&t, arena, out);
        if (out->n > 0) {
            table_drop_rows(&t, is_empty);
            st = table_write(&t, path, t.has_bom ? TABLE_BOM : TABLE_NO_BOM, d);
        }
        mem_free(is_empty);
    }
    table_free(&t);
    return st;
}

static enum status put_measured(struct op_table *t, const struct update_measured *at, size_t n,
                                struct diag *d)
{
    update_columns(t);
    int column = table_column(t, COL_AVERAGE);

    for (size_t i = 0; i < n; i++) {
        if (at[i].row >= t->n_rows)
            return diag_fail(d, ST_FORMAT, "perfdb.rows-gone", (struct where){.path = t->path},
                             "has lost rows while they were measured");
        table_set(t, at[i].row, column, cell_text6(&t->arena, at[i].us));
    }
    return table_write(t, t->path, t->has_bom ? TABLE_BOM : TABLE_NO_BOM, d);
}

enum status update_write_measured(const char *path, const struct update_measured *at, size_t n,
                                  struct diag *d)
{
    struct op_table t;
    enum status st = n > 0 ? table_read(&t, path, d) : ST_OK;

    if (n == 0)
        return ST_OK;
    if (st == ST_OK)
        st = put_measured(&t, at, n, d);
    table_free(&t);
    return st;
}
