/*
 * The simulator on hostile input. Bytes that begin with one of 0x80 and above are the choices of a
 * random valid kernel, whose runs must have the properties of
 * tests/support/pto/testing_properties.h. All others are text: compiling and running it must be
 * safe, with and without data.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pto/testing_properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARGS = 8, BUFFER = 4096 };

static void run_text(const struct pto_module *m, const struct pto_costs *costs, bool is_dep,
                     bool has_memory)
{
    struct pto_options options = pto_options_default(m->arch);
    struct pto_binding bindings[ARGS] = {{0}};
    static unsigned char buffers[ARGS][BUFFER];
    struct pto_sim sim;
    struct diag diag;

    options.is_dep = is_dep;
    options.has_memory = has_memory;
    options.max_steps = 3000;
    options.max_records = 1000;
    memset(buffers, 1, sizeof(buffers));
    for (size_t i = 0; has_memory && i < ARGS; i++)
        bindings[i] = (struct pto_binding){
            .is_given = true, .number = (int64_t)i, .data = buffers[i], .size = BUFFER};
    diag_init(&diag);
    pto_sim_init(&sim);
    const struct pto_function *kernels[4];
    size_t n = pto_sim_kernels(m, kernels, ARRAY_LEN(kernels));
    for (size_t i = 0; i < n && i < ARRAY_LEN(kernels); i++) {
        struct str name = pto_sim_kernel_name(m, kernels[i]);
        if (pto_sim_prepare(&sim, m, name, m->arch, is_dep, "fuzz", &diag) == ST_OK)
            (void)pto_sim_run(&sim, costs, &options, bindings, ARGS, "fuzz", &diag);
    }
    pto_sim_free(&sim);
    diag_fini(&diag);
}

static void try_text(struct properties *p, const uint8_t *data, size_t size)
{
    if (pto_parse(p->parser, (struct str){(const char *)data, size}, &p->module) != ST_OK ||
        pto_verify(&p->module) != ST_OK)
        return;
    for (int i = 0; i < 4; i++)
        run_text(&p->module, p->costs, (i & 1) != 0, i > 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct properties *p; /* kept: the tables of costs take long to read */

    if (p == NULL)
        p = properties_new();
    if (size == 0)
        return 0;
    if (data[0] < 0x80) {
        try_text(p, data, size);
    } else if (!properties_hold(p, data + 1, size - 1)) {
        fprintf(stderr, "%s\n%.*s", p->fault, (int)p->kernel.n, p->kernel.text);
        abort();
    }
    return 0;
}
