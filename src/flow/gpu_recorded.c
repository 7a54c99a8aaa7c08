#include "flow/gpu_recorded.h"

#include <math.h>
#include <string.h>

#include "base/fs.h"
#include "base/mangled.h"
#include "base/mapfile.h"

static void tell(double *metric, uint64_t value)
{
    if (value != UINT32_MAX)
        *metric = (double)value;
}

void gpu_launch_resources(struct gpu_kernel *k, const uint64_t *launch)
{
    for (int i = 0; i < 3; i++) {
        k->grid[i] = (uint32_t)launch[KERNEL_GRID_X + i];
        k->block[i] = (uint32_t)launch[KERNEL_BLOCK_X + i];
        k->cluster[i] = (uint32_t)launch[KERNEL_CLUSTER_X + i];
    }
    tell(&k->m[GPU_M_SMEM_DYNAMIC], launch[KERNEL_DYNAMIC]);
    if (gpu_launch_is_told(launch)) {
        tell(&k->m[GPU_M_REGS], launch[KERNEL_REGISTERS]);
        tell(&k->m[GPU_M_SMEM_STATIC], launch[KERNEL_STATIC]);
        tell(&k->m[GPU_M_LOCAL_PER_THREAD], launch[KERNEL_LOCAL]);
    }
    if (launch[KERNEL_SHARED_EXECUTED] > 0)
        tell(&k->m[GPU_M_SMEM_CONFIG], launch[KERNEL_SHARED_EXECUTED]);
}

bool gpu_launch_is_told(const uint64_t *launch)
{
    return launch[KERNEL_REGISTERS] > 0 && launch[KERNEL_REGISTERS] != UINT32_MAX;
}

/* What the walk over one file needs. */
struct gather {
    struct gpu_recorded *out;
    const struct gpu_trace *trace;
    struct arena *arena;
};

static const uint64_t *fields_of(struct gather *g, uint32_t site)
{
    uint64_t *fields = ARENA_ARRAY(g->arena, uint64_t, KERNEL_FIELDS);

    for (unsigned i = 0; i < KERNEL_FIELDS; i++)
        fields[i] = gpu_trace_field(g->trace, site, i);
    return fields;
}

/* Records of one site share its fields: looked up once, kept by number. */
struct sites {
    struct gpu_launch *at;
    size_t n;
};

struct walk {
    struct gather gather;
    struct sites sites;
};

static void take_kernel(void *ctx, const struct gpu_trace_event *e)
{
    struct walk *w = ctx;

    if (e->tag != TRACE_KERNEL || e->start <= 0 || e->duration < 0 || e->site >= w->sites.n)
        return;
    struct gpu_launch *site = &w->sites.at[e->site];
    if (site->launch == NULL) {
        if (gpu_trace_kind(w->gather.trace, e->site) != TRACE_SITE_KERNEL)
            return;
        site->launch = fields_of(&w->gather, e->site);
        site->mangled = arena_str(w->gather.arena,
                                  gpu_trace_string(w->gather.trace, site->launch[KERNEL_NAME]));
        site->name = mangled_plain(site->mangled);
    }
    struct gpu_launch launch = *site;
    launch.start = e->start;
    launch.duration_ns = e->duration;
    vec_push(&w->gather.out->launches, launch);
}

static enum status read_launches(const char *path, struct arena *arena, struct gpu_recorded *out,
                                 struct diag *d)
{
    struct mapfile map;
    struct gpu_trace trace;

    TRY(mapfile_open(&map, path, d));
    enum status st = gpu_trace_open(&trace, path, map.text, d);
    if (st == ST_OK) {
        struct walk w = {
            .gather = {out, &trace, arena},
            .sites = {ARENA_ARRAY(arena, struct gpu_launch, trace.sites.n), trace.sites.n},
        };
        gpu_trace_walk(&trace, &(struct gpu_trace_sink){.ctx = &w, .event = take_kernel});
        gpu_trace_close(&trace);
    }
    mapfile_close(&map);
    return st;
}

/* ---- launches that take turns with the metrics ---- */

static bool is_same_kernel(const struct trace_counter *a, const struct trace_counter *b)
{
    return strcmp(a->name, b->name) == 0 &&
           memcmp(a->launch + KERNEL_GRID_X, b->launch + KERNEL_GRID_X,
                  (KERNEL_BLOCK_Z + 1 - KERNEL_GRID_X) * sizeof(*a->launch)) == 0;
}

/* Gives `from` what it lacks; false when both have a value for the same metric. */
static bool complete(struct trace_counter *c, const struct trace_counter *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(c->values[i]) && !isnan(from->values[i]))
            return false;
    for (size_t i = 0; i < n; i++)
        if (isnan(c->values[i]))
            c->values[i] = from->values[i];
    c->passes += from->passes;
    return true;
}

/* Joins each record with those of the next launches of its kernel that complete it. Nodes of graphs
 * have no names to tell them by. */
static void join_turns(struct gpu_trace_results *r)
{
    enum { LOOK_BACK = 4096 };
    size_t n = 0;

    for (size_t i = 0; i < r->n_counters; i++) {
        struct trace_counter *one = &r->counters[i], *before = NULL;
        bool is_named = strcmp(one->name, "?") != 0;
        for (size_t k = n; k > 0 && n - k < LOOK_BACK && before == NULL && is_named; k--)
            if (is_same_kernel(&r->counters[k - 1], one))
                before = &r->counters[k - 1];
        if (before == NULL || !complete(before, one, r->n_metrics))
            r->counters[n++] = *one;
    }
    r->n_counters = n;
}

/* A rate of two counters that do not fit one pass together, as a percentage. */
static double hit_rate(const struct trace_counter *c, const struct gpu_trace_results *r)
{
    double hit = NAN, miss = NAN;

    for (size_t i = 0; i < r->n_metrics; i++) {
        if (strcmp(r->metrics[i], "lts__t_sectors_lookup_hit.sum") == 0)
            hit = c->values[i];
        if (strcmp(r->metrics[i], "lts__t_sectors_lookup_miss.sum") == 0)
            miss = c->values[i];
    }
    return hit + miss > 0 ? 100 * hit / (hit + miss) : NAN;
}

static struct gpu_counted counted_of(const struct trace_counter *c,
                                     const struct gpu_trace_results *r, uint64_t id)
{
    struct gpu_counted out = {.kernel = gpu_kernel_none(),
                              .mangled = str_of(c->name),
                              .passes = c->passes,
                              .is_whole = true};
    int best[GPU_METRICS];

    for (size_t i = 0; i < GPU_METRICS; i++)
        best[i] = INT32_MAX;
    out.kernel.id = id;
    out.kernel.name = mangled_plain(out.mangled);
    gpu_launch_resources(&out.kernel, c->launch);
    for (size_t i = 0; i < r->n_metrics; i++) {
        struct str counter = str_of(r->metrics[i]), reason;
        out.is_whole = out.is_whole && !isnan(c->values[i]);
        int rank = 0, metric = gpu_metric_of_counter(counter, &rank);
        if (gpu_stall_of_counter(counter, &reason))
            gpu_kernel_stall(&out.kernel, reason, c->values[i]);
        if (metric < 0 || rank >= best[metric] || c->values[i] != c->values[i])
            continue;
        best[metric] = rank;
        out.kernel.m[metric] = c->values[i];
    }
    /* The clock fits into no pass of its own: cycles over nanoseconds. */
    double *m = out.kernel.m;
    if (isnan(m[GPU_M_L2_HIT]))
        m[GPU_M_L2_HIT] = hit_rate(c, r);
    if (m[GPU_M_SM_CLOCK_HZ] != m[GPU_M_SM_CLOCK_HZ] && m[GPU_M_DUR_NS] > 0)
        m[GPU_M_SM_CLOCK_HZ] = m[GPU_M_SM_CYCLES] / m[GPU_M_DUR_NS] * 1e9;
    return out;
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

static void take_results(struct gpu_trace_results *r, struct gpu_recorded *out)
{
    find_last(r, out);
    join_turns(r);
    for (size_t i = 0; i < r->n_counters; i++) {
        struct gpu_counted one = counted_of(&r->counters[i], r, out->counted.n);
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

enum status gpu_recorded_read(const char *folder, struct arena *arena, struct gpu_recorded *out,
                              struct diag *d)
{
    struct fs_list list;

    *out = (struct gpu_recorded){.chip = "", .cupti = "", .driver = ""};
    TRY(fs_list(arena, folder, &list, d));
    for (size_t i = 0; i < list.n; i++) {
        struct gpu_trace_results results;
        if (list.at[i].kind != FS_FILE || !str_ends(list.at[i].name, S(".strata")) ||
            list.at[i].size == 0)
            continue;
        TRY(gpu_trace_results_read(list.at[i].path, arena, d, &results));
        take_results(&results, out);
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
}

const struct trace_note *gpu_recorded_note(const struct gpu_recorded *r, const char *code)
{
    for (size_t i = 0; i < r->notes.n; i++)
        if (strcmp(r->notes.at[i].code, code) == 0)
            return &r->notes.at[i];
    return NULL;
}
