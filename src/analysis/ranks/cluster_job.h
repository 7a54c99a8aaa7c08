/*
 * cluster_job - a folder of ranks in, what they tell together out.
 *
 * One rank after the other is read and reduced to its summary, so memory holds one capture at a
 * time; summaries are kept in a folder by the content of the files they were made of. Under MPI the
 * ranks are dealt out by size and process 0 has the result.
 */
#ifndef STRATA_ANALYSIS_RANKS_CLUSTER_JOB_H
#define STRATA_ANALYSIS_RANKS_CLUSTER_JOB_H

#include "analysis/ranks/cluster.h"
#include "analysis/ranks/cluster_part.h"
#include "input/input.h"

struct mpi;

struct cluster_job {
    const char *path; /* of the folder */
    struct input_options input;
    const char *keep;      /* folder for summaries; NULL: they are not kept */
    const struct mpi *mpi; /* NULL: one process */
};

struct cluster_outcome {
    struct arena arena;
    struct cluster *result;     /* NULL at processes other than 0 */
    struct cluster_part *parts; /* one for each capture that was found */
    size_t n_parts;
    size_t reused;          /* of them, summaries that were there */
    bool is_failure_shared; /* process 0 has the reason why this one failed */
};

/* Call cluster_outcome_free() in any case. */
enum status ranks_run(const struct cluster_job *job, struct diag *d, struct cluster_outcome *out);
void cluster_outcome_free(struct cluster_outcome *out);

#endif
