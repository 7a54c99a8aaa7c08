/*
 * Hostile scenes and argument lists: any bytes are read as a Python module, as JSON values and as
 * a list of arguments, end in time, and what is taken for arguments can be checked and measured.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/replay/args.h"
#include "kernels/replay/lit_python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches what was read; names can stand for large parts many times, so depth is bounded. */
static size_t walk(const struct tree *value, int depth)
{
    size_t sum = value->kind == TREE_TEXT || value->kind == TREE_NAME ? value->text.n : 1;

    size_t n = 0;
    for (const struct tree *m = value->first; m != NULL && n++ < 8 && depth > 0; m = m->next)
        sum += walk(m, depth - 1) + m->key.n;
    return sum;
}

static void read_python(struct arena *arena, struct str text, struct diag *d)
{
    struct py_module module = {0};

    if (py_module_read(arena, text, "fuzz.py", &module, d) != ST_OK)
        return;
    for (size_t i = 0; i < module.n && i < 16; i++)
        if (walk(&module.at[i].body, 3) + walk(&module.at[i].decorator, 3) == 0)
            abort();
}

static void read_spec(struct arena *arena, struct str text, struct diag *d)
{
    struct slots slots = {0};

    if (args_parse(arena, text, "fuzz.json", &slots, d) == ST_OK &&
        slots_check(&slots, "fuzz.json", d) == ST_OK) {
        for (size_t i = 0; i < slots.n; i++) {
            int64_t bytes;
            if (slots.at[i].is_tensor && !slot_bytes(&slots.at[i], &bytes))
                abort(); /* the check let it pass */
            if (!slot_is_identifier(slots.at[i].name))
                abort(); /* it would go into C++ */
        }
    }
    vec_free(&slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct diag d;
    struct tree_error error;
    char *copy = malloc(size > 0 ? size : 1); /* ends where its allocation ends */

    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    struct str text = {copy, size};
    arena_init(&arena);
    diag_init(&d);
    read_python(&arena, text, &d);
    const struct tree *doc = tree_read_json(&arena, text, &error);
    if (doc != NULL)
        walk(doc, TREE_DEPTH);
    read_spec(&arena, text, &d);
    diag_fini(&d);
    arena_free(&arena);
    free(copy);
    return 0;
}
