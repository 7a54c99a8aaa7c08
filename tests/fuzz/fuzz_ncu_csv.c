/*
 * Hostile pages for gpu/ncu_csv: any bytes are read or refused, and what was read can be judged and
 * written.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/judge/report.h"
#include "gpu/ncu/ncu_csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool swallow(void *ctx, struct str text)
{
    (void)ctx;
    return text.n < SIZE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1); /* ends where its allocation ends */
    struct text text = {0};
    struct gpu_import in;
    struct gpu_run run;
    struct diag d;

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    gpu_run_init(&run);
    diag_init(&d);
    in = (struct gpu_import){.arena = &run.arena};
    if (gpu_ncu_read(&in, "page", (struct str){copy, size}, &d) == ST_OK) {
        struct sink sink = {.write = swallow};
        gpu_source_attach(&in);
        gpu_ptx_attach(&in);
        for (size_t i = 0; i < in.listings.n; i++) {
            gpu_sass_write(&in.listings.at[i], sink);
            if (in.listings.at[i].lines.n > 0)
                gpu_annotated_write(&in.listings.at[i], in.listings.at[i].lines.at[0].file, sink);
        }
        for (size_t i = 0; i < in.kernels.n; i++)
            vec_push(&run.kernels, in.kernels.at[i]);
        in.kernels.n = 0; /* the run owns them now */
        if (gpu_run_stages(&run, NULL, (struct gpu_work_option){0}, &d) != ST_OK)
            abort();
        gpu_run_judge(&run);
        gpu_report_write(&run, LANG_EN, &text);
        gpu_report_verbose(&run, &text);
    }
    text_free(&text);
    gpu_import_free(&in);
    diag_fini(&d);
    gpu_run_free(&run);
    free(copy);
    return 0;
}
