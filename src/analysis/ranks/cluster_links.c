/*
 * cluster_links: transfers of one kind and size compared over communicators of one role.
 */
#include "analysis/ranks/cluster_links.h"

#include <math.h>
#include <stdlib.h>

#include "base/tables/hash.h"

enum { LIKE = 3 };                     /* communicators that make a median */
static const double slow_least = 1.25; /* against the median */
static const double pair_least = 1.5;  /* of the matrices' bandwidths */
static const double outliers = 0.25;   /* more than this share are no outliers */

/* One transfer, the part of a collective after all have come. */
struct transfer {
    uint64_t key; /* of what is comparable: kind, bytes, role and size of the communicator */
    uint32_t group;
    double time;
};

ORDER_BY(by_key, struct transfer,
         ORDER(x->key, y->key) ?: ORDER(x->group, y->group) ?: ORDER(x->time, y->time));

static size_t list_transfers(const struct cluster_model *m, struct transfer *out)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct cluster_node *node = &m->nodes[i];
        struct cluster_group *g = &m->groups[node->group];
        bool is_known = true;
        for (uint32_t k = 0; k < node->n; k++)
            is_known = is_known && m->clocks[m->members[node->first + k].rank].is_known;
        if (node->is_lone || !is_known)
            continue;
        g->bytes += (double)node->bytes;
        g->transit += node->end - node->last;
        if (!node->is_whole)
            continue;
        uint64_t key =
            hash_stable_mix(hash_stable_mix((uint64_t)node->kind + 1, (uint64_t)node->bytes),
                            hash_stable_mix((uint64_t)g->role + 1, g->n * 2 + g->is_pair));
        out[n++] = (struct transfer){key, node->group, node->end - node->last};
    }
    return n;
}

/* The median of a communicator's transfers of one key; and how it compares. */
struct part {
    uint32_t group;
    double time, ratio;
    size_t n;
};

ORDER_BY(by_group, struct part, ORDER(x->group, y->group) ?: ORDER(x->ratio, y->ratio));

/* Ratios of the communicators that share a key; gives how many parts were added. */
static size_t compare_key(const struct transfer *list, size_t n, struct part *out, double *room)
{
    size_t parts = 0;

    for (size_t i = 0; i < n;) {
        size_t k = i;
        while (k < n && list[k].group == list[i].group)
            k++;
        out[parts] = (struct part){.group = list[i].group, .n = k - i};
        out[parts].time = list[i + (k - i) / 2].time;
        room[parts] = out[parts].time;
        parts++;
        i = k;
    }
    double usual = parts >= LIKE ? cluster_median(room, parts) : 0;
    for (size_t i = 0; i < parts; i++)
        out[i].ratio = usual > 0 ? out[i].time / usual : 0;
    return usual > 0 ? parts : 0;
}

/* The median ratio of each communicator over what it transfers, by number of calls. */
static void set_slow(struct cluster_model *m, struct part *parts, size_t n)
{
    qsort(parts, n, sizeof(*parts), by_group);
    for (size_t i = 0; i < n;) {
        size_t k = i, all = 0, below = 0, at;
        while (k < n && parts[k].group == parts[i].group)
            all += parts[k++].n;
        for (at = i; at + 1 < k && (below + parts[at].n) * 2 < all; at++)
            below += parts[at].n;
        m->groups[parts[i].group].slow = parts[at].ratio;
        i = k;
    }
}

static void compare_groups(struct cluster_model *m)
{
    struct transfer *list = ARENA_ARRAY(m->arena, struct transfer, m->n_nodes);
    struct part *parts = ARENA_ARRAY(m->arena, struct part, m->n_nodes);
    double *room = ARENA_ARRAY(m->arena, double, m->n_nodes + 1);
    size_t n = list_transfers(m, list), n_parts = 0;

    qsort(list, n, sizeof(*list), by_key);
    for (size_t i = 0; i < n;) {
        size_t k = i;
        while (k < n && list[k].key == list[i].key)
            k++;
        n_parts += compare_key(list + i, k - i, parts + n_parts, room);
        i = k;
    }
    set_slow(m, parts, n_parts);
}

/* ---- outliers ---- */

static bool is_outlier(const struct cluster_model *m, const struct cluster_group *g, double *room,
                       struct cluster_links *out)
{
    size_t like = 0, slow = 0;

    if (g->slow < slow_least)
        return false;
    for (size_t i = 0; i < m->n_groups; i++) { /* of its role and size, how far they are from 1 */
        const struct cluster_group *o = &m->groups[i];
        if (o->slow <= 0 || o->role != g->role || o->n != g->n)
            continue;
        room[like++] = fabs(o->slow - 1);
        slow += o->slow >= slow_least;
    }
    if ((double)slow > outliers * (double)like && slow > 1) {
        out->apart++;
        return false;
    }
    return g->slow - 1 > 6 * cluster_median(room, like);
}

/* ---- which link ---- */

/* Whether two ranks are neighbours in the ring of a communicator. */
static bool has_link(const struct cluster_group *g, int64_t a, int64_t b)
{
    for (size_t i = 0; i < g->n; i++) {
        size_t next = (i + 1) % g->n;
        if ((g->ranks[i] == a && g->ranks[next] == b) || (g->ranks[i] == b && g->ranks[next] == a))
            return true;
    }
    return false;
}

static const struct cluster_pair *slow_pair_in(const struct cluster_links *out,
                                               const struct cluster_group *g)
{
    const struct cluster_pair *worst = NULL;

    for (size_t i = 0; i < out->n_pairs; i++)
        if (out->pairs[i].slow >= pair_least && has_link(g, out->pairs[i].from, out->pairs[i].to) &&
            (worst == NULL || out->pairs[i].slow > worst->slow))
            worst = &out->pairs[i];
    return worst;
}

/* Links of a slow communicator that no other one clears: in each of its like that has the link,
 * transfers are slow too. */
static size_t narrow(const struct cluster_model *m, const struct cluster_group *g, int64_t *from,
                     int64_t *to)
{
    size_t found = 0, shown = 0;

    for (size_t i = 0; i < g->n && (g->n > 2 || i == 0); i++) {
        int64_t a = g->ranks[i], b = g->ranks[(i + 1) % g->n];
        bool is_cleared = false;
        size_t others = 0;
        for (size_t k = 0; k < m->n_groups; k++)
            if (m->groups[k].slow > 0 && has_link(&m->groups[k], a, b)) {
                is_cleared = is_cleared || m->groups[k].slow < 1 + (slow_least - 1) / 2;
                others += &m->groups[k] != g;
            }
        if (is_cleared)
            continue;
        found++;
        if (found == 1 || others > shown) {
            *from = a;
            *to = b;
            shown = others;
        }
    }
    return found;
}

static void add_slow(struct cluster_model *m, struct cluster_links *out, uint32_t group)
{
    const struct cluster_group *g = &m->groups[group];
    const struct cluster_pair *pair = slow_pair_in(out, g);
    struct slow_link s = {.from = -1, .to = -1, .group = group, .slow = g->slow, .links = 1};

    if (pair != NULL) {
        s.from = pair->from;
        s.to = pair->to;
        s.is_by_matrix = true;
    } else if (g->n == 2) {
        s.from = g->ranks[0];
        s.to = g->ranks[1];
    } else {
        s.links = narrow(m, g, &s.from, &s.to);
        if (s.links != 1)
            s.from = s.to = -1;
    }
    for (size_t i = 0; i < out->n && s.from >= 0; i++) { /* another view of the same link */
        struct slow_link *o = &out->slow[i];
        if ((o->from == s.from && o->to == s.to) || (o->from == s.to && o->to == s.from)) {
            o->in_group[group] = true;
            return;
        }
    }
    s.in_group = ARENA_ARRAY(m->arena, bool, m->n_groups);
    s.in_group[group] = true;
    out->slow[out->n++] = s;
}

/* A communicator whose slow link is not known is explained by one that is, if it has that. */
static void join_unknown(const struct cluster_model *m, struct cluster_links *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < out->n; i++) {
        struct slow_link *s = &out->slow[i], *by = NULL;
        for (size_t k = 0; k < out->n && s->from < 0; k++)
            if (out->slow[k].from >= 0 &&
                has_link(&m->groups[s->group], out->slow[k].from, out->slow[k].to))
                by = &out->slow[k];
        if (by != NULL)
            by->in_group[s->group] = true;
    }
    for (size_t i = 0; i < out->n; i++) {
        bool is_explained = false;
        for (size_t k = 0; k < out->n && out->slow[i].from < 0; k++)
            is_explained = is_explained ||
                           (out->slow[k].from >= 0 && out->slow[k].in_group[out->slow[i].group]);
        if (!is_explained)
            out->slow[kept++] = out->slow[i];
    }
    out->n = kept;
}

/* ---- matrices ---- */

ORDER_BY(by_pair, struct cluster_pair,
         ORDER(x->from, y->from) ?: ORDER(x->to, y->to)
                                 ?: str_compare(x->transport, y->transport));

/* Each pair once: both of its ranks may have it. */
static void gather_pairs(const struct cluster_model *m, struct cluster_links *out)
{
    size_t all = 0, kept = 0;

    for (size_t r = 0; r < m->n; r++)
        all += m->ranks[r].n_links;
    out->pairs = ARENA_ARRAY(m->arena, struct cluster_pair, all);
    for (size_t r = 0; r < m->n; r++)
        for (size_t i = 0; i < m->ranks[r].n_links; i++) {
            const struct summary_link *link = &m->ranks[r].links[i];
            out->pairs[out->n_pairs++] = (struct cluster_pair){.from = link->from,
                                                               .to = link->to,
                                                               .megabytes = link->megabytes,
                                                               .ms = link->ms,
                                                               .transport = link->transport};
        }
    qsort(out->pairs, all, sizeof(*out->pairs), by_pair);
    for (size_t i = 0; i < all; i++) {
        if (kept > 0 && by_pair(&out->pairs[kept - 1], &out->pairs[i]) == 0) {
            out->pairs[kept - 1].megabytes += out->pairs[i].megabytes;
            out->pairs[kept - 1].ms += out->pairs[i].ms;
        } else {
            out->pairs[kept++] = out->pairs[i];
        }
    }
    out->n_pairs = kept;
}

static void rate_pairs(const struct cluster_model *m, struct cluster_links *out)
{
    double *room = ARENA_ARRAY(m->arena, double, out->n_pairs + 1);

    for (size_t i = 0; i < out->n_pairs; i++)
        out->pairs[i].gbps = out->pairs[i].megabytes / out->pairs[i].ms;
    for (size_t i = 0; i < out->n_pairs; i++) {
        size_t n = 0;
        if (out->pairs[i].slow > 0)
            continue;
        for (size_t k = 0; k < out->n_pairs; k++)
            if (str_equal(out->pairs[k].transport, out->pairs[i].transport))
                room[n++] = out->pairs[k].gbps;
        double usual = n >= LIKE ? cluster_median(room, n) : 0;
        for (size_t k = i; k < out->n_pairs; k++)
            if (str_equal(out->pairs[k].transport, out->pairs[i].transport))
                out->pairs[k].slow = usual > 0 ? usual / out->pairs[k].gbps : 1;
    }
}

struct cluster_links *cluster_links_find(struct cluster_model *m)
{
    struct cluster_links *out = ARENA_NEW(m->arena, struct cluster_links);
    double *room = ARENA_ARRAY(m->arena, double, m->n_groups + 1);

    compare_groups(m);
    gather_pairs(m, out);
    rate_pairs(m, out);
    out->slow = ARENA_ARRAY(m->arena, struct slow_link, m->n_groups);
    for (uint32_t g = 0; g < m->n_groups; g++) {
        out->compared += m->groups[g].slow > 0;
        if (is_outlier(m, &m->groups[g], room, out))
            add_slow(m, out, g);
    }
    join_unknown(m, out);
    return out;
}
