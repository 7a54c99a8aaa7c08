/*
 * Causes in kernels: what they compute in, how well, and what could be one of them.
 */
#include "analysis/diagnose/roof.h"
#include "analysis/diagnose/root_find.h"
#include "text/cause.h"

void gemm_no_tensor_core_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c, &(struct root_tasks){.families = ROOT_ALL_KERNELS, .is_simt = true});
    if (!capture_is_ascend(f->cap) && f->w->device != NULL && !roof_has_tf32(f->w->device))
        c->action = &cause_text.gemm_no_tensor_core_do_half;
}

void fp64_used_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c, &(struct root_tasks){.families = ROOT_ALL_KERNELS, .is_fp64 = true});
}

void gemm_inefficient_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(
        f, c,
        &(struct root_tasks){.families = ROOT_BIT(FAMILY_GEMM_TENSOR) | ROOT_BIT(FAMILY_CONV)});
}

void attention_unfused_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c,
                        &(struct root_tasks){.families = ROOT_ALL_KERNELS, .is_changed = true});
}

void elementwise_unfused_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c,
                        &(struct root_tasks){.families = ROOT_BIT(FAMILY_ELEMENTWISE) |
                                                         ROOT_BIT(FAMILY_LAYOUT) |
                                                         ROOT_BIT(FAMILY_RANDOM)});
}

void layout_copies_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(
        f, c,
        &(struct root_tasks){.families = ROOT_BIT(FAMILY_LAYOUT), .copies = ROOT_BIT(COPY_D2D)});
}

void optimizer_unfused_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c, &(struct root_tasks){.families = ROOT_BIT(FAMILY_OPTIMIZER)});
}

void index_sort_heavy_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c, &(struct root_tasks){.families = ROOT_BIT(FAMILY_INDEX_SORT)});
}

/* ---- the AICPU ---- */

static double aicpu_share(const struct root_finder *f)
{
    return root_share(f, f->by[ACCOUNT_COMPUTE + FAMILY_AICPU]);
}

struct found_cause *aicpu_exposed_value(struct root_finder *f, enum root_cause cause)
{
    return root_keep(f, cause, aicpu_share(f), aicpu_share(f));
}

void aicpu_exposed_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c, &(struct root_tasks){.families = ROOT_BIT(FAMILY_AICPU)});
    c->told = aicpu_share(f);
}
