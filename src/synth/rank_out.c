/*
 * rank_out: the writers that the options ask for.
 */
#include "synth/rank_out.h"

static const struct to_writer *const writers[TO_KINDS] = {
    [TO_TRACE] = &to_trace, [TO_MSPROF] = &to_msprof, [TO_TABLES] = &to_tables, [TO_DB] = &to_db,
    [TO_INFO] = &to_info,   [TO_KINETO] = &to_kineto, [TO_CHROME] = &to_chrome,
};

enum status rank_out_open(struct rank_out *out, const struct sim *s, int rank, struct arena *arena,
                          struct diag *d)
{
    truth_init(&out->truth, &s->ranks[rank], s->options->level);
    outlet_init(&out->outlet, s, &out->truth, arena, d);
    for (int k = 0; k < TO_KINDS; k++)
        if ((s->options->formats & writers[k]->formats) != 0) {
            out->writers[k] = arena_alloc(arena, writers[k]->size);
            TRY(writers[k]->open(out->writers[k], &out->outlet));
        }
    return ST_OK;
}

void rank_out_step(struct rank_out *out)
{
    struct arena *scratch = &out->outlet.scratch;

    truth_step(&out->truth);
    for (int k = 0; k < TO_KINDS; k++)
        if (out->writers[k] != NULL && writers[k]->step != NULL)
            writers[k]->step(out->writers[k]);
    arena_free(scratch);
    arena_init(scratch);
}

enum status rank_out_close(struct rank_out *out)
{
    truth_finish(&out->truth);
    for (int k = 0; k < TO_KINDS; k++)
        if (out->writers[k] != NULL)
            TRY(writers[k]->close(out->writers[k]));
    return ST_OK;
}

void rank_out_free(struct rank_out *out)
{
    for (int k = 0; k < TO_KINDS; k++)
        if (out->writers[k] != NULL)
            writers[k]->abort(out->writers[k]);
    truth_fini(&out->truth);
    arena_free(&out->outlet.scratch);
}

void rank_out_count(const struct rank_out *out, struct synth_result *result)
{
    const struct truth *t = &out->truth;
    struct synth_rank_result *r = &result->ranks[result->ranks_n++];

    r->steps = (int64_t)t->steps.n;
    r->kernels = (uint64_t)t->kernels;
    for (size_t i = 0; i < ARRAY_LEN(t->host_events); i++)
        r->host_events += (uint64_t)t->host_events[i];
    r->trace_bytes = t->files.n > 0 ? t->files.at[0].bytes : 0;
    result->files += t->files.n;
    for (size_t i = 0; i < t->files.n; i++)
        result->bytes += t->files.at[i].bytes;
}

uint64_t rank_out_bytes(const struct rank_out *out)
{
    static const enum to_kind order[] = {TO_TRACE, TO_KINETO, TO_CHROME, TO_MSPROF, TO_DB};
    size_t i = 0;

    while (out->writers[order[i]] == NULL)
        i++;
    return writers[order[i]]->bytes(out->writers[order[i]]);
}
