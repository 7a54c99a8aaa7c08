/*
 * Fills the tables below a folder with generated rows and writes them.
 */
#include "opdb/grid/grid_run.h"

#include <stdlib.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/run/cancel.h"
#include "base/run/pool.h"
#include "base/text/num.h"
#include "base/text/text.h"
#include "opdb/grid/grid_shapes.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/signature.h"
#include "opdb/rows/table.h"

/* Where a column of a new row comes from. */
enum grid_source { FROM_TEMPLATE, ZERO, INPUT_SHAPES, OUTPUT_SHAPES };

/* One side of a row, inputs or outputs, as the template has it. */
struct grid_side {
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
    struct op_table *t;
    struct arena arena; /* of this run; texts of cells go to the table's */
    struct str kernel;
    struct str *template;
    enum grid_source *source; /* by column */
    struct grid_side in, out;
    struct signature_columns columns;
    struct signature_index seen;
    VEC_OF(struct fresh) fresh;
};

static enum grid_source run_source_of(struct str column)
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

static struct grid_side side_of(struct filler *f, struct str shapes, struct str dtypes,
                                struct str formats)
{
    const struct op_table *t = f->t;
    struct str types = table_cell(t, 0, table_column(t, dtypes));
    struct grid_shapes slots;

    grid_shapes_parse(&f->arena, table_cell(t, 0, table_column(t, shapes)), &slots);
    return (struct grid_side){
        .slots = slots.n,
        .dtypes = grid_texts_split(&f->arena, types),
        .formats = grid_texts_split(&f->arena, table_cell(t, 0, table_column(t, formats))),
        .sizes = grid_dtype_list(&f->arena, types),
        .dtypes_column = dtypes,
        .formats_column = formats,
    };
}

static bool is_new(struct filler *f, const struct signature_row *row)
{
    struct signature s = signature_of(&f->arena, f->kernel, row);
    bool fresh;

    if (s.is_product)
        s.n = 4;
    signature_index_add(&f->seen, &s, 0, &fresh);
    return fresh;
}

/* The first row, for what new rows do not bring, and the signatures of all. */
static void run_read_table(struct filler *f)
{
    struct op_table *t = f->t;
    size_t n = t->columns.n;

    f->template = ARENA_ARRAY(&f->arena, struct str, n);
    f->source = ARENA_ARRAY(&f->arena, enum grid_source, n);
    for (size_t c = 0; c < n; c++) {
        f->template[c] = table_cell(t, 0, (int)c);
        f->source[c] = run_source_of(t->columns.at[c]);
    }
    f->in = side_of(f, COL_INPUT_SHAPES, COL_INPUT_DTYPES, COL_INPUT_FORMATS);
    f->out = side_of(f, COL_OUTPUT_SHAPES, COL_OUTPUT_DTYPES, COL_OUTPUT_FORMATS);
    f->columns = signature_find(t);
    for (size_t i = 0; i < t->n_rows; i++) {
        struct signature_row row = signature_read(t, i, &f->columns);
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
static struct grid_shapes fit_slots(struct filler *f, const struct grid_side *side,
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

static void run_add_row(struct filler *f, struct grid_row *row, int64_t budget, size_t order,
                        struct grid_fill *out)
{
    row->in = fit_slots(f, &f->in, row, row->in);
    row->out = fit_slots(f, &f->out, row, row->out);
    out->made++;
    if (budget > 0 && nanos_add(grid_memory_bytes(row->in, f->in.sizes),
                                grid_memory_bytes(row->out, f->out.sizes)) > budget) {
        out->too_big++;
        return;
    }
    struct fresh fresh = {row, shapes_cell(f, row->in), shapes_cell(f, row->out), order};
    struct signature_row cells = {0};
    for (size_t i = ID_INPUT_DTYPES; i < SIGNATURE_CELLS; i++) {
        int column = f->columns.at[i];
        cells.cell[i] = grid_row_cell(row, column_identity[i]);
        if (cells.cell[i].at == NULL)
            cells.cell[i] = column >= 0 ? f->template[column] : S("");
    }
    cells.cell[ID_INPUT_SHAPES] = fresh.input_shapes;
    cells.cell[ID_OUTPUT_SHAPES] =
        f->columns.at[ID_OUTPUT_SHAPES] >= 0 ? fresh.output_shapes : S("");
    if (is_new(f, &cells))
        vec_push(&f->fresh, fresh);
}

ORDER_BY(by_input_shapes, struct fresh,
         grid_shapes_compare(x->row->in, y->row->in) ?: ORDER(x->order, y->order));

static void run_append(struct filler *f, const struct fresh *fresh)
{
    struct op_table *t = f->t;
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

enum status grid_fill(struct op_table *t, const struct grid_job *job,
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
    bool is_attention = str_equal(f.kernel, S("FusedInferAttentionScore"));
    for (size_t i = 0; i < RUNTIME_N && is_attention; i++)
        if (i != RT_ATTN_STATE && i != RT_KV_CACHE_MODE)
            table_add_column(t, column_runtime[i]);
    if (is_attention)
        table_add_column(t, GRID_COL_RAW_SHAPES);
    /* All rows of a generator bring the same cells. */
    for (size_t k = 0; rows.n > 0 && k < rows.at[0].cells_n; k++)
        table_add_column(t, rows.at[0].cells[k].column);
    run_read_table(&f);
    for (size_t i = 0; i < rows.n; i++)
        run_add_row(&f, &rows.at[i], budget, i, out);
    if (f.fresh.n > 0)
        qsort(f.fresh.at, f.fresh.n, sizeof(*f.fresh.at), by_input_shapes);
    for (size_t i = 0; i < f.fresh.n; i++)
        run_append(&f, &f.fresh.at[i]);
    out->appended = f.fresh.n;
    signature_index_free(&f.seen);
    vec_free(&f.fresh);
    arena_free(&f.arena);
    return ST_OK;
}

static enum status unknown_model(struct str name, const struct grid_models *models, struct diag *d)
{
    struct arena scratch;

    arena_init(&scratch);
    struct str *ids = ARENA_ARRAY(&scratch, struct str, models->n);
    for (size_t i = 0; i < models->n; i++)
        ids[i] = models->at[i].id;
    diag_fail(d, ST_NOT_FOUND, "grid.unknown-model", (struct where){0}, "unknown model '%.*s'",
              STR_ARGS(name));
    diag_hint(d, "known", "%.*s", STR_ARGS(arena_join(&scratch, ids, models->n, S(", "))));
    diag_hint(d, "try", "--model-config with the config.json of the model");
    arena_free(&scratch);
    return ST_NOT_FOUND;
}

/* One name of the list: a known model, or the next config.json. */
static enum status find_target(struct grid_run *run, const struct grid_options *o,
                               const struct grid_models *models, struct str name, size_t *configs,
                               struct grid_model *out, struct diag *d)
{
    bool is_alias;
    const struct grid_model *m = grid_models_find(models, name, &is_alias);

    if (m != NULL && is_alias && o->is_strict) {
        diag_fail(d, ST_NOT_FOUND, "grid.short-model", (struct where){0},
                  "'%.*s' is a short name, which --strict-model-ids rejects", STR_ARGS(name));
        diag_hint(d, "try", "%.*s", STR_ARGS(m->id));
        return ST_NOT_FOUND;
    }
    if (m != NULL) {
        *out = *m;
        return ST_OK;
    }
    if (*configs < o->configs.n)
        return grid_model_config(&run->arena, o->configs.at[(*configs)++], name, out, d);
    return unknown_model(name, models, d);
}

static enum status find_targets(struct grid_run *run, const struct grid_options *o, struct diag *d)
{
    struct str rest = str_of(o->target_models), name;
    struct grid_models models;
    size_t configs = 0, n = 1 + o->configs.n;

    TRY(grid_models_read(&run->arena, &run->rules, &models, d));
    for (size_t i = 0; i < rest.n; i++)
        n += rest.at[i] == ',';
    struct grid_model *targets = ARENA_ARRAY(&run->arena, struct grid_model, n);
    run->targets.at = targets;
    while (rest.n > 0 && str_split(&rest, ',', &name)) {
        name = str_trim(name);
        if (name.n > 0)
            TRY(find_target(run, o, &models, name, &configs, &targets[run->targets.n++], d));
    }
    while (configs < o->configs.n)
        TRY(grid_model_config(&run->arena, o->configs.at[configs++], (struct str){0},
                              &targets[run->targets.n++], d));
    run->job.has_targets = run->targets.n > 0;
    run->job.models = run->targets.n > 0 ? run->targets : models;
    return ST_OK;
}

/* 2^33 GiB and more is no limit at all. */
static int64_t budget_of(double gib)
{
    return gib <= 0 ? 0 : gib >= 0x1p33 ? INT64_MAX : num_i64_of(gib * 0x1p30);
}

enum status grid_run_open(struct grid_run *run, const struct grid_options *o, struct diag *d)
{
    *run = (struct grid_run){.is_dry_run = o->is_dry_run,
                             .budget = budget_of(o->memory_gib),
                             .rows = o->rows > 0 ? o->rows : 0};
    arena_init(&run->arena);
    intern_init(&run->facts.kernels);
    TRY(grid_rules_read(&run->rules, &run->arena, o->rules, d));
    run->job = (struct grid_job){
        .rules = &run->rules,
        .is_replayable = o->is_replayable,
        .cap = run->rows > UINT32_MAX ? UINT32_MAX : (uint32_t)run->rows,
        .random = &run->random,
    };
    TRY(find_targets(run, o, d));
    if (o->seed == NULL)
        grid_random_seed_any(&run->random);
    else if (!grid_random_seed_text(&run->random, str_of(o->seed)))
        return diag_fail(d, ST_FORMAT, "grid.bad-seed", (struct where){0},
                         "the seed must be a whole number, not '%s'", o->seed);
    return ST_OK;
}

void grid_run_close(struct grid_run *run)
{
    vec_free(&run->files);
    grid_facts_free(&run->facts);
    arena_free(&run->arena);
}

enum status grid_run_scan(struct grid_run *run, const char *dir, struct diag *d)
{
    struct fs_list list;

    run->dir = dir;
    if (!fs_is_dir(dir))
        return diag_fail(d, ST_NOT_FOUND, "grid.no-folder", (struct where){.path = dir},
                         "no such folder of operator tables");
    TRY(fs_walk(&run->arena, dir, NULL, 0, &list, d));
    for (size_t i = 0; i < list.n; i++) {
        const struct fs_entry *e = &list.at[i];
        if (e->kind == FS_FILE && str_ends(e->name, S(".csv")) && !table_is_temporary(e->name))
            vec_push(&run->files,
                     ((struct grid_file){.path = e->path, .name = e->name, .is_skipped = true}));
    }
    if (run->files.n == 0)
        return diag_fail(d, ST_NOT_FOUND, "grid.no-tables", (struct where){.path = dir},
                         "No CSV files found under: %s", dir);
    grid_facts_free(&run->facts);
    return grid_facts_read(&run->facts, dir, d);
}

const struct grid_pattern *grid_run_pattern(const struct grid_run *run, struct str kernel)
{
    struct grid_fact fact = grid_facts_of(&run->facts, kernel);
    struct str name = grid_rules_assigned(&run->rules, kernel);

    if (fact.is_free)
        return NULL;
    if (name.n == 0 && fact.alternates_of.n > 0)
        name = grid_rules_assigned(&run->rules, fact.alternates_of);
    if (name.n == 0 && fact.is_elementwise)
        name = S("elementwise_binary");
    return grid_rules_pattern(&run->rules, name);
}

/* One table on its way: filled, then written, then told of. */
struct item {
    struct grid_file *file;
    struct op_table t;
    bool has_table, is_changed;
    struct diag d;
    enum status st;
};

/* Files wait for the disk rather than for a processor. */
enum { ITEMS = 8 };

struct filling {
    struct grid_run *run;
    grid_run_progress *tell;
    void *ctx;
    struct diag *d;
    size_t next, told; /* files */
    bool is_stopped;   /* a table could not be filled: no further one is begun */
    struct item items[ITEMS];
    enum status st;
};

/* A table without new rows is written, too, when its bytes are not those of our dialect. */
static enum status fill_item(struct grid_run *run, struct item *item,
                             const struct grid_pattern *pattern)
{
    struct grid_file *file = item->file;

    if (cancelled())
        return ST_CANCELLED;
    item->has_table = true;
    TRY(table_read(&item->t, file->path, &item->d));
    TRY(grid_fill(&item->t, &run->job, pattern, run->budget, &file->fill, &item->d));
    file->is_skipped = file->fill.appended == 0;
    if (!file->fill.is_usable)
        return ST_OK;
    item->is_changed = !file->is_skipped || !table_is_at(&item->t, TABLE_NO_BOM, file->path);
    return ST_OK;
}

static bool next_item(void *ctx, size_t slot)
{
    struct filling *f = ctx;
    struct item *item = &f->items[slot];

    if (f->is_stopped || f->next == f->run->files.n)
        return false;
    *item = (struct item){.file = &f->run->files.at[f->next++]};
    diag_init(&item->d);
    const struct grid_pattern *p = grid_run_pattern(f->run, table_stem(item->file->path));
    if (p != NULL)
        item->st = fill_item(f->run, item, p);
    f->is_stopped = item->st != ST_OK;
    return true;
}

static void write_item(void *ctx, size_t slot)
{
    struct filling *f = ctx;
    struct item *item = &f->items[slot];

    if (item->st != ST_OK || !item->is_changed || f->run->is_dry_run)
        return;
    item->st = table_write(&item->t, item->file->path, TABLE_NO_BOM, &item->d);
    item->file->is_written = item->st == ST_OK;
}

static enum status diff_item(struct grid_run *run, struct item *item)
{
    struct text diff = {0};
    struct op_table old;

    enum status st = table_read(&old, item->file->path, &item->d);
    if (st == ST_OK)
        table_diff(&old, &item->t, item->file->path, text_sink(&diff));
    item->file->diff = text_keep(&diff, &run->arena);
    table_free(&old);
    return st;
}

/* Items end in the order of the files, whichever thread was first: messages and output do not
 * depend on it. */
static bool finish_item(void *ctx, size_t slot)
{
    struct filling *f = ctx;
    struct item *item = &f->items[slot];

    if (item->st == ST_OK && item->is_changed && f->run->is_dry_run)
        item->st = diff_item(f->run, item);
    diag_merge(f->d, &item->d);
    diag_fini(&item->d);
    if (item->has_table)
        table_free(&item->t);
    f->st = item->st;
    item->file = NULL;
    if (f->st != ST_OK)
        return false;
    const struct grid_file *file = &f->run->files.at[f->told++];
    f->run->appended += file->fill.appended;
    f->tell(f->ctx, file);
    return true;
}

enum status grid_run_fill(struct grid_run *run, grid_run_progress *tell, void *ctx, struct diag *d)
{
    static const struct pool_pipe pipe = {next_item, write_item, finish_item};
    struct filling f = {.run = run, .tell = tell, .ctx = ctx, .d = d};
    struct pool *pool = pool_new(ITEMS);

    pool_pipe(pool, ITEMS, &pipe, &f);
    pool_free(pool);
    /* What was begun and not finished, after a failure. */
    for (size_t i = 0; i < ITEMS; i++)
        if (f.items[i].file != NULL) {
            diag_fini(&f.items[i].d);
            if (f.items[i].has_table)
                table_free(&f.items[i].t);
        }
    return f.st;
}

static struct str rules_name(const struct grid_run *run)
{
    return run->rules.file.n > 0 ? run->rules.file : S("config.yaml");
}

static void put_head(struct text *out, const struct grid_run *run)
{
    text_format(out, "Mode: theory | Target models: %s",
                run->targets.n > 0 ? "[" : "ALL (full grid)");
    for (size_t i = 0; i < run->targets.n; i++)
        text_format(out, "%s'%.*s'", i > 0 ? ", " : "", STR_ARGS(run->targets.at[i].id));
    text_format(out,
                "%s\nConfig: %.*s | op_mapping: %s | max_rows/csv: ", run->targets.n > 0 ? "]" : "",
                STR_ARGS(rules_name(run)), run->facts.is_there ? "True" : "False");
    if (run->rows > 0)
        text_format(out, "%lld\n", (long long)run->rows);
    else
        text_put(out, S("unlimited\n"));
    if (run->budget > 0)
        text_format(out, "HBM budget: %.1f GiB per shape row\n", (double)run->budget / 0x1p30);
}

bool grid_run_print(const void *result, struct sink sink)
{
    const struct grid_run *run = result;
    struct text out = {0};
    size_t skipped = 0;

    put_head(&out, run);
    for (size_t i = 0; i < run->files.n; i++) {
        text_put(&out, run->files.at[i].diff);
        skipped += run->files.at[i].is_skipped;
    }
    text_format(&out, "%s %zu rows across %zu CSV files under %s.\n",
                run->is_dry_run ? "Would append" : "Appended", run->appended, run->files.n,
                run->dir);
    if (skipped > 0)
        text_format(&out, "Skipped %zu files (no theory generator):\n", skipped);
    for (size_t i = 0; i < run->files.n; i++)
        if (run->files.at[i].is_skipped)
            text_format(&out, "  - %.*s\n", STR_ARGS(run->files.at[i].name));
    bool is_good = sink.write(sink.ctx, text_view(&out));
    text_free(&out);
    return is_good;
}

static const struct field file_fields[] = {
    FIELD(struct grid_file, path, "path"),
    FIELD(struct grid_file, fill.made, "rows_made"),
    FIELD(struct grid_file, fill.too_big, "rows_too_large"),
    FIELD(struct grid_file, fill.appended, "rows_appended"),
    FIELD(struct grid_file, is_skipped, "is_skipped"),
    FIELD(struct grid_file, diff, "diff", .missing = MISSING_EMPTY,
          .about = "what a dry run would change"),
};
static const struct record file_record = RECORD(struct grid_file, file_fields);

static struct field_items model_ids(const void *of, const struct record_env *env)
{
    const struct grid_models *models = &((const struct grid_run *)of)->job.models;

    (void)env;
    return (struct field_items){models->n > 0 ? &models->at[0].id : NULL, models->n};
}

static struct field_value rules_of(const void *of, const struct record_env *env)
{
    (void)env;
    return value_text(rules_name(of));
}

static const struct field run_fields[] = {
    FIELD(struct grid_run, dir, "database"),
    FIELD(struct grid_run, is_dry_run, "is_dry_run"),
    FIELD_CALC(FIELD_STR, "rules", rules_of),
    FIELD(struct grid_run, facts.is_there, "has_op_mapping"),
    FIELD_MADE(FIELD_STR, "models", model_ids, NULL, .stride = sizeof(struct grid_model)),
    FIELD(struct grid_run, rows, "rows_per_table"),
    FIELD(struct grid_run, budget, "memory_bytes"),
    FIELD(struct grid_run, appended, "rows_appended"),
    FIELD_LIST(struct grid_run, files.at, files.n, "tables", &file_record),
};
static const struct record run_record = RECORD(struct grid_run, run_fields);

const struct schema grid_schema = {
    .name = "strata.db-grid/1",
    .title = "rows with realistic shapes appended to operator tables",
    .record = &run_record,
};
