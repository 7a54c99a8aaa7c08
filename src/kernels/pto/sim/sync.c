/*
 * Flags and barriers, found by looking backwards from each instruction.
 */
#include "kernels/pto/sim/program.h"

#include <stdlib.h>
#include <string.h>

/* A set and its wait: `from` finishes before `to` starts. */
struct pair {
    uint8_t a, b;
    uint32_t from, to; /* nodes side by side: the set hangs after, the wait before */
    uint32_t loop;     /* that carries it, or PTO_NONE */
    uint32_t site;     /* that waits */
    int64_t begin, end;
    int32_t event; /* -1: a barrier of all pipes instead */
};

struct sync_mark {
    uint32_t pair; /* PTO_NONE: a barrier */
    uint8_t pipe;  /* of a barrier */
    bool is_wait;
};

struct inserter {
    struct pto_program *p;
    VEC_OF(struct pair) pairs;
    struct {
        VEC_OF(struct sync_mark) at;
    } * before, *after; /* by node */
    uint32_t pipes;     /* that occur */
    bool no_chains;     /* gathers: only direct pairs prove an order */
    uint64_t work, max_work;
};

/* What is known while looking backwards from one instruction. */
struct search {
    uint32_t node, site;
    uint8_t pipe;     /* the one that would wait */
    uint32_t known;   /* pipes: everything before this point is in order with the instruction */
    uint32_t created; /* pipes that got a pair or barrier, which hold wherever the search goes on */
    uint32_t barriers;       /* those that got a barrier */
    uint32_t carried;        /* loop whose back edge was taken, or PTO_NONE */
    VEC_OF(uint32_t) closed; /* pairs whose wait was passed: their set makes its pipe known */
    VEC_OF(uint32_t) made;   /* pairs of this search; they are closed as well */
};

static uint8_t first_pipe(const struct pto_site *s)
{
    return s->phases[0];
}

static uint8_t last_pipe(const struct pto_site *s)
{
    return s->phases[s->n_phases - 1];
}

/* Two loads of one queue land in order. */
static bool is_exempt(const struct pto_site *f, const struct pto_site *n,
                      const struct pto_access *a, const struct pto_access *b)
{
    return f->code == PTO_TLOAD && n->code == PTO_TLOAD && a->is_write && b->is_write &&
           last_pipe(f) == PTO_PIPE_MTE2 && first_pipe(n) == PTO_PIPE_MTE2;
}

enum hazard { HAZARD_NONE, HAZARD_STREAM, HAZARD_REAL };

/* HAZARD_STREAM: the later one reads exactly what the earlier one wrote and nothing else meets, so
 * that the vector queue may stream through when the earlier one is long enough. */
static enum hazard hazard_between(struct inserter *in, const struct pto_site *f,
                                  const struct pto_site *n)
{
    const struct pto_access *fa = in->p->accesses.at + f->access_first;
    const struct pto_access *na = in->p->accesses.at + n->access_first;
    enum hazard worst = HAZARD_NONE;

    for (uint32_t i = 0; i < n->access_count; i++) {
        for (uint32_t j = 0; j < f->access_count; j++) {
            in->work++;
            const struct pto_access *a = &fa[j], *b = &na[i];
            bool across = last_pipe(f) != first_pipe(n);
            if (!(a->is_write || b->is_write || (a->space == PTO_ACC && across)) ||
                !pto_accesses_meet(a, b) || is_exempt(f, n, a, b))
                continue;
            if (in->p->ignore_reuse && !(a->is_write && !b->is_write))
                continue;
            bool is_chain = a->is_write && !b->is_write && !a->is_scratch && !b->is_scratch &&
                            a->is_known && b->is_known && a->lo == b->lo && a->hi == b->hi;
            if (!is_chain)
                return HAZARD_REAL;
            worst = HAZARD_STREAM;
        }
    }
    return worst;
}

static uint32_t depth_of(const struct pto_program *p, uint32_t node)
{
    uint32_t depth = 0;

    for (; p->nodes.at[node].parent != PTO_NONE; node = p->nodes.at[node].parent)
        depth++;
    return depth;
}

/* Raises both nodes to children of the same parent. */
static void side_by_side(const struct pto_program *p, uint32_t *a, uint32_t *b)
{
    uint32_t da = depth_of(p, *a), db = depth_of(p, *b);

    for (; da > db; da--)
        *a = p->nodes.at[*a].parent;
    for (; db > da; db--)
        *b = p->nodes.at[*b].parent;
    while (p->nodes.at[*a].parent != p->nodes.at[*b].parent) {
        *a = p->nodes.at[*a].parent;
        *b = p->nodes.at[*b].parent;
    }
}

static uint32_t child_of(const struct pto_program *p, uint32_t node, uint32_t parent)
{
    while (p->nodes.at[node].parent != parent)
        node = p->nodes.at[node].parent;
    return node;
}

/* A pair that a loop carries sets its flag before the loop and waits for it once after it: the
 * first round finds a set flag, and the set of the last round is used up. */
static void add_pair(struct inserter *in, struct search *l, uint32_t from_node, uint8_t a)
{
    struct pto_program *p = in->p;
    struct pair pair = {.a = a,
                        .b = l->pipe,
                        .from = from_node,
                        .to = l->node,
                        .loop = l->carried,
                        .site = l->site};
    uint32_t number = (uint32_t)in->pairs.n;

    if (l->carried != PTO_NONE) {
        pair.from = child_of(p, from_node, l->carried);
        pair.to = child_of(p, l->node, l->carried);
        vec_push(&in->before[l->carried].at, ((struct sync_mark){number, 0, false}));
        vec_push(&in->after[l->carried].at, ((struct sync_mark){number, 0, true}));
    } else {
        side_by_side(p, &pair.from, &pair.to);
    }
    vec_push(&in->after[pair.from].at, ((struct sync_mark){number, 0, false}));
    vec_push(&in->before[pair.to].at, ((struct sync_mark){number, 0, true}));
    vec_push(&in->pairs, pair);
    vec_push(&l->made, number);
    l->known |= 1U << a;
    l->created |= 1U << a;
}

static void search_site(struct inserter *in, struct search *l, uint32_t node)
{
    const struct pto_site *f = &in->p->sites.at[in->p->nodes.at[node].site];
    const struct pto_site *n = &in->p->sites.at[l->site];

    uint8_t a = last_pipe(f); /* earlier phases are over when the last one is */

    if ((l->known >> a & 1) != 0 || (a == PTO_PIPE_S && l->pipe == PTO_PIPE_S))
        return;
    enum hazard hazard = hazard_between(in, f, n);
    if (hazard == HAZARD_NONE)
        return;
    /* The vector queue streams from a long producer into its consumer. */
    bool streams = a == PTO_PIPE_V && hazard == HAZARD_STREAM && l->carried == PTO_NONE &&
                   f->is_known_repeat && f->repeat >= 16;
    if (a != l->pipe) {
        add_pair(in, l, node, a);
    } else if (a == PTO_PIPE_V && in->p->arch == PTO_A5) {
        l->known |= 1U << a; /* the hardware keeps the order */
    } else if (!streams) {
        vec_push(&in->before[l->node].at, ((struct sync_mark){PTO_NONE, a, true}));
        l->known |= 1U << a;
        l->created |= 1U << a;
        l->barriers |= 1U << a;
    }
}

static bool is_in(const uint32_t *list, size_t n, uint32_t pair)
{
    while (n > 0 && list[n - 1] != pair)
        n--;
    return n > 0;
}

static void pass_mark(const struct inserter *in, struct search *l, const struct sync_mark *m)
{
    if (m->pair == PTO_NONE) {
        if (m->pipe == PTO_PIPE_ALL)
            l->known = in->pipes;
        else if (m->pipe == l->pipe || (!in->no_chains && (l->known >> m->pipe & 1) != 0))
            l->known |= 1U << m->pipe;
        return;
    }
    const struct pair *pair = &in->pairs.at[m->pair];
    if (m->is_wait) {
        if (pair->b == l->pipe || (!in->no_chains && (l->known >> pair->b & 1) != 0))
            vec_push(&l->closed, m->pair);
        return;
    }
    if (is_in(l->closed.at, l->closed.n, m->pair) || is_in(l->made.at, l->made.n, m->pair))
        l->known |= 1U << pair->a;
}

/* What hangs at one place, from the back. Sets are issued in front of waits there. */
static void pass_marks(struct inserter *in, struct search *l, const struct sync_mark *marks,
                       size_t n)
{
    for (int waits = 1; waits >= 0; waits--) {
        for (size_t i = n; i-- > 0;) {
            if (marks[i].is_wait == (waits == 1))
                pass_mark(in, l, &marks[i]);
        }
    }
}

static bool is_done(const struct inserter *in, const struct search *l)
{
    return (l->known & in->pipes) == in->pipes || in->work > in->max_work;
}

static void search_node(struct inserter *in, struct search *l, uint32_t node);

static void search_children(struct inserter *in, struct search *l, uint32_t parent)
{
    for (uint32_t c = in->p->nodes.at[parent].last; c != PTO_NONE && !is_done(in, l);
         c = in->p->nodes.at[c].previous)
        search_node(in, l, c);
}

/* Both arms start from what is known behind the branch; in front of it only what both know. */
static void search_if(struct inserter *in, struct search *l, uint32_t node)
{
    uint32_t behind = l->known, both = UINT32_MAX, arms = 0;
    size_t closed = l->closed.n;

    for (uint32_t c = in->p->nodes.at[node].child; c != PTO_NONE; c = in->p->nodes.at[c].next) {
        l->known = behind | l->created;
        search_children(in, l, c);
        l->closed.n = closed;
        both &= l->known;
        arms++;
    }
    if (arms < 2)
        both &= behind;
    l->known = both | behind | l->created;
}

static void search_node(struct inserter *in, struct search *l, uint32_t node)
{
    const struct pto_node *x = &in->p->nodes.at[node];

    in->work++;
    pass_marks(in, l, in->after[node].at.at, in->after[node].at.n);
    if (x->kind == PTO_NODE_SITE) {
        search_site(in, l, node);
    } else if (x->kind == PTO_NODE_IF) {
        search_if(in, l, node);
    } else {
        uint32_t behind = l->known;
        size_t closed = l->closed.n;
        search_children(in, l, node);
        l->known = behind | l->created; /* the loop may not run at all */
        l->closed.n = closed;
    }
    pass_marks(in, l, in->before[node].at.at, in->before[node].at.n);
}

/* What the previous round of a loop did, from its end back to where the instruction stands. */
static void search_round(struct inserter *in, struct search *l, uint32_t loop, uint32_t child)
{
    uint32_t top = l->known, outer = l->carried, created = l->created;
    size_t closed = l->closed.n;

    l->carried = loop;
    for (uint32_t c = in->p->nodes.at[loop].last; c != PTO_NONE && !is_done(in, l);
         c = in->p->nodes.at[c].previous) {
        search_node(in, l, c);
        if (c == child)
            break;
    }
    l->carried = outer;
    /* in front of the loop a pair it carries holds from its first set on, which comes next */
    l->created = created | l->barriers;
    l->known = top | l->created;
    l->closed.n = closed;
}

static void insert_for(struct inserter *in, uint32_t node)
{
    const struct pto_program *p = in->p;
    struct search l = {.node = node, .site = p->nodes.at[node].site, .carried = PTO_NONE};
    const struct pto_site *n = &p->sites.at[l.site];

    l.pipe = first_pipe(n);
    if (l.pipe == PTO_PIPE_S)
        l.known = 1U << PTO_PIPE_S;
    while (node != 0 && !is_done(in, &l)) {
        pass_marks(in, &l, in->before[node].at.at, in->before[node].at.n);
        for (uint32_t c = p->nodes.at[node].previous; c != PTO_NONE && !is_done(in, &l);
             c = p->nodes.at[c].previous)
            search_node(in, &l, c);
        uint32_t parent = p->nodes.at[node].parent;
        if (p->nodes.at[parent].kind == PTO_NODE_LOOP)
            search_round(in, &l, parent, node);
        else if (p->nodes.at[parent].kind == PTO_NODE_ARM && parent != 0)
            parent = p->nodes.at[parent].parent; /* the branch around the arm */
        node = parent;
    }
    vec_free(&l.closed);
    vec_free(&l.made);
}

/* ---- events ---- */

struct position {
    int64_t before, after;
};

static void number_nodes(const struct pto_program *p, uint32_t node, struct position *at,
                         int64_t *next)
{
    at[node].before = (*next)++;
    for (uint32_t c = p->nodes.at[node].child; c != PTO_NONE; c = p->nodes.at[c].next)
        number_nodes(p, c, at, next);
    at[node].after = (*next)++;
}

static int by_begin(const void *x, const void *y)
{
    const struct pair *a = *(struct pair *const *)x, *b = *(struct pair *const *)y;

    return ORDER(a->begin, b->begin) ?: ORDER(a, b);
}

/* First come, first served: an event is free again behind the wait that took it. */
static void give_events(struct inserter *in, const struct position *at)
{
    int64_t busy[PTO_PIPE_COUNT][PTO_PIPE_COUNT][PTO_EVENTS];
    struct pair **order = mem_grow(NULL, sizeof(*order), in->pairs.n + 1);

    memset(busy, 0xff, sizeof(busy)); /* -1: free from the start */
    for (size_t i = 0; i < in->pairs.n; i++) {
        struct pair *x = &in->pairs.at[i];
        x->begin = x->loop != PTO_NONE ? at[x->loop].before : at[x->from].after;
        x->end = x->loop != PTO_NONE ? at[x->loop].after : at[x->to].before;
        order[i] = x;
    }
    qsort(order, in->pairs.n, sizeof(*order), by_begin);
    for (size_t i = 0; i < in->pairs.n; i++) {
        struct pair *x = order[i];
        x->event = -1;
        for (int32_t id = 0; id < PTO_EVENTS && x->event < 0; id++) {
            if (busy[x->a][x->b][id] < x->begin) {
                busy[x->a][x->b][id] = x->end;
                x->event = id;
            }
        }
        if (x->event < 0)
            in->p->n_unfilled++;
    }
    mem_free(order);
}

static uint32_t hang(struct pto_program *p, uint32_t list, struct pto_sync sync)
{
    sync.next = list;
    vec_push(&p->syncs, sync);
    return (uint32_t)(p->syncs.n - 1);
}

/* Lists are built from the back; at one place sets come first, so that no wait delays them. A pair
 * without an event is one barrier of all pipes where it would wait, none where it would drain. */
static uint32_t hang_marks(struct inserter *in, const struct sync_mark *marks, size_t n,
                           uint32_t site, bool is_after)
{
    uint32_t list = PTO_NONE;
    bool has_barrier = false;

    for (int waits = 1; waits >= 0; waits--) {
        for (size_t i = n; i-- > 0;) {
            const struct sync_mark *m = &marks[i];
            if (m->is_wait != (waits == 1))
                continue;
            if (m->pair == PTO_NONE) {
                list = hang(in->p, list,
                            (struct pto_sync){PTO_INSERT_BARRIER, m->pipe, 0, 0, 0, site});
                continue;
            }
            const struct pair *x = &in->pairs.at[m->pair];
            if (x->event >= 0)
                list = hang(in->p, list,
                            (struct pto_sync){m->is_wait ? PTO_INSERT_WAIT : PTO_INSERT_SET, x->a,
                                              x->b, (uint8_t)x->event, 0, x->site});
            else if (m->is_wait && !is_after && !has_barrier) {
                has_barrier = true;
                list = hang(in->p, list,
                            (struct pto_sync){PTO_INSERT_BARRIER, PTO_PIPE_ALL, 0, 0, 0, x->site});
            }
        }
    }
    return list;
}

static bool is_gather(enum pto_opcode code)
{
    return code == PTO_TGATHER || code == PTO_TGATHERB || code == PTO_TSCATTER ||
           code == PTO_MGATHER || code == PTO_MSCATTER;
}

/* All pipes drain before the function ends. */
static void end_with_barrier(struct pto_program *p)
{
    if (p->sites.n > 0)
        p->nodes.at[0].after = hang(p, PTO_NONE,
                                    (struct pto_sync){PTO_INSERT_BARRIER, PTO_PIPE_ALL, 0, 0, 0,
                                                      (uint32_t)(p->sites.n - 1)});
}

void pto_sync_everywhere(struct pto_program *p)
{
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        p->nodes.at[i].before = p->nodes.at[i].after = PTO_NONE;
        if (p->nodes.at[i].kind == PTO_NODE_SITE)
            p->nodes.at[i].before = hang(
                p, PTO_NONE,
                (struct pto_sync){PTO_INSERT_BARRIER, PTO_PIPE_ALL, 0, 0, 0, p->nodes.at[i].site});
    }
    end_with_barrier(p);
}

bool pto_sync_insert(struct pto_program *p, uint64_t max_work)
{
    struct inserter in = {.p = p, .max_work = max_work};
    size_t n = p->nodes.n;

    in.before = mem_grow(NULL, sizeof(*in.before), n);
    in.after = mem_grow(NULL, sizeof(*in.after), n);
    memset(in.before, 0, n * sizeof(*in.before));
    memset(in.after, 0, n * sizeof(*in.after));
    for (size_t i = 0; i < p->sites.n; i++) {
        for (uint8_t k = 0; k < p->sites.at[i].n_phases; k++)
            in.pipes |= 1U << p->sites.at[i].phases[k];
        in.no_chains |= is_gather(p->sites.at[i].code);
    }
    for (uint32_t i = 0; i < n && in.work <= max_work; i++) { /* nodes are in program order */
        if (p->nodes.at[i].kind == PTO_NODE_SITE)
            insert_for(&in, i);
    }
    bool is_complete = in.work <= max_work;
    if (is_complete) {
        struct position *at = mem_grow(NULL, sizeof(*at), n);
        int64_t next = 0;
        number_nodes(p, 0, at, &next);
        give_events(&in, at);
        mem_free(at);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t site = p->nodes.at[i].kind == PTO_NODE_SITE ? p->nodes.at[i].site : PTO_NONE;
            p->nodes.at[i].before =
                hang_marks(&in, in.before[i].at.at, in.before[i].at.n, site, false);
            p->nodes.at[i].after = hang_marks(&in, in.after[i].at.at, in.after[i].at.n, site, true);
        }
        end_with_barrier(p);
    } else {
        pto_sync_everywhere(p);
    }
    for (size_t i = 0; i < n; i++) {
        vec_free(&in.before[i].at);
        vec_free(&in.after[i].at);
    }
    mem_free(in.before);
    mem_free(in.after);
    vec_free(&in.pairs);
    return is_complete;
}
