/*
 * mpi - the ranks of one job, over MPI.
 *
 * strata links no MPI: libstrata-mpi.so, built where MPI's headers are, holds the calls and is
 * loaded when `mpirun` (or srun) started this process. Otherwise a job has one rank, for which the
 * functions below work without the library.
 *
 *     struct mpi job;
 *     TRY(mpi_open(&job, &arena, d));
 *     TRY(mpi_gather(&job, mine, n, &arena, &all, d));
 *     if (job.rank == 0) ...
 *     mpi_close(&job);
 *
 * All ranks make the same calls in the same order. A rank that leaves makes the others wait for
 * ever, so what one rank does alone ends in mpi_agree() before the next call that all make:
 *
 *     TRY(mpi_agree(&job, write_mine(), d));
 *
 * A rank that is killed, or ends without mpi_close(), is seen by the launcher, which ends the
 * others.
 */
#ifndef STRATA_DRIVER_MPI_H
#define STRATA_DRIVER_MPI_H

#include "base/diag.h"
#include "driver/mpi_calls.h"

struct mpi {
    const struct mpi_calls *calls; /* NULL: one rank, and no library */
    int rank, size;
};

/* Whether this process is one of several that a launcher started. */
bool mpi_is_launched(void);

/* The library is where STRATA_MPI_PATH says, beside the program, or where it is installed. ST_TOOL
 * when a launcher started this process and the library or MPI itself is not there. */
enum status mpi_open(struct mpi *mpi, struct arena *arena, struct diag *d);

/* The same, with the library also where nothing was launched: `calls` is set. */
enum status mpi_open_always(struct mpi *mpi, struct arena *arena, struct diag *d);

void mpi_close(struct mpi *mpi);

/* What a call of MPI said: ST_TOOL, told, unless it is 0. */
enum status mpi_check(const struct mpi *mpi, int rc, const char *what, struct diag *d);

enum status mpi_barrier(const struct mpi *mpi, struct diag *d);

/* ST_OK when `own` is that at every rank. Otherwise a rank that failed gets its own status back,
 * and the others that of the first that failed, with its reason. */
enum status mpi_agree(const struct mpi *mpi, enum status own, struct diag *d);

/* Bytes of rank `root`, to all. */
enum status mpi_broadcast(const struct mpi *mpi, void *at, size_t bytes, int root, struct diag *d);

/* The numbers of all ranks, folded into `at` of each. */
enum status mpi_fold_i64(const struct mpi *mpi, int64_t *at, size_t n, enum mpi_fold how,
                         struct diag *d);

/* What each rank gave, at rank 0 only: `of` has an entry for each rank. */
struct mpi_parts {
    struct str *of; /* in the arena */
    size_t n;       /* ranks; 0 at other ranks */
};
enum status mpi_gather(const struct mpi *mpi, const void *at, size_t bytes, struct arena *arena,
                       struct mpi_parts *out, struct diag *d);

#endif
