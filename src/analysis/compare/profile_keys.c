/*
 * What a run works on: its operators with the shapes of their inputs, and those shapes.
 */
#include "analysis/compare/profile.h"
#include "base/tables/hash.h"
#include "base/tables/ranked.h"
#include "capture/capture.h"

enum { TENSOR_ELEMENTS = 2048 }; /* smaller ones are in every program */

/* A shape as "8,1024"; a one adds nothing to it. */
static bool add_tensor(struct str shape, struct hash *tensors)
{
    uint64_t key = 0, dim, n = 0;
    struct str text;
    double elements = 1;

    while (str_split(&shape, ',', &text))
        if (num_u64(str_trim(text), &dim) && dim > 1) {
            key = hash_stable_mix(key + n++, dim);
            elements *= (double)dim;
        }
    if (elements < TENSOR_ELEMENTS)
        return false;
    hash_put(tensors, key, 1);
    return true;
}

/* The shapes of one operator: "8,1024;1024,4096;;", with quotes around on Ascend. True: some are of
 * tensors that tell it from others. */
static bool add_tensors(struct str shapes, struct hash *tensors)
{
    struct str shape;
    bool has_any = false;

    while (shapes.n > 0 && shapes.at[0] == '"')
        shapes = str_part(shapes, 1, shapes.n - 1);
    while (shapes.n > 0 && shapes.at[shapes.n - 1] == '"')
        shapes.n--;
    while (str_split(&shapes, ';', &shape))
        has_any = add_tensor(shape, tensors) || has_any;
    return has_any;
}

static struct profile_keys keys_of(const struct hash *set, struct arena *arena)
{
    struct profile_keys out = {ARENA_ARRAY(arena, int64_t, set->n + 1), 0};

    for (size_t i = 0; i < set->cap; i++)
        if (set->slots[i].used)
            out.at[out.n++] = (int64_t)(set->slots[i].key >> 1);
    out.n = ranked_set(out.at, out.n);
    return out;
}

void profile_find_keys(const struct capture *cap, struct arena *arena, struct profile *out)
{
    struct hash operators = {0}, names = {0}, tensors = {0}, seen = {0};

    for (size_t i = 0; i < cap->slices.n; i++) {
        enum slice_kind kind = (enum slice_kind)cap->slices.kind[i];
        bool is_op = kind == SLICE_HOST_OP, is_kernel = slice_is_kernel(kind);
        if (!is_op && !is_kernel)
            continue;
        struct attr shapes = capture_slice_attr(cap, i, KEY_INPUT_SHAPES);
        strid id = shapes.type == ATTR_TEXT ? shapes.text : 0;
        if (is_kernel && id == 0)
            continue;
        struct str type = is_kernel ? capture_slice_text(cap, i, KEY_TYPE)
                                    : capture_text(cap, cap->slices.name[i]);
        uint64_t key = hash_stable_mix(hash_stable_bytes(type), id);
        uint32_t was;
        if (hash_get(&seen, key, &was))
            continue;
        hash_put(&seen, key, 1);
        struct str text = id != 0 ? capture_text(cap, id) : S("");
        hash_put(&names, hash_stable_bytes(type), 1);
        if (add_tensors(text, &tensors))
            hash_put(&operators, hash_stable_mix(hash_stable_bytes(type), hash_stable_bytes(text)),
                     1);
    }
    /* Names alone where no shapes are recorded. */
    out->operators = keys_of(tensors.n > 0 ? &operators : &names, arena);
    out->tensors = keys_of(&tensors, arena);
    hash_free(&operators);
    hash_free(&names);
    hash_free(&tensors);
    hash_free(&seen);
}
