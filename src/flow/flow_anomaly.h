/*
 * flow_anomaly - a capture in, a report and its JSON document out.
 */
#ifndef STRATA_FLOW_FLOW_ANOMALY_H
#define STRATA_FLOW_FLOW_ANOMALY_H

#include "base/diag.h"
#include "base/json_write.h"

struct capture;
struct report;

struct anomaly_job {
    const char *path;   /* of the capture */
    const char *format; /* NULL: find out */
    const char *out;    /* folder for the results; NULL: strata/ in or beside the capture */
    nanos min_bubble;   /* idle windows from this length on are listed */
    size_t max_bubbles;
    bool is_dry_run; /* write nothing */
};

struct anomaly_result {
    struct capture *cap;
    struct report *report;
    struct json_buffer json; /* the document, as it was written */
    const char *json_path;   /* where it was, or would be, written */
};

/* The listing rules a job starts from. */
struct anomaly_job anomaly_job_new(const char *path);

/* `arena` holds the paths. Call anomaly_result_free() in any case. */
enum status flow_anomaly(const struct anomaly_job *job, struct arena *arena, struct diag *d,
                         struct anomaly_result *out);
void anomaly_result_free(struct anomaly_result *result);

#endif
