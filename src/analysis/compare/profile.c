/*
 * Units of a study, and what claims their time.
 */
#include "analysis/compare/profile.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/diagnose/accounting.h"
#include "analysis/ops/op_tree.h"
#include "analysis/ops/ops.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "analysis/tables/serving_name.h"
#include "base/tables/hash.h"
#include "base/tables/ranked.h"

enum {
    MOST_KINDS = 32, /* others are in `all` alone */
    MOST_ANCHORS = 16,
    LEAST_CALLS = 6, /* of an anchor: five units */
    LEAST_DISTANCE = 2,
};

#define ANCHOR_VARIES 0.10 /* at most, in its distance */

ENUM_NAMES(unit_metric_name, enum unit_metric, "service_ms", "device_busy_union_ms", "underfeed_ms",
           "prelaunch_gap_ms", "internal_bubble_total_ms", "tail_gap_ms", "communication_ms",
           "total_kernel_count")
ENUM_NAMES(part_class_name, enum part_class, "compute", "communication", "copy", "idle")
ENUM_NAMES(unit_source_name, enum unit_source, "steps", "repeating unit", "none")

/* ---- who claims an instant ---- */

struct claim {
    nanos begin, end;
    uint32_t part;
};

struct maker {
    struct study *st;
    struct arena *arena; /* of the result */
    struct arena scratch;
    const struct accounting *a;
    const struct op_names *names;
    const struct op_tree *tree;
    uint32_t *place;           /* of a slice in study_kernels() */
    struct profile_part *keys; /* texts and classes of parts */
    size_t n_keys, room;
    struct hash ids;             /* of names of operator and kernel, and the class, to parts */
    uint32_t *part;              /* of each task */
    const double *work;          /* of each task, as in struct profile_kind */
    VEC_OF(struct claim) claims; /* by begin */
    struct profile *out;
};

static struct str idle_word(enum idle_cause cause)
{
    return str_of(idle_cause_name(cause));
}

/* The number of a part, by a hash that is the same in every process: baselines are files. */
static uint32_t maker_part(struct maker *m, struct str operator, struct str kernel,
                           enum part_class class)
{
    uint64_t key = hash_stable_mix(
        hash_stable_mix(hash_stable_bytes(operator), hash_stable_bytes(kernel)), class);
    uint32_t id = hash_add(&m->ids, key, (uint32_t)m->n_keys);

    if (id < m->n_keys)
        return id;
    if (m->n_keys == m->room) {
        struct profile_part *more = ARENA_ARRAY(&m->scratch, struct profile_part, 2 * m->room + 64);
        if (m->n_keys > 0)
            memcpy(more, m->keys, m->n_keys * sizeof(*more));
        m->keys = more;
        m->room = 2 * m->room + 64;
    }
    m->keys[m->n_keys++] =
        (struct profile_part){.operator= operator, .kernel = kernel, .class = class};
    return id;
}

/* The framework's operator that launched a task; of Ascend its type, else the family of its name.
 */
static struct str operator_of(const struct maker *m, const struct device_task *t)
{
    const struct capture *cap = m->st->cap;
    uint32_t place = m->place[t->slice];

    if (place != OP_TREE_NONE)
        for (uint32_t at = m->tree->launch[place]; at != OP_TREE_NONE; at = m->tree->parent[at])
            if (cap->slices.kind[at] == SLICE_HOST_OP)
                return capture_text(cap, cap->slices.name[at]);
    struct str type = capture_slice_text(cap, t->slice, KEY_TYPE);
    if (type.n > 0)
        return type;
    return t->class == TASK_COMPUTE ? str_of(kernel_family_name(t->family))
                                    : str_of(part_class_name((enum part_class)t->class));
}

static void name_tasks(struct maker *m)
{
    const struct capture *cap = m->st->cap;
    struct kernel_order kernels = study_kernels(m->st);

    m->place = ARENA_ARRAY(&m->scratch, uint32_t, cap->slices.n + 1);
    memset(m->place, 0xff, (cap->slices.n + 1) * sizeof(*m->place));
    for (size_t i = 0; i < kernels.n; i++)
        m->place[kernels.at[i]] = (uint32_t)i;
    m->part = ARENA_ARRAY(&m->scratch, uint32_t, m->a->tasks.n + 1);
    for (size_t i = 0; i < m->a->tasks.n; i++) {
        const struct device_task *t = &m->a->tasks.at[i];
        uint32_t place = m->place[t->slice];
        struct str kernel = place != OP_TREE_NONE ? m->names->text[m->names->of_kernel[place]]
                                                  : capture_text(cap, cap->slices.name[t->slice]);
        m->part[i] = maker_part(m, operator_of(m, t), kernel, (enum part_class)t->class);
    }
}

ORDER_BY(claims_by_begin, struct claim, ORDER(x->begin, y->begin));

/* Tasks of one class claim what no higher one has, the earlier before the later. */
static void claim_class(struct maker *m, enum task_class class, struct interval_set taken)
{
    nanos end = INT64_MIN;
    size_t at = 0;

    for (size_t i = 0; i < m->a->tasks.n; i++) {
        const struct device_task *t = &m->a->tasks.at[i];
        if (t->class != class || t->end <= end)
            continue;
        nanos from = t->begin > end ? t->begin : end;
        end = t->end;
        while (at > 0 && taken.at[at - 1].end > from)
            at--;
        while (at < taken.n && taken.at[at].end <= from)
            at++;
        for (size_t k = at; from < t->end; k++) {
            nanos till = k < taken.n && taken.at[k].begin < t->end ? taken.at[k].begin : t->end;
            if (till > from)
                vec_push(&m->claims, ((struct claim){from, till, m->part[i]}));
            from = k < taken.n && taken.at[k].begin < t->end ? taken.at[k].end : t->end;
        }
    }
}

static void claim_all(struct maker *m)
{
    struct interval_set taken = {ARENA_ARRAY(&m->scratch, struct interval, m->a->tasks.n + 1), 0};

    for (int class = TASK_COMPUTE; class < TASK_CLASSES; class ++) {
        claim_class(m, (enum task_class) class, taken);
        taken.at = ARENA_ARRAY(&m->scratch, struct interval, m->claims.n + 1);
        taken.n = m->claims.n;
        for (size_t i = 0; i < m->claims.n; i++)
            taken.at[i] = (struct interval){m->claims.at[i].begin, m->claims.at[i].end};
        interval_merge(&taken);
    }
    if (m->claims.n > 1)
        qsort(m->claims.at, m->claims.n, sizeof(*m->claims.at), claims_by_begin);
}

/* ---- units ---- */

struct units {
    struct interval *at; /* by begin, one after the other */
    const char **label;  /* of each; NULL: all are "unit" */
    size_t n;
};

/* Sums of a kind while its units are gone through. */
struct gathered {
    struct profile_kind *kind;
    struct profile_part *sums; /* by number of the part */
};

static void gather_claims(const struct maker *m, struct interval window, struct gathered *g,
                          size_t unit, nanos *claimed)
{
    nanos first = INT64_MAX, last = INT64_MIN;
    size_t place;

    vec_bisect(place, m->claims.n, i, m->claims.at[i].end <= window.begin);
    for (; place < m->claims.n && m->claims.at[place].begin < window.end; place++) {
        const struct claim *c = &m->claims.at[place];
        nanos from = c->begin > window.begin ? c->begin : window.begin;
        nanos till = c->end < window.end ? c->end : window.end;
        g->sums[c->part].claimed += till - from;
        *claimed += till - from;
        first = from < first ? from : first;
        last = till;
    }
    g->kind->metrics[UNIT_PRELAUNCH][unit] =
        first != INT64_MAX ? first - window.begin : window.end - window.begin;
    g->kind->metrics[UNIT_TAIL][unit] = first != INT64_MAX ? window.end - last : 0;
}

static void gather_tasks(const struct maker *m, struct interval window, struct gathered *g,
                         size_t unit)
{
    const struct device_tasks *tasks = &m->a->tasks;
    size_t place;

    vec_bisect(place, tasks->n, i, tasks->at[i].begin < window.begin);
    for (; place < tasks->n && tasks->at[place].begin < window.end; place++) {
        const struct device_task *t = &tasks->at[place];
        g->sums[m->part[place]].busy += t->end - t->begin;
        g->sums[m->part[place]].calls++;
        g->kind->metrics[UNIT_KERNELS][unit]++;
        g->kind->work += m->work[place];
        if (t->class == TASK_COMM)
            g->kind->metrics[UNIT_COMM][unit] += t->end - t->begin;
    }
}

/* Idle time by cause; what no piece explains is unknown. */
static void gather_idle(struct maker *m, struct interval window, struct gathered *g, nanos idle)
{
    size_t place;

    vec_bisect(place, m->a->pieces.n, i, m->a->pieces.at[i].at.end <= window.begin);
    for (; place < m->a->pieces.n && m->a->pieces.at[place].at.begin < window.end; place++) {
        const struct idle_piece *p = &m->a->pieces.at[place];
        nanos from = p->at.begin > window.begin ? p->at.begin : window.begin;
        nanos till = p->at.end < window.end ? p->at.end : window.end;
        nanos length = till - from < idle ? till - from : idle;
        g->sums[maker_part(m, S("idle"), idle_word(p->cause), PART_IDLE)].claimed += length;
        idle -= length;
    }
    g->sums[maker_part(m, S("idle"), idle_word(CAUSE_UNKNOWN), PART_IDLE)].claimed += idle;
}

static void gather_unit(struct maker *m, struct interval window, struct gathered *g)
{
    struct profile_kind *kind = g->kind;
    size_t unit = kind->n++;
    nanos claimed = 0, length = window.end - window.begin;

    gather_claims(m, window, g, unit, &claimed);
    gather_tasks(m, window, g, unit);
    gather_idle(m, window, g, length - claimed);
    kind->metrics[UNIT_LENGTH][unit] = length;
    kind->metrics[UNIT_BUSY][unit] = claimed;
    kind->metrics[UNIT_IDLE][unit] = length - claimed;
    kind->metrics[UNIT_INTERNAL][unit] =
        length - claimed - kind->metrics[UNIT_PRELAUNCH][unit] - kind->metrics[UNIT_TAIL][unit];
}

ORDER_BY(parts_by_name, struct profile_part,
         str_compare(x->operator, y->operator) ?: str_compare(x->kernel, y->kernel)
                                               ?: ORDER(x->class, y->class));

/* The units of a kind; `is_one`: NULL for all of them. */
static void gather(struct maker *m, struct units units, const uint32_t *kind_of, uint32_t number,
                   struct profile_kind *kind)
{
    struct arena_mark mark = arena_mark(&m->scratch);
    struct gathered g = {kind, ARENA_ARRAY(&m->scratch, struct profile_part, m->n_keys)};

    for (int i = 0; i < UNIT_METRICS; i++)
        kind->metrics[i] = ARENA_ARRAY(m->arena, nanos, units.n);
    for (size_t i = 0; i < units.n; i++)
        if (kind_of == NULL || kind_of[i] == number) {
            const char *label = units.label != NULL ? units.label[i] : "unit";
            kind->label =
                kind->n == 0 || str_equal(kind->label, str_of(label)) ? str_of(label) : S("step");
            gather_unit(m, units.at[i], &g);
        }
    kind->work = kind->n > 0 ? kind->work / (double)kind->n : NAN;
    kind->parts = ARENA_ARRAY(m->arena, struct profile_part, m->n_keys);
    for (size_t i = 0; i < m->n_keys; i++) {
        struct profile_part p = g.sums[i];
        if (p.claimed == 0 && p.calls == 0)
            continue;
        p.operator= arena_str(m->arena, m->keys[i].operator);
        p.kernel = arena_str(m->arena, m->keys[i].kernel);
        p.class = m->keys[i].class;
        kind->parts[kind->n_parts++] = p;
    }
    if (kind->n_parts > 1)
        qsort(kind->parts, kind->n_parts, sizeof(*kind->parts), parts_by_name);
    arena_rewind(&m->scratch, mark);
}

/* ---- kinds of marked units ---- */

/* Tasks of a unit by part, those that it has alone. */
struct content {
    uint32_t *part, *calls;
    size_t n, tasks;
    double work;
};

static struct content content_of(struct maker *m, struct interval window, uint32_t *seen)
{
    const struct device_tasks *tasks = &m->a->tasks;
    struct content out = {0};
    size_t from, to;

    vec_bisect(from, tasks->n, i, tasks->at[i].begin < window.begin);
    vec_bisect(to, tasks->n, i, tasks->at[i].begin < window.end);
    out.part = ARENA_ARRAY(&m->scratch, uint32_t, to - from + 1);
    out.calls = ARENA_ARRAY(&m->scratch, uint32_t, to - from + 1);
    for (size_t i = from; i < to; i++) {
        uint32_t part = m->part[i];
        if (tasks->at[i].class != TASK_COMPUTE)
            continue;
        out.tasks++;
        out.work += m->work[i];
        if (seen[part] == 0) {
            out.part[out.n++] = part;
            seen[part] = (uint32_t)out.n;
        }
        out.calls[seen[part] - 1]++;
    }
    for (size_t i = 0; i < out.n; i++)
        seen[out.part[i]] = 0;
    return out;
}

static bool is_same_work(const struct content *a, const struct content *b, uint32_t *seen)
{
    size_t common = 0;

    for (size_t i = 0; i < a->n; i++)
        seen[a->part[i]] = a->calls[i];
    for (size_t i = 0; i < b->n; i++)
        common += seen[b->part[i]] < b->calls[i] ? seen[b->part[i]] : b->calls[i];
    for (size_t i = 0; i < a->n; i++)
        seen[a->part[i]] = 0;
    return group_same_work(common, a->tasks, b->tasks) &&
           !(profile_work_shared(a->work, b->work) < PROFILE_SAME_WORK);
}

ORDER_BY(kinds_by_time, struct profile_kind, ORDER(y->distance, x->distance));

static void find_kinds(struct maker *m, struct units units)
{
    uint32_t *kind_of = ARENA_ARRAY(&m->scratch, uint32_t, units.n + 1);
    uint32_t *seen = ARENA_ARRAY(&m->scratch, uint32_t, m->n_keys + 1);
    struct content first[MOST_KINDS];
    size_t n = 0;

    for (size_t i = 0; i < units.n; i++) {
        struct content c = content_of(m, units.at[i], seen);
        size_t k = 0;
        while (k < n && !is_same_work(&first[k], &c, seen))
            k++;
        if (k == n && n < MOST_KINDS)
            first[n++] = c;
        kind_of[i] = (uint32_t)k;
    }
    m->out->kinds = ARENA_ARRAY(m->arena, struct profile_kind, n + 1);
    m->out->n_kinds = n;
    for (uint32_t k = 0; k < n; k++) {
        struct profile_kind *kind = &m->out->kinds[k];
        gather(m, units, kind_of, k, kind);
        for (size_t i = 0; i < kind->n; i++)
            kind->distance += kind->metrics[UNIT_LENGTH][i]; /* time, to sort by */
    }
    if (n > 1)
        qsort(m->out->kinds, n, sizeof(*m->out->kinds), kinds_by_time);
    for (size_t k = 0; k < n; k++) {
        m->out->kinds[k].name = arena_format(m->arena, "g%zu", k);
        m->out->kinds[k].distance = 0;
    }
}

static const char *label_of(struct str id)
{
    static const char *const labels[SERVING_KINDS] = {[SERVING_PREFILL] = "prefill step",
                                                      [SERVING_DECODE] = "decode step",
                                                      [SERVING_MIXED] = "mixed step",
                                                      [SERVING_UNKNOWN] = "step"};
    struct serving_name name;

    return serving_name_parse(id, &name) ? labels[name.kind] : "step";
}

static void find_marked(struct maker *m)
{
    struct units units = {ARENA_ARRAY(&m->scratch, struct interval, m->a->n + 1),
                          ARENA_ARRAY(&m->scratch, const char *, m->a->n + 1), 0};

    for (size_t i = m->a->n > 1 ? 1 : 0; i < m->a->n; i++)
        if (m->a->steps[i].tasks > 0 && account_step_time(&m->a->steps[i]) > 0) {
            units.label[units.n] = label_of(m->a->steps[i].id);
            units.at[units.n++] = m->a->steps[i].window;
        }
    if (units.n == 0)
        return;
    m->out->source = UNITS_MARKED;
    m->out->all.name = S("all");
    gather(m, units, NULL, 0, &m->out->all);
    find_kinds(m, units);
}

/* ---- repeating units ---- */

struct anchor {
    uint32_t name; /* number of the kernel's name */
    size_t calls;
    double variation, distance;
};

ORDER_BY(best_anchor_first, struct anchor,
         ORDER(x->variation, y->variation) ?: ORDER(y->distance, x->distance)
                                           ?: ORDER(x->name, y->name));

static struct anchor anchor_of(uint32_t name, const double *gaps, size_t n, double *sorted)
{
    double mean = 0, square = 0;

    memcpy(sorted, gaps, n * sizeof(*sorted));
    ranked_sort(sorted, n);
    for (size_t i = 0; i < n; i++)
        mean += gaps[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (gaps[i] - mean) * (gaps[i] - mean) / (double)n;
    /* By hundredths, so that the longer of two that hardly vary is taken. */
    return (struct anchor){.name = name,
                           .calls = n + 1,
                           .variation = floor(100 * sqrt(square) / mean) / 100,
                           .distance = ranked_middle(sorted, n)};
}

/* Compute kernels in the order of their begin, by name. */
struct sequence {
    uint32_t *name; /* in op_names */
    nanos *begin;
    size_t n;
};

static struct sequence sequence_of(struct maker *m)
{
    const struct device_tasks *tasks = &m->a->tasks;
    struct sequence s = {ARENA_ARRAY(&m->scratch, uint32_t, tasks->n + 1),
                         ARENA_ARRAY(&m->scratch, nanos, tasks->n + 1), 0};

    for (size_t i = 0; i < tasks->n; i++) {
        uint32_t place = m->place[tasks->at[i].slice];
        if (tasks->at[i].class == TASK_COPY || place == OP_TREE_NONE)
            continue;
        s.name[s.n] = m->names->of_kernel[place];
        s.begin[s.n++] = tasks->at[i].begin;
    }
    return s;
}

static size_t find_anchors(struct maker *m, const struct sequence *s, struct anchor *list)
{
    size_t *calls = ARENA_ARRAY(&m->scratch, size_t, m->names->n + 2), n = 0, most = 0;

    for (size_t i = 0; i < s->n; i++)
        calls[s->name[i]]++;
    size_t *first = ARENA_ARRAY(&m->scratch, size_t, m->names->n + 2);
    for (size_t k = 0; k < m->names->n; k++) {
        first[k + 1] = first[k] + calls[k];
        most = calls[k] > most ? calls[k] : most;
    }
    size_t *at = ARENA_ARRAY(&m->scratch, size_t, s->n + 1);
    size_t *next = ARENA_ARRAY(&m->scratch, size_t, m->names->n + 2);
    memcpy(next, first, (m->names->n + 1) * sizeof(*next));
    for (size_t i = 0; i < s->n; i++)
        at[next[s->name[i]]++] = i;
    double *gaps = ARENA_ARRAY(&m->scratch, double, most + 1);
    double *sorted = ARENA_ARRAY(&m->scratch, double, most + 1);
    for (uint32_t k = 0; k < m->names->n; k++) {
        if (calls[k] < LEAST_CALLS)
            continue;
        for (size_t i = 0; i + 1 < calls[k]; i++)
            gaps[i] = (double)(at[first[k] + i + 1] - at[first[k] + i]);
        struct anchor a = anchor_of(k, gaps, calls[k] - 1, sorted);
        if (a.variation <= ANCHOR_VARIES && a.distance >= LEAST_DISTANCE)
            list[n++] = a;
    }
    return n;
}

static void find_repeated(struct maker *m)
{
    struct sequence s = sequence_of(m);
    struct anchor *list = ARENA_ARRAY(&m->scratch, struct anchor, m->names->n + 1);
    size_t n = find_anchors(m, &s, list);

    if (n > 1)
        qsort(list, n, sizeof(*list), best_anchor_first);
    n = n < MOST_ANCHORS ? n : MOST_ANCHORS;
    m->out->source = n > 0 ? UNITS_REPEATED : UNITS_NONE;
    m->out->kinds = ARENA_ARRAY(m->arena, struct profile_kind, n + 1);
    for (size_t k = 0; k < n; k++) {
        struct profile_kind *kind = &m->out->kinds[m->out->n_kinds++];
        struct units units = {ARENA_ARRAY(&m->scratch, struct interval, list[k].calls), NULL, 0};
        nanos last = INT64_MIN;
        for (size_t i = 0; i < s.n; i++) {
            if (s.name[i] != list[k].name)
                continue;
            if (last != INT64_MIN && s.begin[i] > last)
                units.at[units.n++] = (struct interval){last, s.begin[i]};
            last = s.begin[i];
        }
        kind->name = arena_str(m->arena, m->names->text[list[k].name]);
        kind->variation = list[k].variation;
        kind->distance = num_i64_of(list[k].distance);
        gather(m, units, NULL, 0, kind);
    }
}

/* ---- what the run is ---- */

/* As the profiler's options are called, which is one text in every language. */
static struct str options_of(const struct facts *f, struct arena *arena)
{
    static const char *const states[] = {"?", "0", "1"};

    return arena_format(
        arena, "record_shapes=%s, with_stack=%s%s",
        states[f->record_shapes == 0   ? 1
               : f->record_shapes == 1 ? 2
                                       : 0],
        states[f->with_stack == 0   ? 1
               : f->with_stack == 1 ? 2
                                    : 0],
        f->level >= 0 ? arena_printf(arena, ", profiler_level=%lld", (long long)f->level) : "");
}

static void find_facts(struct maker *m)
{
    const struct capture *cap = m->st->cap;
    struct profile *p = m->out;
    const struct device_tasks *tasks = &m->a->tasks;
    nanos first = INT64_MAX, last = INT64_MIN;

    p->name = arena_str(m->arena, str_of(cap->name));
    p->device = arena_str(m->arena, capture_text(cap, cap->facts.device_name));
    p->software = arena_str(m->arena, capture_text(cap, cap->facts.producer));
    p->options = options_of(&cap->facts, m->arena);
    p->rank = cap->facts.rank;
    p->world = cap->facts.world_size;
    p->kernels = (int64_t)tasks->n;
    p->steps = m->a->is_pseudo ? 0 : (int64_t)m->a->n;
    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        first = t->begin < first ? t->begin : first;
        last = t->end > last ? t->end : last;
        if (t->class != TASK_COMPUTE)
            continue;
        p->families[t->family].calls++;
        p->families[t->family].time += t->end - t->begin;
    }
    p->span = last > first ? last - first : 0;
}

const struct profile *profile_make(struct study *st, bool is_unmarked, struct arena *arena)
{
    struct maker m = {.st = st,
                      .arena = arena,
                      .a = study_accounting(st),
                      .names = ops_names(st),
                      .tree = study_op_tree(st),
                      .out = ARENA_NEW(arena, struct profile)};

    m.out->source = UNITS_NONE;
    arena_init(&m.scratch);
    for (int cause = 0; cause < IDLE_CAUSES; cause++)
        maker_part(&m, S("idle"), idle_word((enum idle_cause)cause), PART_IDLE);
    name_tasks(&m);
    m.work = profile_work_of_tasks(st, m.place, &m.scratch);
    claim_all(&m);
    find_facts(&m);
    profile_find_keys(st->cap, arena, m.out);
    if (!m.a->is_pseudo && !is_unmarked)
        find_marked(&m);
    if (m.out->source == UNITS_NONE)
        find_repeated(&m);
    vec_free(&m.claims);
    hash_free(&m.ids);
    arena_free(&m.scratch);
    return m.out;
}
