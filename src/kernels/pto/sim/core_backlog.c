/*
 * Instructions behind a wait whose flag is set later in the program.
 *
 * Pipes run apart: while one stands at such a wait, the scalar unit goes on and hands its further
 * instructions to a queue behind the wait. They run, in order and with the operands of the moment
 * they were issued, as soon as the set has been issued. What can never go on is a deadlock.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/pto/judge/race.h"
#include "kernels/pto/sim/core.h"

enum { MOST_HELD = 65536 }; /* instructions of one core */

/* An operand as it was when its instruction was issued. */
union operand {
    struct pto_tile tile;
    struct pto_gm gm;
    struct pto_number number;
};

static void *place_of(struct pto_core *c, const struct pto_use *u, size_t *size)
{
    switch (u->kind) {
    case PTO_SLOT_TILE:
        *size = sizeof(struct pto_tile);
        return &c->slots.tiles[u->slot];
    case PTO_SLOT_GM:
        *size = sizeof(struct pto_gm);
        return &c->slots.gms[u->slot];
    case PTO_SLOT_NUMBER:
        *size = sizeof(struct pto_number);
        return &c->slots.numbers[u->slot];
    default:
        *size = 0;
        return NULL;
    }
}

static const struct pto_site *site_of(const struct pto_core *c, uint32_t site)
{
    return &c->program->sites.at[site];
}

/* Puts `saved` where the operands are now, and those of now into `saved`. */
static void swap_operands(struct pto_core *c, const struct pto_site *s, union operand *saved)
{
    for (uint32_t i = 0; i < s->use_count; i++) {
        size_t size = 0;
        void *at = place_of(c, &c->program->uses.at[s->use_first + i], &size);
        union operand now;
        if (!at)
            continue;
        memcpy(&now, at, size);
        memcpy(at, &saved[i], size);
        memcpy(&saved[i], &now, size);
    }
}

/* Restores in the opposite order: one slot may be two operands. */
static void swap_back(struct pto_core *c, const struct pto_site *s, const union operand *saved)
{
    for (uint32_t i = s->use_count; i-- > 0;) {
        size_t size = 0;
        void *at = place_of(c, &c->program->uses.at[s->use_first + i], &size);
        if (at)
            memcpy(at, &saved[i], size);
    }
}

static void run_held(struct pto_core *c, const struct pto_held *h)
{
    const struct pto_site *s = site_of(c, h->site);
    struct pto_moment wait = {.record = PTO_NO_RECORD};

    swap_operands(c, s, h->operands);
    if (c->queues.races)
        pto_race_run(c->queues.races, c, s);
    pto_core_note(c, s, (enum pto_pipe)s->phases[0], pto_queues_run(&c->queues, &h->issue, wait));
    if (c->machine->options->has_memory)
        (void)pto_core_compute(c, s);
    swap_back(c, s, h->operands);
}

/* Runs the first entry of a pipe. False when it stands at a wait that is not set. */
static bool run_first(struct pto_core *c, enum pto_pipe pipe)
{
    struct pto_held *h = &c->backlog[pipe].at[c->backlog_next[pipe]];
    bool is_done = true;

    c->queues.late = &h->issued;
    switch (h->kind) {
    case PTO_HELD_WAIT:
        is_done = pto_queues_wait(&c->queues, h->site, h->peer, pipe, h->id);
        break;
    case PTO_HELD_SET:
        pto_queues_set(&c->queues, h->site, pipe, h->peer, h->id);
        break;
    case PTO_HELD_BARRIER:
        pto_queues_barrier(&c->queues, h->site, pipe);
        break;
    case PTO_HELD_RUN:
        run_held(c, h);
        break;
    }
    c->queues.late = NULL;
    if (!is_done)
        return false;
    mem_free(h->operands);
    h->operands = NULL;
    c->n_held--;
    if (++c->backlog_next[pipe] == c->backlog[pipe].n) {
        c->backlog[pipe].n = c->backlog_next[pipe] = 0;
        c->held_pipes &= ~(1U << pipe);
    }
    return true;
}

bool pto_core_settle(struct pto_core *c)
{
    bool moved = c->held_pipes != 0;

    while (moved && c->state != PTO_FAILED) {
        moved = false;
        for (unsigned p = 0; p < PTO_PIPE_COUNT; p++) {
            while ((c->held_pipes >> p & 1) != 0 && c->state != PTO_FAILED &&
                   run_first(c, (enum pto_pipe)p))
                moved = true;
        }
    }
    return c->state != PTO_FAILED;
}

bool pto_core_hold_back(struct pto_core *c, enum pto_pipe pipe, struct pto_held h)
{
    const struct pto_queue *scalar = &c->queues.pipe[PTO_PIPE_S];
    uint32_t line = site_of(c, h.site)->line;

    if (c->n_held >= MOST_HELD)
        return pto_core_fail(c, line, "pto-run.too-large",
                             "more than %d instructions stand behind waits whose flags are not set",
                             MOST_HELD);
    h.issued = (struct pto_moment){
        .at = scalar->free, .record = scalar->last, .cause = PTO_CAUSE_SCALAR, .from = PTO_PIPE_S};
    if (h.kind == PTO_HELD_RUN) {
        const struct pto_site *s = site_of(c, h.site);
        union operand *saved = mem_grow(NULL, sizeof(*saved), s->use_count + 1);
        for (uint32_t i = 0; i < s->use_count; i++) {
            size_t size = 0;
            const void *at = place_of(c, &c->program->uses.at[s->use_first + i], &size);
            if (at)
                memcpy(&saved[i], at, size);
        }
        h.operands = saved;
    }
    vec_push(&c->backlog[pipe], h);
    c->n_held++;
    c->held_pipes |= 1U << pipe;
    return true;
}

/* The set that would let a wait go, where it stands behind a wait itself; NULL: there is none. */
static const struct pto_held *held_set(const struct pto_core *c, unsigned pipe)
{
    const struct pto_held *wait = &c->backlog[pipe].at[c->backlog_next[pipe]];

    for (size_t i = c->backlog_next[wait->peer]; i < c->backlog[wait->peer].n; i++) {
        const struct pto_held *h = &c->backlog[wait->peer].at[i];
        if (h->kind == PTO_HELD_SET && (unsigned)h->peer == pipe && h->id == wait->id)
            return h;
    }
    return NULL;
}

/* Who waits for whom, from a pipe on until one comes again: "PIPE_V (line 12) waits for PIPE_MTE2
 * (line 9), which waits for PIPE_V". Empty when it ends at a flag that nothing sets. */
static void write_cycle(const struct pto_core *c, unsigned first, char *out, size_t room)
{
    unsigned pipe = first;
    size_t n = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < PTO_PIPE_COUNT && n < room; i++) {
        const struct pto_held *wait = &c->backlog[pipe].at[c->backlog_next[pipe]];
        const struct pto_held *set = held_set(c, pipe);
        if (!set) {
            out[0] = '\0';
            return;
        }
        n += (size_t)snprintf(out + n, room - n, "%s%s (line %u) waits for line %u of %s",
                              i > 0 ? ", which: " : "", pto_pipe_name((enum pto_pipe)pipe),
                              site_of(c, wait->site)->line, site_of(c, set->site)->line,
                              pto_pipe_name(wait->peer));
        pipe = wait->peer;
        if (pipe == first)
            return;
    }
}

bool pto_core_report_blocked(struct pto_core *c)
{
    for (unsigned p = 0; p < PTO_PIPE_COUNT; p++) {
        if ((c->held_pipes >> p & 1) == 0)
            continue;
        const struct pto_held *h = &c->backlog[p].at[c->backlog_next[p]];
        size_t behind = c->backlog[p].n - c->backlog_next[p] - 1;
        const struct pto_site *next = behind > 0 ? site_of(c, h[1].site) : NULL;
        char more[96] = "", cycle[240];
        if (next)
            snprintf(more, sizeof(more), "; %zu more behind it, first %s at line %u", behind,
                     pto_op_name(next->code), next->line);
        write_cycle(c, p, cycle, sizeof(cycle));
        if (cycle[0] != '\0')
            (void)pto_core_fail(c, site_of(c, h->site)->line, "pto-run.deadlock",
                                "the pipes wait in a circle: %s", cycle);
        else
            (void)pto_core_fail(c, site_of(c, h->site)->line, "pto-run.deadlock",
                                "%s stands at %s for event %u from %s, which nothing sets%s",
                                pto_pipe_name((enum pto_pipe)p),
                                pto_op_name(site_of(c, h->site)->code), h->id,
                                pto_pipe_name(h->peer), more);
    }
    return false;
}

void pto_core_drop_backlog(struct pto_core *c)
{
    for (size_t p = 0; p < PTO_PIPE_COUNT; p++) {
        for (size_t i = c->backlog_next[p]; i < c->backlog[p].n; i++)
            mem_free(c->backlog[p].at[i].operands);
        c->backlog[p].n = c->backlog_next[p] = 0;
    }
    c->held_pipes = 0;
    c->n_held = 0;
    c->queues.late = NULL;
}
