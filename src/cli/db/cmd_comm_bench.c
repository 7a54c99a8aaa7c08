/*
 * strata comm bench: collectives between the ranks of this job, measured.
 */
#include "base/text/num.h"
#include "cli/db/opt_db.h"
#include "driver/device_links.h"
#include "opdb/measure/comm_jobs.h"
#include "report/report.h"

enum { VALUES_MOST = 64, USUAL_RANKS = 16 };

struct args {
    struct words ops, devices, tiers, grid, bytes;
    const char *output_dir, *output_csv, *dtype, *device;
    double limit_s;
    int backend, mode;
    bool does_run;
};

static const struct args defaults = {.dtype = "torch.bfloat16", .limit_s = 1};

static const char *const backends[] = {"mpi", "nccl", "hccl", NULL};

enum { MODE_EVENT, MODE_KERNEL };
static const char *const modes[] = {"event", "kernel", NULL};

static const struct opt options[] = {
    OPT_CHOICE(0, "backend", backends, struct args, backend,
               "host memory over MPI, GPUs or NPUs (default: mpi)"),
    OPT_WORDS(0, "ops", "LIST", struct args, ops, "collectives, or all (default: the first four)"),
    OPT_WORDS(0, "num-devices", "LIST", struct args, devices,
              "group sizes (default: 16, or the ranks if fewer)"),
    OPT_WORDS(0, "topology-tier", "LIST", struct args, tiers,
              "network tiers (default: that of the group)"),
    OPT_WORDS(0, "grid-shape", "LIST", struct args, grid, "pods, nodes, dies (default: 48,8,2)"),
    OPT_WORDS(0, "bytes-grid", "LIST", struct args, bytes,
              "message sizes in bytes (default: 1024 to 536870912)"),
    OPT_STRING(0, "dtype", "TYPE", struct args, dtype,
               "bf16, fp16, fp32 or int8 (default: torch.bfloat16)"),
    OPT_DOUBLE(0, "time-limit", "S", struct args, limit_s,
               "seconds of timed calls per row (default: 1)"),
    OPT_CHOICE(0, "bench-mode", modes, struct args, mode,
               "time the calls, or kernels in a profiler (default: event)"),
    OPT_STRING(0, "chip", "NAME", struct args, device, "device of the database", .alias = "device"),
    OPT_GROUP("Output"),
    OPT_STRING(0, "output-dir", "DIR", struct args, output_dir,
               "folder for a table of each collective", .alias = "database-path"),
    OPT_STRING(0, "output-csv", "FILE", struct args, output_csv, "the table of one collective"),
    OPT_FLAG(0, "do-run", struct args, does_run, "accepted for compatibility"),
};

static const struct example examples[] = {
    {"strata comm bench --ops all --num-devices 4 --dry-run",
     "what would be measured (mpirun -n 4 before it: measure)"},
};

/* Whole numbers, given in several words or with commas between. */
static int read_numbers(struct session *s, const struct words *words, const char *option,
                        int64_t least, int64_t *out, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < words->n; i++) {
        struct str rest = str_of(words->at[i]), item;
        while (rest.n > 0 && str_split(&rest, ',', &item)) {
            if (*n == VALUES_MOST || !num_i64(str_trim(item), &out[*n]) || out[*n] < least)
                return session_usage(s, "--%s: %.*s is not a whole number from %lld on", option,
                                     STR_ARGS(item), (long long)least);
            (*n)++;
        }
    }
    return CODE_DONE;
}

static void add_op(enum collective *ops, size_t *n, enum collective op)
{
    for (size_t i = 0; i < *n; i++)
        if (ops[i] == op)
            return;
    ops[(*n)++] = op;
}

static int read_ops(struct session *s, const struct words *words, enum collective *ops, size_t *n)
{
    size_t all = words->n == 0 ? COMM_VALIDATED : 0;

    *n = 0;
    for (size_t i = 0; i < words->n; i++) {
        struct str rest = str_of(words->at[i]), item;
        while (rest.n > 0 && str_split(&rest, ',', &item)) {
            enum collective op;
            if (str_equal(item, S("all")))
                all = COMM_COLLECTIVES;
            else if (comm_find(item, &op))
                add_op(ops, n, op);
            else
                return session_usage(s,
                                     "--ops: unknown collective %.*s (all_reduce, all_gather, "
                                     "reduce_scatter, all_to_all, broadcast, send_recv, all)",
                                     STR_ARGS(item));
        }
    }
    for (size_t i = 0; i < all; i++)
        add_op(ops, n, (enum collective)i);
    return CODE_DONE;
}

struct lists {
    enum collective ops[COMM_COLLECTIVES];
    int64_t ranks[VALUES_MOST], tiers[VALUES_MOST], grid[VALUES_MOST], bytes[VALUES_MOST];
    size_t tier_list[VALUES_MOST], n_grid;
};

static int read_lists(struct session *s, const struct args *args, struct lists *l,
                      struct comm_plan *plan)
{
    plan->ops = l->ops;
    plan->ranks = l->ranks;
    plan->tiers = l->tier_list;
    plan->bytes = l->bytes;
    TRY_CODE(read_ops(s, &args->ops, l->ops, &plan->n_ops));
    TRY_CODE(read_numbers(s, &args->devices, "num-devices", 2, l->ranks, &plan->n_ranks));
    TRY_CODE(read_numbers(s, &args->tiers, "topology-tier", 0, l->tiers, &plan->n_tiers));
    for (size_t i = 0; i < plan->n_tiers; i++)
        l->tier_list[i] = (size_t)l->tiers[i];
    TRY_CODE(read_numbers(s, &args->grid, "grid-shape", 1, l->grid, &l->n_grid));
    return read_numbers(s, &args->bytes, "bytes-grid", 1, l->bytes, &plan->n_bytes);
}

static int read_job(struct session *s, const struct args *args, struct lists *l,
                    struct comm_bench_job *job, struct comm_bench *b)
{
    static const struct device_links *const links[] = {NULL, &device_links_nccl,
                                                       &device_links_hccl};
    static const int64_t usual[] = {48, 8, 2};
    static const enum mpi_elem elems[] = {MPI_ELEM_I8, MPI_ELEM_F16, MPI_ELEM_BF16, MPI_ELEM_F32};
    size_t which = 0;

    TRY_CODE(read_lists(s, args, l, &job->plan));
    if (!comm_grid_set(&job->grid, l->n_grid > 0 ? l->grid : usual, l->n_grid > 0 ? l->n_grid : 3))
        return session_usage(s, "--grid-shape has up to %d dimensions of at least 1", COMM_DIMS);
    if (!comm_bench_dtype(str_of(args->dtype), &b->dtype, &which))
        return session_usage(s, "--dtype: unknown type %s (bf16, fp16, fp32, int8)", args->dtype);
    if (args->output_csv != NULL && job->plan.n_ops != 1)
        return session_usage(s, "--output-csv needs exactly one collective in --ops");
    if (!(args->limit_s > 0))
        return session_usage(s, "--time-limit must be greater than 0");
    if (job->plan.n_bytes == 0)
        job->plan.n_bytes = comm_bench_sizes(1024, 536870912, l->bytes, VALUES_MOST);
    job->elem = elems[which];
    job->links = links[args->backend];
    job->limit_s = args->limit_s;
    job->output_dir = args->output_csv != NULL ? NULL : args->output_dir;
    job->output_csv = args->output_csv;
    b->device = str_of(args->device != NULL ? args->device : "");
    return CODE_DONE;
}

static void bench_describe(const void *result, struct report *r)
{
    const struct comm_bench *b = result;
    size_t poor = comm_bench_poor_fits(b);

    report_records(r, &comm_result_record, b->results.at, b->results.n, NULL);
    if (b->model.fits.n > 0)
        report_records(r, &comm_fit_record, b->model.fits.at, b->model.fits.n, NULL);
    if (poor > 0)
        report_line(r,
                    "%zu of %zu lines explain less than half of the times: other programs ran "
                    "beside the ranks, or there are fewer processors than ranks. Measure again.",
                    poor, b->model.fits.n);
}

static void bench_give(struct session *s, const struct comm_bench *b)
{
    for (size_t i = 0; i < b->warnings.n; i++)
        db_message(s, "%.*s", STR_ARGS(b->warnings.at[i]));
    session_give(s, &(struct answer){.schema = &comm_bench_schema,
                                     .origin = "measured",
                                     .result = b,
                                     .describe = bench_describe});
}

/* ---- what would be measured ---- */

struct planned {
    enum collective op;
    const int64_t *groups, *bytes;
    size_t n_groups, n_bytes;
};

struct planned_bench {
    const struct planned *at;
    size_t n;
};

static const struct field planned_fields[] = {
    FIELD_OF_ENUM(struct planned, op, "collective", comm_name, COMM_COLLECTIVES),
    FIELD_VALUES(struct planned, groups, n_groups, "num_devices"),
    FIELD_VALUES(struct planned, bytes, n_bytes, "message_bytes"),
};
static const struct record planned_record = RECORD(struct planned, planned_fields);

static const struct field plan_fields[] = {
    FIELD_LIST(struct planned_bench, at, n, "collectives", &planned_record),
};

static const struct schema plan_schema = {
    .name = "strata.comm-bench-plan/1",
    .title = "collectives that a dry run would measure",
    .record = &(const struct record)RECORD(struct planned_bench, plan_fields),
};

static void plan_describe(const void *result, struct report *r)
{
    const struct planned_bench *plan = result;

    for (size_t i = 0; i < plan->n; i++) {
        const struct planned *p = &plan->at[i];
        struct str groups = S("");
        for (size_t k = 0; k < p->n_groups; k++)
            groups = arena_format(&r->arena, "%.*s%s%lld", STR_ARGS(groups), k > 0 ? ", " : "",
                                  (long long)p->groups[k]);
        report_line(r, "%s: %zu sizes, groups of %.*s", comm_name(p->op), p->n_bytes,
                    STR_ARGS(groups));
    }
}

static void plan_give(struct session *s, const struct comm_bench_job *job)
{
    static const int64_t pair[] = {2};
    struct planned at[COMM_COLLECTIVES];

    for (size_t i = 0; i < job->plan.n_ops; i++) {
        bool is_pair = job->plan.ops[i] == COMM_SEND_RECV;
        at[i] = (struct planned){.op = job->plan.ops[i],
                                 .groups = is_pair ? pair : job->plan.ranks,
                                 .bytes = job->plan.bytes,
                                 .n_groups = is_pair ? 1 : job->plan.n_ranks,
                                 .n_bytes = job->plan.n_bytes};
    }
    session_give(s, &(struct answer){.schema = &plan_schema,
                                     .result = &(struct planned_bench){at, job->plan.n_ops},
                                     .describe = plan_describe});
}

/* The ranks measure; what goes wrong before they are there is told by one. */
static enum status bench_measure(struct session *s, struct comm_bench_job *job, struct lists *lists,
                                 struct comm_bench *b)
{
    struct mpi mpi;

    TRY(mpi_open_always(&mpi, &s->arena, &s->diag));
    if (mpi.size < 2) {
        mpi_close(&mpi);
        diag_hint(&s->diag, "try", "mpirun -n 4 --oversubscribe strata comm bench ...");
        return diag_fail(&s->diag, ST_TOOL, "mpi.one-rank", (struct where){0},
                         "collectives need two ranks or more");
    }
    if (job->plan.n_ranks == 0)
        lists->ranks[job->plan.n_ranks++] = mpi.size < USUAL_RANKS ? mpi.size : USUAL_RANKS;
    TRY(comm_bench_run(b, job, &mpi, &s->arena, &s->diag));
    if (mpi.rank == 0)
        bench_give(s, b);
    mpi_close(&mpi); /* a rank that ends without this ends the others, too */
    return ST_OK;
}

static int bench_run(struct session *s, const void *given)
{
    struct lists *lists = ARENA_NEW(&s->arena, struct lists);
    struct comm_bench_job job = {0};
    struct comm_bench b;
    enum status st = ST_OK;

    comm_bench_init(&b);
    int code = read_job(s, given, lists, &job, &b);
    if (code == CODE_DONE && ((const struct args *)given)->mode == MODE_KERNEL)
        code = session_code(diag_fail(&s->diag, ST_TOOL, "mpi.no-profiler", (struct where){0},
                                      "--bench-mode kernel needs a profiler around every rank, "
                                      "which strata does not start; event times the calls"));
    if (code == CODE_DONE && s->common.dry_run && job.plan.n_ranks == 0)
        lists->ranks[job.plan.n_ranks++] = USUAL_RANKS;
    if (code == CODE_DONE && s->common.dry_run)
        plan_give(s, &job);
    else if (code == CODE_DONE)
        st = bench_measure(s, &job, lists, &b);
    comm_bench_free(&b);
    return code != CODE_DONE ? code : session_code(st);
}

const struct command command_comm_bench = {
    .name = "bench",
    .group = GROUP_DATABASE,
    .summary = "measure collectives between MPI ranks",
    .usage = "[OPTIONS]",
    .details =
        "Started by mpirun (or srun), measures collectives between the ranks on buffers in host "
        "memory, or with --backend nccl and hccl between a GPU or NPU of each rank: all_reduce, "
        "all_gather, reduce_scatter, all_to_all and, with --ops all, broadcast "
        "and send_recv (half of a round trip). Each row is the median of up to 100 calls, 3 at "
        "least, each as long as its slowest rank takes, in five rounds over all sizes; up to 20 "
        "calls come before to warm up. --time-limit bounds the calls of large messages. Lists are "
        "words or have commas between: --num-devices 2 4 8.\n"
        "\n"
        "Rows are appended to hcom_allReduce_.csv and so on in --output-dir. A message whose "
        "buffers would take more than half of the free memory is skipped with a warning. A line "
        "(latency and bandwidth) is fitted to the rows of each collective, group size and tier; "
        "`strata comm validate --links fit` does the same for tables.",
    .see = "docs/perfdb-compare.md",
    .common = COMMON_DRY_RUN,
    .schemas = {&comm_bench_schema, &plan_schema},
    COMMAND_PARTS,
    .run = bench_run,
};
