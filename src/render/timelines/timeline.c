/*
 * The list of timeline formats, and what they share.
 */
#include "render/timelines/timeline.h"

#include "base/run/cancel.h"

const struct timeline_format *const timeline_list[] = {
#define TIMELINE(sym) &timeline_##sym,
#include "render/timelines/timelines.def"
#undef TIMELINE
};

const size_t timeline_count = ARRAY_LEN(timeline_list);

const struct timeline_format *timeline_find(struct str name)
{
    for (size_t i = 0; i < timeline_count; i++)
        if (str_equal(str_of(timeline_list[i]->name), name))
            return timeline_list[i];
    return NULL;
}

const struct timeline_format *timeline_by_ending(struct str path)
{
    const struct timeline_format *best = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < timeline_count; i++)
        for (const char *const *e = timeline_list[i]->endings; *e != NULL; e++)
            if (strlen(*e) > longest && str_ends(path, str_of(*e))) {
                best = timeline_list[i];
                longest = strlen(*e);
            }
    return best;
}

bool timeline_shows(const struct capture *cap, const struct slice *slice, bool is_shared,
                    const struct attr *a)
{
    if (a->key == cap->keys[KEY_CAT] || (a->type == ATTR_TEXT && a->text == 0))
        return false;
    return !is_shared || slice->own == 0 ||
           attrs_get(&cap->attrs, slice->own, a->key).type == ATTR_NONE;
}

/* The words that readers of PyTorch's traces know. */
static const char *const categories[SLICE_KINDS] = {
    [SLICE_COMPUTE] = "kernel",
    [SLICE_COMM] = "kernel",
    [SLICE_COMM_PART] = "kernel",
    [SLICE_AICPU] = "kernel",
    [SLICE_COPY] = "gpu_memcpy",
    [SLICE_WAIT] = "cuda_sync",
    [SLICE_HOST_OP] = "cpu_op",
    [SLICE_PYTHON] = "python_function",
    [SLICE_ANNOTATION] = "user_annotation",
    [SLICE_RUNTIME] = "cuda_runtime",
    [SLICE_STEP] = "user_annotation",
};

struct str timeline_category(const struct capture *cap, const struct slice *slice)
{
    struct attr cat = attrs_get(&cap->attrs, slice->set, cap->keys[KEY_CAT]);
    const char *word = categories[slice->kind];

    if (cat.type == ATTR_TEXT)
        return capture_text(cap, cat.text);
    /* On Ascend the task type classifies device work, and the process host work. */
    if (word == NULL || (capture_is_ascend(cap) && slice->kind < SLICE_HOST_OP))
        word = slice_kind_name(slice->kind);
    return str_of(word);
}

struct str timeline_key(const struct capture *cap, const struct slice *slice, strid key)
{
    if (key == cap->keys[KEY_CORE] && capture_is_ascend(cap) &&
        cap->lanes.at[slice->lane].key.kind == LANE_STREAM)
        return S("Task Type");
    return capture_text(cap, key);
}

static void put_attr(struct text_out *out, const struct capture *cap, struct str key,
                     const struct attr *a)
{
    text_out_put(out, S("\""));
    text_out_escaped(out, key);
    text_out_put(out, a->type == ATTR_TIME ? S("_ns\":") : S("\":"));
    switch ((enum attr_type)a->type) {
    case ATTR_TEXT:
        text_out_quoted(out, capture_text(cap, a->text));
        break;
    case ATTR_INT:
    case ATTR_TIME:
        text_out_i64(out, a->number);
        break;
    case ATTR_REAL:
        text_out_f64(out, a->real);
        break;
    case ATTR_NONE:
        break;
    }
}

bool timeline_args(struct text_out *out, const struct capture *cap, const struct slice *slice,
                   struct str before, struct str more)
{
    const attr_run runs[] = {slice->set, slice->own};
    bool is_first = more.n == 0;
    struct attr a;

    if (more.n > 0) {
        text_out_put(out, before);
        text_out_put(out, S("{"));
        text_out_put(out, more);
    }
    for (size_t r = 0; r < ARRAY_LEN(runs); r++) {
        struct attr_walk walk = attrs_walk(&cap->attrs, runs[r]);
        while (attrs_next(&walk, &a)) {
            if (!timeline_shows(cap, slice, r == 0, &a))
                continue;
            if (is_first)
                text_out_put(out, before);
            text_out_put(out, is_first ? S("{") : S(","));
            put_attr(out, cap, timeline_key(cap, slice, a.key), &a);
            is_first = false;
        }
    }
    if (!is_first)
        text_out_put(out, S("}"));
    return !is_first;
}

bool timeline_goes_on(const struct timeline_options *options, uint64_t bytes)
{
    progress_step(options->progress,
                  (struct progress_step){options->label, PROGRESS_BYTES, bytes, 0});
    return !cancelled();
}
