/*
 * dump FILE - a trace as JSON: the sealed capture, and the results beside it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "input/input.h"
#include "input/trace/gpu_trace.h"

static const char *comma(size_t i)
{
    return i > 0 ? "," : "";
}

static void dump_capture(const struct capture *cap)
{
    printf("\"slices\":[");
    for (size_t i = 0; i < cap->slices.n; i++) {
        struct slice s = slices_at(&cap->slices, i);
        const struct lane *lane = &cap->lanes.at[s.lane];
        struct attr link = capture_slice_attr(cap, i, KEY_LINK);
        printf("%s{\"kind\":\"%s\",\"lane\":\"%s\",\"lane_name\":\"%.*s\",\"name\":\"%.*s\","
               "\"begin\":%lld,\"dur\":%lld,\"link\":%lld}",
               comma(i), slice_kind_name(s.kind), lane_kind_name(lane->key.kind),
               STR_ARGS(capture_text(cap, lane->key.name)), STR_ARGS(capture_text(cap, s.name)),
               (long long)s.begin, (long long)s.dur,
               (long long)(link.type == ATTR_INT ? link.number : 0));
    }
    printf("],\"flows\":[");
    for (size_t i = 0; i < cap->flows.n; i++)
        printf("%s[%u,%u]", comma(i), cap->flows.at[i].from, cap->flows.at[i].to);
    printf("],\"to_unix\":%lld,\"device\":\"%.*s\",\"lost\":%llu,", (long long)cap->clock.to_unix,
           STR_ARGS(capture_text(cap, cap->facts.device_name)),
           (unsigned long long)cap->sources.at[0].lost);
}

static void dump_results(const struct gpu_trace_results *r)
{
    printf("\"process\":%u,\"mode\":\"%s\",\"chip\":\"%s\",\"end\":%s,\"records\":%llu,"
           "\"dropped\":%llu,\"metrics\":[",
           r->process, r->mode, r->chip, r->has_end ? "true" : "false",
           (unsigned long long)r->records, (unsigned long long)r->dropped);
    for (size_t i = 0; i < r->n_metrics; i++)
        printf("%s\"%s\"", comma(i), r->metrics[i]);
    printf("],\"counters\":[");
    for (size_t i = 0; i < r->n_counters; i++) {
        const struct trace_counter *c = &r->counters[i];
        printf("%s{\"name\":\"%s\",\"number\":%llu,\"passes\":%u,\"grid\":%llu,\"values\":[",
               comma(i), c->name, (unsigned long long)c->number, c->passes,
               (unsigned long long)c->launch[KERNEL_GRID_X]);
        for (size_t k = 0; k < r->n_metrics; k++)
            printf("%s%.17g", comma(k), isnan(c->values[k]) ? -1 : c->values[k]);
        printf("]}");
    }
    printf("],\"samples\":[");
    for (size_t i = 0; i < r->n_samples; i++) {
        const struct trace_pc *s = &r->samples[i];
        printf("%s[\"%s\",%llu,%llu", comma(i), s->function, (unsigned long long)s->module,
               (unsigned long long)s->offset);
        for (size_t k = 0; k < 2 * s->n; k++)
            printf(",%llu", (unsigned long long)s->counts[k]);
        printf("]");
    }
    printf("],\"runs\":[");
    for (size_t i = 0; i < r->n_runs; i++)
        printf("%s{\"name\":\"%s\",\"range\":\"%s\",\"number\":%llu,\"launches\":%llu,\"ns\":%lld}",
               comma(i), r->runs[i].name, r->runs[i].range, (unsigned long long)r->runs[i].number,
               (unsigned long long)r->runs[i].launches, (long long)r->runs[i].duration_ns);
    printf("],\"notes\":[");
    for (size_t i = 0; i < r->n_notes; i++)
        printf("%s[\"%s\",%lld,\"%s\"]", comma(i), r->notes[i].code, (long long)r->notes[i].result,
               r->notes[i].text);
    printf("],\"seen\":{");
    for (size_t i = 0; i < r->n_seen; i++)
        printf("%s\"%s\":[%llu,%llu]", comma(i), r->seen[i].name,
               (unsigned long long)r->seen[i].launches, (unsigned long long)r->seen[i].measured);
    printf("},");
}

int main(int argc, char **argv)
{
    struct input_options options = input_defaults();
    struct gpu_trace_results results;
    struct capture *cap = NULL;
    struct arena arena;
    struct diag d;
    enum status st = ST_NOT_FOUND;

    diag_init(&d);
    arena_init(&arena);
    printf("{");
    if (argc > 1 && (st = gpu_trace_results_read(argv[1], &arena, &d, &results)) == ST_OK) {
        dump_results(&results);
        diag_fini(&d);
        diag_init(&d);
        options.format = "strata-trace";
        st = input_load(argv[1], &options, &d, &cap);
        if (st == ST_OK)
            dump_capture(cap);
    }
    printf("\"diags\":{");
    for (size_t i = 0; i < d.entries.n; i++)
        printf("%s\"%s\":%llu", comma(i), d.entries.at[i].code,
               (unsigned long long)d.entries.at[i].count);
    printf("}}\n");
    capture_free(cap);
    arena_free(&arena);
    diag_fini(&d);
    return st == ST_OK ? 0 : 1;
}
