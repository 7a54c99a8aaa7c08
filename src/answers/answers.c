/*
 * Asking an analysis and rendering, each by name.
 */
#include "answers/answers.h"

#include "analysis/analysis.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/study.h"
#include "base/files/fs.h"
#include "render/render.h"

enum status answer_analyze(const struct capture *cap, const char *analysis, struct diag *d,
                           struct report **out)
{
    const struct analysis *chosen = analysis_named(str_of(analysis));
    struct study st;

    if (chosen == NULL)
        return diag_fail(d, ST_NOT_FOUND, "analysis.unknown", (struct where){0},
                         "unknown analysis '%s'", analysis);
    *out = report_new(LANG_EN, str_of(cap->name));
    analysis_check_needs(chosen, cap, d);
    study_begin(&st, cap, analysis_options(chosen));
    chosen->run(&st, *out);
    study_end(&st);
    return ST_OK;
}

enum status answer_render(const struct report *r, const char *format, const char *path,
                          struct diag *d)
{
    const struct renderer *chosen = render_find(str_of(format));
    struct outfile file;

    if (chosen == NULL)
        return diag_fail(d, ST_NOT_FOUND, "render.unknown", (struct where){0},
                         "unknown output format '%s'", format);
    TRY(outfile_open(&file, path, d));
    render_write(chosen, r, &(struct render_options){0}, outfile_sink(&file));
    return outfile_commit(&file, OUTFILE_FAST, d);
}

static struct answer_cause answers_cause_of(struct arena *arena, const struct diagnosis_cause *c)
{
    return (struct answer_cause){
        .id = c->id,
        .saving_ms = (double)c->saving / 1e6,
        .saving_share = c->saving_share,
        .confidence = confidence_name(c->confidence),
        .what = arena_cstr(arena, c->what.english),
        .action = arena_cstr(arena, c->action.english),
    };
}

struct answer_diagnosis *answer_diagnose(const struct capture *cap)
{
    struct answer_diagnosis *out = mem_grow(NULL, sizeof(*out), 1);
    struct study st;

    *out = (struct answer_diagnosis){0};
    arena_init(&out->arena);
    study_begin(&st, cap, study_with_passes());
    const struct diagnosis *d = study_diagnosis(&st);
    out->text = arena_cstr(&out->arena, d->text.english);
    out->verdict = answers_cause_of(&out->arena, &d->verdict);
    out->n = d->n_causes;
    out->causes = ARENA_ARRAY(&out->arena, struct answer_cause, out->n);
    for (size_t i = 0; i < out->n; i++)
        out->causes[i] = answers_cause_of(&out->arena, &d->causes[i]);
    study_end(&st);
    return out;
}

void answer_diagnosis_free(struct answer_diagnosis *d)
{
    if (d == NULL)
        return;
    arena_free(&d->arena);
    mem_free(d);
}
