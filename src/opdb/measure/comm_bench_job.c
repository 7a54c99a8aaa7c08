/*
 * Collectives between ranks, one configuration after the other.
 */
#include "opdb/measure/comm_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files/fs.h"
#include "base/run/cancel.h"
#include "base/text/memory_size.h"
#include "driver/device_links.h"

enum { TIMES_MOST = 100, FIRST_CALLS = 3, SHORT_BYTES = 1 << 24, ROUNDS = 5 };

struct bench {
    struct comm_bench *out;
    const struct comm_bench_job *job;
    const struct mpi *mpi;
    struct arena *arena;
    struct diag *diag;
    size_t memory; /* bytes that the buffers of one rank may take */
    void *device;  /* of this rank; NULL: none is used */
};

/* The number of this rank among those on its machine, as launchers tell it. */
static int local_rank(const struct mpi *mpi)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                            "SLURM_LOCALID", "LOCAL_RANK"};

    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        const char *value = getenv(variables[i]);
        int64_t rank;
        if (value != NULL && num_i64(str_of(value), &rank) && rank >= 0 && rank < mpi->size)
            return (int)rank;
    }
    return mpi->rank;
}

/* All ranks go on, or none. The reason of the first that cannot is what each of them reports: a
 * launcher ends the others when one ends, and theirs might be lost. */
static enum status open_device(struct bench *b)
{
    const struct device_links *links = b->job->links;
    const char *problem = links->open(&b->device, local_rank(b->mpi));
    int64_t first = problem != NULL ? b->mpi->rank : b->mpi->size;
    char reason[512] = {0};

    TRY(mpi_fold_i64(b->mpi, &first, 1, MPI_FOLD_MIN, b->diag));
    if (first == b->mpi->size)
        return ST_OK;
    if (first == b->mpi->rank)
        snprintf(reason, sizeof(reason), "%s", problem);
    TRY(mpi_broadcast(b->mpi, reason, sizeof(reason), (int)first, b->diag));
    return diag_fail(b->diag, ST_TOOL, "mpi.links", (struct where){0}, "%s: %s", links->name,
                     reason);
}

static void skip(struct bench *b, const struct comm_config *config, const char *why)
{
    if (b->mpi->rank == 0)
        vec_push(&b->out->warnings, arena_format(b->arena,
                                                 "WARNING: skipping %.*s, %" PRId64
                                                 " bytes, num_devices=%" PRId64 ": %s",
                                                 STR_ARGS(comm_kinds[config->op].name),
                                                 config->bytes, config->ranks, why));
}

/* A row on its way: its calls are spread over the rounds of its group. */
struct timed_row {
    const struct comm_config *config;
    struct coll_call call;
    struct coll_times times;
    double seconds[TIMES_MOST];
};

/* Whether the row can be measured here; the same answer at all ranks. */
static bool plan_row(struct bench *b, const struct comm_config *config, struct timed_row *row)
{
    size_t bytes = (size_t)config->bytes, ranks = (size_t)config->ranks;

    *row = (struct timed_row){.config = config,
                              .call = {.op = (enum coll_op)config->op, .elem = b->job->elem}};
    row->call.n = coll_count(row->call.op, bytes, row->call.elem, ranks);
    if (row->call.n == 0 || row->call.n > MPI_COUNT_MOST / ranks) {
        skip(b, config, "less than an element, or more than one call can carry");
        return false;
    }
    if (coll_memory(&row->call, ranks) > b->memory) {
        skip(b, config, "not enough memory");
        return false;
    }
    return true;
}

/* The calls of one round: one that nobody times, since another size came before, then its part. */
static enum status run_round(struct bench *b, const struct coll_group *g,
                             const struct coll_buffers *buffers, struct timed_row *row,
                             size_t round)
{
    size_t from = row->times.timed * round / ROUNDS, to = row->times.timed * (round + 1) / ROUNDS;
    double untimed;

    if (cancelled())
        return ST_CANCELLED;
    if (to > from && row->times.warm > 0)
        TRY(coll_run(g, &row->call, buffers, &untimed, b->diag));
    for (size_t i = from; i < to; i++)
        TRY(coll_run(g, &row->call, buffers, &row->seconds[i], b->diag));
    return ST_OK;
}

/* Rounds over all sizes: what disturbs the machine for a while falls on some calls of every row,
 * not on all calls of some, and a median does not see it. */
static enum status time_rows(struct bench *b, const struct coll_group *g,
                             const struct coll_buffers *buffers, struct timed_row *rows, size_t n)
{
    double untimed;

    for (size_t i = 0; i < n; i++) {
        /* How long a call takes: the first one may be slow, so short ones get two more chances. */
        double seconds = 0, least = 0;
        for (size_t j = 0; j < FIRST_CALLS; j++) {
            if (j == 0 || coll_memory(&rows[i].call, (size_t)g->size) <= SHORT_BYTES)
                TRY(coll_run(g, &rows[i].call, buffers, &seconds, b->diag));
            least = j == 0 || seconds < least ? seconds : least;
        }
        TRY(coll_plan(g, least, b->job->limit_s, &rows[i].times, b->diag));
        for (size_t k = 0; k < rows[i].times.warm; k++)
            TRY(coll_run(g, &rows[i].call, buffers, &untimed, b->diag));
    }
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < n; i++)
            TRY(run_round(b, g, buffers, &rows[i], round));
    for (size_t i = 0; i < n; i++) {
        TRY(coll_slowest(g, rows[i].seconds, rows[i].times.timed, b->diag));
        if (b->mpi->rank == 0)
            comm_bench_add(b->out, rows[i].config, rows[i].seconds, rows[i].times.timed);
    }
    return ST_OK;
}

/* Buffers of the largest call serve all of them. */
static enum status job_measure(struct bench *b, const struct coll_group *g,
                               const struct comm_config *at, size_t n)
{
    VEC_OF(struct timed_row) rows = {0};
    struct coll_buffers buffers;
    struct timed_row row;
    size_t largest = 0;

    for (size_t i = 0; i < n; i++)
        if (plan_row(b, &at[i], &row)) {
            vec_push(&rows, row);
            if (row.call.n > rows.at[largest].call.n)
                largest = rows.n - 1;
        }
    if (rows.n == 0)
        return ST_OK;
    enum status st = coll_buffers_open(&buffers, g, &rows.at[largest].call, b->diag);
    if (st == ST_OK)
        st = time_rows(b, g, &buffers, rows.at, rows.n);
    coll_buffers_close(&buffers, g);
    vec_free(&rows);
    return st;
}

static enum status write_table(struct bench *b, size_t first, enum collective op)
{
    const char *path = b->job->output_csv;

    if (b->mpi->rank != 0 || b->out->results.n == first)
        return ST_OK;
    if (b->job->output_dir != NULL)
        path = fs_join(b->arena, b->job->output_dir, comm_kinds[op].file);
    return path == NULL ? ST_OK : comm_bench_append(b->out, first, op, path, b->diag);
}

/* The configurations from `at` to `end` are of one collective and group. All ranks meet at the
 * end, also those that are not in it. */
static enum status run_group(struct bench *b, const struct comm_config *at, size_t n)
{
    struct coll_group group;
    bool is_member;
    size_t first = b->out->results.n;

    if (at[0].ranks > b->mpi->size) {
        skip(b, &at[0], "more devices than ranks");
        return ST_OK;
    }
    enum status st = coll_group_open(&group, b->mpi, b->job->links, b->device, (int)at[0].ranks,
                                     &is_member, b->diag);
    if (st == ST_OK && is_member)
        st = job_measure(b, &group, at, n);
    if (st == ST_OK)
        st = write_table(b, first, at[0].op);
    if (st == ST_OK)
        st = mpi_barrier(b->mpi, b->diag);
    if (st == ST_OK)
        coll_group_close(&group);
    return st;
}

static bool is_same_group(const struct comm_config *x, const struct comm_config *y)
{
    return x->op == y->op && x->ranks == y->ranks && x->tier == y->tier;
}

static enum status run_op(struct bench *b, enum collective op)
{
    static const int64_t two = 2;
    struct comm_plan plan = b->job->plan;
    struct comm_configs configs = {0};
    enum status st = ST_OK;

    plan.ops = &op;
    plan.n_ops = 1;
    if (op == COMM_SEND_RECV) {
        plan.ranks = &two;
        plan.n_ranks = 1;
    }
    comm_configs(&b->job->grid, &plan, b->arena, &configs);
    for (size_t i = 0; i < configs.warnings.n && b->mpi->rank == 0; i++)
        vec_push(&b->out->warnings, configs.warnings.at[i]);
    for (size_t i = 0, n; i < configs.at.n && st == ST_OK; i += n) {
        for (n = 1;
             i + n < configs.at.n && is_same_group(&configs.at.at[i], &configs.at.at[i + n]);)
            n++;
        st = run_group(b, &configs.at.at[i], n);
    }
    vec_free(&configs.at);
    vec_free(&configs.warnings);
    return st;
}

enum status comm_bench_run(struct comm_bench *out, const struct comm_bench_job *job,
                           const struct mpi *mpi, struct arena *arena, struct diag *d)
{
    struct bench b = {out, job, mpi, arena, d, 0, NULL};

    out->backend = job->links != NULL ? job->links->name : "mpi";
    out->ranks = mpi->size;
    if (job->output_dir != NULL && mpi->rank == 0)
        TRY(fs_mkdirs(job->output_dir, d));
    if (job->links != NULL)
        TRY(open_device(&b));
    /* Half of what is free, as if all ranks shared this machine; the same at every rank. */
    int64_t bytes = 1 << 30, all = memory_left();
    if (b.device != NULL)
        bytes = (int64_t)(b.job->links->memory(b.device) / 2);
    else if (all > 0)
        bytes = all / 2 / b.mpi->size;
    TRY(mpi_fold_i64(b.mpi, &bytes, 1, MPI_FOLD_MIN, b.diag));
    b.memory = (size_t)bytes;
    for (size_t i = 0; i < job->plan.n_ops; i++)
        TRY(run_op(&b, job->plan.ops[i]));
    if (b.device != NULL)
        job->links->close(b.device);
    comm_bench_fit(out);
    return ST_OK;
}
