/*
 * Families of kernels: by the operators around their launch, by their type and by their name.
 */
#include "analysis/idle/host_timeline.h"

/* An Ascend kernel says its operator's type itself. */
static strid families_type_of(const struct capture *cap, uint32_t slice)
{
    struct attr type = capture_slice_attr(cap, slice, KEY_TYPE);

    return type.type == ATTR_TEXT && type.text != 0 ? type.text : 0;
}

/* The family of a type of kernel, remembered. */
static enum kernel_family family_of_type(const struct capture *cap, struct hash *memo, strid type)
{
    uint32_t family;

    if (!hash_get(memo, type, &family)) {
        family = (uint32_t)kernel_family_of_type(capture_text(cap, type));
        hash_put(memo, type, family);
    }
    return (enum kernel_family)family;
}

static void set_family(const struct capture *cap, struct device_task *t,
                       const struct host_call *call, struct hash *types, struct hash *memo)
{
    enum kernel_family op = FAMILY_OTHER;
    bool is_float = false;
    strid type = capture_is_ascend(cap) ? families_type_of(cap, t->slice) : 0;

    if (t->is_aicpu) {
        t->family = FAMILY_AICPU;
        return;
    }
    if (call != NULL && !t->is_graph) {
        t->is_fp64 = call->is_fp64;
        op = call->is_optimizer ? FAMILY_OPTIMIZER : (enum kernel_family)call->family;
        is_float = call->is_float;
    }
    if (type != 0 && op == FAMILY_OTHER)
        op = family_of_type(cap, types, type);
    strid id = type != 0 ? type : cap->slices.name[t->slice];
    uint32_t packed; /* what is remembered of a name */
    if (!hash_get(memo, id, &packed)) {
        struct kernel_name k = kernel_family_of_name(capture_text(cap, id));
        packed = (uint32_t)k.is_native << 16 | (uint32_t)k.family << 8 | (uint32_t)k.rate;
        hash_put(memo, id, packed);
    }
    struct kernel_name name = {(enum kernel_family)(packed >> 8 & 255),
                               (enum kernel_rate)(packed & 255), packed >> 16 != 0};
    if (type != 0)
        name.rate = RATE_TENSOR;
    /* No operator tells the types of a graph's kernels; products of doubles have names. */
    bool is_typed = call != NULL && !t->is_graph && (cap->has & HAS_SHAPES) != 0;
    t->is_fp64 |= name.rate == RATE_FP64 && (name.family == FAMILY_GEMM_TENSOR || !is_typed);
    t->family = (uint8_t)kernel_family_of(op, name, is_float);
    t->is_simt = (t->family == FAMILY_GEMM_SIMT || t->family == FAMILY_CONV) &&
                 kernel_rate_is_simt(name.rate, is_float);
}

void host_timeline_families(const struct capture *cap, struct device_tasks *tasks,
                            const struct host_timelines *host)
{
    struct hash types = {0}, memo = {0};

    for (size_t i = 0; i < tasks->n; i++) {
        struct device_task *t = &tasks->at[i];
        if (t->class == TASK_COMPUTE)
            set_family(cap, t, t->call != NO_CALL ? &host->calls[t->call] : NULL, &types, &memo);
    }
    hash_free(&types);
    hash_free(&memo);
}
