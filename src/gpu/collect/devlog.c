/*
 * The block of a run in a log. See report.h.
 */
#include "gpu/judge/report.h"

#include <math.h>
#include <stdio.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/formats/markdown.h"

static struct str devlog_change_of(const struct gpu_run *run, const char *metric)
{
    for (size_t i = 0; i < run->changes.n; i++)
        if (str_equal(run->changes.at[i].metric, str_of(metric)))
            return run->changes.at[i].change;
    return S("--");
}

/* "-12.3% faster, speedup 1.14" as "12.3% faster" */
static struct str duration_change(struct str change)
{
    struct str head = str_part(change, 0, str_find_char(change, ','));

    if (head.n > 0 && (head.at[0] == '-' || head.at[0] == '+') && str_find_char(head, ' ') < head.n)
        return str_part(head, 1, head.n);
    return head;
}

static void row(struct text *t, const char *metric, double value, int decimals, const char *unit,
                struct str change)
{
    char text[64] = "--";

    if (isfinite(value))
        snprintf(text, sizeof(text), "%.*f%s", decimals, value, unit);
    text_format(t, "| %-17s | %-7s | %-11.*s |\n", metric, text, STR_ARGS(change));
}

static void title(struct text *t, const struct gpu_run *run, struct arena *arena)
{
    static const char *const sizes[] = {"b", "s", "t"};
    const struct gpu_param *dtype = gpu_params_get(&run->params, "dtype");

    text_format(
        t, "**Performance** (%s",
        markdown_safe(arena, run->device.name.n > 0 ? run->device.name : S("unknown device")));
    if (run->clock.is_locked)
        text_format(t, ", locked clocks %.0f MHz", run->clock.mhz);
    if (dtype != NULL)
        text_format(t, ", %s", markdown_safe(arena, dtype->text));
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const struct gpu_param *p = gpu_params_get(&run->params, sizes[i]);
        if (p != NULL)
            text_format(t, ", %s=%s", sizes[i], markdown_safe(arena, p->text));
    }
    text_format(t, "):\n\n");
}

static void issues(struct text *t, const struct gpu_run *run, struct arena *arena)
{
    size_t n = 0;

    text_format(t, "\n**Issues**:\n");
    for (size_t i = 0; i < run->stages.n; i++)
        for (size_t k = 0; k < GPU_HEALTH_ROWS; k++) {
            const struct gpu_health_row *h = &run->stages.at[i].health[k];
            if (h->state != GPU_HEALTH_BAD)
                continue;
            text_format(t, "- %s: %s is %.4g%s%s (healthy %s): %s\n",
                        markdown_safe(arena, run->stages.at[i].name), h->metric, h->value,
                        h->unit[0] == 'b' ? " " : "", h->unit, h->healthy, h->if_not);
            n++;
        }
    if (n == 0)
        text_format(t, "- none\n");
}

static void insights(struct text *t, const struct gpu_run *run, struct arena *arena)
{
    struct str class = devlog_change_of(run, "Bottleneck");
    size_t n = 0;

    text_format(t, "\n**Insights**:\n");
    for (size_t i = 0; i < run->stages.n; i++) {
        const struct gpu_stage *s = &run->stages.at[i];
        if (isfinite(s->roofline.gap)) {
            text_format(t, "- %s: %.2f times its floor of %.2f us\n", markdown_safe(arena, s->name),
                        s->roofline.gap, s->roofline.floor_ns / 1e3);
            n++;
        }
        if (s->occupancy.is_known) {
            text_format(t, "- %s: %u blocks a multiprocessor, limited by %s\n",
                        markdown_safe(arena, s->name), s->occupancy.blocks_per_sm,
                        s->occupancy.limiter);
            n++;
        }
    }
    if (!str_equal(class, S("--")) && !str_equal(class, S("same"))) {
        text_format(t, "- the bottleneck changed: %.*s\n", STR_ARGS(class));
        n++;
    }
    if (n == 0)
        text_format(t, "- none\n");
}

/* What people wrote below our lists, before the mark at the end of the block. */
static struct str own_text(struct str old)
{
    struct str head = S("**Insights**:\n");
    size_t at = str_find(old, head) + head.n;

    if (at > old.n)
        return S("");
    for (struct str rest = str_part(old, at, old.n); str_starts(rest, S("- "));
         rest = str_part(old, at, old.n))
        at += str_find_char(rest, '\n') + 1;
    return str_part(old, at, old.n);
}

static void block(struct text *t, const struct gpu_run *run, struct str own)
{
    const struct gpu_stage *s = gpu_run_main_stage(run, NULL);
    const double *m = s != NULL && s->main != NULL ? s->main->m : NULL;
    double tflops = s != NULL ? s->roofline.tflops : NAN, gbps = s != NULL ? s->roofline.gbps : NAN;
    struct arena arena;

    arena_init(&arena);
    text_format(t, "<!-- strata:begin %.*s -->\n", STR_ARGS(run->version));
    title(t, run, &arena);
    text_format(t, "| Metric            | Value   | vs Previous |\n"
                   "| ----------------- | ------- | ----------- |\n");
    row(t, "Duration", gpu_run_duration(run) / 1e3, 2, " \xce\xbcs",
        duration_change(devlog_change_of(run, "Duration (us)")));
    row(t, "Achieved TFLOPs/s", tflops, 2, "", devlog_change_of(run, "Achieved TFLOPs/s"));
    row(t, "Achieved GB/s", gbps, 2, "", devlog_change_of(run, "Achieved GB/s"));
    row(t, "Occupancy", m != NULL ? m[GPU_M_OCC] : NAN, 0, "%", S("--"));
    row(t, "TC Util", m != NULL ? m[GPU_M_TC_PCT] : NAN, 0, "%", S("--"));
    enum gpu_bound bound = s != NULL ? s->class.bound : GPU_UNPROVEN;
    text_format(t, "\n**Bottleneck**: %s%s\n", gpu_bound_name(bound),
                bound != GPU_UNPROVEN ? "-bound" : "");
    issues(t, run, &arena);
    insights(t, run, &arena);
    arena_free(&arena);
    text_format(t, "%.*s<!-- strata:end %.*s -->\n", STR_ARGS(own), STR_ARGS(run->version));
}

void gpu_devlog_update(struct str log, const struct gpu_run *run, struct text *out)
{
    struct arena arena;

    arena_init(&arena);
    struct str begin = arena_format(&arena, "<!-- strata:begin %.*s -->\n", STR_ARGS(run->version));
    struct str end = arena_format(&arena, "<!-- strata:end %.*s -->\n", STR_ARGS(run->version));
    size_t from = str_find(log, begin);
    struct str tail = str_part(log, from, log.n);
    size_t to = str_find(tail, end);
    if (from < log.n && to < tail.n) {
        text_format(out, "%.*s", STR_ARGS(str_part(log, 0, from)));
        block(out, run, own_text(str_part(tail, 0, to)));
        text_format(out, "%.*s", STR_ARGS(str_part(tail, to + end.n, tail.n)));
    } else {
        bool has_line = log.n == 0 || log.at[log.n - 1] == '\n';
        text_format(out, "%.*s%s%s", STR_ARGS(log), has_line ? "" : "\n", log.n > 0 ? "\n" : "");
        block(out, run, S(""));
    }
    arena_free(&arena);
}

enum status gpu_devlog_write(const char *path, const struct gpu_run *run, struct diag *d)
{
    struct mapfile map = {0};
    struct text text = {0};

    if (fs_exists(path))
        TRY(mapfile_open(&map, path, d));
    gpu_devlog_update(map.text.at != NULL ? map.text : (struct str){"", 0}, run, &text);
    mapfile_close(&map);
    enum status st = outfile_resave(path, text_view(&text), d);
    text_free(&text);
    return st;
}
