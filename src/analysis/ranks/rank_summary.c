/*
 * rank_summary: steps with their classes, calls with the stretches between them, and what kernels
 * of one name take.
 */
#include "analysis/ranks/rank_summary.h"

#include <stdlib.h>

#include "analysis/steps/steps.h"
#include "base/tables/hash.h"
#include "base/tables/ranked.h"

struct study_options rank_summary_options(void)
{
    struct study_options options = study_with_passes();

    options.device_windows = true;
    return options;
}

/* ---- how much of a time range a set covers ---- */

struct cover {
    struct interval_set set;
    nanos *before; /* covered before each of its ranges */
};

static struct cover cover_of(struct arena *arena, struct interval_set set)
{
    struct cover c = {set, ARENA_ARRAY(arena, nanos, set.n + 1)};

    for (size_t i = 0; i < set.n; i++)
        c.before[i + 1] = c.before[i] + (set.at[i].end - set.at[i].begin);
    return c;
}

static nanos covered_until(const struct cover *c, nanos t)
{
    size_t place;

    vec_bisect(place, c->set.n, i, c->set.at[i].begin < t);
    if (place == 0)
        return 0;
    const struct interval *last = &c->set.at[place - 1];
    return c->before[place - 1] + ((t < last->end ? t : last->end) - last->begin);
}

static nanos covered(const struct cover *c, nanos from, nanos to)
{
    return to > from ? covered_until(c, to) - covered_until(c, from) : 0;
}

/* Whether compute waits for a call to end: it rests for most of its last moments. */
static bool is_awaited(const struct cover *compute, const struct summary_call *c)
{
    static const nanos moment = 20000;
    nanos last = c->end - c->begin < moment ? c->end - c->begin : moment;

    return covered(compute, c->end - last, c->end) * 2 <= last;
}

/* ---- host work on files ---- */

static bool is_storage_name(struct str name)
{
    static const struct str words[] = {
        S_INIT("checkpoint"), S_INIT("torch.save"),  S_INIT("torch/serialization"),
        S_INIT("torch.load"), S_INIT("save_model"),  S_INIT("state_dict_saver"),
        S_INIT("fsync"),      S_INIT("safetensors"), S_INIT("pickle.dump"),
    };
    static const struct str others[] = {/* activations that are computed again */
                                        S_INIT("checkpointfunction"), S_INIT("utils/checkpoint"),
                                        S_INIT("utils.checkpoint"), S_INIT("activation_checkp")};

    return STR_ANY(str_contains_nocase, name, words) && !STR_ANY(str_contains_nocase, name, others);
}

/* Host slices that read or write files, merged. */
static struct interval_set storage_of(struct study *st)
{
    const struct slices *s = &st->cap->slices;
    uint8_t *known = ARENA_ARRAY(&st->scratch, uint8_t, st->cap->strings.strings.n + 1);
    VEC_OF(struct interval) found = {0};

    for (size_t i = 0; i < s->n; i++) {
        enum slice_kind kind = (enum slice_kind)s->kind[i];
        bool is_host_work = kind == SLICE_HOST_OP || kind == SLICE_PYTHON ||
                            kind == SLICE_ANNOTATION || kind == SLICE_RUNTIME ||
                            kind == SLICE_OTHER;
        if (!is_host_work || st->cap->lanes.at[s->lane[i]].key.kind != LANE_THREAD)
            continue;
        uint8_t *is = &known[s->name[i]];
        if (*is == 0)
            *is = is_storage_name(capture_text(st->cap, s->name[i])) ? 2 : 1;
        if (*is == 2)
            vec_push(&found, ((struct interval){s->begin[i], slices_end(s, i)}));
    }
    struct interval_set set = {ARENA_ARRAY(&st->scratch, struct interval, found.n), found.n};
    if (found.n > 0)
        memcpy(set.at, found.at, found.n * sizeof(*set.at));
    vec_free(&found);
    interval_merge(&set);
    return set;
}

/* What of `a` is not in `b`; both merged. */
static struct interval_set without(struct arena *arena, struct interval_set a,
                                   struct interval_set b)
{
    struct interval_set out = {ARENA_ARRAY(arena, struct interval, a.n + b.n), 0};
    size_t k = 0;

    for (size_t i = 0; i < a.n; i++) {
        nanos from = a.at[i].begin;
        while (k < b.n && b.at[k].end <= from)
            k++;
        for (size_t j = k; j < b.n && b.at[j].begin < a.at[i].end; j++) {
            if (b.at[j].begin > from)
                out.at[out.n++] = (struct interval){from, b.at[j].begin};
            if (b.at[j].end > from)
                from = b.at[j].end;
        }
        if (from < a.at[i].end)
            out.at[out.n++] = (struct interval){from, a.at[i].end};
    }
    return out;
}

/* ---- steps ---- */

struct summarizer {
    struct study *st;
    struct arena *arena;
    struct rank_summary *out;
    struct cover compute, busy, storage; /* storage: while the device idles */
    struct cover comm, exposed;
};

/* Where idle time of a step begins: the gap before its first kernel is its own from the host's mark
 * on, and of the step before until then. */
static nanos idle_from(const struct summarizer *z, const struct steps *steps, size_t i)
{
    const struct interval_set *busy = &z->busy.set;
    nanos begin = steps->at[i].window.begin, mark = steps->at[i].mark;
    size_t place;

    vec_bisect(place, busy->n, k, busy->at[k].begin < begin);
    if (i == 0 || place == 0 || mark >= begin)
        return begin;
    nanos end = busy->at[place - 1].end;
    return end >= begin ? begin : mark > end ? mark : end;
}

static void add_steps(struct summarizer *z)
{
    const struct steps *steps = study_steps(z->st);
    struct rank_summary *out = z->out;

    out->is_told_steps = steps->source != STEPS_PSEUDO;
    out->steps = ARENA_ARRAY(z->arena, struct summary_step, steps->n);
    out->n_steps = steps->n;
    for (size_t i = 0; i < steps->n; i++) {
        nanos a = steps->at[i].window.begin, b = steps->at[i].window.end;
        nanos from = idle_from(z, steps, i), to = i + 1 < steps->n ? idle_from(z, steps, i + 1) : b;
        out->steps[i] = (struct summary_step){
            .number = steps->at[i].number,
            .begin = a,
            .end = b,
            .compute = covered(&z->compute, a, b),
            .comm = covered(&z->comm, a, b),
            .exposed = covered(&z->exposed, a, b),
            .idle = to - from - covered(&z->busy, from, to),
            .storage = covered(&z->storage, from, to),
        };
    }
}

/* ---- communicators and calls ---- */

/* "[0, 1, 2]": the numbers, ascending. */
static void read_members(struct arena *arena, struct str text, struct summary_group *g)
{
    struct str one;
    size_t n = 0;

    g->ranks = ARENA_ARRAY(arena, int64_t, text.n / 2 + 1);
    while (str_split(&text, ',', &one)) {
        one = str_trim(one);
        while (one.n > 0 && (one.at[0] == '[' || one.at[0] == ' '))
            one = str_part(one, 1, one.n);
        one.n = str_digits(one);
        if (one.n == 0 || !num_i64(one, &g->ranks[n]))
            return;
        n++;
    }
    g->n = ranked_set(g->ranks, n);
    if (g->n == 0)
        return;
    g->first = g->ranks[0];
    g->stride = g->n > 1 ? g->ranks[1] - g->ranks[0] : 1;
    for (size_t i = 1; i < g->n; i++)
        if (g->ranks[i] - g->ranks[i - 1] != g->stride)
            return;
    g->ranks = NULL;
}

static uint32_t summary_group_of(struct summarizer *z, struct hash *known,
                                 const struct collective_call *c)
{
    uint64_t key = hash_stable_mix(hash_stable_bytes(c->id), hash_stable_bytes(c->members));
    uint32_t at = hash_add(known, key, (uint32_t)z->out->n_groups);

    if (at == z->out->n_groups) {
        struct summary_group *g = &z->out->groups[z->out->n_groups++];
        *g = (struct summary_group){.id = arena_str(z->arena, c->id)};
        if (!str_equal(c->group, c->id))
            g->purpose = arena_str(z->arena, c->group);
        read_members(z->arena, c->members, g);
    }
    return at;
}

static size_t distinct_groups(const struct collectives *all)
{
    struct hash known = {0};
    uint32_t n = 0;

    for (size_t i = 0; i < all->n; i++) {
        uint64_t key = hash_stable_mix(hash_stable_bytes(all->at[i].id),
                                       hash_stable_bytes(all->at[i].members));
        n += hash_add(&known, key, n) == n;
    }
    hash_free(&known);
    return n;
}

struct call_end {
    nanos end;
    uint32_t call;
};

ORDER_BY(by_end, struct call_end, ORDER(x->end, y->end) ?: ORDER(x->call, y->call));

/* For each call the one that ended last of those that compute had waited for. */
static void find_before(struct summarizer *z)
{
    struct rank_summary *out = z->out;
    struct call_end *ends = ARENA_ARRAY(&z->st->scratch, struct call_end, out->n_calls);
    uint32_t last = SUMMARY_NO_CALL;
    size_t k = 0;

    for (uint32_t i = 0; i < out->n_calls; i++)
        ends[i] = (struct call_end){out->calls[i].end, i};
    qsort(ends, out->n_calls, sizeof(*ends), by_end);
    for (size_t i = 0; i < out->n_calls; i++) {
        struct summary_call *c = &out->calls[i];
        for (; k < out->n_calls && ends[k].end <= c->begin; k++)
            if (ends[k].call < i && is_awaited(&z->compute, &out->calls[ends[k].call]))
                last = ends[k].call;
        c->after = last;
    }
}

static void measure_stretches(struct summarizer *z)
{
    struct rank_summary *out = z->out;
    nanos first = z->busy.set.n > 0 ? z->busy.set.at[0].begin : 0;

    for (size_t i = 0; i < out->n_calls; i++) {
        struct summary_call *c = &out->calls[i];
        nanos from = c->after != SUMMARY_NO_CALL ? out->calls[c->after].end : first;
        if (from > c->begin)
            from = c->begin;
        c->stretch = c->begin - from;
        c->compute = covered(&z->compute, from, c->begin);
        c->idle = c->stretch - covered(&z->busy, from, c->begin);
        c->storage = covered(&z->storage, from, c->begin);
    }
}

static void add_calls(struct summarizer *z)
{
    const struct collectives *all = collectives_find(z->st);
    struct rank_summary *out = z->out;
    struct hash known = {0};

    out->groups = ARENA_ARRAY(z->arena, struct summary_group, distinct_groups(all));
    out->calls = ARENA_ARRAY(z->arena, struct summary_call, all->n);
    for (size_t i = 0; i < all->n; i++) {
        const struct collective_call *c = &all->at[i];
        size_t steps; /* that have begun */
        vec_bisect(steps, out->n_steps, k, out->steps[k].begin <= c->begin);
        out->calls[out->n_calls++] = (struct summary_call){
            .group = summary_group_of(z, &known, c),
            .kind = (uint8_t)c->kind,
            .step = (int32_t)steps - 1,
            .from = c->from,
            .to = c->to,
            .bytes = num_i64_of(c->bytes),
            .begin = c->begin,
            .end = nanos_add(c->begin, c->time),
        };
    }
    hash_free(&known);
    find_before(z);
    measure_stretches(z);
}

/* ---- kernels by name ---- */

ORDER_BY(longest_first, struct summary_family, ORDER(y->time, x->time) ?: ORDER(x->key, y->key));

static void add_families(struct summarizer *z)
{
    const struct slices *s = &z->st->cap->slices;
    struct kernel_order kernels = study_kernels(z->st);
    struct summary_family *list =
        ARENA_ARRAY(&z->st->scratch, struct summary_family, z->st->cap->strings.strings.n + 1);
    uint32_t *place = ARENA_ARRAY(&z->st->scratch, uint32_t, z->st->cap->strings.strings.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < kernels.n; i++) {
        uint32_t slice = kernels.at[i];
        strid name = s->name[slice];
        if (s->kind[slice] != SLICE_COMPUTE)
            continue;
        if (place[name] == 0) {
            struct str text = capture_text(z->st->cap, name);
            list[n] = (struct summary_family){.key = hash_stable_bytes(text), .name = text};
            place[name] = (uint32_t)++n;
        }
        struct summary_family *f = &list[place[name] - 1];
        f->n++;
        f->time = nanos_add(f->time, s->dur[slice]);
    }
    qsort(list, n, sizeof(*list), longest_first);
    z->out->n_families = n < SUMMARY_FAMILIES ? n : SUMMARY_FAMILIES;
    z->out->families = ARENA_ARRAY(z->arena, struct summary_family, z->out->n_families);
    for (size_t i = 0; i < z->out->n_families; i++) {
        enum { NAME_MOST = 60 };
        z->out->families[i] = list[i];
        z->out->families[i].name = arena_str(z->arena, str_part(list[i].name, 0, NAME_MOST));
    }
}

/* ---- what the files state ---- */

ORDER_BY(by_pair, struct summary_link,
         ORDER(x->from, y->from) ?: ORDER(x->to, y->to)
                                 ?: str_compare(x->transport, y->transport));

static void add_links(struct summarizer *z)
{
    const struct capture *cap = z->st->cap;
    struct summary_link *list =
        ARENA_ARRAY(&z->st->scratch, struct summary_link, cap->comm_links.n);
    size_t n = 0;

    for (size_t i = 0; i < cap->comm_links.n; i++) {
        const struct comm_link *link = &cap->comm_links.at[i];
        if (link->from != link->to && link->transit_ms > 0 && link->megabytes > 0)
            list[n++] = (struct summary_link){link->from, link->to, link->megabytes,
                                              link->transit_ms, capture_text(cap, link->transport)};
    }
    qsort(list, n, sizeof(*list), by_pair);
    z->out->links = ARENA_ARRAY(z->arena, struct summary_link, n);
    for (size_t i = 0; i < n && z->out->n_links <= SUMMARY_LINKS; i++) {
        struct summary_link *last =
            z->out->n_links > 0 ? &z->out->links[z->out->n_links - 1] : NULL;
        if (last != NULL && by_pair(last, &list[i]) == 0) {
            last->megabytes += list[i].megabytes;
            last->ms += list[i].ms;
        } else if (z->out->n_links < SUMMARY_LINKS) {
            z->out->links[z->out->n_links] = list[i];
            z->out->links[z->out->n_links++].transport = arena_str(z->arena, list[i].transport);
        }
    }
}

static void add_facts(struct summarizer *z)
{
    const struct capture *cap = z->st->cap;
    struct rank_summary *out = z->out;

    out->name = arena_str(z->arena, str_of(cap->name));
    out->host = arena_str(z->arena, capture_text(cap, cap->facts.host));
    out->device_name = arena_str(z->arena, capture_text(cap, cap->facts.device_name));
    out->rank = cap->facts.rank;
    out->world = cap->facts.world_size;
    out->device = cap->facts.device;
    out->has_host = (cap->has & HAS_HOST) != 0;
    out->files = cap->sources.n;
    for (size_t i = 0; i < cap->sources.n; i++)
        out->lost += cap->sources.at[i].lost;
    for (size_t i = 0; i < cap->comm_ops.n; i++) {
        const struct comm_op *op = &cap->comm_ops.at[i];
        if (op->rank == UNKNOWN || cap->facts.rank == UNKNOWN || op->rank == cap->facts.rank) {
            out->told_comm_ms += (double)op->elapse / 1e6;
            out->told_moved_mb += op->megabytes;
        }
    }
}

void rank_summary_make(struct rank_summary *out, struct study *st, struct arena *arena)
{
    struct interval_set compute = study_gather(st, study_is_compute);
    struct interval_set comm = study_gather(st, study_is_comm), busy = study_busy(st);
    struct summarizer z = {
        .st = st,
        .arena = arena,
        .out = out,
        .compute = cover_of(&st->scratch, compute),
        .comm = cover_of(&st->scratch, comm),
        .busy = cover_of(&st->scratch, busy),
        .exposed = cover_of(&st->scratch, without(&st->scratch, comm, compute)),
        .storage = cover_of(&st->scratch, without(&st->scratch, storage_of(st), busy)),
    };

    *out = (struct rank_summary){0};
    add_facts(&z);
    add_steps(&z);
    add_calls(&z);
    add_families(&z);
    add_links(&z);
}
