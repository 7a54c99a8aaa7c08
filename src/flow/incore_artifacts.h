/*
 * incore_artifacts - a capture of one kernel as the folder that the operator simulator would leave.
 *
 *     <folder>/simulator/trace.json
 *     <folder>/simulator/visualize_data.bin
 *     <folder>/simulator/<core>/trace.json, <core>_instr_exe.csv, <core>_code_exe.csv
 *
 * render/insight.h says what the capture has to hold.
 */
#ifndef STRATA_FLOW_INCORE_ARTIFACTS_H
#define STRATA_FLOW_INCORE_ARTIFACTS_H

#include "base/diag.h"
#include "base/vec.h"

struct capture;

struct incore_wrote {
    const char **at; /* live in the arena given */
    size_t n, cap;
};

/* Makes a new folder OPPROF_<YYYYMMDDHHMMSS>_<16 letters> below `root`. The letters follow from
 * `seed` (the kernel's text, options, workload), the time from SOURCE_DATE_EPOCH (UTC) where it is
 * set; a folder that is there is not used again: the next free second is. */
enum status incore_artifacts_folder(const char *root, struct str seed, struct arena *arena,
                                    struct diag *d, const char **out);

/* Writes the files into `folder`, which is made. A core whose name is no name for a folder is
 * warned of and gets no files of its own. `wrote` is filled in order, also on failure; vec_free()
 * it. */
enum status incore_artifacts_write(const struct capture *cap, const char *folder,
                                   struct arena *arena, struct diag *d, struct incore_wrote *wrote);

#endif
