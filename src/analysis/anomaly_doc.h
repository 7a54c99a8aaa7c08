/*
 * anomaly_doc - what the parts of the document "strata.anomaly/1" share.
 *
 * Keys and their order are a contract with other tools, so they are written one by one and not
 * derived from the report. Times in milliseconds and microseconds are printed exactly, digit by
 * digit from nanoseconds.
 */
#ifndef STRATA_ANALYSIS_ANOMALY_DOC_H
#define STRATA_ANALYSIS_ANOMALY_DOC_H

#include "analysis/bubbles.h"
#include "analysis/groups.h"
#include "analysis/judgement.h"
#include "analysis/steps.h"
#include "analysis/study.h"
#include "base/json_write.h"

struct arch;

struct doc {
    struct json_writer w;
    struct study *st;
    const struct capture *cap;
    const struct steps *steps;
    const struct bubbles *bubbles;
    const struct groups *groups;
    const struct judgement *judgement;
    nanos origin; /* begin of the whole span: rel_us counts from here */
};

void doc_known(struct doc *d, const char *name, int64_t value); /* null when UNKNOWN */

/* start_us, end_us (since 1970 where that is known) and their twins relative to the origin. */
void doc_window(struct doc *d, struct interval at);

/* The name of a group, or null for SIZE_MAX. */
void doc_group(struct doc *d, const char *name, size_t group);

void doc_tags(struct doc *d, const char *name, unsigned tags);

/* "anomaly_discovery", and the lists that stand behind the steps. */
void doc_put_discovery(struct doc *d);
void doc_put_groups(struct doc *d);
void doc_put_structures(struct doc *d, const struct arch *arch); /* none without `arch` */
void doc_put_ops(struct doc *d);
void doc_put_aicpu(struct doc *d);
void doc_put_hidden_issue(struct doc *d);
void doc_put_recommendations(struct doc *d);

#endif
