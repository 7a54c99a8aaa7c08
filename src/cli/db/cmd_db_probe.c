/*
 * strata db probe: which sizes an operator takes.
 */
#include "cli/db/opt_measure.h"
#include "opdb/measure/probe_job.h"

struct args {
    struct opt_measure measure;
    const char *shapes, *types, *formats, *outputs, *output_types, *axis;
};

enum { PROBE_LIMIT_MS = 30000 };

static const struct args defaults = {
    .measure = OPT_MEASURE_DEFAULTS, .types = "", .formats = "", .outputs = "", .output_types = ""};

static const struct opt options[] = {
    OPT_GROUP("Row"),
    OPT_STRING(0, "shapes", "LIST", struct args, shapes, "input shapes, such as 16,64;32,64"),
    OPT_STRING(0, "dtypes", "LIST", struct args, types, "input types (default: FLOAT)"),
    OPT_STRING(0, "formats", "LIST", struct args, formats, "input formats (default: ND)"),
    OPT_STRING(0, "outputs", "LIST", struct args, outputs, "output shapes"),
    OPT_STRING(0, "output-dtypes", "LIST", struct args, output_types, "output types"),
    OPT_STRING(0, "axis", "PLACE=N,N", struct args, axis,
               "dimensions to set and their values, such as 0.1+1.1=16,31,32"),
    OPT_MEASURE(struct args, measure, "repetitions per value (default: 1)"),
};

static const struct example examples[] = {
    {"strata db probe MatMulV2 --shapes \"4,64;8,64\" --outputs 4,8 --axis 0.1+1.1=16,31,64 "
     "--backend cpu",
     "three sizes of K on this machine's processors"},
};

static int db_probe_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct probe_job job = {.op = op_find(str_of(s->operands.at[0]))};
    struct place_args here = {.database_path = "."};
    struct db_ops none = {0};
    struct probed_sizes probe;

    if (job.op == NULL)
        return session_usage(s, "no operator %s that can be replayed", s->operands.at[0]);
    if (args->shapes == NULL || args->axis == NULL)
        return session_usage(s, "--shapes and --axis are needed");
    TRY_CODE(opt_measure_job(s, &args->measure, &here, &none, 1, &job.measure));
    if (job.measure.options.limit_ms == 0)
        job.measure.options.limit_ms = PROBE_LIMIT_MS;
    job.shapes = str_of(args->shapes);
    job.types = str_of(args->types);
    job.formats = str_of(args->formats);
    job.outputs = str_of(args->outputs);
    job.output_types = str_of(args->output_types);
    job.axis = str_of(args->axis);
    enum status st = probe_run(&job, &probe, &s->diag);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &probed_sizes_schema,
                                         .origin = "measured",
                                         .result = &probe,
                                         .describe = probed_sizes_describe});
    probed_sizes_free(&probe);
    return db_code(st);
}

const struct command command_db_probe = {
    .name = "probe",
    .group = GROUP_DATABASE,
    .summary = "which sizes of its operands an operator takes",
    .usage = "OPERATOR --shapes LIST --axis PLACE=N,N [OPTIONS]",
    .details =
        "Runs one row again and again with one size changed, each value in a process of its "
        "own if the one before ended, and reports which values ran, which were rejected, gave a "
        "wrong result, hung or crashed, and whether multiples of 16 or 32 are needed.\n"
        "\n"
        "A place is input.dimension, both counted from 0, or oOUTPUT.dimension; several "
        "places joined by + get the same value.",
    .see = "docs/perfdb.md",
    .operands = {.kind = OPERAND_WORD, .min = 1, .max = 1},
    .schemas = {&probed_sizes_schema},
    COMMAND_PARTS,
    .run = db_probe_run,
};
