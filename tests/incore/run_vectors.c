/*
 * run_vectors - parts of `incore run` alone, for tests that compare them with recorded results.
 *
 *     run_vectors case KERNEL.cpp KERNEL.pto FOLDER TESTCASE    a generated case
 *     run_vectors sizes KERNEL.pto NAME                         elements of each argument
 *     run_vectors index ROOT                                    manifest.json read, all written
 *     run_vectors degenerate [TABLE.csv ..]                     yes or no
 *     run_vectors hints LOG                                     advice, a line each
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/files/mapfile.h"
#include "kernels/incore/health.h"
#include "kernels/replay/gencase.h"
#include "kernels/replay/log_hints.h"
#include "kernels/replay/run_index.h"

static int tell(const struct diag *d)
{
    for (size_t i = 0; i < d->entries.n; i++)
        fprintf(stderr, "%s\n", d->entries.at[i].first[0].text);
    return 1;
}

static int make_case(char **argv, struct arena *arena, struct diag *d)
{
    struct mapfile cpp = {0}, pto = {0};
    struct entry entry;
    struct gm_text sizes;

    if (mapfile_open(&cpp, argv[0], d) != ST_OK || mapfile_open(&pto, argv[1], d) != ST_OK ||
        entry_find(arena, cpp.text, NULL, &entry, d) != ST_OK) {
        mapfile_close(&cpp);
        mapfile_close(&pto);
        return tell(d);
    }
    gm_text_scan(arena, pto.text, entry.name, &sizes);
    struct gencase_job job = {.dir = argv[2],
                              .testcase = argv[3],
                              .source = cpp.text,
                              .entry = &entry,
                              .sizes = &sizes,
                              .soc = "Ascend910B1",
                              .arch = "dav-c220"};
    int code = gencase_write(&job, arena, d) == ST_OK ? 0 : tell(d);
    mapfile_close(&cpp);
    mapfile_close(&pto);
    return code;
}

static int print_sizes(char **argv, struct arena *arena, struct diag *d)
{
    struct mapfile pto;
    struct gm_text sizes;

    if (mapfile_open(&pto, argv[0], d) != ST_OK)
        return tell(d);
    gm_text_scan(arena, pto.text, str_of(argv[1]), &sizes);
    for (size_t i = 0; i < sizes.n; i++)
        printf("%.*s %d %" PRId64 "\n", STR_ARGS(sizes.args[i].name), sizes.args[i].is_pointer,
               gm_text_elements(&sizes, i));
    mapfile_close(&pto);
    return 0;
}

static int write_index(char **argv, struct arena *arena, struct diag *d)
{
    struct run_rows rows;
    enum status st = run_index_read(argv[0], arena, &rows, d);

    if (st == ST_OK)
        st = run_index_write(argv[0], "sim", &rows, d);
    vec_free(&rows);
    return st == ST_OK ? 0 : tell(d);
}

static int judge(char **argv, struct diag *d)
{
    struct incore_exe exe = {0};

    for (; *argv != NULL; argv++) {
        struct mapfile map;
        if (mapfile_open(&map, *argv, d) != ST_OK)
            return tell(d);
        incore_exe_add(&exe, map.text);
        mapfile_close(&map);
    }
    puts(incore_exe_is_degenerate(&exe) ? "yes" : "no");
    return 0;
}

static int print_hints(char **argv, struct diag *d)
{
    const char *hints[LOG_HINTS_MAX];
    struct mapfile map;

    if (mapfile_open(&map, argv[0], d) != ST_OK)
        return tell(d);
    size_t n = log_hints(map.text, hints);
    for (size_t i = 0; i < n; i++)
        puts(hints[i]);
    mapfile_close(&map);
    return 0;
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct diag d;
    int code = 2;

    arena_init(&arena);
    diag_init(&d);
    if (argc == 6 && strcmp(argv[1], "case") == 0)
        code = make_case(argv + 2, &arena, &d);
    else if (argc == 4 && strcmp(argv[1], "sizes") == 0)
        code = print_sizes(argv + 2, &arena, &d);
    else if (argc == 3 && strcmp(argv[1], "index") == 0)
        code = write_index(argv + 2, &arena, &d);
    else if (argc >= 2 && strcmp(argv[1], "degenerate") == 0)
        code = judge(argv + 2, &d);
    else if (argc == 3 && strcmp(argv[1], "hints") == 0)
        code = print_hints(argv + 2, &d);
    diag_fini(&d);
    arena_free(&arena);
    return code;
}
