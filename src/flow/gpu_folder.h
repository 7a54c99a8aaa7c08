/*
 * gpu_folder - where a profiling run puts its files.
 *
 *     out/profiles/<mode>/<kernel>/<params>/<timestamp>/     or what --out says
 *
 * While it runs the folder is called <name>.partial; it gets its name when everything is written,
 * so a folder without that suffix is whole. Beside it "latest" links to the newest one.
 */
#ifndef STRATA_FLOW_GPU_FOLDER_H
#define STRATA_FLOW_GPU_FOLDER_H

#include "flow/gpu_plan.h"

struct gpu_folder {
    const char *path;    /* when finished */
    const char *partial; /* until then */
    const char *parent;  /* where runs of the same workload are; NULL with --out */
};

/* Makes the folder. ST_IO when it cannot be made, or when --out is there already and not empty. */
enum status gpu_folder_begin(struct gpu_folder *f, const struct gpu_plan *plan,
                             const struct gpu_profile_job *job, struct arena *arena,
                             struct diag *d);

/* Gives it its name and moves the link. */
enum status gpu_folder_finish(struct gpu_folder *f, struct arena *arena, struct diag *d);

/* The newest finished run beside this one: its folder, or NULL. */
const char *gpu_folder_latest(const struct gpu_folder *f, struct arena *arena);

#endif
