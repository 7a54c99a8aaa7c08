/*
 * strata db query: how long an operator takes, from the tables of the database.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/run/cancel.h"
#include "cli/db/opt_db.h"
#include "opdb/predict/query.h"
#include "opdb/predict/work.h"
#include "opdb/rows/db_handle.h"
#include "report/report.h"

struct args {
    struct query q;
    struct place_args place;
    const char *shapes, *dtypes, *formats, *output_shape;
    bool is_compat, is_stdin;
};

static const struct args defaults = {
    .q = {.input_count = -1,
          .avg_seq = -1,
          .sparse_mode = -1,
          .kv_heads = -1,
          .message = {.bytes = -1, .tier = -1},
          .max_dims = 1},
};

static const char *const methods[] = {"alpha_beta", "bracket_linear", NULL};

static const struct opt options[] = {
    OPT_STRING(0, "kernel", "TYPE", struct args, q.kernel, "kernel type"),
    OPT_STRING(0, "op-name", "NAME", struct args, q.op_name,
               "framework operator, mapped by op_mapping.yaml"),
    OPT_STRING(0, "shapes", "LIST", struct args, shapes, "input shapes, e.g. 16,5120;5120,768"),
    OPT_STRING(0, "dtypes", "LIST", struct args, dtypes,
               "input types, e.g. bfloat16;bfloat16, or one for all"),
    OPT_STRING(0, "formats", "LIST", struct args, formats,
               "interpolate only between rows with these formats"),
    OPT_STRING(0, "output-shape", "SHAPE", struct args, output_shape,
               "output shape, if it does not follow from the inputs"),
    OPT_INT(0, "input-count", "N", struct args, q.input_count, 0, 4096,
            "compare only the first N inputs"),
    OPT_INT(0, "max-dims", "N", struct args, q.max_dims, 1, 3,
            "axes to interpolate over with --compat (default: 1)"),
    OPT_FLAG(0, "exact", struct args, q.is_exact, "rows of exactly this call only"),
    OPT_FLAG(0, "compat", struct args, is_compat, "look-up order of the public tool, no models"),
    OPT_FLAG(0, "stdin", struct args, is_stdin, "answer JSON lines from standard input"),
    OPT_GROUP("Attention"),
    OPT_INT(0, "seqs", "N", struct args, q.seqs, 1, INT32_MAX,
            "number of sequences (default: by the shapes)"),
    OPT_INT(0, "avg-seq", "N", struct args, q.avg_seq, 0, INT64_MAX, "average KV cache length"),
    OPT_INT(0, "sparse-mode", "N", struct args, q.sparse_mode, 0, INT32_MAX,
            "sparse mode (3: causal)"),
    OPT_INT(0, "kv-heads", "N", struct args, q.kv_heads, 0, INT32_MAX, "number of key/value heads"),
    OPT_GROUP("Collectives"),
    OPT_STRING(0, "comm", "NAME", struct args, q.comm,
               "collective: all_reduce, all_gather, all_to_all, …"),
    OPT_INT(0, "bytes", "N", struct args, q.message.bytes, 0, INT64_MAX, "message size in bytes"),
    OPT_INT(0, "num-devices", "N", struct args, q.message.num_devices, 1, INT32_MAX,
            "number of devices"),
    OPT_INT(0, "tier", "N", struct args, q.message.tier, 0, INT32_MAX, "network tier"),
    OPT_CHOICE(0, "method", methods, struct args, q.message.method,
               "interpolation by message size (default: alpha_beta)"),
    OPT_DB_PLACE(struct args, place),
};

static const struct example examples[] = {
    {"strata db query --database-path examples/perfdb/db --kernel MatMulV2 --shapes "
     "\"16,5120;5120,768\" --dtypes bfloat16",
     "a match, although the weight is stored transposed"},
    {"strata db query --database-path examples/perfdb/db --op-name aten.mm.default --shapes "
     "\"24,5120;5120,768\" --dtypes bfloat16",
     "an interpolated value"},
    {"strata db query --database-path examples/perfdb/db --comm all_reduce --bytes 10000 "
     "--num-devices 8",
     "a collective"},
    {"printf '{\"kernel\":\"MatMulV2\",\"shapes\":\"24,5120;5120,768\",\"dtypes\":\"bf16\"}\\n' | "
     "strata db query --database-path examples/perfdb/db --stdin",
     "answers line by line"},
};

/* Shapes and types to inputs. */
static int take_inputs(struct session *s, const struct args *args, struct query *q)
{
    struct cell_slots shapes = cell_slots(&s->arena, str_of(args->shapes));
    struct cell_slots types = cell_slots(&s->arena, str_of(args->dtypes));

    q->inputs.at = ARENA_ARRAY(&s->arena, struct query_input, shapes.n + 1);
    if (types.n != shapes.n && types.n != 1)
        return session_usage(s, "--dtypes has %zu types for %zu shapes", types.n, shapes.n);
    for (size_t i = 0; i < shapes.n; i++) {
        struct query_input *in = &q->inputs.at[q->inputs.n];
        struct str type = types.at[types.n == 1 ? 0 : i];
        if (!cell_dims(&s->arena, shapes.at[i], &in->dims))
            return session_usage(s, "--shapes: \"%.*s\" is not a shape", STR_ARGS(shapes.at[i]));
        in->dtype = args->is_compat ? query_dtype(type) : type;
        if (in->dtype.n == 0 || query_type(in->dtype) == DTYPE_UNKNOWN)
            return session_usage(s, "--dtypes: unknown type \"%.*s\"", STR_ARGS(type));
        q->inputs.n += in->dims.n > 0; /* scalars are no part of the question */
    }
    return CODE_DONE;
}

static int query_take_args(struct session *s, const struct args *args, struct query *q)
{
    int ways = (q->kernel != NULL) + (q->op_name != NULL) + (q->comm != NULL);
    struct cell_slots formats = cell_slots(&s->arena, str_of(args->formats));

    q->formats = formats.at;
    q->n_formats = formats.n;
    if (ways != 1)
        return session_usage(s, "query needs one of --kernel, --op-name and --comm");
    if (q->comm != NULL) {
        if (query_comm_kernel(str_of(q->comm)).n == 0)
            return session_usage(s, "--comm: unknown collective \"%s\"", q->comm);
        if (q->message.bytes < 0 || q->message.num_devices == 0)
            return session_usage(s, "--comm needs --bytes and --num-devices");
        return CODE_DONE;
    }
    if (q->kernel != NULL && (args->shapes == NULL || args->dtypes == NULL))
        return session_usage(s, "--kernel needs --shapes and --dtypes");
    if (args->shapes != NULL && args->dtypes == NULL)
        return session_usage(s, "--shapes needs --dtypes");
    if (args->shapes != NULL)
        TRY_CODE(take_inputs(s, args, q));
    if (!cell_dims(&s->arena, str_of(args->output_shape), &q->output))
        return session_usage(s, "--output-shape: \"%s\" is not a shape", args->output_shape);
    return CODE_DONE;
}

/* With the rows of an answer, or those that a miss nearly met. */
static void query_describe(const void *result, struct report *report)
{
    const struct query_result *r = result;
    char number[NUM_TEXT];

    number[num_print_f64(number, r->latency_us)] = '\0';
    if (r->miss != NULL)
        report_line(report, "miss        %s", r->miss);
    else
        report_line(report, "latency     %s us", number);
    if (r->miss == NULL && r->has_interval)
        report_line(report, "interval    %.4g to %.4g us (%s)", r->low_us, r->high_us,
                    r->source == QUERY_ANALYTIC ? "not calibrated" : "80 %");
    if (r->miss == NULL) {
        report_line(report, "source      %s", query_source_name(r->source));
        if (!r->has_interval)
            report_line(report, "confidence  %.2f", r->confidence);
        report_line(report, "kernel      %.*s", STR_ARGS(r->kernel));
        report_line(report, "rule        %.*s", STR_ARGS(r->rule));
        if (r->n_parts > 0)
            report_line(report, "parts       %zu of %zu", r->n_hits, r->n_parts);
    }
    if (r->n_near > 0)
        report_records(report, &query_near_record, r->near, r->n_near, NULL);
}

/* A line for each line: what is no question is a miss too. */
static enum status answer_lines(struct session *s, struct db_handle *h)
{
    enum status st = ST_OK;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    while (st == ST_OK && (n = getline(&line, &room, stdin)) >= 0) {
        struct db_reply reply = {NAN, NAN, NAN, NULL, "bad_json"};
        struct db_question q;
        struct json_writer w;
        if (cancelled())
            st = ST_CANCELLED;
        else if (db_question_read((struct str){line, (size_t)n}, &q))
            st = db_handle_ask(h, &q, &reply, &s->diag);
        json_write_init(&w, session_sink(s), JSON_COMPACT);
        record_json(&w, &db_reply_record, &reply, NULL);
        json_write_finish(&w);
        out_raw(&s->out, S("\n"));
    }
    free(line);
    return st;
}

static int db_query_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct query_result result;
    struct query_db db;
    struct query q = args->q;
    const char *dir;

    q.is_model = !args->is_compat;
    if (args->is_stdin) {
        struct db_handle *h;
        TRY_CODE(db_place(s, &args->place, &dir));
        enum status st = db_handle_open(&h, dir, &s->diag);
        if (st == ST_OK)
            st = answer_lines(s, h);
        db_handle_close(h);
        return db_code(st);
    }
    TRY_CODE(query_take_args(s, args, &q));
    TRY_CODE(db_place(s, &args->place, &dir));
    enum status st = query_open(&db, dir, &s->diag);
    if (st == ST_OK)
        st = query_run(&db, &q, &result, &s->diag);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &query_schema,
                                         .origin = "measured",
                                         .result = &result,
                                         .describe = query_describe});
    query_close(&db);
    return st == ST_OK && result.miss != NULL ? CODE_NO : db_code(st);
}

const struct command command_db_query = {
    .name = "query",
    .group = GROUP_DATABASE,
    .summary = "look up the latency of an operator or collective",
    .usage = "[OPTIONS] --kernel TYPE --shapes LIST --dtypes LIST",
    .details =
        "Answers with the best of what is there: the row of this very call (MEASURED); a value "
        "between rows (INTERPOLATED) or beyond them (EXTRAPOLATED) by a model that is fitted to "
        "the operator's rows, one for each data type; the roof of the device (ANALYTIC). Every "
        "answer has an interval that holds the true value in 80 of 100 cases, judged by rows that "
        "were left out, and the rows it came from. --op-name maps through op_mapping.yaml of the "
        "database folder, including alternates and composite operators.\n"
        "\n"
        "--compat answers as the public tool does: the first matching row, allowing for a leading "
        "batch of 1, a transposed weight and lengths rounded up to a tile, else linear "
        "interpolation. --stdin reads one JSON object per line with members named as the options "
        "(kernel, op_name or comm; shapes, dtypes, avg_seq, seqs, kv_heads, sparse_mode, bytes, "
        "num_devices, tier) and prints one per line. A miss prints its reason and the nearest "
        "rows, "
        "and gives exit code 1.",
    .see = "docs/perfdb.md",
    .schemas = {&query_schema},
    COMMAND_PARTS,
    .run = db_query_run,
};
