/*
 * bench_pto [RUNS] [KERNEL [NAME=VALUE ..]] - how fast the simulator is, parsing not counted.
 *
 * Compiles the kernel once and runs it RUNS times (100), in both modes of synchronisation; prints
 * instructions a second. Then reads and runs 1000 variants through the library, a comment apart,
 * and prints the seconds. Without a kernel it takes one core's share of a matrix product: panels
 * of 256 numbers, two of each in L1, products of 128 x 64 x 256 out of two buffers each in L0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/text/num.h"
#include "kernels/pto/pto_kernel.h"
#include "strata/strata.h"

enum { VARIANTS = 1000, MOST_PARAMS = 16 };

/* clang-format off */
#define STEP(u, panel, k, op, in, in_type)                                                         \
    "pto.textract ins(%ta" panel ", %c0, %c" k " : !a, index, index) outs(%l" u " : !l)\n"         \
    "pto.textract ins(%tb" panel ", %c" k ", %c0 : !b, index, index) outs(%r" u " : !r)\n"         \
    "pto." op " ins(" in "%l" u ", %r" u " : " in_type "!l, !r) outs(%acc : !acc)\n"
#define MORE(u, panel, k) STEP(u, panel, k, "tmatmul.acc", "%acc, ", "!acc, ")
#define PANEL(panel, at)                                                                           \
    "%pa" panel " = pto.partition_view %av, offsets = [%m, " at "], sizes = [%c128, %c256] : !v "   \
    "-> !pto.partition_tensor_view<128x256xf16>\n"                                                 \
    "pto.tload ins(%pa" panel " : !pto.partition_tensor_view<128x256xf16>) outs(%ta" panel         \
    " : !a)\n"                                                                                     \
    "%pb" panel " = pto.partition_view %bv, offsets = [" at ", %n], sizes = [%c256, %c256] : !v "   \
    "-> !pto.partition_tensor_view<256x256xf16>\n"                                                 \
    "pto.tload ins(%pb" panel " : !pto.partition_tensor_view<256x256xf16>) outs(%tb" panel         \
    " : !b)\n"

static const char product[] =
    "!a = !pto.tile_buf<mat, 128x256xf16, blayout=col_major, slayout=row_major>\n"
    "!b = !pto.tile_buf<mat, 256x256xf16, blayout=row_major, slayout=col_major>\n"
    "!l = !pto.tile_buf<left, 128x64xf16, blayout=row_major, slayout=row_major>\n"
    "!r = !pto.tile_buf<right, 64x256xf16, blayout=row_major, slayout=col_major>\n"
    "!acc = !pto.tile_buf<acc, 128x256xf32, blayout=col_major, slayout=row_major, fractal=1024>\n"
    "!v = !pto.tensor_view<?x?xf16>\n"
    "module attributes {pto.target_arch = \"a2a3\"} {\n"
    "func.func @product(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>) attributes "
    "{pto.kernel_kind = #pto.kernel_kind<cube>} {\n"
    "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    "%c64 = arith.constant 64 : index\n%c128 = arith.constant 128 : index\n"
    "%c192 = arith.constant 192 : index\n%c256 = arith.constant 256 : index\n"
    "%c512 = arith.constant 512 : index\n%rows = arith.constant 1536 : index\n"
    "%depth = arith.constant 4096 : index\n%cols = arith.constant 1024 : index\n"
    "%a0 = arith.constant 0 : i64\n%a1 = arith.constant 65536 : i64\n"
    "%a2 = arith.constant 131072 : i64\n%a3 = arith.constant 262144 : i64\n"
    "%a4 = arith.constant 16384 : i64\n%a5 = arith.constant 32768 : i64\n"
    "%av = pto.make_tensor_view %a, shape = [%rows, %depth], strides = [%depth, %c1] : !v\n"
    "%bv = pto.make_tensor_view %b, shape = [%depth, %cols], strides = [%c1, %depth] "
    "{layout = #pto.layout<dn>} : !v\n"
    "%cv = pto.make_tensor_view %c, shape = [%rows, %cols], strides = [%cols, %c1] : "
    "!pto.tensor_view<?x?xf32>\n"
    "%ta0 = pto.alloc_tile addr = %a0 : !a\n%ta1 = pto.alloc_tile addr = %a1 : !a\n"
    "%tb0 = pto.alloc_tile addr = %a2 : !b\n%tb1 = pto.alloc_tile addr = %a3 : !b\n"
    "%l0 = pto.alloc_tile addr = %a0 : !l\n%l1 = pto.alloc_tile addr = %a4 : !l\n"
    "%r0 = pto.alloc_tile addr = %a0 : !r\n%r1 = pto.alloc_tile addr = %a5 : !r\n"
    "%acc = pto.alloc_tile addr = %a0 : !acc\n"
    "scf.for %m = %c0 to %rows step %c128 {\nscf.for %n = %c0 to %cols step %c256 {\n"
    "scf.for %k = %c0 to %depth step %c512 {\n%k1 = arith.addi %k, %c256 : index\n"
    PANEL("0", "%k") "%first = arith.cmpi eq, %k, %c0 : index\nscf.if %first {\n"
    STEP("0", "0", "0", "tmatmul", "", "") "} else {\n"
    MORE("0", "0", "0") "}\n" MORE("1", "0", "64") MORE("0", "0", "128") MORE("1", "0", "192")
    PANEL("1", "%k1") MORE("0", "1", "0") MORE("1", "1", "64") MORE("0", "1", "128")
    MORE("1", "1", "192") "}\n"
    "%pc = pto.partition_view %cv, offsets = [%m, %n], sizes = [%c128, %c256] : "
    "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<128x256xf32>\n"
    "pto.tstore ins(%acc : !acc) outs(%pc : !pto.partition_tensor_view<128x256xf32>)\n"
    "}\n}\nreturn\n}\n}\n";
/* clang-format on */

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
    bool ok = pto_kernel_load(&k, setup, &d) == ST_OK && pto_kernel_bind(&k, setup, &d) == ST_OK &&
              pto_kernel_run(&k, costs, setup, &d) == ST_OK;
    double begin = now();
    for (int64_t i = 0; ok && i < runs; i++) {
        ok = pto_kernel_again(&k, &k.sim, costs, &k.options, &d) == ST_OK;
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
    struct pto_setup setup = {.target = -1, .blocks = 1, .params = params, .path = "product"};
    struct mapfile map = {.text = S(product)};
    int64_t runs = 100;
    struct diag d;

    if (argc > 1 && !num_i64(str_of(argv[1]), &runs))
        return 2;
    diag_init(&d);
    if (argc > 2) {
        setup.path = argv[2];
        if (mapfile_open(&map, setup.path, &d) != ST_OK)
            return 3;
    }
    for (int i = 3; i < argc && setup.n_params < MOST_PARAMS; i++) {
        struct str text = str_of(argv[i]);
        size_t equals = str_find_char(text, '=');
        params[setup.n_params++] =
            (struct text_param){str_part(text, 0, equals), str_part(text, equals + 1, text.n)};
    }
    setup.text = map.text;
    bool ok = rate(&setup, runs);
    setup.is_dep = true;
    ok = rate(&setup, runs) && ok;
    ok = variants(&setup, map.text) && ok;
    if (argc > 2)
        mapfile_close(&map);
    diag_fini(&d);
    return ok ? 0 : 1;
}
