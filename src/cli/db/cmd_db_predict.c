/*
 * strata db predict: the time of a step of a model, from the database of its operators.
 */
#include "cli/db/opt_db.h"
#include "cli/db/opt_model.h"
#include "opdb/predict/predict_job.h"
#include "render/timelines/timeline.h"

struct args {
    struct opt_model model;
    struct opt_layout layout;
    struct place_args place;
    struct predict_job job;
    const char *trace;
    double link_us, link_gbps;
    int phase;
};

enum { PHASE_BOTH, PHASE_PREFILL, PHASE_DECODE };
static const char *const phases[] = {"both", "prefill", "decode", NULL};

static const struct args defaults = {.job = {.batch = 1, .length = 1024}, .link_us = 5};

static const struct opt options[] = {
    OPT_MODEL(struct args, model),
    OPT_INT(0, "layers", "N", struct args, model.layers, 1, 10000,
            "number of layers (default: that of the model)"),
    OPT_GROUP("Step"),
    OPT_INT(0, "batch", "N", struct args, job.batch, 1, 1000000,
            "sequences of each data-parallel group (default: 1)"),
    OPT_INT(0, "seq", "N", struct args, job.length, 1, 100000000,
            "tokens of each: prompt, or cache (default: 1024)"),
    OPT_CHOICE(0, "phase", phases, struct args, phase, "prefill or decode (default: both)"),
    OPT_INT(0, "prompt-tokens", "N", struct args, job.prompt, 1, 100000000,
            "of a prompt that a decode step computes, too"),
    OPT_LAYOUT(struct args, layout),
    OPT_GROUP("Between operators"),
    OPT_DOUBLE(0, "gap", "US", struct args, job.gap_us,
               "time between two kernels in us (default: 0)"),
    OPT_DOUBLE(0, "link-latency", "US", struct args, link_us,
               "latency of a link without hcom tables (default: 5)"),
    OPT_DOUBLE(0, "link-bandwidth", "GB/S", struct args, link_gbps,
               "bandwidth of a link without hcom tables"),
    OPT_GROUP("Comparison"),
    OPT_STRING(0, "against", "CAPTURE", struct args, job.against,
               "measured capture to compare with, by operator"),
    OPT_STRING(0, "trace", "FILE", struct args, trace,
               "write the step as a trace (.json, .pftrace, .csv)"),
    OPT_DB_PLACE(struct args, place),
};

struct predicted_trace {
    const struct capture *cap;
    const char *path;
};

static const struct example examples[] = {
    {"strata db predict --database-path examples/perfdb/h200 --model qwen3-8b --batch 4 --seq 700 "
     "--gap 1",
     "prefill and decode of one batch"},
    {"strata db predict --database-path examples/perfdb/h200 --model qwen3-8b --phase decode "
     "--trace step.json",
     "a trace for Perfetto"},
};

/* A timeline in the format that the ending of its file names; Chrome's without one. */
static bool write_trace(const void *ctx, struct sink sink)
{
    const struct predicted_trace *t = ctx;
    const struct timeline_format *format = timeline_by_ending(str_of(t->path));
    struct timeline_options how = {0};
    struct cut cut;

    cut_init(&cut, t->cap, &(struct cut_options){0});
    bool is_written = (format != NULL ? format : &timeline_chrome)->write(&cut, &how, sink);
    cut_fini(&cut);
    return is_written;
}

static enum status show(struct session *s, const struct args *args, const struct predict *p)
{
    const char *const inputs[] = {args->job.against, NULL};

    if (args->trace != NULL) {
        struct capture *cap = predict_capture(p);
        enum status st = db_output(s, args->trace, inputs, write_trace,
                                   &(struct predicted_trace){cap, args->trace});
        capture_free(cap);
        TRY(st);
    }
    session_give(s, &(struct answer){.schema = &predict_schema,
                                     .origin = "estimated",
                                     .result = p,
                                     .describe = predict_describe});
    return ST_OK;
}

/* What has no room on the device has no time there. */
static enum status check_memory(struct session *s, const struct predict *p)
{
    const struct predict_memory *m = &p->memory;
    double needed = predict_memory_needed(m);

    if (m->device_bytes <= 0 || needed <= m->device_bytes)
        return ST_OK;
    enum status st = diag_fail(&s->diag, ST_NOT_FOUND, "perfdb.does-not-fit", (struct where){0},
                               "%.*s needs %.4g GB on a card of %.4g GB: weights %.4g, cache %.4g, "
                               "activations %.3g",
                               STR_ARGS(p->model), needed / 1e9, m->device_bytes / 1e9,
                               m->weight_bytes / 1e9, m->cache_bytes / 1e9, m->work_bytes / 1e9);
    diag_hint(&s->diag, "try", "more cards: --tp, --pp, --ep; other types: --quant");
    return st;
}

/* Calls of all steps with an answer: from rows of the database, and from the peaks of its device.
 */
static void count_answers(const struct predict *p, uint64_t *rows, uint64_t *peaks)
{
    *rows = *peaks = 0;
    for (size_t i = 0; i < p->n_steps; i++)
        for (size_t k = 0; k < p->steps[i].rows.n; k++) {
            const struct predict_row *row = &p->steps[i].rows.at[k];
            bool is_peak = row->source == query_source_name(QUERY_ANALYTIC);
            if (row->source != NULL)
                *(is_peak ? peaks : rows) += row->calls;
        }
}

/* A database that matches nothing has no answer: none at all, or one that it has no part in. */
static enum status check_known(struct session *s, const struct predict *p, const char *dir)
{
    uint64_t rows, peaks;

    count_answers(p, &rows, &peaks);
    if (rows > 0)
        return ST_OK;
    enum status st =
        diag_fail(&s->diag, ST_NOT_FOUND, "perfdb.nothing-known", (struct where){.path = dir},
                  peaks > 0 ? "no row matches a call of the step: all times are from peaks"
                            : "no row matches a call of the step");
    diag_hint(&s->diag, "try", "strata db build, which measures them, or --database-path");
    return st;
}

static enum status predict_all(struct session *s, const struct args *args, const char *dir,
                               struct predict_job *job, struct predict *p)
{
    struct query_db db;
    bool is_missed = false;

    enum status st = query_open(&db, dir, &s->diag);
    for (int decode = 0; decode < 2 && st == ST_OK; decode++) {
        job->is_decode = decode;
        if (args->phase != PHASE_BOTH && (args->phase == PHASE_DECODE) != decode)
            continue;
        st = predict_run(p, &db, job, &s->diag);
        is_missed = is_missed || p->steps[p->n_steps - 1].missed > 0;
    }
    enum status known = st == ST_OK ? check_known(s, p, dir) : st;
    bool is_empty = known != ST_OK && p->n_steps > 0 && p->steps[0].kernels == 0;
    if (known == ST_OK && is_missed)
        diag_add(&s->diag, SEV_WARN, "perfdb.calls-missed", (struct where){.path = dir},
                 "some calls of the step are not in the database and count as 0; "
                 "--link-bandwidth gives times of collectives");
    if (st == ST_OK)
        st = check_memory(s, p);
    if (st == ST_OK && !is_empty)
        st = show(s, args, p);
    query_close(&db);
    return st == ST_OK ? known : st;
}

static int db_predict_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct predict_job job = args->job;
    struct llm model;
    struct predict p;
    const char *dir;

    if (job.against != NULL && args->phase == PHASE_BOTH)
        return session_usage(s, "--against needs --phase prefill or decode");
    if (job.prompt > 0 && args->phase == PHASE_PREFILL)
        return session_usage(s, "--prompt-tokens is for a decode step");
    TRY_CODE(db_place(s, &args->place, &dir));
    TRY_CODE(opt_model_find(s, &args->model, &model));
    TRY_CODE(opt_layout_find(s, &args->layout, &model, &job.layout));
    job.links = links_one(args->link_us, args->link_gbps);
    job.model = &model;
    job.types = model.types;
    predict_init(&p, model.name);
    int code = db_code(predict_all(s, args, dir, &job, &p));
    predict_free(&p);
    return code;
}

const struct command command_db_predict = {
    .name = "predict",
    .group = GROUP_DATABASE,
    .summary = "predict the step time of a model from its operators",
    .usage = "--model NAME [OPTIONS]",
    .details =
        "Derives the operators of one step (a whole prompt, or one more token of each sequence), "
        "asks the database for each of them as strata db query does, and adds them up over the "
        "layers, with an 80 % interval. What a card computes, moves and stores follows from the "
        "model and --tp, --pp, --dp, --ep and --moe-tp; a step that does not fit into the memory "
        "of the device is an error. Collectives come from hcom tables, else from a link's latency "
        "and bandwidth, and count as exposed. --against "
        "compares operator by operator with a measured capture.",
    .see = "docs/perfdb.md",
    .schemas = {&predict_schema},
    COMMAND_PARTS,
    .run = db_predict_run,
};
