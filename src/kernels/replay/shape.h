/*
 * shape - which kernel of a scene is meant, and which cores it runs on.
 */
#ifndef STRATA_KERNELS_REPLAY_SHAPE_H
#define STRATA_KERNELS_REPLAY_SHAPE_H

#include "kernels/replay/scene.h"

enum shape {
    SHAPE_AIC, /* one cube core */
    SHAPE_AIV, /* one vector core */
    SHAPE_MIX, /* a cube core and its vector cores, each with its own row of arguments */
};

const char *shape_name(enum shape shape); /* aic-only, aiv-only, spmd-mix */

/* How a user names a kernel: exactly one of them. */
struct kernel_choice {
    const char *name; /* NULL: not this way */
    const char *source;
    int64_t func_id;
    bool has_func_id;
};

enum { SLOT_COUNT = 50, SLOT_LOCAL = 48, SLOT_GLOBAL = 49 };

struct kernel {
    struct scene_incore incore;
    enum shape shape;
    bool reads[SLOT_COUNT]; /* args[N] stands in its code */
    bool is_runnable;       /* it includes the instructions, so a host can run it */
};

/* The first rule that fires: path, then text, then the core type. False when none does. */
bool shape_classify(struct str path, struct str text, struct str core_type, enum shape *out);

/* Finds the kernel, reads its source and classifies it. */
enum status kernel_select(const struct scene *scene, const struct kernel_choice *choice,
                          struct kernel *out, struct diag *d);

#endif
