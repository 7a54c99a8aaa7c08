/*
 * The document "strata.anomaly/1": keys and their order are a contract with other tools, so they
 * are written here, one by one, and not derived from the report.
 *
 * Times in milliseconds and microseconds are printed exactly, digit by digit from nanoseconds.
 */
#include <stdio.h>

#include "analysis/anomaly.h"
#include "analysis/bubbles.h"
#include "analysis/steps.h"
#include "analysis/study.h"
#include "base/json_write.h"

struct doc {
    struct json_writer w;
    struct study *st;
    const struct capture *cap;
    const struct steps *steps;
    const struct bubbles *bubbles;
    nanos origin; /* begin of the whole span: rel_us counts from here */
};

static void key(struct doc *d, const char *name)
{
    json_write_key(&d->w, str_of(name));
}

static void put_text(struct doc *d, const char *name, struct str text)
{
    key(d, name);
    json_write_string(&d->w, text);
}

static void put_count(struct doc *d, const char *name, uint64_t count)
{
    key(d, name);
    json_write_u64(&d->w, count);
}

static void put_ratio(struct doc *d, const char *name, double ratio)
{
    key(d, name);
    json_write_f64(&d->w, ratio);
}

static void put_us(struct doc *d, const char *name, nanos ns)
{
    key(d, name);
    json_write_us(&d->w, ns);
}

/* Milliseconds with all six decimals that nanoseconds have, less the trailing zeros. */
static void put_ms(struct doc *d, const char *name, nanos ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    char text[NUM_TEXT];
    int n = snprintf(text, sizeof(text), "%s%llu.%06llu", ns < 0 ? "-" : "",
                     (unsigned long long)(size / 1000000), (unsigned long long)(size % 1000000));

    while (text[n - 1] == '0' && text[n - 2] != '.')
        n--;
    key(d, name);
    json_write_number(&d->w, (struct str){text, (size_t)n});
}

/* begin and end, absolute and relative, in microseconds. */
static void put_window(struct doc *d, struct interval at)
{
    put_us(d, "start_us", at.begin);
    put_us(d, "end_us", at.end);
    put_us(d, "start_rel_us", nanos_sub(at.begin, d->origin));
    put_us(d, "end_rel_us", nanos_sub(at.end, d->origin));
}

/* The code "kernel-details.field-count" is counted under "field_count". */
static void put_dropped(struct doc *d)
{
    key(d, "rows_dropped");
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
        put_count(d, name, loss->count);
    }
    json_write_end(&d->w);
}

static void put_streams(struct doc *d, const strid *streams, size_t n)
{
    key(d, "streams");
    json_write_array(&d->w);
    for (size_t i = 0; i < n; i++)
        json_write_string(&d->w, capture_text(d->cap, streams[i]));
    json_write_end(&d->w);
}

static void put_files(struct doc *d)
{
    key(d, "files");
    json_write_array(&d->w);
    for (size_t i = 0; i < d->cap->sources.n; i++) {
        const struct source *source = &d->cap->sources.at[i];
        json_write_object(&d->w);
        put_text(d, "name", str_basename(str_of(source->path)));
        put_count(d, "bytes", source->bytes);
        put_count(d, "rows", source->rows);
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
}

/* Where the kernels come from, as the contract spells it. */
static struct str source_name(const struct capture *cap)
{
    static const struct {
        struct str format, name;
    } names[] = {
        {S_INIT("kernel-details"), S_INIT("kernel_details")},
        {S_INIT("ascend-db"), S_INIT("db")},
        {S_INIT("trace-view"), S_INIT("trace_view")},
        {S_INIT("kineto"), S_INIT("kineto")},
        {S_INIT("nsys"), S_INIT("nsys")},
    };

    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        for (size_t i = 0; i < cap->sources.n; i++) {
            const struct source *source = &cap->sources.at[i];
            if (!str_equal(str_of(source->format), names[k].format))
                continue;
            bool is_summary = str_starts(str_basename(str_of(source->path)), S("op_summary_")) ||
                              str_starts(str_basename(str_of(source->path)), S("task_time_"));
            return is_summary ? S("op_summary") : names[k].name;
        }
    return cap->sources.n > 0 ? str_of(cap->sources.at[0].format) : S("none");
}

/* Rows of the kernel table that fitted its header; elsewhere the kernels that were read. */
static uint64_t rows_read(const struct capture *cap)
{
    uint64_t rows = 0;
    bool is_table = false;

    for (size_t i = 0; i < cap->sources.n; i++)
        if (str_equal(str_of(cap->sources.at[i].format), S("kernel-details"))) {
            rows += cap->sources.at[i].rows;
            is_table = true;
        }
    return is_table ? rows : cap->kernels_read;
}

static uint64_t host_events(const struct capture *cap)
{
    uint64_t n = 0;

    for (size_t i = 0; i < cap->slices.n; i++)
        n += cap->slices.kind[i] >= SLICE_HOST_OP && cap->slices.kind[i] <= SLICE_STEP;
    return n;
}

static void put_known(struct doc *d, const char *name, int64_t number)
{
    key(d, name);
    if (number >= 0)
        json_write_i64(&d->w, number);
    else
        json_write_null(&d->w);
}

static void put_capture(struct doc *d)
{
    char origin[NUM_TEXT];

    key(d, "capture");
    json_write_object(&d->w);
    put_text(d, "path", str_of(d->cap->name));
    put_text(d, "kind", capture_text(d->cap, d->cap->facts.kind));
    put_text(d, "source", source_name(d->cap));
    put_text(d, "step_source", str_of(step_source_name(d->steps->source)));
    put_known(d, "rank", d->cap->facts.rank);
    put_known(d, "device", d->cap->facts.device);
    put_known(d, "level", d->cap->facts.level);
    put_text(d, "time_origin_us", (struct str){origin, num_print_us(origin, d->origin)});
    put_count(d, "rows_read", rows_read(d->cap));
    put_count(d, "rows_after_dedup", study_kernels(d->st).n);
    put_dropped(d);
    put_count(d, "kernels_before_first_step", d->steps->kernels_before_first);
    put_count(d, "host_events", host_events(d->cap));
    put_files(d);
    json_write_end(&d->w);
}

static void put_global(struct doc *d)
{
    const struct global_gaps *g = &d->bubbles->global;

    key(d, "global_device_gap_analysis");
    json_write_object(&d->w);
    put_ms(d, "capture_span_ms", nanos_sub(g->span.end, g->span.begin));
    put_ms(d, "device_busy_union_ms", g->busy);
    put_ms(d, "device_gap_ms", g->gap);
    put_ratio(d, "device_gap_ratio", g->gap_ratio);
    put_ms(d, "largest_gap_ms", g->largest);
    key(d, "top_gap_windows");
    json_write_array(&d->w);
    for (size_t i = 0; i < g->n_top; i++) {
        json_write_object(&d->w);
        put_window(d, g->top[i]);
        put_ms(d, "duration_ms", nanos_sub(g->top[i].end, g->top[i].begin));
        json_write_end(&d->w);
    }
    json_write_end(&d->w);
    json_write_end(&d->w);
}

static void put_kernel(struct doc *d, const char *name, size_t slice)
{
    key(d, name);
    if (slice == NO_KERNEL) {
        json_write_null(&d->w);
        return;
    }
    const struct lane *lane = &d->cap->lanes.at[d->cap->slices.lane[slice]];
    json_write_object(&d->w);
    put_text(d, "name", capture_text(d->cap, d->cap->slices.name[slice]));
    put_text(d, "type", capture_slice_text(d->cap, slice, KEY_TYPE));
    put_text(d, "core", capture_slice_text(d->cap, slice, KEY_CORE));
    put_us(d, "duration_us", d->cap->slices.dur[slice]);
    put_text(d, "stream", capture_text(d->cap, lane->key.name));
    json_write_end(&d->w);
}

static void put_bubble(struct doc *d, const struct bubble *b)
{
    struct str step = d->steps->at[b->step].id;
    const char *scope = bubble_scope_name(b->scope);

    json_write_object(&d->w);
    put_text(d, "bubble_id",
             arena_format(&d->st->scratch, "%.*s/%s/%zu", STR_ARGS(step), scope, b->ordinal));
    put_text(d, "scope", str_of(scope));
    put_text(d, "step_id", step);
    put_window(d, b->at);
    put_ms(d, "duration_ms", nanos_sub(b->at.end, b->at.begin));
    put_kernel(d, "kernel_before", b->before);
    put_kernel(d, "kernel_after", b->after);
    json_write_end(&d->w);
}

static void put_discovery(struct doc *d)
{
    key(d, "anomaly_discovery");
    json_write_object(&d->w);
    key(d, "enabled");
    json_write_bool(&d->w, d->steps->n > 0);
    put_global(d);
    key(d, "bubble_windows");
    json_write_array(&d->w);
    for (size_t i = 0; i < d->bubbles->n; i++)
        put_bubble(d, &d->bubbles->list[i]);
    json_write_end(&d->w);
    put_count(d, "bubble_windows_omitted", d->bubbles->omitted);
    json_write_end(&d->w);
}

static void put_tags(struct doc *d, unsigned tags)
{
    key(d, "anomaly_tags");
    json_write_array(&d->w);
    for (unsigned bit = 1; bit <= TAG_INTERNAL_BUBBLE_HEAVY; bit <<= 1)
        if (tags & bit)
            json_write_string(&d->w, str_of(step_tag_name((enum step_tag)bit)));
    json_write_end(&d->w);
}

static void put_inventory(struct doc *d, const struct step_inventory *inv)
{
    key(d, "inventory");
    json_write_object(&d->w);
    put_count(d, "total_kernel_count", inv->kernels);
    put_count(d, "ai_core_count", inv->ai_core);
    put_count(d, "ai_cpu_count", inv->ai_cpu);
    put_count(d, "comm_count", inv->comm);
    put_ms(d, "kernel_duration_sum_ms", inv->duration_sum);
    put_ms(d, "kernel_wait_sum_ms", inv->wait_sum);
    put_streams(d, inv->streams, inv->n_streams);
    put_count(d, "stream_count", inv->n_streams);
    json_write_end(&d->w);
}

static void put_step(struct doc *d, size_t i)
{
    const struct step *step = &d->steps->at[i];
    const struct step_metrics *m = &d->bubbles->metrics[i];

    json_write_object(&d->w);
    put_text(d, "step_id", step->id);
    key(d, "number");
    json_write_i64(&d->w, step->number);
    put_window(d, step->window);
    put_ms(d, "service_ms", m->service);
    put_ms(d, "device_busy_union_ms", m->busy);
    put_ms(d, "underfeed_ms", m->underfeed);
    put_ratio(d, "underfeed_ratio", m->underfeed_ratio);
    put_ms(d, "prelaunch_gap_ms", m->prelaunch);
    put_ms(d, "tail_gap_ms", m->tail);
    put_ms(d, "internal_bubble_total_ms", m->internal);
    put_ms(d, "largest_internal_bubble_ms", m->largest_internal);
    put_count(d, "bubble_count", m->bubble_count);
    put_count(d, "significant_bubble_count", m->significant_count);
    put_tags(d, m->tags);
    put_inventory(d, &d->bubbles->inventory[i]);
    json_write_end(&d->w);
}

static void put_limitations(struct doc *d)
{
    key(d, "limitations");
    json_write_array(&d->w);
    if (d->steps->n == 0)
        json_write_string(&d->w, S("no kernels: there is no device work to judge"));
    if (d->steps->n > 0 && d->steps->source == STEPS_PSEUDO)
        json_write_string(&d->w, S("no step marks: the whole device span is one pseudo-step"));
    if (!(d->cap->has & HAS_HOST))
        json_write_string(&d->w, S("no host events: causes of idle time cannot be narrowed"));
    json_write_end(&d->w);
}

bool anomaly_write_json(struct study *st, struct sink out)
{
    struct doc d = {
        .st = st,
        .cap = st->cap,
        .steps = study_steps(st),
        .bubbles = study_bubbles(st),
    };

    d.origin = d.bubbles->global.span.begin;
    json_write_init(&d.w, out, JSON_INDENTED);
    json_write_object(&d.w);
    put_text(&d, "schema", S("strata.anomaly/1"));
    key(&d, "tool");
    json_write_object(&d.w);
    put_text(&d, "name", S("strata"));
    put_text(&d, "version", S(STRATA_VERSION));
    json_write_end(&d.w);
    put_capture(&d);
    put_discovery(&d);
    key(&d, "steps");
    json_write_array(&d.w);
    for (size_t i = 0; i < d.steps->n; i++)
        put_step(&d, i);
    json_write_end(&d.w);
    put_limitations(&d);
    json_write_end(&d.w);
    return json_write_finish(&d.w);
}
