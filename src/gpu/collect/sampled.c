/*
 * Samples on a listing. See sampled.h.
 */
#include "gpu/collect/sampled.h"

#include <math.h>
#include <stdlib.h>

enum { CELL_SAMPLES, CELL_NOT_ISSUED };

/* The column of each reason; -1: none. */
static void name_stalls(struct gpu_listing *l, const struct gpu_samples *s, int *column,
                        struct arena *arena)
{
    for (size_t i = 0; i < s->n_reasons; i++) {
        struct str name = str_of(s->reasons[i]);
        column[i] = -1;
        if (!str_skip(&name, S("smsp__pcsamp_warps_issue_stalled_")) ||
            l->stall_names.n == GPU_SASS_STALLS)
            continue;
        column[i] = (int)l->stall_names.n;
        vec_push(&l->stall_names, arena_format(arena, "stall_%.*s", STR_ARGS(name)));
    }
}

ORDER_BY(by_pc, struct gpu_sass, ORDER(x->pc, y->pc) ?: ORDER(x->order, y->order));

static struct gpu_sass *row_at(struct gpu_listing *l, size_t n, uint64_t pc)
{
    size_t at;

    vec_bisect(at, n, i, l->sass.at[i].pc < pc);
    return at < n && l->sass.at[at].pc == pc ? &l->sass.at[at] : NULL;
}

static void sort_rows(struct gpu_listing *l)
{
    if (l->sass.n > 0)
        qsort(l->sass.at, l->sass.n, sizeof(*l->sass.at), by_pc);
}

/* Rows for instructions that the listing lacks. */
static void add_rows(struct gpu_listing *l, const struct gpu_samples *s, struct str function)
{
    size_t kept = 0;

    sort_rows(l);
    for (size_t i = 0, known = l->sass.n; i < s->n; i++) {
        if (!str_equal(str_of(s->at[i].function), function) || l->sass.n >= GPU_SASS_ROWS ||
            row_at(l, known, s->at[i].offset) != NULL)
            continue;
        struct gpu_sass row = {.pc = s->at[i].offset,
                               .text = S(""),
                               .file = S(""),
                               .order = l->sass.n,
                               .samples = NAN};
        for (size_t k = 0; k < GPU_SASS_CELLS; k++)
            row.cells[k] = S("");
        vec_push(&l->sass, row);
    }
    sort_rows(l);
    for (size_t i = 0; i < l->sass.n; i++) /* one instruction may come often */
        if (kept == 0 || l->sass.at[kept - 1].pc != l->sass.at[i].pc)
            l->sass.at[kept++] = l->sass.at[i];
    l->sass.n = kept;
}

static void finish_row(struct gpu_listing *l, struct gpu_sass *row, struct arena *arena)
{
    double waited = 0;

    row->samples = 0;
    for (size_t k = 0; k < l->stall_names.n; k++)
        *(str_ends(l->stall_names.at[k], S("_not_issued")) ? &waited : &row->samples) +=
            row->stalls[k];
    if (row->samples > 0) {
        row->cells[CELL_SAMPLES] = arena_format(arena, "%.0f", row->samples);
        row->cells[CELL_NOT_ISSUED] = arena_format(arena, "%.0f", waited);
    }
    l->samples += row->samples;
}

bool gpu_listing_sample(struct gpu_listing *l, struct gpu_samples s, struct str function,
                        struct arena *arena)
{
    int column[TRACE_METRICS_MOST];

    if (s.n_reasons > TRACE_METRICS_MOST)
        s.n_reasons = TRACE_METRICS_MOST;
    name_stalls(l, &s, column, arena);
    add_rows(l, &s, function);
    double *stalls = ARENA_ARRAY(arena, double, GPU_SASS_STALLS *(l->sass.n + 1));
    for (size_t i = 0; i < l->sass.n; i++)
        l->sass.at[i].stalls = stalls + GPU_SASS_STALLS * i;
    for (size_t i = 0; i < s.n; i++) {
        const struct trace_pc *one = &s.at[i];
        const struct gpu_sass *row =
            str_equal(str_of(one->function), function) ? row_at(l, l->sass.n, one->offset) : NULL;
        for (size_t k = 0; row != NULL && k < one->n; k++) {
            uint64_t reason = one->counts[2 * k];
            if (reason < s.n_reasons && column[reason] >= 0)
                stalls[GPU_SASS_STALLS * (size_t)(row - l->sass.at) + (size_t)column[reason]] +=
                    (double)one->counts[2 * k + 1];
        }
    }
    l->samples = 0;
    for (size_t i = 0; i < l->sass.n; i++)
        finish_row(l, &l->sass.at[i], arena);
    return l->samples > 0;
}

/* ---- lines ---- */

/* Sums over the instructions of each line, from 1; `most` is the last one. */
struct line_sums {
    double *samples, *stalls; /* stalls: by line, GPU_SASS_STALLS each, for those with samples */
    size_t most;
};

/* The line that a wait belongs to. Warps at a barrier already stand at the instruction behind it.
 */
static size_t line_of_wait(const struct gpu_listing *l, size_t row, size_t stall, size_t most)
{
    enum { INSTRUCTION = 16 }; /* bytes */
    const struct gpu_sass *at = &l->sass.at[row], *before = row > 0 ? at - 1 : NULL;
    bool is_behind = str_starts(l->stall_names.at[stall], S("stall_barrier")) && before != NULL &&
                     before->pc + INSTRUCTION == at->pc && before->line > 0 &&
                     before->line <= most && str_equal(before->file, at->file);

    return (size_t)(is_behind ? before->line : at->line);
}

/* Samples "not issued" repeat some of the others: they are stalls of a line, not samples again. */
static struct line_sums sum_lines(const struct gpu_listing *l, struct str file, struct arena *arena)
{
    struct line_sums s = {0};

    for (size_t i = 0; i < l->sass.n; i++)
        if (l->sass.at[i].line > s.most && l->sass.at[i].line <= GPU_SAMPLED_LINES &&
            str_equal(l->sass.at[i].file, file))
            s.most = (size_t)l->sass.at[i].line;
    s.samples = ARENA_ARRAY(arena, double, s.most + 1);
    s.stalls = ARENA_ARRAY(arena, double, (s.most + 1) * GPU_SASS_STALLS);
    for (size_t i = 0; i < l->sass.n; i++) {
        const struct gpu_sass *row = &l->sass.at[i];
        if (row->line == 0 || row->line > s.most || !(row->samples > 0) ||
            !str_equal(row->file, file))
            continue;
        for (size_t k = 0; k < l->stall_names.n; k++) {
            size_t line = line_of_wait(l, i, k, s.most);
            if (!str_ends(l->stall_names.at[k], S("_not_issued")))
                s.samples[line] += row->stalls[k];
            s.stalls[line * GPU_SASS_STALLS + k] += row->stalls[k];
        }
    }
    return s;
}

void gpu_listing_lines(struct gpu_listing *l, struct str file, struct str text, struct arena *arena)
{
    struct line_sums s = sum_lines(l, file, arena);
    bool has_text = text.n > 0;

    for (size_t number = 1; number <= (has_text ? (size_t)GPU_SAMPLED_LINES : s.most); number++) {
        struct str line = S("");
        if (has_text && (text.n == 0 || !str_split(&text, '\n', &line)))
            return;
        bool is_sampled = number <= s.most && s.samples[number] > 0;
        if (!has_text && !is_sampled)
            continue;
        vec_push(&l->lines,
                 ((struct gpu_line){
                     .file = file,
                     .text = arena_str(arena, line),
                     .line = number,
                     .samples = is_sampled ? s.samples[number] : NAN,
                     .inst = NAN,
                     .stall = is_sampled ? gpu_listing_stall(l, s.stalls + number * GPU_SASS_STALLS)
                                         : S("")}));
    }
}
