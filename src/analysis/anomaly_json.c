/*
 * The document "strata.anomaly/1": its frame, what was read, and the steps.
 */
#include "analysis/aicpu.h"
#include "analysis/anomaly.h"
#include "analysis/anomaly_doc.h"
#include "analysis/boundary.h"
#include "analysis/gaps.h"
#include "analysis/selfcheck.h"

#include <stdio.h>

/* What the contract calls a source, by the format that brought the kernels. */
static struct str source_of(const struct capture *cap)
{
    static const struct {
        const char *format, *source;
    } names[] = {
        {"kernel-details", "kernel_details"},
        {"trace-view", "trace_view"},
        {"ascend-db", "db"},
        {"kineto", "kineto"},
        {"nsys", "nsys"},
        {"chrome-trace", "trace_view"},
    };

    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        for (size_t i = 0; i < cap->sources.n; i++) {
            const struct source *s = &cap->sources.at[i];
            if (strcmp(s->format, names[k].format) != 0)
                continue;
            struct str file = str_basename(str_of(s->path));
            if (k == 0 && (str_starts(file, S("op_summary_")) || str_starts(file, S("task_time_"))))
                return S("op_summary");
            return str_of(names[k].source);
        }
    return S("kernel_details");
}

/* The code "kernel-details.field-count" is counted under "field_count". */
static void put_dropped(struct doc *d)
{
    doc_key(d, "rows_dropped");
    json_write_object(&d->w);
    for (size_t i = 0; i < d->cap->losses.n; i++) {
        const struct loss *loss = &d->cap->losses.at[i];
        const char *dot = strchr(loss->code, '.');
        char name[64];
        if (dot == NULL || strncmp(loss->code, "kernel-details.", 15) != 0)
            continue;
        snprintf(name, sizeof(name), "%s", dot + 1);
        for (char *c = name; *c != '\0'; c++)
            if (*c == '-')
                *c = '_';
        doc_count(d, name, loss->count);
    }
    json_write_end(&d->w);
}

static void put_files(struct doc *d)
{
    doc_key(d, "files");
    json_write_array(&d->w);
    for (size_t i = 0; i < d->cap->sources.n; i++) {
        const struct source *source = &d->cap->sources.at[i];
        json_write_object(&d->w);
        doc_text(d, "name", str_basename(str_of(source->path)));
        doc_count(d, "bytes", source->bytes);
        doc_count(d, "rows", source->rows);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_diagnostics(struct doc *d)
{
    doc_key(d, "diagnostics");
    json_write_object(&d->w);
    for (size_t i = 0; i < d->cap->losses.n; i++)
        doc_count(d, d->cap->losses.at[i].code, d->cap->losses.at[i].count);
    json_write_end(&d->w);
}

static void put_checks(struct doc *d)
{
    const struct selfchecks *checks = selfcheck_find(d->st);

    doc_key(d, "self_checks");
    json_write_array(&d->w);
    for (size_t i = 0; i < checks->n; i++) {
        json_write_object(&d->w);
        doc_text(d, "name", checks->at[i].name);
        doc_number(d, "expected", checks->at[i].expected);
        doc_number(d, "actual", checks->at[i].actual);
        doc_bool(d, "ok", checks->at[i].is_ok);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_flag(struct doc *d, const char *name, int64_t value)
{
    doc_key(d, name);
    if (value == UNKNOWN)
        json_write_null(&d->w);
    else
        json_write_bool(&d->w, value != 0);
}

static void put_all_streams(struct doc *d)
{
    doc_key(d, "streams");
    json_write_array(&d->w);
    for (size_t i = 0; i < d->cap->lanes.n; i++) {
        const struct lane *lane = &d->cap->lanes.at[i];
        struct str name = capture_text(d->cap, lane->key.name);
        if (lane->key.kind == LANE_STREAM && lane->n > 0 && !num_is_missing(name))
            json_write_string(&d->w, name);
    }
    json_write_end(&d->w);
}

/* Rows of the kernel table that fitted its header; elsewhere the kernels that were read. */
static uint64_t rows_read(const struct capture *cap)
{
    uint64_t rows = 0, misfits = 0;
    bool is_table = false;

    for (size_t i = 0; i < cap->sources.n; i++)
        if (strcmp(cap->sources.at[i].format, "kernel-details") == 0) {
            rows += cap->sources.at[i].rows + cap->sources.at[i].lost;
            is_table = true;
        }
    for (size_t i = 0; i < cap->losses.n; i++)
        if (strcmp(cap->losses.at[i].code, "kernel-details.field-count") == 0)
            misfits += cap->losses.at[i].count;
    return is_table ? rows - misfits : cap->kernels_read;
}

static void put_capture(struct doc *d)
{
    const struct facts *facts = &d->cap->facts;
    nanos to_unix = d->cap->clock.has_unix ? d->cap->clock.to_unix : 0;
    char origin[NUM_TEXT];
    size_t host = 0;

    for (size_t i = 0; i < d->cap->slices.n; i++)
        host += d->cap->slices.kind[i] >= SLICE_HOST_OP && d->cap->slices.kind[i] <= SLICE_GC;
    doc_key(d, "capture");
    json_write_object(&d->w);
    doc_text(d, "path", str_of(d->cap->name));
    doc_text_or_null(d, "kind", capture_text(d->cap, facts->kind));
    doc_text(d, "source", source_of(d->cap));
    doc_text(d, "step_source", str_of(step_source_name(d->steps->source)));
    doc_known(d, "rank", facts->rank);
    doc_known(d, "device", facts->device);
    doc_known(d, "level", facts->level);
    put_flag(d, "record_shapes", facts->record_shapes);
    put_flag(d, "with_stack", facts->with_stack);
    doc_text(d, "time_origin_us",
             (struct str){origin, num_print_us(origin, nanos_add(d->origin, to_unix))});
    doc_count(d, "rows_read", rows_read(d->cap));
    doc_count(d, "rows_after_dedup", study_kernels(d->st).n);
    put_dropped(d);
    doc_count(d, "kernels_before_first_step", d->steps->kernels_before_first);
    doc_count(d, "host_events", host);
    put_all_streams(d);
    put_files(d);
    put_diagnostics(d);
    put_checks(d);
    json_write_end(&d->w);
}

static void put_states(struct doc *d)
{
    static const char *const states[] = {"INGEST",
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
                                         "DONE"};

    doc_key(d, "run");
    json_write_object(&d->w);
    doc_key(d, "states");
    json_write_array(&d->w);
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        json_write_string(&d->w, str_of(states[i]));
    json_write_end(&d->w);
    doc_key(d, "warnings");
    json_write_array(&d->w);
    for (size_t i = 0; i < d->cap->losses.n; i++)
        json_write_string(&d->w, arena_format(&d->st->scratch, "%s: %llu dropped",
                                              d->cap->losses.at[i].code,
                                              (unsigned long long)d->cap->losses.at[i].count));
    json_write_end(&d->w);
    json_write_end(&d->w);
}

static void put_inventory(struct doc *d, const struct step_inventory *inv)
{
    doc_key(d, "inventory");
    json_write_object(&d->w);
    doc_count(d, "total_kernel_count", inv->kernels);
    doc_count(d, "ai_core_count", inv->ai_core);
    doc_count(d, "ai_cpu_count", inv->ai_cpu);
    doc_count(d, "comm_count", inv->comm);
    doc_ms(d, "kernel_duration_sum_ms", inv->duration_sum);
    doc_ms(d, "kernel_wait_sum_ms", inv->wait_sum);
    doc_key(d, "streams");
    json_write_array(&d->w);
    for (size_t i = 0; i < inv->n_streams; i++)
        json_write_string(&d->w, capture_text(d->cap, inv->streams[i]));
    json_write_end(&d->w);
    doc_count(d, "stream_count", inv->n_streams);
    json_write_end(&d->w);
}

static void put_step_aicpu(struct doc *d, const struct aicpu_step *a)
{
    doc_key(d, "aicpu");
    json_write_object(&d->w);
    doc_count(d, "count", a->calls);
    doc_ms(d, "duration_ms", a->duration);
    doc_ms(d, "masked_ms", a->masked);
    doc_ms(d, "aicpu_filled_idle_ms", a->filled_idle);
    json_write_end(&d->w);
}

static void put_step_labels(struct doc *d, const struct means *m)
{
    enum label labels[LABEL_COUNT];
    size_t n = means_labels(m, labels);

    doc_key(d, "soft_root_cause_labels");
    json_write_array(&d->w);
    for (size_t i = 0; i < n; i++)
        json_write_string(&d->w, str_of(label_name(labels[i])));
    json_write_end(&d->w);
}

static void put_step(struct doc *d, size_t i)
{
    const struct step *step = &d->steps->at[i];
    const struct step_metrics *m = &d->bubbles->metrics[i];
    const struct verdict *v = &d->judgement->steps[i];

    json_write_object(&d->w);
    doc_text(d, "step_id", step->id);
    doc_key(d, "number");
    json_write_i64(&d->w, step->number);
    doc_group(d, "group_id", d->groups->of_step[i]);
    doc_window(d, step->window);
    doc_ms(d, "service_ms", m->service);
    doc_ms(d, "device_busy_union_ms", m->busy);
    doc_ms(d, "underfeed_ms", m->underfeed);
    doc_number(d, "underfeed_ratio", m->underfeed_ratio);
    doc_ms(d, "prelaunch_gap_ms", m->prelaunch);
    doc_ms(d, "tail_gap_ms", m->tail);
    doc_ms(d, "internal_bubble_total_ms", m->internal);
    doc_ms(d, "largest_internal_bubble_ms", m->largest_internal);
    doc_count(d, "bubble_count", m->bubble_count);
    doc_count(d, "significant_bubble_count", m->significant_count);
    doc_tags(d, "anomaly_tags", v->tags);
    put_step_labels(d, &v->means);
    doc_text(d, "host_risk", str_of(grade_name(v->host_risk)));
    doc_text(d, "severity", str_of(severity_level_name(v->severity)));
    put_inventory(d, &d->bubbles->inventory[i]);
    put_step_aicpu(d, &study_aicpu(d->st)->steps[i]);
    doc_bool(d, "partial", study_boundary(d->st)->is_partial[i]);
    json_write_end(&d->w);
}

static void put_limitations(struct doc *d)
{
    struct gaps gaps = gaps_find(d->st);

    doc_key(d, "limitations");
    json_write_array(&d->w);
    for (size_t i = 0; i < gaps.n; i++)
        json_write_string(&d->w, str_of(gaps.at[i].text));
    json_write_end(&d->w);
}

bool anomaly_write_json(struct study *st, const struct arch *arch, struct sink out)
{
    struct doc d = {
        .st = st,
        .cap = st->cap,
        .steps = study_steps(st),
        .bubbles = study_bubbles(st),
        .groups = study_groups(st),
        .judgement = study_judgement(st),
    };

    d.origin = d.bubbles->global.span.begin;
    json_write_init(&d.w, out, JSON_INDENTED);
    json_write_object(&d.w);
    doc_text(&d, "schema", S("strata.anomaly/1"));
    doc_key(&d, "tool");
    json_write_object(&d.w);
    doc_text(&d, "name", S("strata"));
    doc_text(&d, "version", S(STRATA_VERSION));
    json_write_end(&d.w);
    put_capture(&d);
    put_states(&d);
    doc_put_discovery(&d);
    doc_key(&d, "steps");
    json_write_array(&d.w);
    for (size_t i = 0; i < d.steps->n; i++)
        put_step(&d, i);
    json_write_end(&d.w);
    doc_put_groups(&d);
    doc_put_structures(&d, arch);
    doc_put_ops(&d);
    doc_put_aicpu(&d);
    doc_put_hidden_issue(&d);
    doc_put_recommendations(&d);
    put_limitations(&d);
    json_write_end(&d.w);
    return json_write_finish(&d.w);
}
