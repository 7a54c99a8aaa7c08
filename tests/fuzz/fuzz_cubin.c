/*
 * Hostile GPU modules, and hostile text of the tools that print them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "driver/cubin.h"
#include "gpu/ncu/ncu_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool swallow(void *ctx, struct str text)
{
    (void)ctx;
    return text.n < SIZE_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1); /* ends where its allocation ends */
    struct gpu_listing listing = {0};
    struct arena arena;
    struct cubin c;
    struct diag d;

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    struct str text = {copy, size};
    arena_init(&arena);
    diag_init(&d);
    if (cubin_read(&arena, "module", text, &c, &d) == ST_OK)
        for (size_t i = 0; i < c.n; i++)
            if (cubin_find(&c, c.functions[i].name) == NULL || c.functions[i].name.n == 0)
                abort();
    listing.kernel = S("copy");
    if (gpu_disasm_sass(text, S("copy"), &listing))
        gpu_sass_write(&listing, (struct sink){.write = swallow});
    struct str ptx = gpu_disasm_ptx(text, S("copy"));
    if (ptx.n > 0 && (ptx.at < copy || ptx.at + ptx.n > copy + size))
        abort();
    gpu_listing_free(&listing);
    diag_fini(&d);
    arena_free(&arena);
    free(copy);
    return 0;
}
