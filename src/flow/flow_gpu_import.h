/*
 * flow_gpu_import - files of other tools as a GPU run: pages of Nsight Compute, and traces, which
 * go through the importers of src/input.
 */
#ifndef STRATA_FLOW_FLOW_GPU_IMPORT_H
#define STRATA_FLOW_FLOW_GPU_IMPORT_H

#include "gpu/ncu_csv.h"
#include "gpu/run.h"

struct gpu_import_job {
    const char *const *paths;
    size_t n_paths;
    const char *kernel, *version, *device, *spec; /* NULL: not given */
    const char *flops, *bytes, *dtype;
    const char *const *params; /* "name=value" */
    size_t n_params;
    struct gpu_peak_override peaks;
};

/* Loads and judges. `run` is initialised here; free it and then `import`, whatever comes back: the
 * import's texts live in the run. */
enum status flow_gpu_import(const struct gpu_import_job *job, struct gpu_run *run,
                            struct gpu_import *import, struct diag *d);

#endif
