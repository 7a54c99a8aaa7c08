/*
 * strata comm generate: the tables of collectives, by one launch of `comm bench` after the other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/run/proc.h"
#include "base/text/text.h"
#include "cli/db/opt_db.h"
#include "driver/driver.h"
#include "opdb/measure/comm_jobs.h"
#include "report/report.h"

struct args {
    double limit_s;
    int backend;
    const char *device;
};

static const struct args defaults = {.limit_s = 1};

static const char *const backends[] = {"mpi", "nccl", "hccl", NULL};

static const struct opt options[] = {
    OPT_CHOICE(0, "backend", backends, struct args, backend,
               "host memory over MPI, GPUs or NPUs (default: mpi)"),
    OPT_DOUBLE(0, "time-limit", "S", struct args, limit_s,
               "seconds of timed calls per row (default: 1)"),
    OPT_STRING(0, "chip", "NAME", struct args, device, "device of the database", .alias = "device"),
};

static const struct example examples[] = {
    {"strata comm generate tables --dry-run", "the twelve launches on one node"},
    {"strata comm generate tables --backend hccl --dry-run", "the same between NPUs"},
};

static bool generate_number_of(const char *name, int64_t *out)
{
    const char *value = getenv(name);

    *out = 0;
    return value == NULL || value[0] == 0 || num_i64(str_of(value), out);
}

static const char *list_text(struct arena *arena, const int64_t *at, size_t n)
{
    struct str text = S("");

    for (size_t i = 0; i < n; i++)
        text = arena_format(arena, "%.*s%s%" PRId64, STR_ARGS(text), i > 0 ? "," : "", at[i]);
    return arena_cstr(arena, text);
}

/* A launch of `comm bench`, and how it ended. */
struct launched {
    const struct comm_launch *launch;
    struct str command;
    const char *end; /* NULL: it was not started, or the run was interrupted */
};

struct generated {
    const char *dir;
    bool is_dry_run;
    bool is_elsewhere; /* node 0 starts the ranks of all nodes */
    struct launched *at;
    size_t n, planned;
};

static const struct field launched_fields[] = {
    FIELD_BEHIND(struct launched, launch, ops, "collectives"),
    FIELD_BEHIND(struct launched, launch, processes, "ranks"),
    FIELD_BEHIND(struct launched, launch, port, "port"),
    FIELD(struct launched, command, "command"),
    FIELD(struct launched, end, "end"),
};
static const struct record launched_record = RECORD(struct launched, launched_fields);

static const struct field generated_fields[] = {
    FIELD(struct generated, dir, "folder"),
    FIELD(struct generated, is_dry_run, "is_dry_run"),
    FIELD(struct generated, is_elsewhere, "is_other_node",
          .about = "mpirun on node 0 starts the ranks of all nodes"),
    FIELD(struct generated, planned, "launches_planned"),
    FIELD_LIST(struct generated, at, n, "launches", &launched_record),
};

static const struct schema generated_schema = {
    .name = "strata.comm-generate/1",
    .title = "launches that fill the tables of collectives",
    .record = &(const struct record)RECORD(struct generated, generated_fields),
};

static void generated_describe(const void *result, struct report *r)
{
    const struct generated *g = result;

    if (g->is_elsewhere)
        report_line(r, "mpirun on node 0 starts the ranks of all nodes");
    for (size_t i = 0; i < g->n; i++) {
        const struct launched *l = &g->at[i];
        if (g->is_dry_run)
            report_line(r, "%.*s", STR_ARGS(l->command));
        else if (l->end != NULL)
            report_line(r, "[%zu/%zu] %s, %" PRId64 " ranks, port %" PRId64 ": %s", i + 1,
                        g->planned, l->launch->ops, l->launch->processes, l->launch->port, l->end);
    }
}

struct launcher {
    struct session *s;
    const struct comm_rounds *rounds;
    const char *mpirun, *self, *dir, *limit, *backend, *device;
};

static const char *const *argv_of(const struct launcher *l, const struct comm_launch *launch)
{
    struct arena *arena = &l->s->arena;
    const bool is_multi = l->rounds->is_multi;
    const char *const words[] = {l->mpirun,
                                 "-n",
                                 arena_printf(arena, "%" PRId64, launch->processes),
                                 "--oversubscribe",
                                 geteuid() == 0 ? "--allow-run-as-root" : NULL,
                                 l->self,
                                 "comm",
                                 "bench",
                                 "--backend",
                                 l->backend,
                                 "--ops",
                                 launch->ops,
                                 "--num-devices",
                                 list_text(arena, launch->devices, launch->n_devices),
                                 is_multi ? "--topology-tier" : NULL,
                                 is_multi ? "0" : NULL,
                                 "--grid-shape",
                                 "48,8,2",
                                 "--bytes-grid",
                                 list_text(arena, l->rounds->sizes, l->rounds->n_sizes),
                                 "--time-limit",
                                 l->limit,
                                 "--output-dir",
                                 l->dir,
                                 "--quiet",
                                 l->device != NULL ? "--chip" : NULL,
                                 l->device};
    const char **argv = ARENA_ARRAY(arena, const char *, ARRAY_LEN(words) + 1);
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i] != NULL)
            argv[n++] = words[i];
    return argv;
}

static struct str command_of(const struct launcher *l, const struct comm_launch *launch,
                             const char *const *argv)
{
    struct arena *arena = &l->s->arena;
    struct str line = arena_format(arena, "MASTER_PORT=%" PRId64, launch->port);

    for (size_t i = 0; argv[i] != NULL; i++)
        line = arena_format(arena, "%.*s %s", STR_ARGS(line), argv[i]);
    return line;
}

static bool was_signalled(const struct proc_result *result, int signal)
{
    return (result->end == PROC_EXITED && result->code == 128 + signal) ||
           (result->end == PROC_SIGNALLED && result->code == signal);
}

/* A launch that fails costs its own rows. */
static enum status launch_one(const struct launcher *l, const char *const *argv,
                              struct launched *out)
{
    struct session *s = l->s;
    const struct comm_launch *launch = out->launch;
    const char *env[] = {arena_printf(&s->arena, "MASTER_PORT=%" PRId64, launch->port), NULL};
    struct proc_spec spec = {.argv = argv, .env = env};
    struct proc_result result;
    struct diag own;

    diag_init(&own);
    enum status st = proc_run(&spec, &s->arena, &result, &own);
    diag_fini(&own);
    if (st == ST_CANCELLED)
        return st;
    out->end = st == ST_OK                  ? "done"
               : was_signalled(&result, 11) ? "done (crashed at its end)"
                                            : "failed";
    if (st != ST_OK && !was_signalled(&result, 11))
        diag_add(&s->diag, SEV_WARN, "mpi.launch", (struct where){0}, "%s, %" PRId64 " ranks: %.*s",
                 launch->ops, launch->processes, STR_ARGS(str_part(str_trim(result.err), 0, 600)));
    return ST_OK;
}

/* What is wrong with the environment; NULL: nothing. */
static const char *read_nodes(struct comm_nodes *nodes)
{
    int64_t quick;

    if (!generate_number_of("NNODES", &nodes->nodes))
        return "NNODES is not a number";
    if (!generate_number_of("NPROC", &nodes->processes))
        return "NPROC is not a number";
    if (!generate_number_of("MASTER_PORT", &nodes->port))
        return "MASTER_PORT is not a number";
    if (!generate_number_of("QUICK", &quick))
        return "QUICK is not a number";
    nodes->is_quick = quick == 1;
    if (nodes->nodes >= 2 && (getenv("NODE_RANK") == NULL || getenv("MASTER_ADDR") == NULL))
        return "with NNODES of 2 or more, NODE_RANK and MASTER_ADDR must be set";
    return NULL;
}

static int run_all(struct session *s, struct launcher *l)
{
    const char *rank = getenv("NODE_RANK");
    struct launched at[ARRAY_LEN(l->rounds->at)] = {0};
    struct generated g = {.dir = l->dir,
                          .is_dry_run = s->common.dry_run,
                          .is_elsewhere =
                              l->rounds->is_multi && rank != NULL && strcmp(rank, "0") != 0,
                          .at = at,
                          .planned = l->rounds->n};
    enum status st = ST_OK;

    if (!g.is_dry_run && fs_mkdirs(l->dir, &s->diag) != ST_OK)
        return CODE_USAGE;
    while (g.n < g.planned && !g.is_elsewhere && st == ST_OK) {
        struct launched *one = &at[g.n];
        one->launch = &l->rounds->at[g.n++];
        const char *const *argv = argv_of(l, one->launch);
        one->command = command_of(l, one->launch, argv);
        if (!g.is_dry_run) {
            st = launch_one(l, argv, one);
            progress_tick(&s->progress, "launches", g.n, g.planned);
        }
    }
    session_give(s, &(struct answer){
                        .schema = &generated_schema, .result = &g, .describe = generated_describe});
    return session_code(st);
}

static int generate_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct comm_nodes nodes = {0};
    struct comm_rounds *rounds = ARENA_NEW(&s->arena, struct comm_rounds);
    const char *problem = read_nodes(&nodes);
    char self[4096];

    if (problem != NULL)
        return session_usage(s, "%s", problem);
    if (!comm_rounds_plan(&nodes, rounds)) {
        diag_add(&s->diag, SEV_WARN, "mpi.no-groups", (struct where){0},
                 "no group of 32 devices or more fits NNODES * NPROC");
        return CODE_NO;
    }
    struct probe_result mpirun = driver_probe(DRIVER_OPENMPI, &s->arena);
    if (mpirun.state != PROBE_FOUND && !s->common.dry_run)
        return session_code(diag_fail(&s->diag, ST_TOOL, "mpi.none", (struct where){0},
                                      "mpirun not found (STRATA_MPIRUN, PATH)"));
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = 0;
    struct launcher l = {
        .s = s,
        .rounds = rounds,
        .mpirun = mpirun.path != NULL && !s->common.dry_run ? mpirun.path : "mpirun",
        .self = n > 0 && !s->common.dry_run ? self : "strata",
        .dir = s->operands.n > 0  ? s->operands.at[0]
               : rounds->is_multi ? "./hccl_bench_inter_pod_v8.5"
                                  : "./hccl_bench_data",
        .limit = arena_printf(&s->arena, "%g", args->limit_s),
        .backend = backends[args->backend],
        .device = args->device,
    };
    return run_all(s, &l);
}

const struct command command_comm_generate = {
    .name = "generate",
    .group = GROUP_DATABASE,
    .summary = "fill the tables of collectives, launch by launch",
    .usage = "[OPTIONS] [DIR]",
    .details =
        "Runs `comm bench` under mpirun in rounds: all_reduce; all_gather and reduce_scatter; "
        "all_to_all. On one node each round is launched for 16, 8, 4 and 2 ranks, with messages "
        "of 128 bytes to 512 MB, into DIR (default: ./hccl_bench_data). --backend nccl and hccl "
        "measure between a GPU or NPU of each rank, mpi on host memory. A launch that fails is a "
        "warning and the next one follows. --dry-run prints the commands.\n"
        "\n"
        "With NNODES of 2 or more, which needs NODE_RANK and MASTER_ADDR, each round is one "
        "launch of NNODES * NPROC ranks (NPROC: 16) for groups of 32 and more at tier 0, into "
        "./hccl_bench_inter_pod_v8.5; node 0 starts them, where mpirun knows the nodes. QUICK=1 "
        "takes five message sizes. MASTER_PORT is the first port (29700).",
    .see = "docs/perfdb-compare.md",
    .common = COMMON_DRY_RUN,
    .operands = {OPERAND_DIR, 0, 1, NULL},
    .schemas = {&generated_schema},
    COMMAND_PARTS,
    .run = generate_run,
};
