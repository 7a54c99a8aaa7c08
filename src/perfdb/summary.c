#include "perfdb/summary.h"

#include "base/fs.h"
#include "base/limits.h"
#include "perfdb/cell.h"
#include "perfdb/rows.h"

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

static uint32_t type_id(struct summary *s, struct str name)
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

struct columns {
    int type, duration, ep_size;
    int identity[IDENTITY_N];
    int counters[COUNTER_N];
};

static struct columns find_columns(const struct csv *csv)
{
    struct columns c = {.type = csv_column(csv, COL_OP_TYPE),
                        .duration = csv_column(csv, S("Task Duration(us)")),
                        .ep_size = csv_column(csv, COL_EP_SIZE)};

    for (size_t i = 0; i < IDENTITY_N; i++)
        c.identity[i] = csv_column(csv, column_identity[i]);
    c.identity[ID_CORE] = csv_column(csv, S("Task Type"));
    for (size_t i = 0; i < COUNTER_N; i++)
        c.counters[i] = csv_column(csv, column_counter[i]);
    return c;
}

static struct signature sign(struct arena *arena, struct str type, const struct str *cells,
                             struct str ep_size)
{
    struct signature_row row = {
        .input_shapes = cells[ID_INPUT_SHAPES],
        .input_dtypes = cells[ID_INPUT_DTYPES],
        .input_formats = cells[ID_INPUT_FORMATS],
        .output_shapes = cells[ID_OUTPUT_SHAPES],
        .output_dtypes = cells[ID_OUTPUT_DTYPES],
        .ep_size = ep_size,
    };

    return signature_of(arena, type, &row);
}

/* A copy whose texts outlive the row. */
static void keep_signature(struct summary *s, struct signature *sig)
{
    for (size_t i = 0; i < sig->n; i++)
        sig->part[i] = arena_str(&s->arena, sig->part[i]);
}

static struct summary_case *case_of(struct summary *s, uint32_t type, const struct str *cells,
                                    struct str ep_size, struct arena *scratch)
{
    struct summary_type *t = &s->types.at[type];
    struct signature sig = sign(scratch, t->name, cells, ep_size);
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
        keep_signature(s, &sig);
        signature_index_add(&t->by_signature, &sig, at, NULL);
    }
    return &s->cases.at[at];
}

static void add_row(struct summary *s, const struct rows *rows, const struct columns *c,
                    struct str type, int64_t ep_size, struct arena *scratch)
{
    struct str cells[IDENTITY_N];

    for (size_t i = 0; i < IDENTITY_N; i++)
        cells[i] = rows_cell(rows, c->identity[i], scratch);
    uint32_t id = type_id(s, type);
    struct summary_case *sample =
        case_of(s, id, cells, rows_cell(rows, c->ep_size, scratch), scratch);
    double duration = cell_f64(csv_cell(&rows->csv, c->duration));
    if (sample->n == 0 || duration < sample->shortest)
        sample->shortest = duration;
    if (sample->n++ == 0 && ep_size > 0 && str_equal(signature_op(type), S("DispatchFFNCombine")))
        sample->ep_size = arena_format(&s->arena, "%lld", (long long)ep_size);
    for (size_t i = 0; i < COUNTER_N; i++)
        sample->sums[i] += cell_f64(csv_cell(&rows->csv, c->counters[i]));
}

enum status summary_read(struct summary *s, const char *path, int64_t ep_size, struct diag *d)
{
    struct rows *rows;
    struct arena scratch;
    enum status st = ST_OK;

    TRY(rows_open(&rows, path, d));
    struct columns c = find_columns(&rows->csv);
    arena_init(&scratch);
    arena_alloc(&scratch, 1); /* the first block stays */
    struct arena_mark mark = arena_mark(&scratch);
    while (rows_next(rows)) {
        struct str type = rows_cell(rows, c.type, &scratch);
        s->rows++;
        if (type.n > 0)
            add_row(s, rows, &c, type, ep_size, &scratch);
        arena_rewind(&scratch, mark);
        if (s->types.n > LIMIT_KERNEL_TYPES) {
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
