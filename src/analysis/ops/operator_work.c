/*
 * Operators by name, shapes and types.
 */
#include "analysis/ops/operator_work.h"

#include "analysis/study.h"

static strid text_of_slice(const struct capture *cap, uint32_t slice, enum capture_key key)
{
    struct attr none = {.type = ATTR_NONE};
    struct attr a = slice != UINT32_MAX ? capture_slice_attr(cap, slice, key) : none;

    return a.type == ATTR_TEXT ? a.text : 0;
}

/* Of the operator, else of its kernel. */
static strid work_text_of(const struct capture *cap, struct operator_ref ref, enum capture_key key)
{
    strid text = text_of_slice(cap, ref.op, key);

    return text != 0 ? text : text_of_slice(cap, ref.kernel, key);
}

/* The inputs that are no tensors: the stride of a convolution, say. */
static strid values_of(struct operator_works *works, uint32_t op)
{
    struct attr none = {.type = ATTR_NONE};

    if (works->values == 0)
        works->values = intern_find(&works->cap->strings, S(RECORDED_VALUES));
    struct attr a = op != UINT32_MAX ? study_attr(works->cap, op, works->values) : none;
    return a.type == ATTR_TEXT ? a.text : 0;
}

struct tensor_shapes operator_work_shapes(const struct capture *cap, struct operator_ref ref)
{
    return tensor_shapes_read(capture_text(cap, work_text_of(cap, ref, KEY_INPUT_SHAPES)));
}

const struct operator_work *operator_work_of(struct operator_works *works, struct operator_ref ref)
{
    const struct capture *cap = works->cap;
    strid name =
        ref.op != UINT32_MAX ? cap->slices.name[ref.op] : text_of_slice(cap, ref.kernel, KEY_TYPE);
    strid shapes = work_text_of(cap, ref, KEY_INPUT_SHAPES),
          types = work_text_of(cap, ref, KEY_INPUT_DTYPES);
    strid values = values_of(works, ref.op);
    uint64_t key = hash_mix(hash_mix(name, shapes), (uint64_t)types << 32 | values);
    uint32_t fresh = (uint32_t)works->at.n, place = hash_add(&works->known, key, fresh);

    if (place == fresh) {
        struct recorded_call call = {.op = capture_text(cap, name),
                                     .shapes = capture_text(cap, shapes),
                                     .types = capture_text(cap, types),
                                     .values = capture_text(cap, values)};
        vec_push(&works->at, ((struct operator_work){recorded_work_estimate(&call), key}));
    }
    return &works->at.at[place];
}

void operator_works_free(struct operator_works *works)
{
    hash_free(&works->known);
    vec_free(&works->at);
}
