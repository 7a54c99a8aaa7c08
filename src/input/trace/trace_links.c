/* Arrows by the numbers of calls. */
#include "input/trace/trace_links.h"

/* The number of a call; false for none. */
static bool links_number_of(const struct capture *cap, size_t slice, uint64_t *number)
{
    struct attr link = capture_slice_attr(cap, slice, KEY_LINK);

    *number = (uint64_t)link.number;
    return link.type == ATTR_INT && link.number > 0;
}

/* Device work that no launch points to, by slice. */
static bool *find_lonely(const struct capture *cap, size_t first, size_t *n)
{
    bool *is_lonely = mem_grow(NULL, sizeof(*is_lonely), cap->slices.n + 1);

    *n = 0;
    for (size_t i = 0; i < cap->slices.n; i++) {
        is_lonely[i] = i >= first && slice_is_kernel((enum slice_kind)cap->slices.kind[i]);
        *n += is_lonely[i];
    }
    for (size_t i = 0; i < cap->flows.n; i++) {
        const struct flow *f = &cap->flows.at[i];
        if (f->kind == FLOW_LAUNCH && is_lonely[f->to]) {
            is_lonely[f->to] = false;
            --*n;
        }
    }
    return is_lonely;
}

void trace_links_add(struct capture *cap, size_t first)
{
    size_t n;
    bool *is_lonely = find_lonely(cap, first, &n);
    struct hash calls = {0};
    uint64_t number;
    uint32_t call;

    for (size_t i = first; i < cap->slices.n && n > 0; i++)
        if (cap->slices.kind[i] == SLICE_RUNTIME && links_number_of(cap, i, &number))
            hash_add(&calls, number, (uint32_t)i);
    for (size_t i = first; i < cap->slices.n && calls.n > 0; i++)
        if (is_lonely[i] && links_number_of(cap, i, &number) && hash_get(&calls, number, &call))
            capture_flow(cap, FLOW_LAUNCH, call, (uint32_t)i);
    hash_free(&calls);
    mem_free(is_lonely);
}
