/*
 * Layers of one type put together: statistics, a representative, variants.
 */
#include "analysis/arch/arch_types.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/arch/arch_draw.h"
#include "analysis/study.h"
#include "base/tables/ranked.h"
#include "text/arch.h"

/* ---- statistics ---- */

static struct arch_spread spread_of_values(double *values, size_t n)
{
    struct arch_spread out = {0};
    double sum = 0, square = 0;

    if (n == 0)
        return out;
    ranked_sort(values, n);
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    out.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (values[i] - out.mean) * (values[i] - out.mean);
    out.deviation = sqrt(square / (double)n);
    out.ratio = out.mean > 0 ? out.deviation / out.mean : 0;
    out.min = values[0];
    out.max = values[n - 1];
    out.p10 = ranked_at(values, n, 0.10);
    out.median = ranked_at(values, n, 0.50);
    out.p90 = ranked_at(values, n, 0.90);
    return out;
}

struct str arch_ranges(struct arena *arena, const size_t *numbers, size_t n, const char *prefix)
{
    struct str *parts = ARENA_ARRAY(arena, struct str, n);
    size_t count = 0;

    for (size_t i = 0; i < n;) {
        size_t j = i;
        while (j + 1 < n && numbers[j + 1] == numbers[j] + 1)
            j++;
        parts[count++] =
            i == j ? arena_format(arena, "%s%zu", prefix, numbers[i])
                   : arena_format(arena, "%s%zu–%s%zu", prefix, numbers[i], prefix, numbers[j]);
        i = j + 1;
    }
    return arena_join(arena, parts, count, S(", "));
}

/* ---- types ---- */

struct finder {
    struct study *st;
    const struct arch_ops *ops;
    const struct arch_markers *m;
    const struct arch_layers *layers;
    struct arch_types *out;
    struct kernel_order kernels;
    const struct slices *s;
};

/* Complete passes count; when all are partial, they do. */
static bool counts(const struct finder *f, size_t pass)
{
    return f->layers->complete == 0 || !f->layers->passes[pass].is_partial;
}

static size_t types_type_of(struct finder *f, const struct arch_layer *layer)
{
    for (size_t i = 0; i < f->out->n; i++) {
        const struct arch_type *type = &f->out->at[i];
        if (type->kind == layer->kind && type->phase == layer->phase &&
            type->is_mla == layer->is_mla && type->is_backward == layer->is_backward)
            return i;
    }
    f->out->at[f->out->n] = (struct arch_type){.kind = layer->kind,
                                               .phase = layer->phase,
                                               .is_mla = layer->is_mla,
                                               .is_backward = layer->is_backward,
                                               .is_even = true};
    return f->out->n++;
}

enum { TYPES_MOST = LAYER_KINDS * 3 * 4 };

static int by_wall(const void *a, const void *b, void *ctx)
{
    const struct arch_pass *passes = ctx;
    const struct arch_pass *x = &passes[*(const size_t *)a], *y = &passes[*(const size_t *)b];

    return ORDER(arch_span(x->at), arch_span(y->at)) ?: ORDER(x, y);
}

static size_t median_pass(struct finder *f)
{
    struct arena_mark mark = arena_mark(&f->st->scratch);
    size_t *order = ARENA_ARRAY(&f->st->scratch, size_t, f->layers->n_passes);
    size_t n = 0, chosen = 0;

    for (size_t i = 0; i < f->layers->n_passes; i++)
        if (counts(f, i) && f->layers->passes[i].layers > 0)
            order[n++] = i;
    if (n > 0) {
        qsort_r(order, n, sizeof(*order), by_wall, f->layers->passes);
        chosen = order[(n - 1) / 2];
    }
    arena_rewind(&f->st->scratch, mark);
    return chosen;
}

/* A pass that has the type: the median one, or the first that has it. */
static size_t pass_with(const struct finder *f, size_t type)
{
    const struct arch_pass *pass = &f->layers->passes[f->out->median_pass];

    for (size_t k = 0; k < pass->layers; k++)
        if (f->layers->at[pass->layer_first + k].type == type)
            return f->out->median_pass;
    for (size_t i = 0; i < f->layers->n; i++)
        if (f->layers->at[i].type == type && counts(f, f->layers->at[i].pass))
            return f->layers->at[i].pass;
    return f->out->median_pass;
}

static int by_layer_wall(const void *a, const void *b, void *ctx)
{
    const struct arch_layer *layers = ctx;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return ORDER(arch_span(layers[x].at), arch_span(layers[y].at)) ?: ORDER(x, y);
}

/* Numbers of a pass's layers: decode layers after prefill ones are counted apart. */
static size_t *number_layers(struct finder *f, const struct arch_pass *pass)
{
    size_t *numbers = ARENA_ARRAY(&f->st->scratch, size_t, pass->layers);
    size_t decode = 0;

    for (size_t k = 0; k < pass->layers; k++) {
        bool is_tail = f->layers->has_both_phases &&
                       f->layers->at[pass->layer_first + k].phase == PHASE_DECODE;
        numbers[k] = is_tail ? decode : k - decode;
        decode += is_tail;
    }
    return numbers;
}

static void set_numbers(struct finder *f, size_t number)
{
    struct arch_type *type = &f->out->at[number];
    const struct arch_pass *pass = &f->layers->passes[pass_with(f, number)];
    const size_t *numbers = number_layers(f, pass);
    size_t *all = ARENA_ARRAY(&f->st->scratch, size_t, pass->layers);
    size_t *members = ARENA_ARRAY(&f->st->scratch, size_t, pass->layers);
    size_t n = 0;

    type->is_tail = f->layers->has_both_phases && type->phase == PHASE_DECODE;
    for (size_t k = 0; k < pass->layers; k++) {
        if (f->layers->at[pass->layer_first + k].type != number)
            continue;
        all[n] = numbers[k];
        members[n++] = pass->layer_first + k;
    }
    type->layers = arch_ranges(&f->st->scratch, all, n, type->is_tail ? "D" : "");
    if (n > 0) {
        qsort_r(members, n, sizeof(*members), by_layer_wall, f->layers->at);
        type->representative = members[(n - 1) / 2];
    }
}

/* How often the type is in each complete pass: the most frequent number. */
static void count_per_pass(struct finder *f, size_t number)
{
    struct arch_type *type = &f->out->at[number];
    bool is_first = true;

    for (size_t i = 0; i < f->layers->n_passes; i++) {
        const struct arch_pass *pass = &f->layers->passes[i];
        size_t n = 0;
        if (!counts(f, i))
            continue;
        for (size_t k = 0; k < pass->layers; k++)
            n += f->layers->at[pass->layer_first + k].type == number;
        if (n > 0 && is_first) {
            type->count_per_pass = n;
            is_first = false;
        }
        type->is_even &= n == 0 || n == type->count_per_pass;
    }
}

static nanos dfc_of(const struct finder *f, const struct arch_layer *layer)
{
    nanos sum = 0;

    for (size_t i = layer->first; i < layer->end; i++)
        if (f->ops->at[f->ops->of_kernel[i]].is_dfc)
            sum = nanos_add(sum, f->s->dur[f->kernels.at[i]]);
    return sum;
}

static nanos attention_of(const struct finder *f, const struct arch_layer *layer)
{
    return layer->marker == SIZE_MAX ? 0 : f->s->dur[f->kernels.at[layer->marker]];
}

static void measure_type(struct finder *f, size_t number)
{
    struct arch_type *type = &f->out->at[number];
    struct arena_mark mark = arena_mark(&f->st->scratch);
    double *values[6];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        values[i] = ARENA_ARRAY(&f->st->scratch, double, f->layers->n);
    for (size_t i = 0; i < f->layers->n; i++) {
        const struct arch_layer *layer = &f->layers->at[i];
        if (layer->type != number || !counts(f, layer->pass))
            continue;
        nanos wall = arch_span(layer->at), attention = attention_of(f, layer);
        type->has_sampling |= layer->has_sampling;
        values[0][n] = (double)(layer->end - layer->first);
        values[1][n] = (double)wall;
        values[2][n] = num_share(attention, wall);
        values[3][n] = (double)attention;
        values[4][n] = (double)dfc_of(f, layer);
        values[5][n++] = (double)nanos_sub(wall, attention);
    }
    type->count = n;
    type->kernels = spread_of_values(values[0], n);
    type->wall = spread_of_values(values[1], n);
    type->attention_share = spread_of_values(values[2], n);
    type->attention = spread_of_values(values[3], n);
    type->dfc = spread_of_values(values[4], n);
    type->post = spread_of_values(values[5], n);
    arena_rewind(&f->st->scratch, mark);
}

/* ---- the representative layer ---- */

/* Where an operator or a lane stands in the list of a role; one more than its place. */
struct type_slots {
    uint32_t *op, *lane;
};

static void add_op(struct finder *f, struct arch_role *role, uint32_t *slot, uint32_t op,
                   nanos duration)
{
    const struct arch_op *of = &f->ops->at[op];

    if (slot[op] == 0) {
        struct str kernel = str_equal(of->name, of->label) ? S("") : of->name;
        role->ops[role->n_ops++] = (struct role_op){.op = op, .label = of->label, .kernel = kernel};
        slot[op] = (uint32_t)role->n_ops;
    }
    role->ops[slot[op] - 1].count++;
    role->ops[slot[op] - 1].total = nanos_add(role->ops[slot[op] - 1].total, duration);
}

static void sum_role(struct finder *f, const struct arch_layer *layer, const uint8_t *roles,
                     struct type_slots slots, struct arch_role *role)
{
    size_t n = 0;
    nanos until = INT64_MIN;

    for (size_t i = layer->first; i < layer->end; i++)
        n += roles[i - layer->first] == role->role;
    role->lanes = ARENA_ARRAY(&f->st->scratch, uint32_t, n);
    role->streams = ARENA_ARRAY(&f->st->scratch, struct str, n);
    role->ops = ARENA_ARRAY(&f->st->scratch, struct role_op, n);
    for (size_t i = layer->first; i < layer->end; i++) {
        if (roles[i - layer->first] != role->role)
            continue;
        nanos begin = f->s->begin[f->kernels.at[i]], end = slices_end(f->s, f->kernels.at[i]);
        role->kernels++;
        uint32_t lane = f->s->lane[f->kernels.at[i]];
        if (slots.lane[lane] == 0) {
            role->streams[role->n_lanes] = arch_stream_name(f->st, lane);
            role->lanes[role->n_lanes++] = lane;
            slots.lane[lane] = (uint32_t)role->n_lanes;
        }
        add_op(f, role, slots.op, f->ops->of_kernel[i], f->s->dur[f->kernels.at[i]]);
        if (end > until) {
            role->wall = nanos_add(role->wall, nanos_sub(end, begin > until ? begin : until));
            until = end;
        }
    }
    for (size_t i = 0; i < role->n_ops; i++)
        slots.op[role->ops[i].op] = 0;
    for (size_t i = 0; i < role->n_lanes; i++)
        slots.lane[role->lanes[i]] = 0;
}

enum { OVERLAP_KERNELS = 100000 }; /* as far as one is followed into later layers */

/* Half of the kernel or more runs while the main stream works on other layers. */
static bool is_overlapped(const struct finder *f, const struct arch_layer *layer, size_t kernel)
{
    struct interval own = {f->s->begin[f->kernels.at[kernel]],
                           slices_end(f->s, f->kernels.at[kernel])};
    nanos covered = 0;

    if (f->s->lane[f->kernels.at[kernel]] == f->m->main_lane)
        return false;
    for (size_t i = layer->end; i < f->kernels.n && i < layer->end + OVERLAP_KERNELS; i++) {
        size_t slice = f->kernels.at[i];
        if (f->s->begin[slice] >= own.end)
            break;
        if (f->s->lane[slice] != f->m->main_lane)
            continue;
        nanos begin = f->s->begin[slice] > own.begin ? f->s->begin[slice] : own.begin;
        nanos end = slices_end(f->s, slice) < own.end ? slices_end(f->s, slice) : own.end;
        if (end > begin)
            covered = nanos_add(covered, nanos_sub(end, begin));
    }
    return covered > 0 && covered >= arch_span(own) / 2;
}

static void grow_tree(struct finder *f, const struct arch_layer *layer, const uint8_t *roles,
                      struct arch_type *type)
{
    size_t n = layer->end - layer->first, used = 0;
    struct tree_item *items = ARENA_ARRAY(&f->st->scratch, struct tree_item, n);

    type->tree = ARENA_ARRAY(&f->st->scratch, struct tree_branch, n);
    for (size_t i = layer->first; i < layer->end; i++) {
        enum role role = (enum role)roles[i - layer->first];
        struct tree_branch *branch = &type->tree[type->n_branches];
        size_t slice = f->kernels.at[i];
        if (role == ROLE_SMALL)
            continue;
        if (type->n_branches > 0 && branch[-1].role == role) {
            branch--;
        } else {
            *branch = (struct tree_branch){role, &items[used], 0};
            type->n_branches++;
        }
        const struct tree_item *last = &branch->items[branch->n > 0 ? branch->n - 1 : 0];
        if (branch->n == 0 || last->op != f->ops->of_kernel[i] || last->lane != f->s->lane[slice]) {
            branch->items[branch->n++] =
                (struct tree_item){.op = f->ops->of_kernel[i], .lane = f->s->lane[slice]};
            used++;
        }
        struct tree_item *item = &branch->items[branch->n - 1];
        item->count++;
        item->duration = nanos_add(item->duration, f->s->dur[slice]);
        item->is_overlapped |= is_overlapped(f, layer, i);
    }
}

static void look_inside(struct finder *f, struct arch_type *type)
{
    const struct arch_layer *layer = &f->layers->at[type->representative];
    uint8_t *roles = ARENA_ARRAY(&f->st->scratch, uint8_t, layer->end - layer->first);
    struct type_slots slots = {ARENA_ARRAY(&f->st->scratch, uint32_t, f->ops->n),
                               ARENA_ARRAY(&f->st->scratch, uint32_t, f->st->cap->lanes.n)};

    arch_roles_assign(f->ops, layer, roles);
    type->roles = ARENA_ARRAY(&f->st->scratch, struct arch_role, ROLES);
    for (int role = 0; role < ROLES; role++) {
        struct arch_role found = {.role = (enum role)role,
                                  .name = role_name((enum role)role, type->kind)};
        sum_role(f, layer, roles, slots, &found);
        found.share = num_share(found.wall, arch_span(layer->at));
        if (found.kernels > 0)
            type->roles[type->n_roles++] = found;
    }
    grow_tree(f, layer, roles, type);
    nanos best = -1, sum = 0;
    for (size_t i = 0; i < type->n_roles; i++)
        for (size_t k = 0; k < type->roles[i].n_ops; k++) {
            const struct role_op *op = &type->roles[i].ops[k];
            sum = nanos_add(sum, op->total);
            if (op->total > best) {
                best = op->total;
                type->dominant = op->op;
            }
        }
    type->dominant_share = num_share(best, sum);
}

/* ---- variants and anomalies ---- */

enum { VARIANTS_MOST = 8 };

/* Share of the kernels in which two layers differ, by how often they use each operator. */
static double difference(struct finder *f, const struct arch_layer *a, const struct arch_layer *b)
{
    struct arena_mark mark = arena_mark(&f->st->scratch);
    size_t na = a->end - a->first, nb = b->end - b->first, shared = 0;
    struct hash count = {0};

    for (size_t i = a->first; i < a->end; i++) {
        uint32_t n = 0;
        hash_get(&count, f->ops->of_kernel[i], &n);
        hash_put(&count, f->ops->of_kernel[i], n + 1);
    }
    for (size_t i = b->first; i < b->end; i++) {
        uint32_t n = 0;
        if (hash_get(&count, f->ops->of_kernel[i], &n) && n > 0) {
            hash_put(&count, f->ops->of_kernel[i], n - 1);
            shared++;
        }
    }
    hash_free(&count);
    arena_rewind(&f->st->scratch, mark);
    size_t most = na > nb ? na : nb;
    return num_share(most - shared, most);
}

static void find_variants(struct finder *f, size_t number)
{
    struct arch_type *type = &f->out->at[number];
    const struct arch_layer *first[VARIANTS_MOST] = {NULL};
    size_t pass = pass_with(f, number), n = 0;
    size_t begin = f->layers->passes[pass].layer_first;
    const size_t *in_pass = number_layers(f, &f->layers->passes[pass]);
    struct hash seen = {0};

    for (size_t i = 0; i < f->layers->n; i++) {
        struct arch_layer *layer = &f->layers->at[i];
        uint32_t variant;
        if (layer->type != number || !counts(f, layer->pass))
            continue;
        if (!hash_get(&seen, layer->signature, &variant)) {
            for (variant = 0; variant < n; variant++)
                if (difference(f, first[variant], layer) <= 0.1)
                    break;
            if (variant == n && n < VARIANTS_MOST)
                first[n++] = layer;
            if (variant == VARIANTS_MOST)
                variant--;
            hash_put(&seen, layer->signature, variant);
        }
        layer->variant = (char)('a' + variant);
    }
    hash_free(&seen);
    type->variants = ARENA_ARRAY(&f->st->scratch, struct arch_variant, n);
    type->n_variants = n;
    for (size_t v = 0; v < n; v++) {
        size_t *numbers = ARENA_ARRAY(&f->st->scratch, size_t, f->layers->passes[pass].layers);
        size_t count = 0, all = 0;
        for (size_t k = 0; k < f->layers->passes[pass].layers; k++) {
            const struct arch_layer *layer = &f->layers->at[begin + k];
            if (layer->type == number && layer->variant == (char)('a' + v))
                numbers[count++] = in_pass[k];
        }
        for (size_t i = 0; i < f->layers->n; i++)
            all += f->layers->at[i].type == number && f->layers->at[i].variant == (char)('a' + v);
        type->variants[v] = (struct arch_variant){
            .name = (char)('a' + v),
            .count = all,
            .layers = arch_ranges(&f->st->scratch, numbers, count, type->is_tail ? "D" : ""),
            .signature = first[v]->signature,
            .kernels = first[v]->end - first[v]->first,
        };
    }
    for (size_t i = 0; n == 1 && i < f->layers->n; i++)
        if (f->layers->at[i].type == number)
            f->layers->at[i].variant = 0;
}

static void find_anomalies(struct finder *f, size_t number)
{
    struct arch_type *type = &f->out->at[number];
    struct arena *arena = &f->st->scratch;
    size_t warm = 0, extra = 0, aicpu = 0, first_at = SIZE_MAX;
    double worst = 0;

    type->anomalies = ARENA_ARRAY(arena, struct wording, 4);
    for (size_t i = 0; i < f->layers->n; i++) {
        const struct arch_layer *layer = &f->layers->at[i];
        if (layer->type != number || !counts(f, layer->pass))
            continue;
        double ratio = type->wall.median > 0 ? (double)arch_span(layer->at) / type->wall.median : 0;
        if (layer->index == 0 && ratio > 1.25) {
            warm++;
            worst = ratio > worst ? ratio : worst;
        }
        if ((double)(layer->end - layer->first) > type->kernels.median) {
            extra++;
            first_at = first_at == SIZE_MAX ? i : first_at;
        }
        for (size_t k = layer->first; k < layer->end; k++)
            aicpu += f->s->kind[f->kernels.at[k]] == SLICE_AICPU &&
                     f->s->lane[f->kernels.at[k]] == f->m->main_lane;
    }
    if (warm > 0)
        type->anomalies[type->n_anomalies++] =
            WORDING(arena, &arch_text.warm_up, PLACE("times", worst), PLACE("n", warm));
    if (extra > 0)
        type->anomalies[type->n_anomalies++] =
            WORDING(arena, &arch_text.extra_kernels, PLACE("n", extra), PLACE("all", type->count),
                    PLACE("median", type->kernels.median),
                    PLACE("pass", f->layers->passes[f->layers->at[first_at].pass].number),
                    PLACE("layer", f->layers->at[first_at].index),
                    PLACE("kernels", f->layers->at[first_at].end - f->layers->at[first_at].first));
    if (aicpu > 0)
        type->anomalies[type->n_anomalies++] =
            WORDING(arena, &arch_text.aicpu_on_path, PLACE("n", aicpu));
}

/* The last layer before decode ones, or the last of all, unless it represents its type anyway. */
static void find_last(struct finder *f)
{
    const struct arch_pass *pass = &f->layers->passes[f->out->median_pass];
    size_t last = SIZE_MAX;

    for (size_t k = 0; k < pass->layers; k++)
        if (!f->layers->has_both_phases ||
            f->layers->at[pass->layer_first + k].phase != PHASE_DECODE)
            last = pass->layer_first + k;
    if (last == SIZE_MAX || f->layers->method != ARCH_MARKER)
        return;
    const struct arch_layer *layer = &f->layers->at[last];
    if (f->out->at[layer->type].representative == last ||
        f->out->at[layer->type].count_per_pass < 2)
        return;
    struct arch_type *type = ARENA_NEW(&f->st->scratch, struct arch_type);
    *type = (struct arch_type){
        .kind = layer->kind,
        .phase = layer->phase,
        .is_mla = layer->is_mla,
        .has_sampling = layer->has_sampling,
        .representative = last,
    };
    look_inside(f, type);
    f->out->last = type;
}

const struct arch_types *arch_types_find(struct study *st, const struct arch_ops *ops,
                                         const struct arch_markers *markers,
                                         const struct arch_layers *layers)
{
    struct arch_types *out = ARENA_NEW(&st->scratch, struct arch_types);
    struct finder f = {st, ops, markers, layers, out, study_kernels(st), &st->cap->slices};

    out->at = ARENA_ARRAY(&st->scratch, struct arch_type, TYPES_MOST);
    if (layers->n == 0)
        return out;
    for (size_t i = 0; i < layers->n; i++)
        layers->at[i].type = types_type_of(&f, &layers->at[i]);
    out->median_pass = median_pass(&f);
    for (size_t i = 0; i < out->n; i++) {
        count_per_pass(&f, i);
        set_numbers(&f, i);
        measure_type(&f, i);
        find_variants(&f, i);
        find_anomalies(&f, i);
        look_inside(&f, &out->at[i]);
    }
    find_last(&f);
    return out;
}
