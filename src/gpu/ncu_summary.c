/*
 * The kernel summary of `nsys stats`: a row for each name, or for each name and shape.
 */
#include "gpu/ncu_page.h"

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
        k.launches = (uint64_t)launches;
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
