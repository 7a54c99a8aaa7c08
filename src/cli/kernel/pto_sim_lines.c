/*
 * `strata pto sim --lines`: the source with what each line costs.
 */
#include <inttypes.h>
#include <math.h>

#include "cli/kernel/pto_sim_show.h"
#include "report/report.h"
#include "text/pto.h"

static void put_cycles(struct report *r, struct table *t, int64_t n)
{
    table_text(r, t, n > 0 ? arena_format(&r->arena, "%" PRId64, n) : S(""));
}

static void put_share(struct report *r, struct table *t, double share)
{
    table_text(r, t, share >= 0.0005 ? arena_format(&r->arena, "%.1f", 100 * share) : S(""));
}

/* The cells of a line of the source: of an operation on a pipe, or of none. */
static void lines_put(struct report *r, struct table *t, const struct pto_line *x)
{
    put_cycles(r, t, x ? x->busy : 0);
    put_share(r, t, x ? x->busy_share : 0);
    put_cycles(r, t, x ? x->stall : 0);
    put_share(r, t, x ? x->path_share : 0);
    table_text(r, t, x ? str_of(pto_pipe_short(x->pipe)) : S(""));
}

struct source_lines {
    struct str rest;
    uint32_t next; /* number of the line at `rest` */
};

static struct str take_line(struct source_lines *s)
{
    size_t end = str_find_char(s->rest, '\n');
    struct str line = str_part(s->rest, 0, end);

    s->rest = end < s->rest.n ? str_part(s->rest, end + 1, s->rest.n) : S("");
    s->next++;
    return line;
}

/* "pto.tadd ins(%a, %b : ...) outs(%c : ...)" without the types, which are most of it. */
static struct str without_types(struct arena *arena, struct str line)
{
    char *to = arena_alloc(arena, line.n + 1);
    size_t n = 0;
    bool is_type = false;

    for (size_t i = 0; i < line.n; i++) {
        if (i + 2 < line.n && memcmp(line.at + i, " : ", 3) == 0)
            is_type = true;
        else if (line.at[i] == ')')
            is_type = false;
        if (!is_type)
            to[n++] = line.at[i];
    }
    return (struct str){to, n};
}

/* The functions that ran: from the first line to the last operation. */
static void kernel_lines(const struct pto_kernel *k, uint32_t *first, uint32_t *last)
{
    *first = UINT32_MAX;
    *last = 0;
    for (size_t i = 0; i < 2; i++) {
        const struct pto_function *f = k->sim.function[i];
        if (f == NULL)
            continue;
        *first = f->line < *first ? f->line : *first;
        for (uint32_t op = f->op_first; op < f->op_end; op++)
            *last = k->module.ops.at[op].line > *last ? k->module.ops.at[op].line : *last;
    }
}

static void add_source(struct report *r, const struct pto_sim_run *run)
{
    static const struct column columns[] = {
        {"line", COLUMN_RIGHT, 0},    {"cycles", COLUMN_RIGHT, 0}, {"%", COLUMN_RIGHT, 0},
        {"stalled", COLUMN_RIGHT, 0}, {"path %", COLUMN_RIGHT, 0}, {"pipe", COLUMN_TEXT, 0},
        {"source", COLUMN_TEXT, 0}};
    const struct pto_lines *l = &run->lines;
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    struct source_lines source = {run->k.text, 1};
    uint32_t first = 0, last = 0;
    size_t at = 0;

    kernel_lines(&run->k, &first, &last);
    while (source.next <= last && source.rest.n > 0) {
        uint32_t number = source.next;
        struct str text = take_line(&source);
        while (at < l->lines.n && l->lines.at[at].line < number)
            at++;
        if (number < first)
            continue;
        table_text(r, t, arena_format(&r->arena, "%" PRIu32, number));
        lines_put(r, t,
                  at < l->lines.n && l->lines.at[at].line == number ? &l->lines.at[at] : NULL);
        table_text(r, t, without_types(&r->arena, str_trim(text)));
        for (size_t i = at + 1; i < l->lines.n && l->lines.at[i].line == number; i++) {
            table_text(r, t, S("")); /* the same line on another pipe */
            lines_put(r, t, &l->lines.at[i]);
            table_text(r, t, S(""));
        }
    }
}

static void add_operations(struct report *r, const struct pto_lines *l, size_t top)
{
    static const struct column columns[] = {
        {"operation", COLUMN_TEXT, 0},         {"pipe", COLUMN_TEXT, 0},
        {"lines", COLUMN_NUMBER, UNIT_COUNT},  {"instructions", COLUMN_NUMBER, UNIT_COUNT},
        {"cycles", COLUMN_NUMBER, UNIT_COUNT}, {"%", COLUMN_RIGHT, 0},
        {"stalled", COLUMN_NUMBER, UNIT_COUNT}};

    if (l->ops.n == 0)
        return;
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < l->ops.n && i < top; i++) {
        const struct pto_op_total *x = &l->ops.at[i];
        table_text(r, t, str_of(pto_op_name(x->code)));
        table_text(r, t, str_of(pto_pipe_short(x->pipe)));
        table_number(t, x->lines);
        table_number(t, (double)x->count);
        table_number(t, (double)x->busy);
        put_share(r, t, x->busy_share);
        table_number(t, (double)x->stall);
    }
}

/* Vector operations that leave lanes empty or lose cycles in the banks. */
static void add_vector(struct report *r, const struct pto_lines *l, size_t top)
{
    static const struct column columns[] = {{"line", COLUMN_RIGHT, 0},
                                            {"vector operation", COLUMN_TEXT, 0},
                                            {"lanes used %", COLUMN_RIGHT, 0},
                                            {"masked %", COLUMN_RIGHT, 0},
                                            {"bank conflict cycles", COLUMN_NUMBER, UNIT_COUNT}};
    struct table *t = NULL;

    for (size_t i = 0; i < l->lines.n && (t == NULL || table_rows(t) < top); i++) {
        const struct pto_line *x = &l->lines.at[i];
        if (!isfinite(x->lanes) || (x->lanes > 0.999 && x->conflict <= 0))
            continue;
        if (t == NULL)
            t = report_table(r, columns, ARRAY_LEN(columns));
        table_text(r, t, arena_format(&r->arena, "%" PRIu32, x->line));
        table_text(r, t, str_of(pto_op_name(x->code)));
        table_text(r, t, arena_format(&r->arena, "%.1f", 100 * x->lanes));
        table_text(r, t, arena_format(&r->arena, "%.1f", 100 * (1 - x->lanes)));
        table_number(t, (double)(x->conflict > 0 ? x->conflict : 0));
    }
}

static void add_memory(struct report *r, const struct pto_lines *l, size_t top)
{
    static const struct column peaks[] = {{"memory", COLUMN_TEXT, 0},
                                          {"bytes", COLUMN_NUMBER, UNIT_COUNT},
                                          {"peak", COLUMN_NUMBER, UNIT_COUNT},
                                          {"%", COLUMN_RIGHT, 0},
                                          {"at cycle", COLUMN_NUMBER, UNIT_COUNT}};
    static const struct column tiles[] = {{"tile", COLUMN_TEXT, 0},
                                          {"memory", COLUMN_TEXT, 0},
                                          {"begin", COLUMN_NUMBER, UNIT_COUNT},
                                          {"bytes", COLUMN_NUMBER, UNIT_COUNT},
                                          {"line", COLUMN_RIGHT, 0},
                                          {"from cycle", COLUMN_NUMBER, UNIT_COUNT},
                                          {"to cycle", COLUMN_NUMBER, UNIT_COUNT}};

    if (l->tiles.n == 0)
        return;
    struct table *t = report_table(r, peaks, ARRAY_LEN(peaks));
    for (size_t i = 0; i < l->peaks.n; i++) {
        const struct pto_memory_peak *x = &l->peaks.at[i];
        table_text(r, t, str_of(pto_space_name(x->space)));
        table_number(t, (double)x->size);
        table_number(t, (double)x->peak);
        put_share(r, t, x->share);
        table_number(t, (double)x->at);
    }
    t = report_table(r, tiles, ARRAY_LEN(tiles));
    for (size_t i = 0; i < l->tiles.n && i < top; i++) {
        const struct pto_tile_life *x = &l->tiles.at[i];
        table_text(r, t, x->name);
        table_text(r, t, str_of(pto_space_name(x->space)));
        table_number(t, (double)x->lo);
        table_number(t, (double)(x->hi - x->lo));
        table_text(r, t, arena_format(&r->arena, "%" PRIu32, x->line));
        table_number(t, (double)x->first);
        table_number(t, (double)x->last);
    }
}

void pto_sim_add_lines(struct report *r, const struct pto_sim_run *run, size_t top)
{
    const struct pto_lines *l = &run->lines;
    uint64_t count = 0;
    int64_t spent = 0;

    add_source(r, run);
    add_operations(r, l, top);
    add_vector(r, l, top);
    add_memory(r, l, top);
    for (size_t i = 0; i < l->scalar.n; i++) {
        count += l->scalar.at[i].count;
        spent += l->scalar.at[i].cycles;
    }
    if (count > 0)
        report_text(r, REPORT_MESSAGE(r, &pto_text.scalar_work, PLACE("n", count),
                                      PLACE("cycles", spent), PLACE("lines", l->scalar.n)));
}
