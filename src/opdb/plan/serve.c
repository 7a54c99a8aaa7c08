/*
 * Steady states of continuous batching. See serve.h.
 */
#include "opdb/plan/serve.h"

#include <math.h>
#include <string.h>

#include "base/run/mem.h"

/* ---- a step ---- */

double serve_keys(const struct serve_load *l)
{
    /* Seen half way, longer answers for longer. */
    return l->cached + l->prompt + l->output / 2 * (1 + l->vary_output * l->vary_output);
}

double serve_pairs(const struct serve_load *l)
{
    return l->cached + (l->prompt * (1 + l->vary_prompt * l->vary_prompt) + 1) / 2;
}

static double step_of(const struct serve_load *l, double decodes, double prompt)
{
    return l->step(l->ctx, decodes, serve_keys(l), prompt, prompt * serve_pairs(l));
}

/* Steps that a sequence decodes in. */
static double iterations(const struct serve_load *l)
{
    return fmax(0, (l->output - 1) / l->each);
}

/* ---- the chain of waiting work ---- */

enum { STATES = 640, SIZES = 3 };

/* Prompts in units of work: a quarter of one, or of a step's budget where that is less. */
struct units {
    int of_prompt;
    double tokens; /* of a unit */
    int size[SIZES];
    double share[SIZES]; /* a prompt has one of three sizes, with its mean and variation */
    int n_sizes;
};

static struct units units_of(const struct serve_load *l, int of_prompt)
{
    struct units u = {.of_prompt = of_prompt, .tokens = l->prompt / of_prompt};
    double spread = fmin(0.999, l->vary_prompt * sqrt(1.5)) * of_prompt;

    u.n_sizes = spread < 0.5 ? 1 : SIZES;
    for (int i = 0; i < u.n_sizes; i++) {
        double size = of_prompt + (u.n_sizes == 1 ? 0 : (i - 1) * spread);
        u.size[i] = (int)fmax(1, round(size));
        u.share[i] = 1.0 / u.n_sizes;
    }
    return u;
}

/* Probabilities that so many units arrive when `mean` prompts do, on average (Panjer). Returns how
 * many are listed; the last one has the rest. */
static int arrivals(const struct units *u, double mean, double *out, int most)
{
    int n = (int)fmin(most, u->of_prompt * (mean + 7 * sqrt(mean) + 3));
    double sum;

    out[0] = sum = exp(-mean);
    for (int s = 1; s < n; s++) {
        double p = 0;
        for (int i = 0; i < u->n_sizes; i++)
            if (u->size[i] <= s)
                p += u->size[i] * u->share[i] * out[s - u->size[i]];
        out[s] = mean / s * p;
        sum += out[s];
    }
    if (n > 1)
        out[n - 1] += fmax(0, 1 - sum);
    return n;
}

/* How many prompts are in so much work: what is left of the one that was begun counts as one. */
struct waiting {
    const struct serve_load *l;
    struct units u;
    double clients, iterations;
    int top;
    double *prompts; /* by units that wait */
};

static void set_prompts(struct waiting *w)
{
    double mean = w->clients / (w->iterations + 1), one = exp(-mean);
    double *total = mem_grow(NULL, sizeof(*total), (size_t)w->top + 1);
    double *times = mem_grow(NULL, sizeof(*times), (size_t)w->top + 1);
    double *now = mem_grow(NULL, sizeof(*now), (size_t)w->top + 1);
    double *next = mem_grow(NULL, sizeof(*next), (size_t)w->top + 1);

    memset(total, 0, sizeof(*total) * ((size_t)w->top + 1));
    memset(times, 0, sizeof(*times) * ((size_t)w->top + 1));
    memset(now, 0, sizeof(*now) * ((size_t)w->top + 1));
    now[0] = 1;
    for (int k = 1; k <= 3; k++) { /* work of one, two and three that arrived together */
        memset(next, 0, sizeof(*next) * ((size_t)w->top + 1));
        for (int b = 0; b <= w->top; b++)
            for (int i = 0; i < w->u.n_sizes && now[b] > 0; i++)
                if (b + w->u.size[i] <= w->top)
                    next[b + w->u.size[i]] += now[b] * w->u.share[i];
        one *= mean / k;
        for (int b = 0; b <= w->top; b++) {
            total[b] += one * next[b];
            times[b] += k * one * next[b];
        }
        memcpy(now, next, sizeof(*now) * ((size_t)w->top + 1));
    }
    for (int b = 0; b <= w->top; b++) {
        double plain = b == 0 ? 0 : fmax(1, (double)b / w->u.of_prompt);
        bool is_fresh = b <= 2 * w->u.of_prompt && total[b] > 1e-12;
        w->prompts[b] = fmin(w->clients, is_fresh ? times[b] / total[b] : plain);
    }
    mem_free(total);
    mem_free(times);
    mem_free(now);
    mem_free(next);
}

/* Room of a step with that much work before it, in units. */
static double room_of(const struct waiting *w, int b)
{
    return fmax(0.25, (w->l->budget - (w->clients - w->prompts[b])) / w->u.tokens);
}

/* The transitions of all states: after a step what is left, and what arrives. A room that is no
 * whole number is split between the two next ones. */
static void fill_chain(const struct waiting *w, double *chain, int n)
{
    double *law = mem_grow(NULL, sizeof(*law), STATES + 1), before = -1;
    int listed = 0;

    memset(chain, 0, sizeof(*chain) * (size_t)n * (size_t)n);
    for (int b = 0; b < n; b++) {
        double mean = (w->clients - w->prompts[b]) / w->iterations, room = room_of(w, b);
        if (mean != before)
            listed = arrivals(&w->u, mean, law, STATES);
        before = mean;
        for (int up = 0; up < 2; up++) {
            double low = floor(room), share = up ? room - low : low + 1 - room;
            int left = (int)fmax(0, b - (low + up));
            for (int k = 0; k < listed && share > 0; k++) {
                int to = left + k < n ? left + k : n - 1;
                chain[b * n + to] += share * law[k];
            }
        }
    }
    mem_free(law);
}

/* The stationary law by elimination without subtractions (Grassmann, Taksar and Heyman). */
static void solve_chain(double *p, int n, double *law)
{
    double sum = 1;

    for (int k = n - 1; k > 0; k--) {
        double out = 0;
        for (int j = 0; j < k; j++)
            out += p[k * n + j];
        if (out <= 0)
            out = 1e-300;
        for (int i = 0; i < k; i++) {
            double share = p[i * n + k] / out;
            p[i * n + k] = share;
            if (share > 0)
                for (int j = 0; j < k; j++)
                    p[i * n + j] += share * p[k * n + j];
        }
    }
    law[0] = 1;
    for (int k = 1; k < n; k++) {
        law[k] = 0;
        for (int i = 0; i < k; i++)
            law[k] += law[i] * p[i * n + k];
        sum += law[k];
    }
    for (int k = 0; k < n; k++)
        law[k] /= sum;
}

/* ---- closed ---- */

/* Nothing is decoded: prompts alone. */
static struct serve_state only_prompts(const struct serve_load *l, double clients)
{
    double work = fmin(l->budget, clients * l->prompt), t = step_of(l, 0, work);
    double rate = work / l->prompt / t;

    return (struct serve_state){.rate = rate, .first = clients / rate, .left = t / 2};
}

/* So many decode when prompts fill every step. */
static double saturation(const struct serve_load *l)
{
    double i = iterations(l);

    return l->budget * i / (l->prompt + i);
}

static struct serve_state saturated(const struct serve_load *l, double clients)
{
    double n = saturation(l), t = step_of(l, n, l->budget - n);
    double rate = n / iterations(l) / t;

    return (struct serve_state){.rate = rate,
                                .first = (clients - n) / rate,
                                .token = t / l->each,
                                .decoding = n,
                                .left = t / 2};
}

/* Means over the law of the chain; waiting by Little's law. */
static struct serve_state means_of(const struct waiting *w, const double *law, int n)
{
    const struct serve_load *l = w->l;
    double t_mean = 0, t_square = 0, decoding = 0, decoding_t = 0, waiting_t = 0;

    for (int b = 0; b < n; b++) {
        double in = w->clients - w->prompts[b];
        if (law[b] < 1e-12)
            continue;
        double t = step_of(l, in, fmax(0, fmin(b * w->u.tokens, l->budget - in)));
        t_mean += law[b] * t;
        t_square += law[b] * t * t;
        decoding += law[b] * in;
        decoding_t += law[b] * in * t;
        waiting_t += law[b] * w->prompts[b] * t;
    }
    double rate = decoding / w->iterations / t_mean;
    return (struct serve_state){.rate = rate,
                                .first = waiting_t / t_mean / rate,
                                .token = decoding_t / decoding / l->each,
                                .decoding = decoding,
                                .left = t_square / t_mean / 2};
}

/* As many states as matter: twice as many until the last ones are hardly visited. */
static struct serve_state by_chain(const struct serve_load *l, double clients)
{
    int of_prompt = (int)fmax(1, round(4 * fmax(1, l->prompt / l->budget)));
    struct waiting w = {.l = l, .clients = clients, .iterations = iterations(l)};
    double all = clients;
    struct serve_state out = {0};

    if (of_prompt > 64)
        of_prompt = 64;
    while (of_prompt > 1 && of_prompt * all > STATES && l->prompt / of_prompt < l->budget / 8)
        of_prompt = (of_prompt + 1) / 2;
    w.u = units_of(l, of_prompt);
    double mean = clients / w.iterations;
    int top =
        (int)fmin(STATES - 1, fmin(of_prompt * all, 3 * of_prompt * (mean + 4 * sqrt(mean) + 2)));
    double *law = mem_grow(NULL, sizeof(*law), STATES);
    w.prompts = mem_grow(NULL, sizeof(*w.prompts), STATES);
    for (;;) {
        w.top = top;
        set_prompts(&w);
        int n = top + 1;
        double *chain = mem_grow(NULL, sizeof(*chain), (size_t)n * (size_t)n), tail = 0;
        fill_chain(&w, chain, n);
        solve_chain(chain, n, law);
        mem_free(chain);
        for (int b = n - 1 - n / 8; b < n; b++)
            tail += law[b];
        out = means_of(&w, law, n);
        if (tail < 1e-3 || top >= STATES - 1 || top >= of_prompt * all)
            break;
        top = (int)fmin(STATES - 1, fmin(of_prompt * all, 2 * top));
    }
    mem_free(law);
    mem_free(w.prompts);
    return out;
}

/* ---- equal lengths ---- */

/* Groups of sequences that began in one step; they end in one step and are replaced by one. */
struct serve_groups {
    double time, n; /* of all of them, steps */
    double first;   /* to a first token, mean */
    double steps;   /* with prompts, of a round */
};

/* A prompt takes several steps, the next one fills the last. */
static struct serve_groups single_groups(const struct serve_load *l, double clients, double room)
{
    double s = l->prompt / room, full = step_of(l, clients - 1, room), at = 0, sum = 0;

    if (clients > 1)
        return (struct serve_groups){s * full * clients, clients, ceil(s) * full, s * clients};
    while (at < l->prompt) {
        double part = fmin(room, l->prompt - at);
        sum += l->step(l->ctx, 0, 0, part, part * (l->cached + at + (part + 1) / 2));
        at += part;
    }
    return (struct serve_groups){sum, 1, sum, s};
}

static struct serve_groups even_groups(const struct serve_load *l, double clients)
{
    struct serve_groups out = {0};
    double size = 1, left = clients;

    while (size < clients && (size + 1) * l->prompt <= fmax(1, l->budget - (clients - size - 1)))
        size++;
    for (; left > 0; left -= fmin(size, left)) {
        double k = fmin(size, left), t = step_of(l, clients - k, k * l->prompt);
        out.time += t;
        out.first += k * t / clients;
        out.n++;
    }
    out.steps = out.n;
    return out;
}

static struct serve_state by_groups(const struct serve_load *l, double clients)
{
    double room = fmax(1, l->budget - (clients - 1)), decodes = iterations(l);
    struct serve_groups g =
        l->prompt > room ? single_groups(l, clients, room) : even_groups(l, clients);
    double others = (g.n - 1) / g.n; /* of the steps with prompts, which a sequence decodes in */

    if (g.steps * others >= decodes && clients > 1) {
        struct serve_load free = *l; /* no step without prompts: groups cannot stay apart */
        free.is_equal = false;
        free.vary_prompt = free.vary_output = 0;
        return serve_closed(&free, clients);
    }
    double plain = fmax(0, decodes - g.steps * others) * step_of(l, clients, 0);
    double token = (g.time * others + plain) / decodes;
    return (struct serve_state){.rate = clients / (g.time + plain),
                                .first = g.first,
                                .token = token / l->each,
                                .decoding = clients * decodes / (decodes + 1),
                                .left = token / 2};
}

struct serve_state serve_closed(const struct serve_load *l, double clients)
{
    double most = saturation(l);

    if (iterations(l) <= 0)
        return only_prompts(l, clients);
    if (l->is_equal || clients <= 1)
        return by_groups(l, clients);
    if (clients > 1.15 * most + 3 * sqrt(most) + 2)
        return saturated(l, clients);
    return by_chain(l, clients);
}

/* ---- burst ---- */

struct serve_state serve_burst(const struct serve_load *l, double clients, double total,
                               double slots)
{
    double inside = fmin(clients, slots), done = 0, n = 0, t = 0, sum = 0;
    struct serve_state out = serve_closed(l, inside);

    if (clients > slots)
        out.first += (clients - slots) / out.rate;
    /* The first prompts: full budgets, and what is done begins to decode. */
    while (done < inside - 1e-9) {
        double room = fmax(1, fmin(l->budget - n, (inside - done) * l->prompt));
        double part = fmin(room / l->prompt, inside - done);
        t += step_of(l, n, room);
        sum += part * t;
        done += part;
        n = fmin(done, inside);
    }
    double burst = sum / inside, late = fmax(0, clients - inside);
    double later = fmax(0, total - clients);
    out.first = (inside * burst + (late + later) * out.first) / fmax(total, clients);
    return out;
}

/* ---- open ---- */

enum { GRID = 24, MANY_INSIDE = 6000 };

/* Closed states at numbers of sequences a step apart, and between them. */
struct grid {
    double at[GRID];
    struct serve_state state[GRID];
    int n;
};

static void grid_fill(struct grid *g, const struct serve_load *l, double slots)
{
    static const double steps[] = {1,  2,  3,  4,   6,   8,   12,  16,  24,  32,
                                   48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};

    g->n = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && steps[i] < slots; i++)
        g->at[g->n++] = steps[i];
    g->at[g->n++] = slots;
    for (int i = 0; i < g->n; i++)
        g->state[i] = serve_closed(l, g->at[i]);
}

static struct serve_state grid_at(const struct grid *g, double k)
{
    int i = 1;

    if (g->n == 1 || k <= g->at[0])
        return g->state[0];
    while (i < g->n - 1 && k > g->at[i])
        i++;
    const struct serve_state *a = &g->state[i - 1], *b = &g->state[i];
    double u = fmin(1, (k - g->at[i - 1]) / (g->at[i] - g->at[i - 1]));
    return (struct serve_state){.rate = a->rate + u * (b->rate - a->rate),
                                .first = a->first + u * (b->first - a->first),
                                .token = a->token + u * (b->token - a->token),
                                .left = a->left + u * (b->left - a->left)};
}

static double best_rate(const struct grid *g)
{
    double best = 0;

    for (int i = 0; i < g->n; i++)
        best = fmax(best, g->state[i].rate);
    return best;
}

/* Sums over the law of how many requests are inside. */
struct inside {
    double wait, queue, own, decoding, token, left;
};

static void inside_add(struct inside *s, const struct serve_load *l, const struct serve_state *c,
                       double k, double slots, double share)
{
    double in = fmin(k, slots), n = fmax(0, in - c->rate * c->first);
    double room = fmax(1, l->budget - n);
    double own = fmin(c->first, step_of(l, n, fmin(l->prompt, room)) * fmax(1, l->prompt / room));

    s->wait += share * c->rate * (c->first - own);
    s->queue += share * fmax(0, k - slots);
    s->own += share * c->rate * own;
    s->decoding += share * n;
    s->token += share * n * c->token;
    s->left += share * c->left;
}

/* The time of a prompt varies more than its length: attention grows with the square. */
static double prompt_time_vary(const struct serve_load *l)
{
    return 1.4 * l->vary_prompt;
}

/* Slots are held for nearly equal times: M/G/c by what Cosmetatos found for M/D/c. */
static double slot_factor(double slots, double load, double vary)
{
    double more = (1 - load) * (slots - 1) * (sqrt(4 + 5 * slots) - 2) / (16 * load * slots);

    return fmin(1, 0.5 * (1 + more) * (1 + vary * vary));
}

bool serve_open(const struct serve_load *l, double rate, double slots, struct serve_state *out)
{
    struct grid g;
    struct inside s = {0};
    double *law = mem_grow(NULL, sizeof(*law), MANY_INSIDE), sum = 1, largest = 1;
    int n = 1;

    grid_fill(&g, l, slots);
    double most = best_rate(&g);
    if (rate >= 0.98 * most) {
        mem_free(law);
        return false;
    }
    law[0] = 1;
    while (n < MANY_INSIDE && (n < 4 || law[n - 1] > 1e-9 * largest)) {
        law[n] = law[n - 1] * rate / grid_at(&g, fmin(n, slots)).rate;
        largest = fmax(largest, law[n]);
        sum += law[n++];
    }
    for (int k = 1; k < n; k++) {
        struct serve_state c = grid_at(&g, fmin(k, slots));
        inside_add(&s, l, &c, k, slots, law[k] / sum);
    }
    mem_free(law);
    /* Prompts are served one after the other: a queue with random arrivals of its own, which the
     * closed law does not see, as its arrivals follow the departures. The longer wait counts. */
    double room = fmax(1, l->budget - s.decoding);
    double service = l->prompt / room * step_of(l, s.decoding, room);
    double load = fmin(0.99, rate * service);
    double vary = prompt_time_vary(l);
    double line = load * service * (1 + vary * vary) / (2 * (1 - load));
    double held = slot_factor(slots, fmin(0.999, rate / most), l->vary_prompt);
    *out = (struct serve_state){.rate = rate,
                                .first = s.queue * held / rate + fmax(s.wait / rate, line) +
                                         s.own / rate + s.left,
                                .token = s.decoding > 0 ? s.token / s.decoding : 0,
                                .decoding = s.decoding,
                                .left = s.left};
    return true;
}

/* ---- prompts and decodes apart ---- */

/* The chance that all of c servers are taken. */
static double erlang(double c, double offered)
{
    double b = 1;

    if (offered >= c)
        return 1;
    for (double k = 1; k <= c; k++)
        b = offered * b / (k + offered * b);
    return b / (1 - offered / c * (1 - b));
}

static double prefill_time(const struct serve_load *l)
{
    return l->step(l->ctx, 0, 0, l->prompt, l->prompt * serve_pairs(l));
}

double serve_prefill_rate(const struct serve_load *l)
{
    return 1 / prefill_time(l);
}

double serve_decode_rate(const struct serve_load *l, double slots)
{
    double steps = iterations(l);

    return steps > 0 ? slots / (steps * step_of(l, slots, 0)) : INFINITY;
}

bool serve_disaggregated(const struct serve_split *s, double rate, struct serve_state *out)
{
    const struct serve_load *p = s->prefill, *d = s->decode;
    double t = prefill_time(p), offered = rate * t, n = 0, step = 0;
    double own = rate / s->decodes, steps = iterations(d);

    if (offered >= 0.98 * s->prefills)
        return false;
    double vary = prompt_time_vary(p);
    double wait = erlang(s->prefills, offered) / (s->prefills / t - rate) * (1 + vary * vary) / 2;
    for (int round = 0; round < 200; round++) {
        step = step_of(d, 1 + n, 0);
        n = 0.5 * n + 0.5 * fmin(own * steps * step, 4 * s->slots);
    }
    if (1 + n > s->slots)
        return false;
    /* The second token waits for the step in flight. */
    double late = (1 - exp(-n)) * step / 2;
    *out = (struct serve_state){.rate = rate,
                                .first = wait + t + s->transfer,
                                .token = steps > 0 ? (step * steps + late) / steps / d->each : 0,
                                .decoding = n,
                                .left = step / 2};
    return true;
}

bool serve_ratio(double prefill_rate, int prefill_cards, double decode_rate, int decode_cards,
                 int cards, int *prefills, int *decodes)
{
    double best = -1;
    int fewest = 0;

    for (int i = 1; i * prefill_cards <= cards; i++)
        for (int j = 1; i * prefill_cards + j * decode_cards <= cards; j++) {
            double rate = fmin(i * prefill_rate, j * decode_rate);
            int used = i * prefill_cards + j * decode_cards;
            if (rate > best * (1 + 1e-12) || (rate >= best * (1 - 1e-12) && used < fewest)) {
                best = rate;
                fewest = used;
                *prefills = i;
                *decodes = j;
            }
        }
    return best > 0;
}
