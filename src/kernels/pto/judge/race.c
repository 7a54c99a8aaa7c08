/*
 * Clocks of the lanes: flags, barriers, tokens between cores.
 */
#include "kernels/pto/judge/race.h"

#include <string.h>

void pto_races_init(struct pto_races *r)
{
    memset(r, 0, sizeof(*r));
    arena_init(&r->arena);
}

static void forget_tokens(struct pto_race_tokens *t, bool is_last)
{
    t->at.n = 0;
    if (is_last)
        vec_free(&t->at);
}

/* Empties what a run was told; the last time it frees it. */
static void race_forget(struct pto_races *r, bool is_last)
{
    for (size_t i = 0; i < (size_t)PTO_RACE_SEMAPHORES * PTO_RACE_CORES * PTO_RACE_CORES; i++)
        forget_tokens(&(&r->token[0][0][0])[i], is_last);
    for (size_t i = 0; i < (size_t)PTO_FIFOS * 2 * PTO_RACE_CORES; i++) {
        forget_tokens(&(&r->pushed[0][0][0])[i], is_last);
        forget_tokens(&(&r->freed[0][0][0])[i], is_last);
    }
    for (size_t i = 0; i < (size_t)PTO_RACE_CORES * PTO_PIPE_COUNT * PTO_PIPE_COUNT; i++) {
        struct pto_race_flag *f = (&r->flag[0][0][0])[i];
        for (size_t id = 0; f && id < PTO_FLAG_IDS; id++) {
            f[id].set.n = f[id].waited = 0;
            if (is_last)
                vec_free(&f[id].set);
        }
        if (is_last)
            mem_free(f);
    }
    for (size_t i = 0; i < (size_t)PTO_RACE_CORES * PTO_SPACE_COUNT; i++) {
        (&r->space[0][0])[i].at.n = 0;
        if (is_last)
            vec_free(&(&r->space[0][0])[i].at);
    }
    for (size_t root = 0; root < PTO_RACE_ROOTS; root++) {
        for (size_t i = 0; r->gm[root] && i < PTO_RACE_LANES; i++) {
            r->gm[root][i].at.n = 0;
            if (is_last)
                vec_free(&r->gm[root][i].at);
        }
        if (is_last)
            mem_free(r->gm[root]);
    }
}

void pto_races_free(struct pto_races *r)
{
    race_forget(r, true);
    vec_free(&r->found);
    arena_free(&r->arena);
    memset(r, 0, sizeof(*r));
}

/* Nothing in the program tells one vector core from the other. */
static bool is_alike(const struct pto_program *p)
{
    for (size_t i = 0; i < p->steps.n; i++) {
        if (p->steps.at[i].code == PTO_GET_SUBBLOCK_IDX)
            return false;
    }
    for (size_t i = 0; i < p->sites.n; i++) {
        if (pto_class_of(p->sites.at[i].code) == PTO_CLASS_FIFO && p->sites.at[i].split != 0)
            return false;
    }
    for (uint32_t i = 0; i < p->function->arg_count; i++) {
        strid name = pto_value_at(p->module, p->function, i)->name;
        if (str_equal(intern_get(&p->module->names, name), S("__pypto_spmd_subblock_idx")))
            return false;
    }
    return true;
}

void pto_races_restart(struct pto_races *r, enum pto_arch arch,
                       const struct pto_program *const programs[PTO_RACE_CORES])
{
    r->arch = arch;
    r->written = 0;
    memset(r->lane, 0, sizeof(r->lane));
    memset(r->dispatched, 0, sizeof(r->dispatched));
    memset(r->over, 0, sizeof(r->over));
    memset(r->buffer, 0, sizeof(r->buffer));
    race_forget(r, false);
    memset(r->has_barriers, 0, sizeof(r->has_barriers));
    for (size_t core = 0; core < PTO_RACE_CORES; core++) {
        const struct pto_program *p = r->program[core] = programs[core];
        for (size_t i = 0; p && i < p->accesses.n; i++) {
            const struct pto_access *a = &p->accesses.at[i];
            if (a->space == PTO_GM && a->is_write)
                r->written |= a->root >= 0 && a->root < 64 ? UINT64_C(1) << a->root : UINT64_MAX;
        }
        for (size_t i = 0; p && i < p->sites.n; i++)
            r->has_barriers[core] |= pto_class_of(p->sites.at[i].code) == PTO_CLASS_BARRIER &&
                                     p->sites.at[i].phases[0] == PTO_PIPE_V;
    }
    r->are_twins = programs[2] && is_alike(programs[2]);
}

/* ---- findings ---- */

static bool is_same_end(const struct pto_race_end *a, const struct pto_race_end *b)
{
    const struct pto_site *x = &a->program->sites.at[a->site], *y = &b->program->sites.at[b->site];

    return a->program == b->program && x->line == y->line && x->col == y->col &&
           x->code == y->code && a->pipe == b->pipe;
}

void pto_race_add(struct pto_races *r, const struct pto_race *f)
{
    for (size_t i = 0; i < r->found.n; i++) {
        const struct pto_race *old = &r->found.at[i];
        if (old->kind == f->kind && is_same_end(&old->first, &f->first) &&
            is_same_end(&old->second, &f->second))
            return;
    }
    r->count++;
    if (r->found.n < PTO_RACE_MOST)
        vec_push(&r->found, *f);
}

static void add_flag(struct pto_races *r, enum pto_race_kind kind, uint32_t core, uint32_t first,
                     uint32_t second, struct pto_race pipes)
{
    pipes.kind = kind;
    pipes.is_grave = true;
    pipes.first = (struct pto_race_end){r->program[core], first, (uint8_t)core, pipes.from};
    pipes.second = (struct pto_race_end){r->program[core], second, (uint8_t)core, pipes.to};
    pto_race_add(r, &pipes);
}

static void tap(struct pto_races *r, struct pto_race_event e)
{
    if (r->tap)
        r->tap(r->user, &e);
}

/* ---- clocks ---- */

static inline void race_join(struct pto_clock *to, const struct pto_clock *from)
{
    for (size_t i = 0; i < PTO_RACE_LANES; i++)
        to->at[i] = from->at[i] > to->at[i] ? from->at[i] : to->at[i];
}

/* A lane learns what another knows. What the scalar unit learns holds for all it dispatches. */
static void learn(struct pto_races *r, uint32_t core, enum pto_pipe pipe,
                  const struct pto_clock *from)
{
    uint32_t lane = pto_race_lane(core, pipe);

    if (from->at[lane] > r->over[lane])
        r->over[lane] = from->at[lane];
    race_join(&r->lane[lane], from);
    if (pipe == PTO_PIPE_S)
        race_join(&r->dispatched[core], from);
}

static void learn_all(struct pto_races *r, uint32_t core, const struct pto_clock *from)
{
    for (int p = 0; p < PTO_PIPE_COUNT; p++)
        learn(r, core, (enum pto_pipe)p, from);
}

uint32_t pto_race_next(struct pto_races *r, uint32_t core, enum pto_pipe pipe)
{
    uint32_t lane = pto_race_lane(core, pipe);

    if (pipe != PTO_PIPE_S) {
        if (r->dispatched[core].at[lane] > r->over[lane])
            r->over[lane] = r->dispatched[core].at[lane];
        race_join(&r->lane[lane], &r->dispatched[core]);
    }
    return ++r->lane[lane].at[lane];
}

/* What is over when everything of the pipe, or of all pipes, is. */
static struct pto_clock clock_of(struct pto_races *r, uint32_t core, enum pto_pipe pipe)
{
    struct pto_clock all = r->lane[pto_race_lane(core, pipe)];

    race_join(&all, &r->dispatched[core]);
    for (int p = 0; pipe == PTO_PIPE_ALL && p < PTO_PIPE_COUNT; p++)
        race_join(&all, &r->lane[pto_race_lane(core, (enum pto_pipe)p)]);
    return all;
}

static void hand_over(struct pto_races *r, uint32_t core, enum pto_pipe pipe,
                      const struct pto_clock *from)
{
    if (pipe == PTO_PIPE_ALL)
        learn_all(r, core, from);
    else
        learn(r, core, pipe, from);
}

void pto_race_follow(struct pto_races *r, uint32_t core, enum pto_pipe from, enum pto_pipe to)
{
    enum { STEP = 255 }; /* as a flag that no text has */
    struct pto_clock now = clock_of(r, core, from);

    learn(r, core, to, &now);
    tap(r, (struct pto_race_event){.kind = PTO_EVENT_SET,
                                   .core = (uint8_t)core,
                                   .pipe = (uint8_t)from,
                                   .peer = (uint8_t)to,
                                   .id = STEP});
    tap(r, (struct pto_race_event){.kind = PTO_EVENT_WAIT,
                                   .core = (uint8_t)core,
                                   .pipe = (uint8_t)to,
                                   .peer = (uint8_t)from,
                                   .id = STEP});
}

/* ---- flags and barriers ---- */

static struct pto_race_flag *flag_of(struct pto_races *r, uint32_t core, enum pto_pipe a,
                                     enum pto_pipe b, uint32_t id)
{
    struct pto_race_flag **f = &r->flag[core][a][b];

    if (!*f) {
        *f = mem_grow(NULL, sizeof(**f), PTO_FLAG_IDS);
        memset(*f, 0, sizeof(**f) * PTO_FLAG_IDS);
    }
    return &(*f)[id];
}

void pto_race_set(struct pto_races *r, uint32_t core, uint32_t site, enum pto_pipe a,
                  enum pto_pipe b, uint32_t id)
{
    struct pto_race_flag *f = flag_of(r, core, a, b, id);

    (void)pto_race_next(r, core, a);
    struct pto_clock now = clock_of(r, core, a);
    if (f->waited < f->set.n)
        add_flag(r, PTO_RACE_REUSED, core, f->site, site,
                 (struct pto_race){.from = (uint8_t)a, .to = (uint8_t)b, .id = (uint8_t)id});
    f->site = site;
    vec_push(&f->set, now);
    tap(r, (struct pto_race_event){PTO_EVENT_SET, (uint8_t)core, (uint8_t)a, (uint8_t)b,
                                   (uint8_t)id, PTO_ZERO, 0, 0, site});
}

void pto_race_wait(struct pto_races *r, uint32_t core, uint32_t site, enum pto_pipe a,
                   enum pto_pipe b, uint32_t id)
{
    struct pto_race_flag *f = flag_of(r, core, a, b, id);

    if (f->waited == f->set.n)
        return;
    hand_over(r, core, b, &f->set.at[f->waited++]);
    if (f->waited == f->set.n)
        f->set.n = f->waited = 0;
    (void)pto_race_next(r, core, b);
    tap(r, (struct pto_race_event){PTO_EVENT_WAIT, (uint8_t)core, (uint8_t)b, (uint8_t)a,
                                   (uint8_t)id, PTO_ZERO, 0, 0, site});
}

void pto_race_unset(struct pto_races *r, uint32_t core, uint32_t site, enum pto_pipe a,
                    enum pto_pipe b, uint32_t id)
{
    add_flag(r, PTO_RACE_UNSET, core, site, site,
             (struct pto_race){.from = (uint8_t)a, .to = (uint8_t)b, .id = (uint8_t)id});
}

void pto_race_barrier(struct pto_races *r, uint32_t core, enum pto_pipe pipe)
{
    tap(r, (struct pto_race_event){
               .kind = PTO_EVENT_BARRIER, .core = (uint8_t)core, .pipe = (uint8_t)pipe});
    if (pipe == PTO_PIPE_ALL) {
        struct pto_clock all = clock_of(r, core, PTO_PIPE_ALL);
        learn_all(r, core, &all);
        return;
    }
    r->over[pto_race_lane(core, pipe)] = pto_race_next(r, core, pipe);
}

void pto_races_finish(struct pto_races *r)
{
    for (uint32_t i = 0; i < PTO_RACE_CORES * PTO_PIPE_COUNT * PTO_PIPE_COUNT; i++) {
        uint32_t core = i / (PTO_PIPE_COUNT * PTO_PIPE_COUNT);
        uint32_t a = i / PTO_PIPE_COUNT % PTO_PIPE_COUNT, b = i % PTO_PIPE_COUNT;
        const struct pto_race_flag *f = r->flag[core][a][b];
        for (uint32_t id = 0; f && id < PTO_FLAG_IDS; id++) {
            if (f[id].waited < f[id].set.n)
                add_flag(
                    r, PTO_RACE_UNUSED, core, f[id].site, f[id].site,
                    (struct pto_race){.from = (uint8_t)a, .to = (uint8_t)b, .id = (uint8_t)id});
        }
    }
}

/* ---- between cores ---- */

void pto_race_give(struct pto_races *r, uint32_t core, enum pto_pipe pipe, uint32_t id,
                   uint32_t cores)
{
    if (pipe != PTO_PIPE_ALL)
        (void)pto_race_next(r, core, pipe);
    struct pto_clock now = clock_of(r, core, pipe);
    for (uint32_t to = 0; to < PTO_RACE_CORES; to++) {
        if (to != core && (cores >> to & 1) != 0)
            vec_push(&r->token[id][core][to].at, now);
    }
}

void pto_race_token_wait(struct pto_races *r, uint32_t core, enum pto_pipe pipe, uint32_t id,
                         uint32_t from, size_t nth)
{
    const struct pto_race_tokens *t = &r->token[id][from][core];

    if (nth < t->at.n)
        hand_over(r, core, pipe, &t->at.at[nth]);
}

void pto_race_pushed(struct pto_races *r, uint32_t core, const struct pto_site *s)
{
    vec_push(&r->pushed[s->fifo][s->to_vector][core].at,
             clock_of(r, core, (enum pto_pipe)s->phases[s->n_phases - 1]));
}

void pto_race_freed_view(struct pto_races *r, uint32_t core, const struct pto_site *s)
{
    vec_push(&r->freed[s->fifo][s->to_vector][core].at, clock_of(r, core, PTO_PIPE_MTE2));
}

void pto_race_fifo_wait(struct pto_races *r, uint32_t core, const struct pto_site *s, uint32_t from,
                        bool is_freed, size_t nth)
{
    const struct pto_race_tokens *t =
        &(is_freed ? r->freed : r->pushed)[s->fifo][s->to_vector][from];

    if (nth < t->at.n)
        learn(r, core, (enum pto_pipe)s->phases[0], &t->at.at[nth]);
}

void pto_race_get_buffer(struct pto_races *r, uint32_t core, enum pto_pipe pipe, uint32_t id)
{
    hand_over(r, core, pipe, &r->buffer[core][id]);
}

void pto_race_rls_buffer(struct pto_races *r, uint32_t core, enum pto_pipe pipe, uint32_t id)
{
    struct pto_clock now = clock_of(r, core, pipe);

    race_join(&r->buffer[core][id], &now);
}
