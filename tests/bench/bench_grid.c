/*
 * bench_grid [ROWS]: generated rows for every kernel the rules know, from a table of one row in
 * memory to the text of the new table. Prints rows and milliseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "opdb/grid/grid_run.h"
#include "opdb/rows/table.h"

static const char header[] =
    "OP State,Accelerator Core,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
    "Output Data Types,Output Formats,Average Duration(us),Profiling Average Duration(us),"
    "Profiling Average aicore_time(us),Profiling Average aic_mac_ratio\r\n"
    "dynamic,AI_CORE,\"\"\"16,5120;768,5120\"\"\",DT_BF16;DT_BF16,ND;ND,\"\"\"16,768\"\"\",DT_BF16,"
    "ND,12.5,13.5,9.25,0.75\r\n";

static bool count(void *ctx, struct str text)
{
    *(size_t *)ctx += text.n;
    return true;
}

static bool fill(struct grid_run *run, struct str kernel, struct diag *d, size_t *rows,
                 size_t *bytes)
{
    const struct grid_pattern *pattern = grid_run_pattern(run, kernel);
    struct grid_fill result = {0};
    struct op_table t;
    char path[256];

    if (pattern == NULL)
        return true;
    snprintf(path, sizeof(path), "%.*s.csv", STR_ARGS(kernel));
    bool is_good = table_parse(&t, path, S(header), d) == ST_OK &&
                   grid_fill(&t, &run->job, pattern, run->budget, &result, d) == ST_OK &&
                   table_print(&t, TABLE_NO_BOM, (struct sink){count, bytes});
    *rows += result.appended;
    table_free(&t);
    return is_good;
}

int main(int argc, char **argv)
{
    struct grid_options o = {
        .rows = argc > 1 ? atoll(argv[1]) : 1000, .seed = "1", .memory_gib = 32};
    struct grid_run run;
    struct timespec from, to;
    struct diag d;
    size_t rows = 0, bytes = 0;

    diag_init(&d);
    clock_gettime(CLOCK_MONOTONIC, &from);
    bool is_good = grid_run_open(&run, &o, &d) == ST_OK;
    for (size_t i = 0; is_good && i < run.rules.assignments_n; i++)
        is_good = fill(&run, run.rules.assignments[i].kernel, &d, &rows, &bytes);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%zu rows, %zu bytes of %zu kernels in %.1f ms\n", rows, bytes, run.rules.assignments_n,
           (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6);
    grid_run_close(&run);
    diag_fini(&d);
    return is_good && rows > 0 ? 0 : 1;
}
