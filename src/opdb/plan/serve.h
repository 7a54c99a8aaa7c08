/*
 * serve - what a serving engine with continuous batching does in its steady state.
 *
 * Each step gives every decoding sequence a token (or what drafts add to it) and spends what is
 * left of its budget of tokens on prompts, first come first served, cutting the last one. The state
 * is the prompt work that waits when a step begins. It is a Markov chain: a step takes its room off
 * and prompts arrive as sequences end. Its stationary law gives rates and times without a fit.
 * tests/plan has a simulator of single requests that this is compared with.
 */
#ifndef STRATA_OPDB_PLAN_SERVE_H
#define STRATA_OPDB_PLAN_SERVE_H

#include <stdbool.h>
#include <stddef.h>

/* Seconds of a step with that many decoding sequences and tokens of prompts. */
typedef double serve_step(void *ctx, double decodes, double keys, double prompt, double pairs);

struct serve_load {
    serve_step *step;
    void *ctx;
    double prompt, cached; /* tokens of a prompt: to compute, and held by the cache already */
    double output;         /* tokens of an answer */
    double each;           /* tokens of a sequence in a step: 1 and what drafts add */
    double budget;         /* tokens of a step at most */
    double vary_prompt, vary_output; /* standard deviation over mean */
    bool is_equal;                   /* all requests have exactly these lengths */
};

struct serve_state {
    double rate;     /* requests by second */
    double first;    /* seconds to the first token, mean */
    double token;    /* seconds of a token behind the first, mean */
    double decoding; /* sequences that decode, mean */
    double left;     /* seconds until the step ends in which a request arrives, mean */
    double first_p99, token_p99;
};

/* Clients that send the next request when the last one was answered. */
struct serve_state serve_closed(const struct serve_load *l, double clients);

/* A benchmark: all clients send at once, `total` requests in all; `slots` sequences fit. */
struct serve_state serve_burst(const struct serve_load *l, double clients, double total,
                               double slots);

/* Requests that arrive at random with that rate; `slots` sequences run at a time. False when the
 * engine cannot serve them. */
bool serve_open(const struct serve_load *l, double rate, double slots, struct serve_state *out);

/* Separate instances: prompts one at a time on `prefills` of them, a transfer, then decoding on
 * `decodes` of them in turn. */
struct serve_split {
    const struct serve_load *prefill, *decode;
    double prefills, decodes, transfer; /* seconds */
    double slots;                       /* of a decoding instance */
};
bool serve_disaggregated(const struct serve_split *s, double rate, struct serve_state *out);

/* The largest rates of one instance. */
double serve_prefill_rate(const struct serve_load *l);
double serve_decode_rate(const struct serve_load *l, double slots);

/* Whole instances on at most `cards` that serve most, then the fewest cards. False: none fit. */
bool serve_ratio(double prefill_rate, int prefill_cards, double decode_rate, int decode_cards,
                 int cards, int *prefills, int *decodes);

/* Most of a pair of keys that a prompt token and a decoding sequence see on average. */
double serve_keys(const struct serve_load *l);
double serve_pairs(const struct serve_load *l);

#endif
