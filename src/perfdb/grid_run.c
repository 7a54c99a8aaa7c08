#include "perfdb/grid_run.h"

#include "base/cancel.h"
#include "base/fs.h"
#include "base/mapfile.h"
#include "base/num.h"
#include "base/pool.h"
#include "perfdb/table_diff.h"

static struct str all_ids(struct arena *arena, const struct grid_models *models)
{
    struct str text = S("");

    for (size_t i = 0; i < models->n; i++)
        text = arena_format(arena, "%.*s%s%.*s", STR_ARGS(text), i > 0 ? ", " : "",
                            STR_ARGS(models->at[i].id));
    return text;
}

static enum status unknown_model(struct str name, const struct grid_models *models, struct diag *d)
{
    struct arena scratch;

    arena_init(&scratch);
    diag_fail(d, ST_NOT_FOUND, "grid.unknown-model", (struct where){0}, "no model is called '%.*s'",
              STR_ARGS(name));
    diag_hint(d, "known", "%.*s", STR_ARGS(all_ids(&scratch, models)));
    diag_hint(d, "try", "--model-config with the config.json of the model");
    arena_free(&scratch);
    return ST_NOT_FOUND;
}

static enum status legacy_model(struct str name, const struct grid_model *m, struct diag *d)
{
    diag_fail(d, ST_NOT_FOUND, "grid.short-model", (struct where){0},
              "'%.*s' is a short name, which --strict-model-ids refuses", STR_ARGS(name));
    diag_hint(d, "try", "%.*s", STR_ARGS(m->id));
    return ST_NOT_FOUND;
}

/* One name of the list: a known model, or the next config.json. */
static enum status take_target(struct grid_run *run, const struct grid_options *o,
                               const struct grid_models *models, struct str name, size_t *configs,
                               struct grid_model *out, struct diag *d)
{
    bool is_alias;
    const struct grid_model *m = grid_models_find(models, name, &is_alias);

    if (m != NULL && is_alias && o->is_strict)
        return legacy_model(name, m, d);
    if (m != NULL) {
        *out = *m;
        return ST_OK;
    }
    if (*configs < o->configs_n)
        return grid_model_config(&run->arena, o->configs[(*configs)++], name, out, d);
    return unknown_model(name, models, d);
}

static enum status find_targets(struct grid_run *run, const struct grid_options *o, struct diag *d)
{
    struct str rest = o->target_models, name;
    struct grid_models models;
    size_t configs = 0, n = 1 + o->configs_n;

    TRY(grid_models_read(&run->arena, &run->rules, &models, d));
    for (size_t i = 0; i < rest.n; i++)
        n += rest.at[i] == ',';
    struct grid_model *targets = ARENA_ARRAY(&run->arena, struct grid_model, n);
    run->targets.at = targets;
    while (rest.n > 0 && str_split(&rest, ',', &name)) {
        name = str_trim(name);
        if (name.n > 0)
            TRY(take_target(run, o, &models, name, &configs, &targets[run->targets.n++], d));
    }
    while (configs < o->configs_n)
        TRY(grid_model_config(&run->arena, o->configs[configs++], (struct str){0},
                              &targets[run->targets.n++], d));
    run->job.has_targets = run->targets.n > 0;
    run->job.models = run->targets.n > 0 ? run->targets : models;
    return ST_OK;
}

/* 2^33 GiB and more is no limit at all. */
static int64_t budget_of(double gib)
{
    return gib <= 0 ? 0 : gib >= 0x1p33 ? INT64_MAX : (int64_t)(gib * 0x1p30);
}

enum status grid_run_open(struct grid_run *run, const struct grid_options *o, struct diag *d)
{
    *run = (struct grid_run){.diff = o->diff, .budget = budget_of(o->memory_gib)};
    arena_init(&run->arena);
    intern_init(&run->facts.kernels);
    TRY(grid_rules_read(&run->rules, &run->arena, o->rules, d));
    run->job = (struct grid_job){
        .rules = &run->rules,
        .is_replayable = o->is_replayable,
        .cap = o->rows <= 0           ? 0
               : o->rows > UINT32_MAX ? UINT32_MAX
                                      : (uint32_t)o->rows,
        .random = &run->random,
    };
    TRY(find_targets(run, o, d));
    if (o->seed == NULL)
        grid_random_seed_any(&run->random);
    else if (!grid_random_seed_text(&run->random, str_of(o->seed)))
        return diag_fail(d, ST_FORMAT, "grid.bad-seed", (struct where){0},
                         "a seed is a whole number, not '%s'", o->seed);
    return ST_OK;
}

void grid_run_close(struct grid_run *run)
{
    vec_free(&run->files);
    grid_facts_free(&run->facts);
    arena_free(&run->arena);
}

/* The tables below a folder, without what killed writers have left, in path order; paths live in
 * the arena. */
struct grid_paths {
    const char **at;
    size_t n;
};

static enum status find_tables(struct arena *arena, const char *dir, struct grid_paths *out,
                               struct diag *d)
{
    struct fs_list list;

    *out = (struct grid_paths){0};
    if (!fs_is_dir(dir))
        return diag_fail(d, ST_NOT_FOUND, "grid.no-folder", (struct where){.path = dir},
                         "no such folder of operator tables");
    TRY(fs_walk(arena, dir, NULL, 0, &list, d));
    out->at = arena_array(arena, sizeof(*out->at), list.n);
    for (size_t i = 0; i < list.n; i++)
        if (list.at[i].kind == FS_FILE && str_ends(list.at[i].name, S(".csv")) &&
            !str_contains(list.at[i].name, S(".tmp.csv")))
            out->at[out->n++] = list.at[i].path;
    if (out->n == 0)
        return diag_fail(d, ST_NOT_FOUND, "grid.no-tables", (struct where){.path = dir},
                         "No CSV files found under: %s", dir);
    return ST_OK;
}

enum status grid_run_scan(struct grid_run *run, const char *dir, struct diag *d)
{
    struct grid_paths paths;

    TRY(find_tables(&run->arena, dir, &paths, d));
    for (size_t i = 0; i < paths.n; i++)
        vec_push(&run->files, ((struct grid_file){.path = paths.at[i],
                                                  .name = str_basename(str_of(paths.at[i])),
                                                  .is_skipped = true}));
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

struct match {
    struct str rest; /* of the file */
    bool is_equal;
};

static bool match_text(void *ctx, struct str text)
{
    struct match *m = ctx;

    m->is_equal = m->is_equal && str_starts(m->rest, text);
    m->rest = str_part(m->rest, text.n, m->rest.n);
    return m->is_equal;
}

/* Whether the table would be written as the file stands. */
static enum status compare_bytes(const struct table *t, const char *path, bool *is_equal,
                                 struct diag *d)
{
    struct mapfile map;

    TRY(mapfile_open(&map, path, d));
    struct match m = {map.text, true};
    *is_equal =
        table_print(t, TABLE_NO_BOM, (struct sink){match_text, &m}) && m.is_equal && m.rest.n == 0;
    mapfile_close(&map);
    return ST_OK;
}

/* One table on its way: filled, then written, then told of. */
struct item {
    struct grid_file *file;
    struct table t;
    bool has_table, is_changed;
    struct diag d;
    enum status st;
};

/* Files wait for the disk rather than for a processor. */
enum { ITEMS = 8 };

struct filling {
    struct grid_run *run;
    grid_run_tell *tell;
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
    bool is_equal = false;

    if (cancelled())
        return ST_CANCELLED;
    item->has_table = true;
    TRY(table_read(&item->t, file->path, &item->d));
    TRY(grid_fill(&item->t, &run->job, pattern, run->budget, &file->fill, &item->d));
    file->is_skipped = file->fill.appended == 0;
    if (!file->fill.is_usable)
        return ST_OK;
    if (file->is_skipped)
        TRY(compare_bytes(&item->t, file->path, &is_equal, &item->d));
    item->is_changed = !is_equal;
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

    if (item->st != ST_OK || !item->is_changed || f->run->diff != NULL)
        return;
    item->st = table_write(&item->t, item->file->path, TABLE_NO_BOM, &item->d);
    item->file->is_written = item->st == ST_OK;
}

static enum status show_item(const struct grid_run *run, struct item *item)
{
    struct table old;

    enum status st = table_read(&old, item->file->path, &item->d);
    if (st == ST_OK)
        table_diff(&old, &item->t, item->file->path, *run->diff);
    table_free(&old);
    return st;
}

static bool finish_item(void *ctx, size_t slot)
{
    struct filling *f = ctx;
    struct item *item = &f->items[slot];

    if (item->st == ST_OK && item->is_changed && f->run->diff != NULL)
        item->st = show_item(f->run, item);
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

enum status grid_run_fill(struct grid_run *run, grid_run_tell *tell, void *ctx, struct diag *d)
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
