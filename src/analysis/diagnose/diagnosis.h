/*
 * diagnosis - what limits a run, what that costs, what to do: one ranked list of causes.
 *
 * Facts come from the accounting, savings from changed replays. Catalogue, ranking, confidence and
 * how often it is right: docs/diagnosis.md.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_DIAGNOSIS_H
#define STRATA_ANALYSIS_DIAGNOSE_DIAGNOSIS_H

#include "analysis/diagnose/root_find.h"

struct report;
struct study;

enum { DIAGNOSIS_EVIDENCE = 3, DIAGNOSIS_MISSING = 8 };

enum confidence { CONFIDENCE_UNKNOWN, CONFIDENCE_POSSIBLE, CONFIDENCE_LIKELY, CONFIDENCE_SURE };

/* What a share is of: a step as recorded or as estimated without the profiler, or the whole run. */
enum saving_base { BASE_RECORDED, BASE_BARE, BASE_RUN };

enum { SAVING_BASES = BASE_RUN + 1 };

enum { CONFIDENCES = CONFIDENCE_SURE + 1 };

struct diagnosis_cause {
    const char *id;
    size_t rank;  /* from 1 */
    nanos saving; /* a step; of a slow step once */
    double saving_share, profiled_saving_share;
    enum saving_base base; /* what saving_share is a share of, */
    nanos base_time;       /* and how long that takes */
    double score;          /* 0 to 1 */
    enum confidence confidence;
    enum saving_bound bound;
    struct wording what, action, against, record;
    struct wording evidence[DIAGNOSIS_EVIDENCE];
    size_t n_evidence;
    const char *whatif;
    struct found_cause found;
};

struct diagnosis_class {
    const char *name;
    const struct message *label;
    nanos time; /* a step, mean */
    double share;
};

/* Steps that do the same work. */
struct diagnosis_group {
    size_t steps, kernels; /* kernels of each */
    struct str first;      /* id of the first step, */
    size_t place;          /* and its place */
    nanos median;
    nanos time, idle; /* of all of them */
    double idle_share;
    double share;        /* of the time of all steps */
    struct wording text; /* of a kind that takes a good part of it; else without text */
};

struct diagnosis {
    struct diagnosis_cause verdict; /* the first cause, or healthy, or unknown */
    struct wording text;
    struct wording
        why_first; /* why a cause is first that does not save most; without text: it does */
    const char *framework;
    size_t steps, all_steps; /* whole ones, which the times are of; all that are marked */
    bool is_pseudo, is_calibrated;
    bool is_mixed; /* kinds of steps differ: device_period and bare are of all steps together */
    nanos time, host_period, device_period, profiled, bare;
    double replay_scale;             /* times of the replay by this are those of the recording */
    struct diagnosis_class *classes; /* largest first */
    size_t n_classes;
    struct diagnosis_cause *causes;
    size_t n_causes;
    struct diagnosis_group *groups;
    size_t n_groups;
    double *step_times; /* of those with device work, in order */
    size_t n_step_times;
    struct wording missing[DIAGNOSIS_MISSING];
    size_t n_missing;
    double identity_error;
    size_t nodes, edges;
    struct slow_step slow;
    struct str slow_id;
    double profiler_saving; /* what the first cause saves under the profiler alone, worth a word */
};

/* Of the study's capture on its first device. Lives in the study; use
 * study_diagnosis(). */
const struct diagnosis *diagnosis_find(struct study *st);

const char *saving_base_name(enum saving_base base);

/* "46.9 % of 4.168 ms": a share with its base. */
struct wording diagnosis_share(struct arena *arena, const struct diagnosis_cause *c);

const char *confidence_name(enum confidence confidence);

/* At most 30 lines of 100 columns. */
void diagnosis_describe(const struct diagnosis *d, struct report *r);

/* The host's marks are not as far apart as the steps of the device. */
bool diagnosis_is_host_ahead(const struct diagnosis *d);

extern const struct record diagnosis_record; /* of a struct diagnosis */
extern const struct schema diagnosis_schema;

#endif
