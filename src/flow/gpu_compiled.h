/*
 * gpu_compiled - the GPU code of a run: which of the modules that the program loaded hold the
 * kernels of its stages, and what they tell.
 *
 * The injection library saves every module beside its trace. Those with a kernel of a stage go to
 * compiled/<stage>/, with their PTX and the resources of the kernels; nvdisasm, where it is
 * installed, gives the instructions. All others are removed.
 */
#ifndef STRATA_FLOW_GPU_COMPILED_H
#define STRATA_FLOW_GPU_COMPILED_H

#include "flow/gpu_recorded.h"
#include "gpu/ncu_csv.h"
#include "gpu/run.h"

struct gpu_compiled_job {
    const char *folder;                /* of the run */
    const char *modules;               /* where the library wrote */
    const char *program;               /* argv[0]: what cuobjdump may look into */
    const struct gpu_launch *launches; /* tell the mangled names */
    size_t n_launches;
};

/* Listings go to `pages`. What cannot be had is a note or a loss in `d`, never a failure. */
void gpu_compiled_keep(const struct gpu_compiled_job *job, const struct gpu_run *run,
                       struct gpu_import *pages, struct diag *d);

#endif
