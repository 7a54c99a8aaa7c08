/*
 * Times of kernels handed up the tree of host events.
 */
#include "analysis/ops/op_stats.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/arch/arch.h"
#include "analysis/diagnose/kernel_families.h"
#include "analysis/ops/module_tree.h"
#include "analysis/ops/slice_work.h"
#include "ops/kernel_family.h"

struct finder {
    struct study *st;
    const struct capture *cap;
    const struct op_tree *tree;
    struct op_stats *out;
    uint32_t *key_of_name; /* by name: row + 1, for keys that names alone tell */
    struct hash key_of_pair;
    struct intern classes;
    VEC_OF(struct op_stat) rows;
    VEC_OF(uint32_t) seen; /* by row: the kernel that was counted last, + 1 */
    struct slice_works slice_works;
    lane_id ranges; /* thread of most ranges; cap->lanes.n: none */
};

static uint32_t stats_add_row(struct finder *f, struct op_stat row)
{
    vec_push(&f->rows, row);
    vec_push(&f->seen, 0);
    return (uint32_t)f->rows.n - 1;
}

/* ---- what a host event counts for ---- */

static uint32_t key_by_name(struct finder *f, uint32_t slice)
{
    strid name = f->cap->slices.name[slice];

    if (f->key_of_name[name] == 0)
        f->key_of_name[name] =
            stats_add_row(f, (struct op_stat){.name = capture_text(f->cap, name)}) + 1;
    return f->key_of_name[name] - 1;
}

static uint32_t key_by_shape(struct finder *f, uint32_t slice)
{
    struct attr shapes = capture_slice_attr(f->cap, slice, KEY_INPUT_SHAPES);
    struct attr types = capture_slice_attr(f->cap, slice, KEY_INPUT_DTYPES);
    strid shape = shapes.type == ATTR_TEXT ? shapes.text : 0;
    strid type = types.type == ATTR_TEXT ? types.text : 0;
    strid name = f->cap->slices.name[slice];
    uint64_t key = hash_mix((uint64_t)name << 32 | shape, type);
    uint32_t row = hash_add(&f->key_of_pair, key, (uint32_t)f->rows.n);

    if (row == f->rows.n)
        stats_add_row(f, (struct op_stat){.name = capture_text(f->cap, name),
                                          .shapes = capture_text(f->cap, shape),
                                          .types = capture_text(f->cap, type)});
    return row;
}

static uint32_t key_by_class(struct finder *f, uint32_t slice)
{
    strid name = f->cap->slices.name[slice];

    if (f->key_of_name[name] == 0) {
        struct str class = module_class_of(capture_text(f->cap, name));
        if (class.n == 0)
            return OP_TREE_NONE;
        uint32_t row =
            hash_add(&f->key_of_pair, intern_put(&f->classes, class), (uint32_t)f->rows.n);
        if (row == f->rows.n)
            stats_add_row(f, (struct op_stat){.name = class});
        f->key_of_name[name] = row + 1;
    }
    return f->key_of_name[name] - 1;
}

/* The row of a host event, or OP_TREE_NONE when it is none of what is counted. */
static uint32_t stats_key_of(struct finder *f, uint32_t slice)
{
    enum slice_kind kind = (enum slice_kind)f->cap->slices.kind[slice];

    switch (f->out->by) {
    case OP_BY_OP:
        return kind == SLICE_HOST_OP ? key_by_name(f, slice) : OP_TREE_NONE;
    case OP_BY_SHAPE:
        return kind == SLICE_HOST_OP ? key_by_shape(f, slice) : OP_TREE_NONE;
    case OP_BY_MODULE:
        return kind == SLICE_PYTHON ? key_by_class(f, slice) : OP_TREE_NONE;
    case OP_BY_RANGE:
        return kind == SLICE_ANNOTATION || kind == SLICE_STEP ? key_by_name(f, slice)
                                                              : OP_TREE_NONE;
    default:
        return OP_TREE_NONE;
    }
}

/* The event that counts, from `slice` outwards. */
static uint32_t counted(struct finder *f, uint32_t slice, uint32_t *row)
{
    for (; slice != OP_TREE_NONE; slice = f->tree->parent[slice]) {
        *row = stats_key_of(f, slice);
        if (*row != OP_TREE_NONE)
            return slice;
    }
    *row = OP_TREE_NONE;
    return OP_TREE_NONE;
}

/* ---- work ---- */

static void add_work(struct finder *f, size_t slice, uint32_t row)
{
    if (f->cap->slices.kind[slice] != SLICE_HOST_OP)
        return;
    uint32_t place = slice_works_find(&f->slice_works, slice, false);
    if (place == SLICE_WORKS_NONE)
        return;
    const struct recorded_work *work = &f->slice_works.at.at[place];
    f->rows.at[row].flops += work->flops;
    if (study_kernels(f->st).n == 0) /* else the kernels have it */
        f->out->flops += work->is_leaf ? work->flops : 0;
}

/* ---- host time ---- */

static void add_host(struct finder *f)
{
    const struct slices *s = &f->cap->slices;
    uint32_t row, outer;

    for (size_t i = 0; i < s->n; i++) {
        if (s->kind[i] < SLICE_HOST_OP || s->kind[i] > SLICE_STEP ||
            f->cap->lanes.at[s->lane[i]].key.kind != LANE_THREAD)
            continue;
        row = stats_key_of(f, (uint32_t)i);
        if (row == OP_TREE_NONE)
            continue;
        struct op_stat *own = &f->rows.at[row];
        own->calls++;
        add_work(f, i, row);
        own->own_host = nanos_add(own->own_host, s->dur[i]);
        uint32_t up = counted(f, f->tree->parent[i], &outer);
        bool is_inside = false;
        if (up != OP_TREE_NONE)
            f->rows.at[outer].own_host = nanos_sub(f->rows.at[outer].own_host, s->dur[i]);
        while (up != OP_TREE_NONE && !is_inside) {
            is_inside = outer == row;
            up = counted(f, f->tree->parent[up], &outer);
        }
        if (!is_inside)
            f->rows.at[row].host = nanos_add(f->rows.at[row].host, s->dur[i]);
    }
}

/* ---- device time ---- */

static void add_own(struct finder *f, uint32_t row, nanos duration)
{
    assert(row < f->rows.n && f->rows.at != NULL);
    f->rows.at[row].own_kernels++;
    f->rows.at[row].own_device = nanos_add(f->rows.at[row].own_device, duration);
}

static void add_device(struct finder *f, uint32_t row, size_t kernel, nanos duration)
{
    const struct kernel_work *work = &f->out->works->at[kernel];
    struct op_stat *to = &f->rows.at[row];

    to->kernels++;
    to->device = nanos_add(to->device, duration);
    to->effort.flops += work->flops;
    to->effort.bytes += work->bytes;
    to->effort.roof += work->roof;
    if (work->state == WORK_KNOWN)
        to->effort.known = nanos_add(to->effort.known, duration);
    if (work->roof > 0)
        to->effort.rated = nanos_add(to->effort.rated, duration);
}

/* Where the walk up from a kernel begins. */
static uint32_t start_of(struct finder *f, size_t kernel)
{
    uint32_t launch = f->tree->launch[kernel], row;

    if (f->out->by == OP_BY_MODULE) {
        const struct module_tree *t = study_module_tree(f->st);
        uint32_t call = t->of_kernel[kernel];
        return call != MODULE_NONE ? t->calls[call].slice : OP_TREE_NONE;
    }
    if (f->out->by == OP_BY_RANGE && launch != OP_TREE_NONE && f->ranges < f->cap->lanes.n &&
        counted(f, launch, &row) == OP_TREE_NONE) {
        /* The innermost event of the ranges' thread at a time: the thread that runs the backward
         * pass works for the one that waits for it. */
        const struct slices *s = &f->cap->slices;
        const struct lane *lane = &f->cap->lanes.at[f->ranges];
        size_t place;
        vec_bisect(place, lane->n, i, s->begin[lane->first + i] <= f->cap->slices.begin[launch]);
        if (place == 0)
            return OP_TREE_NONE;
        uint32_t at = (uint32_t)(lane->first + place - 1);
        while (at != OP_TREE_NONE && slices_end(s, at) <= f->cap->slices.begin[launch])
            at = f->tree->parent[at];
        return at;
    }
    return launch;
}

static void stats_add_kernel(struct finder *f, size_t kernel, nanos duration)
{
    uint32_t row, at = counted(f, start_of(f, kernel), &row), stamp = (uint32_t)kernel + 1;

    if (at == OP_TREE_NONE) {
        f->out->outside_kernels++;
        f->out->outside = nanos_add(f->out->outside, duration);
        return;
    }
    add_own(f, row, duration);
    for (; at != OP_TREE_NONE; at = counted(f, f->tree->parent[at], &row)) {
        if (f->seen.at[row] == stamp)
            continue;
        f->seen.at[row] = stamp;
        add_device(f, row, kernel, duration);
    }
}

static void add_simple(struct finder *f, uint32_t row, size_t kernel)
{
    nanos duration = f->cap->slices.dur[study_kernels(f->st).at[kernel]];

    add_own(f, row, duration);
    add_device(f, row, kernel, duration);
}

/* Families of computing kernels, then communication and copies as rows of their own. */
static void by_family(struct finder *f)
{
    struct kernel_order kernels = study_kernels(f->st);
    const uint8_t *of_slice = study_kernel_families(f->st)->of_slice;

    for (int i = 0; i < KERNEL_FAMILIES; i++)
        stats_add_row(f,
                      (struct op_stat){.name = str_of(kernel_family_name((enum kernel_family)i))});
    uint32_t comm = stats_add_row(f, (struct op_stat){.name = S("communication")});
    uint32_t copy = stats_add_row(f, (struct op_stat){.name = S("copy")});
    for (size_t i = 0; i < kernels.n; i++) {
        enum slice_kind kind = (enum slice_kind)f->cap->slices.kind[kernels.at[i]];
        add_simple(f,
                   slice_is_comm(kind)   ? comm
                   : kind == SLICE_COPY  ? copy
                   : kind == SLICE_AICPU ? (uint32_t)FAMILY_AICPU
                                         : (uint32_t)of_slice[kernels.at[i]],
                   i);
    }
}

static void by_layer(struct finder *f)
{
    struct kernel_order kernels = study_kernels(f->st);
    struct op_layers layers = op_layers_find(f->st);

    for (size_t i = 0; i < layers.n; i++)
        stats_add_row(f, (struct op_stat){.name = layers.names[i]});
    for (size_t i = 0; i < kernels.n; i++) {
        if (layers.of_kernel[i] != OP_TREE_NONE) {
            add_simple(f, layers.of_kernel[i], i);
            continue;
        }
        f->out->outside_kernels++;
        f->out->outside = nanos_add(f->out->outside, f->cap->slices.dur[kernels.at[i]]);
    }
}

static void by_tree(struct finder *f)
{
    struct kernel_order kernels = study_kernels(f->st);

    f->key_of_name = ARENA_ARRAY(&f->st->scratch, uint32_t, f->cap->strings.strings.n);
    intern_init(&f->classes);
    if (f->out->by == OP_BY_RANGE) {
        const struct slices *s = &f->cap->slices;
        size_t most = 0;
        f->ranges = (lane_id)f->cap->lanes.n;
        for (lane_id i = 0; i < f->cap->lanes.n; i++) {
            const struct lane *lane = &f->cap->lanes.at[i];
            size_t n = 0;
            for (size_t k = lane->first; lane->key.kind == LANE_THREAD && k < lane->first + lane->n;
                 k++)
                n += s->kind[k] == SLICE_ANNOTATION || s->kind[k] == SLICE_STEP;
            if (n > most) {
                most = n;
                f->ranges = i;
            }
        }
    }
    add_host(f);
    for (size_t i = 0; i < kernels.n; i++)
        stats_add_kernel(f, i, f->cap->slices.dur[kernels.at[i]]);
    intern_fini(&f->classes);
    hash_free(&f->key_of_pair);
}

/* ---- the result ---- */

ORDER_BY(largest_first, struct op_stat,
         ORDER(y->device, x->device) ?: ORDER(y->own_device, x->own_device)
                                    ?: ORDER(y->host, x->host) ?: str_compare(x->name, y->name)
                                    ?: str_compare(x->shapes, y->shapes)
                                    ?: str_compare(x->types, y->types));

double op_stat_headroom(const struct op_stat *s)
{
    return (double)s->effort.rated - s->effort.roof;
}

ORDER_BY(most_headroom_first, struct op_stat,
         ORDER(op_stat_headroom(y), op_stat_headroom(x)) ?: largest_first(x, y));

static void stats_finish(struct finder *f, enum op_order order)
{
    struct op_stats *out = f->out;

    out->at = ARENA_ARRAY(&f->st->scratch, struct op_stat, f->rows.n);
    for (size_t i = 0; i < f->rows.n; i++) {
        struct op_stat *row = &f->rows.at[i];
        /* Work of a row without kernels of its own is that of the rows inside. */
        if ((row->calls == 0 && row->kernels == 0) ||
            (order == OP_ORDER_HEADROOM && row->own_kernels == 0))
            continue;
        row->share = num_share(row->device, out->device);
        row->own_share = num_share(row->own_device, out->device);
        row->own_host = row->own_host > 0 ? row->own_host : 0; /* events that overlap */
        row->flops = row->flops > 0 ? row->flops : row->effort.flops;
        out->at[out->n++] = *row;
    }
    if (order == OP_ORDER_HEADROOM && out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), most_headroom_first);
    else if (out->by != OP_BY_LAYER && out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), largest_first);
}

static struct op_stats *find_by(struct study *st, const struct op_options *o, enum op_by by)
{
    struct op_stats *out = ARENA_NEW(&st->scratch, struct op_stats);
    struct finder f = {.st = st, .cap = st->cap, .tree = study_op_tree(st), .out = out};
    struct kernel_order kernels = study_kernels(st);

    f.slice_works = slice_works_of(st->cap);
    *out = (struct op_stats){.by = by,
                             .top = o->top,
                             .kernels = kernels.n,
                             .linked = f.tree->linked,
                             .works = kernel_works_find(st, o->device)};
    out->steps = op_steps_find(st, out->works, &out->n_steps);
    for (size_t i = 0; i < kernels.n; i++) {
        out->device = nanos_add(out->device, st->cap->slices.dur[kernels.at[i]]);
        out->flops += out->works->at[i].flops;
    }
    if (by == OP_BY_FAMILY)
        by_family(&f);
    else if (by == OP_BY_LAYER)
        by_layer(&f);
    else
        by_tree(&f);
    stats_finish(&f, o->order);
    vec_free(&f.rows);
    vec_free(&f.seen);
    slice_works_free(&f.slice_works);
    return out;
}

/* ---- kernels by the layers of the architecture ---- */

struct op_layers op_layers_find(struct study *st)
{
    const struct arch *a = arch_find(st, &(struct arch_options){.name = str_of(st->cap->name)});
    const struct arch_layers *l = a->layers;
    struct op_layers out = {.of_kernel = ARENA_ARRAY(&st->scratch, uint32_t, study_kernels(st).n)};

    for (size_t i = 0; i < study_kernels(st).n; i++)
        out.of_kernel[i] = OP_TREE_NONE;
    for (size_t i = 0; i < l->n; i++) {
        const struct arch_layer *layer = &l->at[i];
        for (size_t k = layer->first; k < layer->end; k++)
            out.of_kernel[k] = (uint32_t)layer->index;
        if (layer->index >= out.n)
            out.n = layer->index + 1;
    }
    out.names = ARENA_ARRAY(&st->scratch, struct str, out.n);
    for (size_t i = 0; i < l->n; i++)
        if (out.names[l->at[i].index].n == 0)
            out.names[l->at[i].index] = arena_format(&st->scratch, "%zu %s", l->at[i].index,
                                                     layer_kind_name(l->at[i].kind));
    return out;
}

const struct op_stats *op_stats_find(struct study *st, const struct op_options *o)
{
    struct op_stats *out = find_by(st, o, o->by == OP_BY_AUTO ? OP_BY_OP : o->by);

    /* Launches by a thread of the driver lie in no operator, and a table of zeros helps nobody. */
    if (o->by == OP_BY_AUTO && out->device > 0 && out->outside == out->device) {
        out = find_by(st, o, OP_BY_FAMILY);
        out->is_fallback = true;
    }
    return out;
}
