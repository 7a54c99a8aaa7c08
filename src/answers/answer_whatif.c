/*
 * Replays with changes, and writes the predicted trace.
 */
#include "answers/answer_whatif.h"

#include "analysis/diagnose/whatif.h"
#include "answers/answer_tables.h"
#include "base/files/fs.h"
#include "render/timelines/timeline.h"

static enum status write_trace(struct whatif *w, const struct whatif_job *job, struct diag *d)
{
    const struct timeline_format *format = timeline_by_ending(str_of(job->out));
    struct outfile file;
    struct answer_tables tables;
    const char *why = NULL;
    struct cut cut;

    if (format == NULL)
        return diag_fail(d, ST_NOT_FOUND, "convert.unknown-ending",
                         (struct where){.path = job->out}, "unknown file name extension");
    TRY(outfile_open(&file, job->out, d));
    struct capture *predicted = whatif_trace(w, job->changes, job->n);
    cut_init(&cut, predicted, &(struct cut_options){0});
    enum status st = answer_tables_init(&tables, &cut, 1, d);
    if (st == ST_OK)
        format->write(
            &cut,
            &(struct timeline_options){.label = "writing", .tables = &tables.tables, .why = &why},
            outfile_sink(&file));
    if (why != NULL)
        st = diag_fail(d, ST_IO, "convert.tables", (struct where){.path = job->out},
                       "the tables cannot be written: %s", why);
    answer_tables_fini(&tables);
    cut_fini(&cut);
    capture_free(predicted);
    if (st == ST_OK)
        return outfile_commit(&file, OUTFILE_FAST, d);
    outfile_abort(&file);
    return st;
}

enum status answer_whatif(struct study *st, const struct whatif_job *job, struct diag *d,
                          const struct whatif_answer **out)
{
    const struct accounting *a = study_accounting(st);
    enum status status = ST_OK;
    struct whatif w;

    if (a->n == 0 || a->tasks.n == 0)
        return diag_fail(d, ST_NOT_FOUND, "whatif.no-device-work",
                         (struct where){.path = st->cap->name},
                         "the capture has no device work, so nothing can be replayed");
    whatif_init(&w, st, a);
    w.pool = job->pool;
    *out = whatif_answer_find(st, &w, job->changes, job->n);
    if (job->out != NULL)
        status = write_trace(&w, job, d);
    whatif_fini(&w);
    return status;
}
