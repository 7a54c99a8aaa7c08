/*
 * model_calls_in - for model_*.c alone: a step while its calls are listed.
 */
#ifndef STRATA_OPS_MODEL_CALLS_IN_H
#define STRATA_OPS_MODEL_CALLS_IN_H

#include "ops/model_calls.h"

struct calling {
    const struct llm *m;
    const struct model_layout *l;
    const struct model_types *types;
    const struct model_load *load;
    double t; /* tokens of the step */
    const char *part;
    int64_t times;
    unsigned n_modules, module; /* so far; that of the calls now, 0: none */
    const struct model_layer *layer;
    model_emit *emit;
    void *ctx;
};

static inline double model_part(int64_t whole, int64_t parts)
{
    return (double)whole / (double)parts;
}

/* Key/value heads of a card: at least one. */
double model_key_heads(int64_t heads, int64_t tp);

void model_put(struct calling *x, const char *what, struct model_call c);

/* m rows by a matrix of n x k, of which all cards together keep `whole`. */
void model_put_product(struct calling *x, const char *what, const struct quant *type, double m,
                       double n, double k, double whole);

/* What reads and writes that many values of two bytes. */
void model_put_plain(struct calling *x, enum model_op op, const char *what, double m, double n,
                     double k, double values);

void model_put_comm(struct calling *x, enum model_comm kind, const char *what, int64_t devices,
                    double sent);

/* Hidden values of so many tokens, as collectives move them. */
double model_hidden_bytes(const struct calling *x, double tokens);

/* Attention of a layer, its feed-forward part, and what joins the results of cards. */
void model_call_attention(struct calling *x, const struct model_layer *layer);
void model_call_feed(struct calling *x, const struct model_layer *layer);

#endif
