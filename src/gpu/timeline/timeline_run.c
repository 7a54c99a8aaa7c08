/*
 * A timeline as a run: its kernels, sections and opportunities. See timeline_out.h.
 */
#include "gpu/timeline/timeline_out.h"

#include <math.h>

#include "base/formats/markdown.h"
#include "base/tables/ranked.h"
#include "gpu/timeline/timeline_copies.h"
#include "gpu/timeline/timeline_in.h"
#include "report/report.h"
#include "text/gpu.h"

/* ---- notes ---- */

size_t timeline_notes(const struct timeline *t, const struct timeline_device *d,
                      struct arena *arena, struct str *list)
{
    const struct timeline_graphs *g = &d->graphs;
    const struct timeline_launches *l = &d->launches;
    uint64_t kernels = d->count[TIMELINE_COMPUTE] + d->count[TIMELINE_COMM], streams = 0;
    nanos span = nanos_sub(d->window.end, d->window.begin);
    size_t n = 0;

    for (size_t i = 0; i < t->n_streams; i++)
        streams += &t->devices[t->streams[i].device] == d && t->streams[i].kernels > 0;
    if (d->n == 0)
        list[n++] = arena_str(arena, S("no device activity was recorded"));
    if (g->calls_without_work > 0) /* a busy device looks idle */
        list[n++] =
            MESSAGE(LANG_EN, arena, &gpu_text.note_graphs_lost, PLACE("n", g->calls_without_work));
    if (g->rows > 0)
        list[n++] = MESSAGE(LANG_EN, arena, &gpu_text.note_graph_rows, PLACE("n", g->rows));
    if (l->unlinked > 0)
        list[n++] = MESSAGE(LANG_EN, arena, &gpu_text.note_unlinked, PLACE("n", l->unlinked),
                            PLACE("all", kernels));
    if (streams > TIMELINE_PAIRED)
        list[n++] = MESSAGE(LANG_EN, arena, &gpu_text.note_streams, PLACE("n", TIMELINE_PAIRED),
                            PLACE("all", streams));
    if (d->overhead > 0 && span > 0)
        list[n++] = MESSAGE(LANG_EN, arena, &gpu_text.note_overhead,
                            PLACE("share", 100 * (double)d->overhead / (double)span));
    return n;
}

/* ---- kernels ---- */

/* Launches of one name, shape and range, in the order they were first met: the run's kernels. */
struct sort {
    uint32_t first; /* work */
    size_t n, from; /* its durations among all */
};

struct sorts {
    VEC_OF(struct sort) at;
};

/* The name of the innermost range around the launch; 0: none. */
static strid range_of(const struct timeline *t, const struct timeline_device *d,
                      const struct device_task *op)
{
    uint32_t call = timeline_call(d, op);
    uint32_t range =
        t->range_of != NULL && call != TIMELINE_NONE ? t->range_of[call] : TIMELINE_NONE;

    return range != TIMELINE_NONE ? t->cap->slices.name[t->ranges.at[range].slice] : 0;
}

static void find_sorts(const struct timeline *t, struct timeline_device *d, struct sorts *out)
{
    const struct slices *s = &t->cap->slices;
    struct hash seen = {0};

    *out = (struct sorts){0};
    d->sort_of = mem_grow(d->sort_of, sizeof(*d->sort_of), d->n + 1);
    for (size_t i = 0; i < d->n; i++) {
        uint32_t slice = d->tasks[i].slice;
        d->sort_of[i] = TIMELINE_NONE;
        if (!timeline_is_kernel(&d->tasks[i]))
            continue;
        uint64_t key = (uint64_t)s->name[slice] << 32 | s->set[slice];
        uint32_t sort =
            hash_add(&seen, hash_mix(key, range_of(t, d, &d->tasks[i])), (uint32_t)out->at.n);
        if (sort < out->at.n)
            out->at.at[sort].n++;
        else
            vec_push(&out->at, ((struct sort){.first = (uint32_t)i, .n = 1}));
        d->sort_of[i] = sort;
    }
    hash_free(&seen);
}

static nanos *durations(const struct timeline_device *d, struct sorts *sorts)
{
    size_t n = 0;

    for (size_t i = 0; i < sorts->at.n; i++) {
        sorts->at.at[i].from = n;
        n += sorts->at.at[i].n;
        sorts->at.at[i].n = 0;
    }
    nanos *list = mem_grow(NULL, sizeof(*list), n + 1);
    for (size_t i = 0; i < d->n; i++)
        if (d->sort_of[i] != TIMELINE_NONE) {
            struct sort *s = &sorts->at.at[d->sort_of[i]];
            list[s->from + s->n++] = nanos_sub(d->tasks[i].end, d->tasks[i].begin);
        }
    return list;
}

/* "16,8,1", also in brackets. */
static void read_shape(struct str text, uint32_t out[3])
{
    struct str part;

    if (str_starts(text, S("[")) && str_ends(text, S("]")))
        text = str_part(text, 1, text.n - 2);
    for (size_t i = 0; i < 3 && text.n > 0 && str_split(&text, ',', &part); i++) {
        int64_t number;
        if (num_i64(part, &number) && number > 0 && number <= UINT32_MAX)
            out[i] = (uint32_t)number;
    }
}

static double number_or_nan(const struct timeline *t, uint32_t slice, struct str key)
{
    int64_t number = timeline_number(t, slice, key);

    return number >= 0 ? (double)number : NAN;
}

static struct gpu_kernel kernel_of(const struct timeline *t, const struct timeline_device *d,
                                   const struct device_task *op, struct gpu_run *run)
{
    struct gpu_kernel k = gpu_kernel_none();
    uint32_t slice = op->slice;
    const struct lane_key *lane = &t->cap->lanes.at[t->cap->slices.lane[slice]].key;
    double shared = number_or_nan(t, slice, S("shared memory"));
    double fixed = number_or_nan(t, slice, S("static shared memory"));

    k.name = arena_str(&run->arena, timeline_display(t, slice));
    k.nvtx = arena_str(&run->arena, capture_text(t->cap, range_of(t, d, op)));
    k.stream = arena_str(&run->arena, capture_text(t->cap, lane->name));
    read_shape(timeline_attr_text(t, slice, S("grid")), k.grid);
    read_shape(timeline_attr_text(t, slice, S("block")), k.block);
    read_shape(timeline_attr_text(t, slice, S("cluster")), k.cluster);
    k.m[GPU_M_REGS] = number_or_nan(t, slice, S("registers per thread"));
    k.m[GPU_M_SMEM_STATIC] = isnan(fixed) && !isnan(shared) ? 0 : fixed;
    k.m[GPU_M_SMEM_DYNAMIC] = isnan(fixed) ? shared : shared - fixed;
    k.m[GPU_M_LOCAL_PER_THREAD] = number_or_nan(t, slice, S("local memory per thread"));
    return k;
}

void timeline_run_kernels(const struct timeline *t, struct timeline_device *d, struct gpu_run *run)
{
    struct sorts sorts;

    find_sorts(t, d, &sorts);
    nanos *list = durations(d, &sorts);
    for (size_t i = 0; i < sorts.at.n; i++) {
        const struct sort *s = &sorts.at.at[i];
        struct gpu_kernel k = kernel_of(t, d, &d->tasks[s->first], run);
        k.id = i;
        k.launches = s->n;
        k.total_ns = 0;
        for (size_t n = 0; n < s->n; n++)
            k.total_ns += (double)list[s->from + n];
        k.m[GPU_M_DUR_NS] = ranked_pick_middle(list + s->from, s->n);
        vec_push(&run->kernels, k);
    }
    mem_free(list);
    vec_free(&sorts.at);
}

/* ---- sections ---- */

static void run_put_table(struct text *out, const struct table *t)
{
    char buf[QUANTITY_TEXT];

    text_format(out, "\n");
    for (size_t i = 0; i < t->n_columns; i++)
        markdown_cell(out, str_of(t->columns[i].head));
    text_format(out, "|\n");
    for (size_t i = 0; i < t->n_columns; i++)
        text_format(out, "|---");
    text_format(out, "|\n");
    for (size_t i = 0; i < t->cells.n; i++) {
        markdown_cell(out, table_cell_text(t, i, buf));
        if (t->n_columns > 0 && (i + 1) % t->n_columns == 0)
            text_format(out, "|\n");
    }
}

static void end_section(struct gpu_run *run, struct str heading, struct text *body)
{
    if (heading.n > 0)
        vec_push(&run->sections, ((struct gpu_section){arena_str(&run->arena, heading),
                                                       arena_str(&run->arena, text_view(body))}));
    text_free(body);
    *body = (struct text){0};
}

/* The frame of a report has the device and the notes. */
static void add_sections(const struct timeline *t, const struct timeline_device *d,
                         struct gpu_run *run)
{
    struct report *r = report_new(LANG_EN, S(""));
    struct text body = {0};
    struct str heading = S("");

    timeline_describe_device(t, d, r);
    for (size_t i = 0; i < r->blocks.n; i++) {
        const struct block *b = r->blocks.at[i];
        if (b->kind == BLOCK_HEADING) {
            end_section(run, heading, &body);
            heading = b->text;
        } else if (b->kind == BLOCK_TEXT) {
            text_format(&body, "\n%.*s\n", STR_ARGS(b->text));
        } else if (b->kind == BLOCK_TABLE) {
            run_put_table(&body, b->table);
        }
    }
    end_section(run, heading, &body);
    report_free(r);
}

/* ---- opportunities ---- */

/* O12: kernels whose stream ran dry because the host was late or still launching. A graph leaves
 * about 1 us a node; and no more can be won than the device was idle. */
static void judge_launches(const struct timeline_device *d, struct gpu_run *run)
{
    const struct timeline_launches *l = &d->launches;
    double span = (double)nanos_sub(d->window.end, d->window.begin);
    double gap = (double)nanos_add(l->host_bound_gap, l->in_launch_gap);
    double idle = 100 * (1 - (double)d->busy / span);

    if (span <= 0 || gap <= 0.05 * span)
        return;
    double gain = 100 * (gap - 1000 * (double)l->latency.n) / span;
    struct str trigger =
        MESSAGE(LANG_EN, &run->arena, &gpu_text.host_gaps, PLACE("share", 100 * gap / span),
                PLACE("late", l->host_bound), PLACE("in_call", l->in_launch));
    gpu_run_extra(
        run, (struct gpu_opportunity){.id = 12,
                                      .family = "launch",
                                      .name = S("launch overhead: a CUDA graph or fewer launches"),
                                      .trigger = trigger,
                                      .gain = gain > idle ? idle : gain});
}

/* O21: copies while no kernel runs. At best they overlap with kernels, or, from pageable memory,
 * run as fast as the link. */
static void judge_copies(const struct timeline *t, const struct timeline_device *d,
                         struct gpu_run *run)
{
    struct timeline_copies rows[TIMELINE_COPY_KINDS];
    size_t n = timeline_copies_find(t, d, &run->arena, rows);
    double span = (double)nanos_sub(d->window.end, d->window.begin), exposed = 0;
    const struct timeline_copies *most = NULL;

    for (size_t i = 0; i < n; i++) {
        exposed += (double)rows[i].exposed;
        if (most == NULL || rows[i].exposed > most->exposed)
            most = &rows[i];
    }
    if (most == NULL || span <= 0 || exposed <= 0.05 * span)
        return;
    struct str trigger = MESSAGE(LANG_EN, &run->arena, &gpu_text.exposed_copies,
                                 PLACE("share", 100 * exposed / span), PLACE("kind", most->kind),
                                 PLACE("memory", most->memory.n > 0 ? most->memory : S("–")),
                                 PLACE("gbps", most->gbps));
    gpu_run_extra(run, (struct gpu_opportunity){.id = 21,
                                                .family = "copies",
                                                .name = S("overlap copies, from pinned memory"),
                                                .trigger = trigger,
                                                .gain = fmin(100 * exposed / span, 95)});
}

/* Union of the kernels of some stages; `in` says which of the run's kernels count. */
static nanos union_of(const struct timeline_device *d, const bool *in)
{
    nanos end = INT64_MIN, length = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct device_task *op = &d->tasks[i];
        nanos begin = op->begin > end ? op->begin : end;
        if (d->sort_of[i] == TIMELINE_NONE || !in[d->sort_of[i]] || op->end <= begin)
            continue;
        length = nanos_add(length, nanos_sub(op->end, begin));
        end = op->end;
    }
    return length;
}

/* O13: a declared group of stages that did not run side by side. */
static void judge_group(const struct timeline_device *d, struct gpu_run *run, struct str group)
{
    size_t n = run->kernels.n, members = 0;
    nanos *busy = ARENA_ARRAY(&run->arena, nanos, run->stages.n);
    bool *all = ARENA_ARRAY(&run->arena, bool, n + 1);
    double sum = 0, longest = 0, span = (double)nanos_sub(d->window.end, d->window.begin);

    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        if (!str_equal(s->group, group))
            continue;
        bool *in = ARENA_ARRAY(&run->arena, bool, n + 1);
        for (size_t k = 0; k < s->kernels.n; k++)
            if (s->kernels.at[k] < n)
                in[s->kernels.at[k]] = all[s->kernels.at[k]] = true;
        busy[members++] = union_of(d, in);
        sum += (double)busy[members - 1];
        longest = fmax(longest, (double)busy[members - 1]);
    }
    double e = timeline_efficiency(busy, members, union_of(d, all));
    if (!isnan(e))
        gpu_run_overlap(run, group, e, members,
                        span > 0 ? 100 * (1 - longest / sum) * (1 - e) * fmin(1, sum / span) : 0);
}

void timeline_run_sections(struct timeline *t, struct timeline_device *d, struct gpu_run *run)
{
    struct str list[TIMELINE_NOTES];

    add_sections(t, d, run);
    for (size_t i = 0, n = timeline_notes(t, d, &run->arena, list); i < n; i++)
        gpu_run_note(run, "%.*s", STR_ARGS(list[i]));
    judge_launches(d, run);
    judge_copies(t, d, run);
    if (d->sort_of == NULL)
        return;
    for (size_t i = 0; i < run->stages.n; i++)
        if (gpu_run_opens_group(run, i))
            judge_group(d, run, run->stages.at[i].group);
    d->stage_of = ARENA_ARRAY(&t->arena, struct str, run->kernels.n + 1);
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        struct str name = arena_str(&t->arena, s->name);
        for (size_t k = 0; k < s->kernels.n; k++)
            if (s->kernels.at[k] < run->kernels.n)
                d->stage_of[s->kernels.at[k]] = name;
    }
}
