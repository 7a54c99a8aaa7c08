#include "capture/capture.h"

#include <assert.h>

static const struct str key_names[KEY_COUNT] = {
    [KEY_TYPE] = S_INIT("type"),
    [KEY_CORE] = S_INIT("core"),
    [KEY_STATE] = S_INIT("state"),
    [KEY_BLOCK_DIM] = S_INIT("block_dim"),
    [KEY_MIX_BLOCK_DIM] = S_INIT("mix_block_dim"),
    [KEY_INPUT_SHAPES] = S_INIT("input_shapes"),
    [KEY_INPUT_DTYPES] = S_INIT("input_dtypes"),
    [KEY_INPUT_FORMATS] = S_INIT("input_formats"),
    [KEY_OUTPUT_SHAPES] = S_INIT("output_shapes"),
    [KEY_OUTPUT_DTYPES] = S_INIT("output_dtypes"),
    [KEY_OUTPUT_FORMATS] = S_INIT("output_formats"),
    [KEY_STEP] = S_INIT("step"),
    [KEY_WAIT] = S_INIT("wait"),
    [KEY_TASK] = S_INIT("task"),
};

const char *origin_name(enum origin origin)
{
    static const char *const names[] = {"measured", "simulated", "estimated", "inferred"};

    return names[origin];
}

struct capture *capture_new(void)
{
    struct capture *cap = mem_grow(NULL, sizeof(*cap), 1);

    *cap = (struct capture){.name = ""};
    arena_init(&cap->arena);
    intern_init(&cap->strings);
    attrs_init(&cap->attrs);
    for (size_t i = 0; i < KEY_COUNT; i++)
        cap->keys[i] = intern_put(&cap->strings, key_names[i]);
    return cap;
}

void capture_free(struct capture *cap)
{
    if (cap == NULL)
        return;
    arena_free(&cap->arena);
    intern_fini(&cap->strings);
    attrs_fini(&cap->attrs);
    vec_free(&cap->lanes);
    hash_free(&cap->lane_ids);
    slices_free(&cap->slices);
    vec_free(&cap->sources);
    mem_free(cap);
}

static bool same_lane(const struct lane_key *a, const struct lane_key *b)
{
    return a->kind == b->kind && a->device == b->device && a->process == b->process &&
           a->name == b->name;
}

lane_id capture_lane(struct capture *cap, struct lane_key key)
{
    uint64_t hash = hash_mix((uint64_t)key.process << 32 | key.name,
                             (uint64_t)(uint32_t)key.device << 8 | (uint64_t)key.kind);

    assert(!cap->is_sealed);
    for (;; hash = hash_mix(hash, 1)) { /* two keys with one hash: look further along */
        uint32_t id;
        if (!hash_get(&cap->lane_ids, hash, &id)) {
            id = (uint32_t)cap->lanes.n;
            hash_put(&cap->lane_ids, hash, id);
            vec_push(&cap->lanes, ((struct lane){.key = key}));
            return id;
        }
        if (same_lane(&cap->lanes.at[id].key, &key))
            return id;
    }
}

void capture_slice(struct capture *cap, const struct slice *slice)
{
    assert(!cap->is_sealed && slice->lane < cap->lanes.n);
    slices_push(&cap->slices, slice);
}

void capture_source(struct capture *cap, struct source source)
{
    source.path = arena_cstr(&cap->arena, str_of(source.path));
    vec_push(&cap->sources, source);
}

static unsigned has_of(enum slice_kind kind)
{
    if (kind == SLICE_COMM || kind == SLICE_COMM_PART)
        return HAS_KERNELS | HAS_COMM;
    if (slice_is_kernel(kind))
        return HAS_KERNELS;
    if (kind >= SLICE_HOST_OP && kind <= SLICE_GC)
        return HAS_HOST;
    return kind == SLICE_STEP ? HAS_STEPS : kind == SLICE_INSTR ? HAS_INSTR : 0;
}

static unsigned has_attrs(const struct capture *cap)
{
    unsigned has = 0;

    for (size_t i = 0; i < cap->attrs.values.n; i++) {
        const struct attr *a = &cap->attrs.values.at[i];
        if (a->type == ATTR_TEXT && a->text != 0) {
            if (a->key == cap->keys[KEY_INPUT_SHAPES])
                has |= HAS_SHAPES;
            else if (a->key == cap->keys[KEY_STEP])
                has |= HAS_STEPS;
        }
    }
    return has;
}

void capture_seal(struct capture *cap)
{
    struct slices *s = &cap->slices;

    slices_sort(s);
    for (size_t i = 0; i < s->n; i++) {
        struct lane *lane = &cap->lanes.at[s->lane[i]];
        if (lane->n++ == 0)
            lane->first = i;
        cap->has |= has_of((enum slice_kind)s->kind[i]);
    }
    cap->has |= has_attrs(cap);
    cap->is_sealed = true;
}

const struct attr *capture_slice_attr(const struct capture *cap, size_t slice, enum capture_key key)
{
    const struct attr *a = attrs_get(&cap->attrs, cap->slices.own[slice], cap->keys[key]);

    return a != NULL ? a : attrs_get(&cap->attrs, cap->slices.set[slice], cap->keys[key]);
}

struct str capture_slice_text(const struct capture *cap, size_t slice, enum capture_key key)
{
    const struct attr *a = capture_slice_attr(cap, slice, key);

    return a != NULL && a->type == ATTR_TEXT ? capture_text(cap, a->text) : S("");
}
