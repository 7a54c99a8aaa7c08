/*
 * ncu_run - Nsight Compute driven from the command line: one collecting run, then its report as
 * CSV pages.
 */
#ifndef STRATA_DRIVER_NCU_RUN_H
#define STRATA_DRIVER_NCU_RUN_H

#include "driver/workload.h"

struct ncu_job {
    const char *program;     /* ncu itself */
    const char *report;      /* without the suffix .ncu-rep */
    const char *kernels;     /* regular expression; NULL: all */
    const char *range;       /* NVTX range; NULL: none */
    uint64_t skip, count;    /* count 0: all */
    bool is_clock_base;      /* ncu locks the base clock itself */
    bool is_cache_flushed;   /* before each pass */
    const char *const *argv; /* the program to profile */
};

/* The words of the collecting run, ending with NULL. */
const char *const *ncu_collect_argv(const struct ncu_job *job, struct arena *arena);

enum ncu_report_page { NCU_RAW, NCU_DETAILS, NCU_SASS, NCU_SOURCE, NCU_PTX, NCU_PAGES };

/* The words that print a page of the report; "raw.csv", "details.csv", … */
const char *const *ncu_import_argv(const struct ncu_job *job, enum ncu_report_page page,
                                   struct arena *arena);
const char *ncu_page_file(enum ncu_report_page page);

/* The text of one page. ST_TOOL when nothing comes. */
enum status ncu_page_text(const struct ncu_job *job, enum ncu_report_page page, struct arena *arena,
                          struct str *out, struct diag *d);

/* A report of Nsight Systems as a database, by `nsys` itself. */
enum status nsys_export(const char *program, const char *report, const char *to, struct diag *d);

/* What went wrong, from what ncu printed. */
enum ncu_trouble {
    NCU_FINE,
    NCU_NOT_PERMITTED, /* ERR_NVGPUCTRPERM */
    NCU_INCOMPATIBLE,  /* driver and tool do not fit */
    NCU_BUSY,          /* another profiler, or counters in use */
    NCU_NO_KERNELS,
    NCU_FAILED,
};

enum ncu_trouble ncu_trouble_of(struct str out, struct str err, int code);

/* Reads the pages of the report into files of `folder`; a page that cannot be had is counted as a
 * loss in `d`. ST_TOOL when not even the raw page comes. */
enum status ncu_import(const struct ncu_job *job, const char *folder,
                       const struct progress *progress, struct diag *d);

#endif
