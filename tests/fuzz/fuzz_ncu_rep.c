/*
 * Hostile reports for gpu/ncu_rep: any bytes give pages that can be read, or are refused.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ncu/ncu_csv.h"
#include "gpu/ncu/ncu_rep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1); /* ends where its allocation ends */
    struct gpu_import in;
    struct arena arena;
    struct str pages;
    uint64_t lost;
    struct diag d;

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    arena_init(&arena);
    diag_init(&d);
    in = (struct gpu_import){.arena = &arena};
    if (ncu_rep_pages("report", (struct str){copy, size}, &arena, &pages, &lost, &d) == ST_OK &&
        gpu_ncu_read(&in, "report", pages, &d) == ST_OK) {
        gpu_source_attach(&in);
        gpu_ptx_attach(&in);
    }
    gpu_import_free(&in);
    diag_fini(&d);
    arena_free(&arena);
    free(copy);
    return 0;
}
