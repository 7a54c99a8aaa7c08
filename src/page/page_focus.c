/*
 * What an action is about, and the address that shows it.
 */
#include <inttypes.h>

#include "analysis/ops/ops.h"
#include "page/page.h"

enum { NEIGHBOURHOOD = 3 }; /* shown around, in parts of what is shown */

static const struct page_focus nothing = {.slice = NO_SLICE, .step = TASK_NO_STEP};

struct page_focus page_longest_gap(const struct page_set *set, int cause)
{
    const struct accounting *a = set->a;
    struct page_focus best = nothing;

    for (size_t i = 0; i < a->pieces.n; i++) {
        const struct idle_piece *p = &a->pieces.at[i];
        if ((cause >= 0 && p->cause != cause) ||
            p->at.end - p->at.begin <= best.at.end - best.at.begin)
            continue;
        best = (struct page_focus){p->at, a->tasks.at[p->task].slice, p->step, true, p->cause};
    }
    return best;
}

static bool is_of(const struct page_set *set, const struct device_task *t, struct str name)
{
    const struct slices *s = &set->cap->slices;

    if (name.n == 0 || str_equal(capture_text(set->cap, s->name[t->slice]), name))
        return true;
    if (t->call == NO_CALL)
        return false;
    uint32_t op = set->a->host.calls[t->call].op;
    return op != NO_SLICE && str_equal(capture_text(set->cap, s->name[op]), name);
}

struct page_focus page_longest_task(const struct page_set *set, struct str name)
{
    const struct accounting *a = set->a;
    struct page_focus best = nothing;

    for (size_t i = 0; i < a->tasks.n; i++) {
        const struct device_task *t = &a->tasks.at[i];
        if (t->end - t->begin > best.at.end - best.at.begin && is_of(set, t, name))
            best = (struct page_focus){{t->begin, t->end}, t->slice, t->step, false, 0};
    }
    return best;
}

struct str page_link(struct page_file *page, size_t set_at, const struct page_focus *focus)
{
    const struct page_set *set = page->sets[set_at];
    nanos begin = page_time(set, focus->at.begin), end = page_time(set, focus->at.end);
    nanos around = (end - begin) / NEIGHBOURHOOD + 1;
    struct text out = {0};

    text_format(&out, "#v=timeline&t=%" PRId64 "-%" PRId64, begin > around ? begin - around : 0,
                end + around);
    if (set_at > 0)
        text_format(&out, "&set=%zu", set_at);
    if (focus->step != TASK_NO_STEP)
        text_format(&out, "&step=%u", focus->step);
    uint64_t item = page_item(set, focus->slice);
    if (focus->is_gap)
        text_format(&out, "&gap=%" PRId64 "-%" PRId64, begin, end);
    else if (item > 0) {
        uint32_t lane = page_lane_of(set, focus->slice);
        text_format(&out, "&sel=%u.%" PRIu64, lane, item - 1 - set->lanes.at[lane].first);
    }
    struct str link = arena_str(&page->arena, text_view(&out));
    text_free(&out);
    return link;
}

/* By what analysis/ops/ops.h puts kernels together as. */
struct page_focus page_longest_op(const struct page_set *set, struct str key)
{
    const struct op_names *names = ops_names(set->st);
    struct kernel_order order = study_kernels(set->st);
    const struct slices *s = &set->cap->slices;
    struct page_focus best = nothing;
    uint32_t wanted = UINT32_MAX;

    for (uint32_t i = 0; i < names->n && wanted == UINT32_MAX; i++)
        if (str_equal(names->text[i], key))
            wanted = i;
    for (size_t i = 0; i < order.n; i++) {
        uint32_t k = order.at[i];
        if (names->of_kernel[i] != wanted || s->dur[k] <= best.at.end - best.at.begin)
            continue;
        best = (struct page_focus){{s->begin[k], slices_end(s, k)},
                                   k,
                                   set->step[k] > 0 ? set->step[k] - 1 : TASK_NO_STEP,
                                   false,
                                   0};
    }
    return best;
}
