/*
 * strata db query: how long an operator takes, from the tables of the database.
 */
#include <math.h>

#include "cli/opt_db.h"
#include "perfdb/query.h"

struct args {
    struct place_args place;
    const char *kernel, *op_name, *shapes, *dtypes, *formats, *output_shape, *comm;
    int64_t input_count, avg_seq, sparse_mode, kv_heads, num_devices, tier, max_dims, bytes;
    int method; /* enum comm_method */
    bool exact;
};

static const struct args defaults = {.input_count = -1,
                                     .avg_seq = -1,
                                     .sparse_mode = -1,
                                     .kv_heads = -1,
                                     .tier = -1,
                                     .bytes = -1,
                                     .max_dims = 1};

static const char *const methods[] = {"alpha_beta", "bracket_linear", NULL};

static const struct opt options[] = {
    OPT_STRING(0, "kernel", "TYPE", struct args, kernel, "a kernel by its name"),
    OPT_STRING(0, "op-name", "NAME", struct args, op_name,
               "an operator of a framework, through op_mapping.yaml"),
    OPT_STRING(0, "shapes", "LIST", struct args, shapes, "input shapes: 16,5120;5120,768"),
    OPT_STRING(0, "dtypes", "LIST", struct args, dtypes,
               "their types: bfloat16;bfloat16, or one for all"),
    OPT_STRING(0, "formats", "LIST", struct args, formats,
               "interpolate only between rows of these formats"),
    OPT_STRING(0, "output-shape", "SHAPE", struct args, output_shape,
               "shape of the output, where the inputs do not tell it"),
    OPT_INT(0, "input-count", "N", struct args, input_count, 0, 4096, "compare only N inputs"),
    OPT_INT(0, "max-dims", "N", struct args, max_dims, 1, 3, "axes to interpolate over (1)"),
    OPT_FLAG(0, "exact", struct args, exact, "no interpolation"),
    OPT_GROUP("Attention"),
    OPT_INT(0, "avg-seq", "N", struct args, avg_seq, 0, INT64_MAX, "average length of the cache"),
    OPT_INT(0, "sparse-mode", "N", struct args, sparse_mode, 0, INT32_MAX,
            "sparse mode (3: causal)"),
    OPT_INT(0, "kv-heads", "N", struct args, kv_heads, 0, INT32_MAX, "heads of key and value"),
    OPT_GROUP("Collectives"),
    OPT_STRING(0, "comm", "NAME", struct args, comm,
               "all_reduce, all_gather, reduce_scatter, all_to_all, …"),
    OPT_INT(0, "bytes", "N", struct args, bytes, 0, INT64_MAX, "size of the message"),
    OPT_INT(0, "num-devices", "N", struct args, num_devices, 1, INT32_MAX,
            "devices that take part"),
    OPT_INT(0, "tier", "N", struct args, tier, 0, INT32_MAX, "level of the topology"),
    OPT_CHOICE(0, "method", methods, struct args, method,
               "how to interpolate between message sizes (alpha_beta)"),
    OPT_DB_PLACE(struct args, place),
    OPT_END,
};

static const struct example examples[] = {
    {"strata db query --database-path examples/perfdb/db --kernel MatMulV2 --shapes "
     "\"16,5120;5120,768\" --dtypes bfloat16",
     "a row that fits, though its weight is stored transposed"},
    {"strata db query --database-path examples/perfdb/db --op-name aten.mm.default --shapes "
     "\"24,5120;5120,768\" --dtypes bfloat16",
     "a value between rows"},
    {"strata db query --database-path examples/perfdb/db --comm all_reduce --bytes 10000 "
     "--num-devices 8",
     "a collective"},
    {0},
};

/* Shapes and types to inputs; false, and the usage error told, when they make no sense. */
static bool take_inputs(struct session *s, const struct args *args, struct query *q)
{
    struct cell_slots shapes = cell_slots(&s->arena, str_of(args->shapes));
    struct cell_slots types = cell_slots(&s->arena, str_of(args->dtypes));

    q->inputs.at = ARENA_ARRAY(&s->arena, struct query_input, shapes.n + 1);
    if (types.n != shapes.n && types.n != 1) {
        session_usage(s, "--dtypes names %zu types for %zu shapes", types.n, shapes.n);
        return false;
    }
    for (size_t i = 0; i < shapes.n; i++) {
        struct query_input *in = &q->inputs.at[q->inputs.n];
        struct str type = types.at[types.n == 1 ? 0 : i];
        if (!cell_dims(&s->arena, shapes.at[i], &in->dims)) {
            session_usage(s, "--shapes: \"%.*s\" is no shape", STR_ARGS(shapes.at[i]));
            return false;
        }
        in->dtype = query_dtype(type);
        if (in->dtype.n == 0) {
            session_usage(s, "--dtypes: no type \"%.*s\"", STR_ARGS(type));
            return false;
        }
        q->inputs.n += in->dims.n > 0; /* scalars are no part of the question */
    }
    return true;
}

static int take_args(struct session *s, const struct args *args, struct query *q)
{
    int ways = (args->kernel != NULL) + (args->op_name != NULL) + (args->comm != NULL);
    struct cell_slots formats = cell_slots(&s->arena, str_of(args->formats));

    *q = (struct query){
        .kernel = str_of(args->kernel),
        .op_name = str_of(args->op_name),
        .formats = formats.at,
        .n_formats = formats.n,
        .input_count = args->input_count,
        .avg_seq = args->avg_seq,
        .sparse_mode = args->sparse_mode,
        .kv_heads = args->kv_heads,
        .comm = str_of(args->comm),
        .message = {args->bytes, args->num_devices, args->tier, (enum comm_method)args->method},
        .max_dims = args->max_dims,
        .is_exact = args->exact,
    };
    if (ways != 1)
        return session_usage(s, "query needs one of --kernel, --op-name and --comm");
    if (args->comm != NULL) {
        if (query_comm_kernel(q->comm).n == 0)
            return session_usage(s, "--comm: no collective \"%s\"", args->comm);
        if (args->bytes < 0 || args->num_devices == 0)
            return session_usage(s, "--comm needs --bytes and --num-devices");
        return CODE_DONE;
    }
    if (args->kernel != NULL && (args->shapes == NULL || args->dtypes == NULL))
        return session_usage(s, "--kernel needs --shapes and --dtypes");
    if (args->shapes != NULL && args->dtypes == NULL)
        return session_usage(s, "--shapes needs --dtypes");
    if (args->shapes != NULL && !take_inputs(s, args, q))
        return CODE_USAGE;
    if (!cell_dims(&s->arena, str_of(args->output_shape), &q->output))
        return session_usage(s, "--output-shape: \"%s\" is no shape", args->output_shape);
    return CODE_DONE;
}

static void print_json(struct session *s, const struct query_result *r)
{
    struct json_writer *j = session_json_begin(s, "strata.db-query/1", "measured");
    bool is_hit = r->miss == NULL;

    json_write_object(j);
    json_put_bool(j, "hit", is_hit);
    json_put_f64(j, "latency_us", is_hit ? r->latency_us : NAN);
    json_put_f64(j, "confidence", is_hit ? r->confidence : NAN);
    json_put_text(j, "source", is_hit ? query_source_name(r->source) : NULL);
    json_write_key(j, S("kernel"));
    is_hit ? json_write_string(j, r->kernel) : json_write_null(j);
    json_write_key(j, S("rule"));
    is_hit ? json_write_string(j, r->rule) : json_write_null(j);
    json_put_text(j, "miss", r->miss);
    if (r->n_parts > 0) {
        json_put_u64(j, "parts", r->n_parts);
        json_put_u64(j, "parts_found", r->n_hits);
    }
    json_write_end(j);
    session_json_end(s);
}

static void print_text(struct session *s, const struct query_result *r)
{
    char number[NUM_TEXT];

    if (r->miss != NULL) {
        out_printf(&s->out, "miss        %s\n", r->miss);
        return;
    }
    number[num_print_f64(number, r->latency_us)] = '\0';
    out_printf(&s->out, "latency     %s us\nsource      %s\nconfidence  %.2f\n", number,
               query_source_name(r->source), r->confidence);
    out_printf(&s->out, "kernel      %s\n", out_clean(&s->arena, r->kernel));
    out_printf(&s->out, "rule        %.*s\n", STR_ARGS(r->rule));
    if (r->n_parts > 0)
        out_printf(&s->out, "parts       %zu of %zu\n", r->n_hits, r->n_parts);
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct query_result result;
    struct query_db db;
    struct query q;
    const char *dir;

    int code = take_args(s, args, &q);
    if (code == CODE_DONE)
        code = db_place(s, &args->place, &dir);
    if (code != CODE_DONE)
        return code;
    enum status st = query_open(&db, dir, &s->diag);
    if (st == ST_OK)
        st = query_run(&db, &q, &result, &s->diag);
    if (st == ST_OK)
        s->common.json ? print_json(s, &result) : print_text(s, &result);
    query_close(&db);
    return st == ST_OK && result.miss != NULL ? CODE_NO : db_code(st);
}

const struct command command_db_query = {
    .name = "query",
    .group = GROUP_DATABASE,
    .summary = "ask how long an operator or a collective takes",
    .usage = "[OPTIONS] --kernel TYPE --shapes LIST --dtypes LIST",
    .details =
        "Looks for a row that fits the question, allowing for what models and kernels see "
        "differently: a leading batch of 1, a transposed weight, lengths rounded up to a tile. "
        "Without one it interpolates between rows that differ only in a dimension that may vary; "
        "it never extrapolates. --op-name goes through op_mapping.yaml of the database folder, "
        "alternates and composite operators included.\n"
        "\n"
        "The answer names its source, how far to trust it, the kernel and the rule that matched. "
        "A miss prints its reason; the exit code is then 1.",
    .see = "docs/perfdb.md",
    .options = options,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .examples = examples,
    .run = run,
};
