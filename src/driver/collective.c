/*
 * Timed collectives. See collective.h.
 */
#include "driver/collective.h"

#include <string.h>

#include "base/run/mem.h"
#include "driver/device_links.h"

enum { WARM_MOST = 20, TIMED_MOST = 100, TIMED_LEAST = 3 };

size_t coll_elem_size(enum mpi_elem elem)
{
    static const size_t sizes[MPI_ELEMS] = {1, 2, 2, 4, 8, 8};

    return sizes[elem];
}

size_t coll_count(enum coll_op op, size_t bytes, enum mpi_elem elem, size_t ranks)
{
    size_t n = bytes / coll_elem_size(elem);

    if (op != COLL_ALL_TO_ALL || ranks == 0)
        return n;
    return n / ranks > 0 ? n / ranks : 1;
}

struct lengths {
    size_t from, into; /* elements */
};

static struct lengths lengths_of(const struct coll_call *call, size_t ranks)
{
    switch (call->op) {
    case COLL_ALL_GATHER:
        return (struct lengths){call->n, call->n * ranks};
    case COLL_REDUCE_SCATTER:
        return (struct lengths){call->n * ranks, call->n};
    case COLL_ALL_TO_ALL:
        return (struct lengths){call->n * ranks, call->n * ranks};
    default:
        return (struct lengths){call->n, call->n};
    }
}

size_t coll_memory(const struct coll_call *call, size_t ranks)
{
    struct lengths lengths = lengths_of(call, ranks);

    return (lengths.from + lengths.into) * coll_elem_size(call->elem);
}

static enum status check_links(const struct coll_group *g, const char *problem, struct diag *d)
{
    if (problem == NULL)
        return ST_OK;
    return diag_fail(d, ST_TOOL, "mpi.links", (struct where){0}, "%s: %s", g->links->name, problem);
}

enum status coll_group_open(struct coll_group *g, const struct mpi *job,
                            const struct device_links *links, void *device, int n, bool *is_member,
                            struct diag *d)
{
    char id[LINKS_ID_BYTES] = {0};

    *g = (struct coll_group){.job = job, .size = n, .links = links, .device = device};
    *is_member = job->rank < n;
    TRY(mpi_check(g->job, job->calls->group_make(0, n, &g->mpi), "MPI_Comm_split", d));
    if (links == NULL || !*is_member)
        return ST_OK;
    if (job->rank == 0) /* it tells the others where to meet */
        TRY(check_links(g, links->id(device, id), d));
    TRY(mpi_check(g->job, job->calls->broadcast(g->mpi, id, sizeof(id), 0), "MPI_Bcast", d));
    return check_links(g, links->join(device, id, job->rank, n), d);
}

void coll_group_close(struct coll_group *g)
{
    if (g->links != NULL)
        g->links->leave(g->device);
    if (g->job != NULL)
        g->job->calls->group_free(g->mpi);
    *g = (struct coll_group){0};
}

/* Zeros: their sum is one of any type, and every page is touched. */
static void *buffer(size_t n, enum mpi_elem elem)
{
    size_t bytes = n * coll_elem_size(elem);
    void *at = mem_grow(NULL, 1, bytes + 1);

    memset(at, 0, bytes + 1);
    return at;
}

enum status coll_buffers_open(struct coll_buffers *b, const struct coll_group *g,
                              const struct coll_call *call, struct diag *d)
{
    struct lengths lengths = lengths_of(call, (size_t)g->size);
    size_t size = coll_elem_size(call->elem);

    if (g->links == NULL) {
        b->from = buffer(lengths.from, call->elem);
        b->into = buffer(lengths.into, call->elem);
        return ST_OK;
    }
    b->from = g->links->buffer(g->device, lengths.from * size + 1);
    b->into = b->from != NULL ? g->links->buffer(g->device, lengths.into * size + 1) : NULL;
    return check_links(g, b->into == NULL ? "no memory on the device" : NULL, d);
}

void coll_buffers_close(struct coll_buffers *b, const struct coll_group *g)
{
    void *const both[] = {b->from, b->into};

    for (size_t i = 0; i < ARRAY_LEN(both); i++)
        if (g->links == NULL)
            mem_free(both[i]);
        else if (both[i] != NULL)
            g->links->buffer_free(g->device, both[i]);
    *b = (struct coll_buffers){0};
}

static int make_call(const struct coll_group *g, const struct coll_call *call,
                     const struct coll_buffers *b)
{
    const struct mpi_calls *mpi = g->job->calls;
    int rank = g->job->rank, rc = 0;

    switch (call->op) {
    case COLL_ALL_REDUCE:
        return mpi->all_reduce(g->mpi, b->from, b->into, call->n, call->elem, MPI_FOLD_SUM);
    case COLL_ALL_GATHER:
        return mpi->all_gather(g->mpi, b->from, b->into, call->n, call->elem);
    case COLL_REDUCE_SCATTER:
        return mpi->reduce_scatter(g->mpi, b->from, b->into, call->n, call->elem);
    case COLL_ALL_TO_ALL:
        return mpi->all_to_all(g->mpi, b->from, b->into, call->n, call->elem);
    case COLL_BROADCAST:
        return mpi->broadcast(g->mpi, b->from, call->n * coll_elem_size(call->elem), 0);
    default: /* there and back */
        for (int turn = 0; turn < 2 && rank < 2 && rc == 0; turn++)
            rc = turn == rank ? mpi->send(g->mpi, b->from, call->n, call->elem, 1 - rank)
                              : mpi->receive(g->mpi, b->into, call->n, call->elem, 1 - rank);
        return rc;
    }
}

enum status coll_run(const struct coll_group *g, const struct coll_call *call,
                     const struct coll_buffers *b, double *seconds, struct diag *d)
{
    const struct mpi_calls *mpi = g->job->calls;

    TRY(mpi_check(g->job, mpi->barrier(g->mpi), "MPI_Barrier", d));
    if (g->links != NULL) {
        TRY(check_links(g, g->links->run(g->device, call, b, seconds), d));
    } else {
        double begin = mpi->now();
        TRY(mpi_check(g->job, make_call(g, call, b), "collective", d));
        *seconds = mpi->now() - begin;
    }
    if (call->op == COLL_SEND_RECV)
        *seconds /= 2;
    return ST_OK;
}

static size_t fit(double share, size_t least, size_t most)
{
    return !(share > (double)least) ? least : share < (double)most ? (size_t)share : most;
}

enum status coll_plan(const struct coll_group *g, double first, double limit,
                      struct coll_times *out, struct diag *d)
{
    double calls = first > 0 ? limit / first : TIMED_MOST;

    *out = (struct coll_times){fit(calls / 5, 0, WARM_MOST), fit(calls, TIMED_LEAST, TIMED_MOST)};
    return mpi_check(g->job, g->job->calls->broadcast(g->mpi, out, sizeof(*out), 0), "MPI_Bcast",
                     d);
}

enum status coll_slowest(const struct coll_group *g, double *seconds, size_t n, struct diag *d)
{
    double *own = mem_grow(NULL, sizeof(*own), n + 1);

    memcpy(own, seconds, n * sizeof(*own));
    int rc = g->job->calls->all_reduce(g->mpi, own, seconds, n, MPI_ELEM_F64, MPI_FOLD_MAX);
    mem_free(own);
    return mpi_check(g->job, rc, "MPI_Allreduce", d);
}
