#include "perfdb/parse.h"

#include "base/cancel.h"
#include "base/fs.h"
#include "perfdb/cell.h"
#include "perfdb/parse_onto.h"

struct str parse_file_name(struct arena *arena, struct str type)
{
    struct str copy = arena_str(arena, type);
    char *text = arena_cstr(arena, copy);

    for (size_t i = 0; i < copy.n; i++)
        if ((unsigned char)text[i] < 32 || memchr("<>:\"/\\|?*", text[i], 9) != NULL)
            text[i] = '_';
    return arena_format(arena, "%s.csv", copy.n > 0 ? text : "UNKNOWN_TYPE");
}

/* "kernel_details" anywhere in the name before its last dot. */
static bool is_export(const struct fs_entry *e)
{
    return e->kind == FS_FILE && str_ends(e->name, S(".csv")) &&
           str_contains_nocase(str_part(e->name, 0, e->name.n - 4), S("kernel_details"));
}

static enum status read_export(struct parse_plan *plan, const char *path, bool has_folder,
                               struct diag *d)
{
    const char *operators = NULL;

    if (cancelled())
        return ST_CANCELLED;
    if (has_folder) {
        struct str folder = fia_folder(path);
        operators = arena_format(&plan->arena, "%.*s/operator_details.csv", STR_ARGS(folder)).at;
        operators = fs_exists(operators) ? operators : NULL;
    }
    TRY(kernels_read(&plan->kernels, path, d));
    plan->n_exports++;
    return fia_meta_add(&plan->metas, &plan->kernels, path, operators, d);
}

static enum status read_exports(struct parse_plan *plan, const char *source, struct diag *d)
{
    struct fs_list list;

    if (!fs_exists(source))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-source", (struct where){0},
                         "kernel_details source path not found: %s", source);
    if (!fs_is_dir(source))
        return read_export(plan, source, false, d);
    TRY(fs_walk(&plan->arena, source, NULL, 0, &list, d));
    for (size_t i = 0; i < list.n; i++)
        if (is_export(&list.at[i]))
            TRY(read_export(plan, list.at[i].path, true, d));
    if (plan->n_exports > 0)
        return ST_OK;
    diag_fail(d, ST_NOT_FOUND, "perfdb.no-exports", (struct where){0},
              "no CSV files with 'kernel_details' in the name found under: %s", source);
    diag_hint(d, "looked for", "*kernel_details*.csv");
    return ST_NOT_FOUND;
}

static void set_runtime(struct parse_plan *plan, struct table *t, size_t row,
                        const struct kernel_group *g)
{
    const struct fia_meta *m =
        fia_meta_find(&plan->metas, g->cells[ID_INPUT_SHAPES], g->cells[ID_OUTPUT_SHAPES]);

    if (m == NULL)
        return;
    table_set(t, row, PARSED_N + RT_SOURCE_PROFILE, m->profile);
    table_set(t, row, PARSED_N + RT_SEQ_SHAPE, m->seq);
    table_set(t, row, PARSED_N + RT_SEQ_KV_SHAPE, m->seq_kv);
    table_set(t, row, PARSED_N + RT_BLOCK_TABLE_SHAPE, m->block_table);
    table_set(t, row, PARSED_N + RT_COMPLETENESS, S("profile_shapes_only"));
}

static void add_group(struct parse_plan *plan, struct table *t, struct kernel_group *g, bool is_fia)
{
    struct kernel_stats stats = kernels_stats(g);
    size_t row = table_add_row(t);

    for (int i = 0; i < IDENTITY_N; i++)
        table_set(t, row, i, g->cells[i].n > 0 ? g->cells[i] : S(""));
    table_set(t, row, IDENTITY_N, cell_text6(&t->arena, stats.average));
    table_set(t, row, IDENTITY_N + 1, cell_text6(&t->arena, stats.median));
    table_set(t, row, IDENTITY_N + 2, cell_text6(&t->arena, stats.deviation));
    for (int i = 0; i < COUNTER_N; i++)
        table_set(t, row, IDENTITY_N + 3 + i, cell_text6(&t->arena, stats.counters[i]));
    if (is_fia)
        set_runtime(plan, t, row, g);
}

/* An empty table for each type that has a name; `place` tells where the tables of types are. */
static void open_tables(struct parse_plan *plan, const char *dir, uint32_t *place)
{
    const struct kernels *k = &plan->kernels;

    for (size_t i = 0; i < k->types.n; i++) {
        struct parse_file f = {0};
        if (k->types.at[i].n == 0)
            continue;
        place[i] = (uint32_t)plan->files.n;
        f.path = fs_join(&plan->arena, dir, parse_file_name(&plan->arena, k->types.at[i]).at);
        table_init(&f.fresh, f.path);
        table_arrange(&f.fresh, column_parsed(), PARSED_N);
        if (str_equal(k->types.at[i], KERNELS_FIA))
            for (size_t c = 0; c < RUNTIME_N; c++)
                table_add_column(&f.fresh, column_runtime[c]);
        vec_push(&plan->files, f);
    }
}

static void make_tables(struct parse_plan *plan, const char *dir)
{
    struct kernels *k = &plan->kernels;
    uint32_t *place = ARENA_ARRAY(&plan->arena, uint32_t, k->types.n + 1);

    open_tables(plan, dir, place);
    for (size_t i = 0; i < k->groups.n; i++) {
        struct kernel_group *g = &k->groups.at[i];
        struct str type = k->types.at[g->type];
        if (type.n > 0)
            add_group(plan, &plan->files.at[place[g->type]].fresh, g, str_equal(type, KERNELS_FIA));
    }
}

/* Two operators may end in one file name: the later one wins, and that is told. */
static void tell_same_names(const struct parse_plan *plan, struct diag *d)
{
    struct hash seen = {0};

    for (size_t i = 0; i < plan->files.n; i++) {
        const char *path = plan->files.at[i].path;
        uint32_t first = hash_add(&seen, hash_bytes(str_of(path)), (uint32_t)i);
        if (first != i && strcmp(plan->files.at[first].path, path) == 0)
            diag_add(d, SEV_LOSS, "perfdb.same-name", (struct where){.path = path},
                     "two operators have this file name; the rows of the first are lost");
    }
    hash_free(&seen);
}

enum status parse_plan(struct parse_plan *plan, const char *source, const char *dir,
                       enum parse_mode mode, struct diag *d)
{
    *plan = (struct parse_plan){0};
    arena_init(&plan->arena);
    kernels_init(&plan->kernels);
    TRY(read_exports(plan, source, d));
    make_tables(plan, dir);
    tell_same_names(plan, d);
    return parse_onto(plan, mode, d);
}

void parse_plan_free(struct parse_plan *plan)
{
    for (size_t i = 0; i < plan->files.n; i++) {
        table_free(&plan->files.at[i].fresh);
        if (plan->files.at[i].is_there)
            table_free(&plan->files.at[i].old);
    }
    vec_free(&plan->files);
    fia_meta_free(&plan->metas);
    kernels_free(&plan->kernels);
    arena_free(&plan->arena);
}

enum status parse_write(struct parse_plan *plan, struct diag *d)
{
    for (size_t i = 0; i < plan->files.n; i++) {
        if (cancelled())
            return ST_CANCELLED;
        TRY(table_write(&plan->files.at[i].fresh, plan->files.at[i].path, TABLE_NO_BOM, d));
    }
    return ST_OK;
}
