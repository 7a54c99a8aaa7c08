/*
 * Hostile rules for perfdb/grid_rules, grid_models and grid_gen: the bytes are a user's file. What
 * is accepted makes rows, a few for each pattern, without harm.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "opdb/grid/grid_gen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OWN_PATTERNS = 10 };

static void make_rows(struct arena *arena, const struct grid_rules *rules, struct diag *d)
{
    static struct grid_random random;
    struct grid_job job = {.rules = rules, .cap = 5, .random = &random};
    struct grid_rows rows;

    grid_random_seed_text(&random, S("1"));
    if (grid_models_read(arena, rules, &job.models, d) != ST_OK)
        return;
    for (int has_targets = 0; has_targets < 2; has_targets++)
        for (size_t i = 0; i < rules->patterns_n; i++) {
            /* The loops compiled in are large and always the same. */
            if (rules->patterns_n > OWN_PATTERNS && rules->patterns[i].generator.n == 0)
                continue;
            job.has_targets = has_targets != 0;
            if (grid_generate(&job, &rules->patterns[i], S("GroupedMatmul"), arena, &rows, d) ==
                    ST_OK &&
                rows.n > job.cap)
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct grid_rules rules;
    struct arena arena;
    struct diag d;
    char path[64];
    int fd = memfd_create("rules", 0);

    if (fd < 0 || (size > 0 && write(fd, data, size) != (ssize_t)size))
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    arena_init(&arena);
    diag_init(&d);
    if (grid_rules_read(&rules, &arena, path, &d) == ST_OK)
        make_rows(&arena, &rules, &d);
    diag_fini(&d);
    arena_free(&arena);
    close(fd);
    return 0;
}
