/*
 * captures: the common options of commands that read captures, and the files these were read from.
 */
#include "cli/captures.h"

#include "answers/answer_arch.h"
#include "answers/per_rank.h"
#include "base/run/pool.h"
#include "cli/page_answer.h"

const char *const captures_sources[] = {"auto", "csv", "trace", "db", NULL};

void captures_input(struct session *s, struct input_options *input)
{
    if (s->pool == NULL)
        s->pool = pool_new((size_t)s->common.jobs);
    input->format = s->common.format;
    input->kept = s->kept;
    input->pool = s->pool;
    input->progress = &s->progress;
}

enum status captures_load_one(struct session *s, const char *path, struct input_options input,
                              struct capture **out)
{
    captures_input(s, &input);
    TRY(input_load(path, &input, &s->diag, out));
    captures_read_one(s, *out);
    return ST_OK;
}

enum status captures_load(struct session *s, const char *path, struct input_options input,
                          struct fleet **out)
{
    captures_input(s, &input);
    TRY(input_load_all(path, &input, &s->diag, out));
    captures_read(s, *out);
    return ST_OK;
}

int captures_give_each(struct session *s, struct input_options input,
                       const struct per_rank_kind *kind, const void *ctx, const char *view)
{
    struct fleet_study fs;
    struct fleet *fleet;

    TRY_CODE(session_code(captures_load(s, s->operands.at[0], input, &fleet)));
    fleet_study_begin(&fs, fleet, study_with_passes());
    const struct per_rank *all = per_rank_find(&fs, kind, ctx);
    const struct answer a = per_rank_answer(all, str_basename(str_of(s->operands.at[0])),
                                            origin_name(fleet->ranks.at[0]->origin));
    enum status status = page_answer_view(s, &a, &fs, view);
    fleet_study_end(&fs);
    fleet_free(fleet);
    return session_code(status);
}

void captures_read_one(struct session *s, const struct capture *cap)
{
    for (size_t i = 0; i < cap->sources.n; i++) {
        const struct source *source = &cap->sources.at[i];
        session_read(s, source->path, source->format, source->rows, source->lost);
    }
    s->has_kernels |= cap->kernels_read > 0;
}

void captures_read(struct session *s, const struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->ranks.n; i++)
        captures_read_one(s, fleet->ranks.at[i]);
}

void captures_wrote_arch(struct session *s, const struct arch_result *result)
{
    for (size_t i = 0; i < result->n; i++) {
        session_wrote(s, result->at[i].markdown_path);
        session_wrote(s, result->at[i].json_path);
    }
    if (result->cover.markdown_path != NULL) {
        session_wrote(s, result->cover.markdown_path);
        session_wrote(s, result->cover.json_path);
    }
}

bool captures_are_totals(const struct session *s)
{
    const struct input_format *f;

    for (size_t i = 0; i < s->inputs.n; i++)
        for (size_t k = 0; (f = input_format_at(k)) != NULL; k++)
            if (strcmp(f->name, s->inputs.at[i].format) == 0 && f->role < ROLE_SIDECAR)
                return false;
    return s->inputs.n > 0;
}
