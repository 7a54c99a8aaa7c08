/*
 * mpi_calls - what libstrata-mpi.so does for strata: a table of functions, so that MPI's own types
 * and constants stay inside it.
 *
 * A group is some consecutive ranks; NULL means all. Every function of a group is called by all its
 * ranks, and gives 0 or MPI's error code. Counts are elements; those of one call may not exceed
 * MPI_COUNT_MOST, `broadcast` and `gather` excepted, which count bytes without a limit.
 */
#ifndef STRATA_DRIVER_MPI_CALLS_H
#define STRATA_DRIVER_MPI_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum { MPI_CALLS_VERSION = 2, MPI_COUNT_MOST = INT32_MAX };

enum mpi_elem {
    MPI_ELEM_I8,
    MPI_ELEM_F16,
    MPI_ELEM_BF16,
    MPI_ELEM_F32,
    MPI_ELEM_F64,
    MPI_ELEM_I64,
    MPI_ELEMS,
};

enum mpi_fold { MPI_FOLD_SUM, MPI_FOLD_MIN, MPI_FOLD_MAX, MPI_FOLDS };

struct mpi_group; /* the library's own */

struct mpi_calls {
    uint32_t version;
    int (*init)(int *rank, int *size);
    void (*finalize)(void);
    double (*now)(void); /* seconds */
    const char *(*error)(int code);

    /* By all ranks of the job. `*out` is NULL at ranks that are not members. */
    int (*group_make)(int base, int n, struct mpi_group **out);
    void (*group_free)(struct mpi_group *group);

    int (*barrier)(struct mpi_group *g);
    int (*broadcast)(struct mpi_group *g, void *at, size_t bytes, int root);
    /* `sizes` and `into` count at `root`, where parts follow each other. */
    int (*gather)(struct mpi_group *g, const void *at, size_t bytes, const size_t *sizes,
                  void *into, int root);
    int (*all_reduce)(struct mpi_group *g, const void *from, void *into, size_t n,
                      enum mpi_elem elem, enum mpi_fold how);
    int (*all_gather)(struct mpi_group *g, const void *from, void *into, size_t n,
                      enum mpi_elem elem); /* n: of one rank */
    int (*reduce_scatter)(struct mpi_group *g, const void *from, void *into, size_t n,
                          enum mpi_elem elem); /* n: of the result; the sum */
    int (*all_to_all)(struct mpi_group *g, const void *from, void *into, size_t n,
                      enum mpi_elem elem); /* n: for each peer */
    int (*send)(struct mpi_group *g, const void *at, size_t n, enum mpi_elem elem, int to);
    int (*receive)(struct mpi_group *g, void *at, size_t n, enum mpi_elem elem, int from);
};

/* The library's one entry, "strata_mpi_calls". */
typedef const struct mpi_calls *(*mpi_calls_entry)(void);

#endif
