/*
 * The document "strata.anomaly/1", described; one file, as it is one document. Keys and their order
 * are a contract with other tools; times in milliseconds and microseconds are printed exactly,
 * digit by digit from nanoseconds.
 */
#include "analysis/arch/structures.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/idle/aicpu.h"
#include "analysis/idle/anomaly.h"
#include "analysis/idle/bubbles.h"
#include "analysis/idle/gaps.h"
#include "analysis/idle/judgement.h"
#include "analysis/idle/recommend.h"
#include "analysis/idle/selfcheck.h"
#include "analysis/idle/waits.h"
#include "analysis/ops/ops.h"
#include "analysis/steps/boundary.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "report/envelope.h"
#include "report/quantity.h"

enum { MAX_OPS = 50, ANCHOR_OPS = 10 };

#define MS(struct_, member, key_) FIELD(struct_, member, key_, .form = FORM_MS)
#define US(struct_, member, key_) FIELD(struct_, member, key_, .form = FORM_US)

/* What the document is made of. */
struct doc {
    struct study *st;
    const struct capture *cap;
    const char *name;
    struct facts facts;
    struct steps steps;
    struct bubbles bubbles;
    struct groups groups;
    struct judgement judgement;
    struct aicpu aicpu;
    struct recommendations recommendations;
    struct selfchecks checks;
    const struct ops *ops;
    const struct diagnosis *diagnosis;
    const struct structures *structures; /* NULL: the architecture is not known */
    nanos origin;                        /* begin of the whole span: rel_us counts from here */
    nanos to_unix;
    const char *source;
    struct str time_origin;
    uint64_t rows_read, rows_kept, host_events, omitted;
    struct field_items states, losses, dropped, streams, files, warnings, limitations;
    struct field_items groups_told, bubbles_told, anchors, steps_told, structures_told;
    struct field_items suspicions, top_gaps, by_cost, by_duration, answers;
    struct str dominant, worst; /* groups */
    bool is_enabled, is_hidden;
};

/* Room for a list of the document. */
#define LIST(d, type, n) ARENA_ARRAY(&(d)->st->scratch, type, n)

/* ---- shared parts ---- */

/* Since 1970 where that is known, and relative to the origin. */
struct doc_window {
    nanos begin, end, begin_rel, end_rel;
};

static struct doc_window window_of(const struct doc *d, struct interval at)
{
    return (struct doc_window){
        .begin = nanos_add(at.begin, d->to_unix),
        .end = nanos_add(at.end, d->to_unix),
        .begin_rel = nanos_sub(at.begin, d->origin),
        .end_rel = nanos_sub(at.end, d->origin),
    };
}

static const struct field window_fields[] = {
    US(struct doc_window, begin, "start_us"),
    US(struct doc_window, end, "end_us"),
    US(struct doc_window, begin_rel, "start_rel_us"),
    US(struct doc_window, end_rel, "end_rel_us"),
};
static const struct record window_record = RECORD(struct doc_window, window_fields);

/* "g0"; empty for SIZE_MAX. */
static struct str group_name(const struct doc *d, size_t group)
{
    return group != SIZE_MAX ? arena_format(&d->st->scratch, "g%zu", group) : S("");
}

/* The names of the bits of a mask, of `end` different ones. */
static struct field_items mask_names(const struct doc *d, unsigned mask, unsigned end,
                                     const char *(*name)(unsigned bit))
{
    const char **list = LIST(d, const char *, 32);
    size_t n = 0;

    for (unsigned bit = 1; bit < end; bit <<= 1)
        if (mask & bit)
            list[n++] = name(bit);
    return (struct field_items){list, n};
}

/* ---- capture ---- */

/* What the contract calls a source, by the file that brought the kernels. */
static const char *json_source_of(const struct capture *cap)
{
    static const char *const names[] = {
        [SOURCE_KERNEL_TABLE] = "kernel_details",
        [SOURCE_TRACE_VIEW] = "trace_view",
        [SOURCE_DATABASE] = "db",
        [SOURCE_KINETO] = "kineto",
        [SOURCE_NSYS] = "nsys",
        [SOURCE_CHROME] = "trace_view",
    };

    for (enum source_kind kind = SOURCE_KERNEL_TABLE; kind <= SOURCE_CHROME; kind++)
        for (size_t i = 0; i < cap->sources.n; i++) {
            if (cap->sources.at[i].kind != kind)
                continue;
            struct str file = str_basename(str_of(cap->sources.at[i].path));
            bool is_summary =
                str_starts(file, S("op_summary_")) || str_starts(file, S("task_time_"));
            return kind == SOURCE_KERNEL_TABLE && is_summary ? "op_summary" : names[kind];
        }
    return names[SOURCE_KERNEL_TABLE];
}

static struct field_value flag_value(const void *record, const char *name,
                                     const struct record_env *env)
{
    const struct facts *facts = &((const struct doc *)record)->facts;
    int64_t value = name[0] == 'r' ? facts->record_shapes : facts->with_stack;

    (void)env;
    return value == UNKNOWN ? value_none() : value_bool(value != 0);
}

/* Rows of the kernel table that fitted its header; elsewhere the kernels that were read. */
static uint64_t json_count_rows(const struct capture *cap)
{
    uint64_t rows = 0;
    bool is_table = false;

    for (size_t i = 0; i < cap->sources.n; i++) {
        const struct source *s = &cap->sources.at[i];
        if (s->kind != SOURCE_KERNEL_TABLE)
            continue;
        rows += s->rows + s->lost - s->misfits;
        is_table = true;
    }
    return is_table ? rows : cap->kernels_read;
}

static uint64_t count_host_events(const struct slices *s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->kind[i] >= SLICE_HOST_OP && s->kind[i] <= SLICE_GC;
    return n;
}

static const struct field loss_fields[] = {
    FIELD(struct loss, code, "code"),
    FIELD(struct loss, count, "count"),
};
static const struct record loss_record = RECORD(struct loss, loss_fields);

/* The code "kernel-details.field-count" is counted under "field_count". */
static struct field_items list_dropped(const struct doc *d)
{
    const struct capture *cap = d->cap;
    struct loss *list = LIST(d, struct loss, cap->losses.n);
    size_t n = 0;

    for (size_t i = 0; i < cap->losses.n; i++) {
        const char *dot = strchr(cap->losses.at[i].code, '.');
        if (dot == NULL || !cap->losses.at[i].is_kernel)
            continue;
        char *code = arena_cstr(&d->st->scratch, str_of(dot + 1));
        for (char *c = code; *c != '\0'; c++)
            if (*c == '-')
                *c = '_';
        list[n++] = (struct loss){.code = code, .count = cap->losses.at[i].count};
    }
    return (struct field_items){list, n};
}

static struct field_items list_warnings(const struct doc *d)
{
    const struct capture *cap = d->cap;
    struct str *list = LIST(d, struct str, cap->losses.n);

    for (size_t i = 0; i < cap->losses.n; i++)
        list[i] = arena_format(&d->st->scratch, "%s: %llu dropped", cap->losses.at[i].code,
                               (unsigned long long)cap->losses.at[i].count);
    return (struct field_items){list, cap->losses.n};
}

static struct field_items list_streams(const struct doc *d)
{
    const struct capture *cap = d->cap;
    strid *list = LIST(d, strid, cap->lanes.n);
    size_t n = 0;

    for (size_t i = 0; i < cap->lanes.n; i++) {
        const struct lane *lane = &cap->lanes.at[i];
        if (lane->key.kind == LANE_STREAM && lane->n > 0 &&
            !num_is_missing(capture_text(cap, lane->key.name)))
            list[n++] = lane->key.name;
    }
    return (struct field_items){list, n};
}

static struct field_value get_file_name(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(str_basename(str_of(((const struct source *)record)->path)));
}

static const struct field file_fields[] = {
    FIELD_CALC(FIELD_STR, "name", get_file_name),
    FIELD(struct source, bytes, "bytes"),
    FIELD(struct source, rows, "rows"),
};
static const struct record file_record = RECORD(struct source, file_fields);

static const struct field check_fields[] = {
    FIELD(struct selfcheck, name, "name"),
    FIELD(struct selfcheck, expected, "expected"),
    FIELD(struct selfcheck, actual, "actual"),
    FIELD(struct selfcheck, is_ok, "ok"),
};
static const struct record check_record = RECORD(struct selfcheck, check_fields);

static const struct field capture_fields[] = {
    FIELD(struct doc, name, "path"),
    FIELD_NAMED(struct doc, facts.kind, "kind", .missing = MISSING_EMPTY),
    FIELD(struct doc, source, "source"),
    FIELD_OF_ENUM(struct doc, steps.source, "step_source", step_source_name, STEPS_PSEUDO + 1),
    FIELD(struct doc, facts.rank, "rank", .missing = MISSING_NEGATIVE),
    FIELD(struct doc, facts.device, "device", .missing = MISSING_NEGATIVE),
    FIELD(struct doc, facts.level, "level", .missing = MISSING_NEGATIVE),
    FIELD_LOOKED_UP(FIELD_BOOL, "record_shapes", flag_value, "record_shapes",
                    .missing = MISSING_NEGATIVE),
    FIELD_LOOKED_UP(FIELD_BOOL, "with_stack", flag_value, "with_stack",
                    .missing = MISSING_NEGATIVE),
    FIELD(struct doc, time_origin, "time_origin_us"),
    FIELD(struct doc, rows_read, "rows_read"),
    FIELD(struct doc, rows_kept, "rows_after_dedup"),
    FIELD_KEYED_ITEMS(struct doc, dropped, "rows_dropped", &loss_record),
    FIELD(struct doc, steps.kernels_before_first, "kernels_before_first_step"),
    FIELD(struct doc, host_events, "host_events"),
    FIELD_ITEMS(struct doc, streams, "streams", FIELD_NAME, NULL),
    FIELD_ITEMS(struct doc, files, "files", FIELD_OBJECT, &file_record),
    FIELD_KEYED_ITEMS(struct doc, losses, "diagnostics", &loss_record),
    FIELD_LIST(struct doc, checks.at, checks.n, "self_checks", &check_record),
};
static const struct record capture_record = RECORD(struct doc, capture_fields);

/* ---- run ---- */

static const char *const states[] = {
    "INGEST",
    "INVENTORY",
    "FACT_EXTRACTION",
    "CANDIDATE_STEP_DETECTION",
    "STEP_GROUPING",
    "MACRO_STEP_RESOLUTION",
    "SEGMENTATION",
    "CLOCK_ACCOUNTING",
    "ANOMALY_DISCOVERY",
    "PERF_JUDGEMENT",
    "RECOMMENDATION",
    "RENDER",
    "DONE",
};

static const struct field run_fields[] = {
    FIELD_ITEMS(struct doc, states, "states", FIELD_CSTR, NULL),
    FIELD_ITEMS(struct doc, warnings, "warnings", FIELD_STR, NULL),
};
static const struct record run_record = RECORD(struct doc, run_fields);

/* ---- anomaly_discovery ---- */

struct doc_gap {
    struct doc_window window;
    nanos duration;
};

static const struct field gap_fields[] = {
    FIELD_SPLICE(struct doc_gap, window, &window_record),
    MS(struct doc_gap, duration, "duration_ms"),
};
static const struct record gap_record = RECORD(struct doc_gap, gap_fields);

static struct doc_gap gap_of(const struct doc *d, struct interval at)
{
    return (struct doc_gap){window_of(d, at), nanos_sub(at.end, at.begin)};
}

static struct field_items list_top_gaps(const struct doc *d)
{
    const struct global_gaps *g = &d->bubbles.global;
    struct doc_gap *list = LIST(d, struct doc_gap, g->n_top);

    for (size_t i = 0; i < g->n_top; i++)
        list[i] = gap_of(d, g->top[i]);
    return (struct field_items){list, g->n_top};
}

static const struct field global_fields[] = {
    FIELD_SPLICE(struct doc, bubbles.global, &global_gaps_record),
    FIELD_ITEMS(struct doc, top_gaps, "top_gap_windows", FIELD_OBJECT, &gap_record),
};
static const struct record global_record = RECORD(struct doc, global_fields);

struct doc_group {
    struct str id;
    struct group g;
    struct verdict v;
    struct field_items tags, steps;
};

static struct field_items group_steps(const struct doc *d, const struct group *g)
{
    struct str *list = LIST(d, struct str, g->n);

    for (size_t i = 0; i < g->n; i++)
        list[i] = d->steps.at[g->steps[i]].id;
    return (struct field_items){list, g->n};
}

static const struct field group_anomaly_fields[] = {
    FIELD(struct doc_group, id, "group_id"),
    FIELD(struct doc_group, g.n, "group_size"),
    FIELD_SPLICE(struct doc_group, g, &group_averages_record),
    FIELD_OF_ENUM(struct doc_group, g.pattern, "dominant_idle_pattern", idle_pattern_name,
                  IDLE_NONE + 1),
    FIELD_ITEMS(struct doc_group, tags, "dominant_anomaly_tags", FIELD_CSTR, NULL),
    FIELD(struct doc_group, v.needs_followup, "requires_followup"),
    FIELD(struct doc_group, g.has_bubbles, "recurring_bubble_pattern"),
    FIELD_OF_ENUM(struct doc_group, g.pattern_raw, "dominant_idle_pattern_raw", idle_pattern_name,
                  IDLE_NONE + 1),
    FIELD_SPLICE(struct doc_group, g, &group_spreads_record),
    FIELD_OF_ENUM(struct doc_group, v.severity, "severity", severity_level_name, SEVERITY_HIGH + 1),
    FIELD_OF_ENUM(struct doc_group, v.host_risk, "host_risk", grade_name, GRADE_HIGH + 1),
};
static const struct record group_anomaly_record = RECORD(struct doc_group, group_anomaly_fields);

static const struct field group_fields[] = {
    FIELD(struct doc_group, id, "group_id"),
    FIELD(struct doc_group, g.n, "group_size"),
    FIELD(struct doc_group, g.counted, "steps_in_statistics"),
    MS(struct doc_group, g.service_sum, "service_ms_total"),
    FIELD(struct doc_group, g.is_stable, "stable_bubble_position"),
    FIELD(struct doc_group, g.has_shape_variants, "shape_variants"),
    FIELD_ITEMS(struct doc_group, steps, "step_ids", FIELD_STR, NULL),
};
static const struct record group_record = RECORD(struct doc_group, group_fields);

static struct field_items list_groups(const struct doc *d)
{
    struct doc_group *list = LIST(d, struct doc_group, d->groups.n);

    for (size_t i = 0; i < d->groups.n; i++)
        list[i] = (struct doc_group){
            .id = group_name(d, i),
            .g = d->groups.at[i],
            .v = d->judgement.groups[i],
            .tags = mask_names(d, d->judgement.groups[i].tags, TAG_END, step_tag_name),
            .steps = group_steps(d, &d->groups.at[i]),
        };
    return (struct field_items){list, d->groups.n};
}

struct doc_kernel {
    strid name, stream;
    struct str type, core;
    nanos duration;
};

static const struct doc_kernel *kernel_of(const struct doc *d, size_t slice)
{
    const struct capture *cap = d->cap;
    struct doc_kernel *k = LIST(d, struct doc_kernel, 1);

    if (slice == NO_KERNEL)
        return NULL;
    *k = (struct doc_kernel){
        .name = cap->slices.name[slice],
        .stream = cap->lanes.at[cap->slices.lane[slice]].key.name,
        .type = capture_slice_text(cap, slice, KEY_TYPE),
        .core = capture_slice_text(cap, slice, KEY_CORE),
        .duration = cap->slices.dur[slice],
    };
    return k;
}

static const struct field kernel_fields[] = {
    FIELD_NAMED(struct doc_kernel, name, "name"),
    FIELD(struct doc_kernel, type, "type"),
    FIELD(struct doc_kernel, core, "core"),
    US(struct doc_kernel, duration, "duration_us"),
    FIELD_NAMED(struct doc_kernel, stream, "stream"),
};
static const struct record kernel_record = RECORD(struct doc_kernel, kernel_fields);

struct doc_bubble {
    struct str id, step, group;
    enum bubble_scope scope;
    struct doc_gap gap;
    struct evidence e;
    struct field_items labels, ops;
    bool is_boundary;
    const struct doc_kernel *before, *after;
};

static struct field_items bubble_ops(const struct doc *d, const struct evidence *e)
{
    struct str *list = LIST(d, struct str, e->n_ops);

    for (size_t i = 0; i < e->n_ops; i++) {
        char us[NUM_TEXT];
        size_t n = num_print_us(us, e->ops[i].overlap);
        struct str name = capture_text(d->cap, e->ops[i].name);
        list[i] = arena_format(&d->st->scratch, "%.*s (%.*s us)", STR_ARGS(name), (int)n, us);
    }
    return (struct field_items){list, e->n_ops};
}

static const struct field bubble_fields[] = {
    FIELD(struct doc_bubble, id, "bubble_id"),
    FIELD_OF_ENUM(struct doc_bubble, scope, "scope", bubble_scope_name, SCOPE_TAIL + 1),
    FIELD(struct doc_bubble, step, "step_id"),
    FIELD(struct doc_bubble, group, "group_id", .missing = MISSING_EMPTY),
    FIELD_SPLICE(struct doc_bubble, gap, &gap_record),
    FIELD_ITEMS(struct doc_bubble, labels, "candidate_labels", FIELD_CSTR, NULL),
    FIELD(struct doc_bubble, e.host, "host_visible_coverage_ratio"),
    FIELD(struct doc_bubble, e.sync, "sync_marker_overlap_ratio"),
    FIELD(struct doc_bubble, e.comm, "comm_marker_overlap_ratio"),
    FIELD_ITEMS(struct doc_bubble, ops, "evidence_ops", FIELD_STR, NULL),
    FIELD(struct doc_bubble, e.parallelism, "host_parallelism"),
    FIELD(struct doc_bubble, is_boundary, "boundary"),
    FIELD_POINTER(struct doc_bubble, before, "kernel_before", &kernel_record),
    FIELD_POINTER(struct doc_bubble, after, "kernel_after", &kernel_record),
};
static const struct record bubble_record = RECORD(struct doc_bubble, bubble_fields);

static struct field_items list_bubbles(const struct doc *d)
{
    struct doc_bubble *list = LIST(d, struct doc_bubble, d->bubbles.listed);

    for (size_t i = 0; i < d->bubbles.listed; i++) {
        const struct bubble *b = &d->bubbles.list[i];
        const struct evidence *e = &study_evidence(d->st)[i];
        struct str step = d->steps.at[b->step].id;
        list[i] = (struct doc_bubble){
            .id = arena_format(&d->st->scratch, "%.*s/%s/%zu", STR_ARGS(step),
                               bubble_scope_name(b->scope), b->ordinal),
            .step = step,
            .group = group_name(d, d->groups.of_step[b->step]),
            .scope = b->scope,
            .gap = gap_of(d, b->at),
            .e = *e,
            .labels = mask_names(d, e->labels, 1u << LABEL_COUNT, label_name),
            .ops = bubble_ops(d, e),
            .is_boundary = study_boundary(d->st)->is_bubble[i],
            .before = kernel_of(d, b->before),
            .after = kernel_of(d, b->after),
        };
    }
    return (struct field_items){list, d->bubbles.listed};
}

static const struct field op_fields[] = {
    FIELD(struct op, key, "op_name"),
    FIELD(struct op, duration_us_avg, "duration_us_avg"),
    FIELD(struct op, wait_us_avg, "wait_us_avg"),
    FIELD(struct op, total_cost_us_avg, "total_cost_us_avg"),
    FIELD(struct op, wait_ratio, "wait_ratio"),
};
static const struct record op_record = RECORD(struct op, op_fields);

struct doc_op {
    struct op op;
    const char *wait_source;
    struct str shapes;
    double share; /* of the sum over all kernels */
};

static const struct field anchor_fields[] = {
    FIELD_SPLICE(struct doc_op, op, &op_record),
    FIELD(struct doc_op, op.is_anchor, "is_false_hotspot_risk"),
    FIELD(struct doc_op, op.cost_rank, "total_cost_rank"),
    FIELD(struct doc_op, op.calls, "call_count"),
    FIELD(struct doc_op, wait_source, "wait_source"),
    FIELD(struct doc_op, op.is_polluted, "wait_not_reliable_for_rootcause"),
};
static const struct record anchor_record = RECORD(struct doc_op, anchor_fields);

static struct doc_op json_op_of(const struct doc *d, const struct op *op)
{
    return (struct doc_op){
        .op = *op,
        .wait_source = study_waits(d->st)->is_derived ? "derived" : "column",
        .shapes = capture_slice_text(d->cap, op->example, KEY_INPUT_SHAPES),
        .share = d->ops->kernel_sum > 0 ? (double)op->duration / (double)d->ops->kernel_sum : 0,
    };
}

/* The ten costliest operators, false hotspots first. */
static struct field_items list_anchors(const struct doc *d)
{
    struct doc_op *list = LIST(d, struct doc_op, ANCHOR_OPS);
    size_t n = 0;

    for (int flagged = 1; flagged >= 0; flagged--)
        for (size_t i = 0; i < d->ops->n && i < ANCHOR_OPS; i++)
            if (d->ops->by_cost[i].is_anchor == flagged)
                list[n++] = json_op_of(d, &d->ops->by_cost[i]);
    return (struct field_items){list, n};
}

/* By cost, or by duration. */
static struct field_items list_ops(const struct doc *d, bool by_cost)
{
    size_t n = d->ops->n < MAX_OPS ? d->ops->n : MAX_OPS;
    struct doc_op *list = LIST(d, struct doc_op, n);

    for (size_t i = 0; i < n; i++)
        list[i] = json_op_of(d, by_cost ? &d->ops->by_cost[i] : d->ops->by_duration[i]);
    return (struct field_items){list, n};
}

struct doc_suspicion {
    struct suspicion s;
    const char *scope;
    struct str target;
    struct field_items evidence;
};

static struct field_items list_suspicions(const struct doc *d)
{
    const struct judgement *j = &d->judgement;
    struct doc_suspicion *list = LIST(d, struct doc_suspicion, j->n_suspicions);

    for (size_t i = 0; i < j->n_suspicions; i++) {
        const struct suspicion *s = &j->suspicions[i];
        struct str *text = LIST(d, struct str, 1);
        *text =
            arena_format(&d->st->scratch, "%.1f %% of the idle time carries it", s->share * 100);
        list[i] = (struct doc_suspicion){
            .s = *s,
            .scope = s->group == SIZE_MAX ? "global" : "group",
            .target = group_name(d, s->group),
            .evidence = {text, 1},
        };
    }
    return (struct field_items){list, j->n_suspicions};
}

static const struct field suspicion_fields[] = {
    FIELD_OF_ENUM(struct doc_suspicion, s.label, "label", label_name, 0),
    FIELD_OF_ENUM(struct doc_suspicion, s.confidence, "confidence", grade_name, GRADE_HIGH + 1),
    FIELD(struct doc_suspicion, scope, "scope"),
    FIELD(struct doc_suspicion, target, "target_id", .missing = MISSING_EMPTY),
    FIELD_ITEMS(struct doc_suspicion, evidence, "evidence", FIELD_STR, NULL),
};
static const struct record suspicion_record = RECORD(struct doc_suspicion, suspicion_fields);

static const struct field discovery_fields[] = {
    FIELD(struct doc, is_enabled, "enabled"),
    FIELD(struct doc, dominant, "dominant_group_id", .missing = MISSING_EMPTY),
    FIELD_GROUP("global_device_gap_analysis", &global_record),
    FIELD_ITEMS(struct doc, groups_told, "step_group_anomalies", FIELD_OBJECT,
                &group_anomaly_record),
    FIELD_ITEMS(struct doc, bubbles_told, "bubble_windows", FIELD_OBJECT, &bubble_record),
    FIELD(struct doc, omitted, "bubble_windows_omitted"),
    FIELD_ITEMS(struct doc, anchors, "wait_anchor_ops", FIELD_OBJECT, &anchor_record),
    FIELD_ITEMS(struct doc, suspicions, "soft_root_cause_summary", FIELD_OBJECT, &suspicion_record),
    FIELD(struct doc, judgement.needs_host_followup, "requires_host_followup"),
    FIELD_OF_ENUM(struct doc, judgement.confidence, "confidence", grade_name, GRADE_HIGH + 1),
};
static const struct record discovery_record = RECORD(struct doc, discovery_fields);

/* ---- steps ---- */

struct doc_step {
    struct step step;
    struct str group;
    struct doc_window window;
    struct step_metrics m;
    struct verdict v;
    struct step_inventory inventory;
    struct aicpu_step aicpu;
    struct field_items tags, labels;
    bool is_partial;
};

static struct field_items label_names(const struct doc *d, const struct means *m)
{
    enum label labels[LABEL_COUNT];
    const char **list = LIST(d, const char *, LABEL_COUNT);
    size_t n = means_labels(m, labels);

    for (size_t i = 0; i < n; i++)
        list[i] = label_name(labels[i]);
    return (struct field_items){list, n};
}

static const struct field aicpu_step_fields[] = {
    FIELD(struct aicpu_step, calls, "count"),
    MS(struct aicpu_step, duration, "duration_ms"),
    MS(struct aicpu_step, masked, "masked_ms"),
    MS(struct aicpu_step, filled_idle, "aicpu_filled_idle_ms"),
};
static const struct record aicpu_step_record = RECORD(struct aicpu_step, aicpu_step_fields);

static const struct field step_fields[] = {
    FIELD(struct doc_step, step.id, "step_id"),
    FIELD(struct doc_step, step.number, "number"),
    FIELD(struct doc_step, group, "group_id", .missing = MISSING_EMPTY),
    FIELD_SPLICE(struct doc_step, window, &window_record),
    FIELD_SPLICE(struct doc_step, m, &step_metrics_record),
    FIELD_ITEMS(struct doc_step, tags, "anomaly_tags", FIELD_CSTR, NULL),
    FIELD_ITEMS(struct doc_step, labels, "soft_root_cause_labels", FIELD_CSTR, NULL),
    FIELD_OF_ENUM(struct doc_step, v.host_risk, "host_risk", grade_name, GRADE_HIGH + 1),
    FIELD_OF_ENUM(struct doc_step, v.severity, "severity", severity_level_name, SEVERITY_HIGH + 1),
    FIELD_INSIDE(struct doc_step, inventory, "inventory", &step_inventory_record),
    FIELD_INSIDE(struct doc_step, aicpu, "aicpu", &aicpu_step_record),
    FIELD(struct doc_step, is_partial, "partial"),
};
static const struct record step_record = RECORD(struct doc_step, step_fields);

static struct field_items list_steps(const struct doc *d)
{
    struct doc_step *list = LIST(d, struct doc_step, d->steps.n);

    for (size_t i = 0; i < d->steps.n; i++)
        list[i] = (struct doc_step){
            .step = d->steps.at[i],
            .group = group_name(d, d->groups.of_step[i]),
            .window = window_of(d, d->steps.at[i].window),
            .m = d->bubbles.metrics[i],
            .v = d->judgement.steps[i],
            .tags = mask_names(d, d->judgement.steps[i].tags, TAG_END, step_tag_name),
            .labels = label_names(d, &d->judgement.steps[i].means),
            .inventory = d->bubbles.inventory[i],
            .aicpu = d->aicpu.steps[i],
            .is_partial = study_boundary(d->st)->is_partial[i],
        };
    return (struct field_items){list, d->steps.n};
}

/* ---- structures ---- */

struct doc_clocks {
    struct clocks c;
    enum structure_part part; /* of the clocks of a part */
    struct field_items reading;
};

static struct doc_clocks clocks_of(const struct doc *d, const struct clocks *c, int part)
{
    return (struct doc_clocks){
        .c = *c,
        .part = (enum structure_part)part,
        .reading = mask_names(d, clocks_read(c), CLOCKS_SEQUENTIAL << 1, clocks_meaning_text),
    };
}

static const struct field clocks_fields[] = {
    FIELD(struct doc_clocks, c.kernels, "kernel_count"),
    MS(struct doc_clocks, c.wall, "wall_ms"),
    MS(struct doc_clocks, c.busy, "device_busy_union_ms"),
    MS(struct doc_clocks, c.sum, "kernel_sum_ms"),
    MS(struct doc_clocks, c.cost, "total_cost_ms"),
    FIELD_ITEMS(struct doc_clocks, reading, "reading", FIELD_CSTR, NULL),
};
static const struct record clocks_record = RECORD(struct doc_clocks, clocks_fields);

static const struct field part_fields[] = {
    FIELD_OF_ENUM(struct doc_clocks, part, "part", structure_part_name, PARTS),
    {.type = FIELD_OBJECT, .shape = SHAPE_SPLICE, .record = &clocks_record},
};
static const struct record part_record = RECORD(struct doc_clocks, part_fields);

struct doc_structure {
    struct structure s;
    struct str id, step;
    struct doc_window window;
    struct doc_clocks clocks;
    struct field_items parts;
    double core, aicpu, comm; /* percent */
};

static double percent(nanos part, nanos whole)
{
    return 100 * (whole > 0 ? (double)part / (double)whole : 0);
}

static struct field_items structure_parts(const struct doc *d, const struct structure *s)
{
    struct doc_clocks *list = LIST(d, struct doc_clocks, PARTS);
    size_t n = 0;

    for (int part = 0; part < PARTS; part++)
        if (s->parts[part].kernels > 0)
            list[n++] = clocks_of(d, &s->parts[part], part);
    return (struct field_items){list, n};
}

static const struct field structure_fields[] = {
    FIELD(struct doc_structure, id, "structure_id"),
    FIELD_OF_ENUM(struct doc_structure, s.type, "type", structure_type_name, STRUCTURE_UNKNOWN + 1),
    FIELD(struct doc_structure, step, "step_id", .missing = MISSING_EMPTY),
    FIELD_SPLICE(struct doc_structure, window, &window_record),
    FIELD_SPLICE(struct doc_structure, clocks, &clocks_record),
    FIELD(struct doc_structure, core, "ai_core_pct"),
    FIELD(struct doc_structure, aicpu, "ai_cpu_pct"),
    FIELD(struct doc_structure, comm, "hccl_pct"),
    FIELD(struct doc_structure, s.share, "structure_share"),
    MS(struct doc_structure, s.gap_before, "inter_structure_gap_ms"),
    FIELD(struct doc_structure, s.bubbles, "bubble_count"),
    MS(struct doc_structure, s.bubble_total, "internal_bubble_total_ms"),
    MS(struct doc_structure, s.bubble_largest, "largest_internal_bubble_ms"),
    MS(struct doc_structure, s.comm_under_block, "comm_under_block_ms"),
    FIELD_ITEMS(struct doc_structure, parts, "parts", FIELD_OBJECT, &part_record),
};
static const struct record structure_record = RECORD(struct doc_structure, structure_fields);

/* Those of the dominant step: the others look like them, and thousands would bury the rest. */
static struct field_items list_structures(const struct doc *d)
{
    const struct structures *all = d->structures;
    struct doc_structure *list = LIST(d, struct doc_structure, all != NULL ? all->n : 0);
    size_t n = 0;

    for (size_t i = 0; all != NULL && i < all->n; i++) {
        const struct structure *s = &all->at[i];
        if (s->step != all->dominant_step)
            continue;
        list[n++] = (struct doc_structure){
            .s = *s,
            .id = arena_format(&d->st->scratch, "block_%zu", s->number),
            .step = s->step != SIZE_MAX ? d->steps.at[s->step].id : S(""),
            .window = window_of(d, s->at),
            .clocks = clocks_of(d, &s->all, 0),
            .parts = structure_parts(d, s),
            .core = percent(s->core, s->all.sum),
            .aicpu = percent(s->aicpu, s->all.sum),
            .comm = percent(s->comm, s->all.sum),
        };
    }
    return (struct field_items){list, n};
}

/* ---- operators ---- */

static const struct field op_row_fields[] = {
    FIELD_SPLICE(struct doc_op, op, &op_record),
    FIELD(struct doc_op, op.calls, "call_count"),
    FIELD(struct doc_op, op.duration, "duration_us_total", .scale = 1e3),
    FIELD_NAMED(struct doc_op, op.core, "core", .missing = MISSING_EMPTY),
    FIELD(struct doc_op, shapes, "input_shapes", .missing = MISSING_EMPTY),
    FIELD(struct doc_op, share, "kernel_sum_share"),
    FIELD(struct doc_op, op.cost_rank, "total_cost_rank"),
    FIELD(struct doc_op, op.duration_rank, "duration_rank"),
};
static const struct record op_row_record = RECORD(struct doc_op, op_row_fields);

static const struct field ops_fields[] = {
    FIELD_ITEMS(struct doc, by_cost, "by_total_cost", FIELD_OBJECT, &op_row_record),
    FIELD_ITEMS(struct doc, by_duration, "by_duration", FIELD_OBJECT, &op_row_record),
};
static const struct record ops_record = RECORD(struct doc, ops_fields);

static const struct field aicpu_op_fields[] = {
    FIELD(struct aicpu_op, key, "op_name"),
    FIELD(struct aicpu_op, calls, "count"),
    MS(struct aicpu_op, duration, "duration_ms"),
    FIELD(struct aicpu_op, masked_ratio, "masked_ratio"),
    FIELD_OF_ENUM(struct aicpu_op, class, "classification", aicpu_class_name, AICPU_EXPOSED + 1),
};
static const struct record aicpu_op_record = RECORD(struct aicpu_op, aicpu_op_fields);

/* ---- the verdict ---- */

/* The five questions every report answers. */
static struct field_items list_answers(const struct doc *d)
{
    const struct judgement *j = &d->judgement;
    const struct group *g = j->group != SIZE_MAX ? &d->groups.at[j->group] : NULL;
    struct str *list = LIST(d, struct str, 5);
    char gap[QUANTITY_TEXT];

    quantity_print(gap, (struct quantity){(double)d->bubbles.global.gap, UNIT_NS});
    list[0] = arena_format(&d->st->scratch, "%s: %s idle in all, %zu windows worth listing",
                           j->severity > SEVERITY_NONE ? "yes" : "no", gap, d->bubbles.n);
    list[1] = g != NULL ? arena_format(&d->st->scratch, "in group g%zu, %zu of %zu steps", j->group,
                                       g->n, d->steps.n)
                        : S("in none");
    list[2] = g != NULL ? str_of(idle_pattern_name(g->pattern)) : S("none");
    list[3] = arena_format(&d->st->scratch, "host risk %s",
                           g != NULL ? grade_name(j->groups[j->group].host_risk) : "low");
    list[4] =
        arena_format(&d->st->scratch, "confidence in causes is %s", grade_name(j->confidence));
    return (struct field_items){list, 5};
}

static const struct field hidden_fields[] = {
    FIELD(struct doc, is_hidden, "hidden_issue_present"),
    FIELD_OF_ENUM(struct doc, judgement.severity, "severity", severity_level_name,
                  SEVERITY_HIGH + 1),
    FIELD(struct doc, worst, "group_id", .missing = MISSING_EMPTY),
    FIELD_ITEMS(struct doc, answers, "summary_answers", FIELD_STR, NULL),
};
static const struct record hidden_record = RECORD(struct doc, hidden_fields);

static const struct field recommendation_fields[] = {
    FIELD(struct recommendation, id, "id"),
    FIELD(struct recommendation, scope, "scope"),
    FIELD(struct recommendation, target, "target_id", .missing = MISSING_EMPTY),
    FIELD_OF_ENUM(struct recommendation, priority, "priority", priority_name, PRIORITY_P3 + 1),
    FIELD(struct recommendation, needs_followup, "followup_required"),
    FIELD(struct recommendation, evidence_gap, "evidence_gap", .missing = MISSING_EMPTY),
    FIELD(struct recommendation, message, "message"),
    FIELD_ROOM_VALUES(struct recommendation, evidence, n_evidence, "evidence"),
};
static const struct record recommendation_record =
    RECORD(struct recommendation, recommendation_fields);

static struct field_items list_limitations(const struct doc *d)
{
    const struct gaps gaps = gaps_find(d->st);
    const char **list = LIST(d, const char *, gaps.n);

    for (size_t i = 0; i < gaps.n; i++)
        list[i] = message_in(LANG_EN, gaps.at[i].text).at;
    return (struct field_items){list, gaps.n};
}

/* ---- the whole ---- */

static const struct field tool_fields[] = {
    FIELD_FIXED("name", "strata"),
    FIELD_FIXED("version", STRATA_VERSION),
};
static const struct record tool_record = RECORD(struct doc, tool_fields);

static const struct field doc_fields[] = {
    FIELD_FIXED("schema", "strata.anomaly/1"),
    FIELD_GROUP("tool", &tool_record),
    FIELD_GROUP("capture", &capture_record),
    FIELD_GROUP("run", &run_record),
    FIELD_GROUP("anomaly_discovery", &discovery_record),
    FIELD_ITEMS(struct doc, steps_told, "steps", FIELD_OBJECT, &step_record),
    FIELD_ITEMS(struct doc, groups_told, "groups_detail", FIELD_OBJECT, &group_record),
    FIELD_ITEMS(struct doc, structures_told, "structures", FIELD_OBJECT, &structure_record),
    FIELD_GROUP("ops", &ops_record),
    FIELD_LIST(struct doc, aicpu.ops, aicpu.n, "aicpu_ops", &aicpu_op_record),
    FIELD_GROUP("hidden_issue", &hidden_record),
    FIELD_LIST(struct doc, recommendations.at, recommendations.n, "recommendations",
               &recommendation_record),
    FIELD_ITEMS(struct doc, limitations, "limitations", FIELD_CSTR, NULL),
    FIELD_POINTER(struct doc, diagnosis, "diagnosis", &diagnosis_record),
};
static const struct record doc_record = RECORD(struct doc, doc_fields);

const struct schema anomaly_schema = {
    .name = "strata.anomaly/1",
    .title = "device idle time, step by step",
    .record = &doc_record,
    .is_bare = true,
};

static void json_fill(struct doc *d)
{
    char text[NUM_TEXT];

    d->origin = d->bubbles.global.span.begin;
    size_t n = num_print_us(text, nanos_add(d->origin, d->to_unix));
    d->time_origin = arena_str(&d->st->scratch, (struct str){text, n});
    d->dropped = list_dropped(d);
    d->streams = list_streams(d);
    d->warnings = list_warnings(d);
    d->top_gaps = list_top_gaps(d);
    d->is_enabled = d->steps.n > 0;
    d->dominant = group_name(d, d->groups.dominant);
    d->groups_told = list_groups(d);
    d->bubbles_told = list_bubbles(d);
    d->omitted = d->bubbles.n - d->bubbles.listed;
    d->anchors = list_anchors(d);
    d->suspicions = list_suspicions(d);
    d->steps_told = list_steps(d);
    d->structures_told = list_structures(d);
    d->by_cost = list_ops(d, true);
    d->by_duration = list_ops(d, false);
    d->is_hidden = d->judgement.severity > SEVERITY_NONE;
    d->worst = group_name(d, d->judgement.group);
    d->answers = list_answers(d);
    d->limitations = list_limitations(d);
}

static const struct doc *document(struct study *st, const struct arch *arch)
{
    struct doc *d = ARENA_NEW(&st->scratch, struct doc);
    const struct capture *cap = st->cap;

    *d = (struct doc){
        .st = st,
        .cap = cap,
        .name = cap->name,
        .facts = cap->facts,
        .steps = *study_steps(st),
        .bubbles = *study_bubbles(st),
        .groups = *study_groups(st),
        .judgement = *study_judgement(st),
        .aicpu = *study_aicpu(st),
        .recommendations = *recommend_find(st),
        .checks = *selfcheck_find(st),
        .ops = ops_find(st, 0, study_kernels(st).n),
        .diagnosis = study_diagnosis(st),
        .structures = arch != NULL ? structures_find(st, arch) : NULL,
        .to_unix = cap->clock.has_unix ? cap->clock.to_unix : 0,
        .source = json_source_of(cap),
        .rows_read = json_count_rows(cap),
        .rows_kept = study_kernels(st).n,
        .host_events = count_host_events(&cap->slices),
        .states = {states, ARRAY_LEN(states)},
        .losses = {cap->losses.at, cap->losses.n},
        .files = {cap->sources.at, cap->sources.n},
    };
    json_fill(d);
    return d;
}

const void *anomaly_find(struct study *st)
{
    return document(st, NULL);
}

bool anomaly_write_json(struct study *st, const struct arch *arch, struct sink out)
{
    const struct record_env env = {&st->cap->strings, &st->scratch, NULL};

    return envelope_write(
        out,
        &(struct envelope){.schema = &anomaly_schema, .result = document(st, arch), .env = &env});
}
