/*
 * A trace as a graph of instructions, replayed without one resource after the other.
 */
#include "kernels/incore/breakdown.h"

#include <math.h>
#include <stdlib.h>

#define PS_PER_US 1e6
enum { NO_STEP = UINT32_MAX };

/* What a pipe stands for, and how far along the way of the data it is. */
struct pace_pipe {
    struct str name;
    enum limit limit;
    int stage;
};

static const struct pace_pipe *pipe_of(struct str name)
{
    static const struct pace_pipe pipes[] = {
        {S_INIT("MTE2"), LIMIT_READ, 0},     {S_INIT("MTE1"), LIMIT_ON_CHIP, 1},
        {S_INIT("CUBE"), LIMIT_CUBE, 2},     {S_INIT("VECTOR"), LIMIT_VECTOR, 2},
        {S_INIT("FIXPIPE"), LIMIT_WRITE, 3}, {S_INIT("FIXP"), LIMIT_WRITE, 3},
        {S_INIT("MTE3"), LIMIT_WRITE, 3},    {S_INIT("SCALAR"), LIMIT_SCALAR, -1},
    };

    for (size_t i = 0; i < ARRAY_LEN(pipes); i++)
        if (str_equal(pipes[i].name, name))
            return &pipes[i];
    return NULL; /* ranges that the program marked, events, caches: no work */
}

/* One instruction. Times in picoseconds from the first one. */
struct pace_step {
    int64_t at, holds, takes; /* `holds` its pipe, its result is there after `takes` */
    int64_t late;             /* after all it waited for */
    const struct pace_pipe *pipe;
    uint32_t before; /* on its pipe; NO_STEP */
    uint32_t wait;   /* first of its waits, an index of `waits`; NO_STEP */
    uint32_t last;   /* what let it start last; NO_STEP */
    bool is_last_wait;
    int64_t moved; /* in a replay */
};

struct pace_wait {
    uint32_t from, next;
    bool is_reuse;
};

struct pace {
    struct pace_step *steps; /* by begin */
    size_t n;
    VEC_OF(struct pace_wait) waits;
    uint32_t *step_of; /* by instruction */
};

static int64_t to_ps(double us)
{
    return num_i64_of(round(us * PS_PER_US));
}

struct timed {
    double ts;
    uint32_t instr;
};

ORDER_BY(by_begin, struct timed, ORDER(x->ts, y->ts) ?: ORDER(x->instr, y->instr));

/* The instructions that are work, in order; gives the time of all that is in the trace, marks of
 * the program too. */
static int64_t list_steps(struct pace *p, const struct incore_trace *t, struct arena *arena)
{
    struct timed *order = ARENA_ARRAY(arena, struct timed, t->instrs.n + 1);
    double begin = INFINITY, end = -INFINITY;

    p->steps = ARENA_ARRAY(arena, struct pace_step, t->instrs.n + 1);
    p->step_of = ARENA_ARRAY(arena, uint32_t, t->instrs.n + 1);
    for (uint32_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        p->step_of[i] = NO_STEP;
        if (!isfinite(in->ts) || !isfinite(in->dur) || fabs(in->ts) >= 1e12 || in->dur >= 1e12)
            continue;
        begin = fmin(begin, in->ts);
        end = fmax(end, in->ts + in->dur);
        if (pipe_of(incore_value_text(t, t->groups.at[in->group].tid)) != NULL)
            order[p->n++] = (struct timed){in->ts, i};
    }
    if (p->n > 0)
        qsort(order, p->n, sizeof(*order), by_begin);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct incore_instr *in = &t->instrs.at[order[i].instr];
        int64_t takes = in->dur > 0 ? to_ps(in->dur) : 0;
        p->step_of[order[i].instr] = i;
        p->steps[i] = (struct pace_step){
            .at = to_ps(in->ts - order[0].ts),
            .holds = takes,
            .takes = takes,
            .pipe = pipe_of(incore_value_text(t, t->groups.at[in->group].tid)),
            .before = NO_STEP,
            .wait = NO_STEP,
            .last = NO_STEP,
        };
    }
    return end > begin ? to_ps(end - begin) : 0;
}

/* Who comes before whom on a pipe; one that starts before the other is over has left it. */
static void join_pipes(struct pace *p, const struct incore_trace *t,
                       const struct incore_lanes *lanes)
{
    for (size_t g = 0; g < t->groups.n; g++) {
        uint32_t before = NO_STEP;
        for (uint32_t i = 0; i < t->groups.at[g].n; i++) {
            uint32_t at = p->step_of[lanes->order[t->groups.at[g].first + i]];
            if (at == NO_STEP)
                continue;
            if (before != NO_STEP && p->steps[at].at - p->steps[before].at < p->steps[before].holds)
                p->steps[before].holds = p->steps[at].at - p->steps[before].at;
            p->steps[at].before = before;
            before = at;
        }
    }
}

static void join_flags(struct pace *p, const struct incore_arrows *arrows)
{
    for (size_t i = 0; arrows != NULL && i < arrows->list.n; i++) {
        const struct incore_arrow *a = &arrows->list.at[i];
        uint32_t from = p->step_of[a->from], to = p->step_of[a->to];
        if (from == NO_STEP || to == NO_STEP || from >= to ||
            p->steps[from].at + p->steps[from].takes > p->steps[to].at)
            continue; /* it did not wait for the result */
        int a_stage = p->steps[from].pipe->stage, b_stage = p->steps[to].pipe->stage;
        vec_push(&p->waits, ((struct pace_wait){.from = from,
                                                .next = p->steps[to].wait,
                                                .is_reuse = !a->is_intra && b_stage >= 0 &&
                                                            a_stage > b_stage}));
        p->steps[to].wait = (uint32_t)p->waits.n - 1;
    }
}

/* What let each start last, and how late it was after that. */
static void find_last(struct pace *p)
{
    for (size_t i = 0; i < p->n; i++) {
        struct pace_step *s = &p->steps[i];
        int64_t free = 0;
        if (s->before != NO_STEP) {
            free = p->steps[s->before].at + p->steps[s->before].holds;
            s->last = s->before;
        }
        for (uint32_t w = s->wait; w != NO_STEP; w = p->waits.at[w].next) {
            const struct pace_step *from = &p->steps[p->waits.at[w].from];
            if (from->at + from->takes <= free)
                continue;
            free = from->at + from->takes;
            s->last = p->waits.at[w].from;
            s->is_last_wait = true;
        }
        s->late = s->at > free ? s->at - free : 0;
    }
}

/* A step starts when its pipe is free and what it waited for is done, plus as late after that as
 * it was recorded (`late`). Without a limit its pipes hold nothing; without LATENCY a result is
 * there when its pipe is free again, without BUFFERS nobody waits for reuse. */
static int64_t replay(struct pace *p, enum limit without)
{
    int64_t end = 0;

    for (size_t i = 0; i < p->n; i++) {
        struct pace_step *s = &p->steps[i];
        bool is_free = s->pipe->limit == without, is_quick = without == LIMIT_LATENCY;
        int64_t free = 0;
        if (s->before != NO_STEP) {
            const struct pace_step *b = &p->steps[s->before];
            free = b->moved + (b->pipe->limit == without ? 0 : b->holds);
        }
        for (uint32_t w = s->wait; w != NO_STEP; w = p->waits.at[w].next) {
            const struct pace_step *from = &p->steps[p->waits.at[w].from];
            int64_t takes = from->takes - (from->pipe->limit == without ? from->holds : 0);
            if (without == LIMIT_BUFFERS && p->waits.at[w].is_reuse)
                continue;
            if (is_quick)
                takes = from->holds;
            if (from->moved + takes > free)
                free = from->moved + takes;
        }
        s->moved = free + (is_quick ? 0 : s->late);
        int64_t done = s->moved + (is_quick ? s->holds : s->takes - (is_free ? s->holds : 0));
        end = done > end ? done : end;
    }
    return end;
}

/* Adds the parts of the critical path, from the last result back. */
static void add_path(const struct pace *p, struct limit_list *out)
{
    uint32_t at = NO_STEP;
    int64_t end = 0;

    for (uint32_t i = 0; i < p->n; i++)
        if (p->steps[i].at + p->steps[i].takes > end) {
            end = p->steps[i].at + p->steps[i].takes;
            at = i;
        }
    out->total = end;
    bool is_result = true; /* the path leaves the step with its result, not when its pipe is free */
    while (at != NO_STEP) {
        const struct pace_step *s = &p->steps[at];
        limits_add(out, s->pipe->limit, s->holds);
        limits_add(out, LIMIT_LATENCY, s->late + (is_result ? s->takes - s->holds : 0));
        for (uint32_t w = s->wait; s->is_last_wait && w != NO_STEP; w = p->waits.at[w].next)
            if (p->waits.at[w].from == s->last && p->waits.at[w].is_reuse) {
                limits_add(out, LIMIT_BUFFERS, p->steps[s->last].takes);
                break;
            }
        is_result = s->is_last_wait;
        at = s->last;
    }
}

void incore_pace(const struct incore_trace *t, const struct incore_lanes *lanes,
                 const struct incore_arrows *arrows, struct limit_list *out)
{
    struct pace p = {0};
    struct arena arena;

    arena_init(&arena);
    *out = (struct limit_list){0};
    int64_t whole = list_steps(&p, t, &arena);
    join_pipes(&p, t, lanes);
    join_flags(&p, arrows);
    find_last(&p);
    add_path(&p, out);
    for (enum limit what; (what = limits_next(out, true)) != LIMIT_NOTHING;)
        limits_try(out, what, replay(&p, what));
    limits_judge(out);
    if (out->bound != LIMIT_NOTHING && out->total < whole / 2)
        *out = (struct limit_list){.total = out->total, .bound = LIMIT_UNSEEN};
    vec_free(&p.waits);
    arena_free(&arena);
}
