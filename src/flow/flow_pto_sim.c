#include "flow/flow_pto_sim.h"

#include "base/fs.h"
#include "capture/capture.h"
#include "capture/cut.h"
#include "flow/incore_study.h"
#include "incore/clean.h"
#include "incore/to_capture.h"
#include "pto/to_capture.h"
#include "render/timeline.h"

enum status flow_pto_capture(struct pto_kernel *k, const struct pto_costs *costs,
                             const struct pto_setup *setup, struct diag *d, struct capture **out)
{
    if ((size_t)k->longest + 1 != k->blocks.n) /* the sim holds the last block */
        TRY(pto_kernel_again(k, &k->sim, costs, &k->options, d));
    if (k->outcome.unrecorded > 0)
        diag_add(d, SEV_LOSS, "pto-sim.unrecorded", (struct where){.path = setup->path},
                 "%llu instructions beyond the first million of a core are not in the timeline",
                 (unsigned long long)k->outcome.unrecorded);
    *out = pto_to_capture(&k->sim, &k->chip, setup->path, k->text);
    return ST_OK;
}

enum status flow_pto_insight(const struct capture *cap, const char *folder, struct arena *arena,
                             struct diag *d, struct incore_wrote *wrote)
{
    const char *simulator = fs_join(arena, folder, "simulator");

    if (fs_exists(simulator)) {
        diag_hint(d, "try", "another folder");
        return diag_fail(d, ST_IO, "incore.exists", (struct where){.path = simulator},
                         "there is a simulator folder already; it stays as it is");
    }
    return incore_artifacts_write(cap, folder, arena, d, wrote);
}

static bool put_clean(struct incore_study *s, struct sink sink)
{
    return incore_clean_write(&s->t, &s->lanes, &s->arrows, incore_study_watch(s), sink);
}

static bool put_perfetto(struct incore_study *s, struct sink sink)
{
    struct capture *cap = incore_to_capture(&s->t, &s->lanes, &s->arrows);
    struct timeline_options options = {0};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    bool ok = timeline_find(S("perfetto"))->write(&cut, &options, sink);
    cut_fini(&cut);
    capture_free(cap);
    return ok;
}

enum status flow_pto_trace(const struct capture *cap, const char *out, struct diag *d)
{
    struct incore_study study;
    struct outfile file;
    enum status status = incore_study_capture(&study, cap, "the simulated run",
                                              (struct incore_rules){.keep_scalar = true}, d);

    if (status == ST_OK)
        status = outfile_open(&file, out, d);
    if (status == ST_OK) {
        if (str_ends(str_of(out), S(".pftrace")))
            put_perfetto(&study, outfile_sink(&file));
        else
            put_clean(&study, outfile_sink(&file));
        status = outfile_commit(&file, OUTFILE_FAST, d);
    }
    incore_study_close(&study);
    return status;
}

enum status flow_pto_view(const struct capture *cap, size_t columns, struct diag *d,
                          struct incore_view *view)
{
    struct incore_study study;
    enum status status = incore_study_capture(&study, cap, "the simulated run",
                                              (struct incore_rules){.keep_scalar = true}, d);

    *view = (struct incore_view){0};
    if (status == ST_OK)
        incore_view_build(view, &study.t, &study.lanes, columns);
    incore_study_close(&study);
    return status;
}

/* ---- what if ---- */

/* One question; a run that cannot be made has no answer and is left out. */
static enum status ask(struct pto_kernel *k, const struct pto_costs *costs,
                       const struct pto_setup *setup, struct pto_what_if *w, struct diag *d)
{
    struct pto_options options = k->options;
    struct pto_sim other;
    enum status status = ST_OK;

    pto_what_if_apply(w, &options);
    options.max_records = 1;
    if (!pto_what_if_compiles(w)) {
        status = pto_kernel_again(k, &k->sim, costs, &options, d);
        w->cycles = k->sim.total;
        return status;
    }
    pto_sim_init(&other);
    other.ignore_reuse = options.no_reuse_waits;
    status =
        pto_sim_prepare(&other, &k->module, setup->func, k->arch, options.is_dep, setup->path, d);
    if (status == ST_OK)
        status = pto_kernel_again(k, &other, costs, &options, d);
    w->cycles = other.total;
    pto_sim_free(&other);
    return status;
}

void flow_pto_what_if(struct pto_kernel *k, const struct pto_costs *costs,
                      const struct pto_setup *setup, struct pto_what_ifs *out)
{
    struct diag quiet;
    size_t kept = 0;

    pto_what_if_list(&k->outcome, out);
    for (size_t i = 0; i < out->n; i++) {
        diag_init(&quiet);
        if (ask(k, costs, setup, &out->at[i], &quiet) == ST_OK)
            out->at[kept++] = out->at[i];
        diag_fini(&quiet);
    }
    out->n = kept;
    pto_what_if_rank(out, k->outcome.total);
}
