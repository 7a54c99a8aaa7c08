/*
 * testing_mutants - a kernel with one flag or barrier less, or in another place; and what the
 * checker and the judge of testing_races.h say of it.
 */
#ifndef STRATA_PTO_TESTING_MUTANTS_H
#define STRATA_PTO_TESTING_MUTANTS_H

#include "kernels/pto/sim/sim.h"
#include "kernels/pto/testing_races.h"

enum mutation { MUTANT_NONE, MUTANT_ONE, MUTANT_PAIR, MUTANT_LATE, MUTANT_KINDS };

struct mutants {
    struct judge judge;
    struct pto_races races;
    struct pto_costs *costs;
    struct pto_options options;
    uint32_t kernels, false_alarms;
    uint32_t tried[MUTANT_KINDS], harmful[MUTANT_KINDS], found[MUTANT_KINDS];
    uint32_t disagreed; /* verdicts that differ, either way */
    uint32_t too_large, mixed;
};

static inline struct mutants *mutants_new(void)
{
    struct mutants *m = calloc(1, sizeof(*m));

    pto_races_init(&m->races);
    m->costs = pto_costs_new();
    m->races.tap = judge_tap;
    m->races.user = &m->judge;
    return m;
}

static inline void mutants_free(struct mutants *m)
{
    vec_free(&m->judge.accesses);
    vec_free(&m->judge.sets);
    pto_races_free(&m->races);
    pto_costs_free(m->costs);
    free(m);
}

static inline bool mutants_is_race(const struct pto_race *f)
{
    return f->kind == PTO_RACE_RAW || f->kind == PTO_RACE_WAR || f->kind == PTO_RACE_WAW;
}

/* Runs the kernel as it is now. `flags` gets whether flags are left over or missing. */
static inline bool mutants_run(struct mutants *m, struct pto_sim *s, bool *races, bool *flags)
{
    struct diag quiet;

    diag_init(&quiet);
    m->races.found.n = 0;
    m->races.count = 0;
    m->options = pto_options_default(s->program[s->function[0] ? 0 : 1].arch);
    m->options.races = &m->races;
    m->options.max_steps = 20000;
    m->options.max_records = 0;
    judge_start(&m->judge, m->options.arch);
    enum status status = pto_sim_run(s, m->costs, &m->options, NULL, 0, "k.pto", &quiet);
    diag_fini(&quiet);
    *races = *flags = false;
    for (size_t i = 0; i < m->races.found.n; i++) {
        enum pto_race_kind kind = m->races.found.at[i].kind;
        *races |= mutants_is_race(&m->races.found.at[i]);
        *flags |= kind == PTO_RACE_UNSET || kind == PTO_RACE_UNUSED || kind == PTO_RACE_REUSED;
    }
    return status == ST_OK && s->is_complete && !m->judge.is_over && m->judge.accesses.n < 6000;
}

/* A barrier of a pipe that has nothing to do. */
static inline void mutants_drop(struct pto_sync *y)
{
    y->kind = PTO_INSERT_BARRIER;
    y->a = PTO_PIPE_MTE5;
}

/* Takes away what belongs to sync `i`, or moves it past the instruction beside it. False when there
 * is nothing to do. */
static inline bool mutants_apply(struct pto_program *p, uint32_t i, enum mutation how)
{
    struct pto_sync one = p->syncs.at[i];

    if (how == MUTANT_ONE)
        mutants_drop(&p->syncs.at[i]);
    for (size_t k = 0; how == MUTANT_PAIR && k < p->syncs.n; k++) {
        struct pto_sync *y = &p->syncs.at[k];
        if (one.kind == PTO_INSERT_SET && y->kind != PTO_INSERT_BARRIER && y->a == one.a &&
            y->b == one.b && y->id == one.id && y->site == one.site)
            mutants_drop(y);
    }
    if (how != MUTANT_LATE)
        return how == MUTANT_ONE || one.kind == PTO_INSERT_SET;
    for (size_t k = 1; k + 1 < p->steps.n; k++) {
        size_t other = one.kind == PTO_INSERT_SET ? k - 1 : k + 1;
        struct pto_step step = p->steps.at[k];
        if (step.code != PTO_STEP_SYNC || step.a != i)
            continue;
        if (p->steps.at[other].code != PTO_STEP_SITE)
            return false;
        p->steps.at[k] = p->steps.at[other];
        p->steps.at[other] = step;
        return true;
    }
    return false;
}

/* One mutant of a prepared kernel; true when the two agree about it. */
static inline bool mutants_one(struct mutants *m, struct pto_sim *s, uint32_t part, uint32_t i,
                               enum mutation how)
{
    struct pto_program *p = &s->program[part];
    size_t syncs = p->syncs.n * sizeof(*p->syncs.at), steps = p->steps.n * sizeof(*p->steps.at);
    struct pto_sync *kept_syncs = malloc(syncs + 1);
    struct pto_step *kept_steps = malloc(steps + 1);
    bool races, flags, agree = true;

    memcpy(kept_syncs, p->syncs.at, syncs);
    memcpy(kept_steps, p->steps.at, steps);
    if (mutants_apply(p, i, how)) {
        if (mutants_run(m, s, &races, &flags)) {
            bool harms = judge_finds(&m->judge);
            m->tried[how]++;
            m->harmful[how] += harms || flags;
            m->found[how] += (harms && races) || flags;
            agree = harms == races;
            m->disagreed += !agree;
        } else {
            m->too_large++;
        }
    }
    memcpy(p->syncs.at, kept_syncs, syncs);
    memcpy(p->steps.at, kept_steps, steps);
    free(kept_syncs);
    free(kept_steps);
    return agree;
}

/* All mutants of a prepared kernel, `most` at most of each kind. */
static inline bool mutants_kernel(struct mutants *m, struct pto_sim *s, uint32_t most)
{
    bool races, flags, agree = true;

    m->kernels++;
    if (!mutants_run(m, s, &races, &flags)) {
        m->too_large++;
        return true;
    }
    m->false_alarms += races || flags;
    if ((s->function[0] && s->program[0].has_fifos) ||
        (s->function[1] && s->program[1].has_fifos)) {
        m->mixed++; /* the judge sees one core */
        return true;
    }
    m->disagreed += judge_finds(&m->judge);
    for (uint32_t part = 0; part < 2; part++) {
        uint32_t n = s->function[part] ? (uint32_t)s->program[part].syncs.n : 0;
        uint32_t by = n > most ? n / most : 1;
        for (uint32_t i = 0; i < n; i += by) {
            for (int how = MUTANT_ONE; how < MUTANT_KINDS; how++)
                agree &= mutants_one(m, s, part, i, (enum mutation)how);
        }
    }
    return agree;
}

#endif
