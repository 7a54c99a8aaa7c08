/*
 * The text of summary.txt.
 */
#include "kernels/incore/files.h"

#include <inttypes.h>

static void summary_put_line(struct text *out, const char *key, const char *value)
{
    text_format(out, "%s=%s\n", key, value != NULL ? value : "unknown");
}

void incore_summary_write(const struct incore_study *s, const struct incore_origin *origin,
                          const char *date, struct text *out)
{
    const struct incore_breakdown *b = &s->breakdown;

    summary_put_line(out, "tool", "strata " STRATA_VERSION);
    summary_put_line(out, "date", date);
    summary_put_line(out, "kernel", origin->kernel);
    summary_put_line(out, "source", origin->source);
    summary_put_line(out, "input", s->bin);
    summary_put_line(out, "target", origin->target);
    summary_put_line(out, "soc", origin->soc);
    text_format(out, "clock_mhz=%g%s\n", b->mhz, b->is_assumed ? " (assumed)" : "");
    summary_put_line(out, "simulator", origin->simulator);
    summary_put_line(out, "command", origin->command);
    summary_put_line(out, "workload", origin->workload);
    for (size_t i = 0; i < origin->patched.n; i++)
        summary_put_line(out, "patched", origin->patched.at[i]);
    for (size_t i = 0; i < b->totals.n; i++) {
        const struct incore_use *use = &b->totals.at[i];
        text_format(out,
                    "pipe.%.*s=executed %" PRIu64 ", cycles %" PRIu64 ", busy %" PRIu64
                    " (%.1f %%), depth %" PRIu64 ", wait %" PRIu64 ", bytes %" PRIu64 "\n",
                    STR_ARGS(use->pipe), use->executed, use->cycles, use->busy_cycles,
                    use->busy * 100, use->max_depth, use->wait_cycles, use->bytes);
    }
    for (size_t i = 0; i < s->told.n; i++)
        text_format(out, "told.%s=%" PRId64 "\n", s->told.at[i].name.at, s->told.at[i].cycles);
    for (size_t i = 0; i < s->health.list.n; i++)
        summary_put_line(out, "check", s->health.list.at[i].text.at);
    if (s->health.list.n == 0)
        summary_put_line(out, "check", "nothing found");
    summary_put_line(out, "verdict", b->verdict.at);
}
