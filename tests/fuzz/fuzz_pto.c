/*
 * Hostile PTO text: reading and verifying must be safe on any bytes, and a text without problems
 * must print as text that reads as the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/formats/json_write.h"
#include "kernels/pto/sim/pipes.h"
#include "kernels/pto/text/parse.h"
#include "kernels/pto/text/print.h"
#include "kernels/pto/text/text_params.h"
#include "kernels/pto/text/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_pipes(const struct pto_module *m)
{
    for (size_t i = 0; i < m->functions.n; i++)
        for (uint32_t k = m->functions.at[i].op_first; k < m->functions.at[i].op_end; k++)
            if (pto_phases_of(m, &m->functions.at[i], &m->ops.at[k]).n > PTO_MAX_PHASES)
                abort();
}

static struct text print(const struct pto_module *m)
{
    struct text out = {0};

    if (!pto_print(m, text_sink(&out)))
        abort();
    return out;
}

static void check_printing(struct pto_parser *p, struct pto_module *m)
{
    struct text once = print(m);

    if (pto_parse(p, (struct str){once.at, once.n}, m) != ST_OK || pto_verify(m) != ST_OK)
        abort();
    struct text twice = print(m);
    if (once.n != twice.n || memcmp(once.at, twice.at, once.n) != 0)
        abort();
    text_free(&twice);
    text_free(&once);
}

static void fill(struct str text)
{
    static const struct text_param params[] = {{S_INIT("N"), S_INIT("16")}};
    struct arena arena;
    struct diag d;
    struct str out;

    arena_init(&arena);
    diag_init(&d);
    text_params_fill(text, "fuzz", params, 1, &arena, &out, &d);
    diag_fini(&d);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pto_parser *p = pto_parser_new();
    struct pto_module m;
    char *copy = malloc(size > 0 ? size : 1); /* ends where its allocation ends */

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    struct str text = {copy, size};
    pto_module_init(&m);
    if (pto_parse(p, text, &m) == ST_OK && pto_verify(&m) == ST_OK) {
        ask_pipes(&m);
        check_printing(p, &m);
    }
    pto_module_fini(&m);
    pto_parser_free(p);
    fill(text);
    free(copy);
    return 0;
}
