/*
 * The table of source lines: runs added up by line and core, and written.
 */
#include "render/insight/insight_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/files/bin_blocks.h"
#include "base/tables/hash.h"

enum { MOST_LINES = 1 << 20 }; /* rows, and rows times cores of 16 */

/* ---- adding up ---- */

struct adder {
    struct insight_files *f;
    struct hash files; /* hash of a path -> document */
    struct hash rows, cells;
};

/* "a.cpp:7" as a document and a line. */
static bool find_line(const struct adder *a, struct str code, struct insight_line *out)
{
    const struct capture *cap = a->f->t->cap;
    const char *colon = code.n > 0 ? memrchr(code.at, ':', code.n) : NULL;

    if (colon == NULL)
        return false;
    struct str path = str_part(code, 0, (size_t)(colon - code.at));
    return hash_get(&a->files, hash_bytes(path), &out->file) &&
           str_equal(cap->documents.at[out->file].path, path) &&
           num_i64(str_part(code, path.n + 1, code.n), &out->line) && out->line > 0 &&
           out->line <= INT32_MAX;
}

static void files_add_slice(struct adder *a, const struct slice *s)
{
    struct insight_files *f = a->f;
    struct insight_run run;
    struct insight_line line;
    uint64_t pc;

    if (!insight_table_run(f->t, s, &run) || !find_line(a, run.code, &line))
        return;
    uint64_t key = (uint64_t)line.file << 32 | (uint64_t)line.line;
    uint32_t row = hash_add(&a->rows, key, (uint32_t)f->rows.n);
    if (row == f->rows.n)
        vec_push(&f->rows, line);
    uint32_t i = hash_add(&a->cells, (uint64_t)row << 32 | run.core, (uint32_t)f->cells.n);
    if (i == f->cells.n)
        vec_push(&f->cells, ((struct insight_cell){.row = row, .core = run.core, .bytes = -1}));
    insight_cell_add(&f->cells.at[i], run.cycles, run.bytes);
    if (num_hex(run.address, &pc))
        vec_push(&f->places, ((struct insight_place){row, pc}));
}

ORDER_BY(by_place, struct insight_place, ORDER(x->row, y->row) ?: ORDER(x->pc, y->pc));

static int by_line(const void *a, const void *b, const void *ctx)
{
    const struct insight_line *x = a, *y = b;

    (void)ctx;
    return ORDER(x->file, y->file) ?: ORDER(x->line, y->line);
}

static void sort_rows(struct insight_files *f)
{
    uint32_t *places = insight_sort_rows(f->rows.at, f->rows.n, sizeof(*f->rows.at), by_line, NULL,
                                         f->cells.at, f->cells.n);
    size_t kept = 0;

    for (size_t i = 0; i < f->places.n; i++)
        f->places.at[i].row = places[f->places.at[i].row];
    if (f->places.n > 0)
        qsort(f->places.at, f->places.n, sizeof(*f->places.at), by_place);
    for (size_t i = 0; i < f->places.n; i++)
        if (kept == 0 || by_place(&f->places.at[kept - 1], &f->places.at[i]) != 0)
            f->places.at[kept++] = f->places.at[i];
    f->places.n = kept;
    mem_free(places);
}

void insight_files_init(struct insight_files *f, const struct insight_table *t,
                        const struct cut *cut)
{
    const struct capture *cap = cut->cap;
    struct adder a = {.f = f};

    *f = (struct insight_files){.t = t};
    for (size_t i = 0; i < cap->documents.n; i++)
        if (cap->documents.at[i].type == BIN_SOURCE)
            hash_add(&a.files, hash_bytes(cap->documents.at[i].path), (uint32_t)i);
    for (size_t i = 0; i < cap->slices.n && a.files.n > 0 && t->rows.n > 0; i++)
        if (cut_has(cut, i)) {
            struct slice s = cut_slice(cut, i);
            files_add_slice(&a, &s);
        }
    hash_free(&a.files);
    hash_free(&a.rows);
    hash_free(&a.cells);
    if (f->rows.n > 0 && f->rows.n > MOST_LINES * 16 / t->cores.n)
        f->rows.n = 0;
    else if (f->rows.n > 0)
        sort_rows(f);
}

void insight_files_fini(struct insight_files *f)
{
    vec_free(&f->rows);
    vec_free(&f->cells);
    vec_free(&f->places);
}

/* ---- writing ---- */

/* Instructions are four bytes: addresses no further apart are one range. */
static void put_ranges(struct text_out *out, const struct insight_place *at, size_t n)
{
    char text[64];

    text_out_put(out, S("["));
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && at[next].pc - at[next - 1].pc <= 4;)
            next++;
        int length =
            snprintf(text, sizeof(text), "%s[\"0x%08llx\",\"0x%08llx\"]", i == 0 ? "" : ",",
                     (unsigned long long)at[i].pc, (unsigned long long)at[next - 1].pc);
        text_out_put(out, (struct str){text, (size_t)length});
    }
    text_out_put(out, S("]"));
}

struct cursor {
    size_t cell, place;
};

static void files_put_line(const struct insight_files *f, struct text_out *out, uint32_t row,
                           struct cursor *at)
{
    size_t cell = at->cell, place = at->place, cores = f->t->cores.n;
    const struct insight_cell *cells = f->cells.at + cell;

    while (at->cell < f->cells.n && f->cells.at[at->cell].row == row)
        at->cell++;
    while (at->place < f->places.n && f->places.at[at->place].row == row)
        at->place++;
    text_out_put(out, S("{\"Address Range\":"));
    put_ranges(out, f->places.n > 0 ? f->places.at + place : NULL, at->place - place);
    insight_put_list(out, "Cycles", cores, CYCLES, cells, at->cell - cell);
    insight_put_list(out, "GPR Count", cores, ZERO, cells, at->cell - cell);
    insight_put_list(out, "Instructions Executed", cores, EXECUTED, cells, at->cell - cell);
    text_out_pair_i64(out, S(",\"Line\":"), f->rows.at[row].line);
    insight_put_list(out, "Process Bytes", cores, BYTES, cells, at->cell - cell);
    text_out_put(out, S("}"));
}

void insight_files_write(const struct insight_files *f, struct text_out *out)
{
    const struct capture *cap = f->t->cap;
    struct cursor at = {0};

    insight_put_cores(out, f->t);
    text_out_put(out, S("\"Files\":["));
    for (uint32_t i = 0; i < f->rows.n; i++) {
        bool is_first = i == 0 || f->rows.at[i - 1].file != f->rows.at[i].file;
        bool is_last = i + 1 == f->rows.n || f->rows.at[i + 1].file != f->rows.at[i].file;
        text_out_put(out, i > 0 ? S(",") : S(""));
        text_out_put(out, is_first ? S("{\"Lines\":[") : S(""));
        files_put_line(f, out, i, &at);
        if (is_last) {
            text_out_pair(out, S("],\"Source\":"), cap->documents.at[f->rows.at[i].file].path);
            text_out_put(out, S("}"));
        }
    }
    text_out_put(out, S("],\"Files Dtype\":{\"Lines\":{\"Address Range\":0,\"Cycles\":1,"
                        "\"GPR Count\":1,\"Instructions Executed\":1,\"Line\":1,"
                        "\"Process Bytes\":1}}}"));
}
