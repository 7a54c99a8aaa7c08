/*
 * judgement - what the facts amount to: tags, severity, risk, how sure, and what to do next.
 *
 * Rules and their numbers: docs/analyses/anomaly.md. Causes stay possible causes; a gap at the
 * edge of the recording is never blamed on the host.
 */
#ifndef STRATA_ANALYSIS_IDLE_JUDGEMENT_H
#define STRATA_ANALYSIS_IDLE_JUDGEMENT_H

#include "analysis/idle/evidence.h"

struct study;

enum severity_level { SEVERITY_NONE, SEVERITY_LOW, SEVERITY_MEDIUM, SEVERITY_HIGH };
enum grade { GRADE_LOW, GRADE_MEDIUM, GRADE_HIGH };

/* Shares of the evidence sets over some bubbles, weighted by duration; edges of the recording are
 * left out. What is not known counts as 0. */
struct means {
    nanos idle;                  /* of the bubbles that count */
    double host, sync, comm;     /* 0 when idle is 0 */
    nanos all_idle;              /* of all bubbles, edges included */
    nanos labelled[LABEL_COUNT]; /* idle time that carries each label */
    double ratio[LABEL_COUNT];   /* mean of the share that speaks for it, over that time */
};

struct verdict {
    struct means means;
    unsigned tags; /* mask of enum step_tag */
    enum severity_level severity;
    enum grade host_risk;
    bool needs_followup;
};

/* One line of the summary of causes: how much of some scope's idle time carries a label. */
struct suspicion {
    size_t group; /* SIZE_MAX: the whole capture */
    enum label label;
    enum grade confidence;
    double share, ratio;
};

struct judgement {
    struct verdict *steps;  /* one per step */
    struct verdict *groups; /* one per group of study_groups() */
    struct means global;
    struct suspicion *suspicions; /* the whole capture first, then group by group; by label */
    size_t n_suspicions;
    enum severity_level severity; /* of the worst group */
    size_t group;                 /* that group, or SIZE_MAX */
    enum grade confidence;        /* in the causes, not in the facts */
    bool needs_host_followup;
};

const struct judgement *judgement_find(struct study *st);

const char *severity_level_name(enum severity_level level);
const char *grade_name(enum grade grade);

/* The labels of some idle time, the most idle first; returns how many. */
size_t means_labels(const struct means *m, enum label *out);

#endif
