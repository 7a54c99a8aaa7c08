/*
 * Work looked up by what is recorded of a slice.
 */
#include "analysis/ops/slice_work.h"

#include "analysis/study.h"

struct slice_works slice_works_of(const struct capture *cap)
{
    return (struct slice_works){.cap = cap,
                                .values = intern_find(&cap->strings, S(RECORDED_VALUES))};
}

void slice_works_free(struct slice_works *w)
{
    hash_free(&w->seen);
    vec_free(&w->at);
}

static strid works_text_of(const struct slice_works *w, size_t slice, enum capture_key key)
{
    struct attr a = capture_slice_attr(w->cap, slice, key);

    return a.type == ATTR_TEXT ? a.text : 0;
}

/* Numbers that shapes of real tensors do not come to are none. */
static struct recorded_work checked(struct recorded_work w)
{
    return w.flops >= 0 && w.flops < 1e24 && w.bytes >= 0 && w.bytes < 1e18
               ? w
               : (struct recorded_work){0};
}

uint32_t slice_works_find(struct slice_works *w, size_t slice, bool is_kernel)
{
    const struct capture *cap = w->cap;
    strid shapes = works_text_of(w, slice, KEY_INPUT_SHAPES);

    if (shapes == 0)
        return SLICE_WORKS_NONE;
    strid name = is_kernel ? works_text_of(w, slice, KEY_TYPE) : cap->slices.name[slice];
    strid types = works_text_of(w, slice, KEY_INPUT_DTYPES);
    strid outputs = is_kernel ? works_text_of(w, slice, KEY_OUTPUT_SHAPES) : 0;
    struct attr values = study_attr(cap, slice, w->values); /* of inputs that are no tensors */
    strid last = is_kernel                  ? works_text_of(w, slice, KEY_OUTPUT_DTYPES)
                 : values.type == ATTR_TEXT ? values.text
                                            : 0;
    uint64_t key = hash_mix(hash_mix((uint64_t)name << 32 | shapes, (uint64_t)types << 32 | last),
                            (uint64_t)outputs << 1 | is_kernel);
    uint32_t fresh = (uint32_t)w->at.n, place = hash_add(&w->seen, key, fresh);
    if (place < fresh)
        return place;
    struct recorded_call in = {.op = capture_text(cap, name),
                               .shapes = capture_text(cap, shapes),
                               .types = capture_text(cap, types)};
    if (is_kernel) {
        in.out_shapes = capture_text(cap, outputs);
        in.out_types = capture_text(cap, last);
    } else {
        in.values = capture_text(cap, last);
    }
    vec_push(&w->at, checked(is_kernel ? recorded_work_of_kernel(&in) : recorded_work_of(&in)));
    return place;
}
