/*
 * strata db plan: which configuration serves a model.
 */
#include <math.h>

#include "base/text/num.h"
#include "cli/db/opt_db.h"
#include "cli/db/opt_model.h"
#include "opdb/plan/plan.h"

struct args {
    struct opt_model model;
    const char *databases, *systems, *engine, *version, *cards;
    double isl, osl, rate, clients, vary, host_us, batch_tokens, seqs, share, reserve;
    const char *prefix, *first, *token, *latency, *mode, *protocol;
    const char *tp, *pp, *dp, *ep, *expert_tp;
    int64_t redundant, top, explain;
    double drafts, accepted;
    const char *spread, *links, *calibration, *pareto;
    double transfer, overlap;
    int admit;
    bool is_fixed, allows_analytic;
};

enum { ADMIT_RESERVE, ADMIT_PROMPT };
static const char *const admits[] = {"reserve", "prompt", NULL};

static const struct args defaults = {.isl = 4000,
                                     .osl = 1000,
                                     .host_us = -1,
                                     .batch_tokens = 8192,
                                     .share = 0.9,
                                     .vary = 0.1,
                                     .top = 5,
                                     .drafts = 0,
                                     .accepted = -1,
                                     .transfer = 50,
                                     .overlap = 0.5};

static const struct opt options[] = {
    OPT_MODEL(struct args, model),
    OPT_GROUP("Hardware"),
    OPT_STRING(0, "database-path", "DIR", struct args, databases,
               "folder of systems, or one database"),
    OPT_STRING(0, "system", "NAME,NAME", struct args, systems, "systems below that folder"),
    OPT_STRING(0, "engine", "NAME", struct args, engine, "engine whose rows are asked"),
    OPT_STRING(0, "engine-version", "V", struct args, version,
               "its version (default: the newest with rows)"),
    OPT_STRING(0, "cards", "N|auto", struct args, cards, "cards at most (default: 8)"),
    OPT_STRING(0, "links", "FILE", struct args, links, "links between cards, for what has no rows"),
    OPT_GROUP("Load"),
    OPT_DOUBLE(0, "isl", "TOKENS", struct args, isl, "prompt tokens (default: 4000)"),
    OPT_DOUBLE(0, "osl", "TOKENS", struct args, osl, "output tokens (default: 1000)"),
    OPT_DOUBLE(0, "rate", "R", struct args, rate, "requests by second, at random",
               .alias = "target-request-rate"),
    OPT_DOUBLE(0, "concurrency", "C", struct args, clients, "requests at a time"),
    OPT_STRING(0, "prefix", "TOKENS|SHARE", struct args, prefix, "of a prompt in the cache already",
               .alias = "prefix-cache-hit-rate"),
    OPT_DOUBLE(0, "cv", "X", struct args, vary, "spread of lengths over their mean (default: 0.1)"),
    OPT_FLAG(0, "fixed-lengths", struct args, is_fixed, "all requests are alike"),
    OPT_STRING(0, "protocol", "steady|burst:N", struct args, protocol,
               "burst: N requests, clients start at once"),
    OPT_GROUP("Limits"),
    OPT_STRING(0, "ttft", "MS[@p99]", struct args, first, "to the first token",
               .alias = "ttft-limit"),
    OPT_STRING(0, "tpot", "MS[@p99]", struct args, token, "of each token behind it",
               .alias = "tpot-limit"),
    OPT_STRING(0, "latency", "MS", struct args, latency, "of a whole request",
               .alias = "request-latency"),
    OPT_GROUP("Space"),
    OPT_STRING(0, "mode", "agg,disagg", struct args, mode, "serving modes (default: agg)"),
    OPT_STRING(0, "tp", "N,N", struct args, tp, "tensor-parallel sizes", .alias = "tp-sizes"),
    OPT_STRING(0, "pp", "N,N", struct args, pp, "pipeline stages (default: 1)"),
    OPT_STRING(0, "dp", "N,N", struct args, dp, "data-parallel sizes of the attention"),
    OPT_STRING(0, "ep", "N,N", struct args, ep, "expert-parallel sizes"),
    OPT_STRING(0, "moe-tp", "N,N", struct args, expert_tp, "cards that share an expert"),
    OPT_INT(0, "redundant", "N", struct args, redundant, 0, 1024, "further experts of each card"),
    OPT_GROUP("Engine"),
    OPT_DOUBLE(0, "batch-tokens", "B", struct args, batch_tokens,
               "tokens of a step at most (default: 8192)", .alias = "max-batched-tokens"),
    OPT_DOUBLE(0, "seqs", "N", struct args, seqs, "sequences at a time (default: what fits)"),
    OPT_DOUBLE(0, "memory-share", "X", struct args, share, "of the memory in use (default: 0.9)"),
    OPT_DOUBLE(0, "reserve", "GB", struct args, reserve, "of memory left alone (default: 0)"),
    OPT_DOUBLE(0, "overhead", "US", struct args, host_us,
               "host time of a step (default: calibrated)"),
    OPT_CHOICE(0, "admit", admits, struct args, admit, "room that a request needs to begin"),
    OPT_DOUBLE(0, "draft", "N", struct args, drafts, "tokens drafted in each step",
               .alias = "nextn"),
    OPT_DOUBLE(0, "accepted", "A", struct args, accepted, "of them accepted, on average",
               .alias = "nextn-accepted"),
    OPT_STRING(0, "experts", "balanced|power:1.2", struct args, spread, "spread of tokens"),
    OPT_DOUBLE(0, "transfer", "GB/S", struct args, transfer,
               "between instances (default: 50 GB/s)"),
    OPT_DOUBLE(0, "overlap", "X", struct args, overlap, "of it hidden, 0 to 1 (default: 0.5)"),
    OPT_GROUP("Answer"),
    OPT_INT(0, "top", "N", struct args, top, 1, 1000, "configurations listed (default: 5)"),
    OPT_STRING(0, "pareto", "FILE.csv", struct args, pareto, "write all points, the front marked"),
    OPT_INT(0, "explain", "RANK", struct args, explain, 1, 1000, "list the calls of one of them"),
    OPT_FLAG(0, "allow-analytic", struct args, allows_analytic,
             "answer from peaks where rows lack"),
    OPT_STRING(0, "calibration", "FILE", struct args, calibration, "in place of the built-in one"),
};

static const struct example examples[] = {
    {"strata db plan --model qwen3-8b --database-path examples/perfdb/h200 --cards 1 --isl 700 "
     "--osl 200 --tpot 20",
     "one card, one limit"},
};

/* ---- options ---- */

static bool read_list(struct session *s, const char *text, struct plan_list *out)
{
    return text == NULL || opt_model_numbers(s, text, &out->at, &out->n);
}

static bool read_limit(const char *text, struct plan_limit *out)
{
    struct str rest = str_of(text), ms;

    if (text == NULL)
        return true;
    str_split(&rest, '@', &ms);
    out->is_p99 = str_equal(rest, S("p99"));
    return num_f64(ms, &out->ms) && out->ms > 0 && (rest.n == 0 || out->is_p99);
}

/* A number of tokens, or below 1 a share of the prompt. */
static bool read_prefix(const char *text, double prompt, double *out)
{
    double value = 0;

    if (text == NULL)
        return true;
    if (!num_f64(str_of(text), &value) || value < 0)
        return false;
    *out = value < 1 ? value * prompt : value;
    return *out < prompt;
}

static bool read_modes(const char *text, unsigned *out)
{
    struct str rest = str_of(text), part;

    *out = PLAN_AGGREGATED;
    if (text == NULL)
        return true;
    for (*out = 0; str_split(&rest, ',', &part);)
        if (str_equal(part, S("agg")))
            *out |= PLAN_AGGREGATED;
        else if (str_equal(part, S("disagg")))
            *out |= PLAN_DISAGGREGATED;
        else
            return false;
    return *out != 0;
}

static bool read_protocol(const char *text, double *out)
{
    struct str rest = str_of(text);

    *out = 0;
    if (text == NULL || str_equal(rest, S("steady")))
        return true;
    return str_skip(&rest, S("burst:")) && num_f64(rest, out) && *out >= 1;
}

/* "power:1.2" as the rows have it. */
static bool read_spread(struct session *s, const char *text, struct str *out)
{
    struct str rest = str_of(text);
    double power;

    *out = S("");
    if (text == NULL)
        return true;
    *out = S("balanced");
    if (str_equal(rest, S("balanced")))
        return true;
    if (!str_skip(&rest, S("power:")) || !num_f64(rest, &power))
        return false;
    *out = arena_format(&s->arena, "power_law_%.*s", STR_ARGS(rest));
    return true;
}

static int read_systems(struct session *s, const struct args *args, struct plan_request *r)
{
    struct str rest = str_of(args->systems), part;
    struct str *list = ARENA_ARRAY(&s->arena, struct str, rest.n + 1);

    while (args->systems != NULL && str_split(&rest, ',', &part))
        if (part.n > 0)
            list[r->n_systems++] = part;
    r->systems = list;
    r->engine = str_of(args->engine);
    r->version = str_of(args->version);
    if (args->version != NULL && args->engine == NULL)
        return session_usage(s, "--engine-version needs --engine");
    r->cards = 8;
    if (args->cards != NULL && str_equal(str_of(args->cards), S("auto")))
        r->cards = 0;
    else if (args->cards != NULL && (!num_i64(str_of(args->cards), &r->cards) || r->cards < 1))
        return session_usage(s, "--cards is a number of cards, or auto");
    if (r->cards == 0 && args->rate <= 0)
        return session_usage(s, "--cards auto needs --rate");
    return CODE_DONE;
}

static int read_load(struct session *s, const struct args *args, struct plan_request *r)
{
    if (!(args->isl >= 1) || !(args->osl >= 1) || !(args->isl <= 1e8) || !(args->osl <= 1e8))
        return session_usage(s, "--isl and --osl are numbers of tokens from 1 on");
    if (args->rate > 0 && args->clients > 0)
        return session_usage(s, "--rate and --concurrency are mutually exclusive");
    if (!read_prefix(args->prefix, args->isl, &r->cached))
        return session_usage(s, "--prefix is a share below 1, or less tokens than the prompt");
    if (!read_protocol(args->protocol, &r->burst))
        return session_usage(s, "--protocol is steady, or burst:N with a number of requests");
    if (r->burst > 0 && args->rate > 0)
        return session_usage(s, "--protocol burst needs --concurrency, not --rate");
    if (!read_limit(args->first, &r->first) || !read_limit(args->token, &r->token) ||
        !read_limit(args->latency, &r->latency))
        return session_usage(s,
                             "--ttft, --tpot and --latency are milliseconds, such as 50 or 50@p99");
    if (!(args->vary >= 0) || args->vary > 2)
        return session_usage(s, "--cv is a number from 0 to 2");
    r->prompt = args->isl;
    r->output = args->osl;
    r->rate = args->rate;
    r->clients = args->clients;
    r->vary_prompt = r->vary_output = args->is_fixed ? 0 : args->vary;
    r->is_equal = args->is_fixed;
    return CODE_DONE;
}

static int read_space(struct session *s, const struct args *args, struct plan_request *r)
{
    if (!read_list(s, args->tp, &r->tp) || !read_list(s, args->pp, &r->pp) ||
        !read_list(s, args->dp, &r->dp) || !read_list(s, args->ep, &r->ep) ||
        !read_list(s, args->expert_tp, &r->expert_tp))
        return session_usage(s, "--tp, --pp, --dp, --ep and --moe-tp are numbers with commas");
    if (!read_modes(args->mode, &r->modes))
        return session_usage(s, "--mode is agg, disagg or both with a comma");
    if (!read_spread(s, args->spread, &r->spread))
        return session_usage(s, "--experts is balanced, or power:1.2");
    r->redundant = args->redundant;
    return CODE_DONE;
}

static int read_engine(struct session *s, const struct args *args, struct plan_request *r)
{
    bool has_drafts = args->drafts > 0, has_accepted = args->accepted >= 0;

    if (has_drafts != has_accepted)
        return session_usage(s, "--draft and --accepted go together: acceptance is not guessed");
    if (has_drafts && args->accepted > args->drafts)
        return session_usage(s, "--accepted %g is more than --draft %g", args->accepted,
                             args->drafts);
    if (!(args->batch_tokens >= 1) || !(args->share > 0) || args->share > 1 || args->reserve < 0 ||
        args->seqs < 0 || args->overlap < 0 || args->overlap > 1 || args->transfer < 0)
        return session_usage(s, "a number of the engine is out of range");
    r->batch_tokens = args->batch_tokens;
    r->seqs = args->seqs;
    r->memory_share = args->share;
    r->reserve_gb = args->reserve;
    r->admits_prompts = args->admit == ADMIT_PROMPT;
    r->host_us = args->host_us;
    r->drafts = has_drafts ? args->drafts : 0;
    r->accepted = has_drafts ? args->accepted : 0;
    r->transfer_gbps = args->transfer;
    r->overlap = args->overlap;
    r->allows_analytic = args->allows_analytic;
    r->top = (size_t)args->top;
    return CODE_DONE;
}

static int read_request(struct session *s, const struct args *args, struct llm *model,
                        struct plan_request *r)
{
    *r = (struct plan_request){.model = model, .databases = args->databases};
    if (args->databases == NULL)
        return session_usage(s, "--database-path is needed: what strata db parse --from aic made, "
                                "or a database of your own");
    TRY_CODE(opt_model_find(s, &args->model, model));
    TRY_CODE(read_systems(s, args, r));
    TRY_CODE(read_load(s, args, r));
    TRY_CODE(read_space(s, args, r));
    TRY_CODE(read_engine(s, args, r));
    if (args->links != NULL)
        TRY_CODE(db_code(links_read(args->links, S(""), &r->links, &s->diag)));
    return db_code(calibration_read(&s->arena, args->calibration, &r->calibration, &s->diag));
}

/* ---- the answer ---- */

static enum status explain(struct session *s, const struct args *args, struct plan_result *r)
{
    if (args->explain == 0)
        return ST_OK;
    if ((size_t)args->explain > r->n_top)
        return diag_fail(&s->diag, ST_NOT_FOUND, "plan.no-rank", (struct where){0},
                         "--explain %lld: %zu configurations are listed", (long long)args->explain,
                         r->n_top);
    r->is_explained = true;
    r->explained.rank = (uint64_t)args->explain;
    plan_explain(r->plan, &r->top[args->explain - 1], &r->explained.list, &r->explained.cost);
    return ST_OK;
}

static enum status give(struct session *s, const struct args *args, struct plan *p)
{
    const char *const inputs[] = {args->databases, NULL};
    struct plan_result r;

    plan_result_set(&r, p, p->request->top);
    enum status st = explain(s, args, &r);
    if (st == ST_OK && args->pareto != NULL)
        st = db_output(s, args->pareto, inputs, plan_front_csv, &r);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &plan_schema,
                                         .origin = "estimated",
                                         .result = &r,
                                         .describe = plan_describe});
    vec_free(&r.explained.list.parts);
    return st;
}

static int db_plan_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct plan_request request;
    struct llm model;
    struct plan p;

    TRY_CODE(read_request(s, args, &model, &request));
    plan_init(&p, &request);
    enum status st = plan_run(&p, &s->diag);
    if (st == ST_OK)
        st = give(s, args, &p);
    bool has_answer = p.rows.n > 0 && p.rows.at[0].meets;
    plan_free(&p);
    return st == ST_OK && !has_answer ? CODE_NO : db_code(st);
}

const struct command command_db_plan = {
    .name = "plan",
    .group = GROUP_DATABASE,
    .summary = "find the configuration that serves a model",
    .usage = "--model NAME --database-path DIR --system NAME [OPTIONS]",
    .details =
        "Tries layouts (tensor, pipeline, data and expert parallelism), numbers of sequences and "
        "the split of prompts and decodes, and gives for each what it serves: tokens by second, "
        "time to the first token and of each further one, with 80 % intervals. The time of a step "
        "is the sum of its operators, from measured rows of the database; what follows of it is "
        "the steady state of continuous batching. A layout that does not fit, or whose calls have "
        "no rows, has no answer but a reason. Exit code 1: no configuration meets the limits.",
    .see = "docs/plan.md",
    .schemas = {&plan_schema},
    .common = COMMON_HTML,
    COMMAND_PARTS,
    .run = db_plan_run,
};
