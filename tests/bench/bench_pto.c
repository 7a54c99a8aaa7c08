/*
 * bench_pto KERNEL [RUNS] [NAME=VALUE ..] - how fast the simulator is, parsing not counted.
 *
 * Compiles the kernel once and runs it RUNS times (100), in both modes of synchronisation; prints
 * instructions a second. Then reads and runs 1000 variants through the library, a comment apart,
 * and prints the seconds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "flow/pto_kernel.h"
#include "strata/strata.h"

enum { VARIANTS = 1000, MOST_PARAMS = 16 };

/* Seconds of this process: on a busy machine the wall clock tells of others. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool rate(struct pto_setup *setup, int64_t runs)
{
    struct pto_costs *costs = pto_costs_new();
    struct pto_kernel k;
    struct diag d;
    uint64_t instructions = 0;

    diag_init(&d);
    pto_kernel_init(&k);
    bool ok = pto_kernel_load(&k, setup, &d) == ST_OK && pto_kernel_bind(&k, setup, &d) == ST_OK;
    double begin = now();
    for (int64_t i = 0; ok && i < runs; i++) {
        ok = pto_kernel_run(&k, costs, setup, &d) == ST_OK;
        instructions += k.outcome.instructions;
    }
    double took = now() - begin;
    if (ok)
        printf("%-6s %" PRIu64 " instructions in %.3f s: %.1f million a second\n",
               setup->is_dep ? "dep" : "ptoas", instructions, took,
               (double)instructions / took / 1e6);
    else if (d.entries.n > 0)
        printf("%s\n", d.entries.at[0].first[0].text);
    pto_kernel_free(&k);
    pto_costs_free(costs);
    diag_fini(&d);
    return ok;
}

/* The same kernel with one more placeholder, in a comment, so that every text is another one. */
static bool variants(const struct pto_setup *setup, struct str text)
{
    struct arena arena;
    const char *names[MOST_PARAMS + 1];
    const char **values = mem_grow(NULL, sizeof(*values), VARIANTS * (MOST_PARAMS + 1));
    struct strata_pto_result *results = mem_grow(NULL, sizeof(*results), VARIANTS);
    struct strata_pto *k = strata_pto_new();
    size_t columns = setup->n_params + 1, failed = 0;

    arena_init(&arena);
    struct str marked = arena_format(&arena, "// ${VARIANT}\n%.*s", STR_ARGS(text));
    for (size_t i = 0; i < setup->n_params; i++)
        names[i] = arena_cstr(&arena, setup->params[i].name);
    names[setup->n_params] = "VARIANT";
    for (size_t row = 0; row < VARIANTS; row++) {
        for (size_t i = 0; i < setup->n_params; i++)
            values[row * columns + i] = arena_cstr(&arena, setup->params[i].value);
        values[row * columns + columns - 1] = arena_format(&arena, "%zu", row).at;
    }
    double begin = now();
    strata_pto_text(k, marked.at, marked.n, setup->path);
    strata_pto_batch(k, names, columns, values, VARIANTS, results);
    double took = now() - begin;
    for (size_t row = 0; row < VARIANTS; row++)
        failed += results[row].status != STRATA_OK;
    printf("%d variants in %.3f s, %" PRId64 " cycles each\n", (int)VARIANTS, took,
           results[0].cycles);
    if (failed > 0)
        printf("%zu failed: %s\n", failed, strata_pto_error(k));
    strata_pto_free(k);
    mem_free(values);
    mem_free(results);
    arena_free(&arena);
    return failed == 0;
}

int main(int argc, char **argv)
{
    struct text_param params[MOST_PARAMS];
    struct pto_setup setup = {.target = -1, .blocks = 1, .params = params};
    int64_t runs = 100;
    struct mapfile map;
    struct diag d;

    if (argc < 2 || (argc > 2 && !num_i64(str_of(argv[2]), &runs)))
        return 2;
    setup.path = argv[1];
    for (int i = 3; i < argc && setup.n_params < MOST_PARAMS; i++) {
        struct str text = str_of(argv[i]);
        size_t equals = str_find_char(text, '=');
        params[setup.n_params++] =
            (struct text_param){str_part(text, 0, equals), str_part(text, equals + 1, text.n)};
    }
    diag_init(&d);
    if (mapfile_open(&map, setup.path, &d) != ST_OK)
        return 3;
    bool ok = rate(&setup, runs);
    setup.is_dep = true;
    ok = rate(&setup, runs) && ok;
    ok = variants(&setup, map.text) && ok;
    mapfile_close(&map);
    diag_fini(&d);
    return ok ? 0 : 1;
}
