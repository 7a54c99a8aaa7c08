/*
 * study - the trace of one kernel with all that is derived from it; what the jobs of
 * `strata incore` share.
 */
#ifndef STRATA_KERNELS_INCORE_STUDY_H
#define STRATA_KERNELS_INCORE_STUDY_H

#include "base/files/mapfile.h"
#include "base/text/text.h"
#include "kernels/incore/health.h"
#include "kernels/pto/judge/outcome_file.h"

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
    struct capture *cap; /* of logs and of traces of single cores; NULL: the trace is a text */
    struct text made, made_table; /* pieces and table of a trace that is no text */
    struct str trace, table;      /* the two blocks; NULL: absent */
    struct incore_trace t;
    struct incore_lanes lanes;
    struct incore_arrows arrows;
    struct incore_metrics metrics;
    struct incore_breakdown breakdown;
    struct incore_health health;
    bool has_metrics;
    VEC_OF(struct incore_told) told;        /* busy cycles as the simulator counted them */
    const struct pto_outcome_kept *outcome; /* of our simulator, of this trace; NULL: none */
};

/* `name` is what messages call it; NULL: set `bin` later. incore_study_close() in any case. */
void incore_study_init(struct incore_study *s, const char *name);
void incore_study_close(struct incore_study *s);

/* Finds trace and table in a container. */
enum status incore_study_blocks(struct incore_study *s, struct str text, bool salvage,
                                struct diag *d);

/* Reads s->trace, packs its lanes and matches its flags; the latter alone, of a trace that is
 * there. */
enum status incore_study_read(struct incore_study *s, struct incore_rules rules, struct diag *d);
void incore_study_lanes(struct incore_study *s);

/* Reads the table of instructions, when there is one. */
enum status incore_study_metrics(struct incore_study *s, struct diag *d);

/* Breakdown and checks; `mhz` 0: not known; `exe`: the tables beside the trace. */
void incore_study_judge(struct incore_study *s, double mhz, const struct incore_exe *exe);

/* The checks that failed, as warnings. */
void incore_study_report(const struct incore_study *s, struct diag *d);

/* Events that had to be left out. */
uint64_t incore_study_lost(const struct incore_study *s);

/* For a pass over the text of the trace. */
struct incore_watch incore_study_watch(struct incore_study *s);

#endif
