/*
 * Why one run takes longer than another: classes of the accounting that grew or shrank, and causes.
 */
#include "analysis/compare/compare.h"

#include <math.h>

#include "analysis/diagnose/diagnosis.h"
#include "base/text/num.h"
#include "report/report.h"
#include "text/diff.h"

enum { MAX_TOLD = 3, LEAST_PERMILLE = 10 };

/* Time of a class in a step, 0 when it has none. */
static double time_of(const struct diagnosis *d, const char *class)
{
    for (size_t i = 0; i < d->n_classes; i++)
        if (strcmp(d->classes[i].name, class) == 0)
            return (double)d->classes[i].time;
    return 0;
}

struct class_change {
    const char *name;
    const struct message *label;
    double by;
};

/* Keeps the largest changes, in order. */
static void causes_keep(struct class_change *list, size_t *n, struct class_change c)
{
    size_t at = *n;

    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i].name, c.name) == 0)
            return;
    while (at > 0 && fabs(list[at - 1].by) < fabs(c.by))
        at--;
    if (at == MAX_TOLD)
        return;
    *n += *n < MAX_TOLD;
    memmove(&list[at + 1], &list[at], (*n - 1 - at) * sizeof(*list));
    list[at] = c;
}

static struct str tell_changes(struct report *r, const struct class_change *list, size_t n)
{
    struct str told = S("");

    for (size_t i = 0; i < n; i++)
        told = arena_format(&r->arena, "%.*s%s%s %s%s", STR_ARGS(told), i > 0 ? ", " : "",
                            message_in(r->lang, list[i].label).at, list[i].by < 0 ? "-" : "+",
                            quantity_text(&r->arena, fabs(list[i].by), UNIT_NS));
    return told;
}

bool compare_describe_steps(const struct diagnosis *const of[SIDES], struct report *r)
{
    const struct diagnosis *a = of[SIDE_A], *b = of[SIDE_B];
    bool is_ahead[SIDES] = {diagnosis_is_host_ahead(a), diagnosis_is_host_ahead(b)};
    double before = (double)a->device_period, after = (double)b->device_period;
    double change = num_share(after - before, before);

    if (!(is_ahead[SIDE_A] || is_ahead[SIDE_B]) || before <= 0 || after <= 0 ||
        fabs(change) * 1000 < LEAST_PERMILLE)
        return false;
    struct str head =
        REPORT_MESSAGE(r, change > 0 ? &diff_text.head_slower : &diff_text.head_faster,
                       place_quantity("change", fabs(change), UNIT_RATIO));
    struct str clause =
        REPORT_MESSAGE(r, &diff_text.clause_step, place_quantity("a", before, UNIT_NS),
                       place_quantity("b", after, UNIT_NS));
    report_text(
        r, REPORT_MESSAGE(r, &diff_text.verdict, PLACE("head", head), PLACE("clause", clause)));
    report_text(r, REPORT_MESSAGE(r, &diff_text.host_ahead,
                                  PLACE("side", !is_ahead[SIDE_B]   ? "A"
                                                : !is_ahead[SIDE_A] ? "B"
                                                                    : "A, B")));
    return true;
}

void compare_describe_causes(const struct diagnosis *const of[SIDES], struct report *r)
{
    const struct diagnosis *a = of[SIDE_A], *b = of[SIDE_B];
    double before = (double)a->device_period, after = (double)b->device_period;
    struct class_change list[MAX_TOLD + 1];
    size_t n = 0;

    if (before <= 0 || after <= 0 || fabs(after - before) * 1000 < LEAST_PERMILLE * before)
        return;
    for (int side = 0; side < SIDES; side++) {
        const struct diagnosis *d = side == SIDE_A ? a : b;
        for (size_t i = 0; i < d->n_classes; i++) {
            const char *name = d->classes[i].name;
            double by = time_of(b, name) - time_of(a, name);
            if (fabs(by) * 1000 >= LEAST_PERMILLE * before)
                causes_keep(list, &n, (struct class_change){name, d->classes[i].label, by});
        }
    }
    if (n == 0)
        return;
    bool is_same_work =
        a->n_groups > 0 && b->n_groups > 0 && a->groups[0].kernels == b->groups[0].kernels;
    report_text(r, REPORT_MESSAGE(r, is_same_work ? &diff_text.because : &diff_text.because_other,
                                  place_quantity("before", before, UNIT_NS),
                                  place_quantity("after", after, UNIT_NS),
                                  PLACE("classes", tell_changes(r, list, n)),
                                  PLACE("a", root_cause_label(r->lang, a->verdict.found.cause)),
                                  PLACE("b", root_cause_label(r->lang, b->verdict.found.cause))));
}
