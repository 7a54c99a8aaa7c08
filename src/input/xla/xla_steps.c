/* Work, steps and modules of JAX and TensorFlow, from names. */
#include "input/xla/xla_steps.h"

#include <stdlib.h>

#include "capture/classify.h"

enum slice_kind xla_work_kind(struct str name)
{
    static const struct str copies[] = {
        S_INIT("memcpy"),    S_INIT("memset"),      S_INIT("copy-start"),
        S_INIT("copy-done"), S_INIT("slice-start"), S_INIT("slice-done"),
        S_INIT("Copy"),      S_INIT("hipMemcpy"),   S_INIT("FillBuffer"),
    };
    static const struct str collectives[] = {
        S_INIT("all-reduce"),         S_INIT("all-gather"), S_INIT("reduce-scatter"),
        S_INIT("collective-permute"), S_INIT("all-to-all"), S_INIT("collective-broadcast"),
    };

    if (STR_ANY(str_contains, name, collectives))
        return SLICE_COMM;
    if (STR_ANY(str_starts_nocase, name, copies))
        return SLICE_COPY;
    return classify_kernel(VENDOR_NVIDIA, S(""), name, S("")) == SLICE_COMM ? SLICE_COMM
                                                                            : SLICE_COMPUTE;
}

/* Loops and calls stand on the row of the operations inside them. */
static void open_containers(struct capture *cap, size_t first)
{
    struct slices *s = &cap->slices;
    strid row = capture_intern(cap, S("XLA Ops"));

    for (size_t i = first; i + 1 < s->n; i++)
        if (s->lane[i] == s->lane[i + 1] && cap->lanes.at[s->lane[i]].key.name == row &&
            slice_is_kernel((enum slice_kind)s->kind[i]) && s->dur[i + 1] > 0 &&
            s->begin[i + 1] >= s->begin[i] && slices_end(s, i + 1) <= slices_end(s, i) &&
            s->dur[i + 1] < s->dur[i])
            s->kind[i] = SLICE_OTHER;
}

static bool is_wanted(const struct capture *cap, size_t slice, int64_t device)
{
    int32_t own = cap->lanes.at[cap->slices.lane[slice]].key.device;

    return device < 0 || own < 0 || own == device;
}

static void add_mark(struct capture *cap, size_t slice, int64_t number)
{
    vec_push(&cap->marks,
             ((struct mark){.source = MARK_ITERATION,
                            .name = capture_intern_format(cap, "Step %lld", (long long)number),
                            .number = number,
                            .begin = cap->slices.begin[slice],
                            .end = slices_end(&cap->slices, slice)}));
}

static bool mark_steps(struct capture *cap, size_t first, int64_t device)
{
    size_t before = cap->marks.n;

    for (size_t i = first; i < cap->slices.n; i++) {
        struct str name = capture_text(cap, cap->slices.name[i]);
        int64_t number = (int64_t)(cap->marks.n - before);
        if (cap->slices.kind[i] != SLICE_STEP || !is_wanted(cap, i, device) ||
            cap->lanes.at[cap->slices.lane[i]].key.kind != LANE_OTHER)
            continue;
        num_i64(str_part(name, name.n - str_last_digits(name), name.n), &number);
        add_mark(cap, i, number);
    }
    return cap->marks.n > before;
}

/* Ranges that the program gave a step's number. */
static bool mark_numbered(struct capture *cap, size_t first)
{
    size_t before = cap->marks.n;
    strid key = capture_intern(cap, S("step_num"));

    for (size_t i = first; i < cap->slices.n; i++) {
        struct attr attr;
        int64_t number = -1;
        if (cap->slices.kind[i] != SLICE_HOST_OP)
            continue;
        for (struct attr_walk w = attrs_walk(&cap->attrs, cap->slices.set[i]);
             attrs_next(&w, &attr);)
            if (attr.key == key && attr.type == ATTR_TEXT)
                num_i64(capture_text(cap, attr.text), &number);
        for (struct attr_walk w = attrs_walk(&cap->attrs, cap->slices.own[i]);
             attrs_next(&w, &attr);)
            if (attr.key == key && attr.type == ATTR_INT)
                number = attr.number;
        if (number >= 0)
            add_mark(cap, i, number);
    }
    return cap->marks.n > before;
}

/* The name of a module without the number of its program: "jit_step(123)". */
static strid module_of(struct capture *cap, size_t slice)
{
    struct str name = capture_text(cap, cap->slices.name[slice]);

    return capture_intern(cap, str_part(name, 0, str_find_char(name, '(')));
}

static bool is_module(const struct capture *cap, size_t slice, strid row, int64_t device)
{
    return cap->lanes.at[cap->slices.lane[slice]].key.name == row && is_wanted(cap, slice, device);
}

/* Runs of one module. */
struct module_runs {
    strid name;
    nanos total;
    size_t n;
};

ORDER_BY(longest_first, struct module_runs, ORDER(y->total, x->total) ?: ORDER(x->name, y->name));

/* The module that takes most time, if it runs more than once; else 0. */
static strid main_module(struct capture *cap, size_t first, strid row, int64_t device)
{
    VEC_OF(struct module_runs) runs = {0};
    struct hash places = {0};
    strid found = 0;

    for (size_t i = first; i < cap->slices.n; i++) {
        if (!is_module(cap, i, row, device))
            continue;
        struct module_runs one = {module_of(cap, i), cap->slices.dur[i], 1};
        uint32_t fresh = (uint32_t)runs.n, k = hash_add(&places, one.name, fresh);
        if (k == fresh) {
            vec_push(&runs, one);
        } else if (k < runs.n) {
            runs.at[k].total = nanos_add(runs.at[k].total, one.total);
            runs.at[k].n++;
        }
    }
    if (runs.n > 0)
        qsort(runs.at, runs.n, sizeof(*runs.at), longest_first);
    if (runs.n > 0 && runs.at[0].n > 1)
        found = runs.at[0].name;
    hash_free(&places);
    vec_free(&runs);
    return found;
}

/* Without steps: each run of that module is one. */
static void mark_modules(struct capture *cap, size_t first, int64_t device)
{
    strid row = capture_intern(cap, S("XLA Modules"));
    strid module = main_module(cap, first, row, device);
    int64_t n = 0;

    for (size_t i = first; i < cap->slices.n && module != 0; i++)
        if (is_module(cap, i, row, device) && module_of(cap, i) == module)
            add_mark(cap, i, n++);
}

void xla_steps_settle(struct capture *cap, size_t first, int64_t device)
{
    open_containers(cap, first);
    if (!mark_steps(cap, first, device) && !mark_numbered(cap, first))
        mark_modules(cap, first, device);
}
