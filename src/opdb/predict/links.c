/*
 * Collectives over links. See links.h.
 */
#include "opdb/predict/links.h"

#include <math.h>
#include <stdlib.h>

#include "base/files/mapfile.h"
#include "base/text/num.h"

struct links links_one(double alpha_us, double gbps)
{
    struct links l = {.tier = {{INT64_MAX, alpha_us, gbps}}, .n = gbps > 0 ? 1 : 0};

    return l;
}

ORDER_BY(by_cards, struct link_tier, ORDER(x->cards, y->cards));

enum { SYSTEM, TIER, CARDS, ALPHA, SPEED, COLUMNS };

static bool read_tier(struct str line, struct str system, struct links *out)
{
    struct str cell[COLUMNS];
    struct link_tier t;

    for (size_t i = 0; i < COLUMNS; i++)
        if (!str_split(&line, ',', &cell[i]))
            return false;
    if (system.n > 0 && !str_equal(str_trim(cell[SYSTEM]), system))
        return true;
    if (!num_i64(cell[CARDS], &t.cards) || !num_f64(cell[ALPHA], &t.alpha_us) ||
        !num_f64(cell[SPEED], &t.gbps) || t.cards < 2 || !(t.alpha_us >= 0) || !(t.gbps > 0) ||
        out->n == LINK_TIERS)
        return false;
    out->tier[out->n++] = t;
    return true;
}

enum status links_read(const char *path, struct str system, struct links *out, struct diag *d)
{
    struct mapfile map;
    struct str rest, line;
    uint64_t at = 0;
    enum status st = ST_OK;

    *out = (struct links){.n = 0};
    TRY(mapfile_open(&map, path, d));
    rest = map.text;
    while (st == ST_OK && str_split(&rest, '\n', &line)) {
        line = str_trim(line);
        if (at++ == 0 || line.n == 0)
            continue;
        if (!read_tier(line, system, out))
            st = diag_fail(d, ST_FORMAT, "plan.bad-links", (struct where){.path = path, .line = at},
                           "not \"system,tier,cards,alpha_us,GB/s,…\", or more than %d tiers",
                           LINK_TIERS);
    }
    mapfile_close(&map);
    qsort(out->tier, out->n, sizeof(*out->tier), by_cards);
    return st;
}

/* Within one tier: rounds of messages around a ring, or all at once. */
static double ring_us(const struct link_tier *t, double rounds, double bytes)
{
    return rounds * t->alpha_us + bytes / (t->gbps * 1e3);
}

static double reduce_us(const struct link_tier *t, double n, double bytes)
{
    return fmin(ring_us(t, 2 * (n - 1), 2 * (n - 1) / n * bytes), ring_us(t, 1, (n - 1) * bytes));
}

/* What a card has goes to all others, or they bring what it keeps. */
static double gather_us(const struct link_tier *t, double n, double bytes)
{
    return fmin(ring_us(t, n - 1, (n - 1) * bytes), ring_us(t, 1, (n - 1) * bytes));
}

/* A sum over two tiers: each node adds up, shares are added up across, each node gathers. */
static double reduce_across(const struct link_tier *inner, const struct link_tier *outer, double n,
                            double bytes)
{
    double in = (double)inner->cards, nodes = ceil(n / in);
    double inside = 2 * ring_us(inner, in - 1, (in - 1) / in * bytes);

    return fmin(inside + reduce_us(outer, nodes, bytes / in), reduce_us(outer, n, bytes));
}

static double gather_across(const struct link_tier *inner, const struct link_tier *outer, double n,
                            double bytes)
{
    double in = (double)inner->cards, nodes = ceil(n / in);

    return gather_us(outer, nodes, bytes) + gather_us(inner, in, bytes * nodes);
}

/* An exchange: the part for cards of the node and the part for others go side by side. */
static double exchange_across(const struct link_tier *inner, const struct link_tier *outer,
                              double n, double bytes)
{
    double in = (double)inner->cards, near = (in - 1) / (n - 1);

    return fmax(ring_us(inner, 1, near * bytes), ring_us(outer, 1, (1 - near) * bytes));
}

double links_us(const struct links *l, enum model_comm kind, int64_t devices, double sent)
{
    double n = (double)devices;
    size_t i = 0;

    while (i < l->n && l->tier[i].cards < devices)
        i++;
    if (i == l->n)
        return NAN;
    const struct link_tier *t = &l->tier[i], *inner = i > 0 ? &l->tier[i - 1] : NULL;
    switch (kind) {
    case MODEL_ALL_REDUCE:
        return inner != NULL ? reduce_across(inner, t, n, sent) : reduce_us(t, n, sent);
    case MODEL_ALL_GATHER:
    case MODEL_REDUCE_SCATTER:
        return inner != NULL ? gather_across(inner, t, n, sent) : gather_us(t, n, sent);
    case MODEL_DISPATCH:
    case MODEL_COMBINE:
        return inner != NULL ? exchange_across(inner, t, n, sent) : ring_us(t, 1, sent);
    case MODEL_SEND:
        break;
    }
    return ring_us(t, 1, sent);
}
