/*
 * workspace - a folder with everything needed to launch one kernel once.
 *
 *     replay_kernel.cpp          the kernel behind a C entry, for the cores it runs on
 *     replay_launch.cpp          launches that entry
 *     replay_host.cpp            tensors, 50 slots, launch, wait
 *     CMakeLists.txt             one library for both core types, one program
 *     run_collect.sh             build, collect with msprof, export
 *     insight_trace_config.json  what all of it was made from
 */
#ifndef STRATA_KERNELS_REPLAY_WORKSPACE_H
#define STRATA_KERNELS_REPLAY_WORKSPACE_H

#include "kernels/replay/slots.h"

/* What differs between the chips. */
struct platform {
    const char *family, *soc, *macro, *arch, *scope;
    int number;
};

/* a2a3 or a5; NULL otherwise. */
const struct platform *platform_find(struct str family);

/* A launch of several blocks with values of its own. */
struct dispatch {
    int64_t blocks, slot, value;
};

/* What a mixed kernel needs besides its arguments. */
struct spmd {
    bool has_meta;
    int64_t block_dim, lanes;
    int64_t fifo_bytes[3]; /* of one hardware block, for sij_fifo, pij_fifo, oi_fifo; or 0 */
    const struct dispatch *dispatches;
    size_t n_dispatches;
};

/* What goes with the arguments of the built-in recipes; fails for a mixed kernel that they do not
 * know. */
enum status spmd_find(const struct kernel *kernel, const struct platform *platform,
                      struct spmd *out, struct diag *d);

/* Blocks of the launch of a recipe: `wanted` for a kernel of one core type. */
int64_t spmd_blocks(const struct kernel *kernel, const struct platform *platform, int64_t wanted);

/* For arguments from elsewhere: one launch of that many blocks, each with its contexts. */
struct spmd spmd_plain(int64_t blocks);

/* Sources of a task that is more than one kernel: absolute; NULL: none for that core. */
struct workspace_cores {
    const char *cube, *vector, *second; /* the second vector core: NULL: as the first */
};

struct workspace {
    const char *folder; /* absolute or relative to where we are */
    bool has_cores;     /* `cores` tell, not the kernel's shape */
    struct workspace_cores cores;
    const char *module, *runtime;
    struct str case_name;
    const struct kernel *kernel;
    const struct slots *slots;
    const struct platform *platform;
    struct spmd spmd;
    const char *soc, *cann_home, *pto_isa_root, *repo_root;
    int64_t blocks, device, launch_count, timeout_s, sim_minutes;
};

/* Writes the six files; the folder is made. */
enum status workspace_write(const struct workspace *ws, struct diag *d);

enum { WORKSPACE_FILES = 6 };
extern const char *const workspace_files[WORKSPACE_FILES];

/* The text of one of them. Lives in the arena. */
struct str workspace_text(const struct workspace *ws, const char *name, struct arena *arena);

/* What a collection leaves: <workspace>/insight_export/OPPROF_<x>/simulator, which MindStudio
 * Insight opens. The folder of the last run that is there now; NULL: none. */
const char *workspace_last_export(struct arena *arena, const char *workspace);

/* Looks for one other than `before`, which an earlier run left, and checks trace.json,
 * visualize_data.bin and the tables. Warns when a shape of kernel should have left more tables. */
enum status workspace_find_export(struct arena *arena, const char *workspace, const char *before,
                                  enum shape shape, const char **out, struct diag *d);

#endif
