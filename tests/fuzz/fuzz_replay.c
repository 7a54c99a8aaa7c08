/*
 * Hostile kernels for src/replay: any bytes as C++ source, as PTO text and as a mangled name.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay/discover.h"
#include "replay/gencase.h"
#include "replay/log_hints.h"
#include "replay/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_source(struct arena *arena, struct str text)
{
    struct diag d;
    struct entry entry;
    struct gm_text sizes;
    struct str names[8];
    const char *hints[LOG_HINTS_MAX];

    diag_init(&d);
    gm_text_scan(arena, text, S("k"), &sizes);
    for (size_t i = 0; i < GM_TEXT_ARGS; i++)
        if (gm_text_elements(&sizes, i) <= 0)
            abort();
    if (entry_find(arena, text, "k.cpp", &entry, &d) == ST_OK) {
        struct gencase_job job = {.testcase = "k",
                                  .source = text,
                                  .entry = &entry,
                                  .sizes = &sizes,
                                  .soc = "s",
                                  .arch = "a"};
        if (gencase_kernel(&job, arena).n < text.n)
            abort();
        gencase_launcher(&job, arena);
        gencase_main(&job, arena);
    }
    entry_names(text, S("k"), names, ARRAY_LEN(names));
    log_hints(text, hints);
    discover_target(text);
    diag_fini(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    char *copy = malloc(size > 0 ? size : 1); /* ends where its allocation ends */

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    arena_init(&arena);
    read_source(&arena, (struct str){copy, size});
    symbol_demangle(&arena, (struct str){copy, size < 4096 ? size : 4096});
    arena_free(&arena);
    free(copy);
    return 0;
}
