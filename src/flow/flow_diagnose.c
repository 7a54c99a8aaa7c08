/*
 * Copies a diagnosis out of its study.
 */
#include "flow/flow_diagnose.h"

#include "analysis/diagnose/diagnosis.h"
#include "analysis/study.h"

static struct flow_cause cause_of(struct arena *arena, const struct diagnosis_cause *c)
{
    return (struct flow_cause){
        .id = c->id,
        .saving_ms = (double)c->saving / 1e6,
        .saving_share = c->saving_share,
        .confidence = confidence_name(c->confidence),
        .what = arena_cstr(arena, c->what.english),
        .action = arena_cstr(arena, c->action.english),
    };
}

struct flow_diagnosis *flow_diagnose(const struct capture *cap)
{
    struct flow_diagnosis *out = mem_grow(NULL, sizeof(*out), 1);
    struct study st;

    *out = (struct flow_diagnosis){0};
    arena_init(&out->arena);
    study_begin(&st, cap, study_with_passes());
    const struct diagnosis *d = study_diagnosis(&st);
    out->text = arena_cstr(&out->arena, d->text.english);
    out->verdict = cause_of(&out->arena, &d->verdict);
    out->n = d->n_causes;
    out->causes = ARENA_ARRAY(&out->arena, struct flow_cause, out->n);
    for (size_t i = 0; i < out->n; i++)
        out->causes[i] = cause_of(&out->arena, &d->causes[i]);
    study_end(&st);
    return out;
}

void flow_diagnosis_free(struct flow_diagnosis *d)
{
    if (d == NULL)
        return;
    arena_free(&d->arena);
    mem_free(d);
}
