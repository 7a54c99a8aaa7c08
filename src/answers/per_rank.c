/*
 * Each capture asked, and all of them told.
 */
#include "answers/per_rank.h"

#include <math.h>

#include "report/report.h"
#include "text/diagnosis.h"

struct per_rank *per_rank_find(struct fleet_study *fs, const struct per_rank_kind *kind,
                               const void *ctx)
{
    struct per_rank *p = ARENA_NEW(&fs->arena, struct per_rank);

    *p = (struct per_rank){
        .kind = kind, .list = ARENA_ARRAY(&fs->arena, struct rank_answer, fs->n), .n = fs->n};
    for (size_t i = 0; i < fs->n; i++) {
        const struct capture *cap = fs->ranks[i].cap;
        p->list[i] = (struct rank_answer){.rank = cap->facts.rank,
                                          .device = cap->facts.device,
                                          .name = str_of(cap->name),
                                          .kind = kind};
        kind->find(&fs->ranks[i], ctx, &p->list[i]);
        p->lead = p->list[i].weight > p->list[p->lead].weight ? i : p->lead;
    }
    return p;
}

void per_rank_write(struct json_writer *w, const void *answer, const struct record_env *env)
{
    const struct rank_answer *one = answer;

    (void)env;
    record_json(w, one->kind->one->record, one->result, &one->env);
}

static void per_rank_describe(const void *result, struct report *r)
{
    static const struct column columns[] = {{"rank", COLUMN_NUMBER, UNIT_COUNT},
                                            {"name", COLUMN_TEXT, UNIT_COUNT},
                                            {"in short", COLUMN_TEXT, UNIT_COUNT}};
    const struct per_rank *p = result;
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < p->n; i++) {
        const struct rank_answer *one = &p->list[i];
        table_number(t, one->rank >= 0 ? (double)one->rank : NAN);
        table_text(r, t, one->name);
        table_text(r, t, wording_text(r->lang, &r->arena, one->summary));
    }
    report_heading(r, p->list[p->lead].name);
    p->kind->describe(p->list[p->lead].result, r);
    report_text(r, report_message(r, &diagnosis_text.ranks_one));
}

struct answer per_rank_answer(const struct per_rank *p, struct str title, const char *origin)
{
    if (p->n > 1)
        return (struct answer){.schema = p->kind->several,
                               .origin = origin,
                               .result = p,
                               .title = title,
                               .describe = per_rank_describe};
    return (struct answer){.schema = p->kind->one,
                           .origin = origin,
                           .result = p->list[0].result,
                           .env = &p->list[0].env,
                           .title = p->list[0].name,
                           .describe = p->kind->describe};
}
