/*
 * Exports of profilers and replays, row by row, pooled into groups and cases.
 */
#include "opdb/rows/exports.h"

#include <math.h>
#include <stdlib.h>

#include "base/files/fs.h"
#include "base/limits.h"
#include "base/run/cancel.h"
#include "base/tables/ranked.h"
#include "base/tables/vec.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/table.h"

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
    int type, duration, ep_size;
    int identity[IDENTITY_N];
    int counters[COUNTER_N];
};

/* Kernel details and summaries call some columns differently. */
static struct columns exports_find_columns(const struct csv *csv, struct str type,
                                           struct str duration)
{
    struct columns c = {.type = csv_column(csv, type),
                        .duration = csv_column(csv, duration),
                        .ep_size = csv_column(csv, COL_EP_SIZE)};

    for (size_t i = 0; i < IDENTITY_N; i++)
        c.identity[i] = csv_column(csv, column_identity[i]);
    for (size_t i = 0; i < COUNTER_N; i++)
        c.counters[i] = csv_column(csv, column_counter[i]);
    return c;
}

/* Calls `take` for each row until there are more than LIMIT_KERNEL_TYPES types. Closes `rows`. */
static enum status each_row(struct rows *rows, const struct columns *c, const size_t *types,
                            void (*take)(void *ctx, const struct rows *rows,
                                         const struct columns *c, struct arena *scratch),
                            void *ctx)
{
    enum status st = ST_OK;
    struct arena scratch;

    arena_init(&scratch);
    arena_alloc(&scratch, 1); /* the first block stays */
    struct arena_mark mark = arena_mark(&scratch);
    while (st == ST_OK && rows_next(rows)) {
        take(ctx, rows, c, &scratch);
        arena_rewind(&scratch, mark);
        if (*types > LIMIT_KERNEL_TYPES)
            st = diag_fail(rows->diag, ST_LIMIT, "perfdb.too-many-types",
                           (struct where){rows->path, rows->csv.line, 0},
                           "more than %d kernel types", LIMIT_KERNEL_TYPES);
    }
    arena_free(&scratch);
    enum status closed = rows_close(rows);
    return st != ST_OK ? st : closed;
}

static enum status check_columns(const struct rows *rows, const struct columns *c)
{
    struct str missing[2 + IDENTITY_N + COUNTER_N];
    struct arena arena;
    size_t n = 0;

    if (c->type < 0)
        missing[n++] = S("Type");
    if (c->duration < 0)
        missing[n++] = COL_DURATION;
    for (size_t i = 0; i < IDENTITY_N; i++)
        if (c->identity[i] < 0)
            missing[n++] = column_identity[i];
    for (size_t i = 0; i < COUNTER_N; i++)
        if (c->counters[i] < 0)
            missing[n++] = column_counter[i];
    if (n == 0)
        return ST_OK;
    qsort(missing, n, sizeof(*missing), str_order);
    arena_init(&arena);
    diag_fail(rows->diag, ST_FORMAT, "perfdb.missing-columns", (struct where){rows->path, 1, 0},
              "is missing required columns: %.*s",
              STR_ARGS(arena_join(&arena, missing, n, S(", "))));
    diag_hint(rows->diag, "try", "a profile with profiler_level Level1 or above and aic_metrics");
    arena_free(&arena);
    return ST_FORMAT;
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

static uint32_t type_id(struct kernels *k, struct str type)
{
    uint32_t id = hash_add(&k->by_type, hash_bytes(type), (uint32_t)k->types.n);

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

/* Groups whose keys have one hash form a list through `next`: two groups never become one. */
static struct kernel_group *exports_group_of(struct kernels *k, struct str type, struct str in,
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

static void note_fia(struct kernels *k, struct str in, struct str out)
{
    uint64_t index = k->n_fia++, key = hash_mix(hash_bytes(in), hash_bytes(out));
    uint32_t seen;

    if (hash_get(&k->by_fia, key, &seen))
        return;
    hash_put(&k->by_fia, key, 1);
    struct kernel_fia row = {arena_str(&k->arena, in), arena_str(&k->arena, out), index};
    vec_push(&k->fia, row);
}

static void add_kernel(void *ctx, const struct rows *rows, const struct columns *c,
                       struct arena *scratch)
{
    struct kernels *k = ctx;
    struct str in = rows_cell(rows, c->identity[ID_INPUT_SHAPES], scratch);
    struct str out = rows_cell(rows, c->identity[ID_OUTPUT_SHAPES], scratch);

    k->rows++;
    if (str_equal(cell_trim(csv_cell(&rows->csv, c->type)), KERNELS_FIA))
        note_fia(k, in, out);
    if (str_equal_nocase(cell_bare(in), S("N/A")) || str_equal_nocase(cell_bare(out), S("N/A")))
        return;
    struct kernel_group *g =
        exports_group_of(k, renamed(rows_cell(rows, c->type, scratch)), in, out);
    double duration = cell_f64(csv_cell(&rows->csv, c->duration));
    for (size_t i = 0; i < IDENTITY_N; i++) { /* from the first row that has them */
        if (g->cells[i].n > 0)
            continue;
        struct str cell = rows_cell(rows, c->identity[i], scratch);
        if (cell.n > 0)
            g->cells[i] = arena_str(&k->arena, cell);
    }
    g->n++;
    g->sum += duration;
    g->squares += duration * duration;
    vec_push(&g->durations, duration);
    for (size_t i = 0; i < COUNTER_N; i++)
        g->counters[i] += cell_f64(csv_cell(&rows->csv, c->counters[i]));
}

enum status kernels_read(struct kernels *k, const char *path, struct diag *d)
{
    struct rows *rows;

    k->fia.n = 0;
    k->n_fia = 0;
    TRY(rows_open(&rows, path, d));
    struct columns c = exports_find_columns(&rows->csv, S("Type"), COL_DURATION);
    enum status st = check_columns(rows, &c);
    if (st == ST_OK)
        return each_row(rows, &c, &k->types.n, add_kernel, k);
    rows_close(rows);
    return st;
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

enum { WINDOW = 1 << 20 };

static enum status read_header(struct rows *rows)
{
    do
        TRY(stream_fill(&rows->stream));
    while (!csv_open_part(&rows->csv, stream_text(&rows->stream), rows->stream.at_end));
    if (str_starts(csv_header(&rows->csv, 0), TABLE_POINTER))
        return table_refuse_pointer(rows->path, rows->diag);
    return ST_OK;
}

enum status rows_open(struct rows **out, const char *path, struct diag *d)
{
    struct rows *rows = mem_grow(NULL, sizeof(*rows), 1);

    rows->diag = d;
    rows->path = path;
    rows->status = stream_open(&rows->stream, path, WINDOW, d);
    if (rows->status == ST_OK)
        rows->status = read_header(rows);
    if (rows->status == ST_OK) {
        *out = rows;
        return ST_OK;
    }
    return rows_close(rows);
}

bool rows_next(struct rows *rows)
{
    while (!csv_next(&rows->csv)) {
        if (rows->csv.is_last)
            return false;
        if (cancelled()) {
            rows->status = ST_CANCELLED;
            return false;
        }
        stream_consume(&rows->stream, csv_used(&rows->csv));
        rows->status = stream_fill(&rows->stream);
        if (rows->status != ST_OK)
            return false;
        csv_more(&rows->csv, stream_text(&rows->stream), rows->stream.at_end);
    }
    if (rows->csv.is_broken)
        diag_add(rows->diag, SEV_WARN, "perfdb.cut-row",
                 (struct where){rows->path, rows->csv.line, 0},
                 "the export ends inside a quoted cell of this row");
    return true;
}

enum status rows_close(struct rows *rows)
{
    enum status status = rows->status;

    stream_close(&rows->stream);
    mem_free(rows);
    return status;
}

struct str rows_cell(const struct rows *rows, int column, struct arena *arena)
{
    struct str cell = csv_cell(&rows->csv, column);

    /* Doubled quotes stand for one only in a quoted cell, and most cells are not. */
    if (column >= 0 && (size_t)column < rows->csv.n_cells && cell.n > 0 &&
        csv_span(&rows->csv, (size_t)column, (size_t)column).n != cell.n)
        cell = csv_unquote(cell, arena);
    return cell_trim(cell);
}

void summary_init(struct summary *s)
{
    *s = (struct summary){0};
    arena_init(&s->arena);
}

void summary_free(struct summary *s)
{
    for (size_t i = 0; i < s->types.n; i++)
        signature_index_free(&s->types.at[i].by_signature);
    hash_free(&s->by_name);
    vec_free(&s->cases);
    vec_free(&s->types);
    arena_free(&s->arena);
}

uint32_t summary_type(const struct summary *s, struct str name)
{
    uint32_t id;

    if (!hash_get(&s->by_name, hash_bytes(name), &id) || !str_equal(s->types.at[id].name, name))
        return UINT32_MAX;
    return id;
}

static uint32_t summary_type_id(struct summary *s, struct str name)
{
    uint32_t id = summary_type(s, name);

    if (id != UINT32_MAX)
        return id;
    id = (uint32_t)s->types.n;
    struct summary_type fresh = {arena_str(&s->arena, name), UINT32_MAX, UINT32_MAX, {0}};
    vec_push(&s->types, fresh);
    hash_put(&s->by_name, hash_bytes(name), id);
    return id;
}

static struct summary_case *case_of(struct summary *s, uint32_t type, const struct str *cells,
                                    struct str ep_size, struct arena *scratch)
{
    struct summary_type *t = &s->types.at[type];
    struct signature_row row = {0};
    memcpy(row.cell, cells, IDENTITY_N * sizeof(*cells));
    row.cell[ID_EP_SIZE] = ep_size;
    struct signature sig = signature_of(scratch, t->name, &row);
    uint32_t at = signature_index_get(&t->by_signature, &sig);

    if (at == UINT32_MAX) {
        struct summary_case fresh = {.type = type, .next = UINT32_MAX};
        at = (uint32_t)s->cases.n;
        if (t->last != UINT32_MAX)
            s->cases.at[t->last].next = at;
        else
            t->first = at;
        t->last = at;
        for (size_t i = 0; i < IDENTITY_N; i++)
            fresh.cells[i] = arena_str(&s->arena, cells[i]);
        vec_push(&s->cases, fresh);
        for (size_t i = 0; i < sig.n; i++)
            sig.part[i] = arena_str(&s->arena, sig.part[i]);
        signature_index_add(&t->by_signature, &sig, at, NULL);
    }
    return &s->cases.at[at];
}

static void add_sample(void *ctx, const struct rows *rows, const struct columns *c,
                       struct arena *scratch)
{
    struct summary *s = ctx;
    struct str type = rows_cell(rows, c->type, scratch), cells[IDENTITY_N];

    s->rows++;
    if (type.n == 0)
        return;
    for (size_t i = 0; i < IDENTITY_N; i++)
        cells[i] = rows_cell(rows, c->identity[i], scratch);
    struct summary_case *sample =
        case_of(s, summary_type_id(s, type), cells, rows_cell(rows, c->ep_size, scratch), scratch);
    double duration = cell_f64(csv_cell(&rows->csv, c->duration));
    if (sample->n == 0 || duration < sample->shortest)
        sample->shortest = duration;
    if (sample->n++ == 0 && s->ep_size > 0 &&
        str_equal(signature_op(type), S("DispatchFFNCombine")))
        sample->ep_size = arena_format(&s->arena, "%lld", (long long)s->ep_size);
    for (size_t i = 0; i < COUNTER_N; i++)
        sample->sums[i] += cell_f64(csv_cell(&rows->csv, c->counters[i]));
}

enum status summary_read(struct summary *s, const char *path, int64_t ep_size, struct diag *d)
{
    struct rows *rows;

    s->ep_size = ep_size;
    TRY(rows_open(&rows, path, d));
    struct columns c = exports_find_columns(&rows->csv, COL_OP_TYPE, S("Task Duration(us)"));
    c.identity[ID_CORE] = csv_column(&rows->csv, S("Task Type"));
    return each_row(rows, &c, &s->types.n, add_sample, s);
}

enum status summary_find(struct arena *arena, const char *prof, struct summary_files *out,
                         struct diag *d)
{
    const char *folder = fs_join(arena, prof, "mindstudio_profiler_output");
    struct fs_list list = {0};

    if (!fs_exists(prof))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-prof", (struct where){0},
                         "PROF path does not exist: %s", prof);
    if (fs_is_dir(folder))
        TRY(fs_list(arena, folder, &list, d));
    *out = (struct summary_files){ARENA_ARRAY(arena, const char *, list.n + 1), 0};
    for (size_t i = 0; i < list.n; i++)
        if (str_starts(list.at[i].name, S("op_summary_")) && str_ends(list.at[i].name, S(".csv")))
            out->at[out->n++] = list.at[i].path;
    if (out->n > 0)
        return ST_OK;
    diag_fail(d, ST_NOT_FOUND, "perfdb.no-summary", (struct where){.path = prof},
              "No op_summary_*.csv found");
    diag_hint(d, "looked for", "mindstudio_profiler_output/op_summary_*.csv");
    diag_hint(d, "try", "msprof --export=on --output=%s", prof);
    return ST_NOT_FOUND;
}
