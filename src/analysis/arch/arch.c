/*
 * The architecture as a whole: evidence, cross-checks, confidence.
 */
#include "analysis/arch/arch.h"

#include <math.h>

#include "analysis/arch/arch_repeat.h"
#include "analysis/arch/arch_runs.h"
#include "analysis/arch/arch_stacks.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "text/arch.h"

enum { EVIDENCE_MOST = 32, CHECKS_MOST = 24, NOTES_MOST = 16 };

struct finder {
    struct study *st;
    struct arch *a;
    struct arena *arena;
};

static void note(struct finder *f, struct wording text)
{
    if (f->a->n_notes < NOTES_MOST)
        f->a->notes[f->a->n_notes++] = text;
}

static void evidence(struct finder *f, const char *what, struct wording value,
                     struct wording meaning, bool is_inferred)
{
    if (f->a->n_evidence < EVIDENCE_MOST)
        f->a->evidence[f->a->n_evidence++] =
            (struct arch_evidence){wording_plain(str_of(what)), value, meaning,
                                   is_inferred ? ORIGIN_INFERRED : ORIGIN_MEASURED};
}

/* ---- cross-verification ---- */

struct tally {
    size_t *per_pass;
    size_t n;
};

/* How often the operators for which `wanted` holds run in each complete pass. */
static struct tally tally_ops(struct finder *f, const bool *wanted)
{
    const struct arch_layers *layers = f->a->layers;
    struct tally t = {ARENA_ARRAY(f->arena, size_t, layers->complete), 0};

    for (size_t i = 0; i < layers->n_passes; i++) {
        const struct arch_pass *pass = &layers->passes[i];
        if (pass->is_partial)
            continue;
        for (size_t k = pass->first; k < pass->epilogue; k++)
            t.per_pass[t.n] += wanted[f->a->ops->of_kernel[k]];
        t.n++;
    }
    return t;
}

#define PLAIN(literal) wording_plain(S(literal))

static size_t layers_like(const struct finder *f, bool (*is_like)(const struct arch_layer *l))
{
    const struct arch_layers *layers = f->a->layers;

    for (size_t i = 0; i < layers->n_passes; i++) {
        size_t n = 0;
        if (layers->passes[i].is_partial)
            continue;
        for (size_t k = 0; k < layers->passes[i].layers; k++)
            n += is_like(&layers->at[layers->passes[i].layer_first + k]);
        return n;
    }
    return 0;
}

static bool is_dfc(const struct arch_layer *l)
{
    return l->kind == LAYER_MOE_DFC;
}

static bool is_moe(const struct arch_layer *l)
{
    return l->kind != LAYER_DENSE && l->kind != LAYER_BLOCK;
}

static bool is_grouped(const struct arch_layer *l)
{
    return is_moe(l) && l->kind != LAYER_MOE_DFC;
}

/* Checks one operator; `slack` is how far a count may be off, for what the prologue brings. With
 * more than one kernel of it passes need not be equal: their borders may part what it does. */
static void add_check_of(struct finder *f, struct str op, const bool *wanted, int64_t expected,
                         int64_t slack, struct wording meaning)
{
    bool is_even = true, fits = true;

    if (f->a->n_checks == CHECKS_MOST)
        return;
    struct tally t = tally_ops(f, wanted);
    struct arch_check *c = &f->a->checks[f->a->n_checks];
    for (size_t i = 0; i < t.n; i++) {
        int64_t off = (int64_t)t.per_pass[i] - expected;
        is_even &= t.per_pass[i] == t.per_pass[0];
        fits &= expected < 0 || (off <= slack && off >= -slack);
    }
    is_even |= slack > 1;
    *c = (struct arch_check){op, t.per_pass, t.n, expected, is_even && fits, meaning};
    if (!is_even)
        c->note = WORDING(f->arena, &arch_text.passes_differ,
                          place_wording("note", wording_keep(f->arena, meaning)));
    f->a->n_failed += !c->is_ok;
    f->a->n_checks++;
}

/* How often an operator stands in a layer: the count of the first complete pass by the layers, at
 * least once and at most `most` times. */
static int64_t times_of(struct finder *f, const bool *wanted, int64_t most)
{
    struct tally t = tally_ops(f, wanted);
    int64_t layers = (int64_t)f->a->layers->per_pass;
    int64_t times = t.n > 0 && layers > 0 ? ((int64_t)t.per_pass[0] + layers / 2) / layers : 1;

    return times < 1 ? 1 : times < most ? times : most;
}

/* Operators that a row of the table counts together: those of one canonical name. `most`: in a
 * layer, as of rotary embeddings, which turn queries and keys. */
static void check_each(struct finder *f, enum kernel_role family, int64_t most)
{
    bool *wanted = ARENA_ARRAY(f->arena, bool, f->a->ops->n);
    int64_t layers = (int64_t)f->a->layers->per_pass;

    for (size_t i = 0; i < f->a->ops->n; i++) {
        const struct arch_op *op = &f->a->ops->at[i];
        if (op->family != family || op->is_backward || op->calls < f->a->layers->complete)
            continue;
        wanted[i] = true;
        int64_t times = times_of(f, wanted, most);
        add_check_of(f, op->label, wanted, times * layers, times,
                     times == 1 ? wording_plain(S("one for every layer, the first in the prologue"))
                                : WORDING(f->arena, &arch_text.check_times, PLACE("n", times)));
        wanted[i] = false;
    }
}

static bool any_op(const struct finder *f, bool (*is_it)(const struct arch_op *op), bool *wanted)
{
    bool is_any = false;

    for (size_t i = 0; i < f->a->ops->n; i++) {
        wanted[i] = is_it(&f->a->ops->at[i]);
        is_any |= wanted[i];
    }
    return is_any;
}

static bool op_is_dfc(const struct arch_op *op)
{
    return op->is_dfc;
}

static bool op_is_gmm(const struct arch_op *op)
{
    return op->is_gmm;
}

static bool op_is_gate(const struct arch_op *op)
{
    return op->family == KERNEL_ROLE_MOE_GATE && str_contains_nocase(op->name, S("Gating"));
}

static bool op_is_topk(const struct arch_op *op)
{
    return op->family == KERNEL_ROLE_MOE_GATE && op->is_topk;
}

static bool op_is_alltoall(const struct arch_op *op)
{
    return op->is_alltoall;
}

static bool op_is_argmax(const struct arch_op *op)
{
    return op->family == KERNEL_ROLE_SAMPLING && str_contains_nocase(op->name, S("argmax"));
}

/* What one layer of those that have it uses: the count of the first complete pass divided. */
static int64_t per_layer(struct finder *f, const bool *wanted, size_t layers)
{
    struct tally t = tally_ops(f, wanted);

    if (layers == 0 || t.n == 0 || t.per_pass[0] % layers != 0)
        return 2;
    return (int64_t)(t.per_pass[0] / layers);
}

static struct str first_label(const struct finder *f, const bool *wanted, struct str otherwise)
{
    for (size_t i = 0; i < f->a->ops->n; i++)
        if (wanted[i])
            return f->a->ops->at[i].label;
    return otherwise;
}

static void check_moe(struct finder *f)
{
    bool *wanted = ARENA_ARRAY(f->arena, bool, f->a->ops->n);
    size_t moe = layers_like(f, is_moe), grouped = layers_like(f, is_grouped);

    if (any_op(f, op_is_dfc, wanted))
        add_check_of(f, S("DispatchFFNCombine"), wanted, (int64_t)layers_like(f, is_dfc), 0,
                     wording_plain(S("one in every MoE+DFC layer")));
    if (any_op(f, op_is_gmm, wanted))
        add_check_of(f, S("GroupedMatmul"), wanted,
                     per_layer(f, wanted, grouped) * (int64_t)grouped, 0,
                     WORDING(f->arena, &arch_text.check_grouped,
                             PLACE("n", per_layer(f, wanted, grouped)), PLACE("layers", grouped)));
    if (any_op(f, op_is_gate, wanted))
        add_check_of(f, first_label(f, wanted, S("router")), wanted, (int64_t)moe, 0,
                     wording_plain(S("one in every MoE layer")));
    if (any_op(f, op_is_topk, wanted))
        add_check_of(f, first_label(f, wanted, S("top-k")), wanted, (int64_t)moe, 0,
                     wording_plain(S("one in every MoE layer")));
    if (grouped > 0 && any_op(f, op_is_alltoall, wanted))
        add_check_of(f, S("alltoallv"), wanted, 2 * (int64_t)grouped, 0,
                     wording_plain(S("two in every layer that exchanges tokens between experts")));
}

/* Kernels that do one part of a layer whole, by their names; of unfused parts none can be counted.
 */
static bool is_whole_part(const struct arch_op *op)
{
    static const struct str names[] = {
        S_INIT("rms_norm"),     S_INIT("RMSNorm"),       S_INIT("layer_norm"),
        S_INIT("LayerNorm"),    S_INIT("rotary"),        S_INIT("rope"),
        S_INIT("and_cache"),    S_INIT("set_kv_buffer"), S_INIT("act_and_mul"),
        S_INIT("silu_and_mul"), S_INIT("gelu_and_mul"),  S_INIT("cross_device_reduce"),
        S_INIT("AllReduce"),    S_INIT("all_reduce"),
    };

    return STR_ANY(str_contains_nocase, op->name, names);
}

/* Norms, rotary embeddings, writes to the cache, activations and all-reduces of a GPU: a layer has
 * each once or a few times. What stands in fewer than all layers belongs to none of them. */
static void check_gpu(struct finder *f)
{
    enum { TIMES_MOST = 4 };
    bool *wanted = ARENA_ARRAY(f->arena, bool, f->a->ops->n);
    int64_t layers = (int64_t)f->a->layers->per_pass;

    if (f->a->layers->is_training || f->a->layers->has_both_phases)
        return; /* parts run backward, or are other kernels */
    for (size_t i = 0; i < f->a->ops->n; i++) {
        const struct arch_op *op = &f->a->ops->at[i];
        if (!is_whole_part(op) || op->is_backward || op->calls < f->a->markers->n)
            continue;
        wanted[i] = true;
        int64_t times = times_of(f, wanted, TIMES_MOST);
        add_check_of(f, op->label, wanted, times * layers, times + 1,
                     times == 1 ? wording_plain(S("one for every layer, the first in the prologue"))
                                : WORDING(f->arena, &arch_text.check_times, PLACE("n", times)));
        wanted[i] = false;
    }
}

static void cross_check(struct finder *f)
{
    const struct arch_layers *layers = f->a->layers;
    const struct arch_markers *m = f->a->markers;
    bool *wanted = ARENA_ARRAY(f->arena, bool, f->a->ops->n);
    int64_t samples = layers->has_both_phases ? 1 + (int64_t)layers->decode_per_pass : 1;

    f->a->checks = ARENA_ARRAY(f->arena, struct arch_check, CHECKS_MOST);
    f->a->n_checks = f->a->n_failed = 0;
    if (layers->complete == 0 || layers->method != ARCH_MARKER)
        return;
    for (size_t i = 0; i < f->a->ops->n; i++)
        wanted[i] = f->a->ops->at[i].marker == m->class;
    if (m->recomputed == 0 && m->merged == 0)
        add_check_of(f, m->name, wanted, (int64_t)layers->per_pass, 0,
                     layers->is_training ? PLAIN("one for every layer of every pass")
                                         : WORDING(f->arena, &arch_text.check_phases,
                                                   PLACE("prefill", layers->prefill_per_pass),
                                                   PLACE("decode", layers->decode_per_pass)));
    check_moe(f);
    if (capture_is_ascend(f->st->cap)) {
        check_each(f, KERNEL_ROLE_ROPE, 2);
        check_each(f, KERNEL_ROLE_KVCACHE, 1);
    } else {
        check_gpu(f);
    }
    if (any_op(f, op_is_argmax, wanted))
        add_check_of(f, first_label(f, wanted, S("ArgMax")), wanted, samples, 0,
                     wording_plain(S("one for every pass and every draft step")));
}

/* ---- the chain of evidence ---- */

static struct wording count_text(struct finder *f, size_t n)
{
    return wording_plain(arena_format(f->arena, "%zu", n));
}

static struct wording percent_text(struct finder *f, double share)
{
    return wording_plain(arena_format(f->arena, "%.1f %%", 100 * share));
}

static void tell_borders(struct finder *f)
{
    static const char *const names[BORDER_RULES] = {"phase changes decode to prefill",
                                                    "embedding between markers",
                                                    "long idle gaps between markers",
                                                    "step marks between markers",
                                                    "graph launches between markers",
                                                    "sampling between markers",
                                                    "rounds of a loop",
                                                    "backward attention between markers"};
    const struct arch_layers *layers = f->a->layers;

    for (size_t i = 0; i < BORDER_RULES; i++)
        if (layers->fired[i] > 0)
            evidence(f, names[i], count_text(f, layers->fired[i]),
                     layers->is_ignored[i] ? PLAIN("not used as a border between passes")
                                           : PLAIN("borders between passes"),
                     false);
}

static void tell_markers(struct finder *f)
{
    const struct arch_markers *m = f->a->markers;
    const struct arch_layers *layers = f->a->layers;

    evidence(f, "attention markers",
             WORDING(f->arena, &arch_text.markers_of, PLACE("n", m->n), PLACE("name", m->name)),
             PLAIN("one for every layer of every pass"), false);
    evidence(f, "phases",
             WORDING(f->arena, &arch_text.phases, PLACE("prefill", m->prefill),
                     PLACE("decode", m->decode), PLACE("unknown", m->unknown)),
             wording_plain(str_of(m->phase_rule)), true);
    tell_borders(f);
    evidence(f, "layers per pass", count_text(f, layers->per_pass),
             WORDING(f->arena, &arch_text.markers_in_passes, PLACE("markers", m->n),
                     PLACE("passes", layers->complete), PLACE("layers", layers->per_pass),
                     PLACE("partial", layers->partial)),
             true);
    if (layers->period_match >= 0)
        evidence(f, "period check", percent_text(f, layers->period_match),
                 PLAIN("layers that look like the one a pass later"), false);
    if (m->backward > 0)
        evidence(f, "backward attention", count_text(f, m->backward),
                 PLAIN("a training run: layers are counted by their forward kernels"), false);
    if (m->recomputed > 0)
        evidence(f, "recomputed attention", count_text(f, m->recomputed),
                 PLAIN("forward kernels run again for the backward pass; not counted"), true);
    if (m->merged > 0)
        evidence(f, "second attention kernels", count_text(f, m->merged),
                 PLAIN("two kernels serve one layer; counted once"), true);
}

static void tell_repeats(struct finder *f)
{
    const struct arch_layers *layers = f->a->layers;

    evidence(f, "attention markers", PLAIN("0"), PLAIN("no attention kernels to count layers by"),
             false);
    if (layers->method == ARCH_REPEAT) {
        evidence(f, "repeated kernels", count_text(f, layers->period),
                 PLAIN("longest block of the main stream that repeats, in kernels"), false);
        evidence(f, "coverage", percent_text(f, layers->coverage),
                 PLAIN("kernels of the main stream inside repeated blocks"), false);
        evidence(f, "noise", percent_text(f, layers->noise),
                 PLAIN("kernels in which blocks differ from the first"), false);
    }
    if (layers->forward_per_pass > 0)
        evidence(f, "forward and backward blocks",
                 WORDING(f->arena, &arch_text.blocks, PLACE("forward", layers->forward_per_pass),
                         PLACE("backward", layers->backward_per_pass)),
                 layers->forward_per_pass == layers->backward_per_pass
                     ? PLAIN("a training run: each layer runs forward once and backward once")
                     : PLAIN("a training run; the two repeats differ in number"),
                 false);
    evidence(f, "layer borders", wording_plain(str_of(arch_method_name(layers->method))),
             layers->method == ARCH_NONE
                 ? PLAIN("nothing repeats, no collectives, no gaps: structure unknown")
                 : WORDING(f->arena,
                           layers->method == ARCH_REPEAT       ? &arch_text.borders_repeat
                           : layers->method == ARCH_COLLECTIVE ? &arch_text.borders_collective
                                                               : &arch_text.borders_gap,
                           PLACE("confidence", layers->confidence)),
             true);
}

static void tell_modules(struct finder *f)
{
    for (size_t i = 0; i < f->a->stacks->n && i < ARCH_STACKS_TOLD; i++) {
        const struct arch_stack *s = &f->a->stacks->at[i];
        evidence(f,
                 s->is_opaque  ? "attention kernels per module call"
                 : s->is_range ? "ranges of the user"
                               : "module frames",
                 wording_plain(arch_stack_text(f->arena, s)),
                 s->is_opaque  ? PLAIN("the module has no frames inside; one layer for each "
                                        "attention kernel of a call")
                 : s->is_range ? PLAIN("layers as ranges of the user state them")
                 : s->is_plain
                     ? PLAIN("no repeated blocks: linear and convolution layers are counted")
                     : PLAIN("layers as the model's own modules state them"),
                 s->is_opaque);
    }
    if (f->a->disagrees)
        evidence(f, "kernels against module frames", count_text(f, f->a->layers->per_pass),
                 PLAIN("kernels alone give another number of layers than module frames"), true);
}

static void tell_checks(struct finder *f)
{
    if (f->a->n_checks > 0)
        evidence(f, "cross-checks",
                 WORDING(f->arena, &arch_text.checks_hold,
                         PLACE("n", f->a->n_checks - f->a->n_failed), PLACE("all", f->a->n_checks)),
                 f->a->n_failed == 0 ? PLAIN("the counts agree with the layers")
                                     : PLAIN("some counts contradict the layers"),
                 false);
    if (f->a->was_retried)
        evidence(f, "second try", count_text(f, f->a->layers->per_pass),
                 PLAIN("the first choice of layers per pass failed the cross-check"), true);
}

static void tell_notes(struct finder *f)
{
    const struct arch *a = f->a;

    if (study_kernels(f->st).n == 0)
        note(f, PLAIN("no kernels: the model is unknown"));
    if (a->layers->method == ARCH_MARKER)
        note(f,
             PLAIN("a layer is cut where its attention begins: it holds its own attention, its "
                   "feed-forward part and the next layer's norm, QKV, rope and cache preparation"));
    if (a->layers->is_training && a->layers->method == ARCH_MARKER)
        note(f, PLAIN("training capture: backward and optimizer kernels are kept apart from the "
                      "layers, each layer is counted once"));
    if (a->comm->main_streams > 1)
        note(f, WORDING(f->arena, &arch_text.note_streams, PLACE("n", a->comm->main_streams)));
    if (a->layers->is_open)
        note(f, PLAIN("no steps bound what repeats: it may be the iterations of a program"));
    if (a->layers->complete == 1)
        note(f, PLAIN("one pass only: passes cannot be compared"));
    if (f->st->cap->comm_ops.n == 0)
        note(f, PLAIN("no communication.json: overlaps come from kernels, no bandwidth is known"));
    if (!(f->st->cap->has & HAS_SHAPES))
        note(f, PLAIN("no tensor shapes: model sizes are unknown"));
    if (f->a->n_failed > 0)
        note(f, PLAIN("some cross-checks do not hold; see the verdicts"));
}

static size_t find_with(struct finder *f, size_t choice)
{
    f->a->layers = arch_layers_find(f->st, f->a->ops, f->a->markers, choice);
    cross_check(f);
    return f->a->n_failed;
}

static void find_by_kernels(struct finder *f)
{
    size_t failed = find_with(f, 0);

    if (failed == 0 || f->a->layers->n_candidates < 2)
        return;
    if (find_with(f, 1) < failed)
        f->a->was_retried = true;
    else
        find_with(f, 0);
}

/* Whether the model's own modules explain most of the device's time. */
static bool find_by_modules(struct finder *f)
{
    struct arch *a = f->a;

    a->stacks = arch_stacks_find(f->st);
    arch_modules_add_opaque(f->st, a->markers, a->stacks);
    arch_ranges_add(f->st, a->stacks);
    a->main = arch_modules_main(f->st, a->stacks);
    if (a->main != NULL)
        a->layers = arch_modules_layers(f->st, a->ops, a->markers, a->stacks, a->main);
    if (a->layers == NULL)
        a->main = NULL;
    return a->main != NULL;
}

/* Where kernels tell little, frames alone state the layers. */
static void fall_back_on_frames(struct finder *f)
{
    struct arch *a = f->a;
    const struct arch_stack *stated = arch_modules_stated(a->stacks);

    if (a->main != NULL || stated == NULL || a->layers->method == ARCH_MARKER)
        return;
    struct arch_layers *layers = ARENA_NEW(f->arena, struct arch_layers);
    *layers = (struct arch_layers){.method = stated->is_range ? ARCH_RANGE : ARCH_MODULE,
                                   .per_pass = stated->layers,
                                   .period_match = -1};
    a->layers = layers;
    a->main = stated;
    a->is_stated = true;
    a->n_checks = a->n_failed = 0;
}

/* Kernels tell of a model whose frames are there too, but do not hold the kernels: do the two
 * agree on the layers? */
static bool contradicts(const struct arch *a)
{
    size_t layers = arch_layers_of_model(a->layers);

    if (a->main != NULL || a->stacks->n == 0 || layers == 0)
        return false;
    for (size_t i = 0; i < a->stacks->n; i++)
        if (a->stacks->at[i].layers == layers)
            return false;
    return true;
}

const struct arch *arch_find(struct study *st, const struct arch_options *options)
{
    struct arch *a = ARENA_NEW(&st->scratch, struct arch);
    struct finder f = {st, a, &st->scratch};
    struct interval_set busy = study_busy(st);
    const struct steps *steps = study_steps(st);

    a->evidence = ARENA_ARRAY(&st->scratch, struct arch_evidence, EVIDENCE_MOST);
    a->notes = ARENA_ARRAY(&st->scratch, struct wording, NOTES_MOST);
    if (busy.n > 0)
        a->device = (struct interval){busy.at[0].begin, busy.at[busy.n - 1].end};
    a->origin = a->device.begin;
    if (steps->n > 0 && (busy.n == 0 || steps->at[0].window.begin < a->origin))
        a->origin = steps->at[0].window.begin;
    a->ops = arch_ops_find(st, options->rules);
    a->markers = arch_markers_find(st, a->ops);
    if (!find_by_modules(&f))
        find_by_kernels(&f);
    fall_back_on_frames(&f);
    a->types = arch_types_find(st, a->ops, a->markers, a->layers);
    a->comm = arch_comm_find(st, a->ops, a->markers);
    a->config = arch_config_find(st, a->ops, a->layers, options->name);
    a->products = arch_runs_products(st, a->ops, a->layers);
    a->disagrees = contradicts(a);
    tell_modules(&f);
    if (a->layers->method == ARCH_MARKER)
        tell_markers(&f);
    else if (a->main == NULL)
        tell_repeats(&f);
    tell_checks(&f);
    a->confidence = arch_judge(a);
    tell_notes(&f);
    return a;
}

nanos arch_marker_duration(struct study *st, const struct arch_layer *layer)
{
    return layer->marker != SIZE_MAX ? st->cap->slices.dur[study_kernels(st).at[layer->marker]]
                                     : -1;
}

double arch_marker_average(struct study *st, const struct arch *a, const struct arch_pass *pass,
                           enum arch_phase phase)
{
    nanos sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < pass->layers; i++) {
        const struct arch_layer *layer = &a->layers->at[pass->layer_first + i];
        if (layer->marker == SIZE_MAX || layer->phase != phase)
            continue;
        sum = nanos_add(sum, arch_marker_duration(st, layer));
        n++;
    }
    return n > 0 ? (double)sum / (double)n : NAN;
}
