/*
 * incore_study - the trace of one kernel with all that is derived from it; what the jobs of
 * `strata incore` share.
 */
#ifndef STRATA_FLOW_INCORE_STUDY_H
#define STRATA_FLOW_INCORE_STUDY_H

#include "base/json_write.h"
#include "base/mapfile.h"
#include "incore/device.h"
#include "incore/health.h"

struct capture;

/* Busy cycles as the simulator itself counted them (core0_summary_log). */
struct incore_told {
    struct str name; /* "mte2_cubecore0_su_busy_cycle" */
    struct str core; /* "core0.cubecore0" */
    struct str pipe; /* "MTE2"; empty: a part of one */
    int64_t cycles;
};

struct incore_study {
    struct arena arena;
    const char *bin; /* what was read */
    struct mapfile map;
    struct text made; /* a container made of logs or of traces of single cores */
    struct str trace, table; /* the two blocks; NULL: absent */
    struct incore_trace t;
    struct incore_lanes lanes;
    struct incore_arrows arrows;
    struct incore_metrics metrics;
    struct incore_breakdown breakdown;
    struct incore_health health;
    bool has_metrics;
    VEC_OF(struct incore_told) told; /* busy cycles as the simulator counted them */
};

/* What a path stands for: the container or trace in a folder; else, for folders of logs or of
 * traces of single cores, such a folder; else each of the OPPROF_ folders below it. */
struct incore_paths {
    const char **at;
    size_t n, cap;
};

enum status incore_study_find_all(const char *path, struct arena *arena, struct diag *d,
                                  struct incore_paths *out);

/* The container or trace that a path stands for, as a file; NULL, with the story in `d`. */
const char *incore_study_file(const char *path, struct arena *arena, struct diag *d);

/* Whether a path stands for a container without a trace, measured on a device; then `out` has what
 * it tells and is to be freed. */
bool incore_study_device(const char *path, struct incore_device *out);

/* "." for a name without a folder. */
const char *incore_study_folder(const char *path, struct arena *arena);

/* Reads the trace, packs its lanes and matches its flags. Call incore_study_close() in any case. */
enum status incore_study_open(struct incore_study *s, const char *path, struct incore_rules rules,
                              struct diag *d);

/* The same for a run that is in memory; `name` is what messages call it. */
enum status incore_study_capture(struct incore_study *s, const struct capture *cap,
                                 const char *name, struct incore_rules rules, struct diag *d);

/* Reads the table of instructions, when there is one. */
enum status incore_study_metrics(struct incore_study *s, struct diag *d);

/* Breakdown and checks; `mhz` 0: not known. */
void incore_study_judge(struct incore_study *s, double mhz, struct diag *d);

/* The checks that failed, as warnings. */
void incore_study_tell(const struct incore_study *s, struct diag *d);

void incore_study_close(struct incore_study *s);

/* For a pass over the text of the trace. */
struct incore_watch incore_study_watch(struct incore_study *s);

#endif
