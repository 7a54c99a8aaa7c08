/*
 * serve_simulator - an engine with continuous batching, request by request: what steady states
 * (opdb/plan/serve.h) are compared with. It knows requests, steps and a function for their time,
 * and nothing of Markov chains.
 *
 * A step gives each running sequence a token, then computes prompts with the rest of its budget,
 * first come first served, cutting the last one. Requests are answered when all their tokens are
 * out; tokens of a step appear at its end.
 */
#ifndef STRATA_OPDB_SERVE_SIMULATOR_H
#define STRATA_OPDB_SERVE_SIMULATOR_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* xorshift64*: the same numbers everywhere. */
struct dice {
    uint64_t state;
};

static inline double dice_next(struct dice *d)
{
    d->state ^= d->state >> 12;
    d->state ^= d->state << 25;
    d->state ^= d->state >> 27;
    return (double)((d->state * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
}

static inline double dice_between(struct dice *d, double low, double high)
{
    return low + (high - low) * dice_next(d);
}

/* Seconds of a step: a base, the larger of weights and work of tokens, keys of decodes, pairs of
 * prompts. */
struct machine {
    double base, weights, token, key, pair;
};

static inline double machine_step(const struct machine *m, double tokens, double keys, double pairs)
{
    return m->base + fmax(m->weights, m->token * tokens) + m->key * keys + m->pair * pairs;
}

struct sim_request {
    double arrive, first, end;
    int prompt, output, done, out; /* tokens: of both; computed, put out */
    int part;                      /* of the prompt, in this step */
};

struct simulator {
    struct machine machine;
    int budget, slots, cached;
    struct sim_request *all; /* in order of arrival */
    size_t n, started;       /* known; first `started` have left the queue */
    size_t *running;
    size_t n_running;
    double now;
};

struct sim_result {
    double rate, first, token, first_p99, token_p99;
};

static inline void sim_add(struct simulator *s, double arrive, int prompt, int output)
{
    s->all[s->n++] = (struct sim_request){.arrive = arrive, .prompt = prompt, .output = output};
}

/* Uniform in spread..2-spread of the mean; 1: always the mean. */
static inline int sim_length(struct dice *d, int mean, double spread)
{
    double value = spread >= 1 ? mean : round(dice_between(d, spread * mean, (2 - spread) * mean));

    return value < 1 ? 1 : (int)value;
}

/* One step; false when there is nothing to do. Returns in `ended` how many requests ended. */
static inline int sim_step(struct simulator *s, size_t *ended)
{
    double tokens = 0, keys = 0, pairs = 0;
    size_t kept = 0, decoding = s->n_running;

    *ended = 0;
    for (size_t i = 0; i < s->n_running; i++) {
        struct sim_request *r = &s->all[s->running[i]];
        r->part = 0;
        if (r->done < r->prompt) {
            decoding = i; /* prompts are behind those that decode */
            break;
        }
        tokens++;
        keys += r->prompt + s->cached + r->out;
    }
    double left = s->budget - tokens;
    for (size_t i = decoding; left > 0; i++) {
        if (i == s->n_running) {
            if (s->started == s->n || s->all[s->started].arrive > s->now ||
                (int)s->n_running >= s->slots)
                break;
            s->running[s->n_running++] = s->started++;
        }
        struct sim_request *r = &s->all[s->running[i]];
        r->part = (int)fmin(r->prompt - r->done, left);
        pairs += r->part * (s->cached + r->done + (r->part + 1) / 2.0);
        tokens += r->part;
        left -= r->part;
    }
    if (tokens == 0)
        return 0;
    s->now += machine_step(&s->machine, tokens, keys, pairs);
    for (size_t i = 0; i < s->n_running; i++) {
        struct sim_request *r = &s->all[s->running[i]];
        r->done += r->part;
        if (i < decoding || (r->part > 0 && r->done >= r->prompt))
            r->out++;
        if (r->out == 1 && r->first == 0)
            r->first = s->now;
        r->part = 0;
        if (r->out >= r->output) {
            r->end = s->now;
            (*ended)++;
        } else {
            s->running[kept++] = s->running[i];
        }
    }
    s->n_running = kept;
    return 1;
}

static inline int sim_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Means of requests [from, to), which have ended; rate of those between two times. */
static inline struct sim_result sim_means(const struct simulator *s, size_t from, size_t to)
{
    struct sim_result out = {0};
    double *first = calloc(to, sizeof(*first)), *token = calloc(to, sizeof(*token));
    size_t n = 0, with = 0;

    for (size_t i = from; i < to; i++) {
        const struct sim_request *r = &s->all[i];
        if (r->end <= 0)
            continue;
        first[n++] = r->first - r->arrive;
        out.first += r->first - r->arrive;
        if (r->output > 1) {
            token[with] = (r->end - r->first) / (r->output - 1);
            out.token += token[with++];
        }
    }
    out.first /= (double)n;
    out.token /= (double)(with > 0 ? with : 1);
    qsort(first, n, sizeof(*first), sim_by_value);
    qsort(token, with, sizeof(*token), sim_by_value);
    out.first_p99 = first[(size_t)(0.99 * (double)n)];
    out.token_p99 = with > 0 ? token[(size_t)(0.99 * (double)with)] : 0;
    free(first);
    free(token);
    return out;
}

/* `clients` that send the next request when one was answered, until `total` were. */
static inline struct sim_result sim_closed(struct simulator *s, int clients, int prompt, int output,
                                           double spread, size_t total, struct dice *d)
{
    size_t done = 0, ended, warm = total / 4;
    double begin = 0;

    s->all = calloc(total + (size_t)clients + 1, sizeof(*s->all));
    s->running = calloc((size_t)clients + 1, sizeof(*s->running));
    for (int i = 0; i < clients; i++)
        sim_add(s, 0, sim_length(d, prompt, spread), sim_length(d, output, spread));
    while (done < total) {
        sim_step(s, &ended);
        if (done < warm && done + ended >= warm)
            begin = s->now;
        done += ended;
        for (size_t i = 0; i < ended && s->n < total + (size_t)clients; i++)
            sim_add(s, s->now, sim_length(d, prompt, spread), sim_length(d, output, spread));
    }
    struct sim_result out = sim_means(s, warm, s->n);
    out.rate = (double)(done - warm) / (s->now - begin);
    free(s->all);
    free(s->running);
    return out;
}

/* Arrivals at random. */
static inline struct sim_result sim_open(struct simulator *s, double rate, int prompt, int output,
                                         double spread, size_t total, struct dice *d)
{
    size_t done = 0, ended, warm = total / 5;
    double at = 0;

    s->all = calloc(total, sizeof(*s->all));
    s->running = calloc((size_t)s->slots + 1, sizeof(*s->running));
    for (size_t i = 0; i < total; i++) {
        at -= log(1 - dice_next(d)) / rate;
        sim_add(s, at, sim_length(d, prompt, spread), sim_length(d, output, spread));
    }
    while (done < total) {
        if (!sim_step(s, &ended))
            s->now = s->all[s->started].arrive;
        done += ended;
    }
    struct sim_result out = sim_means(s, warm, total);
    out.rate = (double)(total - warm) / (s->all[total - 1].arrive - s->all[warm].arrive);
    free(s->all);
    free(s->running);
    return out;
}

/* Prompts one at a time on the instance that is free first, then a transfer, then decoding on
 * instances in turn. */
static inline struct sim_result sim_split(const struct machine *m, int prefills, int decodes,
                                          double transfer, double rate, int prompt, int output,
                                          double spread, size_t total, struct dice *d)
{
    struct sim_request *all = calloc(total, sizeof(*all));
    double *free_at = calloc((size_t)prefills, sizeof(*free_at)), at = 0;
    struct simulator means = {.all = all, .n = total};
    size_t *running = calloc(total, sizeof(*running));

    for (size_t i = 0; i < total; i++) {
        int next = 0;
        at -= log(1 - dice_next(d)) / rate;
        all[i] = (struct sim_request){.arrive = at,
                                      .prompt = sim_length(d, prompt, spread),
                                      .output = sim_length(d, output, spread)};
        for (int k = 1; k < prefills; k++)
            if (free_at[k] < free_at[next])
                next = k;
        double p = all[i].prompt, start = fmax(at, free_at[next]);
        free_at[next] = start + machine_step(m, p, 0, p * (p + 1) / 2);
        all[i].first = free_at[next] + transfer;
    }
    for (int k = 0; k < decodes; k++) {
        size_t next = (size_t)k, n = 0;
        double now = 0;
        while (next < total || n > 0) {
            while (next < total && all[next].first <= now) {
                running[n++] = next;
                next += (size_t)decodes;
            }
            if (n == 0) {
                now = all[next].first;
                continue;
            }
            double keys = 0;
            for (size_t i = 0; i < n; i++)
                keys += all[running[i]].prompt + 1 + all[running[i]].out;
            now += machine_step(m, (double)n, keys, 0);
            size_t kept = 0;
            for (size_t i = 0; i < n; i++) {
                struct sim_request *r = &all[running[i]];
                r->out++;
                if (r->out >= r->output - 1)
                    r->end = now;
                else
                    running[kept++] = running[i];
            }
            n = kept;
        }
    }
    struct sim_result out = sim_means(&means, total / 5, total - total / 5);
    free(all);
    free(free_at);
    free(running);
    return out;
}

#endif
