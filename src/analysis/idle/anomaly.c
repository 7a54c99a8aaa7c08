/*
 * The report a person reads: what is slow, how sure that is, what to do next. It answers from the
 * judgement; every number in it is also in the JSON document.
 */
#include "analysis/idle/anomaly.h"

#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/idle/bubbles.h"
#include "analysis/idle/evidence.h"
#include "analysis/idle/gaps.h"
#include "analysis/idle/judgement.h"
#include "analysis/idle/recommend.h"
#include "analysis/idle/selfcheck.h"
#include "analysis/ops/ops.h"
#include "analysis/steps/boundary.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/steps.h"
#include "text/anomaly.h"

enum {
    NAME_MOST = 56,
    MAX_STEP_ROWS = 12,
    MAX_GROUP_ROWS = 8,
    MAX_FINDINGS = 5,
    MAX_ADVICE = 6,
    MAX_OPS = 8
};

static const struct column step_columns[] = {
    {"step", COLUMN_TEXT, UNIT_PLAIN},           {"by marks ms", COLUMN_NUMBER, UNIT_MS},
    {"busy ms", COLUMN_NUMBER, UNIT_MS},         {"idle %", COLUMN_NUMBER, UNIT_RATIO},
    {"before first ms", COLUMN_NUMBER, UNIT_MS}, {"between ms", COLUMN_NUMBER, UNIT_MS},
    {"largest gap ms", COLUMN_NUMBER, UNIT_MS},  {"after last ms", COLUMN_NUMBER, UNIT_MS},
    {"kernels", COLUMN_NUMBER, UNIT_COUNT},      {"severity", COLUMN_TEXT, UNIT_PLAIN},
};

static const struct column group_columns[] = {
    {"group", COLUMN_TEXT, UNIT_PLAIN},      {"steps", COLUMN_NUMBER, UNIT_COUNT},
    {"by marks ms", COLUMN_NUMBER, UNIT_MS}, {"idle %", COLUMN_NUMBER, UNIT_RATIO},
    {"idle", COLUMN_TEXT, UNIT_PLAIN},       {"severity", COLUMN_TEXT, UNIT_PLAIN},
    {"host risk", COLUMN_TEXT, UNIT_PLAIN},
};

static const struct column op_columns[] = {
    {"operator", COLUMN_TEXT, UNIT_PLAIN}, {"calls", COLUMN_NUMBER, UNIT_COUNT},
    {"total ms", COLUMN_NUMBER, UNIT_MS},  {"share %", COLUMN_NUMBER, UNIT_RATIO},
    {"each us", COLUMN_NUMBER, UNIT_US},   {"wait us", COLUMN_NUMBER, UNIT_US},
    {"note", COLUMN_TEXT, UNIT_PLAIN},
};

struct teller {
    struct study *st;
    struct report *r;
    const struct steps *steps;
    const struct bubbles *bubbles;
    const struct groups *groups;
    const struct judgement *judgement;
    const struct diagnosis *diagnosis;
};

/* A name of the catalogue's words. */
static struct str anomaly_word(const struct teller *t, const char *english)
{
    return message_word(t->r->lang, str_of(english));
}

/* Where a step idles most, in words. */
static struct str pattern_text(const struct teller *t, enum idle_pattern pattern)
{
    static const struct message *const texts[] = {
        &anomaly_text.idle_before_first,  &anomaly_text.idle_after_last, &anomaly_text.idle_between,
        &anomaly_text.idle_between_steps, &anomaly_text.idle_mixed,      &anomaly_text.idle_nowhere,
    };

    return report_message(t->r, texts[pattern]);
}

/* How many rows a list of the text has: as the user says, or what fits. */
static size_t top_of(const struct teller *t, size_t usual)
{
    return t->st->options.top > 0 ? t->st->options.top : usual;
}

/* Names of GPU kernels can fill a screen: their beginnings tell them apart. */
static struct str short_name(struct teller *t, struct str name)
{
    struct str front = str_fit(name, NAME_MOST);

    return front.n < name.n ? arena_format(&t->st->scratch, "%.*s…", STR_ARGS(front)) : name;
}

static void summarise(struct teller *t)
{
    const struct capture *cap = t->st->cap;
    struct kernel_order kernels = study_kernels(t->st);
    size_t streams = 0;

    for (size_t i = 0; i < cap->lanes.n; i++)
        streams += cap->lanes.at[i].key.kind == LANE_STREAM && cap->lanes.at[i].n > 0;
    report_summary(t->r,
                   REPORT_MESSAGE(t->r,
                                  t->steps->source == STEPS_PSEUDO ? &anomaly_text.summary_pseudo
                                                                   : &anomaly_text.summary,
                                  PLACE("steps", t->steps->n), PLACE("kernels", kernels.n),
                                  PLACE("streams", streams),
                                  PLACE("origin", anomaly_word(t, origin_name(cap->origin)))));
}

/* The step with the largest share of idle time, for groups whose average hides it. */
static struct str worst_step(struct teller *t, const struct group *g)
{
    size_t worst = g->steps[0];

    for (size_t i = 1; i < g->n; i++)
        if (t->bubbles->metrics[g->steps[i]].underfeed_ratio >
            t->bubbles->metrics[worst].underfeed_ratio)
            worst = g->steps[i];
    const struct step_metrics *m = &t->bubbles->metrics[worst];
    if (g->n < 2 || m->underfeed_ratio < 1.25 * g->metrics[GROUP_UNDERFEED_RATIO].avg)
        return S("");
    return REPORT_MESSAGE(t->r, &anomaly_text.worst, PLACE("step", t->steps->at[worst].id),
                          place_quantity("share", m->underfeed_ratio, UNIT_RATIO),
                          place_quantity("time", (double)m->service, UNIT_NS));
}

static enum root_cause root_of(const struct teller *t)
{
    return t->diagnosis->verdict.found.cause;
}

/* Where steps are marked, that a time is of the marks is said. */
static struct str by_marks(struct teller *t, double time)
{
    const char *text = quantity_text(&t->r->arena, time, UNIT_NS);

    return t->steps->source == STEPS_PSEUDO
               ? str_of(text)
               : REPORT_MESSAGE(t->r, &anomaly_text.by_marks, PLACE("time", text));
}

/* Paragraphs that can stand alone: what limits the run, and how much of it is idle time. */
static void tell_verdict(struct teller *t)
{
    const struct judgement *j = t->judgement;

    report_text(t->r, wording_text(t->r->lang, &t->r->arena, t->diagnosis->text));
    if (j->group == SIZE_MAX) {
        report_text(
            t->r,
            REPORT_MESSAGE(
                t->r, root_of(t) == ROOT_HEALTHY ? &anomaly_text.healthy : &anomaly_text.idle_small,
                place_quantity("share", t->bubbles->global.gap_ratio, UNIT_RATIO)));
        return;
    }
    const struct group *g = &t->groups->at[j->group];
    report_text(t->r,
                REPORT_MESSAGE(t->r, &anomaly_text.verdict,
                               PLACE("severity", anomaly_word(t, severity_level_name(j->severity))),
                               PLACE("n", g->counted), PLACE("all", t->steps->n),
                               place_quantity("share", g->underfeed_of_sums, UNIT_RATIO),
                               PLACE("time", by_marks(t, g->metrics[GROUP_SERVICE].avg)),
                               PLACE("pattern", pattern_text(t, g->pattern)),
                               PLACE("worst", worst_step(t, g)),
                               PLACE("confidence", anomaly_word(t, grade_name(j->confidence)))));
}

/* Copies of a device that the contract has as idle time, which others call copies. */
static void tell_idle_copies(struct teller *t)
{
    const struct slices *s = &t->st->cap->slices;
    nanos time = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->kind[i] == SLICE_COPY && !study_is_kernel(t->st, i)) {
            time = nanos_add(time, s->dur[i]);
            n++;
        }
    if (n > 0)
        report_fact(t->r, "copies",
                    REPORT_MESSAGE(t->r, &anomaly_text.idle_copies, PLACE("n", n),
                                   place_quantity("time", (double)time, UNIT_NS)));
}

/* The five questions: whether, where, when, by whose fault, and whether that is known. */
static void tell_answers(struct teller *t)
{
    const struct judgement *j = t->judgement;
    const struct group *g = j->group != SIZE_MAX ? &t->groups->at[j->group] : NULL;
    const struct global_gaps *all = &t->bubbles->global;
    const struct message *is_idle =
        j->severity > SEVERITY_NONE ? &anomaly_text.answer_yes : &anomaly_text.answer_no;

    report_fact(t->r, "idle time",
                REPORT_MESSAGE(
                    t->r, is_idle, place_quantity("time", (double)all->gap, UNIT_NS),
                    place_quantity("share", all->gap_ratio, UNIT_RATIO),
                    place_quantity("span", (double)all->length, UNIT_NS), PLACE("n", t->bubbles->n),
                    place_quantity("least", (double)t->st->options.min_bubble, UNIT_NS)));
    tell_idle_copies(t);
    if (g == NULL)
        return;
    report_fact(t->r, "steps",
                REPORT_MESSAGE(t->r, &anomaly_text.answer_group, PLACE("group", j->group),
                               PLACE("n", g->n), PLACE("all", t->steps->n)));
    report_fact(t->r, "pattern", pattern_text(t, g->pattern));
    report_fact(t->r, "host risk", anomaly_word(t, grade_name(j->groups[j->group].host_risk)));
    report_fact(t->r, "evidence",
                REPORT_MESSAGE(t->r, &anomaly_text.answer_evidence,
                               PLACE("grade", anomaly_word(t, grade_name(j->confidence)))));
}

static void put_severity(struct report *r, struct table *table, enum severity_level severity)
{
    static const enum cell_mark marks[] = {
        [SEVERITY_MEDIUM] = MARK_DOUBT, [SEVERITY_HIGH] = MARK_BAD};

    table_word(r, table, severity_level_name(severity));
    table_mark(table, marks[severity]);
}

static int by_nanos_down(const void *a, const void *b)
{
    return ORDER(*(const nanos *)b, *(const nanos *)a);
}

static void describe_steps(struct teller *t)
{
    struct table *table = report_table(t->r, step_columns, ARRAY_LEN(step_columns));
    nanos least = 0;
    size_t told = 0;

    if (t->steps->n > MAX_STEP_ROWS) { /* those that idle most are told */
        nanos *idle = ARENA_ARRAY(&t->st->scratch, nanos, t->steps->n);
        for (size_t i = 0; i < t->steps->n; i++)
            idle[i] = t->bubbles->metrics[i].underfeed;
        qsort(idle, t->steps->n, sizeof(*idle), by_nanos_down);
        least = idle[MAX_STEP_ROWS - 1];
    }
    for (size_t i = 0; i < t->steps->n && told < MAX_STEP_ROWS; i++)
        if (t->bubbles->metrics[i].underfeed >= least) {
            const struct step_metrics *m = &t->bubbles->metrics[i];
            table_text(t->r, table, t->steps->at[i].id);
            table_number(table, (double)m->service);
            table_number(table, (double)m->busy);
            table_number(table, m->underfeed_ratio);
            table_number(table, (double)m->prelaunch);
            table_number(table, (double)m->internal);
            table_number(table, (double)m->largest_internal);
            table_number(table, (double)m->tail);
            table_number(table, (double)t->bubbles->inventory[i].kernels);
            put_severity(t->r, table, t->judgement->steps[i].severity);
            told++;
        }
    if (t->steps->n > MAX_STEP_ROWS)
        report_text(t->r, REPORT_MESSAGE(t->r, &anomaly_text.more_steps,
                                         PLACE("n", t->steps->n - MAX_STEP_ROWS)));
}

static void describe_groups(struct teller *t)
{
    if (t->groups->n < 2)
        return;
    struct table *table = report_table(t->r, group_columns, ARRAY_LEN(group_columns));
    for (size_t i = 0; i < t->groups->n && i < MAX_GROUP_ROWS; i++) {
        const struct group *g = &t->groups->at[i];
        const struct verdict *v = &t->judgement->groups[i];
        table_text(t->r, table, arena_format(&t->st->scratch, "g%zu", i));
        table_number(table, (double)g->n);
        table_number(table, g->metrics[GROUP_SERVICE].avg);
        table_number(table, g->underfeed_of_sums);
        table_text(t->r, table, pattern_text(t, g->pattern));
        put_severity(t->r, table, v->severity);
        table_word(t->r, table, grade_name(v->host_risk));
    }
}

/* ", after MatMul (AI_CORE, 45.00 us, stream 2)" */
static struct str neighbour(struct teller *t, const struct message *where, size_t slice)
{
    const struct capture *cap = t->st->cap;

    if (slice == NO_KERNEL)
        return S("");
    struct str core = capture_slice_text(cap, slice, KEY_CORE);
    struct str work =
        arena_format(&t->st->scratch, "%.*s%s%s", STR_ARGS(core), core.n > 0 ? ", " : "",
                     quantity_text(&t->st->scratch, (double)cap->slices.dur[slice], UNIT_NS));
    return REPORT_MESSAGE(
        t->r, where, PLACE("kernel", short_name(t, capture_text(cap, cap->slices.name[slice]))),
        PLACE("work", work),
        PLACE("stream", capture_text(cap, cap->lanes.at[cap->slices.lane[slice]].key.name)));
}

static const struct {
    enum label label;
    const struct message *text, *with_share;
} causes[] = {
    {LABEL_SYNC_OR_H2D, &anomaly_text.cause_sync, &anomaly_text.cause_sync_share},
    {LABEL_COMM_WAIT, &anomaly_text.cause_comm, &anomaly_text.cause_comm_share},
    {LABEL_UNTRACED_HOST, &anomaly_text.cause_untraced, &anomaly_text.cause_untraced_share},
    {LABEL_LAUNCH_LAG, &anomaly_text.cause_launch, &anomaly_text.cause_launch_share},
    {LABEL_PYTHON_SERIAL, &anomaly_text.cause_python, &anomaly_text.cause_python_share},
};

static void describe_causes(struct teller *t, struct finding *f, const struct evidence *e)
{
    for (size_t i = 0; i < ARRAY_LEN(causes); i++) {
        enum label label = causes[i].label;
        double share = label == LABEL_SYNC_OR_H2D ? e->sync
                       : label == LABEL_COMM_WAIT ? e->comm
                                                  : e->host;
        if (!(e->labels & label))
            continue;
        finding_cause(t->r, f, CERTAINTY_POSSIBLE,
                      t->st->cap->has & HAS_HOST
                          ? REPORT_MESSAGE(t->r, causes[i].with_share,
                                           place_quantity("share", share, UNIT_RATIO))
                          : report_message(t->r, causes[i].text));
    }
    if (e->labels == LABEL_INSUFFICIENT)
        finding_cause(t->r, f, CERTAINTY_INSUFFICIENT,
                      report_message(t->r, &anomaly_text.cause_unknown));
    if (e->n_ops > 0)
        finding_advice(
            t->r, f,
            REPORT_MESSAGE(t->r, &anomaly_text.look_at,
                           PLACE("name", short_name(t, capture_text(t->st->cap, e->ops[0].name))),
                           place_quantity("time", (double)e->ops[0].overlap, UNIT_NS)));
}

static strid anomaly_name_of(const struct teller *t, size_t slice)
{
    return slice == NO_KERNEL ? 0 : t->st->cap->slices.name[slice];
}

/* Gaps at the same place between the same kernels, with the same possible causes. */
static bool is_alike(struct teller *t, size_t i, size_t k)
{
    const struct bubble *a = &t->bubbles->list[i], *b = &t->bubbles->list[k];
    const struct evidence *evidence = study_evidence(t->st);
    const bool *is_edge = study_boundary(t->st)->is_bubble;

    return a->scope == b->scope && anomaly_name_of(t, a->before) == anomaly_name_of(t, b->before) &&
           anomaly_name_of(t, a->after) == anomaly_name_of(t, b->after) &&
           evidence[i].labels == evidence[k].labels && is_edge[i] == is_edge[k];
}

/* "; 12 such gaps, 48.00 ms in all" behind a gap that has others like it. */
static struct str told_with_others(struct teller *t, size_t i, struct str fact)
{
    nanos sum = 0;
    size_t n = 0;

    for (size_t k = i; k < t->bubbles->n; k++)
        if (is_alike(t, i, k)) {
            const struct interval *at = &t->bubbles->list[k].at;
            sum = nanos_add(sum, nanos_sub(at->end, at->begin));
            n++;
        }
    if (n < 2)
        return fact;
    struct str others = REPORT_MESSAGE(t->r, &anomaly_text.alike, PLACE("n", n),
                                       place_quantity("sum", (double)sum, UNIT_NS));
    return arena_format(&t->r->arena, "%.*s; %.*s", STR_ARGS(fact), STR_ARGS(others));
}

static void tell_gap(struct teller *t, size_t i, enum step_tag tag, enum priority priority)
{
    static const struct message *const places[] = {
        &anomaly_text.gap_before_first, &anomaly_text.gap_between, &anomaly_text.gap_after_last};
    const struct bubble *b = &t->bubbles->list[i];
    struct str fact = REPORT_MESSAGE(
        t->r, places[b->scope],
        place_quantity("time", (double)nanos_sub(b->at.end, b->at.begin), UNIT_NS),
        place_quantity("at", (double)nanos_sub(b->at.begin, t->bubbles->global.span.begin),
                       UNIT_NS),
        PLACE("after", neighbour(t, &anomaly_text.after, b->before)),
        PLACE("before", neighbour(t, &anomaly_text.before, b->after)));
    struct finding *f = report_finding(t->r, step_tag_name(tag), priority, t->steps->at[b->step].id,
                                       told_with_others(t, i, fact));

    if (study_boundary(t->st)->is_bubble[i])
        finding_gap(t->r, f, report_message(t->r, &anomaly_text.at_edge));
    else
        describe_causes(t, f, &study_evidence(t->st)[i]);
    if (!(t->st->cap->has & HAS_HOST))
        finding_gap(t->r, f, report_message(t->r, &anomaly_text.no_host));
}

/* Whether the verdict is about a device that waits for its host; gaps matter less elsewhere. */
static bool is_about_idleness(enum root_cause cause)
{
    return cause == ROOT_UNKNOWN || (cause >= ROOT_LAUNCH_BOUND && cause <= ROOT_PAGEABLE_COPY) ||
           cause == ROOT_OPTIMIZER_UNFUSED || cause == ROOT_DEVICE_DEPENDENCY ||
           cause == ROOT_SLOW_STEP_SAME_WORK || cause == ROOT_VARIABLE_SHAPES;
}

/* The longest heavy gaps, or the longest of all when a step idles in many small ones. */
static void describe_gaps(struct teller *t)
{
    static const enum step_tag tags[] = {[SCOPE_PRELAUNCH] = TAG_PRELAUNCH_GAP_HEAVY,
                                         [SCOPE_INTERNAL] = TAG_INTERNAL_BUBBLE_HEAVY,
                                         [SCOPE_TAIL] = TAG_TAIL_GAP_HEAVY};
    enum priority priority = PRIORITY_P3;
    size_t told = 0, alike;

    if (t->judgement->severity >= SEVERITY_MEDIUM && is_about_idleness(root_of(t)))
        priority = t->judgement->severity == SEVERITY_HIGH ? PRIORITY_P1 : PRIORITY_P2;
    for (size_t i = 0; i < t->bubbles->n && told < top_of(t, MAX_FINDINGS); i++) {
        const struct bubble *b = &t->bubbles->list[i];
        const struct step_metrics *m = &t->bubbles->metrics[b->step];
        bool is_heavy = bubble_is_heavy(nanos_sub(b->at.end, b->at.begin), m->service);
        if (!is_heavy && !(m->tags == TAG_DEVICE_IDLE_GAP_HEAVY && told < 1))
            continue;
        for (alike = 0; alike < i && !is_alike(t, i, alike);)
            alike++;
        if (alike < i) /* told already */
            continue;
        tell_gap(t, i, is_heavy ? tags[b->scope] : TAG_DEVICE_IDLE_GAP_HEAVY, priority);
        told++;
    }
}

static void tell_ops(struct teller *t)
{
    const struct ops *ops = ops_find(t->st, 0, study_kernels(t->st).n);
    struct table *table = report_table(t->r, op_columns, ARRAY_LEN(op_columns));

    for (size_t i = 0; i < ops->n && i < top_of(t, MAX_OPS); i++) {
        const struct op *op = ops->by_duration[i];
        const struct message *note = op->is_anchor     ? &anomaly_text.op_anchor
                                     : op->is_polluted ? &anomaly_text.op_beside_comm
                                     : op->cost_rank >= op->duration_rank + 10
                                         ? &anomaly_text.op_short
                                         : NULL;
        table_text(t->r, table, short_name(t, op->key));
        table_number(table, (double)op->calls);
        table_number(table, (double)op->duration);
        table_number(table, num_share(op->duration, ops->kernel_sum));
        table_number(table, (double)op->duration / (double)op->calls);
        table_number(table, op->wait_us_avg * 1000);
        table_text(t->r, table, note != NULL ? report_message(t->r, note) : S(""));
    }
}

/* Advice that only some verdicts bear out; others contradict it. */
static const struct {
    const char *id;
    enum root_cause causes[5]; /* ended by ROOT_HEALTHY */
} borne_out[] = {
    {"remove-syncs", {ROOT_HOST_SYNC, ROOT_PAGEABLE_COPY, ROOT_COPY_UNNEEDED, ROOT_UNKNOWN}},
    {"launch-faster", {ROOT_LAUNCH_BOUND, ROOT_OPTIMIZER_UNFUSED, ROOT_UNKNOWN}},
    {"free-the-host", {ROOT_PYTHON_OVERHEAD, ROOT_CPU_OPERATOR, ROOT_INPUT_PIPELINE, ROOT_UNKNOWN}},
    {"sample-host", {ROOT_HOST_UNTRACED, ROOT_SLOW_STEP_SAME_WORK, ROOT_UNKNOWN}},
};

static bool is_contradicted(const struct teller *t, const struct recommendation *a)
{
    for (size_t i = 0; i < ARRAY_LEN(borne_out); i++) {
        if (strcmp(borne_out[i].id, a->id) != 0)
            continue;
        for (size_t k = 0; borne_out[i].causes[k] != ROOT_HEALTHY; k++)
            if (borne_out[i].causes[k] == root_of(t))
                return false;
        return true;
    }
    return false;
}

static void tell_one_advice(struct teller *t, const struct recommendation *a, bool is_demoted)
{
    report_text(t->r,
                REPORT_MESSAGE(
                    t->r, a->n_evidence > 0 ? &anomaly_text.advice_because : &anomaly_text.advice,
                    PLACE("priority", priority_name(is_demoted ? PRIORITY_P3 : a->priority)),
                    PLACE("message", phrase_text(t->r->lang, &t->r->arena, a->advice)),
                    PLACE("evidence", phrase_text(t->r->lang, &t->r->arena, a->because))));
}

/* What the verdict asks for stands above all; advice that contradicts it comes last. */
static void tell_advice(struct teller *t)
{
    const struct recommendations *list = recommend_find(t->st);
    size_t told = 0;

    if (list->n == 0)
        return;
    report_heading(t->r, report_message(t->r, &anomaly_text.what_to_do));
    if (root_of(t) != ROOT_HEALTHY && root_of(t) != ROOT_UNKNOWN)
        report_text(t->r,
                    REPORT_MESSAGE(t->r, &anomaly_text.advice,
                                   PLACE("priority", priority_name(PRIORITY_P0)),
                                   PLACE("message", wording_text(t->r->lang, &t->r->arena,
                                                                 t->diagnosis->verdict.action))));
    for (int is_demoted = 0; is_demoted < 2; is_demoted++)
        for (size_t i = 0; i < list->n && told < MAX_ADVICE; i++)
            if (is_contradicted(t, &list->at[i]) == is_demoted) {
                tell_one_advice(t, &list->at[i], is_demoted);
                told++;
            }
    if (list->n > MAX_ADVICE)
        report_text(t->r, REPORT_MESSAGE(t->r, &anomaly_text.more_advice,
                                         PLACE("n", list->n - MAX_ADVICE)));
}

static void tell_doubts(struct teller *t)
{
    const struct selfchecks *checks = selfcheck_find(t->st);

    for (size_t i = 0; i < checks->n; i++)
        if (!checks->at[i].is_ok)
            report_text(t->r, REPORT_MESSAGE(t->r, &anomaly_text.disagree,
                                             PLACE("check", phrase_text(t->r->lang, &t->r->arena,
                                                                        checks->at[i].what)),
                                             PLACE("expected", checks->at[i].expected),
                                             PLACE("actual", checks->at[i].actual)));
}

/* Files that the capture lacks; what else is missing stands beside the findings. */
static void tell_gaps_in_files(struct teller *t)
{
    struct gaps gaps = gaps_find(t->st);
    bool is_first = true;

    for (size_t i = 0; i < gaps.n; i++) {
        if (!gaps.at[i].is_file)
            continue;
        if (is_first)
            report_heading(t->r, report_message(t->r, &anomaly_text.missing_files));
        struct str text = report_message(t->r, gaps.at[i].text);
        report_text(t->r, arena_format(&t->st->scratch, "  %.*s", STR_ARGS(text)));
        is_first = false;
    }
}

void anomaly_describe(struct study *st, struct report *r)
{
    struct teller t = {
        .st = st,
        .r = r,
        .steps = study_steps(st),
        .bubbles = study_bubbles(st),
        .groups = study_groups(st),
        .judgement = study_judgement(st),
        .diagnosis = study_diagnosis(st),
    };

    summarise(&t);
    if (study_kernels(st).n == 0) {
        report_text(r, report_message(r, &anomaly_text.no_kernels));
        return;
    }
    tell_verdict(&t);
    tell_answers(&t);
    describe_steps(&t);
    describe_groups(&t);
    describe_gaps(&t);
    tell_ops(&t);
    tell_advice(&t);
    tell_doubts(&t);
    tell_gaps_in_files(&t);
}

const struct analysis analysis_anomaly = {
    .name = "anomaly",
    .summary = "device idle time in each step, and its causes",
    .needs = HAS_KERNELS,
    .schema = &anomaly_schema,
    .find = anomaly_find,
    .run = anomaly_describe,
};
