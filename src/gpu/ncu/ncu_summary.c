/*
 * The kernel summary of `nsys stats`: a row for each name, or for each name and shape; and its
 * other forms as CSV.
 *
 *      Time (%)  Total Time (ns)  Instances  Med (ns)  Name       --format column, the default
 *      --------  ---------------  ---------  --------  ----
 *          75.0        3,000,000         10   299,500  gemm
 *
 *     | Time (%) | Total Time (ns) | … |                          --format table, between rulers
 *
 * Cells may also be separated by tabs (--format tsv) or semicolons (spreadsheets of countries that
 * write a comma for the decimal point).
 */
#include "base/tables/vec.h"
#include "base/text/num.h"
#include "gpu/ncu/ncu_page.h"

enum { COLUMNS = 32 };

struct layout {
    char separator;                      /* 0: columns have fixed places */
    size_t begin[COLUMNS], end[COLUMNS]; /* of these */
    size_t n;
};

bool ncu_is_text_summary(struct str line)
{
    struct str head = str_trim(line);

    if (str_starts(head, S("|")))
        head = str_trim(str_part(head, 1, head.n));
    return (str_starts(head, S("Time")) || str_starts(head, S("\"Time"))) &&
           str_contains(head, S("Total Time (")) && str_contains(head, S("Instances")) &&
           str_contains(head, S("Name")) && !ncu_is_summary(line);
}

static bool is_ruler(struct str line)
{
    struct str text = str_trim(line);

    for (size_t i = 0; i < text.n; i++)
        if (text.at[i] != '-' && text.at[i] != '+' && text.at[i] != ' ')
            return false;
    return text.n > 0;
}

static struct layout layout_of(struct str header, struct str next)
{
    static const char separators[] = {'\t', ';', '|'};
    struct layout l = {0};

    for (size_t i = 0; i < ARRAY_LEN(separators) && l.separator == 0; i++)
        if (str_find_char(header, separators[i]) < header.n)
            l.separator = separators[i];
    if (l.separator != 0)
        return l;
    /* Columns are as wide as their dashes; the last one has no end. */
    for (size_t i = 0; i < next.n && l.n < COLUMNS; i++) {
        bool is_dash = next.at[i] == '-', was_dash = i > 0 && next.at[i - 1] == '-';
        if (is_dash && !was_dash)
            l.begin[l.n++] = i;
        if (is_dash && l.n > 0)
            l.end[l.n - 1] = i + 1;
    }
    if (l.n > 0)
        l.end[l.n - 1] = SIZE_MAX;
    return l;
}

static void summary_put_row(struct ncu_rows *rows, const struct layout *l, struct str line)
{
    struct str rest = str_trim(line), cell;

    if (l->separator == 0) {
        for (size_t i = 0; i < l->n; i++)
            ncu_add_cell(rows, str_trim(str_part(line, l->begin[i], l->end[i] - l->begin[i])));
    } else {
        if (l->separator == '|' && str_starts(rest, S("|")))
            rest = str_part(rest, 1, rest.n - 1 - str_ends(rest, S("|")));
        while (str_split(&rest, l->separator, &cell)) {
            cell = str_trim(cell);
            bool is_quoted = cell.n > 1 && cell.at[0] == '"' && cell.at[cell.n - 1] == '"';
            ncu_add_cell(rows, is_quoted ? str_part(cell, 1, cell.n - 2) : cell);
        }
    }
    vec_push(rows, '\n');
}

struct str ncu_summary_rows(struct arena *arena, struct str page)
{
    struct ncu_rows rows = {0};
    struct str rest = page, header, line;

    str_split(&rest, '\n', &header);
    line = str_part(rest, 0, str_find_char(rest, '\n'));
    struct layout l = layout_of(header, line);
    summary_put_row(&rows, &l, header);
    while (rest.n > 0 && str_split(&rest, '\n', &line))
        if (!is_ruler(line) && str_trim(line).n > 0)
            summary_put_row(&rows, &l, line);
    struct str out = arena_str(arena, (struct str){rows.at, rows.n});
    vec_free(&rows);
    return out;
}

/* ---- rows ---- */

/* `nsys stats --timeunit` chooses among these. */
static const struct {
    const char *total, *median;
    double ns;
} time_units[] = {
    {"Total Time (ns)", "Med (ns)|Median (ns)|Avg (ns)|Average (ns)|Average", 1},
    {"Total Time (us)", "Med (us)|Median (us)|Avg (us)|Average (us)", 1e3},
    {"Total Time (ms)", "Med (ms)|Median (ms)|Avg (ms)|Average (ms)", 1e6},
    {"Total Time (s)", "Med (s)|Median (s)|Avg (s)|Average (s)", 1e9},
};

/* Summaries of ranges have no "Name", those of copies and calls no "Instances". */
bool ncu_is_summary(struct str line)
{
    bool has_total = false;

    for (size_t i = 0; i < ARRAY_LEN(time_units); i++)
        has_total = has_total || ncu_has_column(line, str_of(time_units[i].total));
    return has_total && ncu_has_column(line, S("Instances")) && ncu_has_column(line, S("Name"));
}

/* The first of these columns; older versions spell them otherwise. */
static int column_of(const struct csv *csv, const char *names)
{
    struct str rest = str_of(names), one;
    int column = -1;

    while (column < 0 && str_split(&rest, '|', &one))
        column = csv_column(csv, one);
    return column;
}

/* A row stands for all launches of a name, or of a name and a shape. */
void ncu_read_summary(struct ncu_page *p)
{
    int total = -1, count = csv_column(&p->csv, S("Instances")),
        name = csv_column(&p->csv, S("Name")), grid = csv_column(&p->csv, S("GridXYZ")),
        block = csv_column(&p->csv, S("BlockXYZ"));
    size_t unit = 0;

    for (size_t i = 0; i < ARRAY_LEN(time_units) && total < 0; i++) {
        total = csv_column(&p->csv, str_of(time_units[i].total));
        unit = i;
    }
    int median = column_of(&p->csv, time_units[unit].median);
    while (csv_next(&p->csv)) {
        struct gpu_kernel k = gpu_kernel_none();
        double launches;
        if (p->csv.is_broken || !gpu_number(csv_cell(&p->csv, count), p->style, &launches) ||
            !(launches >= 0 && launches < 1e18) ||
            !gpu_number(csv_cell(&p->csv, total), p->style, &k.total_ns) ||
            !gpu_number(csv_cell(&p->csv, median), p->style, &k.m[GPU_M_DUR_NS])) {
            ncu_lose(p, "no total, count or median");
            continue;
        }
        k.id = p->in->kernels.n;
        k.launches = num_u64_of(launches);
        k.total_ns *= time_units[unit].ns;
        k.m[GPU_M_DUR_NS] *= time_units[unit].ns;
        ncu_read_dims(csv_cell(&p->csv, grid), k.grid);
        ncu_read_dims(csv_cell(&p->csv, block), k.block);
        k.name = ncu_keep(p, csv_cell(&p->csv, name));
        vec_push(&p->in->kernels, k);
        vec_push(&p->in->known, ((struct gpu_known){1u << p->kind, p->number}));
        p->in->rows++;
    }
}
