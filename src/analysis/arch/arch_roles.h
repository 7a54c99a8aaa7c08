/*
 * arch_roles - what the kernels of a layer are for, told by their order.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_ROLES_H
#define STRATA_ANALYSIS_ARCH_ARCH_ROLES_H

#include "analysis/arch/arch_layers.h"

enum role {
    ROLE_ATTENTION,
    ROLE_PROJECTION,
    ROLE_TP_COMM,
    ROLE_MID_NORM,
    ROLE_ROUTING,
    ROLE_DISPATCH,
    ROLE_EXPERT_FFN,
    ROLE_DENSE_FFN,
    ROLE_POST_NORM,
    ROLE_PREP,
    ROLE_EP_COMM,
    ROLE_SAMPLING,
    ROLE_SMALL,
    ROLE_TRANSFER, /* to or from another rank: a stage of a pipeline */
    ROLES
};

const char *role_name(enum role role, enum layer_kind kind);

/* What each kernel of a layer is for; `roles` has room for all of them. */
void arch_roles_assign(const struct arch_ops *ops, const struct arch_layer *layer, uint8_t *roles);

#endif
