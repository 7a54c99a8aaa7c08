/*
 * The reports of an answer.
 */
#include "report/answer.h"

#include "report/report.h"

size_t answer_reports(const struct answer *a)
{
    return a->describe_part != NULL ? a->n_parts : 1;
}

struct report *answer_report(const struct answer *a, size_t i, enum lang lang)
{
    const void *about = a->about != NULL ? a->about : a->result;
    struct report *r = report_new(lang, a->title);

    if (a->describe_part != NULL)
        a->describe_part(about, i, r);
    else if (a->describe != NULL)
        a->describe(about, r);
    if (a->describe_part == NULL || r->blocks.n > 0 || r->summary.n > 0)
        return r;
    report_free(r);
    return NULL;
}
