/*
 * What the kernels of one layer are for, told by their order.
 */
#include "analysis/arch/arch_roles.h"

const char *role_name(enum role role, enum layer_kind kind)
{
    static const char *const names[ROLES] = {
        "Attention",          "Attention projection", "TP communication", "Post-attention norm",
        "MoE routing",        "Expert dispatch",      "Expert FFN",       "Dense FFN",
        "Post-MoE norm",      "Next-layer prep",      "EP communication", "Sampling",
        "Small ops overhead", "Send and receive",
    };

    if (role == ROLE_POST_NORM && (kind == LAYER_DENSE || kind == LAYER_BLOCK))
        return "Post-FFN norm";
    if (role == ROLE_DENSE_FFN && kind == LAYER_BLOCK)
        return "Compute";
    return names[role];
}

/* ---- roles of one layer ---- */

enum state { AFTER_ATTENTION, BEFORE_FFN, IN_MOE, AFTER_FFN };

struct teller {
    const struct arch_ops *ops;
    const struct arch_layer *layer;
    uint8_t *roles;
    enum state state;
    bool has_projection, has_activation, has_down, has_prep;
    bool ends_with_norm; /* a norm follows the last activation: the feed-forward part ends there */
    size_t last_matmul;  /* SIZE_MAX: none yet */
};

static const struct arch_op *op_at(const struct teller *t, size_t i)
{
    return &t->ops->at[t->ops->of_kernel[t->layer->first + i]];
}

/* The norm, casts and matmul right before a router belong to it. */
static void take_router(struct teller *t, size_t gate)
{
    for (size_t i = gate; i > 0; i--) {
        enum kernel_role family = op_at(t, i - 1)->family;
        if (family != KERNEL_ROLE_NORM && family != KERNEL_ROLE_MATMUL &&
            family != KERNEL_ROLE_ELEMENTWISE && family != KERNEL_ROLE_OTHER)
            return;
        if (t->roles[i - 1] == ROLE_ATTENTION || t->roles[i - 1] == ROLE_PROJECTION)
            return;
        if (family == KERNEL_ROLE_NORM || family == KERNEL_ROLE_MATMUL)
            t->roles[i - 1] = ROLE_ROUTING;
    }
}

/* Matmuls after the projection turn out to be the feed-forward part when an activation follows. */
static void take_ffn(struct teller *t, size_t activation)
{
    bool is_first = true;

    if (t->state != AFTER_ATTENTION)
        return;
    for (size_t i = 0; i < activation; i++)
        if (t->roles[i] == ROLE_PROJECTION && op_at(t, i)->family == KERNEL_ROLE_MATMUL) {
            if (!is_first)
                t->roles[i] = ROLE_DENSE_FFN;
            is_first = false;
        }
    t->state = BEFORE_FFN;
}

static enum role tell_matmul(struct teller *t)
{
    switch (t->state) {
    case AFTER_ATTENTION:
        t->has_projection = true;
        return ROLE_PROJECTION;
    case BEFORE_FFN:
        if (t->has_down)
            break;
        t->has_down = t->has_activation && !t->ends_with_norm;
        return ROLE_DENSE_FFN;
    case IN_MOE:
        return ROLE_EXPERT_FFN;
    case AFTER_FFN:
        break;
    }
    t->state = AFTER_FFN;
    t->has_prep = true;
    return ROLE_PREP;
}

static enum role tell_norm(struct teller *t)
{
    if (t->has_prep) /* of queries and keys */
        return ROLE_PREP;
    if (t->state == IN_MOE || t->has_down || t->has_activation) {
        t->state = AFTER_FFN;
        return ROLE_POST_NORM;
    }
    if (t->state == AFTER_FFN)
        return ROLE_POST_NORM;
    t->state = BEFORE_FFN;
    return ROLE_MID_NORM;
}

static enum role tell_activation(struct teller *t, size_t i)
{
    if (t->state == IN_MOE)
        return ROLE_EXPERT_FFN;
    take_ffn(t, i);
    t->has_activation = true;
    t->has_down = false;
    return ROLE_DENSE_FFN;
}

static enum role tell_comm(struct teller *t, const struct arch_op *op)
{
    if (op->comm == COMM_EXPERT)
        return ROLE_EP_COMM;
    if (op->comm == COMM_TRANSFER)
        return ROLE_TRANSFER;
    if (t->state == AFTER_ATTENTION && t->has_projection)
        t->state = BEFORE_FFN;
    return ROLE_TP_COMM;
}

static enum role roles_tell(struct teller *t, size_t i)
{
    const struct arch_op *op = op_at(t, i);

    if (t->layer->kind == LAYER_BLOCK && op->family != KERNEL_ROLE_COMM)
        return ROLE_DENSE_FFN; /* no transformer: nothing to tell parts by */
    switch (op->family) {
    case KERNEL_ROLE_ATTENTION:
        return ROLE_ATTENTION;
    case KERNEL_ROLE_COMM:
        return tell_comm(t, op);
    case KERNEL_ROLE_MOE_GATE:
        if (t->state != IN_MOE)
            take_router(t, i);
        t->state = IN_MOE;
        return ROLE_ROUTING;
    case KERNEL_ROLE_MOE_FUSED:
    case KERNEL_ROLE_MOE_GEMM:
        t->state = IN_MOE;
        return ROLE_DISPATCH;
    case KERNEL_ROLE_MATMUL:
        t->last_matmul = i;
        return tell_matmul(t);
    case KERNEL_ROLE_NORM:
        return tell_norm(t);
    case KERNEL_ROLE_ACTIVATION:
        return tell_activation(t, i);
    case KERNEL_ROLE_QUANT:
        if (t->state == AFTER_ATTENTION)
            return ROLE_PROJECTION;
        if (t->state == AFTER_FFN)
            return ROLE_PREP;
        return t->state == IN_MOE ? ROLE_EXPERT_FFN : ROLE_DENSE_FFN;
    case KERNEL_ROLE_ROPE:
    case KERNEL_ROLE_KVCACHE:
        t->state = AFTER_FFN;
        return ROLE_PREP;
    case KERNEL_ROLE_SAMPLING:
        if (t->last_matmul != SIZE_MAX && t->roles[t->last_matmul] != ROLE_PROJECTION)
            t->roles[t->last_matmul] = ROLE_SAMPLING;
        t->last_matmul = SIZE_MAX;
        t->state = AFTER_FFN;
        return ROLE_SAMPLING;
    default:
        if (t->state == AFTER_ATTENTION && str_contains_nocase(op->name, S("TensorMove")))
            return ROLE_PROJECTION;
        return ROLE_SMALL;
    }
}

void arch_roles_assign(const struct arch_ops *ops, const struct arch_layer *layer, uint8_t *roles)
{
    struct teller t = {.ops = ops, .layer = layer, .roles = roles, .last_matmul = SIZE_MAX};

    if (layer->marker == SIZE_MAX)
        t.state = BEFORE_FFN;
    for (size_t i = 0; i < layer->end - layer->first; i++)
        if (op_at(&t, i)->family == KERNEL_ROLE_ACTIVATION)
            t.ends_with_norm = false;
        else if (op_at(&t, i)->family == KERNEL_ROLE_NORM)
            t.ends_with_norm = true;
    for (size_t i = 0; i < layer->end - layer->first; i++)
        roles[i] = (uint8_t)roles_tell(&t, i);
}
