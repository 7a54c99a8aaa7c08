#include "perfdb/table_diff.h"

#include "base/hash.h"

static uint64_t hash_row(const struct table *t, size_t row)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < t->columns.n; i++)
        hash = hash_mix(hash, hash_bytes(table_cell(t, row, (int)i)));
    return hash;
}

/* How often each row comes. */
static void count_rows(const struct table *t, struct hash *counts)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        uint64_t hash = hash_row(t, row);
        uint32_t n = 0;
        hash_get(counts, hash, &n);
        hash_put(counts, hash, n + 1);
    }
}

static void uncount(struct hash *counts, uint64_t hash)
{
    uint32_t n = 0;

    if (hash_get(counts, hash, &n) && n > 0)
        hash_put(counts, hash, n - 1);
}

static bool is_ahead(const struct hash *counts, uint64_t hash)
{
    uint32_t n = 0;

    return hash_get(counts, hash, &n) && n > 0;
}

static void put_cells(struct sink sink, struct str sign, const struct str *cells, size_t n)
{
    sink.write(sink.ctx, sign);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            sink.write(sink.ctx, S(","));
        sink.write(sink.ctx, cells[i]);
    }
    sink.write(sink.ctx, S("\n"));
}

static void put_row(struct sink sink, struct str sign, const struct table *t, size_t row)
{
    put_cells(sink, sign, &t->cells.at[row * t->columns.n], t->columns.n);
}

static void diff_rows(const struct table *old, const struct table *fresh, struct sink sink)
{
    struct hash in_old = {0}, in_fresh = {0};
    size_t a = 0, b = 0;

    count_rows(old, &in_old);
    count_rows(fresh, &in_fresh);
    while (a < old->n_rows || b < fresh->n_rows) {
        uint64_t x = a < old->n_rows ? hash_row(old, a) : 0;
        uint64_t y = b < fresh->n_rows ? hash_row(fresh, b) : 0;
        bool has_both = a < old->n_rows && b < fresh->n_rows;
        if (has_both && x == y) {
            a++, b++;
            uncount(&in_old, x);
            uncount(&in_fresh, y);
        } else if (a < old->n_rows &&
                   (!has_both || !is_ahead(&in_fresh, x) || is_ahead(&in_old, y))) {
            put_row(sink, S("-"), old, a++);
            uncount(&in_old, x);
        } else {
            put_row(sink, S("+"), fresh, b++);
            uncount(&in_fresh, y);
        }
    }
    hash_free(&in_old);
    hash_free(&in_fresh);
}

void table_diff(const struct table *old, const struct table *fresh, const char *path,
                struct sink sink)
{
    struct table none;

    if (old != NULL && table_equal(old, fresh))
        return;
    sink.write(sink.ctx, S("--- "));
    sink.write(sink.ctx, old != NULL ? str_of(path) : S("/dev/null"));
    sink.write(sink.ctx, S("\n+++ "));
    sink.write(sink.ctx, str_of(path));
    sink.write(sink.ctx, S("\n"));
    table_init(&none, path);
    old = old != NULL ? old : &none;
    bool is_same_head = old->columns.n == fresh->columns.n;
    for (size_t i = 0; i < fresh->columns.n && is_same_head; i++)
        is_same_head = str_equal(old->columns.at[i], fresh->columns.at[i]);
    if (!is_same_head && old->columns.n > 0)
        put_cells(sink, S("-"), old->columns.at, old->columns.n);
    if (!is_same_head)
        put_cells(sink, S("+"), fresh->columns.at, fresh->columns.n);
    diff_rows(old, fresh, sink);
    table_free(&none);
}
