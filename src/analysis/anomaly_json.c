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

/* What the contract calls a source, by the file that brought the kernels. */
static const char *source_of(const struct capture *cap)
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

/* The code "kernel-details.field-count" is counted under "field_count". */
static void put_dropped(struct doc *d)
{
    json_put_object(&d->w, "rows_dropped");
    for (size_t i = 0; i < d->cap->losses.n; i++) {
        const struct loss *loss = &d->cap->losses.at[i];
        const char *dot = strchr(loss->code, '.');
        char name[64];
        if (dot == NULL || !loss->is_kernel)
            continue;
        snprintf(name, sizeof(name), "%s", dot + 1);
        for (char *c = name; *c != '\0'; c++)
            if (*c == '-')
                *c = '_';
        json_put_u64(&d->w, name, loss->count);
    }
    json_write_end(&d->w);
}

static void put_files(struct doc *d)
{
    json_put_array(&d->w, "files");
    for (size_t i = 0; i < d->cap->sources.n; i++) {
        const struct source *source = &d->cap->sources.at[i];
        json_write_object(&d->w);
        json_put_str(&d->w, "name", str_basename(str_of(source->path)));
        json_put_u64(&d->w, "bytes", source->bytes);
        json_put_u64(&d->w, "rows", source->rows);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_diagnostics(struct doc *d)
{
    json_put_object(&d->w, "diagnostics");
    for (size_t i = 0; i < d->cap->losses.n; i++)
        json_put_u64(&d->w, d->cap->losses.at[i].code, d->cap->losses.at[i].count);
    json_write_end(&d->w);
}

static void put_checks(struct doc *d)
{
    const struct selfchecks *checks = selfcheck_find(d->st);

    json_put_array(&d->w, "self_checks");
    for (size_t i = 0; i < checks->n; i++) {
        json_write_object(&d->w);
        json_put_str(&d->w, "name", checks->at[i].name);
        json_put_f64(&d->w, "expected", checks->at[i].expected);
        json_put_f64(&d->w, "actual", checks->at[i].actual);
        json_put_bool(&d->w, "ok", checks->at[i].is_ok);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

static void put_flag(struct doc *d, const char *name, int64_t value)
{
    json_write_key(&d->w, str_of(name));
    if (value == UNKNOWN)
        json_write_null(&d->w);
    else
        json_write_bool(&d->w, value != 0);
}

static void put_all_streams(struct doc *d)
{
    json_put_array(&d->w, "streams");
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

static void put_capture(struct doc *d)
{
    const struct facts *facts = &d->cap->facts;
    nanos to_unix = d->cap->clock.has_unix ? d->cap->clock.to_unix : 0;
    char origin[NUM_TEXT];
    size_t host = 0;

    for (size_t i = 0; i < d->cap->slices.n; i++)
        host += d->cap->slices.kind[i] >= SLICE_HOST_OP && d->cap->slices.kind[i] <= SLICE_GC;
    json_put_object(&d->w, "capture");
    json_put_str(&d->w, "path", str_of(d->cap->name));
    json_put_str_or_null(&d->w, "kind", capture_text(d->cap, facts->kind));
    json_put_text(&d->w, "source", source_of(d->cap));
    json_put_text(&d->w, "step_source", step_source_name(d->steps->source));
    doc_known(d, "rank", facts->rank);
    doc_known(d, "device", facts->device);
    doc_known(d, "level", facts->level);
    put_flag(d, "record_shapes", facts->record_shapes);
    put_flag(d, "with_stack", facts->with_stack);
    json_put_str(&d->w, "time_origin_us",
                 (struct str){origin, num_print_us(origin, nanos_add(d->origin, to_unix))});
    json_put_u64(&d->w, "rows_read", rows_read(d->cap));
    json_put_u64(&d->w, "rows_after_dedup", study_kernels(d->st).n);
    put_dropped(d);
    json_put_u64(&d->w, "kernels_before_first_step", d->steps->kernels_before_first);
    json_put_u64(&d->w, "host_events", host);
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

    json_put_object(&d->w, "run");
    json_put_array(&d->w, "states");
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        json_write_string(&d->w, str_of(states[i]));
    json_write_end(&d->w);
    json_put_array(&d->w, "warnings");
    for (size_t i = 0; i < d->cap->losses.n; i++)
        json_write_string(&d->w, arena_format(&d->st->scratch, "%s: %llu dropped",
                                              d->cap->losses.at[i].code,
                                              (unsigned long long)d->cap->losses.at[i].count));
    json_write_end(&d->w);
    json_write_end(&d->w);
}

static void put_inventory(struct doc *d, const struct step_inventory *inv)
{
    json_put_object(&d->w, "inventory");
    json_put_u64(&d->w, "total_kernel_count", inv->kernels);
    json_put_u64(&d->w, "ai_core_count", inv->ai_core);
    json_put_u64(&d->w, "ai_cpu_count", inv->ai_cpu);
    json_put_u64(&d->w, "comm_count", inv->comm);
    json_put_ms(&d->w, "kernel_duration_sum_ms", inv->duration_sum);
    json_put_ms(&d->w, "kernel_wait_sum_ms", inv->wait_sum);
    json_put_array(&d->w, "streams");
    for (size_t i = 0; i < inv->n_streams; i++)
        json_write_string(&d->w, capture_text(d->cap, inv->streams[i]));
    json_write_end(&d->w);
    json_put_u64(&d->w, "stream_count", inv->n_streams);
    json_write_end(&d->w);
}

static void put_step_aicpu(struct doc *d, const struct aicpu_step *a)
{
    json_put_object(&d->w, "aicpu");
    json_put_u64(&d->w, "count", a->calls);
    json_put_ms(&d->w, "duration_ms", a->duration);
    json_put_ms(&d->w, "masked_ms", a->masked);
    json_put_ms(&d->w, "aicpu_filled_idle_ms", a->filled_idle);
    json_write_end(&d->w);
}

static void put_step_labels(struct doc *d, const struct means *m)
{
    enum label labels[LABEL_COUNT];
    size_t n = means_labels(m, labels);

    json_put_array(&d->w, "soft_root_cause_labels");
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
    json_put_str(&d->w, "step_id", step->id);
    json_put_i64(&d->w, "number", step->number);
    doc_group(d, "group_id", d->groups->of_step[i]);
    doc_window(d, step->window);
    json_put_ms(&d->w, "service_ms", m->service);
    json_put_ms(&d->w, "device_busy_union_ms", m->busy);
    json_put_ms(&d->w, "underfeed_ms", m->underfeed);
    json_put_f64(&d->w, "underfeed_ratio", m->underfeed_ratio);
    json_put_ms(&d->w, "prelaunch_gap_ms", m->prelaunch);
    json_put_ms(&d->w, "tail_gap_ms", m->tail);
    json_put_ms(&d->w, "internal_bubble_total_ms", m->internal);
    json_put_ms(&d->w, "largest_internal_bubble_ms", m->largest_internal);
    json_put_u64(&d->w, "bubble_count", m->bubble_count);
    json_put_u64(&d->w, "significant_bubble_count", m->significant_count);
    doc_tags(d, "anomaly_tags", v->tags);
    put_step_labels(d, &v->means);
    json_put_text(&d->w, "host_risk", grade_name(v->host_risk));
    json_put_text(&d->w, "severity", severity_level_name(v->severity));
    put_inventory(d, &d->bubbles->inventory[i]);
    put_step_aicpu(d, &study_aicpu(d->st)->steps[i]);
    json_put_bool(&d->w, "partial", study_boundary(d->st)->is_partial[i]);
    json_write_end(&d->w);
}

static void put_limitations(struct doc *d)
{
    struct gaps gaps = gaps_find(d->st);

    json_put_array(&d->w, "limitations");
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
    json_put_text(&d.w, "schema", "strata.anomaly/1");
    json_put_object(&d.w, "tool");
    json_put_text(&d.w, "name", "strata");
    json_put_str(&d.w, "version", S(STRATA_VERSION));
    json_write_end(&d.w);
    put_capture(&d);
    put_states(&d);
    doc_put_discovery(&d);
    json_put_array(&d.w, "steps");
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
