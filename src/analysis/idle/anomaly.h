/*
 * anomaly - where the device sat idle, as a report and as the JSON document other tools read.
 *
 * Formulas and thresholds: docs/analyses/anomaly.md.
 */
#ifndef STRATA_ANALYSIS_IDLE_ANOMALY_H
#define STRATA_ANALYSIS_IDLE_ANOMALY_H

#include "base/files/sink.h"

struct arch;
struct report;
struct schema;
struct study;

/* Fills a report with the step table and the heavy gaps. */
void anomaly_describe(struct study *st, struct report *r);

/* Adds the layers of the dominant step, with four clocks each. */
void anomaly_describe_structures(struct study *st, const struct arch *arch, struct report *r);

extern const struct schema anomaly_schema;

/* What that document holds, without the architecture. */
const void *anomaly_find(struct study *st);

/* Writes the document "strata.anomaly/1". With the architecture of the model (or NULL) it also
 * tells the structures of the dominant step. False when the sink failed. */
bool anomaly_write_json(struct study *st, const struct arch *arch, struct sink out);

#endif
