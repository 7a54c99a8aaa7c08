/*
 * How much a unit multiplies, whatever kernels do it: that tells a batch from another.
 */
#include <math.h>

#include "analysis/compare/profile.h"
#include "analysis/diagnose/accounting.h"
#include "analysis/ops/kernel_work.h"
#include "analysis/ops/op_tree.h"

double profile_work_shared(double a, double b)
{
    return fmax(a, b) > 0 && !isnan(a) && !isnan(b) ? fmin(a, b) / fmax(a, b) : NAN;
}

static bool does_products(const struct device_task *t)
{
    return t->class == TASK_COMPUTE &&
           (t->family == FAMILY_GEMM_TENSOR || t->family == FAMILY_GEMM_SIMT ||
            t->family == FAMILY_CONV || t->family == FAMILY_ATTENTION);
}

const double *profile_work_of_tasks(struct study *st, const uint32_t *place, struct arena *arena)
{
    const struct kernel_works *works = kernel_works_find(st, NULL);
    const struct device_tasks *tasks = &study_accounting(st)->tasks;
    double *out = ARENA_ARRAY(arena, double, tasks->n + 1);

    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        uint32_t at = place[t->slice];
        bool is_known = at != OP_TREE_NONE && works->at[at].state == WORK_KNOWN;
        out[i] = is_known ? works->at[at].matrix : does_products(t) ? NAN : 0;
    }
    return out;
}
