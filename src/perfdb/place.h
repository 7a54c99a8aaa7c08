/*
 * place - where in the database tree a job works.
 *
 * <data-root>/<DEVICE>/<family>/<version>: one folder of operator tables. The family is vllm_ascend
 * for Ascend devices (version vllm<V>_torch<T>_cann<C>), cuda for NVIDIA's and cpu for the host.
 * A folder given outright is taken as it is.
 */
#ifndef STRATA_PERFDB_PLACE_H
#define STRATA_PERFDB_PLACE_H

#include "base/diag.h"

/* What the user said; NULL: nothing. */
struct place_args {
    const char *database_path; /* this folder, no questions asked */
    const char *data_root;     /* NULL: $STRATA_PERFDB, else ./perfdb */
    const char *device;        /* NULL: PLACE_DEFAULT_DEVICE */
    const char *vllm, *torch, *cann;
    const char *stack_version; /* the folder below cuda/ or cpu/ */
};

#define PLACE_DEFAULT_DEVICE "ATLAS_800_A3_752T_128G_DIE"

/* What is wrong with the arguments, in the arena; NULL when nothing is: an unknown device, a text
 * that is no version. For a usage error. */
const char *place_problem(struct arena *arena, const struct place_args *args);

/* The root of the tree. */
const char *place_root(const struct place_args *args);

/* The folder to work in; nothing is created and nothing needs to be there. ST_NOT_FOUND names the
 * version parts that are neither given nor found on this machine. */
enum status place_resolve(struct arena *arena, const struct place_args *args, const char **dir,
                          struct diag *d);

#endif
