#include "perfdb/grid_fill.h"

#include <stdlib.h>

#include "perfdb/columns.h"
#include "perfdb/grid_memory.h"
#include "perfdb/signature.h"

/* Where a column of a new row comes from. */
enum source { FROM_TEMPLATE, ZERO, INPUT_SHAPES, OUTPUT_SHAPES };

/* One side of a row, inputs or outputs, as the template has it. */
struct side {
    size_t slots;
    struct grid_texts dtypes, formats; /* by slot */
    struct grid_texts sizes;           /* data types for the memory estimate */
    struct str dtypes_column, formats_column;
};

struct fresh {
    const struct grid_row *row;
    struct str input_shapes, output_shapes; /* cells */
    size_t order;                           /* of generation */
};

struct filler {
    struct table *t;
    struct arena arena; /* of this run; texts of cells go to the table's */
    struct str kernel;
    struct str *template;
    enum source *source; /* by column */
    struct side in, out;
    struct signature_columns columns;
    struct signature_index seen;
    VEC_OF(struct fresh) fresh;
};

static enum source source_of(struct str column)
{
    static const struct str measured[] = {
        S_INIT("duration"), S_INIT("latency"), S_INIT("time"),        S_INIT("cycles"),
        S_INIT("ratio"),    S_INIT("miss"),    S_INIT("utilization"),
    };
    struct str name = str_trim(column);

    if (str_equal(name, COL_INPUT_SHAPES))
        return INPUT_SHAPES;
    if (str_equal(name, COL_OUTPUT_SHAPES))
        return OUTPUT_SHAPES;
    for (size_t i = 0; i < ARRAY_LEN(measured); i++)
        if (str_contains_nocase(name, measured[i]))
            return ZERO;
    return FROM_TEMPLATE;
}

/* The columns that attention rows need. */
static void add_runtime_columns(struct table *t)
{
    for (size_t i = 0; i < RUNTIME_N; i++)
        if (i != RT_ATTN_STATE && i != RT_KV_CACHE_MODE)
            table_add_column(t, column_runtime[i]);
    table_add_column(t, GRID_COL_RAW_SHAPES);
}

static void add_cell_columns(struct table *t, const struct grid_rows *rows)
{
    /* All rows of a generator bring the same cells. */
    for (size_t k = 0; rows->n > 0 && k < rows->at[0].cells_n; k++)
        table_add_column(t, rows->at[0].cells[k].column);
}

static struct side side_of(struct filler *f, struct str shapes, struct str dtypes,
                           struct str formats)
{
    const struct table *t = f->t;
    struct str types = table_cell(t, 0, table_column(t, dtypes));
    struct grid_shapes slots;

    grid_shapes_parse(&f->arena, table_cell(t, 0, table_column(t, shapes)), &slots);
    return (struct side){
        .slots = slots.n,
        .dtypes = grid_texts_split(&f->arena, types),
        .formats = grid_texts_split(&f->arena, table_cell(t, 0, table_column(t, formats))),
        .sizes = grid_dtype_list(&f->arena, types),
        .dtypes_column = dtypes,
        .formats_column = formats,
    };
}

static void read_template(struct filler *f)
{
    struct table *t = f->t;
    size_t n = t->columns.n;

    f->template = ARENA_ARRAY(&f->arena, struct str, n);
    f->source = ARENA_ARRAY(&f->arena, enum source, n);
    for (size_t c = 0; c < n; c++) {
        f->template[c] = table_cell(t, 0, (int)c);
        f->source[c] = source_of(t->columns.at[c]);
    }
    f->in = side_of(f, COL_INPUT_SHAPES, COL_INPUT_DTYPES, COL_INPUT_FORMATS);
    f->out = side_of(f, COL_OUTPUT_SHAPES, COL_OUTPUT_DTYPES, COL_OUTPUT_FORMATS);
    f->columns = signature_find(t);
}

/* Products of matrices are the same whatever the type of their result. */
static bool is_new(struct filler *f, const struct signature_row *row)
{
    struct signature s = signature_of(&f->arena, f->kernel, row);
    bool fresh;

    if (s.is_product)
        s.n = 4;
    signature_index_add(&f->seen, &s, 0, &fresh);
    return fresh;
}

static void note_existing(struct filler *f)
{
    for (size_t i = 0; i < f->t->n_rows; i++) {
        struct signature_row row = signature_take(f->t, i, &f->columns);
        is_new(f, &row);
    }
}

static void blank(struct grid_shapes *shapes, struct grid_texts attributes)
{
    for (size_t i = 0; i < shapes->n && i < attributes.n; i++)
        if (grid_text_is_absent(attributes.at[i]))
            shapes->at[i].n = 0;
}

/* As many slots as the template has; those without an operand are empty. */
static struct grid_shapes fit_slots(struct filler *f, const struct side *side,
                                    const struct grid_row *row, struct grid_shapes from)
{
    struct grid_shapes to = {.n = from.n > side->slots ? from.n : side->slots};
    struct str dtypes = grid_row_cell(row, side->dtypes_column);
    struct str formats = grid_row_cell(row, side->formats_column);

    to.at = ARENA_ARRAY(&f->arena, struct grid_shape, to.n);
    if (from.n > 0)
        memcpy(to.at, from.at, from.n * sizeof(*to.at));
    blank(&to, dtypes.at != NULL ? grid_texts_split(&f->arena, dtypes) : side->dtypes);
    blank(&to, formats.at != NULL ? grid_texts_split(&f->arena, formats) : side->formats);
    return to;
}

/* The cell of some slots: in quotes, which are part of it; a single empty slot is an empty cell. */
static struct str shapes_cell(struct filler *f, struct grid_shapes shapes)
{
    struct str text = grid_shapes_text(&f->arena, shapes);

    if (text.n == 0)
        return S("");
    char *at = arena_alloc(&f->t->arena, text.n + 2);
    at[0] = at[text.n + 1] = '"';
    memcpy(at + 1, text.at, text.n);
    return (struct str){at, text.n + 2};
}

/* The text that a column of the new row gets: the generator's, or the template's. */
static struct str cell_of(const struct filler *f, const struct grid_row *row, struct str name,
                          int column)
{
    struct str own = grid_row_cell(row, name);

    if (own.at != NULL)
        return own;
    return column >= 0 ? f->template[column] : S("");
}

static void take_row(struct filler *f, struct grid_row *row, int64_t budget, size_t order,
                     struct grid_fill *out)
{
    row->in = fit_slots(f, &f->in, row, row->in);
    row->out = fit_slots(f, &f->out, row, row->out);
    out->made++;
    if (budget > 0 && grid_memory_add(grid_memory_bytes(row->in, f->in.sizes),
                                      grid_memory_bytes(row->out, f->out.sizes)) > budget) {
        out->too_big++;
        return;
    }
    struct fresh fresh = {row, shapes_cell(f, row->in), shapes_cell(f, row->out), order};
    struct signature_row cells = {
        .input_shapes = fresh.input_shapes,
        .input_dtypes = cell_of(f, row, COL_INPUT_DTYPES, f->columns.input_dtypes),
        .input_formats = cell_of(f, row, COL_INPUT_FORMATS, f->columns.input_formats),
        .output_shapes = f->columns.output_shapes >= 0 ? fresh.output_shapes : S(""),
        .output_dtypes = cell_of(f, row, COL_OUTPUT_DTYPES, f->columns.output_dtypes),
        .ep_size = cell_of(f, row, COL_EP_SIZE, f->columns.ep_size),
    };
    if (is_new(f, &cells))
        vec_push(&f->fresh, fresh);
}

static int by_input_shapes(const void *a, const void *b)
{
    const struct fresh *x = a, *y = b;
    int order = grid_shapes_compare(x->row->in, y->row->in);

    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static void append(struct filler *f, const struct fresh *fresh)
{
    struct table *t = f->t;
    size_t row = table_add_row(t);

    for (size_t c = 0; c < t->columns.n; c++) {
        const struct str texts[] = {[FROM_TEMPLATE] = f->template[c],
                                    [ZERO] = S("0"),
                                    [INPUT_SHAPES] = fresh->input_shapes,
                                    [OUTPUT_SHAPES] = fresh->output_shapes};
        table_set(t, row, (int)c, texts[f->source[c]]);
    }
    for (size_t i = 0; i < fresh->row->cells_n; i++) {
        const struct grid_cell *cell = &fresh->row->cells[i];
        table_set(t, row, table_column(t, cell->column), cell->text);
    }
}

enum status grid_fill(struct table *t, const struct grid_job *job,
                      const struct grid_pattern *pattern, int64_t budget, struct grid_fill *out,
                      struct diag *d)
{
    struct filler f = {.t = t, .kernel = table_stem(t->path)};
    struct grid_rows rows;

    *out = (struct grid_fill){0};
    if (t->columns.n == 0 || t->n_rows == 0 || table_column(t, COL_INPUT_SHAPES) < 0)
        return ST_OK;
    out->is_usable = true;
    TRY(grid_generate(job, pattern, f.kernel, &t->arena, &rows, d));
    arena_init(&f.arena);
    if (str_equal(f.kernel, S("FusedInferAttentionScore")))
        add_runtime_columns(t);
    add_cell_columns(t, &rows);
    read_template(&f);
    note_existing(&f);
    for (size_t i = 0; i < rows.n; i++)
        take_row(&f, &rows.at[i], budget, i, out);
    if (f.fresh.n > 0)
        qsort(f.fresh.at, f.fresh.n, sizeof(*f.fresh.at), by_input_shapes);
    for (size_t i = 0; i < f.fresh.n; i++)
        append(&f, &f.fresh.at[i]);
    out->appended = f.fresh.n;
    signature_index_free(&f.seen);
    vec_free(&f.fresh);
    arena_free(&f.arena);
    return ST_OK;
}
