/*
 * Questions that follow from an outcome, and their answers.
 */
#include "pto/what_if.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/record.h"
#include "text/pto.h"

enum { MOST_PAIRS = 6 };

static void add(struct pto_what_ifs *out, enum pto_what what, enum pto_pipe a, enum pto_pipe b,
                int64_t evidence)
{
    if (evidence > 0)
        vec_push(out, ((struct pto_what_if){.what = what, .a = a, .b = b, .evidence = evidence}));
}

/* Cycles stalled for these reasons, over all pipes but the scalar unit, which stands at the last
 * barrier of every kernel. */
static int64_t stalled(const struct pto_outcome *o, uint32_t causes)
{
    int64_t sum = 0;

    for (size_t i = 0; i < o->units.n; i++)
        for (int why = 0; why < PTO_CAUSE_COUNT; why++)
            sum += (causes >> why & 1) != 0 && o->units.at[i].pipe != PTO_PIPE_S
                       ? o->units.at[i].stall[why]
                       : 0;
    return sum;
}

static int64_t busiest(const struct pto_outcome *o, enum pto_pipe pipe)
{
    int64_t most = 0;

    for (size_t i = 0; i < o->units.n; i++)
        if (o->units.at[i].pipe == pipe && o->units.at[i].busy > most)
            most = o->units.at[i].busy;
    return most;
}

/* Pairs of pipes of one core that waits took the most time for. */
static void add_pairs(const struct pto_outcome *o, struct pto_what_ifs *out)
{
    size_t first = out->n;

    for (size_t i = 0; i < o->stalls.n && out->n - first < MOST_PAIRS; i++) {
        const struct pto_stall *s = &o->stalls.at[i];
        bool is_known = false;
        if (s->core != s->from_core || s->pipe == s->from || s->cause == PTO_CAUSE_SCALAR ||
            s->cause == PTO_CAUSE_BARRIER)
            continue;
        for (size_t k = first; k < out->n && !is_known; k++)
            is_known = out->at[k].a == s->pipe && out->at[k].b == s->from;
        if (!is_known)
            add(out, PTO_WHAT_NO_WAITS, s->pipe, s->from, s->cycles);
    }
}

void pto_what_if_list(const struct pto_outcome *o, struct pto_what_ifs *out)
{
    uint32_t reuse = 1U << PTO_CAUSE_WAR | 1U << PTO_CAUSE_WAW;
    uint32_t flags = 1U << PTO_CAUSE_FLAG, barriers = 1U << PTO_CAUSE_BARRIER;

    add(out, PTO_WHAT_BUFFERS, 0, 0, stalled(o, o->is_dep ? reuse : flags));
    add(out, PTO_WHAT_BARRIERS, 0, 0, stalled(o, barriers));
    if (!o->is_dep)
        add(out, PTO_WHAT_IDEAL, 0, 0, stalled(o, flags | barriers));
    add(out, PTO_WHAT_INFINITE, PTO_PIPE_MTE2, 0, busiest(o, PTO_PIPE_MTE2));
    add(out, PTO_WHAT_INFINITE, PTO_PIPE_MTE3, 0, busiest(o, PTO_PIPE_MTE3));
    add(out, PTO_WHAT_INFINITE, PTO_PIPE_MTE1, 0, busiest(o, PTO_PIPE_MTE1));
    add(out, PTO_WHAT_INFINITE, PTO_PIPE_FIX, 0, busiest(o, PTO_PIPE_FIX));
    add(out, PTO_WHAT_TWICE, PTO_PIPE_M, 0, busiest(o, PTO_PIPE_M));
    add(out, PTO_WHAT_TWICE, PTO_PIPE_V, 0, busiest(o, PTO_PIPE_V));
    add_pairs(o, out);
}

void pto_what_if_apply(const struct pto_what_if *w, struct pto_options *options)
{
    switch (w->what) {
    case PTO_WHAT_BUFFERS:
        options->no_reuse_waits = true;
        break;
    case PTO_WHAT_BARRIERS:
        options->no_barriers = true;
        break;
    case PTO_WHAT_IDEAL:
        options->is_dep = true;
        break;
    case PTO_WHAT_INFINITE:
        options->speed_up[w->a] = 1e12;
        break;
    case PTO_WHAT_TWICE:
        options->speed_up[w->a] = 2;
        break;
    case PTO_WHAT_NO_WAITS: /* bit of the one that waits, in the row of the one waited for */
        options->ignored_pairs[w->b] |= 1U << w->a;
        break;
    }
}

bool pto_what_if_compiles(const struct pto_what_if *w)
{
    return w->what == PTO_WHAT_BUFFERS || w->what == PTO_WHAT_IDEAL;
}

/* The order of the list breaks ties, so that ranking is the same everywhere. */
ORDER_BY(by_cycles, struct pto_what_if,
         ORDER(x->cycles, y->cycles) ?: ORDER(x->what, y->what) ?: ORDER(x->a, y->a)
         ?: ORDER(x->b, y->b));

void pto_what_if_rank(struct pto_what_ifs *list, int64_t total)
{
    for (size_t i = 0; i < list->n; i++)
        list->at[i].gain = num_share(total - list->at[i].cycles, total);
    if (list->n > 0)
        qsort(list->at, list->n, sizeof(*list->at), by_cycles);
}

struct str pto_what_if_title(const struct pto_what_if *w, enum lang lang, struct arena *arena)
{
    static const struct message *const texts[] = {
        &pto_text.more_buffers, &pto_text.no_barriers, &pto_text.ideal_flags,
        &pto_text.infinite,     &pto_text.twice,       &pto_text.no_waits,
    };

    return MESSAGE(lang, arena, texts[w->what], PLACE("pipe", pto_pipe_short(w->a)),
                   PLACE("other", pto_pipe_short(w->b)));
}

struct str pto_what_if_evidence(const struct pto_what_if *w, enum lang lang, struct arena *arena)
{
    const struct message *text = w->what < PTO_WHAT_INFINITE   ? &pto_text.stalled_for_these
                                 : w->what < PTO_WHAT_NO_WAITS ? &pto_text.busy_for
                                                               : &pto_text.stalled_for;

    return MESSAGE(lang, arena, text, PLACE("pipe", pto_pipe_short(w->a)),
                   PLACE("other", pto_pipe_short(w->b)), PLACE("cycles", w->evidence));
}

static const char *change_name(enum pto_what what)
{
    static const char *const names[] = {"buffers",  "barriers", "ideal-sync",
                                        "infinite", "twice",    "no-waits"};

    return names[what];
}

static struct field_value pipe_of(const void *record, const struct record_env *env)
{
    const struct pto_what_if *w = record;

    (void)env;
    return w->what >= PTO_WHAT_INFINITE ? value_text(str_of(pto_pipe_short(w->a))) : value_none();
}

static struct field_value for_pipe_of(const void *record, const struct record_env *env)
{
    const struct pto_what_if *w = record;

    (void)env;
    return w->what == PTO_WHAT_NO_WAITS ? value_text(str_of(pto_pipe_short(w->b))) : value_none();
}

static struct field_value title_of(const void *record, const struct record_env *env)
{
    return value_text(pto_what_if_title(record, LANG_EN, env->arena));
}

static const struct field fields[] = {
    FIELD_OF_ENUM(struct pto_what_if, what, "change", change_name, PTO_WHAT_NO_WAITS + 1),
    FIELD_CALC(FIELD_STR, "pipe", pipe_of, .is_optional = true),
    FIELD_CALC(FIELD_STR, "for_pipe", for_pipe_of, .is_optional = true),
    FIELD_CALC(FIELD_STR, "title", title_of),
    FIELD(struct pto_what_if, evidence, "evidence_cycles",
          .about = "stalled or busy, that speak for it"),
    FIELD(struct pto_what_if, cycles, "cycles"),
    FIELD(struct pto_what_if, gain, "gain", .about = "share of the cycles that it saves"),
};
const struct record pto_what_if_record = RECORD(struct pto_what_if, fields);
