#include "perfdb/kernels.h"

#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/ranked.h"
#include "base/vec.h"
#include "perfdb/cell.h"
#include "perfdb/rows.h"

enum { NONE = UINT32_MAX };

void kernels_init(struct kernels *k)
{
    *k = (struct kernels){0};
    arena_init(&k->arena);
}

void kernels_free(struct kernels *k)
{
    for (size_t i = 0; i < k->groups.n; i++)
        vec_free(&k->groups.at[i].durations);
    vec_free(&k->groups);
    vec_free(&k->types);
    vec_free(&k->fia);
    hash_free(&k->by_key);
    hash_free(&k->by_type);
    hash_free(&k->by_fia);
    arena_free(&k->arena);
}

/* Where the columns are in one export. */
struct columns {
    int type, duration;
    int identity[IDENTITY_N];
    int counters[COUNTER_N];
};

static enum status tell_missing(struct str *missing, size_t n, const char *path, struct diag *d)
{
    struct arena arena;

    qsort(missing, n, sizeof(*missing), str_order);
    arena_init(&arena);
    struct str list = missing[0];
    for (size_t i = 1; i < n; i++)
        list = arena_format(&arena, "%.*s, %.*s", STR_ARGS(list), STR_ARGS(missing[i]));
    diag_fail(d, ST_FORMAT, "perfdb.missing-columns", (struct where){path, 1, 0},
              "is missing required columns: %.*s", STR_ARGS(list));
    diag_hint(d, "try", "a profile with profiler_level Level1 or above and aic_metrics");
    arena_free(&arena);
    return ST_FORMAT;
}

static enum status find_columns(const struct rows *rows, const char *path, struct columns *c,
                                struct diag *d)
{
    struct str missing[2 + IDENTITY_N + COUNTER_N];
    size_t n = 0;

#define FIND(place, name)                                                                          \
    do {                                                                                           \
        (place) = csv_column(&rows->csv, (name));                                                  \
        if ((place) < 0)                                                                           \
            missing[n++] = (name);                                                                 \
    } while (0)
    FIND(c->type, S("Type"));
    FIND(c->duration, COL_DURATION);
    for (size_t i = 0; i < IDENTITY_N; i++)
        FIND(c->identity[i], column_identity[i]);
    for (size_t i = 0; i < COUNTER_N; i++)
        FIND(c->counters[i], column_counter[i]);
#undef FIND
    return n > 0 ? tell_missing(missing, n, path, d) : ST_OK;
}

/* Variants of one kernel that count as the kernel. */
static struct str renamed(struct str type)
{
    if (str_equal(type, S("split_qkv_rmsnorm_rope_kernel_0")))
        return S("split_qkv_rmsnorm_rope_kernel");
    if (str_equal(type, S("muls_add_kernel_1")))
        return S("muls_add_kernel");
    return type;
}

static bool has_no_shape(struct str cell)
{
    return str_equal_nocase(cell_bare(cell), S("N/A"));
}

static uint32_t type_id(struct kernels *k, struct str type)
{
    uint64_t hash = hash_bytes(type);
    uint32_t id = hash_add(&k->by_type, hash, (uint32_t)k->types.n);

    /* On the rare collision of two names every type is looked at. */
    if (id < k->types.n && !str_equal(k->types.at[id], type))
        for (id = 0; id < k->types.n && !str_equal(k->types.at[id], type); id++)
            ;
    if (id == k->types.n)
        vec_push(&k->types, arena_str(&k->arena, type));
    return id;
}

static uint32_t new_group(struct kernels *k, uint32_t type, struct str in, struct str out)
{
    struct kernel_group g = {.type = type, .next = NONE};

    g.cells[ID_INPUT_SHAPES] = arena_str(&k->arena, in);
    g.cells[ID_OUTPUT_SHAPES] = arena_str(&k->arena, out);
    vec_push(&k->groups, g);
    return (uint32_t)k->groups.n - 1;
}

static struct kernel_group *group_of(struct kernels *k, struct str type, struct str in,
                                     struct str out)
{
    uint32_t id = type_id(k, type);
    uint64_t key = hash_mix(hash_mix(hash_bytes(in), hash_bytes(out)), id);
    uint32_t at = hash_add(&k->by_key, key, (uint32_t)k->groups.n);

    if (at == k->groups.n) {
        new_group(k, id, in, out);
        return &k->groups.at[at];
    }
    for (;;) {
        struct kernel_group *g = &k->groups.at[at];
        if (g->type == id && str_equal(g->cells[ID_INPUT_SHAPES], in) &&
            str_equal(g->cells[ID_OUTPUT_SHAPES], out))
            return g;
        if (g->next == NONE) {
            uint32_t fresh = new_group(k, id, in, out);
            k->groups.at[at].next = fresh;
            return &k->groups.at[fresh];
        }
        at = g->next;
    }
}

/* The state, core, dtypes and formats of a group come from the first row that has them. */
static void fill_cells(struct kernels *k, struct kernel_group *g, const struct rows *rows,
                       const struct columns *c, struct arena *scratch)
{
    for (size_t i = 0; i < IDENTITY_N; i++) {
        if (g->cells[i].n > 0)
            continue;
        struct str cell = rows_cell(rows, c->identity[i], scratch);
        if (cell.n > 0)
            g->cells[i] = arena_str(&k->arena, cell);
    }
}

static void add_row(struct kernels *k, const struct rows *rows, const struct columns *c,
                    struct arena *scratch)
{
    struct str in = rows_cell(rows, c->identity[ID_INPUT_SHAPES], scratch);
    struct str out = rows_cell(rows, c->identity[ID_OUTPUT_SHAPES], scratch);

    if (has_no_shape(in) || has_no_shape(out))
        return;
    struct str type = renamed(rows_cell(rows, c->type, scratch));
    struct kernel_group *g = group_of(k, type, in, out);
    double duration = cell_f64(csv_cell(&rows->csv, c->duration));
    fill_cells(k, g, rows, c, scratch);
    g->n++;
    g->sum += duration;
    g->squares += duration * duration;
    vec_push(&g->durations, duration);
    for (size_t i = 0; i < COUNTER_N; i++)
        g->counters[i] += cell_f64(csv_cell(&rows->csv, c->counters[i]));
}

static void note_fia(struct kernels *k, const struct rows *rows, const struct columns *c,
                     struct arena *scratch)
{
    uint64_t index = k->n_fia++;
    struct str in = rows_cell(rows, c->identity[ID_INPUT_SHAPES], scratch);
    struct str out = rows_cell(rows, c->identity[ID_OUTPUT_SHAPES], scratch);
    uint64_t key = hash_mix(hash_bytes(in), hash_bytes(out));
    uint32_t seen;

    if (hash_get(&k->by_fia, key, &seen))
        return;
    hash_put(&k->by_fia, key, 1);
    struct kernel_fia row = {arena_str(&k->arena, in), arena_str(&k->arena, out), index};
    vec_push(&k->fia, row);
}

enum status kernels_read(struct kernels *k, const char *path, struct diag *d)
{
    struct columns c;
    struct rows *rows;
    struct arena scratch;

    k->fia.n = 0;
    k->n_fia = 0;
    TRY(rows_open(&rows, path, d));
    enum status st = find_columns(rows, path, &c, d);
    if (st != ST_OK) {
        rows_close(rows);
        return st;
    }
    arena_init(&scratch);
    arena_alloc(&scratch, 1); /* the first block stays */
    struct arena_mark mark = arena_mark(&scratch);
    while (rows_next(rows)) {
        k->rows++;
        if (str_equal(cell_trim(csv_cell(&rows->csv, c.type)), KERNELS_FIA))
            note_fia(k, rows, &c, &scratch);
        add_row(k, rows, &c, &scratch);
        arena_rewind(&scratch, mark);
        if (k->types.n > LIMIT_KERNEL_TYPES) {
            st = diag_fail(d, ST_LIMIT, "perfdb.too-many-types",
                           (struct where){path, rows->csv.line, 0}, "more than %d kernel types",
                           LIMIT_KERNEL_TYPES);
            break;
        }
    }
    arena_free(&scratch);
    enum status closed = rows_close(rows);
    return st != ST_OK ? st : closed;
}

struct kernel_stats kernels_stats(struct kernel_group *g)
{
    double n = (double)g->n;
    struct kernel_stats s = {.average = g->sum / n};
    double variance = g->squares / n - s.average * s.average;

    ranked_sort(g->durations.at, g->durations.n);
    s.median = ranked_middle(g->durations.at, g->durations.n);
    s.deviation = sqrt(variance > 0 ? variance : 0);
    for (size_t i = 0; i < COUNTER_N; i++)
        s.counters[i] = g->counters[i] / n;
    return s;
}
