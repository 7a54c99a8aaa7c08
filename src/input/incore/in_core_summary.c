/*
 * core-summary: the counters of the simulator's core model at its end.
 *
 * They have no times: each becomes a series with one sample at 0.
 * Format reference: docs/formats/core-summary.md
 */
#include "input/import.h"
#include "input/incore/core_summary.h"

enum { MOST_COUNTERS = 4096 }; /* a log has some 50 */

static int summary_probe(const struct probe *p)
{
    bool has_title = str_contains(p->head, S("AiCore "));
    bool has_total = str_contains(p->head, S(" total ticks :"));

    return has_total && (has_title || core_summary_is_log(p->name)) ? 90 : 0;
}

/* "core0" of "core0_summary_log" and of "core0.cubecore0_su_perf_summary_log". */
static struct str core_of(const char *path)
{
    struct str name = str_basename(str_of(path));
    size_t dot = str_find_char(name, '.'), line = str_find_char(name, '_');
    size_t end = dot < line ? dot : line;

    return end > 0 && core_summary_is_log(name) ? str_part(name, 0, end) : S("core");
}

static enum status read_core_summary(struct import *i)
{
    struct capture *cap = i->cap;
    struct str rest = i->in->text, core = core_of(i->in->path);
    struct core_counter c;

    for (; i->rows < MOST_COUNTERS && core_summary_next(&rest, &c); i->rows++) {
        strid process =
            c.sub.n > 0 ? capture_intern_format(cap, "%.*s.%.*s", STR_ARGS(core), STR_ARGS(c.sub))
                        : capture_intern(cap, core);
        bool is_ticks = str_ends(c.name, S("_cycle")) || str_ends(c.name, S("_ticks"));
        series_id series = capture_series(cap, process, capture_intern(cap, c.name),
                                          is_ticks ? capture_intern(cap, S("cycles")) : 0);
        if (cap->series.at[series].samples.n == 0) /* both logs of a core have some of them */
            capture_sample(cap, series, 0, (double)c.value);
    }
    if (i->rows == 0)
        return import_refuse(i, import_file(i), "core-summary.nothing",
                             "no line of the form `name | number`");
    if (rest.n > 0 && core_summary_next(&rest, &c))
        import_lose(i, import_file(i), "core-summary.many",
                    "more than %d counters; the rest is skipped", MOST_COUNTERS);
    if (cap->facts.kind == 0) {
        capture_set_incore(cap);
        cap->origin = ORIGIN_SIMULATED;
    }
    return ST_OK;
}

const struct input_format input_core_summary = {
    .name = "core-summary",
    .summary = "core model counters of the simulator (core*_summary_log)",
    .looks_for = "core*_summary_log",
    .role = ROLE_SIDECAR,
    .vendor = VENDOR_ASCEND,
    .claims = core_summary_is_log,
    .probe = summary_probe,
    .read = read_core_summary,
};
