/*
 * Hostile expressions for base/expr: any bytes compile or are refused, run to an end, and
 * give the same value twice. The text is also cut as a shape.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "opdb/grid/grid_rules.h"
#include "opdb/grid/grid_shapes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(struct arena *arena, struct str text)
{
    static const struct str names[] = {S_INIT("a"), S_INIT("b"), S_INIT("tokens")};
    static const int64_t values[][3] = {{0, 1, -1}, {7, 5120, INT64_MAX}, {INT64_MIN, 3, 2}};
    struct expr e;

    if (expr_compile(arena, &grid_language, text, (struct expr_names){names, 3}, &e) != NULL)
        return;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct expr_value once = {0}, again = {0};
        const char *error = expr_run(&e, values[i], &once);
        const char *second = expr_run(&e, values[i], &again);
        int64_t dim;
        if (error != second || once.kind != again.kind || once.i != again.i ||
            memcmp(&once.r, &again.r, sizeof(once.r)) != 0)
            abort();
        if (error == NULL && !expr_whole(once, &dim) && once.kind != EXPR_REAL)
            abort();
    }
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
    struct str text = {copy, size}, rest, part;
    evaluate(&arena, text);
    rest = grid_shape_inside(text);
    while (grid_shape_part(&rest, &part))
        evaluate(&arena, part);
    arena_free(&arena);
    free(copy);
    return 0;
}
