/*
 * The report a person reads: what is slow, how sure that is, what to do next. It answers from the
 * judgement; every number in it is also in the JSON document.
 */
#include "analysis/anomaly.h"

#include "analysis/analysis.h"
#include "analysis/boundary.h"
#include "analysis/bubbles.h"
#include "analysis/evidence.h"
#include "analysis/gaps.h"
#include "analysis/groups.h"
#include "analysis/judgement.h"
#include "analysis/ops.h"
#include "analysis/recommend.h"
#include "analysis/selfcheck.h"
#include "analysis/steps.h"

enum {
    NAME_MOST = 56,
    MAX_STEP_ROWS = 12,
    MAX_GROUP_ROWS = 8,
    MAX_FINDINGS = 5,
    MAX_ADVICE = 6,
    MAX_OPS = 8
};

static const struct column step_columns[] = {
    {"step", COLUMN_TEXT, UNIT_PLAIN},          {"service ms", COLUMN_NUMBER, UNIT_MS},
    {"busy ms", COLUMN_NUMBER, UNIT_MS},        {"underfeed %", COLUMN_NUMBER, UNIT_RATIO},
    {"prelaunch ms", COLUMN_NUMBER, UNIT_MS},   {"internal ms", COLUMN_NUMBER, UNIT_MS},
    {"largest gap ms", COLUMN_NUMBER, UNIT_MS}, {"tail ms", COLUMN_NUMBER, UNIT_MS},
    {"kernels", COLUMN_NUMBER, UNIT_COUNT},     {"severity", COLUMN_TEXT, UNIT_PLAIN},
};

static const struct column group_columns[] = {
    {"group", COLUMN_TEXT, UNIT_PLAIN},      {"steps", COLUMN_NUMBER, UNIT_COUNT},
    {"service ms", COLUMN_NUMBER, UNIT_MS},  {"underfeed %", COLUMN_NUMBER, UNIT_RATIO},
    {"idle habit", COLUMN_TEXT, UNIT_PLAIN}, {"severity", COLUMN_TEXT, UNIT_PLAIN},
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
};

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* How many rows a list of the text has: as the user says, or what fits. */
static size_t top_of(const struct teller *t, size_t usual)
{
    return t->st->options.top > 0 ? t->st->options.top : usual;
}

/* Names of GPU kernels can fill a screen: the first NAME_MOST characters tell them apart. */
static struct str short_name(struct teller *t, struct str name)
{
    size_t n = 0, characters = 0;

    while (n < name.n && characters < NAME_MOST) {
        n++;
        while (n < name.n && ((unsigned char)name.at[n] & 0xc0) == 0x80)
            n++;
        characters++;
    }
    return n < name.n ? arena_format(&t->st->scratch, "%.*s…", (int)n, name.at) : name;
}

static void summarise(struct teller *t)
{
    const struct capture *cap = t->st->cap;
    struct kernel_order kernels = study_kernels(t->st);
    size_t streams = 0;

    for (size_t i = 0; i < cap->lanes.n; i++)
        streams += cap->lanes.at[i].key.kind == LANE_STREAM && cap->lanes.at[i].n > 0;
    report_summary(t->r, arena_format(&t->st->scratch,
                                      "%zu %s%s · %zu kernel%s · %zu stream%s · %s", t->steps->n,
                                      t->steps->source == STEPS_PSEUDO ? "pseudo-step" : "step",
                                      plural(t->steps->n), kernels.n, plural(kernels.n), streams,
                                      plural(streams), origin_name(cap->origin)));
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
    const char *service = quantity_text(&t->st->scratch, (double)m->service, UNIT_NS);
    return arena_format(&t->st->scratch, " Worst is %.*s: %s of %s.",
                        STR_ARGS(t->steps->at[worst].id),
                        quantity_text(&t->st->scratch, m->underfeed_ratio, UNIT_RATIO), service);
}

/* One paragraph that can stand alone. */
static void tell_verdict(struct teller *t)
{
    const struct judgement *j = t->judgement;
    const char *idle = quantity_text(&t->st->scratch, t->bubbles->global.gap_ratio, UNIT_RATIO);

    if (j->group == SIZE_MAX) {
        report_say(t->r,
                   "No hidden issue: the device idles %s of the time, no "
                   "step for 30 %%, and no single gap is heavy.",
                   idle);
        return;
    }
    const struct group *g = &t->groups->at[j->group];
    struct str worst = worst_step(t, g);
    report_say(t->r,
               "Severity %s: %zu of %zu step%s idle for %s of %s on "
               "average (%s).%.*s Confidence in causes: %s.",
               severity_level_name(j->severity), g->n, t->steps->n, plural(t->steps->n),
               quantity_text(&t->st->scratch, g->metrics[GROUP_UNDERFEED_RATIO].avg, UNIT_RATIO),
               quantity_text(&t->st->scratch, g->metrics[GROUP_SERVICE].avg, UNIT_NS),
               idle_pattern_name(g->pattern), STR_ARGS(worst), grade_name(j->confidence));
}

static void add_step(struct teller *t, struct table *table, size_t i)
{
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
    table_text(t->r, table, str_of(severity_level_name(t->judgement->steps[i].severity)));
}

static void tell_steps(struct teller *t)
{
    struct table *table = report_table(t->r, step_columns, ARRAY_LEN(step_columns));

    for (size_t i = 0; i < t->steps->n && i < MAX_STEP_ROWS; i++)
        add_step(t, table, i);
    if (t->steps->n > MAX_STEP_ROWS)
        report_say(t->r, "  and %zu more steps, all of them in the JSON",
                   t->steps->n - MAX_STEP_ROWS);
}

static void tell_groups(struct teller *t)
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
        table_number(table, g->metrics[GROUP_UNDERFEED_RATIO].avg);
        table_text(t->r, table, str_of(idle_pattern_name(g->pattern)));
        table_text(t->r, table, str_of(severity_level_name(v->severity)));
        table_text(t->r, table, str_of(grade_name(v->host_risk)));
    }
}

/* "after MatMul (AI_CORE, 45.00 us, stream 2)" */
static struct str neighbour(struct teller *t, const char *where, size_t slice)
{
    const struct capture *cap = t->st->cap;

    if (slice == NO_KERNEL)
        return S("");
    struct str name = short_name(t, capture_text(cap, cap->slices.name[slice]));
    struct str core = capture_slice_text(cap, slice, KEY_CORE);
    struct str stream = capture_text(cap, cap->lanes.at[cap->slices.lane[slice]].key.name);
    return arena_format(&t->st->scratch, ", %s %.*s (%.*s%s%s, stream %.*s)", where, STR_ARGS(name),
                        STR_ARGS(core), core.n > 0 ? ", " : "",
                        quantity_text(&t->st->scratch, (double)cap->slices.dur[slice], UNIT_NS),
                        STR_ARGS(stream));
}

static const struct {
    enum label label;
    const char *text;
} causes[] = {
    {LABEL_SYNC_OR_H2D, "synchronisation or copies"},
    {LABEL_COMM_WAIT, "waiting for communication"},
    {LABEL_UNTRACED_HOST, "host work that the profile does not show"},
    {LABEL_LAUNCH_LAG, "host launch lag"},
    {LABEL_PYTHON_SERIAL, "one busy host thread, a lock or garbage collection"},
};

static double share_for(const struct evidence *e, enum label label)
{
    return label == LABEL_SYNC_OR_H2D ? e->sync : label == LABEL_COMM_WAIT ? e->comm : e->host;
}

static void tell_causes(struct teller *t, struct finding *f, const struct evidence *e)
{
    struct arena *scratch = &t->st->scratch;

    for (size_t i = 0; i < ARRAY_LEN(causes); i++) {
        if (!(e->labels & causes[i].label))
            continue;
        finding_cause(t->r, f, CERTAINTY_POSSIBLE,
                      t->st->cap->has & HAS_HOST
                          ? arena_format(scratch, "%s: such events cover %s of the gap",
                                         causes[i].text,
                                         quantity_text(&t->st->scratch,
                                                       share_for(e, causes[i].label), UNIT_RATIO))
                          : str_of(causes[i].text));
    }
    if (e->labels == LABEL_INSUFFICIENT)
        finding_cause(t->r, f, CERTAINTY_INSUFFICIENT,
                      S("host events cover too little of the gap"));
    if (e->n_ops > 0) {
        struct str name = short_name(t, capture_text(t->st->cap, e->ops[0].name));
        const char *overlap = quantity_text(&t->st->scratch, (double)e->ops[0].overlap, UNIT_NS);
        finding_advice(
            t->r, f, arena_format(scratch, "look at %.*s, %s of the gap", STR_ARGS(name), overlap));
    }
}

static enum step_tag tag_of(enum bubble_scope scope)
{
    return scope == SCOPE_PRELAUNCH ? TAG_PRELAUNCH_GAP_HEAVY
           : scope == SCOPE_TAIL    ? TAG_TAIL_GAP_HEAVY
                                    : TAG_INTERNAL_BUBBLE_HEAVY;
}

static void tell_gap(struct teller *t, size_t i, enum step_tag tag, enum priority priority)
{
    static const char *const places[] = {"before the first kernel", "between kernels",
                                         "after the last kernel"};
    const struct bubble *b = &t->bubbles->list[i];
    const char *at = quantity_text(
        &t->st->scratch, (double)nanos_sub(b->at.begin, t->bubbles->global.span.begin), UNIT_NS);
    struct str after = neighbour(t, "after", b->before), before = neighbour(t, "before", b->after);
    struct finding *f = report_finding(
        t->r, step_tag_name(tag), priority, t->steps->at[b->step].id,
        arena_format(
            &t->st->scratch, "%s idle %s, at %s%.*s%.*s",
            quantity_text(&t->st->scratch, (double)nanos_sub(b->at.end, b->at.begin), UNIT_NS),
            places[b->scope], at, STR_ARGS(after), STR_ARGS(before)));

    if (study_boundary(t->st)->is_bubble[i])
        finding_gap(t->r, f, S("it touches the edge of the recording, so it may only be that"));
    else
        tell_causes(t, f, &study_evidence(t->st)[i]);
    if (!(t->st->cap->has & HAS_HOST))
        finding_gap(t->r, f, S("host events (a timeline such as trace_view.json)"));
}

/* The longest heavy gaps, or the longest of all when a step idles in many small ones. */
static void tell_gaps(struct teller *t)
{
    enum priority priority = PRIORITY_P3;
    size_t told = 0;

    if (t->judgement->severity >= SEVERITY_MEDIUM)
        priority = t->judgement->severity == SEVERITY_HIGH ? PRIORITY_P1 : PRIORITY_P2;
    for (size_t i = 0; i < t->bubbles->n && told < top_of(t, MAX_FINDINGS); i++) {
        const struct bubble *b = &t->bubbles->list[i];
        const struct step_metrics *m = &t->bubbles->metrics[b->step];
        bool is_heavy = bubble_is_heavy(nanos_sub(b->at.end, b->at.begin), m->service);
        if (!is_heavy && !(m->tags == TAG_DEVICE_IDLE_GAP_HEAVY && told < 1))
            continue;
        tell_gap(t, i, is_heavy ? tag_of(b->scope) : TAG_DEVICE_IDLE_GAP_HEAVY, priority);
        told++;
    }
}

static void tell_ops(struct teller *t)
{
    const struct ops *ops = ops_find(t->st, 0, study_kernels(t->st).n);
    struct table *table = report_table(t->r, op_columns, ARRAY_LEN(op_columns));

    for (size_t i = 0; i < ops->n && i < top_of(t, MAX_OPS); i++) {
        const struct op *op = ops->by_duration[i];
        const char *note = op->is_anchor     ? "wait anchor: the gap lies before it"
                           : op->is_polluted ? "wait beside communication"
                           : op->cost_rank >= op->duration_rank + 10 ? "cheap to wait for"
                                                                     : "";
        table_text(t->r, table, short_name(t, op->key));
        table_number(table, (double)op->calls);
        table_number(table, (double)op->duration);
        table_number(table, num_share(op->duration, ops->kernel_sum));
        table_number(table, (double)op->duration / (double)op->calls);
        table_number(table, op->wait_us_avg * 1000);
        table_text(t->r, table, str_of(note));
    }
}

static void tell_advice(struct teller *t)
{
    const struct recommendations *list = recommend_find(t->st);

    if (list->n == 0)
        return;
    report_heading(t->r, S("What to do"));
    for (size_t i = 0; i < list->n && i < MAX_ADVICE; i++) {
        const struct recommendation *a = &list->at[i];
        report_say(t->r, "  %s  %.*s%s%.*s", priority_name(a->priority), STR_ARGS(a->message),
                   a->n_evidence > 0 ? "\n      because " : "", STR_ARGS(a->evidence[0]));
    }
    if (list->n > MAX_ADVICE)
        report_say(t->r, "  and %zu more, in the JSON", list->n - MAX_ADVICE);
}

static void tell_doubts(struct teller *t)
{
    const struct selfchecks *checks = selfcheck_find(t->st);

    for (size_t i = 0; i < checks->n; i++)
        if (!checks->at[i].is_ok)
            report_say(t->r,
                       "The data disagree with themselves: %.*s: %.6g told, "
                       "%.6g found.",
                       STR_ARGS(checks->at[i].name), checks->at[i].expected, checks->at[i].actual);
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
            report_heading(t->r, S("Missing files"));
        report_say(t->r, "  %s", gaps.at[i].text);
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
    };

    summarise(&t);
    if (study_kernels(st).n == 0) {
        report_text(r, S("No kernels: the capture holds no device work to judge."));
        return;
    }
    tell_verdict(&t);
    tell_steps(&t);
    tell_groups(&t);
    tell_gaps(&t);
    tell_ops(&t);
    tell_advice(&t);
    tell_doubts(&t);
    tell_gaps_in_files(&t);
}

const struct analysis analysis_anomaly = {
    .name = "anomaly",
    .summary = "where the device sat idle",
    .needs = HAS_KERNELS,
    .schema = &anomaly_schema,
    .find = anomaly_find,
    .run = anomaly_describe,
};
