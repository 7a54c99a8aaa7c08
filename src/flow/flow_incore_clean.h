/*
 * flow_incore_clean - the trace of one kernel, cleaned: files for Perfetto and for programs.
 */
#ifndef STRATA_FLOW_FLOW_INCORE_CLEAN_H
#define STRATA_FLOW_FLOW_INCORE_CLEAN_H

#include "incore/clean.h"
#include "incore/metrics.h"

struct incore_clean_job {
    const char *path; /* visualize_data.bin, trace.json, or a folder that holds one */
    const char *out;  /* a folder; NULL: that of the input */
    struct incore_rules rules;
    bool raw_metrics; /* the table of instructions byte for byte */
    bool copy_raw;    /* the input's folder goes along when the output is elsewhere */
};

struct incore_clean_result {
    struct arena arena;
    const char *bin;               /* what was read */
    VEC_OF(const char *) wrote;    /* in order; the cleaned trace first */
    const char *copied;            /* where the input's folder went; NULL: nowhere */
    uint64_t instrs, rows, arrows; /* drawn */
    uint64_t skipped;              /* flags without an arrow */
};

/* The file to read for a path: itself, or what a folder holds. NULL, with the story in `d`. */
const char *incore_clean_find(const char *path, struct arena *arena, struct diag *d);

/* Call incore_clean_result_free() in any case; files written before a failure are told. */
enum status flow_incore_clean(const struct incore_clean_job *job, struct diag *d,
                              struct incore_clean_result *result);
void incore_clean_result_free(struct incore_clean_result *result);

#endif
