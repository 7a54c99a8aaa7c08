/*
 * Hostile formulas, plans and reports: any bytes end in a value or a reason.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/judge/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gpu_param list[] = {
        {S_INIT("b"), S_INIT("32"), 32, false},
        {S_INIT("dtype"), S_INIT("bf16"), NAN, true},
    };
    const struct gpu_params params = {{list, 2, 2}};
    char *copy = malloc(size > 0 ? size : 1);
    struct gpu_spec spec;
    struct arena arena;
    struct diag d;
    double value = -1;

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    struct str text = {copy, size};
    arena_init(&arena);
    diag_init(&d);
    if (gpu_params_eval(&params, &arena, text, &value) == NULL && !(isfinite(value) && value >= 0))
        abort();
    gpu_spec_read(&arena, "spec", text, &spec, &d);
    gpu_spec_free(&spec);
    gpu_report_check("report", text, &d);
    diag_fini(&d);
    arena_free(&arena);
    free(copy);
    return 0;
}
