/*
 * incore_clean_job - the trace of one kernel, cleaned: files for Perfetto and for programs.
 */
#ifndef STRATA_KERNELS_INCORE_INCORE_CLEAN_JOB_H
#define STRATA_KERNELS_INCORE_INCORE_CLEAN_JOB_H

#include "kernels/incore/files.h"
#include "kernels/incore/incore_open.h"

struct incore_clean_job {
    const char *path; /* visualize_data.bin, trace.json, a folder that holds one, or logs */
    const char *out;  /* a folder; NULL: that of the input */
    const char *name; /* see `origin` */
    struct incore_rules rules;
    bool raw_metrics; /* the table of instructions byte for byte */
    bool copy_raw;    /* the input's folder goes along when the output is elsewhere */
    bool perfetto;    /* Perfetto's own format too */
    bool lossless;    /* the raw trace with rows, too */
    double mhz;       /* 0: not known */
    /* With a kernel the files go to a folder of their own, incore_<kernel>_<source>_<date>, or
     * `name`. */
    struct incore_origin origin;
};

struct incore_clean_result {
    struct incore_study study;
    struct incore_origin origin;
    struct words wrote;    /* in order; the cleaned trace first */
    const char *copied;    /* where the input's folder went; NULL: nowhere */
    uint64_t instrs, rows; /* drawn */
};

/* Of several results. */
extern const struct schema incore_clean_schema;

/* Call incore_clean_result_free() in any case; files written before a failure are told. */
enum status incore_clean_run(const struct incore_clean_job *job, struct diag *d,
                             struct incore_clean_result *result);
void incore_clean_result_free(struct incore_clean_result *result);

#endif
