/*
 * Which calls share a curve, and where on it each lies. See curve_in.h.
 */
#include "opdb/plan/curve_in.h"

#include <math.h>
#include <string.h>

#include "base/tables/hash.h"

static uint64_t key_real(uint64_t hash, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return hash_mix(hash, bits);
}

bool curve_is_attention(const struct model_call *c)
{
    return c->op == MODEL_PREFILL || c->op == MODEL_DECODE || c->op == MODEL_LATENT_PREFILL ||
           c->op == MODEL_LATENT_DECODE;
}

static bool curve_is_decode(const struct model_call *c)
{
    return c->op == MODEL_DECODE || c->op == MODEL_LATENT_DECODE;
}

bool curve_exists(const struct model_call *c)
{
    switch (c->op) {
    case MODEL_STORE:
    case MODEL_LATENT_STORE:
    case MODEL_PICK:
    case MODEL_INDEX:
    case MODEL_TOP:
    case MODEL_DELTA:
    case MODEL_SCAN:
        return false;
    default:
        return true;
    }
}

uint64_t curve_key(const struct model_call *c)
{
    uint64_t key = hash_mix(c->op, (uintptr_t)c->type);

    if (curve_is_attention(c)) {
        const struct model_attention_call *a = &c->attention;
        key = key_real(key_real(key, a->heads), a->key_heads);
        key = key_real(key_real(key, a->size), a->out_size);
        return hash_mix(key, (uint64_t)a->window);
    }
    if (c->op == MODEL_COMM)
        return key_real(hash_mix(hash_mix(key, c->comm), (uint64_t)c->devices),
                        c->sent > 0 ? c->gathered / c->sent : 0);
    if (c->op == MODEL_MODULE) {
        const struct model_experts_call *e = &c->experts;
        key = hash_mix(hash_mix(key, (uint64_t)e->hidden), (uint64_t)e->inter);
        key = hash_mix(hash_mix(key, (uint64_t)e->top_k), (uint64_t)e->experts);
        key = hash_mix(hash_mix(key, (uint64_t)e->expert_tp), (uint64_t)e->ep);
        return key_real(hash_mix(key, e->is_gated), e->held);
    }
    if (c->op == MODEL_PERMUTE || c->op == MODEL_UNPERMUTE)
        return key_real(key_real(key, c->n / c->m), c->k);
    return key_real(key_real(key_real(key, c->n), c->k), c->units);
}

void curve_place(const struct model_call *c, double *x, double *y)
{
    *y = 1;
    if (curve_is_attention(c)) {
        *x = c->attention.seqs;
        *y = curve_is_decode(c) ? c->attention.context
                                : 2 * c->attention.context + c->attention.queries;
    } else if (c->op == MODEL_COMM) {
        *x = c->sent;
    } else if (c->op == MODEL_MODULE) {
        *x = c->experts.tokens;
    } else {
        *x = c->m;
    }
}

struct model_call curve_call(const struct model_call *c, double x, double y)
{
    struct model_call out = *c;
    double was_x, was_y;

    curve_place(c, &was_x, &was_y);
    double grown = x / was_x;
    if (curve_is_attention(c)) {
        struct model_attention_call *a = &out.attention;
        double kept =
            c->op == MODEL_LATENT_DECODE ? a->size : a->key_heads * (a->size + a->out_size);
        a->seqs = x;
        a->queries = curve_is_decode(c) ? a->queries : y;
        a->context = curve_is_decode(c) ? y : 0;
        double seen = a->window > 0 ? fmin(y, (double)a->window) : y;
        double pairs = curve_is_decode(c) ? x * a->queries * seen : model_pairs(x, y, 0, a->window);
        out.flops = 2 * pairs * a->heads * (a->size + a->out_size);
        out.bytes = x * (curve_is_decode(c) ? seen : y) * kept * c->type->weight_bytes +
                    2 * x * a->queries * a->heads * (a->size + a->out_size);
        return out;
    }
    out.flops *= grown;
    if (c->op == MODEL_COMM) {
        out.sent = x;
        out.gathered *= grown;
        return out;
    }
    if (c->op == MODEL_MODULE) {
        const struct model_experts_call *e = &c->experts;
        double one =
            (e->is_gated ? 3.0 : 2.0) * (double)e->hidden * (double)e->inter / (double)e->expert_tp;
        double all = (double)e->experts;
        double touched = fmin(e->held, model_touched(all, (double)e->top_k, x) * e->held / all);
        out.experts.tokens = x;
        out.bytes = touched * one * c->type->weight_bytes + 4 * x * (double)e->hidden;
        out.m = x;
        return out;
    }
    if (c->op == MODEL_PERMUTE || c->op == MODEL_UNPERMUTE)
        out.n *= grown;
    bool has_weights = c->op == MODEL_PRODUCT || c->op == MODEL_ABSORB || c->op == MODEL_GROUPED;
    double fixed = has_weights ? c->n * c->k * c->units * c->type->weight_bytes : 0;
    out.bytes = fmin(fixed, c->bytes) + fmax(0, c->bytes - fixed) * grown;
    out.m = x;
    return out;
}
