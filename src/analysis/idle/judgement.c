/*
 * Tags, severity, risk and confidence from facts and evidence.
 */
#include "analysis/idle/judgement.h"

#include <math.h>

#include "analysis/idle/aicpu.h"
#include "analysis/idle/bubbles.h"
#include "analysis/ops/ops.h"
#include "analysis/steps/boundary.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"

__extension__ typedef __int128 wide; /* products of two times */

ENUM_NAMES(severity_level_name, enum severity_level, "none", "low", "medium", "high")

ENUM_NAMES(grade_name, enum grade, "low", "medium", "high")

/* These labels blame the host; at an edge of the recording they are not counted. */
static const unsigned host_labels = LABEL_UNTRACED_HOST | LABEL_LAUNCH_LAG | LABEL_PYTHON_SERIAL;

static double known(double share)
{
    return isnan(share) ? 0 : share;
}

/* The share that speaks for a label. */
static double relevant(const struct evidence *e, enum label label)
{
    switch (label) {
    case LABEL_SYNC_OR_H2D:
        return known(e->sync);
    case LABEL_COMM_WAIT:
        return known(e->comm);
    case LABEL_UNTRACED_HOST:
        return 1 - known(e->host);
    case LABEL_LAUNCH_LAG:
    case LABEL_PYTHON_SERIAL:
        return known(e->host);
    case LABEL_INSUFFICIENT:
        break;
    }
    return 0;
}

static void add_bubble(struct means *m, const struct evidence *e, nanos length, bool is_edge)
{
    m->all_idle = nanos_add(m->all_idle, length);
    if (!is_edge) {
        m->idle = nanos_add(m->idle, length);
        m->host += known(e->host) * (double)length;
        m->sync += known(e->sync) * (double)length;
        m->comm += known(e->comm) * (double)length;
    }
    unsigned labels = is_edge ? e->labels & ~host_labels : e->labels;
    for (size_t i = 0; i < LABEL_COUNT; i++)
        if (labels & 1u << i) {
            m->labelled[i] = nanos_add(m->labelled[i], length);
            m->ratio[i] += relevant(e, (enum label)(1u << i)) * (double)length;
        }
}

static void finish_means(struct means *m)
{
    double idle = (double)m->idle;

    m->host = m->idle > 0 ? m->host / idle : 0;
    m->sync = m->idle > 0 ? m->sync / idle : 0;
    m->comm = m->idle > 0 ? m->comm / idle : 0;
    for (size_t i = 0; i < LABEL_COUNT; i++)
        m->ratio[i] = m->labelled[i] > 0 ? m->ratio[i] / (double)m->labelled[i] : 0;
}

size_t means_labels(const struct means *m, enum label *out)
{
    size_t n = 0;

    for (size_t i = 0; i < LABEL_COUNT; i++) {
        size_t at = n;
        if (m->labelled[i] == 0)
            continue;
        while (at > 0 && m->labelled[__builtin_ctz(out[at - 1])] < m->labelled[i]) {
            out[at] = out[at - 1];
            at--;
        }
        out[at] = (enum label)(1u << i);
        n++;
    }
    return n;
}

struct judge {
    struct study *st;
    const struct steps *steps;
    const struct bubbles *bubbles;
    const struct boundary *edge;
    const struct groups *groups;
    const struct aicpu *aicpu;
    bool *aicpu_beside; /* by step: an AICPU kernel stands next to a heavy bubble */
    struct judgement *out;
};

/* Every bubble adds to its step, its group and the whole. */
static void judgement_gather(struct judge *j)
{
    const struct evidence *evidence = study_evidence(j->st);

    for (size_t i = 0; i < j->bubbles->n; i++) {
        const struct bubble *b = &j->bubbles->list[i];
        nanos length = nanos_sub(b->at.end, b->at.begin);
        bool is_edge = j->edge->is_bubble[i];
        size_t group = j->groups->of_step[b->step];
        add_bubble(&j->out->steps[b->step].means, &evidence[i], length, is_edge);
        add_bubble(&j->out->groups[group].means, &evidence[i], length, is_edge);
        add_bubble(&j->out->global, &evidence[i], length, is_edge);
        if (bubble_is_heavy(length, j->bubbles->metrics[b->step].service)) {
            const uint8_t *kind = j->st->cap->slices.kind;
            j->aicpu_beside[b->step] |=
                (b->before != NO_KERNEL && kind[b->before] == SLICE_AICPU) ||
                (b->after != NO_KERNEL && kind[b->after] == SLICE_AICPU);
        }
    }
    for (size_t i = 0; i < j->steps->n; i++)
        finish_means(&j->out->steps[i].means);
    for (size_t i = 0; i < j->groups->n; i++)
        finish_means(&j->out->groups[i].means);
    finish_means(&j->out->global);
}

/* Risks that follow from the means; `is_idle` says that 30 % of the time was idle. */
static unsigned host_tags(const struct means *m, bool is_idle, bool is_recurring, bool is_edge)
{
    unsigned tags = 0;

    if (is_idle && is_recurring && !is_edge && m->idle > 0) {
        if ((m->host >= 0.10 || m->sync >= 0.20) && m->comm < 0.20)
            tags |= TAG_HOST_ORIGINATED_RISK;
        if (m->host < 0.05)
            tags |= TAG_UNTRACED_HOST_BLOCKING_RISK;
    }
    nanos comm_wait = m->labelled[__builtin_ctz(LABEL_COMM_WAIT)];
    if ((m->idle > 0 && m->comm >= 0.20) ||
        (comm_wait > 0 && (wide)comm_wait * 5 >= (wide)m->all_idle))
        tags |= TAG_COMM_SYNC_RISK;
    return tags;
}

static enum grade risk_of(const struct means *m, bool is_idle)
{
    if (!is_idle)
        return GRADE_LOW;
    return m->sync >= 0.20 || m->host >= 0.50 ? GRADE_HIGH : GRADE_MEDIUM;
}

/* Some operator of the step's ten costliest has a fifth of its wait beside communication. */
static bool is_polluted(struct judge *j, size_t step)
{
    struct arena_mark mark = arena_mark(&j->st->scratch);
    struct kernel_range range = study_step_kernels(j->st, step);
    const struct ops *ops = ops_find(j->st, range.from, range.to);
    bool found = false;

    for (size_t i = 0; i < ops->n && i < 10 && !found; i++)
        found = ops->by_cost[i].polluted_wait > 0 &&
                (wide)ops->by_cost[i].polluted_wait * 5 >= ops->by_cost[i].wait;
    arena_rewind(&j->st->scratch, mark);
    return found;
}

static void judge_step(struct judge *j, size_t i)
{
    const struct step_metrics *m = &j->bubbles->metrics[i];
    const struct group *group = &j->groups->at[j->groups->of_step[i]];
    struct verdict *v = &j->out->steps[i];
    bool is_idle = m->service > 0 && (wide)m->underfeed * 10 >= (wide)m->service * 3;

    v->tags = m->tags | host_tags(&v->means, is_idle, m->bubble_count > 0, j->edge->is_partial[i]);
    if (is_polluted(j, i))
        v->tags |= TAG_WAIT_POLLUTION_RISK;
    if (j->aicpu->steps[i].is_risk)
        v->tags |= TAG_AICPU_EXPOSED_RISK;
    if (j->edge->is_partial[i])
        v->tags |= TAG_PARTIAL_CAPTURE_BOUNDARY;
    if (is_idle)
        v->severity = group->is_stable ? SEVERITY_HIGH : SEVERITY_MEDIUM;
    else if (m->tags != 0)
        v->severity = SEVERITY_LOW;
    if (v->severity != SEVERITY_NONE &&
        (bubble_is_heavy(j->aicpu->steps[i].filled_idle, m->service) || j->aicpu_beside[i]))
        v->severity = v->severity < SEVERITY_HIGH ? v->severity + 1 : SEVERITY_HIGH;
    v->host_risk = risk_of(&v->means, is_idle);
}

static enum severity_level worst_of(struct judge *j, const struct group *g)
{
    size_t votes[SEVERITY_HIGH + 1] = {0}, seen = 0;

    for (size_t i = 0; i < g->n; i++)
        votes[j->out->steps[g->steps[i]].severity]++;
    for (int level = SEVERITY_HIGH; level > SEVERITY_NONE; level--) {
        seen += votes[level];
        if (seen * 2 >= g->n) /* half of the steps are at least this bad */
            return (enum severity_level)level;
    }
    return seen > 0 ? SEVERITY_LOW : SEVERITY_NONE;
}

static bool needs_followup(struct judge *j, const struct verdict *v)
{
    enum label labels[LABEL_COUNT];
    bool is_issue = v->severity >= SEVERITY_MEDIUM;

    if (v->tags & TAG_WAIT_POLLUTION_RISK)
        return true;
    if (v->severity != SEVERITY_NONE &&
        (!(j->st->cap->has & HAS_STACKS) || !(j->st->cap->has & HAS_SHAPES)))
        return true;
    return is_issue && means_labels(&v->means, labels) > 0 &&
           (labels[0] == LABEL_INSUFFICIENT || labels[0] == LABEL_UNTRACED_HOST);
}

static void judge_group(struct judge *j, size_t i)
{
    const struct group *g = &j->groups->at[i];
    struct verdict *v = &j->out->groups[i];
    bool is_idle = g->metrics[GROUP_UNDERFEED_RATIO].avg >= 0.30;
    size_t partial = 0;

    for (size_t k = 0; k < g->n; k++)
        partial += j->edge->is_partial[g->steps[k]];
    for (unsigned bit = 1; bit < TAG_END; bit <<= 1) { /* tags that half of the steps carry */
        size_t votes = 0;
        for (size_t k = 0; k < g->n; k++)
            votes += (j->out->steps[g->steps[k]].tags & bit) != 0;
        if (votes * 2 >= g->n)
            v->tags |= bit;
    }
    v->tags |= host_tags(&v->means, is_idle, g->has_bubbles, partial == g->n);
    if (g->is_stable)
        v->tags |= TAG_RECURRING_BUBBLE_PATTERN;
    if (g->has_shape_variants)
        v->tags |= TAG_VARIABLE_SHAPE_SAME_TEMPLATE;
    v->severity = worst_of(j, g);
    v->host_risk = risk_of(&v->means, is_idle);
    v->needs_followup = needs_followup(j, v);
}

static enum grade confidence_of_label(const struct means *m, size_t label, double share,
                                      const struct group *g)
{
    if (share >= 0.60 && m->ratio[label] >= 0.50) {
        if (1u << label == LABEL_LAUNCH_LAG && (g == NULL || g->pattern_raw != IDLE_PRELAUNCH))
            return GRADE_MEDIUM;
        if (1u << label == LABEL_PYTHON_SERIAL && (g == NULL || !g->has_bubbles))
            return GRADE_MEDIUM;
        return GRADE_HIGH;
    }
    return share >= 0.30 ? GRADE_MEDIUM : GRADE_LOW;
}

static void suspect(struct judge *j, const struct means *m, size_t group)
{
    const struct group *g = group != SIZE_MAX                 ? &j->groups->at[group]
                            : j->groups->dominant != SIZE_MAX ? &j->groups->at[j->groups->dominant]
                                                              : NULL;

    for (size_t i = 0; i < LABEL_COUNT; i++) {
        if (m->labelled[i] == 0)
            continue;
        double share = (double)m->labelled[i] / (double)m->all_idle;
        j->out->suspicions[j->out->n_suspicions++] = (struct suspicion){
            group, (enum label)(1u << i), confidence_of_label(m, i, share, g), share, m->ratio[i]};
    }
}

static bool has_runtime_calls(const struct capture *cap)
{
    for (size_t i = 0; i < cap->slices.n; i++)
        if (cap->slices.kind[i] == SLICE_RUNTIME)
            return true;
    return false;
}

static enum grade confidence(struct judge *j)
{
    const struct capture *cap = j->st->cap;
    size_t dominant = j->groups->dominant;
    int grade = GRADE_HIGH;

    /* No host events, or hardly any where it matters. */
    if (!(cap->has & HAS_HOST) ||
        (dominant != SIZE_MAX && j->out->groups[dominant].means.host < 0.05))
        grade--;
    if (j->steps->source == STEPS_PSEUDO || dominant == SIZE_MAX || j->groups->at[dominant].n < 3)
        grade--;
    if (!(cap->has & HAS_STACKS) && !has_runtime_calls(cap))
        grade--;
    return grade > GRADE_LOW ? (enum grade)grade : GRADE_LOW;
}

static void conclude(struct judge *j)
{
    struct judgement *out = j->out;

    out->group = SIZE_MAX;
    for (size_t i = 0; i < j->groups->n; i++) {
        const struct verdict *v = &out->groups[i];
        if (v->severity > out->severity) {
            out->severity = v->severity;
            out->group = i;
        }
        if ((v->tags & TAG_UNTRACED_HOST_BLOCKING_RISK) ||
            (v->host_risk >= GRADE_MEDIUM && !(j->st->cap->has & HAS_STACKS)))
            out->needs_host_followup = true;
    }
    out->suspicions =
        ARENA_ARRAY(&j->st->scratch, struct suspicion, LABEL_COUNT * (j->groups->n + 1));
    suspect(j, &out->global, SIZE_MAX);
    for (size_t i = 0; i < j->groups->n; i++)
        suspect(j, &out->groups[i].means, i);
    out->confidence = confidence(j);
}

const struct judgement *judgement_find(struct study *st)
{
    struct judge j = {
        .st = st,
        .steps = study_steps(st),
        .bubbles = study_bubbles(st),
        .edge = study_boundary(st),
        .groups = study_groups(st),
        .aicpu = study_aicpu(st),
        .out = ARENA_NEW(&st->scratch, struct judgement),
    };

    ops_names(st); /* shared facts must be found before a step's table is rewound */
    study_waits(st);
    j.aicpu_beside = ARENA_ARRAY(&st->scratch, bool, j.steps->n);
    j.out->steps = ARENA_ARRAY(&st->scratch, struct verdict, j.steps->n);
    j.out->groups = ARENA_ARRAY(&st->scratch, struct verdict, j.groups->n);
    judgement_gather(&j);
    for (size_t i = 0; i < j.steps->n; i++)
        judge_step(&j, i);
    for (size_t i = 0; i < j.groups->n; i++)
        judge_group(&j, i);
    for (size_t i = 0; i < j.steps->n; i++)
        j.out->steps[i].needs_followup = needs_followup(&j, &j.out->steps[i]);
    conclude(&j);
    return j.out;
}
