/*
 * Rows of one pattern: the generators, the cap, and the random sample.
 */
#include "opdb/grid/grid_gen.h"

#include <sys/random.h>
#include <time.h>

#include "base/limits.h"
#include "base/tables/hash.h"
#include "base/text/char.h"

enum { N = GRID_RANDOM_WORDS, M = 397 };

void grid_random_seed(struct grid_random *r, const uint32_t *key, size_t n)
{
    uint32_t *w = r->word;
    uint32_t i = 1;

    w[0] = 19650218u;
    for (uint32_t k = 1; k < N; k++)
        w[k] = 1812433253u * (w[k - 1] ^ (w[k - 1] >> 30)) + k;
    r->next = N;
    for (size_t k = 0, j = 0; k < (n > N ? n : N); k++) {
        w[i] = (w[i] ^ ((w[i - 1] ^ (w[i - 1] >> 30)) * 1664525u)) + key[j] + (uint32_t)j;
        j = j + 1 < n ? j + 1 : 0;
        if (++i == N) {
            w[0] = w[N - 1];
            i = 1;
        }
    }
    for (size_t k = 0; k < N - 1; k++) {
        w[i] = (w[i] ^ ((w[i - 1] ^ (w[i - 1] >> 30)) * 1566083941u)) - i;
        if (++i == N) {
            w[0] = w[N - 1];
            i = 1;
        }
    }
    w[0] = 0x80000000u;
}

bool grid_random_seed_text(struct grid_random *r, struct str text)
{
    uint32_t key[GRID_SEED_DIGITS / 9 + 1] = {0}; /* nine digits take less than 32 bits */
    size_t n = 1;

    text = str_trim(text);
    if (text.n > 0 && (text.at[0] == '-' || text.at[0] == '+'))
        text = str_part(text, 1, text.n);
    if (text.n == 0 || text.n > GRID_SEED_DIGITS)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (!char_is_digit(text.at[i]))
            return false;
        uint64_t carry = (uint64_t)(text.at[i] - '0');
        for (size_t k = 0; k < n; k++) {
            carry += (uint64_t)key[k] * 10;
            key[k] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry > 0)
            key[n++] = (uint32_t)carry;
    }
    grid_random_seed(r, key, n);
    return true;
}

void grid_random_seed_any(struct grid_random *r)
{
    uint32_t key[8] = {0};
    struct timespec now;

    /* Eight words never block once the system is up; the clock is for a system that has none. */
    if (getrandom(key, sizeof(key), GRND_NONBLOCK) != sizeof(key)) {
        clock_gettime(CLOCK_REALTIME, &now);
        key[0] ^= (uint32_t)now.tv_nsec;
        key[1] ^= (uint32_t)now.tv_sec;
    }
    grid_random_seed(r, key, ARRAY_LEN(key));
}

uint32_t grid_random_next(struct grid_random *r)
{
    uint32_t *w = r->word;

    if (r->next >= N) {
        for (size_t i = 0; i < N; i++) {
            uint32_t y = (w[i] & 0x80000000u) | (w[(i + 1) % N] & 0x7fffffffu);
            w[i] = w[(i + M) % N] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
        }
        r->next = 0;
    }
    uint32_t y = w[r->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* Below `n`, each equally likely; n > 0. */
static uint32_t below(struct grid_random *r, uint32_t n)
{
    int surplus = __builtin_clz(n);
    uint32_t x;

    do
        x = grid_random_next(r) >> surplus;
    while (x >= n);
    return x;
}

/* The smaller populations are drawn from a list that shrinks, the larger ones by trying again. */
static bool is_small(uint32_t n, uint32_t k)
{
    uint64_t size = 21, power = 1;

    if (k > 5) {
        while (power < 3 * (uint64_t)k)
            power *= 4;
        size += power;
    }
    return n <= size;
}

void grid_random_sample(struct grid_random *r, uint32_t n, uint32_t k, uint32_t *out)
{
    struct hash seen = {0};

    if (is_small(n, k)) {
        uint32_t *pool = mem_grow(NULL, sizeof(*pool), n > 0 ? n : 1);
        for (uint32_t i = 0; i < n; i++)
            pool[i] = i;
        for (uint32_t i = 0; i < k; i++) {
            uint32_t j = below(r, n - i);
            out[i] = pool[j];
            pool[j] = pool[n - i - 1];
        }
        mem_free(pool);
        return;
    }
    for (uint32_t i = 0; i < k; i++) {
        uint32_t j = below(r, n), had;
        while (hash_get(&seen, j, &had))
            j = below(r, n);
        hash_put(&seen, j, 1);
        out[i] = j;
    }
    hash_free(&seen);
}

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

static const struct generator *gen_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(generators); i++)
        if (str_equal(generators[i].name, name) || str_equal(generators[i].other, name))
            return &generators[i];
    return NULL;
}

bool grid_gen_is_known(struct str generator)
{
    return gen_find(generator) != NULL;
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

enum status grid_add_row(struct grid_out *out, const struct grid_row *row)
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
    const struct generator *g = gen_find(out->pattern->generator);

    out->n = 0;
    arena_init(&out->scratch);
    enum status st = g != NULL ? g->make(out) : grid_make_template(out);
    arena_free(&out->scratch);
    return st;
}

enum status grid_generate(const struct grid_job *job, const struct grid_pattern *pattern,
                          struct str kernel, struct arena *arena, struct grid_rows *out,
                          struct diag *d)
{
    struct grid_out o = {.job = job, .pattern = pattern, .kernel = kernel, .d = d, .arena = arena};

    enum status st = pass(&o);
    if (st == ST_OK && job->cap > 0 && o.n > job->cap) {
        /* Draws the sample and runs the generator again for its rows. */
        uint32_t n = (uint32_t)o.n, *place = mem_grow(NULL, sizeof(*place), n);
        uint32_t *drawn = mem_grow(NULL, sizeof(*drawn), job->cap);
        grid_random_sample(job->random, n, job->cap, drawn);
        memset(place, 0xff, n * sizeof(*place));
        for (uint32_t i = 0; i < job->cap; i++)
            place[drawn[i]] = i;
        o.place = place;
        st = pass(&o);
        mem_free(place);
        mem_free(drawn);
    }
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
