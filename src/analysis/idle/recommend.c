/*
 * What to do next, from the judgement.
 */
#include "analysis/idle/recommend.h"

#include <stdlib.h>

#include "analysis/idle/aicpu.h"
#include "analysis/idle/bubbles.h"
#include "analysis/idle/judgement.h"
#include "analysis/ops/ops.h"
#include "analysis/steps/boundary.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "text/anomaly.h"

struct adviser {
    struct study *st;
    const struct judgement *judgement;
    const struct groups *groups;
    VEC_OF(struct recommendation) list;
};

static struct str group_name(struct adviser *a, size_t group)
{
    return arena_format(&a->st->scratch, "g%zu", group);
}

/* Priority of an issue in a group. */
static enum priority priority_of(struct adviser *a, size_t group)
{
    const struct verdict *v = &a->judgement->groups[group];
    double underfeed = a->groups->at[group].metrics[GROUP_UNDERFEED_RATIO].avg;

    if (v->severity == SEVERITY_HIGH)
        return underfeed >= 0.50 ? PRIORITY_P0 : PRIORITY_P1;
    if (v->severity == SEVERITY_MEDIUM)
        return v->host_risk == GRADE_HIGH ? PRIORITY_P1 : PRIORITY_P2;
    return PRIORITY_P3;
}

static struct recommendation *advise(struct adviser *a, const char *id, const char *scope,
                                     struct str target, enum priority priority,
                                     struct phrase advice)
{
    vec_push(&a->list, ((struct recommendation){
                           .id = id,
                           .scope = scope,
                           .target = target,
                           .priority = priority,
                           .message = phrase_text(LANG_EN, &a->st->scratch, advice),
                           .advice = advice,
                       }));
    return &a->list.at[a->list.n - 1];
}

static void support(struct adviser *a, struct recommendation *r, struct phrase evidence)
{
    if (r->n_evidence == 0)
        r->because = evidence;
    if (r->n_evidence < RECOMMEND_EVIDENCE)
        r->evidence[r->n_evidence++] = phrase_text(LANG_EN, &a->st->scratch, evidence);
}

static void support_idle(struct adviser *a, struct recommendation *r, size_t group)
{
    const struct group *g = &a->groups->at[group];

    support(a, r,
            PHRASE(&a->st->scratch, &anomaly_text.because_idle,
                   place_quantity("share", g->underfeed_of_sums, UNIT_RATIO),
                   place_quantity("time", g->metrics[GROUP_SERVICE].avg, UNIT_NS),
                   PLACE("n", g->counted)));
}

static void advise_stacks(struct adviser *a, size_t group)
{
    if (a->judgement->groups[group].severity == SEVERITY_NONE || (a->st->cap->has & HAS_STACKS))
        return;
    struct recommendation *r =
        advise(a, "record-stacks", "step_group", group_name(a, group), priority_of(a, group),
               phrase_plain(&anomaly_text.advise_stacks));
    r->needs_followup = true;
    r->evidence_gap = "call stacks";
    support_idle(a, r, group);
}

static void advise_host(struct adviser *a, size_t group)
{
    const struct verdict *v = &a->judgement->groups[group];

    if (v->host_risk < GRADE_MEDIUM || v->means.host >= 0.10 || v->means.idle == 0)
        return;
    struct recommendation *r =
        advise(a, "sample-host", "step_group", group_name(a, group), priority_of(a, group),
               phrase_plain(&anomaly_text.advise_sample_host));
    r->needs_followup = true;
    r->evidence_gap = "host activity inside bubbles";
    support(a, r,
            PHRASE(&a->st->scratch, &anomaly_text.because_host,
                   place_quantity("share", v->means.host, UNIT_RATIO)));
}

/* What the leading label of a group asks for. */
static const struct {
    enum label label;
    const char *id;
    const struct message *advice, *because;
} habits[] = {
    {LABEL_SYNC_OR_H2D, "remove-syncs", &anomaly_text.advise_syncs, &anomaly_text.because_syncs},
    {LABEL_LAUNCH_LAG, "launch-faster", &anomaly_text.advise_launch, &anomaly_text.because_launch},
    {LABEL_PYTHON_SERIAL, "free-the-host", &anomaly_text.advise_free_host,
     &anomaly_text.because_python},
};

static void advise_habit(struct adviser *a, size_t group)
{
    const struct verdict *v = &a->judgement->groups[group];
    enum label labels[LABEL_COUNT];

    if (v->severity == SEVERITY_NONE || means_labels(&v->means, labels) == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(habits); i++) {
        if (habits[i].label != labels[0])
            continue;
        struct recommendation *r = advise(a, habits[i].id, "step_group", group_name(a, group),
                                          priority_of(a, group), phrase_plain(habits[i].advice));
        size_t bit = (size_t)__builtin_ctz(labels[0]);
        double share = (double)v->means.labelled[bit] / (double)v->means.all_idle;
        support(a, r,
                PHRASE(&a->st->scratch, &anomaly_text.because_label,
                       place_quantity("share", share, UNIT_RATIO),
                       PLACE("label", label_name(labels[0]))));
        r->because =
            PHRASE(&a->st->scratch, habits[i].because, place_quantity("share", share, UNIT_RATIO));
        support_idle(a, r, group);
    }
}

static void advise_comm(struct adviser *a, size_t group)
{
    const struct verdict *v = &a->judgement->groups[group];

    if (!(v->tags & TAG_COMM_SYNC_RISK))
        return;
    struct recommendation *r =
        advise(a, "overlap-communication", "side", S("side:comm"), priority_of(a, group),
               phrase_plain(&anomaly_text.advise_comm));
    r->evidence_gap = "other ranks' captures";
    support(a, r,
            PHRASE(&a->st->scratch, &anomaly_text.because_comm,
                   place_quantity("share", v->means.comm, UNIT_RATIO), PLACE("group", group)));
}

static void advise_ops(struct adviser *a)
{
    const struct ops *ops = ops_find(a->st, 0, study_kernels(a->st).n);

    for (size_t i = 0; i < ops->n && i < 10; i++) {
        const struct op *op = &ops->by_cost[i];
        if (op->is_anchor) {
            struct recommendation *r = advise(
                a, "look-upstream", "op", op->key, PRIORITY_P3,
                PHRASE(&a->st->scratch, &anomaly_text.advise_upstream, PLACE("op", op->key)));
            support(a, r,
                    PHRASE(&a->st->scratch, &anomaly_text.because_waits,
                           PLACE("run", op->duration_us_avg), PLACE("wait", op->wait_us_avg)));
        } else if (op->is_polluted && op->polluted_wait > 0 && op->polluted_wait * 5 >= op->wait) {
            struct recommendation *r =
                advise(a, "check-communication", "op", op->key, PRIORITY_P3,
                       PHRASE(&a->st->scratch, &anomaly_text.advise_around, PLACE("op", op->key)));
            r->needs_followup = true;
        }
    }
}

static void advise_aicpu(struct adviser *a)
{
    const struct aicpu *aicpu = study_aicpu(a->st);
    const struct bubbles *b = study_bubbles(a->st);
    nanos service = 0;

    for (size_t i = 0; i < study_steps(a->st)->n; i++)
        service = nanos_add(service, b->metrics[i].service);
    for (size_t i = 0; i < aicpu->n; i++) {
        const struct aicpu_op *op = &aicpu->ops[i];
        nanos exposed = op->duration - op->masked;
        if (op->class == AICPU_MASKED)
            continue;
        bool is_large = service > 0 && (double)exposed >= (double)service / 10;
        struct recommendation *r =
            advise(a, "move-off-aicpu", "op", op->key, is_large ? PRIORITY_P0 : PRIORITY_P2,
                   PHRASE(&a->st->scratch, &anomaly_text.advise_aicpu, PLACE("op", op->key)));
        support(a, r,
                PHRASE(&a->st->scratch, &anomaly_text.because_aicpu, PLACE("calls", op->calls),
                       place_quantity("time", (double)exposed, UNIT_NS)));
    }
}

static void advise_capture(struct adviser *a)
{
    const struct boundary *edge = study_boundary(a->st);
    size_t n = study_steps(a->st)->n, partial = 0;

    for (size_t i = 0; i < n; i++)
        partial += edge->is_partial[i];
    if (n > 0 && partial * 2 >= n) {
        struct recommendation *r = advise(a, "record-more-steps", "global", S(""), PRIORITY_P3,
                                          phrase_plain(&anomaly_text.advise_more_steps));
        r->needs_followup = true;
        r->evidence_gap = "complete steps";
        support(a, r,
                PHRASE(&a->st->scratch, &anomaly_text.because_partial, PLACE("n", partial),
                       PLACE("all", n)));
    }
    if (a->groups->n > 1 && !(a->st->cap->has & HAS_SHAPES)) {
        struct recommendation *r = advise(a, "record-shapes", "global", S(""), PRIORITY_P3,
                                          phrase_plain(&anomaly_text.advise_shapes));
        r->evidence_gap = "tensor shapes";
        support(a, r,
                PHRASE(&a->st->scratch, &anomaly_text.because_kinds, PLACE("n", a->groups->n)));
    }
}

static int by_priority(const void *a, const void *b)
{
    const struct recommendation *x = *(const struct recommendation *const *)a;
    const struct recommendation *y = *(const struct recommendation *const *)b;

    return ORDER(x->priority, y->priority) ?: ORDER(x, y);
}

const struct recommendations *recommend_find(struct study *st)
{
    struct recommendations *out = ARENA_NEW(&st->scratch, struct recommendations);
    struct adviser a = {.st = st, .judgement = study_judgement(st), .groups = study_groups(st)};

    for (size_t g = 0; g < a.groups->n; g++) {
        advise_habit(&a, g);
        advise_host(&a, g);
        advise_comm(&a, g);
        advise_stacks(&a, g);
    }
    advise_aicpu(&a);
    advise_ops(&a);
    advise_capture(&a);
    if (a.list.n == 0 && study_steps(st)->n > 0)
        advise(&a, "nothing-found", "global", S(""), PRIORITY_P3,
               phrase_plain(&anomaly_text.advise_nothing));
    const struct recommendation **order =
        ARENA_ARRAY(&st->scratch, const struct recommendation *, a.list.n);
    for (size_t i = 0; i < a.list.n; i++)
        order[i] = &a.list.at[i];
    if (a.list.n > 0)
        qsort(order, a.list.n, sizeof(*order), by_priority);
    out->n = a.list.n;
    out->at = ARENA_ARRAY(&st->scratch, struct recommendation, out->n);
    for (size_t i = 0; i < out->n; i++)
        out->at[i] = *order[i];
    vec_free(&a.list);
    return out;
}
