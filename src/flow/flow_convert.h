/*
 * flow_convert - a capture in, the same or a part of it in another format out.
 */
#ifndef STRATA_FLOW_FLOW_CONVERT_H
#define STRATA_FLOW_FLOW_CONVERT_H

#include "base/diag.h"
#include "base/interval.h"
#include "base/sink.h"

struct capture;
struct progress;
struct timeline_format;

/* Numbers of steps, both ends included. */
struct convert_steps {
    int64_t first, last;
};

enum convert_what { CONVERT_KERNELS, CONVERT_SLICES };

struct convert_job {
    const char *path;   /* of the capture */
    const char *format; /* of the capture; NULL: find out */
    int64_t rank;       /* of a folder of ranks; -1: there is one */
    const char *out;    /* replaced when it is there; "-": `sink` */
    const char *to;     /* name of an output format; NULL: by the ending of `out` */
    struct sink sink;
    const struct convert_steps *steps; /* none: all */
    size_t steps_n;
    struct interval range;    /* from the capture's start; empty: all, INT64_MAX: no end */
    const char *const *lanes; /* globs; none: all */
    size_t lanes_n;
    bool clip;                       /* cut slices at the borders, else they stay whole */
    enum convert_what what;          /* the rows of a table */
    bool is_dry_run;                 /* write nothing */
    size_t threads;                  /* 0: as many as processors */
    const struct progress *progress; /* NULL: nobody watches */
};

struct convert_result {
    struct capture *cap;
    const struct timeline_format *format;
    size_t lanes, slices, kernels, flows, samples; /* that were, or would be, written */
    struct interval span;                          /* of these, from the capture's start */
    uint64_t bytes;                                /* written */
};

/* A job that writes everything. */
struct convert_job convert_job_new(const char *path, const char *out);

/* The output format of a job, told before anything is read. */
enum status convert_format(const struct convert_job *job, struct diag *d,
                           const struct timeline_format **out);

/* Call convert_result_free() in any case. A `sink` that fails is no failure of the job: it keeps
 * the reason itself. */
enum status flow_convert(const struct convert_job *job, struct diag *d,
                         struct convert_result *result);
void convert_result_free(struct convert_result *result);

#endif
