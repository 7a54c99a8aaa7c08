/*
 * Prefill and decode iterations, found and described.
 */
#include "analysis/tables/serving.h"

#include <math.h>

#include "analysis/analysis.h"
#include "analysis/ops/op_tree.h"
#include "analysis/steps/steps.h"
#include "base/tables/ranked.h"
#include "ops/recorded_work.h"
#include "text/serving.h"

/* ---- which iterations ---- */

/* The engine's own ranges, else the steps. */
static void begin_iterations(struct study *st, struct serving *out)
{
    struct serving_ranges ranges = serving_ranges_find(st);
    const struct steps *steps = study_steps(st);
    bool is_marked = ranges.n > 0;

    out->is_on_device = !is_marked && steps->source == STEPS_PASS;
    out->n = is_marked ? ranges.n : steps->source != STEPS_PSEUDO ? steps->n : 0;
    out->at = ARENA_ARRAY(&st->scratch, struct serving_iteration, out->n);
    for (size_t i = 0; i < out->n; i++) {
        struct serving_iteration *it = &out->at[i];
        struct interval at = is_marked ? ranges.at[i].at : steps->at[i].window;
        struct serving_name what = {SERVING_UNKNOWN, false, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
        if (is_marked)
            what = ranges.at[i].what;
        *it = (struct serving_iteration){
            .name = is_marked ? capture_text(st->cap, ranges.at[i].name) : steps->at[i].id,
            .kind = what.kind,
            .is_inferred = what.kind == SERVING_UNKNOWN,
            .context_requests = what.context_requests,
            .context_tokens = what.context_tokens,
            .generation_requests = what.generation_requests,
            .generation_tokens = what.generation_tokens,
            .tokens = UNKNOWN,
            .begin = at.begin,
            .time = is_marked ? nanos_sub(at.end, at.begin) : 0, /* steps last to the next one */
            .period = UNKNOWN,
        };
    }
    for (size_t i = 0; i + 1 < out->n; i++)
        out->at[i].period = nanos_sub(out->at[i + 1].begin, out->at[i].begin);
}

/* ---- what ran in them ---- */

/* What the kernels of an iteration tell of it. */
struct serving_work {
    bool is_begun;
    nanos first, last, reach; /* first begin, last end; end of what counts as busy so far */
    bool has_prefill, has_decode;
    double rows, flops; /* of the largest matrix product */
};

static void see_attention(struct str name, struct serving_work *w)
{
    static const struct str prefill[] = {S_INIT("prefill"), S_INIT("varlen"),
                                         S_INIT("PromptFlashAttention")};
    static const struct str decode[] = {S_INIT("decode"), S_INIT("paged_attention"),
                                        S_INIT("PagedAttention"), S_INIT("splitkv"),
                                        S_INIT("IncreFlashAttention")};

    w->has_prefill = w->has_prefill || STR_ANY(str_contains_nocase, name, prefill);
    w->has_decode = w->has_decode || STR_ANY(str_contains_nocase, name, decode);
}

static void see_kernel(struct study *st, size_t kernel, struct serving_iteration *it,
                       struct serving_work *w)
{
    const struct capture *cap = st->cap;
    const struct op_tree *tree = study_op_tree(st);
    uint32_t slice = study_kernels(st).at[kernel], call = tree->launch[kernel];
    nanos begin = cap->slices.begin[slice], end = slices_end(&cap->slices, slice);

    if (!w->is_begun)
        *w = (struct serving_work){.is_begun = true, .first = begin, .last = end, .reach = begin};
    it->kernels++;
    if (end > w->reach)
        it->busy = nanos_add(it->busy, nanos_sub(end, begin > w->reach ? begin : w->reach));
    w->reach = end > w->reach ? end : w->reach;
    w->last = end > w->last ? end : w->last;
    if (!it->is_inferred)
        return;
    see_attention(capture_text(cap, cap->slices.name[slice]), w);
    if (call != OP_TREE_NONE && tree->parent[call] != OP_TREE_NONE) {
        /* Rows of the left factor of a matrix product are tokens. */
        struct str name = capture_text(cap, cap->slices.name[tree->parent[call]]);
        struct recorded_work work = recorded_work_estimate(&(struct recorded_call){
            .op = name, .shapes = capture_slice_text(cap, tree->parent[call], KEY_INPUT_SHAPES)});
        if (work.kind != RECORDED_WORK_PRODUCT || work.flops <= w->flops)
            return;
        w->flops = work.flops;
        w->rows = work.rows;
    }
}

/* A kernel belongs to the iteration in which it was launched. */
static void assign_kernels(struct study *st, struct serving *out)
{
    const struct capture *cap = st->cap;
    struct kernel_order kernels = study_kernels(st);
    struct serving_work *work = ARENA_ARRAY(&st->scratch, struct serving_work, out->n + 1);

    for (size_t i = 0; i < kernels.n && out->n > 0; i++) {
        uint32_t call = out->is_on_device ? OP_TREE_NONE : study_op_tree(st)->launch[i];
        uint32_t at = call != OP_TREE_NONE ? call : kernels.at[i];
        size_t n;
        vec_bisect(n, out->n, k, out->at[k].begin <= cap->slices.begin[at]);
        if (n > 0)
            see_kernel(st, i, &out->at[n - 1], &work[n - 1]);
    }
    for (size_t i = 0; i < out->n; i++) {
        struct serving_iteration *it = &out->at[i];
        const struct serving_work *w = &work[i];
        if (w->is_begun) {
            nanos time = nanos_sub(w->last, it->begin);
            it->device = nanos_sub(w->last, w->first);
            it->time = time > it->time ? time : it->time;
        }
        if (it->is_inferred && w->has_prefill != w->has_decode)
            it->kind = w->has_prefill ? SERVING_PREFILL : SERVING_DECODE;
        else if (it->is_inferred && w->has_prefill)
            it->kind = SERVING_MIXED;
        int64_t context = it->context_tokens, generation = it->generation_tokens;
        if (context != UNKNOWN || generation != UNKNOWN)
            it->tokens = (context > 0 ? context : 0) + (generation > 0 ? generation : 0);
        else if (w->rows > 0 && w->rows < 1e9)
            it->tokens = num_i64_of(w->rows);
    }
}

/* ---- sums ---- */

static void add_mean(int64_t value, double *sum, size_t *n)
{
    if (value == UNKNOWN)
        return;
    *sum += (double)value;
    ++*n;
}

/* Requests of an iteration; UNKNOWN where the engine does not say. */
static int64_t requests_of(const struct serving_iteration *it)
{
    if (it->context_requests == UNKNOWN && it->generation_requests == UNKNOWN)
        return UNKNOWN;
    return (it->context_requests > 0 ? it->context_requests : 0) +
           (it->generation_requests > 0 ? it->generation_requests : 0);
}

/* The middle one; UNKNOWN when there is none. */
static nanos middle_of(nanos *list, size_t n)
{
    return n > 0 ? nanos_of(ranked_pick_middle(list, n)) : UNKNOWN;
}

static struct serving_sum serving_sum_of(const struct serving *s, enum serving_kind kind,
                                         nanos *room)
{
    struct serving_sum sum = {.kind = kind, .shortest = INT64_MAX};
    double requests = 0, tokens = 0, counted = 0;
    size_t n_requests = 0, n_tokens = 0, n_periods = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct serving_iteration *it = &s->at[i];
        if (it->kind != kind)
            continue;
        room[sum.n++] = it->time;
        sum.shortest = it->time < sum.shortest ? it->time : sum.shortest;
        sum.longest = it->time > sum.longest ? it->time : sum.longest;
        counted += it->tokens != UNKNOWN ? (double)it->time : 0;
        add_mean(requests_of(it), &requests, &n_requests);
        add_mean(it->tokens, &tokens, &n_tokens);
    }
    sum.median = middle_of(room, sum.n);
    for (size_t i = 0; i + 1 < s->n; i++)
        if (s->at[i].kind == kind && s->at[i + 1].kind == kind)
            room[n_periods++] = s->at[i].period;
    sum.period = middle_of(room, n_periods);
    sum.requests = n_requests > 0 ? requests / (double)n_requests : NAN;
    sum.tokens = n_tokens > 0 ? tokens / (double)n_tokens : NAN;
    sum.rate = counted > 0 ? tokens / counted * 1e9 : NAN;
    return sum;
}

const struct serving *serving_find(struct study *st)
{
    struct serving *out = ARENA_NEW(&st->scratch, struct serving);

    *out = (struct serving){.first_token = UNKNOWN, .per_token = UNKNOWN};
    begin_iterations(st, out);
    assign_kernels(st, out);
    nanos *room = ARENA_ARRAY(&st->scratch, nanos, out->n + 1);
    size_t n = 0;
    for (int kind = 0; kind < SERVING_KINDS; kind++) {
        struct serving_sum sum = serving_sum_of(out, (enum serving_kind)kind, room);
        if (sum.n > 0)
            out->sums[out->n_sums++] = sum;
        if (sum.n == 0 || kind != SERVING_DECODE)
            continue;
        out->has_period = sum.period != UNKNOWN;
        out->per_token = out->has_period ? sum.period : sum.median;
    }
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].kind == SERVING_PREFILL || out->at[i].kind == SERVING_MIXED)
            room[n++] = out->at[i].time;
    out->first_token = middle_of(room, n);
    return out;
}

/* ---- described ---- */

#define COUNT(member, key_, ...)                                                                   \
    FIELD(struct serving_iteration, member, key_, .missing = MISSING_NEGATIVE, __VA_ARGS__)

static const struct field iteration_fields[] = {
    FIELD(struct serving_iteration, name, "name", .head = "iteration"),
    FIELD_OF_ENUM(struct serving_iteration, kind, "kind", serving_kind_name, SERVING_KINDS,
                  .head = "kind"),
    FIELD(struct serving_iteration, is_inferred, "is_inferred"),
    COUNT(context_requests, "context_requests"),
    COUNT(context_tokens, "context_tokens"),
    COUNT(generation_requests, "generation_requests"),
    COUNT(generation_tokens, "generation_tokens"),
    COUNT(tokens, "tokens", .head = "tokens"),
    FIELD(struct serving_iteration, begin, "begin_ns"),
    FIELD(struct serving_iteration, time, "time_ns", .head = "time ms", .unit = UNIT_MS),
    COUNT(period, "period_ns", .head = "period ms", .unit = UNIT_MS),
    FIELD(struct serving_iteration, device, "device_ns", .head = "device ms", .unit = UNIT_MS),
    FIELD(struct serving_iteration, busy, "busy_ns", .head = "busy ms", .unit = UNIT_MS),
    FIELD(struct serving_iteration, kernels, "kernels", .head = "kernels"),
};
static const struct record iteration_record = RECORD(struct serving_iteration, iteration_fields);

static const struct field sum_fields[] = {
    FIELD_OF_ENUM(struct serving_sum, kind, "kind", serving_kind_name, SERVING_KINDS,
                  .head = "kind"),
    FIELD(struct serving_sum, n, "iterations", .head = "iterations"),
    FIELD(struct serving_sum, median, "time_median_ns", .head = "time ms", .unit = UNIT_MS),
    FIELD(struct serving_sum, shortest, "time_min_ns", .head = "min ms", .unit = UNIT_MS),
    FIELD(struct serving_sum, longest, "time_max_ns", .head = "max ms", .unit = UNIT_MS),
    FIELD(struct serving_sum, period, "period_median_ns", .head = "period ms", .unit = UNIT_MS,
          .missing = MISSING_NEGATIVE),
    FIELD(struct serving_sum, requests, "requests_mean", .head = "requests", .unit = UNIT_PLAIN),
    FIELD(struct serving_sum, tokens, "tokens_mean", .head = "tokens", .unit = UNIT_PLAIN),
    FIELD(struct serving_sum, rate, "tokens_per_second", .head = "tokens/s", .unit = UNIT_PLAIN),
};
static const struct record sum_record = RECORD(struct serving_sum, sum_fields);

static const struct field serving_fields[] = {
    FIELD_ROOM(struct serving, sums, n_sums, "kinds", &sum_record),
    FIELD(struct serving, first_token, "first_token_ns", .missing = MISSING_NEGATIVE),
    FIELD(struct serving, per_token, "per_token_ns", .missing = MISSING_NEGATIVE),
    FIELD_LIST(struct serving, at, n, "iterations", &iteration_record),
};
static const struct record serving_record = RECORD(struct serving, serving_fields);

const struct schema serving_schema = {
    .name = "strata.serving/1",
    .title = "prefill and decode iterations of a serving engine",
    .record = &serving_record,
};

enum { ROWS_SHOWN = 20 };

static void serving_describe(struct study *st, struct report *r)
{
    const struct serving *s = serving_find(st);
    size_t n = s->n < ROWS_SHOWN ? s->n : ROWS_SHOWN;

    if (s->n == 0) {
        report_text(r, report_message(r, &serving_text.none));
        return;
    }
    if (s->first_token != UNKNOWN)
        report_text(r, REPORT_MESSAGE(r, &serving_text.first_token,
                                      place_quantity("time", (double)s->first_token, UNIT_NS)));
    if (s->per_token != UNKNOWN)
        report_text(r, REPORT_MESSAGE(
                           r, s->has_period ? &serving_text.per_token : &serving_text.per_token_one,
                           place_quantity("time", (double)s->per_token, UNIT_NS)));
    report_records(r, &sum_record, s->sums, s->n_sums, NULL);
    report_records(r, &iteration_record, s->at, n, NULL);
    if (n < s->n)
        report_text(r, REPORT_MESSAGE(r, &serving_text.more, PLACE("n", s->n - n)));
}

static const void *tables_serving_find(struct study *st)
{
    return serving_find(st);
}

const struct analysis analysis_serving = {
    .name = "serving",
    .summary = "prefill and decode iterations of a serving engine",
    .needs = HAS_KERNELS,
    .schema = &serving_schema,
    .find = tables_serving_find,
    .run = serving_describe,
};
