/*
 * strata synth: captures of invented runs, with the truth about them.
 */
#include <sys/resource.h>

#include "cli/session.h"
#include "synth/model.h"
#include "synth/synth.h"

/* All files of all ranks are open at once. */
enum { RANKS_MAX = 512 };

struct args {
    const char *formats, *slow, *bubble_ms, *target_mb, *skew_us;
    int model, mode, flavor;
    int64_t steps, ranks, straggler, layers, dense_layers, prefill_every, tokens, batch;
    int64_t bubbles, aicpu, level, seed;
    uint64_t truncate;
    bool stacks, gzip, partial, force;
};

static const struct args defaults = {
    .formats = "text",
    .slow = "1.25",
    .bubble_ms = "2.5",
    .skew_us = "0",
    .mode = SYNTH_MIXED,
    .ranks = 1,
    .straggler = -1,
    .layers = -1,
    .dense_layers = -1,
    .prefill_every = 8,
    .tokens = 4096,
    .batch = 64,
    .bubbles = 1,
    .aicpu = 2,
    .level = 1,
    .seed = 1,
    .stacks = true,
};

static const char *const modes[] = {"prefill", "decode", "mixed", "train", NULL};
static const char *const flavors[] = {"new", "mid", "old", NULL};

static const struct opt options[] = {
    OPT_GROUP("Size"),
    OPT_INT(0, "steps", "N", struct args, steps, 0, 100000000, "steps to run (4)"),
    OPT_STRING(0, "target-mb", "MB", struct args, target_mb,
               "run until rank 0's trace has this size instead"),
    OPT_INT(0, "ranks", "N", struct args, ranks, 1, RANKS_MAX, "captures of this many ranks (1)"),
    OPT_GROUP("Model"),
    OPT_CHOICE(0, "model", model_names, struct args, model, "what runs (tiny)"),
    OPT_INT(0, "layers", "N", struct args, layers, 1, 10000, "layers in place of the model's"),
    OPT_INT(0, "dense-layers", "N", struct args, dense_layers, 0, 10000,
            "first layers without experts, in place of the model's"),
    OPT_CHOICE(0, "mode", modes, struct args, mode, "what the steps do (mixed)"),
    OPT_INT(0, "prefill-every", "N", struct args, prefill_every, 0, 1000000,
            "in mixed mode, one prefill step in this many (8)"),
    OPT_INT(0, "tokens", "N", struct args, tokens, 1, 1 << 20,
            "tokens of a prefill or training step (4096)"),
    OPT_INT(0, "batch", "N", struct args, batch, 1, 1 << 16, "sequences of a decode step (64)"),
    OPT_GROUP("Trouble"),
    OPT_INT(0, "bubbles", "N", struct args, bubbles, 0, 1000,
            "idle times of known cause in each step (1)"),
    OPT_STRING(0, "bubble-ms", "MS", struct args, bubble_ms, "their mean length (2.5)"),
    OPT_INT(0, "aicpu", "N", struct args, aicpu, 0, 1000, "AICPU operators in each step (2)"),
    OPT_INT(0, "straggler", "RANK", struct args, straggler, -1, RANKS_MAX - 1,
            "a rank that is slower"),
    OPT_STRING(0, "slow", "X", struct args, slow, "how many times slower it is (1.25)"),
    OPT_STRING(0, "skew-us", "US", struct args, skew_us,
               "clock offset from each rank to the next (0)"),
    OPT_FLAG(0, "partial", struct args, partial,
             "begin and end in the middle of a step, as a capture by hand does"),
    OPT_SIZE(0, "truncate", "BYTES", struct args, truncate,
             "cut the traces there, as a killed profiler does"),
    OPT_GROUP("Files"),
    OPT_STRING(0, "formats", "LIST", struct args, formats,
               "text, db, msprof, kineto, chrome or all, separated by commas (text)"),
    OPT_INT(0, "level", "N", struct args, level, 0, 2, "profiler level of Ascend files (1)"),
    OPT_CHOICE(0, "flavor", flavors, struct args, flavor, "generation of Ascend files (new)"),
    OPT_FLAG(0, "stacks", struct args, stacks, "call stacks and Python functions (on)"),
    OPT_FLAG(0, "gzip", struct args, gzip, "compress the kineto and chrome files"),
    OPT_INT(0, "seed", "N", struct args, seed, 0, INT64_MAX, "another seed, another run (1)"),
    OPT_FLAG(0, "force", struct args, force, "write into a folder that is not empty"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata synth -o cap", "a small run of a small model"},
    {"strata synth -o moe --model deepseek --layers 6 --formats text,db --steps 2",
     "six layers of a large one, as text and as a database"},
    {"strata synth -o job --ranks 8 --straggler 5 --skew-us 120",
     "eight ranks; one is slow and their clocks differ"},
    {"strata synth -o gpu --mode train --formats kineto --gzip", "a training run as on a GPU"},
    {0},
};

/* As many open files as the system lets us have. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Fills `o`, or says what is wrong. */
static int read_args(struct session *s, const struct args *a, struct synth_options *o)
{
    nanos mb = 0;

    if (s->common.out == NULL)
        return session_usage(s, "-o DIR says where to write, and is missing");
    o->out = s->common.out;
    o->formats = synth_formats_parse(a->formats);
    if (o->formats == 0)
        return session_usage(s, "--formats takes text, db, msprof, kineto, chrome or all, not '%s'",
                             a->formats);
    /* Three decimals each, as thousandths. */
    if (!num_us(str_of(a->slow), &o->slow) || o->slow < 1 || o->slow > 1000000)
        return session_usage(s, "--slow takes a factor from 0.001 to 1000, not '%s'", a->slow);
    if (!num_ms(str_of(a->bubble_ms), &o->bubble) || o->bubble < 1000 ||
        o->bubble > INT64_C(1000000000000))
        return session_usage(s, "--bubble-ms takes 0.001 to 1000000, not '%s'", a->bubble_ms);
    if (!num_us(str_of(a->skew_us), &o->skew) || o->skew < -INT64_C(1000000000000) ||
        o->skew > INT64_C(1000000000000))
        return session_usage(s, "--skew-us takes a number of microseconds, not '%s'", a->skew_us);
    if (a->target_mb != NULL &&
        (!num_us(str_of(a->target_mb), &mb) || mb < 1 || mb > INT64_C(10000000000)))
        return session_usage(s, "--target-mb takes a size in MB, not '%s'", a->target_mb);
    o->target_bytes = (uint64_t)mb * 1000;
    o->steps = a->steps > 0 || mb > 0 ? a->steps : 4;
    return CODE_DONE;
}

static void print(struct session *s, const struct synth_result *r)
{
    static const struct out_column columns[] = {
        {"rank", true},        {"steps", true},    {"kernels", true},
        {"host events", true}, {"trace MB", true},
    };
    enum { COLUMNS = ARRAY_LEN(columns), SHOWN = 16 };
    const char *cells[SHOWN * COLUMNS];
    size_t rows = (size_t)(r->ranks_n < SHOWN ? r->ranks_n : SHOWN);

    for (size_t i = 0; i < rows; i++) {
        const struct synth_rank_result *one = &r->ranks[i];
        const char **row = cells + i * COLUMNS;
        row[0] = arena_format(&s->arena, "%zu", i).at;
        row[1] = arena_format(&s->arena, "%lld", (long long)one->steps).at;
        row[2] = arena_format(&s->arena, "%llu", (unsigned long long)one->kernels).at;
        row[3] = arena_format(&s->arena, "%llu", (unsigned long long)one->host_events).at;
        row[4] =
            arena_format(&s->arena, "%llu.%02llu", (unsigned long long)(one->trace_bytes / 1000000),
                         (unsigned long long)(one->trace_bytes / 10000 % 100))
                .at;
    }
    out_table(&s->out, columns, COLUMNS, cells, rows);
    if ((int64_t)rows < r->ranks_n)
        out_printf(&s->out, "  and %lld ranks more\n", (long long)(r->ranks_n - (int64_t)rows));
    out_printf(&s->out, "\n  %llu files, %llu bytes\n", (unsigned long long)r->files,
               (unsigned long long)r->bytes);
}

static void print_json(struct session *s, const struct synth_result *r)
{
    struct json_writer *j = session_json_begin(s, "strata.synth/1", "simulated");

    json_write_object(j);
    json_put_u64(j, "files", r->files);
    json_put_u64(j, "bytes", r->bytes);
    json_put_array(j, "ranks");
    for (int64_t i = 0; i < r->ranks_n; i++) {
        json_write_object(j);
        json_put_i64(j, "steps", r->ranks[i].steps);
        json_put_u64(j, "kernels", r->ranks[i].kernels);
        json_put_u64(j, "host_events", r->ranks[i].host_events);
        json_put_u64(j, "trace_bytes", r->ranks[i].trace_bytes);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
    session_json_end(s);
}

static int run(struct session *s, const void *given)
{
    const struct args *a = given;
    struct synth_options o = synth_defaults();
    struct synth_result result;

    int code = read_args(s, a, &o);
    if (code != CODE_DONE)
        return code;
    o.model = model_names[a->model];
    o.layers = a->layers;
    o.dense_layers = a->dense_layers;
    o.tokens = a->tokens;
    o.batch = a->batch;
    o.mode = (enum synth_mode)a->mode;
    o.prefill_every = a->prefill_every;
    o.ranks = a->ranks;
    o.straggler = a->straggler;
    o.bubbles = a->bubbles;
    o.aicpu = a->aicpu;
    o.level = a->level;
    o.flavor = (enum synth_flavor)a->flavor;
    o.stacks = a->stacks;
    o.gzip = a->gzip;
    o.partial = a->partial;
    o.force = a->force;
    o.seed = (uint64_t)a->seed;
    o.truncate = a->truncate;
    raise_file_limit();
    enum status status = synth_run(&o, &s->progress, &s->arena, &s->diag, &result);
    if (status != ST_OK)
        return session_code(status);
    session_wrote(s, result.truth);
    if (s->common.json)
        print_json(s, &result);
    else if (!s->common.quiet)
        print(s, &result);
    return CODE_DONE;
}

const struct command command_synth = {
    .name = "synth",
    .group = GROUP_LOOK,
    .summary = "write captures of an invented run, with the truth about it",
    .usage = "[OPTIONS] -o DIR",
    .details =
        "Runs a decoder model on invented hosts and devices and writes what a profiler would have "
        "recorded: Ascend folders and databases, PyTorch (Kineto) traces, Chrome traces. Beside "
        "them ground_truth.json tells exactly what an analysis has to find: busy and idle time of "
        "every step, each injected idle time with its cause, totals by kernel, slow ranks and "
        "clock offsets.\n\n"
        "The same options give the same bytes on every machine (compressed files and databases: "
        "with the same zlib and SQLite). Memory does not grow with the size of the capture.",
    .see = "docs/synth.md",
    .options = options,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .common = COMMON_OUT,
    .examples = examples,
    .run = run,
};
