#include "perfdb/grid_gen.h"

#include "base/limits.h"
#include "perfdb/grid_make.h"

static const struct generator {
    struct str name, other; /* other: as in rules files of related tools */
    enum status (*make)(struct grid_out *out);
} generators[] = {
    {S_INIT("grouped_matmul"), S_INIT("_theory_grouped_matmul"), grid_make_grouped},
    {S_INIT("dispatch_ffn_combine"), S_INIT("_theory_dfc"), grid_make_dispatch},
    {S_INIT("split_qkv_rmsnorm_rope"), S_INIT("_theory_split_qkv_rmsnorm_rope"),
     grid_make_split_qkv},
    {S_INIT("fused_attention"), S_INIT("_theory_fused_attention"), grid_make_attention},
};

static const struct generator *find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(generators); i++)
        if (str_equal(generators[i].name, name) || str_equal(generators[i].other, name))
            return &generators[i];
    return NULL;
}

bool grid_gen_is_known(struct str generator)
{
    return find(generator) != NULL;
}

int64_t grid_share(int64_t whole, int64_t parts)
{
    return whole / parts > 1 ? whole / parts : 1;
}

struct grid_shape grid_make_shape(struct grid_out *out, const int64_t *dim, size_t n)
{
    int64_t *copy = ARENA_ARRAY(&out->scratch, int64_t, n);

    memcpy(copy, dim, n * sizeof(*dim));
    return (struct grid_shape){copy, n};
}

struct grid_list grid_make_tokens(const struct grid_out *out, struct str grid)
{
    if (out->pattern->iterators_n > 0)
        return out->pattern->iterators[0].values;
    return grid_rules_grid(out->job->rules, grid);
}

static struct grid_shapes copy_shapes(struct arena *arena, struct grid_shapes from)
{
    size_t dims = 0;

    for (size_t i = 0; i < from.n; i++)
        dims += from.at[i].n;
    struct grid_shapes to = {ARENA_ARRAY(arena, struct grid_shape, from.n), from.n};
    int64_t *dim = ARENA_ARRAY(arena, int64_t, dims);
    for (size_t i = 0; i < from.n; i++) {
        to.at[i] = (struct grid_shape){dim, from.at[i].n};
        for (size_t k = 0; k < from.at[i].n; k++)
            *dim++ = from.at[i].dim[k];
    }
    return to;
}

static struct grid_row copy_row(struct arena *arena, const struct grid_row *row)
{
    struct grid_cell *cells = ARENA_ARRAY(arena, struct grid_cell, row->cells_n);

    for (size_t i = 0; i < row->cells_n; i++)
        cells[i] = (struct grid_cell){row->cells[i].column, arena_str(arena, row->cells[i].text)};
    return (struct grid_row){copy_shapes(arena, row->in), copy_shapes(arena, row->out), cells,
                             row->cells_n};
}

enum status grid_take(struct grid_out *out, const struct grid_row *row)
{
    uint64_t i = out->n++;

    if (i >= LIMIT_GRID_POINTS)
        return diag_fail(out->d, ST_LIMIT, "grid.too-many-points", (struct where){0},
                         "pattern %.*s makes more than %d rows", STR_ARGS(out->pattern->name),
                         LIMIT_GRID_POINTS);
    if (out->place != NULL) {
        if (out->place[i] != UINT32_MAX)
            out->kept.at[out->place[i]] = copy_row(out->arena, row);
    } else if (out->job->cap == 0 || i < out->job->cap) {
        vec_push(&out->kept, copy_row(out->arena, row));
    }
    return ST_OK;
}

static enum status pass(struct grid_out *out)
{
    const struct generator *g = find(out->pattern->generator);

    out->n = 0;
    arena_init(&out->scratch);
    enum status st = g != NULL ? g->make(out) : grid_make_template(out);
    arena_free(&out->scratch);
    return st;
}

/* Draws the sample and runs the generator again for its rows. */
static enum status keep_sample(struct grid_out *out)
{
    uint32_t n = (uint32_t)out->n, k = out->job->cap;
    uint32_t *drawn = mem_grow(NULL, sizeof(*drawn), k), *place = mem_grow(NULL, sizeof(*place), n);

    grid_random_sample(out->job->random, n, k, drawn);
    memset(place, 0xff, n * sizeof(*place));
    for (uint32_t i = 0; i < k; i++)
        place[drawn[i]] = i;
    out->place = place;
    enum status st = pass(out);
    out->place = NULL;
    mem_free(place);
    mem_free(drawn);
    return st;
}

enum status grid_generate(const struct grid_job *job, const struct grid_pattern *pattern,
                          struct str kernel, struct arena *arena, struct grid_rows *out,
                          struct diag *d)
{
    struct grid_out o = {.job = job, .pattern = pattern, .kernel = kernel, .d = d, .arena = arena};

    enum status st = pass(&o);
    if (st == ST_OK && job->cap > 0 && o.n > job->cap)
        st = keep_sample(&o);
    *out = (struct grid_rows){ARENA_ARRAY(arena, struct grid_row, o.kept.n), o.kept.n};
    if (o.kept.n > 0)
        memcpy(out->at, o.kept.at, o.kept.n * sizeof(*out->at));
    vec_free(&o.kept);
    return st;
}

struct str grid_row_cell(const struct grid_row *row, struct str column)
{
    for (size_t i = 0; i < row->cells_n; i++)
        if (str_equal(row->cells[i].column, column))
            return row->cells[i].text;
    return (struct str){0};
}
