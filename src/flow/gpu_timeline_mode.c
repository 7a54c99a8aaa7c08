#include "flow/gpu_timeline_mode.h"

#include <stdio.h>

#include "base/fs.h"
#include "flow/flow_gpu_timeline.h"
#include "gpu/opportunities.h"
#include "gpu/timeline.h"
#include "render/render.h"
#include "report/report.h"

enum { GRAPH_NODE_NS = 1000 }; /* what one launch costs inside a graph */

/* Its notes join those of the run, and the device the run tells itself. */
static void take_section(struct gpu_run *run, struct str heading, struct str body)
{
    struct str line;

    body = str_trim(body);
    if (heading.n == 0 || body.n == 0 || str_equal(heading, S("Device")))
        return;
    if (!str_equal(heading, S("Notes"))) {
        vec_push(&run->sections, ((struct gpu_section){heading, arena_format(&run->arena, "%.*s\n",
                                                                             STR_ARGS(body))}));
        return;
    }
    while (str_split(&body, '\n', &line))
        if (str_starts(line, S("- ")))
            gpu_run_note(run, "%.*s", STR_ARGS(str_part(line, 2, line.n)));
}

/* A Markdown document cut at its headings: "## Name" and what follows. */
static void take_sections(struct gpu_run *run, struct str text)
{
    struct str rest = text, line, heading = S("");
    const char *body = text.at;

    while (str_split(&rest, '\n', &line)) {
        if (!str_starts(line, S("## ")))
            continue;
        take_section(run, heading, (struct str){body, (size_t)(line.at - body)});
        heading = str_part(line, 3, line.n);
        body = line.at + line.n;
    }
    take_section(run, heading, (struct str){body, (size_t)(text.at + text.n - body)});
}

static void render(struct gpu_run *run, const struct report *report)
{
    struct json_buffer buffer = {0};
    struct render_options look = {0};

    renderer_markdown.write(report, &look, json_buffer_sink(&buffer));
    take_sections(run, arena_str(&run->arena, (struct str){buffer.at, buffer.n}));
    json_buffer_free(&buffer);
}

/* O12: the device waits for launches. In a graph each of them would cost about a microsecond. */
static void find_launch_overhead(struct gpu_run *run, const struct timeline_device *dev)
{
    double span = (double)(dev->window.end - dev->window.begin);
    double gap = (double)dev->launches.host_bound_gap;
    double nodes = (double)dev->launches.host_bound * GRAPH_NODE_NS;

    if (!(span > 0) || gap <= 0.05 * span)
        return;
    double left = (span - gap + nodes) / span;
    double gain = left < 1 ? 100 * (1 - left) : 0;
    vec_push(&run->extra, ((struct gpu_opportunity){
                              .id = 12,
                              .family = "launch",
                              .name = S("launch overhead / CUDA graph"),
                              .trigger = arena_format(&run->arena, "host_bound_gap=%.1f%% of span",
                                                      100 * gap / span),
                              .gain = gain < 95 ? gain : 95,
                              .confidence = 0.6,
                              .is_ranked = true,
                          }));
}

static enum status save(struct gpu_mode_run *m, struct gpu_timeline_result *r, const char *folder)
{
    const char **written = ARENA_ARRAY(m->collect.arena, const char *, GPU_TIMELINE_FILES + r->n);
    size_t n = 0;

    return gpu_timeline_save(r->timelines, r->n, folder, m->collect.arena, m->collect.diag, written,
                             &n);
}

/* One process, the usual case: its recording gets the name that readers expect. */
static void name_recording(struct gpu_mode_run *m, const char *folder)
{
    const struct gpu_recorded *r = &m->measured.timing;

    if (r->paths.n == 1)
        rename(r->paths.at[0], fs_join(m->collect.arena, folder, "trace.strata"));
}

enum status gpu_timeline_mode(struct gpu_mode_run *m, const char *folder)
{
    struct gpu_timeline_job job = gpu_timeline_job_new(folder);
    struct gpu_timeline_result result;
    enum status st = flow_gpu_timeline(&job, m->collect.arena, m->collect.diag, &result);

    if (st == ST_OK)
        render(m->run, result.report);
    for (size_t i = 0; st == ST_OK && i < result.n; i++)
        for (size_t k = 0; k < result.timelines[i]->n_devices; k++)
            find_launch_overhead(m->run, &result.timelines[i]->devices[k]);
    if (st == ST_OK)
        st = save(m, &result, folder);
    gpu_timeline_result_free(&result);
    if (st == ST_OK)
        name_recording(m, folder);
    return st;
}
