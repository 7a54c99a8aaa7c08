/*
 * Operators by name, shapes and types.
 */
#include "analysis/ops/operator_work.h"

#include "analysis/study.h"
#include "ops/recorded_work.h"

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

/* Where a call has no rule, by its name and shapes: a product of another name, a convolution whose
 * stride is not recorded. */
static void estimate(struct str name, const struct tensor_shapes *shapes,
                     struct operator_work *work)
{
    struct tensor_product p = tensor_product_of(name, shapes);
    struct tensor_shape output;

    if (p.flops <= 0) {
        p = tensor_convolution_of(name, shapes, &output);
        work->is_convolution = output.n > 0;
    }
    work->flops = p.flops;
    work->moved = p.elements;
}

static struct operator_work work_compute(const struct recorded_call *call)
{
    struct tensor_shapes read = tensor_shapes_read(call->shapes);
    struct recorded_work exact = recorded_work_of(call);
    struct operator_work work = {0};
    struct str types = call->types;

    if ((exact.kind == RECORDED_WORK_PRODUCT || exact.kind == RECORDED_WORK_CONVOLUTION) &&
        dtype_bits(exact.type) > 0) {
        work.flops = exact.flops;
        work.moved = exact.bytes / dtype_bytes(exact.type);
    } else {
        estimate(call->op, &read, &work);
    }
    for (size_t i = 0; i < read.n; i++) {
        double elements = tensor_shape_elements(&read.at[i]);
        work.elements = elements > work.elements ? elements : work.elements;
    }
    struct str one;
    for (size_t i = 0; i < read.n && types.n > 0 && str_split(&types, ';', &one); i++) {
        enum dtype type = dtype_of(one);
        if (read.at[i].n == 0)
            continue;
        work.has_double |= type == DTYPE_F64;
        if (dtype_bits(work.type) == 0)
            work.type = type;
    }
    return work;
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
        struct operator_work work =
            work_compute(&(struct recorded_call){.op = capture_text(cap, name),
                                                 .shapes = capture_text(cap, shapes),
                                                 .types = capture_text(cap, types),
                                                 .values = capture_text(cap, values)});
        work.key = key;
        vec_push(&works->at, work);
    }
    return &works->at.at[place];
}

void operator_works_free(struct operator_works *works)
{
    hash_free(&works->known);
    vec_free(&works->at);
}
