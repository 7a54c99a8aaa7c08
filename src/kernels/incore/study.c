/*
 * The trace of one kernel read from its blocks, and what is derived from it.
 */
#include "kernels/incore/study.h"

#include <inttypes.h>

#include "base/files/bin_blocks.h"
#include "capture/capture.h"

void incore_study_init(struct incore_study *s, const char *name)
{
    *s = (struct incore_study){0};
    arena_init(&s->arena);
    s->bin = name != NULL ? arena_cstr(&s->arena, str_of(name)) : NULL;
}

enum status incore_study_blocks(struct incore_study *s, struct str text, bool salvage,
                                struct diag *d)
{
    struct where where = {.path = s->bin};
    struct bin_blocks blocks;
    struct bin_block block;
    char words[BIN_FAULT_TEXT];
    bool has_info = false;

    bin_blocks_open(&blocks, text);
    while (bin_blocks_next(&blocks, &block)) {
        has_info = has_info || block.type == BIN_BASE_INFO;
        if (block.type == BIN_TRACE && s->trace.at == NULL)
            s->trace = block.payload;
        else if (block.type == BIN_API_INSTR && s->table.at == NULL)
            s->table = block.payload;
    }
    if (blocks.fault != BIN_FINE) {
        bin_blocks_fault(&blocks, words);
        /* What is whole of a cut TRACE block, which is then the last. */
        if (salvage && s->trace.at == NULL && blocks.fault == BIN_BAD_SIZE &&
            text.n - blocks.at > BIN_HEADER && (uint8_t)text.at[blocks.at + 8] == BIN_TRACE)
            s->trace = str_part(text, blocks.at + BIN_HEADER, text.n);
        if (!salvage && s->trace.at != NULL)
            diag_hint(d, "try", "--salvage, which keeps the intact part");
        if (!salvage || s->trace.at == NULL)
            return diag_fail(d, ST_FORMAT, "incore.corrupt", where, "%s", words);
        diag_add(d, SEV_LOSS, "incore.salvaged", where, "the rest is skipped: %s", words);
    }
    if (s->trace.at != NULL)
        return ST_OK;
    if (has_info)
        diag_hint(d, "try", "strata incore show; it was measured on a device and has tables only");
    return diag_fail(d, ST_FORMAT, "incore.no-trace", where, "no TRACE block found");
}

/* What was read of the trace is not needed until it is written, and then once more in order. */
static void drop_read(void *ctx, uint64_t offset)
{
    struct incore_study *s = ctx;

    mapfile_drop(&s->map, 0, (size_t)(s->trace.at - s->map.text.at) + (size_t)offset);
}

struct incore_watch incore_study_watch(struct incore_study *s)
{
    if (s->made.n > 0)
        return (struct incore_watch){0};
    return (struct incore_watch){drop_read, s};
}

void incore_study_lanes(struct incore_study *s)
{
    incore_lanes_build(&s->lanes, &s->t);
    incore_arrows_build(&s->arrows, &s->t, &s->lanes);
}

enum status incore_study_read(struct incore_study *s, struct incore_rules rules, struct diag *d)
{
    struct where where = {.path = s->bin};
    struct str reason;

    if (incore_trace_read(&s->t, s->trace, rules, incore_study_watch(s), &reason) != ST_OK)
        return diag_fail(d, ST_FORMAT, "incore.trace-json", where, "TRACE block: %.*s",
                         STR_ARGS(reason));
    if (s->t.cut.n > 0)
        diag_add(d, SEV_LOSS, "incore.salvaged", where,
                 "events after the first %zu are skipped: TRACE block: %.*s", s->t.instrs.n,
                 STR_ARGS(s->t.cut));
    if (s->t.without_name + s->t.without_time > 0)
        diag_add(d, SEV_LOSS, "incore.incomplete-event", where,
                 "%" PRIu64 " instruction(s) without a name or time were skipped",
                 s->t.without_name + s->t.without_time);
    if (s->t.not_objects > 0)
        diag_add(d, SEV_LOSS, "incore.not-an-event", where,
                 "%" PRIu64 " element(s) of traceEvents are not events and were skipped",
                 s->t.not_objects);
    incore_study_lanes(s);
    return ST_OK;
}

enum status incore_study_metrics(struct incore_study *s, struct diag *d)
{
    struct str reason;

    if (s->table.at == NULL)
        return ST_OK;
    s->has_metrics = true;
    if (incore_metrics_read(&s->metrics, s->table, &reason) != ST_OK)
        return diag_fail(d, ST_FORMAT, "incore.metrics-json", (struct where){.path = s->bin},
                         "API_INSTR block: %.*s", STR_ARGS(reason));
    return ST_OK;
}

/* The simulator's count for a pipe of a core, or over all cores for an empty one; -1: none. */
static int64_t told_of(const struct incore_study *s, struct str core, struct str pipe)
{
    int64_t sum = -1;

    for (size_t i = 0; i < s->told.n; i++)
        if (str_equal(s->told.at[i].pipe, pipe) &&
            (core.n == 0 || str_equal(s->told.at[i].core, core)))
            sum = nanos_add(sum < 0 ? 0 : sum, s->told.at[i].cycles);
    return sum;
}

void incore_study_judge(struct incore_study *s, double mhz, const struct incore_exe *exe)
{
    struct incore_breakdown *b = &s->breakdown;

    if (mhz <= 0 && s->outcome != NULL)
        mhz = s->outcome->mhz;
    incore_breakdown_build(b, &s->t, &s->lanes, &s->arrows, s->has_metrics ? &s->metrics : NULL,
                           mhz);
    if (s->outcome != NULL)
        incore_breakdown_take(b, s->outcome);
    for (size_t i = 0; i < b->uses.n && s->told.n > 0; i++)
        b->uses.at[i].told_cycles = told_of(s, b->uses.at[i].core, b->uses.at[i].pipe);
    for (size_t i = 0; i < b->totals.n && s->told.n > 0; i++)
        b->totals.at[i].told_cycles = told_of(s, S(""), b->totals.at[i].pipe);
    incore_health_build(&s->health, &s->t, &s->lanes, &s->arrows, b, exe);
}

void incore_study_report(const struct incore_study *s, struct diag *d)
{
    for (size_t i = 0; i < s->health.list.n; i++)
        diag_add(d, SEV_WARN, s->health.list.at[i].code, (struct where){.path = s->bin}, "%s",
                 s->health.list.at[i].text.at);
}

void incore_study_close(struct incore_study *s)
{
    incore_health_free(&s->health);
    incore_breakdown_free(&s->breakdown);
    incore_metrics_free(&s->metrics);
    incore_arrows_free(&s->arrows);
    incore_lanes_free(&s->lanes);
    incore_trace_free(&s->t);
    mapfile_close(&s->map);
    text_free(&s->made);
    text_free(&s->made_table);
    capture_free(s->cap);
    vec_free(&s->told);
    arena_free(&s->arena);
}

uint64_t incore_study_lost(const struct incore_study *s)
{
    return s->t.without_name + s->t.without_time + s->t.not_objects;
}
