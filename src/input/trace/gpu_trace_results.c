/*
 * Counters, runs and notes of a trace, as plain structs.
 */
#include "input/trace/gpu_trace.h"

struct gather {
    const struct gpu_trace *t;
    struct arena *arena;
    struct gpu_trace_results *out;
    struct launched {
        const uint64_t *fields;
        const char *name;
    } * launches; /* by site, as they are met */
    VEC_OF(struct trace_counter) counters;
    VEC_OF(struct trace_run) runs;
    VEC_OF(struct trace_note) notes;
    VEC_OF(struct trace_seen) seen;
    VEC_OF(struct trace_pc) samples;
};

static const char *results_text_of(struct gather *g, uint64_t number)
{
    return arena_cstr(g->arena, gpu_trace_string(g->t, number));
}

/* The launch of a kernel's site, with all fields that there are. */
static struct launched launch_of(struct gather *g, uint32_t site)
{
    struct launched *l = &g->launches[site < g->t->sites.n ? site : 0];

    if (l->fields == NULL) {
        uint64_t *fields = ARENA_ARRAY(g->arena, uint64_t, KERNEL_FIELDS);
        for (unsigned i = 0; i < KERNEL_FIELDS; i++)
            if (gpu_trace_kind(g->t, site) == TRACE_SITE_KERNEL)
                fields[i] = gpu_trace_field(g->t, site, i);
        *l = (struct launched){fields, results_text_of(g, fields[KERNEL_NAME])};
    }
    return *l;
}

static void take_counter(struct gather *g, const struct gpu_trace_event *e)
{
    size_t n = g->out->n_metrics;
    double *values = ARENA_ARRAY(g->arena, double, n > 0 ? n : 1);
    struct launched launch = launch_of(g, e->site);

    for (size_t i = 0; i < n; i++) {
        values[i] = __builtin_nan("");
        if (i < e->extra[1])
            memcpy(&values[i], e->values + 8 * i, sizeof(*values));
    }
    vec_push(&g->counters, ((struct trace_counter){.launch = launch.fields,
                                                   .name = launch.name,
                                                   .values = values,
                                                   .number = (uint64_t)e->correlation,
                                                   .at = e->start,
                                                   .passes = (uint32_t)e->extra[0]}));
}

static void take_event(void *ctx, const struct gpu_trace_event *e)
{
    struct gather *g = ctx;

    if (e->tag == TRACE_COUNTER) {
        take_counter(g, e);
    } else if (e->tag == TRACE_RUN) {
        struct launched launch = launch_of(g, e->site);
        vec_push(&g->runs, ((struct trace_run){.launch = launch.fields,
                                               .name = launch.name,
                                               .range = results_text_of(g, e->extra[1]),
                                               .at = e->start,
                                               .duration_ns = e->duration,
                                               .number = (uint64_t)e->correlation,
                                               .launches = e->extra[0]}));
    }
}

static void take_info(struct gather *g, const char *key, const char *value)
{
    struct gpu_trace_results *r = g->out;
    const struct {
        const char *key;
        const char **at;
    } known[] = {
        {"mode", &r->mode},     {"chip", &r->chip}, {"cupti", &r->cupti},
        {"driver", &r->driver}, {"host", &r->host}, {"exe", &r->exe},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(key, known[i].key) == 0)
            *known[i].at = value;
}

static void take_sample(struct gather *g, const struct gpu_trace_record *r)
{
    enum { FIXED = 4 };

    if (r->n < FIXED)
        return;
    size_t pairs = (r->n - FIXED) / 2;
    uint64_t *counts = ARENA_ARRAY(g->arena, uint64_t, 2 * pairs);
    memcpy(counts, r->numbers + FIXED, 2 * pairs * sizeof(*counts));
    vec_push(&g->samples, ((struct trace_pc){.function = results_text_of(g, r->numbers[1]),
                                             .module = r->numbers[2],
                                             .offset = r->numbers[3],
                                             .counts = counts,
                                             .n = pairs}));
}

static void results_take_record(void *ctx, const struct gpu_trace_record *r)
{
    struct gather *g = ctx;

    if (r->tag == TRACE_INFO) {
        take_info(g, results_text_of(g, r->numbers[0]), results_text_of(g, r->numbers[1]));
    } else if (r->tag == TRACE_METRICS && g->out->n_metrics == 0) {
        /* Those of all devices are the same, as far as their chips know them. */
        g->out->n_metrics = r->n - 1;
        g->out->metrics = ARENA_ARRAY(g->arena, const char *, r->n);
        for (size_t i = 1; i < r->n; i++)
            g->out->metrics[i - 1] = results_text_of(g, r->numbers[i]);
    } else if (r->tag == TRACE_SAMPLE) {
        take_sample(g, r);
    } else if (r->tag == TRACE_NOTE) {
        vec_push(&g->notes, ((struct trace_note){.code = results_text_of(g, r->numbers[0]),
                                                 .text = results_text_of(g, r->numbers[2]),
                                                 .result = trace_unzigzag(r->numbers[1])}));
    } else if (r->tag == TRACE_SEEN) {
        vec_push(&g->seen, ((struct trace_seen){.name = results_text_of(g, r->numbers[0]),
                                                .launches = r->numbers[1],
                                                .measured = r->numbers[2]}));
    }
}

#define KEEP(member)                                                                               \
    do {                                                                                           \
        out->member = arena_array(arena, sizeof(*g.member.at), g.member.n);                        \
        if (g.member.n > 0)                                                                        \
            memcpy(out->member, g.member.at, g.member.n * sizeof(*g.member.at));                   \
        out->n_##member = g.member.n;                                                              \
        vec_free(&g.member);                                                                       \
    } while (0)

enum status gpu_trace_results_read(const char *path, struct arena *arena, struct diag *d,
                                   struct gpu_trace_results *out)
{
    struct mapfile map;
    struct gpu_trace t;

    *out = (struct gpu_trace_results){
        .mode = "", .chip = "", .cupti = "", .driver = "", .host = "", .exe = ""};
    TRY(mapfile_open(&map, path, d));
    enum status st = gpu_trace_open(&t, path, map.text, false, d);
    if (st == ST_OK) {
        struct gather g = {.t = &t,
                           .arena = arena,
                           .out = out,
                           .launches = ARENA_ARRAY(arena, struct launched, t.sites.n)};
        gpu_trace_walk(&t, &(struct gpu_trace_sink){
                               .ctx = &g, .event = take_event, .record = results_take_record});
        KEEP(counters);
        KEEP(runs);
        KEEP(notes);
        KEEP(seen);
        KEEP(samples);
        out->process = t.process;
        out->records = t.records;
        out->dropped = t.dropped;
        out->lost = t.lost;
        out->has_end = t.has_end;
    }
    gpu_trace_close(&t);
    mapfile_close(&map);
    return st;
}
