/*
 * Kernels, layers and communication of a set as JSON.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/arch/arch.h"
#include "page/page_data.h"

enum { COMM_MOST = 512, PASSES_MOST = 256, LAYERS_MOST = 2000 }; /* layers of all passes */

/* ---- kernels ---- */

static void sections_put_kernel(struct json_writer *w, const struct page_set *set,
                                const struct page_kernel *k)
{
    const struct page_what *what = &set->whats.at[k->what];
    const struct capture *cap = set->cap;
    uint64_t item = page_item(set, k->longest);
    uint32_t lane = page_lane_of(set, k->longest);
    const int64_t at[] = {lane, item > 0 ? (int64_t)(item - 1 - set->lanes.at[lane].first) : 0};

    json_write_object(w);
    page_put_kernel_what(w, k->what);
    page_put_kernel_name(w, page_name(set, capture_text(cap, what->name)));
    page_put_kernel_op(w, page_name(set, k->op));
    page_put_kernel_family(w, what->family);
    page_put_kernel_kind(w, slice_kind_name((enum slice_kind)what->kind));
    page_put_kernel_shapes(w, page_shape(set, what->shapes));
    page_put_kernel_types(w, page_shape(set, what->types));
    page_put_kernel_count(w, k->count);
    page_put_kernel_total(w, k->total);
    page_put_kernel_mean(w, k->mean);
    page_put_kernel_p95(w, k->p95);
    page_put_kernel_max(w, k->max);
    page_put_kernel_wait(w, k->wait >= 0, k->wait);
    page_put_kernel_per_step(w, k->per_step);
    page_put_kernel_share(w, k->share);
    page_put_kernel_roof(w, k->roof > 0 ? num_round(k->roof, 4) : NAN);
    page_put_kernel_bound(w, k->roof <= 0 ? NULL : k->is_compute ? "compute" : "memory");
    page_put_kernel_headroom(w, k->headroom >= 0, num_i64_of(k->headroom));
    page_put_kernel_flops(w, k->flops > 0 ? k->flops : NAN);
    page_put_kernel_bytes(w, k->bytes > 0 ? k->bytes : NAN);
    page_put_kernel_trend(w, k->trend, k->n_trend);
    page_put_kernel_at(w, at, ARRAY_LEN(at));
    json_write_end(w);
}

void page_json_kernels(struct json_writer *w, const struct page_set *set)
{
    const struct page_kernels *kernels = &set->kernels;

    page_put_set_kernels(w);
    for (size_t i = 0; i < kernels->n; i++)
        sections_put_kernel(w, set, &kernels->at[i]);
    json_write_end(w);
    page_put_set_kernels_total(w, kernels->all);
    if (kernels->device == NULL) {
        page_null_set_device_info(w);
        return;
    }
    page_put_set_device_info(w);
    page_put_device_name(w, kernels->device->name);
    page_put_device_source(w, kernels->device->source);
    page_put_device_flops(w);
    for (int peak = 0; peak < PEAK_COUNT; peak++)
        if (kernels->device->tflops[peak] > 0)
            json_put_f64(w, peak_name((enum peak)peak), kernels->device->tflops[peak] * 1e12);
    json_write_end(w);
    page_put_device_bandwidth(w, kernels->device->gbps > 0 ? kernels->device->gbps * 1e9 : NAN);
    json_write_end(w);
}

/* ---- layers ---- */

static void put_pass(struct json_writer *w, const struct page_set *set,
                     const struct arch_pass *pass)
{
    const struct arch *arch = set->arch;

    json_write_object(w);
    page_put_pass_name(w, pass->number);
    page_put_pass_partial(w, pass->is_partial);
    page_put_pass_from(w, page_time(set, pass->at.begin));
    page_put_pass_to(w, page_time(set, pass->at.end));
    page_put_pass_busy(w, pass->busy);
    page_put_pass_layers(w);
    for (size_t i = 0; i < pass->layers && i < LAYERS_MOST; i++) {
        const struct arch_layer *layer = &arch->layers->at[pass->layer_first + i];
        bool has_type = layer->type < arch->types->n;
        json_write_object(w);
        page_put_layer_index(w, layer->index);
        page_put_layer_type(w, has_type, (int64_t)layer->type);
        page_put_layer_phase(w, arch_phase_name(layer->phase));
        page_put_layer_from(w, page_time(set, layer->at.begin));
        page_put_layer_to(w, page_time(set, layer->at.end));
        page_put_layer_busy(w, layer->busy);
        /* Longer than nine in ten of its type. */
        page_put_layer_outlier(w, has_type && (double)arch_span(layer->at) >
                                                  arch->types->at[layer->type].wall.p90);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

static void sections_put_type(struct json_writer *w, const struct page_set *set,
                              const struct arch_type *type)
{
    json_write_object(w);
    page_put_layer_type_name(w, layer_kind_name(type->kind));
    page_put_layer_type_phase(w, arch_phase_name(type->phase));
    page_put_layer_type_layers(w, type->layers);
    page_put_layer_type_count(w, type->count);
    page_put_layer_type_median(w, num_round(type->wall.median, 0));
    page_put_layer_type_p90(w, num_round(type->wall.p90, 0));
    page_put_layer_type_roles(w);
    for (size_t i = 0; i < type->n_roles; i++) {
        const struct arch_role *role = &type->roles[i];
        json_write_object(w);
        page_put_role_name(w, role->name);
        page_put_role_wall(w, role->wall);
        page_put_role_share(w, role->share);
        page_put_role_kernels(w, role->kernels);
        page_put_role_ops(w);
        for (size_t k = 0; k < role->n_ops; k++) {
            json_write_object(w);
            page_put_role_op_name(w, page_name(set, role->ops[k].label));
            page_put_role_op_count(w, role->ops[k].count);
            page_put_role_op_total(w, role->ops[k].total);
            json_write_end(w);
        }
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

void page_json_layers(struct json_writer *w, const struct page_set *set)
{
    const struct arch *arch = set->arch;

    if (arch == NULL) {
        page_null_set_layers(w);
        return;
    }
    page_put_set_layers(w);
    page_put_layers_summary(w);
    for (enum lang lang = 0; lang < LANGS; lang++)
        json_put_text(w, lang_name(lang), arch_summary(set->arena, arch, lang));
    json_write_end(w);
    page_put_layers_passes(w);
    for (size_t i = 0, n = 0; i < arch->layers->n_passes && i < PASSES_MOST; i++) {
        n += arch->layers->passes[i].layers;
        if (n > LAYERS_MOST && i > 0)
            break;
        put_pass(w, set, &arch->layers->passes[i]);
    }
    json_write_end(w);
    page_put_layers_passes_total(w, arch->layers->n_passes);
    page_put_layers_types(w);
    for (size_t i = 0; i < arch->types->n; i++)
        sections_put_type(w, set, &arch->types->at[i]);
    json_write_end(w);
    json_write_end(w);
}

/* ---- communication ---- */

/* Sums of operations with one name and group, or of links with one pair of ranks and transport. */
struct comm_sum {
    strid name, group;
    int64_t from, to;
    uint64_t count;
    nanos elapse, transit, wait;
    double megabytes, transit_ms;
};

struct comm_sums {
    struct hash known;
    VEC_OF(struct comm_sum) at;
};

static struct comm_sum *sections_sum_of(struct comm_sums *s, struct comm_sum key)
{
    uint64_t hash = hash_mix((uint64_t)key.name << 32 | key.group,
                             hash_mix((uint64_t)key.from, (uint64_t)key.to));

    for (;; hash++) {
        uint32_t fresh = (uint32_t)s->at.n, place = hash_add(&s->known, hash, fresh);
        if (place == fresh)
            vec_push(&s->at, key);
        struct comm_sum *sum = &s->at.at[place];
        if (sum->name == key.name && sum->group == key.group && sum->from == key.from &&
            sum->to == key.to)
            return sum;
    }
}

ORDER_BY(by_elapse, struct comm_sum,
         ORDER(y->elapse, x->elapse) ?: ORDER(y->megabytes, x->megabytes)
                                            ?: ORDER(x->from, y->from) ?: ORDER(x->to, y->to)
                                            ?: ORDER(x->name, y->name)
                                            ?: ORDER(x->group, y->group));

/* "hcom_allReduce__588_0_1" and its like are one: the part before the numbers. */
static struct str collective_name(struct str name)
{
    size_t end = str_find(name, S("__"));

    return end < name.n && end > 0 ? str_part(name, 0, end) : name;
}

static double bandwidth_of(const struct comm_sum *s)
{
    return s->transit_ms > 0 ? s->megabytes * 1e6 / (s->transit_ms / 1e3) : NAN;
}

static void put_ops(struct json_writer *w, const struct page_set *set)
{
    const struct capture *cap = set->cap;
    struct comm_sums sums = {0};
    struct hash names = {0};

    for (size_t i = 0; i < cap->comm_ops.n; i++) {
        const struct comm_op *op = &cap->comm_ops.at[i];
        uint32_t name =
            hash_add(&names, hash_bytes(collective_name(capture_text(cap, op->name))), op->name);
        struct comm_sum *sum =
            sections_sum_of(&sums, (struct comm_sum){.name = name, .group = op->group});
        sum->count++;
        sum->elapse = num_most_sum(sum->elapse, op->elapse);
        sum->transit = num_most_sum(sum->transit, op->transit);
        sum->wait = num_most_sum(sum->wait, op->wait);
        sum->megabytes += op->megabytes;
        sum->transit_ms += op->transit_ms;
    }
    if (sums.at.n > 0)
        qsort(sums.at.at, sums.at.n, sizeof(*sums.at.at), by_elapse);
    page_put_comm_ops(w);
    for (size_t i = 0; i < sums.at.n && i < COMM_MOST; i++) {
        const struct comm_sum *s = &sums.at.at[i];
        json_write_object(w);
        page_put_comm_op_name(w, page_name(set, collective_name(capture_text(cap, s->name))));
        page_put_comm_op_group(w, page_name(set, capture_text(cap, s->group)));
        page_put_comm_op_count(w, s->count);
        page_put_comm_op_bytes(w, num_round(s->megabytes * 1e6, 0));
        page_put_comm_op_total(w, s->elapse);
        page_put_comm_op_transit(w, s->transit);
        page_put_comm_op_wait(w, s->wait);
        page_put_comm_op_bandwidth(w, num_round(bandwidth_of(s), 0));
        json_write_end(w);
    }
    json_write_end(w);
    hash_free(&names);
    hash_free(&sums.known);
    vec_free(&sums.at);
}

static void put_links(struct json_writer *w, const struct page_set *set)
{
    const struct capture *cap = set->cap;
    struct comm_sums sums = {0};

    for (size_t i = 0; i < cap->comm_links.n; i++) {
        const struct comm_link *link = &cap->comm_links.at[i];
        struct comm_sum *sum = sections_sum_of(
            &sums, (struct comm_sum){.name = link->transport, .from = link->from, .to = link->to});
        sum->count++;
        sum->megabytes += link->megabytes;
        sum->transit_ms += link->transit_ms;
    }
    if (sums.at.n > 0)
        qsort(sums.at.at, sums.at.n, sizeof(*sums.at.at), by_elapse);
    page_put_comm_links(w);
    for (size_t i = 0; i < sums.at.n && i < COMM_MOST; i++) {
        const struct comm_sum *s = &sums.at.at[i];
        json_write_object(w);
        page_put_link_from(w, s->from);
        page_put_link_to(w, s->to);
        page_put_link_type(w, capture_text(cap, s->name));
        page_put_link_bytes(w, num_round(s->megabytes * 1e6, 0));
        page_put_link_time(w, num_round(s->transit_ms * 1e6, 0));
        page_put_link_bandwidth(w, num_round(bandwidth_of(s), 0));
        json_write_end(w);
    }
    json_write_end(w);
    hash_free(&sums.known);
    vec_free(&sums.at);
}

void page_json_comm(struct json_writer *w, const struct page_set *set)
{
    if (set->cap->comm_ops.n == 0 && set->cap->comm_links.n == 0) {
        page_null_set_comm(w);
        return;
    }
    page_put_set_comm(w);
    put_ops(w, set);
    put_links(w, set);
    json_write_end(w);
}
