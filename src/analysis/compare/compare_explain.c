/*
 * The result in sentences: what happened, why, and what to record where that cannot be told.
 */
#include <math.h>

#include "analysis/compare/compare.h"
#include "analysis/diagnose/accounting.h"
#include "text/diff.h"

enum { REASONS = 3 };

#define REASON_SHARE 0.10 /* of the change: parts that moved it less are not named */

/* "+1.20 ms" */
static struct str signed_time(struct arena *arena, nanos by)
{
    return arena_format(arena, "%s%s", by < 0 ? "-" : "+",
                        quantity_text(arena, fabs((double)by), UNIT_NS));
}

static struct str signed_share(struct arena *arena, double share)
{
    return arena_format(arena, "%+.1f %%", 100 * share);
}

static struct str short_operator(struct arena *arena, struct str name)
{
    enum { WIDTH = 48 };
    struct str front = str_fit(name, WIDTH);

    return front.n < name.n ? arena_format(arena, "%.*s...", STR_ARGS(front)) : name;
}

static struct wording reason_of(struct arena *arena, const struct compare_part *p)
{
    static const struct message *const words[] = {
        [CHANGE_ADDED] = &diff_text.why_added,       [CHANGE_REMOVED] = &diff_text.why_removed,
        [CHANGE_CALLS] = &diff_text.why_calls,       [CHANGE_SLOWER] = &diff_text.why_slower,
        [CHANGE_FASTER] = &diff_text.why_faster,     [CHANGE_EXPOSED] = &diff_text.why_exposed,
        [CHANGE_HIDDEN] = &diff_text.why_hidden,     [CHANGE_WAITED] = &diff_text.why_waited,
        [CHANGE_HASTENED] = &diff_text.why_hastened, [CHANGE_IDLE] = &diff_text.why_idle,
    };
    struct message_place name = PLACE("name", short_operator(arena, p->name));
    struct message_place time = PLACE("time", signed_time(arena, p->delta));

    if (p->change == CHANGE_CALLS)
        return WORDING(arena, words[p->change], name, time, PLACE("a", round(p->calls[SIDE_A])),
                       PLACE("b", round(p->calls[SIDE_B])));
    return WORDING(arena, words[p->change], name, time);
}

/* The parts that moved a unit most, in its direction: as many as are worth a word. */
static struct wording reasons_of(struct arena *arena, const struct compare_kind *k)
{
    nanos all = k->time[SIDE_B] - k->time[SIDE_A];
    struct wording out = {0};
    size_t n = 0;

    for (size_t i = 0; i < k->n_parts && n < REASONS; i++) {
        const struct compare_part *p = &k->parts[i];
        if (p->change == CHANGE_SAME || (p->delta > 0) != (all > 0) ||
            fabs((double)p->delta) < REASON_SHARE * fabs((double)all))
            continue;
        struct wording one = reason_of(arena, p);
        out = n++ == 0 ? one
                       : WORDING(arena, &diff_text.why_two,
                                 place_wording("first", wording_keep(arena, out)),
                                 place_wording("second", wording_keep(arena, one)));
    }
    return out;
}

/* How long a unit takes on either side, and by how much that changed. */
struct told_unit {
    struct message_place label, a, b, change, low, high;
};

static struct told_unit told_of(struct arena *arena, const struct compare_kind *k)
{
    const struct noise_change *n = &k->change;
    const double *lengths = n->is_typical ? n->typical : n->mean;
    double by = n->is_typical ? n->typical_relative : n->relative,
           low = n->is_typical ? n->typical_low : n->low,
           high = n->is_typical ? n->typical_high : n->high;

    return (struct told_unit){
        .label = place_wording("label", wording_keep(arena, wording_plain(k->label))),
        .a = place_quantity("a", lengths[SIDE_A], UNIT_NS),
        .b = place_quantity("b", lengths[SIDE_B], UNIT_NS),
        .change = PLACE("change", signed_share(arena, by)),
        .low = PLACE("low", signed_share(arena, low)),
        .high = PLACE("high", signed_share(arena, high)),
    };
}

static struct wording tell_few(struct arena *arena, const struct noise_change *n,
                               const struct told_unit *t)
{
    if (n->is_doubled)
        return WORDING(arena, &diff_text.doubled, t->label, t->a, t->b, t->change);
    return WORDING(arena, &diff_text.few, t->label, PLACE("a", n->units[SIDE_A]),
                   PLACE("b", n->units[SIDE_B]), PLACE("needed", NOISE_UNITS));
}

static struct wording told(struct arena *arena, const struct comparison *c,
                           const struct compare_kind *k)
{
    const struct noise_change *n = &k->change;
    struct told_unit t = told_of(arena, k);

    if (c->is_equal)
        return WORDING(arena, &diff_text.same_recording, t.label);
    if (isnan(n->low))
        return tell_few(arena, n, &t);
    if (n->verdict == NOISE_NOTHING || n->verdict == NOISE_UNKNOWN)
        return WORDING(arena,
                       n->verdict == NOISE_NOTHING ? &diff_text.nothing : &diff_text.scattered,
                       t.label, t.a, t.b, t.change, t.low, t.high);
    struct wording head =
        wording_of(arena, phrase_plain(n->verdict == NOISE_SLOWER ? &diff_text.head_slower
                                                                  : &diff_text.head_faster));
    struct message_place what = place_wording("head", wording_keep(arena, head));
    if (n->is_typical)
        return WORDING(
            arena, &diff_text.typical, what, t.label, t.a, t.b, t.change, t.low, t.high,
            place_quantity("sure", n->typical_sure, UNIT_RATIO),
            place_wording("part",
                          wording_keep(arena, wording_plain(str_of(noise_part_name(n->part))))),
            PLACE("mean", signed_share(arena, n->relative)));
    return WORDING(arena, &diff_text.changed, what, t.label, t.a, t.b, t.change, t.low, t.high);
}

static struct wording unlike(struct arena *arena, const struct likeness *l)
{
    if (l->work < PROFILE_SAME_WORK)
        return WORDING(arena, &diff_text.not_same_work,
                       place_quantity("share", l->work, UNIT_RATIO));
    return WORDING(arena, &diff_text.not_alike, place_quantity("score", l->score, UNIT_RATIO));
}

/* What would let a gate tell. */
static struct wording advice_of(struct arena *arena, const struct comparison *c)
{
    const struct noise_change *n = c->worst != NULL ? &c->worst->change : NULL;

    if (n == NULL)
        return wording_of(arena, phrase_plain(c->likeness.is_comparable ? &diff_text.record_steps
                                                                        : &diff_text.record_same));
    if (!c->likeness.is_comparable)
        return wording_of(arena, phrase_plain(&diff_text.record_same));
    if (n->needed == 0)
        return wording_of(arena, phrase_plain(&diff_text.record_runs));
    struct wording label = wording_plain(c->worst->label);
    return WORDING(arena, &diff_text.record_units,
                   PLACE("n", n->needed < NOISE_UNITS ? (size_t)NOISE_UNITS : n->needed),
                   place_wording("label", wording_keep(arena, label)));
}

void compare_explain(struct comparison *c, struct arena *arena)
{
    for (size_t i = 0; i < c->n_kinds; i++)
        if (c->kinds[i].change.verdict != NOISE_NOTHING && c->likeness.is_comparable &&
            !c->is_equal)
            c->kinds[i].reason = reasons_of(arena, &c->kinds[i]);
    if (c->n_kinds == 0)
        c->text = wording_of(arena, phrase_plain(&diff_text.no_units));
    else if (!c->likeness.is_comparable && !c->is_equal)
        c->text = unlike(arena, &c->likeness);
    else if (c->worst != NULL)
        c->text = told(arena, c, c->worst);
    if (c->gate == GATE_UNKNOWN)
        c->record = advice_of(arena, c);
}
