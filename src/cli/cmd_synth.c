/*
 * strata synth: synthetic captures with ground truth.
 */
#include <sys/resource.h>

#include "cli/session.h"
#include "report/report.h"
#include "synth/cluster.h"
#include "synth/model.h"
#include "synth/plant.h"
#include "synth/synth.h"

/* All files of all ranks are open at once. */
enum { RANKS_MAX = 512, CLUSTER_LEAST = 6 /* each trouble has a rank of its own */ };

struct args {
    struct synth_options o;
    const char *formats, *slow, *bubble_ms, *target_mb, *skew_us, *plant, *trouble;
};

static const struct args defaults = {.o = SYNTH_DEFAULTS};

static const struct opt options[] = {
    OPT_GROUP("Size"),
    OPT_INT(0, "steps", "N", struct args, o.steps, 0, 100000000, "number of steps (default: 4)"),
    OPT_STRING(0, "target-mb", "MB", struct args, target_mb,
               "run until rank 0's trace has this size in MB"),
    OPT_INT(0, "ranks", "N", struct args, o.ranks, 1, RANKS_MAX, "number of ranks (default: 1)"),
    OPT_GROUP("Model"),
    OPT_CHOICE(0, "model", model_names, struct args, o.model, "model (default: tiny)"),
    OPT_INT(0, "layers", "N", struct args, o.layers, 1, 10000,
            "number of layers (default: as in the model)"),
    OPT_INT(0, "dense-layers", "N", struct args, o.dense_layers, 0, 10000,
            "leading layers without experts (default: as in the model)"),
    OPT_CHOICE(0, "mode", synth_modes, struct args, o.mode, "kind of steps (default: mixed)"),
    OPT_INT(0, "prefill-every", "N", struct args, o.prefill_every, 0, 1000000,
            "mixed mode: one prefill step in N (default: 8)"),
    OPT_INT(0, "tokens", "N", struct args, o.tokens, 1, 1 << 20,
            "tokens per prefill or training step (default: 4096)"),
    OPT_INT(0, "batch", "N", struct args, o.batch, 1, 1 << 16,
            "sequences per decode step (default: 64)"),
    OPT_GROUP("Trouble"),
    OPT_STRING(0, "plant", "CAUSE", struct args, plant,
               "a program with this problem, and its repaired twin"),
    OPT_INT(0, "bubbles", "N", struct args, o.bubbles, 0, 1000,
            "injected idle gaps per step (default: 1)"),
    OPT_STRING(0, "bubble-ms", "MS", struct args, bubble_ms,
               "mean length of those gaps in ms (default: 2.5)"),
    OPT_INT(0, "aicpu", "N", struct args, o.aicpu, 0, 1000,
            "AICPU operators per step (default: 2)"),
    OPT_INT(0, "straggler", "RANK", struct args, o.straggler, -1, RANKS_MAX - 1,
            "rank to slow down"),
    OPT_STRING(0, "slow", "X", struct args, slow,
               "slowdown factor of the straggler (default: 1.25)"),
    OPT_STRING(0, "skew-us", "US", struct args, skew_us,
               "clock offset between neighbouring ranks in µs (default: 0)"),
    OPT_FLAG(0, "partial", struct args, o.partial, "begin and end in the middle of a step"),
    OPT_SIZE(0, "truncate", "BYTES", struct args, o.truncate,
             "truncate the traces, as if the profiler was killed"),
    OPT_GROUP("Cluster"),
    OPT_FLAG(0, "cluster", struct args, o.is_cluster,
             "a training job of many ranks with troubles of known place"),
    OPT_INT(0, "tp", "N", struct args, o.tp, 1, RANKS_MAX, "tensor parallel ranks (default: 1)"),
    OPT_INT(0, "pp", "N", struct args, o.pp, 1, RANKS_MAX, "pipeline stages (default: 1)"),
    OPT_INT(0, "ep", "N", struct args, o.ep, 1, RANKS_MAX, "expert parallel ranks (default: 1)"),
    OPT_STRING(0, "trouble", "LIST", struct args, trouble,
               "what is wrong, see below (default: all but imbalance)"),
    OPT_GROUP("Files"),
    OPT_STRING(0, "formats", "LIST", struct args, formats,
               "text, db, msprof, kineto, chrome, all (default: text)"),
    OPT_INT(0, "level", "N", struct args, o.level, 0, 2, "Ascend profiler level (default: 1)"),
    OPT_CHOICE(0, "flavor", synth_flavors, struct args, o.flavor,
               "generation of the Ascend files (default: new)"),
    OPT_FLAG(0, "stacks", struct args, o.stacks, "call stacks and Python functions (default: on)"),
    OPT_FLAG(0, "gzip", struct args, o.gzip, "compress the kineto and chrome files"),
    OPT_INT(0, "seed", "N", struct args, o.seed, 0, INT64_MAX, "random seed (default: 1)"),
    OPT_FLAG(0, "force", struct args, o.force, "write into a non-empty folder"),
};

static const struct example examples[] = {
    {"strata synth -o cap", "a small run of a small model"},
    {"strata synth -o moe --model deepseek --layers 6 --formats text,db --steps 2",
     "six layers of a large model, as text and database"},
    {"strata synth -o job --ranks 8 --straggler 5 --skew-us 120",
     "eight ranks with a straggler and clock skew"},
    {"strata synth -o cluster --cluster --ranks 16 --tp 2 --pp 2 --ep 2 --steps 4",
     "a training job of 16 ranks with four troubles"},
    {"strata synth -o gpu --mode train --formats kineto --gzip", "a GPU training run"},
    {"strata synth -o sync --plant host_sync --formats kineto",
     "a host that waits for the device, and the same run repaired"},
};

static bool find_plant(const char *id, int *out)
{
    for (int i = 0; i < PLANT_COUNT; i++)
        if (strcmp(plant_names[i], id) == 0) {
            *out = i + 1;
            return true;
        }
    return false;
}

static const char *all_plants(struct arena *arena)
{
    const char *list = plant_names[0];

    for (int i = 1; i < PLANT_COUNT; i++)
        list = arena_printf(arena, "%s, %s", list, plant_names[i]);
    return list;
}

/* Completes `o`, or gives a usage error. */
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
        {a->slow, num_us, &o->slow, 1, 1000000, "--slow must be a factor from 0.001 to 1000"},
        {a->bubble_ms, num_ms, &o->bubble, 1000, INT64_C(1000000000000),
         "--bubble-ms must be 0.001 to 1000000"},
        {a->skew_us, num_us, &o->skew, -INT64_C(1000000000000), INT64_C(1000000000000),
         "--skew-us must be a number of microseconds"},
        {a->target_mb, num_us, &mb, 1, INT64_C(10000000000), "--target-mb must be a size in MB"},
    };

    o->out = s->common.out;
    if (o->out == NULL)
        return session_usage(s, "synth needs -o DIR");
    if (a->formats != NULL)
        o->formats = synth_formats_parse(a->formats);
    if (o->formats == 0)
        return session_usage(
            s, "--formats must be a list of text, db, msprof, kineto, chrome or all, not '%s'",
            a->formats);
    if (a->plant != NULL && !find_plant(a->plant, &o->plant))
        return session_usage(s, "--plant must be one of %s, not '%s'", all_plants(&s->arena),
                             a->plant);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (numbers[i].text != NULL &&
            (!numbers[i].read(str_of(numbers[i].text), numbers[i].out) ||
             *numbers[i].out < numbers[i].min || *numbers[i].out > numbers[i].max))
            return session_usage(s, "%s, not '%s'", numbers[i].want, numbers[i].text);
    if (!cluster_troubles_parse(a->trouble != NULL ? a->trouble : "compute,host,storage,link", o))
        return session_usage(s,
                             "--trouble must be a list of compute, link, host, storage, "
                             "imbalance, all or none, not '%s'",
                             a->trouble);
    if (o->is_cluster && (!cluster_fits(o) || o->ranks < CLUSTER_LEAST))
        return session_usage(s,
                             "--ranks must be at least %d and a multiple of --tp times --pp times "
                             "--ep",
                             CLUSTER_LEAST);
    o->target_bytes = (uint64_t)mb * 1000;
    if (o->steps == 0 && mb == 0 && o->plant == 0)
        o->steps = 4;
    return CODE_DONE;
}

static void synth_describe(const void *result, struct report *report)
{
    static const struct column columns[] = {{"rank", COLUMN_NUMBER, UNIT_COUNT},
                                            {"steps", COLUMN_NUMBER, UNIT_COUNT},
                                            {"kernels", COLUMN_NUMBER, UNIT_COUNT},
                                            {"host events", COLUMN_NUMBER, UNIT_COUNT},
                                            {"trace MB", COLUMN_RIGHT, UNIT_COUNT}};
    enum { SHOWN = 16 };
    const struct synth_result *r = result;
    struct table *t = report_table(report, columns, ARRAY_LEN(columns));

    for (int64_t i = 0; i < r->ranks_n && i < SHOWN; i++) {
        const struct synth_rank_result *one = &r->ranks[i];
        table_number(t, (double)i);
        table_number(t, (double)one->steps);
        table_number(t, (double)one->kernels);
        table_number(t, (double)one->host_events);
        table_text(report, t,
                   arena_format(&report->arena, "%llu.%02llu",
                                (unsigned long long)(one->trace_bytes / 1000000),
                                (unsigned long long)(one->trace_bytes / 10000 % 100)));
    }
    if (r->ranks_n > SHOWN)
        report_line(report, "  and %lld more ranks", (long long)r->ranks_n - SHOWN);
    report_line(report, "\n  %llu files, %llu bytes", (unsigned long long)r->files,
                (unsigned long long)r->bytes);
}

static int cli_synth_run(struct session *s, const void *given)
{
    const struct args *a = given;
    struct synth_options o = a->o;
    struct synth_result result;

    struct rlimit limit;

    TRY_CODE(read_args(s, a, &o));
    /* As many open files as the system lets us have. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    TRY_CODE(session_code(synth_run(&o, &s->progress, &s->arena, &s->diag, &result)));
    session_wrote(s, result.truth);
    session_give(s, &(struct answer){.schema = &synth_schema,
                                     .origin = "simulated",
                                     .result = &result,
                                     .title = S(""),
                                     .describe = synth_describe});
    return CODE_DONE;
}

const struct command command_synth = {
    .name = "synth",
    .group = GROUP_TOOLS,
    .summary = "generate synthetic captures with ground truth",
    .usage = "[OPTIONS] -o DIR",
    .details =
        "Simulates a decoder model on synthetic hosts and devices and writes what a profiler would "
        "have recorded: Ascend folders and databases, PyTorch (Kineto) traces, Chrome traces. "
        "ground_truth.json lists what an analysis must find: busy and idle time of every step, "
        "each injected gap with its cause, totals by kernel, stragglers and clock offsets.\n"
        "\n"
        "--plant CAUSE executes a program with one known problem and the same program repaired, "
        "and "
        "writes both: DIR/sick and DIR/repaired. ground_truth.json then has the cause, what the "
        "repair saves, and the exact accounting of every step. The causes are those of "
        "docs/synth.md; "
        "options of size, model and trouble other than --steps do not apply.\n"
        "\n"
        "--cluster simulates a training job instead, with pipeline, tensor, expert and data "
        "parallel ranks whose clocks are off by up to 50 ms and drift by up to 20 ppm. Troubles "
        "(compute, link, host, storage, imbalance; or all, none; a kind may occur several times) "
        "and their places are drawn by the seed; ground_truth.json names them. compute:3, link:150 "
        "and imbalance:40 set the slowdown in percent, storage:30 and host:4:2 the time in ms, and "
        "in how many steps. Options of model and format do not apply.\n"
        "\n"
        "--formats takes a list separated by commas. The same options give the same bytes on every "
        "machine (compressed files and databases: with the same zlib and SQLite). Memory use does "
        "not depend on the size of the capture.",
    .see = "docs/synth.md",
    .common = COMMON_OUT,
    .schemas = {&synth_schema},
    COMMAND_PARTS,
    .run = cli_synth_run,
};
