/*
 * incore_open - which files a path of `strata incore` stands for, and their study
 * (kernels/incore/study.h).
 */
#ifndef STRATA_KERNELS_INCORE_INCORE_OPEN_H
#define STRATA_KERNELS_INCORE_INCORE_OPEN_H

#include "kernels/incore/device.h"
#include "kernels/incore/study.h"

/* What a path stands for: the container or trace in a folder; else, for folders of logs or of
 * traces of single cores, such a folder; else each of the OPPROF_ folders below it. */
enum status incore_open_find(const char *path, struct arena *arena, struct diag *d,
                             struct words *out);

/* The container or trace that a path stands for, as a file; NULL, with the story in `d`. */
const char *incore_open_file(const char *path, struct arena *arena, struct diag *d);

/* Whether a path stands for a container without a trace, measured on a device; then `out` has what
 * it tells and is to be freed. */
bool incore_open_device(const char *path, struct incore_device *out);

/* "." for a name without a folder. */
const char *incore_open_folder(const char *path, struct arena *arena);

/* Reads the trace, packs its lanes and matches its flags. incore_study_close() in any case. */
enum status incore_open(struct incore_study *s, const char *path, struct incore_rules rules,
                        struct diag *d);

/* The same of a run that is in memory. */
void incore_open_capture(struct incore_study *s, const struct capture *cap);

/* Breakdown and checks, with what the simulator left beside the trace; `mhz` 0: not known. */
void incore_open_judge(struct incore_study *s, double mhz, struct diag *d);

/* All of it for a path, SCALAR drawn too. */
enum status incore_open_judged(struct incore_study *s, const char *path, double mhz,
                               struct diag *d);

/* A cleaned trace in Perfetto's own format. False: the sink failed. */
bool incore_perfetto_write(const struct incore_study *s, struct sink out);

#endif
