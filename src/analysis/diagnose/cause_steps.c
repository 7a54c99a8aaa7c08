/*
 * Causes that are seen by comparing steps: one that is slow, or several whose clock is.
 */
#include "analysis/diagnose/root_find.h"
#include "text/cause.h"

/* What a step takes more than the others is saved once in the run. */
static struct found_cause *keep_step(struct root_finder *f, enum root_cause cause,
                                     const struct slow_step *slow)
{
    if (slow->step == SIZE_MAX || slow->cause != cause)
        return NULL;
    struct found_cause *c = root_keep(f, cause, slow->share, slow->share);
    if (c != NULL) {
        c->slow = slow;
        c->once = slow->excess;
        c->run = slow->run;
    }
    return c;
}

struct found_cause *slow_step_value(struct root_finder *f, enum root_cause cause)
{
    struct found_cause *c = keep_step(f, cause, &f->slow);

    if (c != NULL)
        c->in_slow_step = 1;
    return c;
}

struct found_cause *clock_drop_value(struct root_finder *f, enum root_cause cause)
{
    return keep_step(f, cause, &f->clock);
}

void slow_step_more_work_evidence(const struct root_finder *f, struct found_cause *c)
{
    if (f->slow.kernels > 0)
        return;
    c->what = &cause_text.slow_step_more_work_what_larger;
    c->action = &cause_text.slow_step_more_work_do_larger;
}
