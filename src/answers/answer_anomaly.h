/*
 * answer_anomaly - captures in, a report and its JSON document for each out.
 */
#ifndef STRATA_ANSWERS_ANSWER_ANOMALY_H
#define STRATA_ANSWERS_ANSWER_ANOMALY_H

#include "analysis/compare/gate.h"
#include "analysis/idle/judgement.h"
#include "analysis/ranks/fleet_study.h"
#include "analysis/study.h"
#include "answers/answer_arch.h"
#include "base/diag.h"
#include "input/input.h"
#include "report/answer.h"

struct anomaly_job {
    const char *path; /* of the capture, or of the folder of all ranks */
    struct input_options input;
    const char *out;            /* folder for the results; NULL: none are written */
    struct study_options study; /* what is listed, and where steps come from */
    enum lang lang;             /* of the files */
    const char *markdown;       /* file for the report as Markdown; NULL: none */
    const struct gate *gates;
    size_t n_gates;
    enum severity_level fail_on; /* SEVERITY_NONE: no gate */
    bool without_arch;           /* no report on the model's architecture */
    bool is_dry_run;             /* write nothing */
};

/* What was found in one capture. */
struct anomaly_finding {
    struct study *study;
    const struct arch *arch; /* NULL: not asked for */
    const char *json_path;   /* where the document was, or would be, written; or NULL */
};

struct anomaly_result {
    struct fleet *fleet;
    struct fleet_study ranks;   /* not begun: nothing was loaded */
    struct anomaly_finding *at; /* in rank order */
    size_t n;
    struct arch_result arch; /* empty when it was not asked for */
    size_t gates_reached;    /* the diag says which and where */
};

/* `arena` holds the paths. Call anomaly_result_free() in any case. */
enum status answer_anomaly(const struct anomaly_job *job, struct arena *arena, struct diag *d,
                           struct anomaly_result *out);
void anomaly_result_free(struct anomaly_result *result);

/* A report for each capture; and the document of one as it is, those of several as one
 * "strata.anomaly-set/1". */
struct answer anomaly_answer(const struct anomaly_result *result);

#endif
