/*
 * The lists of "strata.anomaly/1": what anomaly_discovery holds, groups, operators, AICPU,
 * the verdict and the recommendations.
 */
#include "analysis/aicpu.h"
#include "analysis/anomaly_doc.h"
#include "analysis/boundary.h"
#include "analysis/ops.h"
#include "analysis/recommend.h"
#include "analysis/structures.h"
#include "analysis/waits.h"
#include "report/quantity.h"

enum { MAX_OPS = 50, ANCHOR_OPS = 10 };

static void put_spread(struct doc *d, const struct group *g, enum group_metric metric,
                       const char *suffix, double value)
{
    struct str name = arena_format(&d->st->scratch, "%s_%s", group_metric_names[metric], suffix);

    (void)g;
    json_put_f64(&d->w, name.at, metric == GROUP_UNDERFEED_RATIO ? value : value / 1e6);
}

static void put_global(struct doc *d)
{
    const struct global_gaps *g = &d->bubbles->global;

    json_put_object(&d->w, "global_device_gap_analysis");
    json_put_ms(&d->w, "capture_span_ms", nanos_sub(g->span.end, g->span.begin));
    json_put_ms(&d->w, "device_busy_union_ms", g->busy);
    json_put_ms(&d->w, "device_gap_ms", g->gap);
    json_put_f64(&d->w, "device_gap_ratio", g->gap_ratio);
    json_put_ms(&d->w, "largest_gap_ms", g->largest);
    json_put_array(&d->w, "top_gap_windows");
    for (size_t i = 0; i < g->n_top; i++) {
        json_write_object(&d->w);
        doc_window(d, g->top[i]);
        json_put_ms(&d->w, "duration_ms", nanos_sub(g->top[i].end, g->top[i].begin));
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
    json_write_end(&d->w);
}

static void put_group_anomaly(struct doc *d, size_t i)
{
    const struct group *g = &d->groups->at[i];
    const struct verdict *v = &d->judgement->groups[i];

    json_write_object(&d->w);
    doc_group(d, "group_id", i);
    json_put_u64(&d->w, "group_size", g->n);
    for (int m = GROUP_SERVICE; m <= GROUP_INTERNAL; m++)
        put_spread(d, g, (enum group_metric)m, "avg", g->metrics[m].avg);
    json_put_text(&d->w, "dominant_idle_pattern", idle_pattern_name(g->pattern));
    doc_tags(d, "dominant_anomaly_tags", v->tags);
    json_put_bool(&d->w, "requires_followup", v->needs_followup);
    json_put_bool(&d->w, "recurring_bubble_pattern", g->has_bubbles);
    json_put_text(&d->w, "dominant_idle_pattern_raw", idle_pattern_name(g->pattern_raw));
    for (int m = 0; m < GROUP_METRICS; m++) {
        if (m == GROUP_LARGEST)
            put_spread(d, g, (enum group_metric)m, "avg", g->metrics[m].avg);
        put_spread(d, g, (enum group_metric)m, "median", g->metrics[m].median);
        put_spread(d, g, (enum group_metric)m, "p90", g->metrics[m].p90);
        put_spread(d, g, (enum group_metric)m, "p95", g->metrics[m].p95);
    }
    json_put_text(&d->w, "severity", severity_level_name(v->severity));
    json_put_text(&d->w, "host_risk", grade_name(v->host_risk));
    json_write_end(&d->w);
}

static void put_kernel(struct doc *d, const char *name, size_t slice)
{
    json_write_key(&d->w, str_of(name));
    if (slice == NO_KERNEL) {
        json_write_null(&d->w);
        return;
    }
    const struct lane *lane = &d->cap->lanes.at[d->cap->slices.lane[slice]];
    json_write_object(&d->w);
    json_put_str(&d->w, "name", capture_text(d->cap, d->cap->slices.name[slice]));
    json_put_str(&d->w, "type", capture_slice_text(d->cap, slice, KEY_TYPE));
    json_put_str(&d->w, "core", capture_slice_text(d->cap, slice, KEY_CORE));
    json_put_us(&d->w, "duration_us", d->cap->slices.dur[slice]);
    json_put_str(&d->w, "stream", capture_text(d->cap, lane->key.name));
    json_write_end(&d->w);
}

static void put_labels(struct doc *d, unsigned labels)
{
    json_put_array(&d->w, "candidate_labels");
    for (size_t i = 0; i < LABEL_COUNT; i++)
        if (labels & 1u << i)
            json_write_string(&d->w, str_of(label_name((enum label)(1u << i))));
    json_write_end(&d->w);
}

static void put_evidence(struct doc *d, const struct evidence *e)
{
    json_put_f64(&d->w, "host_visible_coverage_ratio", e->host);
    json_put_f64(&d->w, "sync_marker_overlap_ratio", e->sync);
    json_put_f64(&d->w, "comm_marker_overlap_ratio", e->comm);
    json_put_array(&d->w, "evidence_ops");
    for (size_t i = 0; i < e->n_ops; i++) {
        char us[NUM_TEXT];
        size_t n = num_print_us(us, e->ops[i].overlap);
        struct str name = capture_text(d->cap, e->ops[i].name);
        json_write_string(
            &d->w, arena_format(&d->st->scratch, "%.*s (%.*s us)", STR_ARGS(name), (int)n, us));
    }
    json_write_end(&d->w);
    json_put_f64(&d->w, "host_parallelism", e->parallelism);
}

static void put_bubble(struct doc *d, size_t i)
{
    const struct bubble *b = &d->bubbles->list[i];
    const struct evidence *e = &study_evidence(d->st)[i];
    struct str step = d->steps->at[b->step].id;
    const char *scope = bubble_scope_name(b->scope);

    json_write_object(&d->w);
    json_put_str(&d->w, "bubble_id",
                 arena_format(&d->st->scratch, "%.*s/%s/%zu", STR_ARGS(step), scope, b->ordinal));
    json_put_text(&d->w, "scope", scope);
    json_put_str(&d->w, "step_id", step);
    doc_group(d, "group_id", d->groups->of_step[b->step]);
    doc_window(d, b->at);
    json_put_ms(&d->w, "duration_ms", nanos_sub(b->at.end, b->at.begin));
    put_labels(d, e->labels);
    put_evidence(d, e);
    json_put_bool(&d->w, "boundary", study_boundary(d->st)->is_bubble[i]);
    put_kernel(d, "kernel_before", b->before);
    put_kernel(d, "kernel_after", b->after);
    json_write_end(&d->w);
}

static void put_op(struct doc *d, const struct op *op)
{
    json_put_str(&d->w, "op_name", op->key);
    json_put_f64(&d->w, "duration_us_avg", op->duration_us_avg);
    json_put_f64(&d->w, "wait_us_avg", op->wait_us_avg);
    json_put_f64(&d->w, "total_cost_us_avg", op->total_cost_us_avg);
    json_put_f64(&d->w, "wait_ratio", op->wait_ratio);
}

/* The ten costliest operators, false hotspots first. */
static void put_anchors(struct doc *d)
{
    const struct ops *ops = ops_find(d->st, 0, study_kernels(d->st).n);
    const char *source = study_waits(d->st)->is_derived ? "derived" : "column";

    json_put_array(&d->w, "wait_anchor_ops");
    for (int flagged = 1; flagged >= 0; flagged--)
        for (size_t i = 0; i < ops->n && i < ANCHOR_OPS; i++) {
            const struct op *op = &ops->by_cost[i];
            if (op->is_anchor != flagged)
                continue;
            json_write_object(&d->w);
            put_op(d, op);
            json_put_bool(&d->w, "is_false_hotspot_risk", op->is_anchor);
            json_put_u64(&d->w, "total_cost_rank", op->cost_rank);
            json_put_u64(&d->w, "call_count", op->calls);
            json_put_text(&d->w, "wait_source", source);
            json_put_bool(&d->w, "wait_not_reliable_for_rootcause", op->is_polluted);
            json_write_end(&d->w);
        }
    json_write_end(&d->w);
}

static void put_suspicions(struct doc *d)
{
    json_put_array(&d->w, "soft_root_cause_summary");
    for (size_t i = 0; i < d->judgement->n_suspicions; i++) {
        const struct suspicion *s = &d->judgement->suspicions[i];
        json_write_object(&d->w);
        json_put_text(&d->w, "label", label_name(s->label));
        json_put_text(&d->w, "confidence", grade_name(s->confidence));
        json_put_str(&d->w, "scope", s->group == SIZE_MAX ? S("global") : S("group"));
        doc_group(d, "target_id", s->group);
        json_put_array(&d->w, "evidence");
        json_write_string(
            &d->w,
            arena_format(&d->st->scratch, "%.1f %% of the idle time carries it", s->share * 100));
        json_write_end(&d->w);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

void doc_put_discovery(struct doc *d)
{
    json_put_object(&d->w, "anomaly_discovery");
    json_put_bool(&d->w, "enabled", d->steps->n > 0);
    doc_group(d, "dominant_group_id", d->groups->dominant);
    put_global(d);
    json_put_array(&d->w, "step_group_anomalies");
    for (size_t i = 0; i < d->groups->n; i++)
        put_group_anomaly(d, i);
    json_write_end(&d->w);
    json_put_array(&d->w, "bubble_windows");
    for (size_t i = 0; i < d->bubbles->listed; i++)
        put_bubble(d, i);
    json_write_end(&d->w);
    json_put_u64(&d->w, "bubble_windows_omitted", d->bubbles->n - d->bubbles->listed);
    put_anchors(d);
    put_suspicions(d);
    json_put_bool(&d->w, "requires_host_followup", d->judgement->needs_host_followup);
    json_put_text(&d->w, "confidence", grade_name(d->judgement->confidence));
    json_write_end(&d->w);
}

void doc_put_groups(struct doc *d)
{
    json_put_array(&d->w, "groups_detail");
    for (size_t i = 0; i < d->groups->n; i++) {
        const struct group *g = &d->groups->at[i];
        json_write_object(&d->w);
        doc_group(d, "group_id", i);
        json_put_u64(&d->w, "group_size", g->n);
        json_put_u64(&d->w, "steps_in_statistics", g->counted);
        json_put_ms(&d->w, "service_ms_total", g->service_sum);
        json_put_bool(&d->w, "stable_bubble_position", g->is_stable);
        json_put_bool(&d->w, "shape_variants", g->has_shape_variants);
        json_put_array(&d->w, "step_ids");
        for (size_t k = 0; k < g->n; k++)
            json_write_string(&d->w, d->steps->at[g->steps[k]].id);
        json_write_end(&d->w);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_clocks(struct doc *d, const struct clocks *c)
{
    json_put_u64(&d->w, "kernel_count", c->kernels);
    json_put_ms(&d->w, "wall_ms", c->wall);
    json_put_ms(&d->w, "device_busy_union_ms", c->busy);
    json_put_ms(&d->w, "kernel_sum_ms", c->sum);
    json_put_ms(&d->w, "total_cost_ms", c->cost);
    json_put_array(&d->w, "reading");
    for (unsigned bit = CLOCKS_OVERLAP; bit <= CLOCKS_SEQUENTIAL; bit <<= 1)
        if (clocks_read(c) & bit)
            json_write_string(&d->w, str_of(clocks_meaning_text((enum clocks_meaning)bit)));
    json_write_end(&d->w);
}

static void put_structure(struct doc *d, const struct structure *s)
{
    json_write_object(&d->w);
    json_put_str(&d->w, "structure_id", arena_format(&d->st->scratch, "block_%zu", s->number));
    json_put_text(&d->w, "type", structure_type_name(s->type));
    json_put_str_or_null(&d->w, "step_id", s->step != SIZE_MAX ? d->steps->at[s->step].id : S(""));
    doc_window(d, s->at);
    put_clocks(d, &s->all);
    json_put_f64(&d->w, "ai_core_pct", 100 * num_share(s->core, s->all.sum));
    json_put_f64(&d->w, "ai_cpu_pct", 100 * num_share(s->aicpu, s->all.sum));
    json_put_f64(&d->w, "hccl_pct", 100 * num_share(s->comm, s->all.sum));
    json_put_f64(&d->w, "structure_share", s->share);
    json_put_ms(&d->w, "inter_structure_gap_ms", s->gap_before);
    json_put_u64(&d->w, "bubble_count", s->bubbles);
    json_put_ms(&d->w, "internal_bubble_total_ms", s->bubble_total);
    json_put_ms(&d->w, "largest_internal_bubble_ms", s->bubble_largest);
    json_put_ms(&d->w, "comm_under_block_ms", s->comm_under_block);
    json_put_array(&d->w, "parts");
    for (int part = 0; part < PARTS; part++) {
        if (s->parts[part].kernels == 0)
            continue;
        json_write_object(&d->w);
        json_put_str(&d->w, "part", str_of(structure_part_name((enum structure_part)part)));
        put_clocks(d, &s->parts[part]);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
    json_write_end(&d->w);
}

/* Those of the dominant step: the others look like them, and thousands would bury the rest. */
void doc_put_structures(struct doc *d, const struct arch *arch)
{
    json_put_array(&d->w, "structures");
    if (arch != NULL) {
        const struct structures *list = structures_find(d->st, arch);
        for (size_t i = 0; i < list->n; i++)
            if (list->at[i].step == list->dominant_step)
                put_structure(d, &list->at[i]);
    }
    json_write_end(&d->w);
}

static void put_op_row(struct doc *d, const struct op *op, nanos kernel_sum)
{
    json_write_object(&d->w);
    put_op(d, op);
    json_put_u64(&d->w, "call_count", op->calls);
    json_put_f64(&d->w, "duration_us_total", (double)op->duration / 1e3);
    json_put_str_or_null(&d->w, "core", capture_text(d->cap, op->core));
    json_put_str_or_null(&d->w, "input_shapes",
                         capture_slice_text(d->cap, op->example, KEY_INPUT_SHAPES));
    json_put_f64(&d->w, "kernel_sum_share", num_share(op->duration, kernel_sum));
    json_put_u64(&d->w, "total_cost_rank", op->cost_rank);
    json_put_u64(&d->w, "duration_rank", op->duration_rank);
    json_write_end(&d->w);
}

void doc_put_ops(struct doc *d)
{
    const struct ops *ops = ops_find(d->st, 0, study_kernels(d->st).n);

    json_put_object(&d->w, "ops");
    json_put_array(&d->w, "by_total_cost");
    for (size_t i = 0; i < ops->n && i < MAX_OPS; i++)
        put_op_row(d, &ops->by_cost[i], ops->kernel_sum);
    json_write_end(&d->w);
    json_put_array(&d->w, "by_duration");
    for (size_t i = 0; i < ops->n && i < MAX_OPS; i++)
        put_op_row(d, ops->by_duration[i], ops->kernel_sum);
    json_write_end(&d->w);
    json_write_end(&d->w);
}

void doc_put_aicpu(struct doc *d)
{
    const struct aicpu *a = study_aicpu(d->st);

    json_put_array(&d->w, "aicpu_ops");
    for (size_t i = 0; i < a->n; i++) {
        json_write_object(&d->w);
        json_put_str(&d->w, "op_name", a->ops[i].key);
        json_put_u64(&d->w, "count", a->ops[i].calls);
        json_put_ms(&d->w, "duration_ms", a->ops[i].duration);
        json_put_f64(&d->w, "masked_ratio", a->ops[i].masked_ratio);
        json_put_text(&d->w, "classification", aicpu_class_name(a->ops[i].class));
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

/* The five questions every report answers. */
static void put_answers(struct doc *d)
{
    struct arena *scratch = &d->st->scratch;
    const struct judgement *j = d->judgement;
    const struct group *g = j->group != SIZE_MAX ? &d->groups->at[j->group] : NULL;
    char gap[QUANTITY_TEXT];

    quantity_print(gap, (struct quantity){(double)d->bubbles->global.gap, UNIT_NS});
    json_put_array(&d->w, "summary_answers");
    json_write_string(&d->w,
                      arena_format(scratch, "%s: %s idle in all, %zu windows worth listing",
                                   j->severity > SEVERITY_NONE ? "yes" : "no", gap, d->bubbles->n));
    json_write_string(&d->w, g != NULL ? arena_format(scratch, "in group g%zu, %zu of %zu steps",
                                                      j->group, g->n, d->steps->n)
                                       : S("in none"));
    json_write_string(&d->w, g != NULL ? str_of(idle_pattern_name(g->pattern)) : S("none"));
    json_write_string(&d->w, g != NULL ? arena_format(scratch, "host risk %s",
                                                      grade_name(j->groups[j->group].host_risk))
                                       : S("host risk low"));
    json_write_string(
        &d->w, arena_format(scratch, "confidence in causes is %s", grade_name(j->confidence)));
    json_write_end(&d->w);
}

void doc_put_hidden_issue(struct doc *d)
{
    json_put_object(&d->w, "hidden_issue");
    json_put_bool(&d->w, "hidden_issue_present", d->judgement->severity > SEVERITY_NONE);
    json_put_text(&d->w, "severity", severity_level_name(d->judgement->severity));
    doc_group(d, "group_id", d->judgement->group);
    put_answers(d);
    json_write_end(&d->w);
}

void doc_put_recommendations(struct doc *d)
{
    const struct recommendations *list = recommend_find(d->st);

    json_put_array(&d->w, "recommendations");
    for (size_t i = 0; i < list->n; i++) {
        const struct recommendation *r = &list->at[i];
        json_write_object(&d->w);
        json_put_text(&d->w, "id", r->id);
        json_put_text(&d->w, "scope", r->scope);
        json_put_str_or_null(&d->w, "target_id", r->target);
        json_put_text(&d->w, "priority", priority_name(r->priority));
        json_put_bool(&d->w, "followup_required", r->needs_followup);
        json_put_str_or_null(&d->w, "evidence_gap", str_of(r->evidence_gap));
        json_put_str(&d->w, "message", r->message);
        json_put_array(&d->w, "evidence");
        for (size_t k = 0; k < r->n_evidence; k++)
            json_write_string(&d->w, r->evidence[k]);
        json_write_end(&d->w);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}
