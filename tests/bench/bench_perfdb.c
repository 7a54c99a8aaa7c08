/*
 * bench_perfdb ROWS - a replay of ROWS cases written back into a table of as many rows.
 *
 * Makes the table and the export in a scratch folder, then times reading, matching and writing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "opdb/measure/bench.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* An op_summary export with all counters. */
static void make_export(const char *path, unsigned long rows)
{
    FILE *f = fopen(path, "w");

    if (f == NULL)
        exit(1);
    fputs("OP Type,OP State,Task Type,Task Duration(us),Input Shapes,Input Data Types,"
          "Input Formats,Output Shapes,Output Data Types,Output Formats",
          f);
    for (size_t i = 0; i < COUNTER_N; i++)
        fprintf(f, ",%.*s", STR_ARGS(column_counter[i]));
    for (unsigned long r = 0; r < rows; r++) {
        fprintf(
            f,
            "\nAdd,dynamic,AI_VECTOR_CORE,%lu.%03lu,\"\"\"%lu,128;%lu,128\"\"\",DT_BF16;DT_BF16,"
            "ND;ND,\"\"\"%lu,128\"\"\",DT_BF16,ND",
            r % 97 + 1, r % 1000, r, r, r);
        for (unsigned long i = 0; i < COUNTER_N; i++)
            fprintf(f, ",%lu.%03lu", (r + i) % 50, (r * 7 + i) % 1000);
    }
    fputs("\n", f);
    fclose(f);
}

static int write_back(const struct bench_job *job, const char *what)
{
    struct bench_plan plan;
    struct diag d;
    double begin = now();

    diag_init(&d);
    enum status st = bench_plan(&plan, job, &d);
    if (st == ST_OK)
        st = bench_write(&plan, job, &d);
    printf("%8.3f s  %s, %llu samples\n", now() - begin, what,
           (unsigned long long)plan.summary.rows);
    bench_plan_free(&plan);
    diag_fini(&d);
    return st != ST_OK;
}

static void remove_all(const char *dir, struct arena *arena, struct diag *d)
{
    struct fs_list list = {0};

    fs_walk(arena, dir, NULL, 0, &list, d);
    for (size_t i = list.n; i-- > 0;)
        list.at[i].kind == FS_DIR ? rmdir(list.at[i].path) : unlink(list.at[i].path);
    rmdir(dir);
}

int main(int argc, char **argv)
{
    unsigned long rows = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    char dir[] = "/tmp/strata-bench-XXXXXX";
    struct arena arena;
    struct diag d;

    arena_init(&arena);
    diag_init(&d);
    if (mkdtemp(dir) == NULL)
        return 1;
    const char *prof = fs_join(&arena, dir, "PROF_1"), *db = fs_join(&arena, dir, "db");
    const char *folder = fs_join(&arena, prof, "mindstudio_profiler_output");
    if (fs_mkdirs(folder, &d) != ST_OK || fs_mkdirs(db, &d) != ST_OK)
        return 1;
    make_export(fs_join(&arena, folder, "op_summary_1.csv"), rows);
    struct bench_job job = {.dir = db, .prof = prof, .ep_size = 16};
    int code = write_back(&job, "into an empty folder") || write_back(&job, "into the same rows");
    remove_all(dir, &arena, &d);
    diag_fini(&d);
    arena_free(&arena);
    return code;
}
