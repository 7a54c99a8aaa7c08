/*
 * Kernels, layers and communication of a set as JSON.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/arch/arch.h"
#include "page/page_json.h"

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
    json_put_u64(w, "what", k->what);
    json_put_str(w, "name", page_name(set, capture_text(cap, what->name)));
    json_put_str_or_null(w, "op", page_name(set, k->op));
    json_put_u64(w, "family", what->family);
    json_put_text(w, "kind", slice_kind_name((enum slice_kind)what->kind));
    json_put_str(w, "shapes", page_shape(set, what->shapes));
    json_put_str(w, "types", page_shape(set, what->types));
    json_put_u64(w, "count", k->count);
    json_put_i64(w, "total", k->total);
    json_put_i64(w, "mean", k->mean);
    json_put_i64(w, "p95", k->p95);
    json_put_i64(w, "max", k->max);
    json_put_known(w, "wait", k->wait >= 0, k->wait);
    json_put_i64(w, "per_step", k->per_step);
    json_put_f64(w, "share", num_round(k->share, 6));
    json_put_f64(w, "roof", k->roof > 0 ? num_round(k->roof, 4) : NAN);
    json_put_text(w, "bound", k->roof <= 0 ? NULL : k->is_compute ? "compute" : "memory");
    json_put_known(w, "headroom", k->headroom >= 0, num_i64_of(k->headroom));
    json_put_f64(w, "flops", k->flops > 0 ? k->flops : NAN);
    json_put_f64(w, "bytes", k->bytes > 0 ? k->bytes : NAN);
    page_json_numbers(w, "trend", k->trend, k->n_trend);
    page_json_numbers(w, "at", at, ARRAY_LEN(at));
    json_write_end(w);
}

void page_json_kernels(struct json_writer *w, const struct page_set *set)
{
    const struct page_kernels *kernels = &set->kernels;

    json_put_array(w, "kernels");
    for (size_t i = 0; i < kernels->n; i++)
        sections_put_kernel(w, set, &kernels->at[i]);
    json_write_end(w);
    json_put_u64(w, "kernels_total", kernels->all);
    if (kernels->device == NULL) {
        json_put_null(w, "device_info");
        return;
    }
    json_put_object(w, "device_info");
    json_put_text(w, "name", kernels->device->name);
    json_put_text(w, "source", kernels->device->source);
    json_put_object(w, "flops");
    for (int peak = 0; peak < PEAK_COUNT; peak++)
        if (kernels->device->tflops[peak] > 0)
            json_put_f64(w, peak_name((enum peak)peak), kernels->device->tflops[peak] * 1e12);
    json_write_end(w);
    json_put_f64(w, "bandwidth", kernels->device->gbps > 0 ? kernels->device->gbps * 1e9 : NAN);
    json_write_end(w);
}

/* ---- layers ---- */

static void put_pass(struct json_writer *w, const struct page_set *set,
                     const struct arch_pass *pass)
{
    const struct arch *arch = set->arch;

    json_write_object(w);
    json_put_u64(w, "name", pass->number);
    json_put_bool(w, "partial", pass->is_partial);
    json_put_i64(w, "from", page_time(set, pass->at.begin));
    json_put_i64(w, "to", page_time(set, pass->at.end));
    json_put_i64(w, "busy", pass->busy);
    json_put_array(w, "layers");
    for (size_t i = 0; i < pass->layers && i < LAYERS_MOST; i++) {
        const struct arch_layer *layer = &arch->layers->at[pass->layer_first + i];
        bool has_type = layer->type < arch->types->n;
        json_write_object(w);
        json_put_u64(w, "index", layer->index);
        json_put_known(w, "type", has_type, (int64_t)layer->type);
        json_put_text(w, "phase", arch_phase_name(layer->phase));
        json_put_i64(w, "from", page_time(set, layer->at.begin));
        json_put_i64(w, "to", page_time(set, layer->at.end));
        json_put_i64(w, "busy", layer->busy);
        /* Longer than nine in ten of its type. */
        json_put_bool(w, "outlier",
                      has_type &&
                          (double)arch_span(layer->at) > arch->types->at[layer->type].wall.p90);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

static void sections_put_type(struct json_writer *w, const struct page_set *set,
                              const struct arch_type *type)
{
    json_write_object(w);
    json_put_text(w, "name", layer_kind_name(type->kind));
    json_put_text(w, "phase", arch_phase_name(type->phase));
    json_put_str(w, "layers", type->layers);
    json_put_u64(w, "count", type->count);
    json_put_f64(w, "median", num_round(type->wall.median, 0));
    json_put_f64(w, "p90", num_round(type->wall.p90, 0));
    json_put_array(w, "roles");
    for (size_t i = 0; i < type->n_roles; i++) {
        const struct arch_role *role = &type->roles[i];
        json_write_object(w);
        json_put_text(w, "name", role->name);
        json_put_i64(w, "wall", role->wall);
        json_put_f64(w, "share", num_round(role->share, 6));
        json_put_u64(w, "kernels", role->kernels);
        json_put_array(w, "ops");
        for (size_t k = 0; k < role->n_ops; k++) {
            json_write_object(w);
            json_put_str(w, "name", page_name(set, role->ops[k].label));
            json_put_u64(w, "count", role->ops[k].count);
            json_put_i64(w, "total", role->ops[k].total);
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
        json_put_null(w, "layers");
        return;
    }
    json_put_object(w, "layers");
    json_put_object(w, "summary");
    for (enum lang lang = 0; lang < LANGS; lang++)
        json_put_text(w, lang_name(lang), arch_summary(set->arena, arch, lang));
    json_write_end(w);
    json_put_array(w, "passes");
    for (size_t i = 0, n = 0; i < arch->layers->n_passes && i < PASSES_MOST; i++) {
        n += arch->layers->passes[i].layers;
        if (n > LAYERS_MOST && i > 0)
            break;
        put_pass(w, set, &arch->layers->passes[i]);
    }
    json_write_end(w);
    json_put_u64(w, "passes_total", arch->layers->n_passes);
    json_put_array(w, "types");
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
    json_put_array(w, "ops");
    for (size_t i = 0; i < sums.at.n && i < COMM_MOST; i++) {
        const struct comm_sum *s = &sums.at.at[i];
        json_write_object(w);
        json_put_str(w, "name", page_name(set, collective_name(capture_text(cap, s->name))));
        json_put_str(w, "group", page_name(set, capture_text(cap, s->group)));
        json_put_u64(w, "count", s->count);
        json_put_f64(w, "bytes", num_round(s->megabytes * 1e6, 0));
        json_put_i64(w, "total", s->elapse);
        json_put_i64(w, "transit", s->transit);
        json_put_i64(w, "wait", s->wait);
        json_put_f64(w, "bandwidth", num_round(bandwidth_of(s), 0));
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
    json_put_array(w, "links");
    for (size_t i = 0; i < sums.at.n && i < COMM_MOST; i++) {
        const struct comm_sum *s = &sums.at.at[i];
        json_write_object(w);
        json_put_i64(w, "from", s->from);
        json_put_i64(w, "to", s->to);
        json_put_str(w, "type", capture_text(cap, s->name));
        json_put_f64(w, "bytes", num_round(s->megabytes * 1e6, 0));
        json_put_f64(w, "time", num_round(s->transit_ms * 1e6, 0));
        json_put_f64(w, "bandwidth", num_round(bandwidth_of(s), 0));
        json_write_end(w);
    }
    json_write_end(w);
    hash_free(&sums.known);
    vec_free(&sums.at);
}

void page_json_comm(struct json_writer *w, const struct page_set *set)
{
    if (set->cap->comm_ops.n == 0 && set->cap->comm_links.n == 0) {
        json_put_null(w, "comm");
        return;
    }
    json_put_object(w, "comm");
    put_ops(w, set);
    put_links(w, set);
    json_write_end(w);
}
