/*
 * answer_convert - a capture in, the same or a part of it in another format out. Several that are
 * ranks of one job come onto one clock: as rows of one timeline, in tables with their rank.
 */
#ifndef STRATA_ANSWERS_ANSWER_CONVERT_H
#define STRATA_ANSWERS_ANSWER_CONVERT_H

#include "base/files/sink.h"
#include "base/tables/interval.h"
#include "base/tables/vec.h"
#include "capture/fleet.h"
#include "input/input.h"
#include "render/timelines/timeline.h"
#include "report/answer.h"

/* Numbers of steps, both ends included. */
struct convert_steps {
    int64_t first, last;
};

struct convert_job {
    const char *path; /* of the capture */
    struct input_options input;
    const char *out; /* replaced when it is there; "-": `sink` */
    const char *to;  /* name of an output format; NULL: by the ending of `out` */
    struct sink sink;
    const struct convert_steps *steps; /* none: all */
    size_t steps_n;
    struct interval range;   /* from the capture's start; empty: all, INT64_MAX: no end */
    struct words lanes;      /* globs; none: all */
    bool clip;               /* cut slices at the borders, else they stay whole */
    enum timeline_rows rows; /* of a table */
    bool csv_safe;           /* base/formats/csv_write.h: is_safe */
    int64_t width;           /* of a picture; 0: as usual */
    bool is_plain;           /* Arrow and Parquet: not compressed */
    bool is_dry_run;         /* write nothing */
};

struct convert_result {
    struct fleet *fleet; /* that was read */
    const char *out;     /* of the job */
    const struct timeline_format *format;
    bool is_written;
    size_t lanes, slices, kernels, flows, samples; /* that were, or would be, written */
    struct interval span;                          /* of these, from the capture's start */
    uint64_t bytes;                                /* written */
};

extern const struct schema convert_schema; /* of a struct convert_result */

struct answer convert_answer(const struct convert_result *result);

/* The output format of a job, told before anything is read. */
enum status convert_format(const struct convert_job *job, struct diag *d,
                           const struct timeline_format **out);

/* Call convert_result_free() in any case. A `sink` that fails is no failure of the job: it keeps
 * the reason itself. */
enum status answer_convert(const struct convert_job *job, struct diag *d,
                           struct convert_result *result);
void convert_result_free(struct convert_result *result);

/* Step numbers and ranges of them, both ends included, parted by commas; "5-" has no end. Gives
 * their number, 0 when `text` is something else; the list is in `arena`. */
size_t convert_steps_parse(const char *text, struct arena *arena, struct convert_steps **out);

/* Two times with units ns, us, ms or s and a dash between; either may be left out. A time without
 * a unit has the other's; 0 needs none. False when `text` is something else or nothing lies
 * between. */
bool convert_range_parse(const char *text, struct interval *out);

/* "20ms" or "1.5s"; false without a unit. */
bool convert_time_parse(const char *text, nanos *out);

#endif
