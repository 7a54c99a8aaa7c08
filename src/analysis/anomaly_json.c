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
    const struct diag *diag;
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
    for (size_t i = 0; i < d->diag->entries.n; i++) {
        const struct diag_entry *e = &d->diag->entries.at[i];
        const char *dot = strchr(e->code, '.');
        char name[64];
        if (e->severity != SEV_LOSS || dot == NULL || strncmp(e->code, "kernel-details.", 15) != 0)
            continue;
        snprintf(name, sizeof(name), "%s", dot + 1);
        for (char *c = name; *c != '\0'; c++)
            if (*c == '-')
                *c = '_';
        put_count(d, name, e->count);
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

static void put_capture(struct doc *d)
{
    char origin[NUM_TEXT];
    uint64_t rows = 0;

    for (size_t i = 0; i < d->cap->sources.n; i++)
        rows += d->cap->sources.at[i].rows;
    key(d, "capture");
    json_write_object(&d->w);
    put_text(d, "path", str_of(d->cap->name));
    put_text(d, "source", S("kernel_details"));
    put_text(d, "step_source", str_of(step_source_name(d->steps->source)));
    put_text(d, "time_origin_us", (struct str){origin, num_print_us(origin, d->origin)});
    put_count(d, "rows_read", rows);
    put_dropped(d);
    put_count(d, "kernels_before_first_step", d->steps->kernels_before_first);
    put_count(d, "host_events", 0);
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
    for (size_t i = 0; i < d->bubbles->listed; i++)
        put_bubble(d, &d->bubbles->list[i]);
    json_write_end(&d->w);
    put_count(d, "bubble_windows_omitted", d->bubbles->n - d->bubbles->listed);
    json_write_end(&d->w);
}

static void put_tags(struct doc *d, unsigned tags)
{
    key(d, "anomaly_tags");
    json_write_array(&d->w);
    for (unsigned bit = 1; bit < TAG_END; bit <<= 1)
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

bool anomaly_write_json(struct study *st, const struct diag *diag, struct sink out)
{
    struct doc d = {
        .st = st,
        .cap = st->cap,
        .steps = study_steps(st),
        .bubbles = study_bubbles(st),
        .diag = diag,
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
