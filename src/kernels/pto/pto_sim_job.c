/*
 * What a simulated run leaves: files for viewers and a picture in letters.
 */
#include "kernels/pto/pto_sim_job.h"

#include "base/files/fs.h"
#include "base/text/text.h"
#include "capture/capture.h"
#include "kernels/incore/files.h"
#include "kernels/incore/incore_open.h"
#include "kernels/pto/pto_judge.h"

enum status pto_sim_capture(struct pto_kernel *k, const struct pto_costs *costs,
                            const struct pto_setup *setup, struct diag *d, struct capture **out)
{
    TRY(pto_kernel_restore(k, costs, d));
    if (k->outcome.unrecorded > 0)
        diag_add(
            d, SEV_LOSS, "pto-sim.unrecorded", (struct where){.path = setup->path},
            "%llu instructions beyond the first million of a core are omitted from the timeline",
            (unsigned long long)k->outcome.unrecorded);
    *out = pto_to_capture(&k->sim, &k->chip, setup->path, k->text);
    return ST_OK;
}

enum status pto_sim_lines(struct pto_kernel *k, const struct pto_costs *costs, struct diag *d,
                          struct pto_lines *out)
{
    pto_lines_init(out);
    TRY(pto_kernel_restore(k, costs, d));
    pto_lines_fill(out, &k->sim);
    return ST_OK;
}

/* Instructions that a reader of the trace finds. */
static uint64_t instructions_of(const struct capture *cap)
{
    uint64_t n = 0;

    for (size_t i = 0; i < cap->slices.n; i++)
        n += cap->slices.kind[i] == SLICE_INSTR;
    return n;
}

static struct str outcome_text(const struct capture *cap, const struct pto_outcome *o,
                               struct arena *arena)
{
    struct pto_outcome_kept said = {
        .limits = o->limits,
        .start = o->start,
        .mhz = o->chip.mhz,
        .chip = o->chip.name,
        .instructions = instructions_of(cap),
    };
    struct text text = {0};

    pto_outcome_keep(&said, text_sink(&text));
    return text_keep(&text, arena);
}

enum status pto_sim_insight(const struct capture *cap, const struct pto_outcome *o,
                            const char *folder, struct arena *arena, struct diag *d,
                            struct words *wrote)
{
    const char *simulator = fs_join(arena, folder, "simulator");

    if (fs_exists(simulator)) {
        diag_hint(d, "try", "another folder");
        return diag_fail(d, ST_IO, "incore.exists", (struct where){.path = simulator},
                         "already exists; not overwritten");
    }
    return insight_folder_write(
        cap, folder, (struct insight_beside){PTO_OUTCOME_FILE, outcome_text(cap, o, arena)}, arena,
        d, wrote);
}

enum status pto_sim_export(struct pto_kernel *k, const struct pto_costs *costs,
                           const struct pto_setup *setup, const char *root, struct str seed,
                           struct arena *arena, struct diag *d, struct words *wrote)
{
    struct capture *cap = NULL;
    const char *folder;

    if (!k->outcome.is_judged)
        pto_judge(k, costs, setup, true);
    enum status st = pto_sim_capture(k, costs, setup, d, &cap);
    if (st == ST_OK)
        st = insight_folder_make(root, seed, arena, d, &folder);
    if (st == ST_OK)
        st = pto_sim_insight(cap, &k->outcome, folder, arena, d, wrote);
    capture_free(cap);
    return st;
}

enum status pto_sim_trace(const struct capture *cap, const char *out, struct diag *d)
{
    struct incore_study s;
    struct outfile file;

    TRY(outfile_open(&file, out, d));
    incore_open_capture(&s, cap);
    if (str_ends(str_of(out), S(".pftrace")))
        incore_perfetto_write(&s, outfile_sink(&file));
    else
        incore_clean_write(&s.t, &s.lanes, &s.arrows, incore_study_watch(&s), outfile_sink(&file));
    incore_study_close(&s);
    return outfile_commit(&file, OUTFILE_FAST, d);
}

void pto_sim_view(const struct capture *cap, size_t columns, struct incore_view *view)
{
    struct incore_study s;

    incore_open_capture(&s, cap);
    incore_view_build(view, &s.t, &s.lanes, columns);
    incore_study_close(&s);
}
