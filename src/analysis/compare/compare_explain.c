/*
 * The result in sentences: what happened, why, and what to record where that cannot be told.
 */
#include <math.h>

#include "analysis/compare/compare.h"
#include "analysis/diagnose/accounting.h"
#include "text/diff.h"

enum { REASONS = 3 };

#define REASON_SHARE 0.10 /* of the change: parts that moved it less are not named */
#define MORE_LAUNCHES                                                                              \
    0.10 /* kernels of a unit: from so many more on they are named with the wait */

/* "+1.20 ms" */
static struct str signed_time(struct arena *arena, nanos by)
{
    return arena_format(arena, "%s%s", by < 0 ? "-" : "+",
                        quantity_text(arena, fabs((double)by), UNIT_NS));
}

struct wording compare_share(struct arena *arena, double by)
{
    if (by >= 1)
        return WORDING(arena, &diff_text.times, PLACE("x", 1 + by));
    return wording_plain(arena_format(arena, "%+.1f %%", 100 * by));
}

/* "0.15", "4.8", "472" */
static struct str times_text(struct arena *arena, double x)
{
    return arena_format(arena, x < 1 ? "%.2f" : x < 100 ? "%.1f" : "%.0f", x);
}

struct wording compare_interval(struct arena *arena, double low, double high)
{
    const double wide = 9; /* ten times: percentages are hard to read */

    if (low >= 1 || high >= wide)
        return WORDING(arena, &diff_text.times_range, PLACE("low", times_text(arena, 1 + low)),
                       PLACE("high", times_text(arena, 1 + high)));
    return WORDING(arena, &diff_text.share_range,
                   PLACE("low", arena_format(arena, "%+.1f", 100 * low)),
                   PLACE("high", arena_format(arena, "%+.1f", 100 * high)));
}

struct wording compare_part_name(struct arena *arena, const struct compare_part *p)
{
    enum { WIDTH = 48 };

    if (p->class == PART_IDLE)
        for (int cause = 0; cause < IDLE_CAUSES; cause++)
            if (str_equal(p->name, str_of(idle_cause_name((enum idle_cause)cause))))
                return wording_of(arena, phrase_plain(account_class_label(ACCOUNT_IDLE + cause)));
    struct str front = str_fit(p->name, WIDTH);
    return wording_plain(front.n < p->name.n ? arena_format(arena, "%.*s...", STR_ARGS(front))
                                             : p->name);
}

/* For the plural of what is printed as a number of calls. */
static size_t one_or_more(double calls)
{
    return fabs(calls - 1) < 0.005 ? 1 : 2;
}

/* How a part changed: "aten::mm is slower". */
static struct wording reason_of(struct arena *arena, const struct compare_part *p)
{
    static const struct message *const words[] = {
        [CHANGE_ADDED] = &diff_text.why_added,     [CHANGE_REMOVED] = &diff_text.why_removed,
        [CHANGE_CALLS] = &diff_text.why_calls,     [CHANGE_KERNELS] = &diff_text.why_kernels,
        [CHANGE_SLOWER] = &diff_text.why_slower,   [CHANGE_FASTER] = &diff_text.why_faster,
        [CHANGE_EXPOSED] = &diff_text.why_exposed, [CHANGE_HIDDEN] = &diff_text.why_hidden,
        [CHANGE_WAITED] = &diff_text.why_waited,   [CHANGE_HASTENED] = &diff_text.why_hastened,
        [CHANGE_IDLE] = &diff_text.why_idle,
    };
    struct message_place name =
        place_wording("name", wording_keep(arena, compare_part_name(arena, p)));
    struct message_place time = PLACE("time", signed_time(arena, p->delta));

    if (p->change == CHANGE_CALLS)
        return WORDING(arena, words[p->change], name, time,
                       PLACE("n", one_or_more(p->calls[SIDE_A])),
                       PLACE("a", compare_calls(arena, p->calls[SIDE_A])),
                       PLACE("b", compare_calls(arena, p->calls[SIDE_B])));
    if (p->change == CHANGE_IDLE && p->delta < 0)
        return WORDING(arena, &diff_text.why_less_idle, name, time);
    return WORDING(arena, words[p->change], name, time);
}

struct str compare_calls(struct arena *arena, double calls)
{
    bool is_whole = fabs(calls - round(calls)) < 0.005 || calls >= 100;

    return arena_format(arena, is_whole ? "%.0f" : "%.2g", calls);
}

/* Waits for launches of which a unit has more than it had, or fewer: "840 launches became 12". */
static bool has_other_launches(const struct compare_kind *k, const struct compare_part *p)
{
    const struct noise_change *n = &k->metrics[UNIT_KERNELS];

    return p->class == PART_IDLE && str_equal(p->name, str_of(idle_cause_name(CAUSE_LAUNCH))) &&
           (n->mean[SIDE_B] > n->mean[SIDE_A]) == (p->delta > 0) &&
           fabs(n->relative) >= MORE_LAUNCHES;
}

static struct wording launches_of(struct arena *arena, const struct compare_kind *k,
                                  const struct compare_part *p)
{
    const struct noise_change *n = &k->metrics[UNIT_KERNELS];

    return WORDING(arena, &diff_text.why_launches, PLACE("n", one_or_more(n->mean[SIDE_A])),
                   PLACE("a", compare_calls(arena, n->mean[SIDE_A])),
                   PLACE("b", compare_calls(arena, n->mean[SIDE_B])),
                   place_wording("name", wording_keep(arena, compare_part_name(arena, p))),
                   PLACE("time", signed_time(arena, p->delta)));
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
        struct wording one =
            has_other_launches(k, p) ? launches_of(arena, k, p) : reason_of(arena, p);
        out = n++ == 0 ? one
                       : WORDING(arena, &diff_text.why_two,
                                 place_wording("first", wording_keep(arena, out)),
                                 place_wording("second", wording_keep(arena, one)));
    }
    return out;
}

/* How long a unit takes on either side, and by how much that changed. */
struct told_unit {
    struct message_place label, a, b, change, interval;
};

static struct told_unit told_of(struct arena *arena, const struct compare_kind *k)
{
    const struct noise_change *n = &k->change;
    const double *lengths = n->is_typical ? n->typical : n->mean;
    struct wording by = compare_share(arena, n->is_typical ? n->typical_relative : n->relative),
                   interval = n->is_typical
                                  ? compare_interval(arena, n->typical_low, n->typical_high)
                                  : compare_interval(arena, n->low, n->high);

    return (struct told_unit){
        .label = place_wording("label", wording_keep(arena, wording_plain(k->label))),
        .a = place_quantity("a", lengths[SIDE_A], UNIT_NS),
        .b = place_quantity("b", lengths[SIDE_B], UNIT_NS),
        .change = place_wording("change", wording_keep(arena, by)),
        .interval = place_wording("interval", wording_keep(arena, interval)),
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

/* What happened to the kind that decides, in one sentence. */
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
                       t.label, t.a, t.b, t.change, t.interval);
    struct wording head =
        wording_of(arena, phrase_plain(n->verdict == NOISE_SLOWER ? &diff_text.head_slower
                                                                  : &diff_text.head_faster));
    struct message_place what = place_wording("head", wording_keep(arena, head));
    if (n->is_typical)
        return WORDING(
            arena, &diff_text.typical, what, t.label, t.a, t.b, t.change, t.interval,
            place_quantity("sure", n->typical_sure, UNIT_RATIO),
            place_wording("part",
                          wording_keep(arena, wording_plain(str_of(noise_part_name(n->part))))),
            place_wording("mean", wording_keep(arena, compare_share(arena, n->relative))));
    return WORDING(arena, &diff_text.changed, what, t.label, t.a, t.b, t.change, t.interval);
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
