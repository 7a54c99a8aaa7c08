/*
 * libstrata-mpi.so: the calls of mpi_calls.h on MPI. The only file that includes MPI's header.
 */
#include "driver/mpi_calls.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/num.h"

struct mpi_group {
    MPI_Comm comm;
};

/* MPI has no 16-bit floats: they travel as two bytes and are added by the operations below. */
static MPI_Op add_f16, add_bf16;

static float from_bf16(uint16_t x)
{
    return num_float_of_bits((uint32_t)x << 16);
}

/* To the nearest, ties to even. NaN stays one. */
static uint16_t to_bf16(float x)
{
    uint32_t bits = num_bits_of_float(x);

    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The exponent of a half is 112 less; scaling by 2^112 also gets subnormal numbers right. */
static float from_f16(uint16_t x)
{
    uint32_t sign = (uint32_t)(x & 0x8000) << 16, rest = (uint32_t)(x & 0x7fff) << 13;

    if ((x & 0x7c00) == 0x7c00) /* infinite, or NaN */
        return num_float_of_bits(sign | 0x7f800000 | (rest & 0x7fffff));
    return num_float_of_bits(num_bits_of_float(num_float_of_bits(rest) * 0x1p112f) | sign);
}

static uint16_t to_f16(float x)
{
    uint32_t bits = num_bits_of_float(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;

    if (rest > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (rest >= 0x477ff000) /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (rest < 0x38800000) /* below 2^-14: steps of 2^-24, which adding 0.5 leaves in a float */
        return (uint16_t)(sign | (num_bits_of_float(num_float_of_bits(rest) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13));
}

static void sum_f16(void *in, void *into, int *n, MPI_Datatype *type)
{
    const uint16_t *from = in;
    uint16_t *to = into;

    (void)type;
    for (int i = 0; i < *n; i++)
        to[i] = to_f16(from_f16(from[i]) + from_f16(to[i]));
}

static void sum_bf16(void *in, void *into, int *n, MPI_Datatype *type)
{
    const uint16_t *from = in;
    uint16_t *to = into;

    (void)type;
    for (int i = 0; i < *n; i++)
        to[i] = to_bf16(from_bf16(from[i]) + from_bf16(to[i]));
}

static MPI_Comm comm_of(const struct mpi_group *g)
{
    return g != NULL ? g->comm : MPI_COMM_WORLD;
}

static MPI_Datatype plugin_type_of(enum mpi_elem elem)
{
    switch (elem) {
    case MPI_ELEM_I8:
        return MPI_INT8_T;
    case MPI_ELEM_F16:
    case MPI_ELEM_BF16:
        return MPI_UINT16_T;
    case MPI_ELEM_F32:
        return MPI_FLOAT;
    case MPI_ELEM_F64:
        return MPI_DOUBLE;
    default:
        return MPI_INT64_T;
    }
}

static MPI_Op plugin_op_of(enum mpi_elem elem, enum mpi_fold how)
{
    if (how == MPI_FOLD_SUM && elem == MPI_ELEM_F16)
        return add_f16;
    if (how == MPI_FOLD_SUM && elem == MPI_ELEM_BF16)
        return add_bf16;
    return how == MPI_FOLD_SUM ? MPI_SUM : how == MPI_FOLD_MIN ? MPI_MIN : MPI_MAX;
}

/* ---- the job ---- */

static int init(int *rank, int *size)
{
    int rc = MPI_Init(NULL, NULL);

    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_size(MPI_COMM_WORLD, size);
    if (rc == MPI_SUCCESS)
        rc = MPI_Op_create(sum_f16, 1, &add_f16);
    if (rc == MPI_SUCCESS)
        rc = MPI_Op_create(sum_bf16, 1, &add_bf16);
    return rc;
}

static void finalize(void)
{
    MPI_Op_free(&add_f16);
    MPI_Op_free(&add_bf16);
    MPI_Finalize();
}

static const char *error(int code)
{
    static char text[MPI_MAX_ERROR_STRING + 1];
    int n = 0;

    if (MPI_Error_string(code, text, &n) != MPI_SUCCESS || n <= 0)
        return "unknown MPI error";
    text[n] = 0;
    return text;
}

static double now(void)
{
    return MPI_Wtime();
}

static int group_make(int base, int n, struct mpi_group **out)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;

    *out = NULL;
    int rc = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rc != MPI_SUCCESS)
        return rc;
    int is_member = rank >= base && rank - base < n;
    rc = MPI_Comm_split(MPI_COMM_WORLD, is_member ? 0 : MPI_UNDEFINED, rank, &comm);
    if (rc != MPI_SUCCESS || !is_member)
        return rc;
    *out = malloc(sizeof(**out));
    if (*out == NULL)
        return MPI_ERR_NO_MEM;
    (*out)->comm = comm;
    return MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static void group_free(struct mpi_group *group)
{
    if (group == NULL)
        return;
    MPI_Comm_free(&group->comm);
    free(group);
}

/* ---- bytes, however many ---- */

enum transfer { MOVE_ALL, MOVE_OUT, MOVE_IN };

static int move(struct mpi_group *g, enum transfer kind, void *at, size_t bytes, int other)
{
    enum { MOST = 1 << 30 };
    int rc = MPI_SUCCESS;

    for (size_t done = 0; done < bytes && rc == MPI_SUCCESS;) {
        int n = bytes - done < MOST ? (int)(bytes - done) : MOST;
        char *part = (char *)at + done;
        if (kind == MOVE_ALL)
            rc = MPI_Bcast(part, n, MPI_BYTE, other, comm_of(g));
        else if (kind == MOVE_OUT)
            rc = MPI_Send(part, n, MPI_BYTE, other, 0, comm_of(g));
        else
            rc = MPI_Recv(part, n, MPI_BYTE, other, 0, comm_of(g), MPI_STATUS_IGNORE);
        done += (size_t)n;
    }
    return rc;
}

static int broadcast(struct mpi_group *g, void *at, size_t bytes, int root)
{
    return move(g, MOVE_ALL, at, bytes, root);
}

/* One after the other: MPI_Gatherv counts in int, and parts may be larger together. */
static int plugin_gather(struct mpi_group *g, const void *at, size_t bytes, const size_t *sizes,
                         void *into, int root)
{
    char *to = into;
    int rank = 0, size = 0;

    int rc = MPI_Comm_rank(comm_of(g), &rank);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_size(comm_of(g), &size);
    if (rc == MPI_SUCCESS && rank != root)
        return move(g, MOVE_OUT, (void *)at, bytes, root);
    for (int i = 0; i < size && rc == MPI_SUCCESS; i++) {
        if (i != root)
            rc = move(g, MOVE_IN, to, sizes[i], i);
        else if (bytes > 0)
            memcpy(to, at, bytes);
        to += sizes[i];
    }
    return rc;
}

/* ---- collectives ---- */

static int barrier(struct mpi_group *g)
{
    return MPI_Barrier(comm_of(g));
}

static int all_reduce(struct mpi_group *g, const void *from, void *into, size_t n,
                      enum mpi_elem elem, enum mpi_fold how)
{
    return MPI_Allreduce(from, into, (int)n, plugin_type_of(elem), plugin_op_of(elem, how),
                         comm_of(g));
}

static int all_gather(struct mpi_group *g, const void *from, void *into, size_t n,
                      enum mpi_elem elem)
{
    return MPI_Allgather(from, (int)n, plugin_type_of(elem), into, (int)n, plugin_type_of(elem),
                         comm_of(g));
}

static int reduce_scatter(struct mpi_group *g, const void *from, void *into, size_t n,
                          enum mpi_elem elem)
{
    return MPI_Reduce_scatter_block(from, into, (int)n, plugin_type_of(elem),
                                    plugin_op_of(elem, MPI_FOLD_SUM), comm_of(g));
}

static int all_to_all(struct mpi_group *g, const void *from, void *into, size_t n,
                      enum mpi_elem elem)
{
    return MPI_Alltoall(from, (int)n, plugin_type_of(elem), into, (int)n, plugin_type_of(elem),
                        comm_of(g));
}

static int send_elems(struct mpi_group *g, const void *at, size_t n, enum mpi_elem elem, int to)
{
    return MPI_Send(at, (int)n, plugin_type_of(elem), to, 0, comm_of(g));
}

static int receive_elems(struct mpi_group *g, void *at, size_t n, enum mpi_elem elem, int from)
{
    return MPI_Recv(at, (int)n, plugin_type_of(elem), from, 0, comm_of(g), MPI_STATUS_IGNORE);
}

const struct mpi_calls *strata_mpi_calls(void);

__attribute__((visibility("default"))) const struct mpi_calls *strata_mpi_calls(void)
{
    static const struct mpi_calls calls = {
        .version = MPI_CALLS_VERSION,
        .init = init,
        .now = now,
        .finalize = finalize,
        .error = error,
        .group_make = group_make,
        .group_free = group_free,
        .barrier = barrier,
        .broadcast = broadcast,
        .gather = plugin_gather,
        .all_reduce = all_reduce,
        .all_gather = all_gather,
        .reduce_scatter = reduce_scatter,
        .all_to_all = all_to_all,
        .send = send_elems,
        .receive = receive_elems,
    };

    return &calls;
}
