/*
 * Steps as the tables of queries show them.
 */
#include "analysis/steps/step_table.h"

#include "analysis/steps/steps.h"
#include "analysis/study.h"

/* The text that names a step in the capture itself: its mark's, or its id in the kernel table. */
static strid table_name_of(const struct capture *cap, const struct steps *steps,
                           const struct step *step)
{
    struct str prefix = S("Step#");

    if (steps->source == STEPS_FROM_COLUMN && str_starts(step->id, prefix))
        return intern_find(&cap->strings, str_part(step->id, prefix.n, step->id.n));
    for (size_t i = 0; i < cap->marks.n; i++)
        if (cap->marks.at[i].begin == step->window.begin && cap->marks.at[i].number == step->number)
            return cap->marks.at[i].name;
    return intern_find(&cap->strings, step->id);
}

void step_table_init(struct step_table *t, const struct capture *cap)
{
    struct study st;

    *t = (struct step_table){.source = "none"};
    study_begin(&st, cap, study_with_passes());
    const struct steps *steps = study_steps(&st);
    if (steps->source != STEPS_PSEUDO) {
        t->source = step_source_name(steps->source);
        for (size_t i = 0; i < steps->n; i++) {
            const struct step *step = &steps->at[i];
            vec_push(&t->rows, ((struct step_row){table_name_of(cap, steps, step), step->number,
                                                  step->window.begin, step->window.end}));
        }
    }
    study_end(&st);
}

void step_table_fini(struct step_table *t)
{
    vec_free(&t->rows);
}

ptrdiff_t step_table_at(const struct step_table *t, nanos time)
{
    size_t place;

    vec_bisect(place, t->rows.n, i, t->rows.at[i].begin <= time);
    /* Rows with one begin: the last of them has the time, the others are empty. */
    return place > 0 && time < t->rows.at[place - 1].end ? (ptrdiff_t)place - 1 : -1;
}
