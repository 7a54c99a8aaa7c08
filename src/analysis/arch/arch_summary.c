/*
 * The architecture in one line.
 */
#include "analysis/arch/arch.h"
#include "text/arch.h"

static const double unknown_below = 0.4; /* confidence of repetition that is no answer */
static const double stack_share = 0.005; /* of device time, for a stack to be named at once */

struct str arch_stack_text(struct arena *arena, const struct arch_stack *s)
{
    struct str text = S("");

    for (size_t i = 0; i < s->n_kinds; i++)
        text = arena_format(arena, "%.*s%s%zu × %.*s", STR_ARGS(text), i > 0 ? " + " : "",
                            s->kinds[i].count, STR_ARGS(s->kinds[i].class));
    if (s->n_kinds == 0)
        text = arena_format(arena, "%zu layers", s->layers);
    for (size_t i = 0; i < s->n_parts; i++)
        text = arena_format(arena, "%.*s%s%zu", STR_ARGS(text), i == 0 ? " (" : " + ", s->parts[i]);
    if (s->n_parts > 0)
        text = arena_format(arena, "%.*s)", STR_ARGS(text));
    if (s->owner.n > 0)
        text = arena_format(arena, "%.*s in %.*s", STR_ARGS(text), STR_ARGS(s->owner));
    return text;
}

/* Layers of one kind in a row, and then of another: "19 + 38". */
static struct str add_runs(struct arena *arena, const struct arch_layers *layers, enum lang lang,
                           struct str text)
{
    struct str list = S("");

    if (layers->n_runs < 2)
        return text;
    for (size_t i = 0; i < layers->n_runs; i++)
        list =
            arena_format(arena, "%.*s%s%zu", STR_ARGS(list), i > 0 ? " + " : "", layers->runs[i]);
    return MESSAGE(lang, arena, &arch_text.summary_runs, PLACE("summary", text),
                   PLACE("runs", list));
}

/* The parts of a model of several (towers, an encoder and a decoder, a module that is called more
 * often than others) come first, the largest at the front. */
static struct str add_stacks(struct arena *arena, const struct arch *a, enum lang lang,
                             struct str text)
{
    struct str list = a->main != NULL ? arch_stack_text(arena, a->main) : S("");
    size_t n = a->main != NULL;

    for (size_t i = 0; i < a->stacks->n && n < ARCH_STACKS_TOLD; i++)
        if (a->stacks->at + i != a->main && (a->stacks->at[i].share >= stack_share || a->is_stated))
            list = arena_format(arena, "%.*s%s%.*s", STR_ARGS(list), n++ > 0 ? ", " : "",
                                STR_ARGS(arch_stack_text(arena, &a->stacks->at[i])));
    if (n > 0)
        return MESSAGE(lang, arena, n > 1 ? &arch_text.summary_stacks : &arch_text.summary_stack,
                       PLACE("n", n), PLACE("summary", text), PLACE("stacks", list));
    return add_runs(arena, a->layers, lang, text);
}

/* What contradicts the answer stands in front of it. */
static struct str add_doubts(struct arena *arena, const struct arch *a, enum lang lang,
                             struct str text)
{
    if (a->confidence < unknown_below && a->layers->method != ARCH_MARKER)
        return MESSAGE(lang, arena, &arch_text.summary_unknown, PLACE("summary", text));
    if (a->disagrees)
        return MESSAGE(lang, arena, &arch_text.summary_disagrees, PLACE("summary", text));
    if (a->n_failed == 0)
        return text;
    return MESSAGE(lang, arena, &arch_text.summary_failed, PLACE("n", a->n_failed),
                   PLACE("all", a->n_checks), PLACE("summary", text));
}

const char *arch_summary(struct arena *arena, const struct arch *a, enum lang lang)
{
    const struct arch_layers *l = a->layers;
    struct str types = S("");

    if (l->n == 0 && !a->is_stated)
        return message_in(lang, &arch_text.summary_none).at;
    for (size_t i = 0; i < a->types->n; i++)
        types =
            arena_format(arena, "%.*s%s%s %.*s", STR_ARGS(types), i == 0 ? ": " : ", ",
                         layer_kind_name(a->types->at[i].kind), STR_ARGS(a->types->at[i].layers));
    struct str text =
        MESSAGE(lang, arena,
                a->is_stated         ? &arch_text.summary_stated
                : l->has_both_phases ? &arch_text.summary_phases
                                     : &arch_text.summary,
                PLACE("n", l->complete), PLACE("layers", arch_layers_of_model(l)),
                PLACE("decode", l->decode_per_pass), PLACE("types", types),
                PLACE("method", message_word(lang, str_of(arch_method_name(l->method)))),
                PLACE("confidence", a->confidence));
    return add_doubts(arena, a, lang, add_stacks(arena, a, lang, text)).at;
}
