/*
 * What a reader of a collected trace should see first, and what it costs.
 */
#include "flow/incore_open.h"
#include "flow/incore_run.h"

static const char ordinary[] = "collect produced traces directly";

/* Busy pipes, for a run whose simulator told nothing but the trace. */
static void take_costs(struct incore_kernel *k, const struct incore_breakdown *b)
{
    struct run_row *row = &k->row;
    const struct incore_use *most = NULL;

    for (size_t i = 0; i < b->cores.n; i++) {
        double span = b->cores.at[i].end - b->cores.at[i].begin;
        row->span_us = span > row->span_us ? span : row->span_us;
    }
    row->cycles = (int64_t)(row->span_us * b->mhz + 0.5);
    for (size_t i = 0; i < b->uses.n && row->n_pipes < RUN_PIPES; i++) {
        const struct incore_use *use = &b->uses.at[i];
        if (use->busy_cycles == 0)
            continue;
        row->pipes[row->n_pipes++] = (struct run_pipe){
            .name =
                arena_format(&k->arena, "%.*s %.*s", STR_ARGS(use->core), STR_ARGS(use->pipe)).at,
            .cycles = (int64_t)use->busy_cycles,
            .share = use->busy,
        };
        if (most == NULL || use->busy > most->busy) {
            most = use;
            row->critical = row->pipes[row->n_pipes - 1].name;
            row->critical_share = use->busy;
        }
    }
    row->bound = arena_cstr(&k->arena, b->verdict);
}

static bool is_ordinary(const char *message)
{
    return message == NULL || message[0] == '\0' || strcmp(message, ordinary) == 0 ||
           strcmp(message, "ok") == 0;
}

static void add_check(struct incore_kernel *k, struct str text)
{
    struct run_row *row = &k->row;
    const char *kept = arena_cstr(&k->arena, text);

    run_row_check(row, kept);
    row->message =
        is_ordinary(row->message) ? kept : arena_format(&k->arena, "%s; %s", row->message, kept).at;
}

void incore_run_judge(struct incore_kernel *k)
{
    struct incore_study study;
    struct diag own;

    if (k->row.visualize_data_bin == NULL)
        return;
    diag_init(&own);
    if (incore_open_judged(&study, k->row.visualize_data_bin, 0, &own) == ST_OK) {
        for (size_t i = 0; i < study.health.list.n; i++)
            add_check(k, study.health.list.at[i].text);
        if (k->row.cycles == 0)
            take_costs(k, &study.breakdown);
    }
    incore_study_close(&study);
    diag_fini(&own);
}
