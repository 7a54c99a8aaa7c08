/*
 * Reading what the injection library left. See gpu_recorded.h.
 */
#include "gpu/collect/gpu_recorded.h"

#include <string.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/text/mangled.h"

/* What the walk over one file needs. Records of one site share its fields: looked up once, kept by
 * number. */
struct recorded_walk {
    struct gpu_recorded *out;
    const struct gpu_trace *trace;
    struct arena *arena;
    struct gpu_launch *sites;
    size_t n_sites;
};

/* A kernel without times, of a program that was ended: it was running, or waited for that. */
static void note_unfinished(struct recorded_walk *w, const struct gpu_trace_event *e)
{
    struct gpu_recorded *out = w->out;

    if (gpu_trace_kind(w->trace, e->site) != TRACE_SITE_KERNEL)
        return;
    out->hung_behind += out->hung.n > 0;
    if (out->hung.n > 0 && e->correlation >= out->hung_at)
        return;
    uint64_t name = gpu_trace_field(w->trace, e->site, KERNEL_NAME);
    out->hung = mangled_plain(arena_str(w->arena, gpu_trace_string(w->trace, name)));
    out->hung_at = e->correlation;
}

/* One kernel has one site: its fields and its plain name are read at its first launch and copied
 * for the others. */
static void add_launch(void *ctx, const struct gpu_trace_event *e)
{
    struct recorded_walk *w = ctx;

    if (e->tag != TRACE_KERNEL || e->duration < 0 || e->site >= w->n_sites)
        return;
    if (e->start <= 0) {
        note_unfinished(w, e);
        return;
    }
    struct gpu_launch *site = &w->sites[e->site];
    if (site->launch == NULL) {
        if (gpu_trace_kind(w->trace, e->site) != TRACE_SITE_KERNEL)
            return;
        uint64_t *fields = ARENA_ARRAY(w->arena, uint64_t, KERNEL_FIELDS);
        for (unsigned i = 0; i < KERNEL_FIELDS; i++)
            fields[i] = gpu_trace_field(w->trace, e->site, i);
        site->launch = fields;
        site->mangled = arena_str(w->arena, gpu_trace_string(w->trace, site->launch[KERNEL_NAME]));
        site->name = mangled_plain(site->mangled);
    }
    struct gpu_launch launch = *site;
    launch.start = e->start;
    launch.duration_ns = e->duration;
    vec_push(&w->out->launches, launch);
}

static enum status read_launches(const char *path, struct arena *arena, struct gpu_recorded *out,
                                 struct diag *d)
{
    struct mapfile map;
    struct gpu_trace trace;

    TRY(mapfile_open(&map, path, d));
    enum status st = gpu_trace_open(&trace, path, map.text, false, d);
    if (st == ST_OK) {
        struct recorded_walk w = {out, &trace, arena,
                                  ARENA_ARRAY(arena, struct gpu_launch, trace.sites.n),
                                  trace.sites.n};
        gpu_trace_walk(&trace, &(struct gpu_trace_sink){.ctx = &w, .event = add_launch});
        gpu_trace_close(&trace);
    }
    mapfile_close(&map);
    return st;
}

/* Before launches are joined, for a joined one has the place of its first. */
static void find_last(const struct gpu_trace_results *r, struct gpu_recorded *out)
{
    for (size_t i = 0; i < r->n_counters; i++)
        if (out->last_counted.n == 0 || r->counters[i].at >= out->last_counted_at) {
            out->last_counted = mangled_plain(str_of(r->counters[i].name));
            out->last_counted_at = r->counters[i].at;
        }
}

static void add_results(struct gpu_trace_results *r, struct gpu_recorded *out)
{
    find_last(r, out);
    struct gpu_turns turns = {r->metrics, r->n_metrics, r->counters, r->n_counters};
    gpu_turns_join(&turns);
    for (size_t i = 0; i < turns.n; i++) {
        struct gpu_counted one = gpu_counted_of(&turns, i, out->counted.n);
        vec_push(&out->counted, one);
    }
    for (size_t i = 0; i < r->n_runs; i++)
        vec_push(&out->runs, ((struct gpu_launch){
                                 .launch = r->runs[i].launch,
                                 .mangled = str_of(r->runs[i].name),
                                 .name = mangled_plain(str_of(r->runs[i].name)),
                                 .range = str_of(r->runs[i].range),
                                 .start = r->runs[i].at,
                                 .duration_ns = r->runs[i].duration_ns,
                                 .number = r->runs[i].number,
                             }));
    for (size_t i = 0; i < r->n_notes; i++)
        vec_push(&out->notes, r->notes[i]);
    for (size_t i = 0; i < r->n_seen; i++)
        vec_push(&out->seen, r->seen[i]);
    for (size_t i = 0; i < r->n_samples; i++)
        vec_push(&out->samples, r->samples[i]);
    if (out->n_reasons == 0 && r->n_samples > 0) {
        out->reasons = r->metrics;
        out->n_reasons = r->n_metrics;
    }
    out->records += r->records;
    out->dropped += r->dropped;
    out->lost += r->lost;
    out->unfinished += !r->has_end;
    if (r->chip[0] != 0)
        out->chip = r->chip;
    if (r->cupti[0] != 0)
        out->cupti = r->cupti;
    if (r->driver[0] != 0)
        out->driver = r->driver;
}

/* What the library left of the kernel that it was measuring. */
static void read_running(const char *path, struct arena *arena, struct gpu_recorded *out)
{
    struct mapfile map;
    struct diag said;

    diag_init(&said);
    if (mapfile_open(&map, path, &said) == ST_OK) {
        size_t n = strnlen(map.text.at, map.text.n);
        if (n > 0)
            out->hung = mangled_plain(arena_str(arena, str_part(map.text, 0, n)));
        mapfile_close(&map);
    }
    diag_fini(&said);
}

enum status gpu_recorded_read(const char *folder, struct arena *arena, struct gpu_recorded *out,
                              struct diag *d)
{
    struct fs_list list;

    *out = (struct gpu_recorded){.chip = "", .cupti = "", .driver = ""};
    TRY(fs_list(arena, folder, &list, d));
    for (size_t i = 0; i < list.n; i++) {
        struct gpu_trace_results results;
        if (list.at[i].kind == FS_FILE && str_starts(list.at[i].name, S("running-")))
            read_running(list.at[i].path, arena, out);
        if (list.at[i].kind != FS_FILE || !str_ends(list.at[i].name, S(".strata")) ||
            list.at[i].size == 0)
            continue;
        TRY(gpu_trace_results_read(list.at[i].path, arena, d, &results));
        add_results(&results, out);
        TRY(read_launches(list.at[i].path, arena, out, d));
        vec_push(&out->paths, list.at[i].path);
        out->files++;
    }
    return ST_OK;
}

void gpu_recorded_free(struct gpu_recorded *r)
{
    for (size_t i = 0; i < r->counted.n; i++)
        gpu_kernel_free(&r->counted.at[i].kernel);
    vec_free(&r->paths);
    vec_free(&r->launches);
    vec_free(&r->runs);
    vec_free(&r->counted);
    vec_free(&r->notes);
    vec_free(&r->seen);
    vec_free(&r->samples);
}

const struct trace_note *gpu_recorded_note(const struct gpu_recorded *r, const char *code)
{
    for (size_t i = 0; i < r->notes.n; i++)
        if (strcmp(r->notes.at[i].code, code) == 0)
            return &r->notes.at[i];
    return NULL;
}
