/*
 * pto_sim_job - what a simulated run leaves: files for viewers, a picture in letters and
 * outputs.
 */
#ifndef STRATA_KERNELS_PTO_PTO_SIM_JOB_H
#define STRATA_KERNELS_PTO_PTO_SIM_JOB_H

#include "kernels/incore/view.h"
#include "kernels/pto/judge/lines.h"
#include "kernels/pto/judge/what_if.h"
#include "kernels/pto/pto_kernel.h"
#include "render/insight/insight.h"

/* The last run of the kernel as a sealed capture; the longest of its blocks. */
enum status pto_sim_capture(struct pto_kernel *k, const struct pto_costs *costs,
                            const struct pto_setup *setup, struct diag *d, struct capture **out);

/* The same run line by line, of a kernel whose setup keeps it; pto_lines_free() it. */
enum status pto_sim_lines(struct pto_kernel *k, const struct pto_costs *costs, struct diag *d,
                          struct pto_lines *out);

/* The files of MindStudio Insight, below `folder`, which must not have a folder simulator; beside
 * them what the run came to, for who judges the trace (judge/outcome_file.h). */
enum status pto_sim_insight(const struct capture *cap, const struct pto_outcome *o,
                            const char *folder, struct arena *arena, struct diag *d,
                            struct words *wrote);

/* Both, in a new folder below `root`; see insight_folder_make(). A kernel that is not judged is. */
enum status pto_sim_export(struct pto_kernel *k, const struct pto_costs *costs,
                           const struct pto_setup *setup, const char *root, struct str seed,
                           struct arena *arena, struct diag *d, struct words *wrote);

/* The cleaned trace: JSON, or Perfetto's own format for a name that ends in .pftrace. */
enum status pto_sim_trace(const struct capture *cap, const char *out, struct diag *d);

/* When each pipe was busy, `columns` letters wide. incore_view_free() it. */
void pto_sim_view(const struct capture *cap, size_t columns, struct incore_view *view);

#endif
