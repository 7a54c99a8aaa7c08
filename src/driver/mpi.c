/*
 * Ranks over MPI, or one rank without it. See mpi.h.
 */
#include "driver/mpi.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/num.h"
#include "driver/driver.h"

bool mpi_is_launched(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const char *value = getenv(sizes[i]);
        if (value != NULL && value[0] != 0)
            return true;
    }
    return getenv("PMIX_RANK") != NULL;
}

static enum status no_mpi(struct diag *d, const char *why)
{
    enum status st = diag_fail(d, ST_TOOL, "mpi.none", (struct where){0}, "%s", why);

    diag_hint(d, "try",
              "install OpenMPI (libopenmpi-dev, openmpi-bin) and build strata again, or set "
              "STRATA_MPI_PATH=/path/of/libstrata-mpi.so");
    return st;
}

enum status mpi_check(const struct mpi *mpi, int rc, const char *what, struct diag *d)
{
    if (rc == 0)
        return ST_OK;
    return diag_fail(d, ST_TOOL, "mpi.failed", (struct where){0}, "%s: %s", what,
                     mpi->calls->error(rc));
}

enum status mpi_open_always(struct mpi *mpi, struct arena *arena, struct diag *d)
{
    const char *path = probe_own_library(arena, "libstrata-mpi.so", "STRATA_MPI_PATH");
    mpi_calls_entry entry = NULL;

    *mpi = (struct mpi){.size = 1};
    if (path == NULL)
        return no_mpi(d, "libstrata-mpi.so not found next to strata");
    /* What MPI loads later looks for its symbols among the global ones. Never closed: MPI leaves
     * functions of its own to be called at exit. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        const char *said = dlerror();
        return no_mpi(d, said != NULL ? said : "libstrata-mpi.so cannot be loaded");
    }
    if (!probe_symbol(library, "strata_mpi_calls", &entry) || entry()->version != MPI_CALLS_VERSION)
        return no_mpi(d, "libstrata-mpi.so is of another version of strata");
    mpi->calls = entry();
    enum status st = mpi_check(mpi, mpi->calls->init(&mpi->rank, &mpi->size), "MPI_Init", d);
    if (st != ST_OK)
        *mpi = (struct mpi){.size = 1};
    return st;
}

enum status mpi_open(struct mpi *mpi, struct arena *arena, struct diag *d)
{
    *mpi = (struct mpi){.size = 1};
    return mpi_is_launched() ? mpi_open_always(mpi, arena, d) : ST_OK;
}

void mpi_close(struct mpi *mpi)
{
    if (mpi->calls != NULL)
        mpi->calls->finalize();
    *mpi = (struct mpi){.size = 1};
}

enum status mpi_barrier(const struct mpi *mpi, struct diag *d)
{
    return mpi->calls == NULL ? ST_OK : mpi_check(mpi, mpi->calls->barrier(NULL), "MPI_Barrier", d);
}

enum status mpi_broadcast(const struct mpi *mpi, void *at, size_t bytes, int root, struct diag *d)
{
    if (mpi->calls == NULL)
        return ST_OK;
    return mpi_check(mpi, mpi->calls->broadcast(NULL, at, bytes, root), "MPI_Bcast", d);
}

/* Why a rank failed, as it travels. */
struct rank_failure {
    int32_t status;
    char text[508];
};

static struct rank_failure failure_of(enum status own, const struct diag *d)
{
    struct rank_failure f = {.status = (int32_t)own};

    snprintf(f.text, sizeof(f.text), "%s", own == ST_CANCELLED ? "interrupted" : "no reason known");
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_text *first = &d->entries.at[i].first[0];
        const char *path = first->where.path;
        if (d->entries.at[i].severity == SEV_ERROR)
            snprintf(f.text, sizeof(f.text), "%s%s%s", path != NULL ? path : "",
                     path != NULL ? ": " : "", first->text);
    }
    return f;
}

enum status mpi_agree(const struct mpi *mpi, enum status own, struct diag *d)
{
    int64_t first = own != ST_OK ? mpi->rank : mpi->size;

    if (mpi->calls == NULL)
        return own;
    TRY(mpi_fold_i64(mpi, &first, 1, MPI_FOLD_MIN, d));
    if (first == mpi->size)
        return ST_OK;
    struct rank_failure f = failure_of(own, d);
    TRY(mpi_broadcast(mpi, &f, sizeof(f), (int)first, d));
    if (own != ST_OK)
        return own;
    return diag_fail(d, (enum status)f.status, "mpi.rank-failed", (struct where){0},
                     "process %d: %s", (int)first, f.text);
}

/* `at` is taken as MPI takes it: from one place, into another. */
enum status mpi_fold_i64(const struct mpi *mpi, int64_t *at, size_t n, enum mpi_fold how,
                         struct diag *d)
{
    if (mpi->calls == NULL || n == 0)
        return ST_OK;
    if (n > MPI_COUNT_MOST)
        return diag_fail(d, ST_LIMIT, "mpi.too-many", (struct where){0}, "%zu numbers to fold", n);
    int64_t *from = mem_grow(NULL, sizeof(*from), n);
    memcpy(from, at, n * sizeof(*from));
    int rc = mpi->calls->all_reduce(NULL, from, at, n, MPI_ELEM_I64, how);
    mem_free(from);
    return mpi_check(mpi, rc, "MPI_Allreduce", d);
}

enum status mpi_gather(const struct mpi *mpi, const void *at, size_t bytes, struct arena *arena,
                       struct mpi_parts *out, struct diag *d)
{
    size_t ranks = (size_t)mpi->size, *sizes = ARENA_ARRAY(arena, size_t, ranks), total = 0;
    int64_t mine = (int64_t)bytes, *all = ARENA_ARRAY(arena, int64_t, ranks);
    char *into = NULL;

    *out = (struct mpi_parts){.n = mpi->rank == 0 ? ranks : 0};
    sizes[0] = bytes;
    if (mpi->calls != NULL) {
        TRY(mpi_check(mpi, mpi->calls->all_gather(NULL, &mine, all, 1, MPI_ELEM_I64),
                      "MPI_Allgather", d));
        for (size_t i = 0; i < ranks; i++)
            sizes[i] = (size_t)all[i];
    }
    for (size_t i = 0; i < ranks; i++)
        total += sizes[i];
    if (out->n > 0) {
        into = arena_alloc(arena, total + 1);
        out->of = ARENA_ARRAY(arena, struct str, ranks);
    }
    for (size_t i = 0, from = 0; i < out->n; from += sizes[i++])
        out->of[i] = (struct str){into + from, sizes[i]};
    if (mpi->calls != NULL)
        return mpi_check(mpi, mpi->calls->gather(NULL, at, bytes, sizes, into, 0), "MPI_Gather", d);
    if (bytes > 0)
        memcpy(into, at, bytes);
    return ST_OK;
}
