/*
 * strata synth: captures of invented runs, with the truth about them.
 */
#include <sys/resource.h>

#include "cli/session.h"
#include "report/report.h"
#include "synth/model.h"
#include "synth/synth.h"

/* All files of all ranks are open at once. */
enum { RANKS_MAX = 512 };

struct args {
    struct synth_options o;
    const char *formats, *slow, *bubble_ms, *target_mb, *skew_us;
};

static const struct args defaults = {.o = SYNTH_DEFAULTS};

static const struct opt options[] = {
    OPT_GROUP("Size"),
    OPT_INT(0, "steps", "N", struct args, o.steps, 0, 100000000, "steps to run (4)"),
    OPT_STRING(0, "target-mb", "MB", struct args, target_mb,
               "run until rank 0's trace has this size instead"),
    OPT_INT(0, "ranks", "N", struct args, o.ranks, 1, RANKS_MAX, "captures of this many ranks (1)"),
    OPT_GROUP("Model"),
    OPT_CHOICE(0, "model", model_names, struct args, o.model, "what runs (tiny)"),
    OPT_INT(0, "layers", "N", struct args, o.layers, 1, 10000, "layers in place of the model's"),
    OPT_INT(0, "dense-layers", "N", struct args, o.dense_layers, 0, 10000,
            "first layers without experts, in place of the model's"),
    OPT_CHOICE(0, "mode", synth_modes, struct args, o.mode, "what the steps do (mixed)"),
    OPT_INT(0, "prefill-every", "N", struct args, o.prefill_every, 0, 1000000,
            "in mixed mode, one prefill step in this many (8)"),
    OPT_INT(0, "tokens", "N", struct args, o.tokens, 1, 1 << 20,
            "tokens of a prefill or training step (4096)"),
    OPT_INT(0, "batch", "N", struct args, o.batch, 1, 1 << 16, "sequences of a decode step (64)"),
    OPT_GROUP("Trouble"),
    OPT_INT(0, "bubbles", "N", struct args, o.bubbles, 0, 1000,
            "idle times of known cause in each step (1)"),
    OPT_STRING(0, "bubble-ms", "MS", struct args, bubble_ms, "their mean length (2.5)"),
    OPT_INT(0, "aicpu", "N", struct args, o.aicpu, 0, 1000, "AICPU operators in each step (2)"),
    OPT_INT(0, "straggler", "RANK", struct args, o.straggler, -1, RANKS_MAX - 1,
            "a rank that is slower"),
    OPT_STRING(0, "slow", "X", struct args, slow, "how many times slower it is (1.25)"),
    OPT_STRING(0, "skew-us", "US", struct args, skew_us,
               "clock offset from each rank to the next (0)"),
    OPT_FLAG(0, "partial", struct args, o.partial,
             "begin and end in the middle of a step, as a capture by hand does"),
    OPT_SIZE(0, "truncate", "BYTES", struct args, o.truncate,
             "cut the traces there, as a killed profiler does"),
    OPT_GROUP("Files"),
    OPT_STRING(0, "formats", "LIST", struct args, formats,
               "text, db, msprof, kineto, chrome or all, separated by commas (text)"),
    OPT_INT(0, "level", "N", struct args, o.level, 0, 2, "profiler level of Ascend files (1)"),
    OPT_CHOICE(0, "flavor", synth_flavors, struct args, o.flavor,
               "generation of Ascend files (new)"),
    OPT_FLAG(0, "stacks", struct args, o.stacks, "call stacks and Python functions (on)"),
    OPT_FLAG(0, "gzip", struct args, o.gzip, "compress the kineto and chrome files"),
    OPT_INT(0, "seed", "N", struct args, o.seed, 0, INT64_MAX, "another seed, another run (1)"),
    OPT_FLAG(0, "force", struct args, o.force, "write into a folder that is not empty"),
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

/* Completes `o`, or says what is wrong. */
static int read_args(struct session *s, const struct args *a, struct synth_options *o)
{
    nanos mb = 0;
    /* Three decimals each, as thousandths; milliseconds are nanoseconds. */
    const struct {
        const char *text;
        bool (*read)(struct str text, nanos *out);
        int64_t *out, min, max;
        const char *want;
    } numbers[] = {
        {a->slow, num_us, &o->slow, 1, 1000000, "--slow takes a factor from 0.001 to 1000"},
        {a->bubble_ms, num_ms, &o->bubble, 1000, INT64_C(1000000000000),
         "--bubble-ms takes 0.001 to 1000000"},
        {a->skew_us, num_us, &o->skew, -INT64_C(1000000000000), INT64_C(1000000000000),
         "--skew-us takes a number of microseconds"},
        {a->target_mb, num_us, &mb, 1, INT64_C(10000000000), "--target-mb takes a size in MB"},
    };

    o->out = s->common.out;
    if (o->out == NULL)
        return session_usage(s, "-o DIR says where to write, and is missing");
    if (a->formats != NULL)
        o->formats = synth_formats_parse(a->formats);
    if (o->formats == 0)
        return session_usage(s, "--formats takes text, db, msprof, kineto, chrome or all, not '%s'",
                             a->formats);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (numbers[i].text != NULL &&
            (!numbers[i].read(str_of(numbers[i].text), numbers[i].out) ||
             *numbers[i].out < numbers[i].min || *numbers[i].out > numbers[i].max))
            return session_usage(s, "%s, not '%s'", numbers[i].want, numbers[i].text);
    o->target_bytes = (uint64_t)mb * 1000;
    if (o->steps == 0 && mb == 0)
        o->steps = 4;
    return CODE_DONE;
}

static void print(struct session *s, const struct synth_result *r)
{
    static const struct column columns[] = {{"rank", COLUMN_NUMBER, UNIT_COUNT},
                                            {"steps", COLUMN_NUMBER, UNIT_COUNT},
                                            {"kernels", COLUMN_NUMBER, UNIT_COUNT},
                                            {"host events", COLUMN_NUMBER, UNIT_COUNT},
                                            {"trace MB", COLUMN_RIGHT, UNIT_COUNT}};
    enum { SHOWN = 16 };
    struct report *report = report_new(LANG_EN, S(""));
    struct table *t = report_table(report, columns, ARRAY_LEN(columns));

    for (int64_t i = 0; i < r->ranks_n && i < SHOWN; i++) {
        const struct synth_rank_result *one = &r->ranks[i];
        table_number(t, (double)i);
        table_number(t, (double)one->steps);
        table_number(t, (double)one->kernels);
        table_number(t, (double)one->host_events);
        table_text(report, t,
                   arena_format(&s->arena, "%llu.%02llu",
                                (unsigned long long)(one->trace_bytes / 1000000),
                                (unsigned long long)(one->trace_bytes / 10000 % 100)));
    }
    if (r->ranks_n > SHOWN)
        report_line(report, "  and %lld ranks more", (long long)r->ranks_n - SHOWN);
    report_line(report, "\n  %llu files, %llu bytes", (unsigned long long)r->files,
                (unsigned long long)r->bytes);
    session_report(s, report);
    report_free(report);
}

static int run(struct session *s, const void *given)
{
    const struct args *a = given;
    struct synth_options o = a->o;
    struct synth_result result;

    int code = read_args(s, a, &o);
    if (code != CODE_DONE)
        return code;
    raise_file_limit();
    enum status status = synth_run(&o, &s->progress, &s->arena, &s->diag, &result);
    if (status != ST_OK)
        return session_code(status);
    session_wrote(s, result.truth);
    if (s->common.json)
        session_document(s, &synth_schema, "simulated", &result, NULL);
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
    .common = COMMON_OUT,
    .schemas = {&synth_schema},
    COMMAND_PARTS,
};
