/*
 * cluster: puts the answers together.
 */
#include "analysis/ranks/cluster.h"

#include <math.h>
#include <stdlib.h>

#include "text/cluster.h"

ENUM_NAMES(culprit_kind_name, enum culprit_kind, "compute_slow", "host_stall", "slow_link",
           "storage", "imbalance")
ENUM_NAMES(culprit_confidence_name, enum culprit_confidence, "possible", "likely", "sure")
ENUM_NAMES(culprit_recurrence_name, enum culprit_recurrence, "always", "regular", "random", "once")

enum { NOTES = 64 };

void cluster_note(struct cluster *c, struct wording note)
{
    if (c->notes == NULL) {
        c->notes = ARENA_ARRAY(c->model->arena, struct str, NOTES);
        c->said = ARENA_ARRAY(c->model->arena, struct wording, NOTES);
    }
    if (c->n_notes == NOTES)
        return;
    c->said[c->n_notes] = note;
    c->notes[c->n_notes++] = note.english;
}

#define NOTE(c_, message_, ...)                                                                    \
    cluster_note((c_), WORDING((c_)->model->arena, (message_), __VA_ARGS__))

static void note_plain(struct cluster *c, const struct message *m)
{
    cluster_note(c, wording_of(c->model->arena, phrase_plain(m)));
}

/* ---- ranks ---- */

static void add_means(struct cluster_rank *out, const struct rank_summary *s)
{
    double n = s->n_steps > 0 ? (double)s->n_steps : 1;

    for (size_t i = 0; i < s->n_steps; i++) {
        const struct summary_step *step = &s->steps[i];
        out->step_ns += (double)(step->end - step->begin) / n;
        out->compute_ns += (double)step->compute / n;
        out->exposed_ns += (double)step->exposed / n;
        out->idle_ns += (double)(step->idle - step->storage) / n;
        out->storage_ns += (double)step->storage / n;
    }
}

/* Who came last, and how long half of the others were there before. */
static void cluster_add_waits(struct cluster *c, struct cluster_step *steps)
{
    const struct cluster_model *m = c->model;
    double *room = ARENA_ARRAY(m->arena, double, m->n + 1);
    double *of_step = ARENA_ARRAY(m->arena, double, m->n_steps * m->n + 1);
    double n = m->n_steps > 0 ? (double)m->n_steps : 1;

    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct cluster_node *node = &m->nodes[i];
        for (uint32_t k = 0; k < node->n; k++) {
            const struct cluster_member *at = &m->members[node->first + k];
            room[k] = cluster_time(m, at->rank, m->ranks[at->rank].calls[at->call].begin);
            if (!node->is_lone)
                c->ranks[at->rank].waited_ns += fmax(0, node->last - room[k]) / n;
        }
        if (node->is_lone)
            continue;
        double wait = fmax(0, node->last - cluster_median(room, node->n));
        c->ranks[node->late].late++;
        c->ranks[node->late].awaited_ns += wait / n;
        if (node->step >= 0)
            of_step[(size_t)node->step * m->n + node->late] += wait;
    }
    for (size_t s = 0; s < m->n_steps; s++)
        for (size_t r = 0; r < m->n; r++)
            if (of_step[s * m->n + r] > steps[s].awaited_ns) {
                steps[s].awaited_ns = of_step[s * m->n + r];
                steps[s].awaited = m->ranks[r].rank;
            }
}

static void fill_ranks(struct cluster *c)
{
    const struct cluster_model *m = c->model;

    c->n_ranks = m->n;
    c->ranks = ARENA_ARRAY(m->arena, struct cluster_rank, m->n);
    c->clocks = ARENA_ARRAY(m->arena, struct cluster_clock_row, m->n);
    for (size_t r = 0; r < m->n; r++) {
        const struct rank_summary *s = &m->ranks[r];
        const struct cluster_clock *k = &m->clocks[r];
        c->ranks[r] = (struct cluster_rank){.rank = s->rank,
                                            .name = s->name,
                                            .steps = s->n_steps,
                                            .speed = c->work->speed[r],
                                            .told_comm_ms = s->told_comm_ms,
                                            .told_moved_mb = s->told_moved_mb,
                                            .lost = s->lost};
        add_means(&c->ranks[r], s);
        c->clocks[r] = (struct cluster_clock_row){.rank = s->rank,
                                                  .is_known = k->is_known,
                                                  .offset_ns = k->coarse + nanos_of(round(k->fine)),
                                                  .drift_ppm = k->drift * 1e6,
                                                  .residual_ns = k->residual,
                                                  .ends = k->ends};
    }
}

/* ---- steps ---- */

static const double slow_step = 1.25; /* of the median */

static void fill_steps(struct cluster *c)
{
    const struct cluster_model *m = c->model;
    double *room = ARENA_ARRAY(m->arena, double, m->n + 1);

    c->n_steps = m->n_steps;
    c->steps = ARENA_ARRAY(m->arena, struct cluster_step, m->n_steps);
    for (size_t s = 0; s < m->n_steps; s++) {
        size_t n = 0;
        for (size_t r = 0; r < m->n; r++)
            if (isfinite(work_at(c->work, WORK_STEP, r, s)))
                room[n++] = work_at(c->work, WORK_STEP, r, s);
        c->steps[s] = (struct cluster_step){.number = m->steps[s], .awaited = -1};
        if (n > 0) {
            c->steps[s].time_ns = cluster_median(room, n);
            c->steps[s].longest_ns = room[n - 1];
        }
    }
}

static void fill_times(struct cluster *c)
{
    struct cluster_times *t = &c->times;
    double *room = ARENA_ARRAY(c->model->arena, double, c->n_steps + 1);

    t->n = c->n_steps;
    if (t->n == 0)
        return;
    for (size_t i = 0; i < t->n; i++) {
        room[i] = c->steps[i].time_ns;
        t->mean_ns += room[i] / (double)t->n;
    }
    t->median_ns = cluster_median(room, t->n);
    t->p95_ns = ranked_nearest(room, t->n, 0.95);
    t->min_ns = room[0];
    t->max_ns = room[t->n - 1];
    for (size_t i = 0; i < t->n; i++) {
        c->steps[i].is_slow = c->steps[i].time_ns > slow_step * t->median_ns;
        t->slow += c->steps[i].is_slow;
    }
}

static void fill_overlap(struct cluster *c)
{
    double comm = 0, exposed = 0;

    for (size_t r = 0; r < c->model->n; r++)
        for (size_t i = 0; i < c->model->ranks[r].n_steps; i++) {
            comm += (double)c->model->ranks[r].steps[i].comm;
            exposed += (double)c->model->ranks[r].steps[i].exposed;
        }
    c->overlap = comm > 0 ? 1 - exposed / comm : NAN;
}

/* ---- gains ---- */

static void add_gain(struct cluster *c, const char *name, const struct cluster_change *change)
{
    double before = cluster_replay_run(&c->replay, NULL);
    double after = cluster_replay_run(&c->replay, change);
    double steps = c->n_steps > 0 ? (double)c->n_steps : 1;

    c->gains[c->n_gains++] =
        (struct cluster_gain){.change = name,
                              .step_ns = after / steps,
                              .saving_ms = fmax(0, before - after) / steps / 1e6,
                              .share = before > 0 ? fmax(0, before - after) / before : 0,
                              .base_ms = before / 1e6};
    cluster_replay_run(&c->replay, NULL);
}

static void fill_gains(struct cluster *c)
{
    const struct cluster_model *m = c->model;
    struct cluster_change even = cluster_change_new(m), links = cluster_change_new(m),
                          hidden = cluster_change_new(m);

    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct cluster_node *node = &m->nodes[i];
        double slow = m->groups[node->group].slow;
        for (uint32_t k = node->first; k < node->first + node->n; k++) {
            const struct cluster_member *at = &m->members[k];
            for (int class = 0; class < WORK_STEP; class ++)
                even.stretch[k] += fmax(0, c->work->of_call[at->rank][at->call].more[class]);
        }
        if (slow > 1)
            links.transit[i] = (node->end - node->last) * (1 - 1 / slow);
        hidden.transit[i] = node->end - node->last;
    }
    add_gain(c, "ranks_like_median", &even);
    add_gain(c, "links_like_peers", &links);
    add_gain(c, "communication_hidden", &hidden);
}

double cluster_gain_ms(const struct cluster *c, const struct cluster_gain *gain)
{
    return gain->saving_ms * (double)(c->n_steps > 0 ? c->n_steps : 1);
}

/* ---- what is missing ---- */

static void find_missing(struct cluster *c)
{
    const struct cluster_model *m = c->model;

    c->world = -1;
    for (size_t r = 0; r < m->n; r++)
        if (m->ranks[r].world > c->world && m->ranks[r].world <= 1 << 20)
            c->world = m->ranks[r].world;
    for (size_t g = 0; g < m->n_groups; g++)
        if (m->groups[g].n > 0 && m->groups[g].ranks[m->groups[g].n - 1] < 1 << 20 &&
            m->groups[g].ranks[m->groups[g].n - 1] + 1 > c->world)
            c->world = m->groups[g].ranks[m->groups[g].n - 1] + 1;
    if (m->n > 0 && m->ranks[m->n - 1].rank >= c->world && m->ranks[m->n - 1].rank < 1 << 20)
        c->world = m->ranks[m->n - 1].rank + 1;
    c->missing = ARENA_ARRAY(m->arena, int64_t, c->world > 0 ? (size_t)c->world : 0);
    for (int64_t rank = 0; rank < c->world; rank++)
        if (cluster_place(m, rank) == CLUSTER_NONE)
            c->missing[c->n_missing++] = rank;
}

/* Communicators that take a part of the run and have no like; each role and size once. */
static void note_alone(struct cluster *c)
{
    static const double part = 0.02;
    const struct cluster_model *m = c->model;

    for (size_t g = 0; g < m->n_groups; g++) {
        const struct cluster_group *group = &m->groups[g];
        size_t like = 0, before = 0;
        for (size_t k = 0; k < m->n_groups; k++) {
            const struct cluster_group *o = &m->groups[k];
            bool is_like = o->role == group->role && o->n == group->n;
            like += is_like && o->slow > 0;
            before += is_like && k < g && o->transit > part * c->replay.recorded;
        }
        if (group->n > 1 && like == 0 && before == 0 && group->transit > part * c->replay.recorded)
            NOTE(c, &cluster_text.note_alone, PLACE("n", group->n),
                 PLACE("role", cluster_role_name(group->role)));
    }
}

static void add_notes(struct cluster *c)
{
    const struct cluster_model *m = c->model;
    size_t unknown = 0, cut = 0, lost = 0, few = 0, steps = 0, calls = 0;

    for (size_t r = 0; r < m->n; r++) {
        unknown += !cluster_is_aligned(m, r);
        cut += m->ranks[r].calls_cut > 0;
        lost += m->ranks[r].lost > 0;
        few += c->work->kinds[c->work->kind_of[r]].n < WORK_PEERS;
        steps += m->ranks[r].is_told_steps;
        calls += m->ranks[r].n_calls;
    }
    if (c->n_missing > 0)
        NOTE(c, &cluster_text.note_missing, PLACE("n", c->n_missing), PLACE("all", c->world));
    if (lost > 0)
        NOTE(c, &cluster_text.note_lost, PLACE("n", lost));
    if (calls == 0)
        note_plain(c, &cluster_text.note_no_calls);
    else if (unknown > 0)
        NOTE(c, &cluster_text.note_unaligned, PLACE("n", unknown));
    if (m->unmatched > 0)
        NOTE(c, &cluster_text.note_unmatched, PLACE("n", m->unmatched));
    if (few > 0)
        NOTE(c, &cluster_text.note_few, PLACE("n", few));
    if (c->links->compared == 0 && calls > 0)
        note_plain(c, &cluster_text.note_no_like);
    else
        note_alone(c);
    if (c->links->apart > 0)
        NOTE(c, &cluster_text.note_apart, PLACE("n", c->links->apart));
    if (c->stalls > 0)
        NOTE(c, &cluster_text.note_stalls, PLACE("n", c->stalls), PLACE("ms", c->longest_stall.ms),
             PLACE("rank", c->longest_stall.rank));
    if (steps < m->n)
        NOTE(c, &cluster_text.note_steps, PLACE("n", m->n - steps));
    if (cut > 0)
        NOTE(c, &cluster_text.note_cut, PLACE("n", cut));
}

struct wording culprit_kind_wording(struct arena *arena, enum culprit_kind kind)
{
    static const struct message *const words[CULPRIT_KINDS] = {
        [CULPRIT_COMPUTE_SLOW] = &cluster_text.is_compute,
        [CULPRIT_HOST_STALL] = &cluster_text.is_stall,
        [CULPRIT_SLOW_LINK] = &cluster_text.is_link,
        [CULPRIT_STORAGE] = &cluster_text.is_storage,
        [CULPRIT_IMBALANCE] = &cluster_text.is_imbalance};

    return wording_of(arena, phrase_plain(words[kind]));
}

static struct wording who_of(struct arena *arena, const struct culprit *one)
{
    if (one->link != NULL)
        return WORDING(arena, &cluster_text.link, PLACE("from", one->link->from),
                       PLACE("to", one->link->to));
    if (one->rank >= 0)
        return WORDING(arena, &cluster_text.rank, PLACE("rank", one->rank));
    return WORDING(arena, &cluster_text.some_link, PLACE("from", one->ranks[0]),
                   PLACE("to", one->ranks[one->n_ranks - 1]));
}

static size_t aligned_ranks(const struct cluster_model *m)
{
    size_t aligned = 0;

    for (size_t r = 0; r < m->n; r++)
        aligned += cluster_is_aligned(m, r);
    return aligned;
}

/* Nobody is named: because nobody stands out, or because there is little to compare. */
static struct wording without_culprit(const struct cluster *c)
{
    size_t aligned = aligned_ranks(c->model);

    if (c->model->n < 2)
        return wording_of(c->model->arena, phrase_plain(&cluster_text.verdict_alone));
    if (aligned * 2 <= c->model->n)
        return WORDING(c->model->arena, &cluster_text.verdict_few, PLACE("n", aligned),
                       PLACE("all", c->model->n));
    return wording_of(c->model->arena, phrase_plain(&cluster_text.verdict_none));
}

static void set_verdict(struct cluster *c)
{
    struct arena *arena = c->model->arena;
    static const struct message *const what[CULPRIT_KINDS] = {
        [CULPRIT_COMPUTE_SLOW] = &cluster_text.verdict_compute,
        [CULPRIT_HOST_STALL] = &cluster_text.verdict_stall,
        [CULPRIT_SLOW_LINK] = &cluster_text.verdict_link,
        [CULPRIT_STORAGE] = &cluster_text.verdict_storage,
        [CULPRIT_IMBALANCE] = &cluster_text.verdict_imbalance};
    enum { MUCH = 5 }; /* percent */
    const struct culprit *first = c->culprits;
    const struct cluster_gain *even = &c->gains[0];

    if (c->n_culprits == 0 && c->n_gains > 0 && c->n_path > 0 && 100 * even->share >= MUCH)
        c->verdict =
            WORDING(arena, &cluster_text.verdict_spread, PLACE("ms", cluster_gain_ms(c, even)),
                    PLACE("share", 100 * even->share), PLACE("base", even->base_ms));
    else if (c->n_culprits == 0)
        c->verdict = without_culprit(c);
    else
        c->verdict = WORDING(arena, what[first->kind],
                             place_wording("who", wording_keep(arena, who_of(arena, first))),
                             PLACE("ms", first->total_ms), PLACE("share", 100 * first->share),
                             PLACE("base", first->base_ms));
}

struct cluster *cluster_find(struct arena *arena, const struct rank_summary *ranks, size_t n)
{
    struct cluster *c = ARENA_NEW(arena, struct cluster);

    c->model = cluster_model_make(arena, ranks, n);
    c->layout = cluster_layout_find(c->model);
    c->links = cluster_links_find(c->model);
    c->work = cluster_work_find(c->model);
    cluster_replay_init(&c->replay, c->model);
    c->replay_error = c->replay.error;
    fill_ranks(c);
    fill_steps(c);
    fill_times(c);
    cluster_add_waits(c, c->steps);
    fill_overlap(c);
    find_missing(c);
    cluster_blame(c);
    fill_gains(c);
    cluster_path_find(c);
    add_notes(c);
    set_verdict(c);
    return c;
}

bool cluster_is_job(const struct cluster *c)
{
    size_t aligned = aligned_ranks(c->model);

    for (size_t r = 0; r + 1 < c->model->n; r++)
        if (c->model->ranks[r].rank == c->model->ranks[r + 1].rank)
            return false; /* of several runs */
    return aligned > 1 && aligned * 2 > c->model->n;
}
