/*
 * ncu_csv - the CSV pages of Nsight Compute: raw, details (all forms), source and SASS; counters by
 * kernel as a range profiler prints them; kernel summaries of `nsys stats`.
 *
 * Pages of one report are joined by launch: several files may be read into one import. Numbers come
 * out in base units, and what the rules do not use is kept as well. docs/formats/ncu-csv.md lists
 * the columns.
 */
#ifndef STRATA_GPU_NCU_NCU_CSV_H
#define STRATA_GPU_NCU_NCU_CSV_H

#include "base/diag.h"
#include "gpu/judge/kernel.h"
#include "gpu/ncu/ncu_source.h"

enum { GPU_VALUES_MAX = 1 << 22 }; /* values kept; a raw page has 2 200 a launch */

enum gpu_page {
    GPU_PAGE_NONE,
    GPU_PAGE_RAW,      /* one row a launch, one column a metric, a row of units */
    GPU_PAGE_DETAILS,  /* one row a metric or rule */
    GPU_PAGE_LABELLED, /* the same with the column "Body Item Label" */
    GPU_PAGE_SOURCE,
    GPU_PAGE_PTX,     /* lines of PTX alone */
    GPU_PAGE_RANGES,  /* "range,kernel,<counter>…" in base units */
    GPU_PAGE_TEXT,    /* what ncu prints by default, no CSV */
    GPU_PAGE_SUMMARY, /* nsys stats: one row a kernel name */
    GPU_PAGE_TABLE,   /* the same as text, no CSV */
};

/* Where a kernel is known from. */
struct gpu_known {
    unsigned kinds; /* a bit per enum gpu_page */
    unsigned last;  /* number of the last page that told of it */
};

struct gpu_import {
    struct arena *arena; /* keeps all texts */
    VEC_OF(struct gpu_kernel) kernels;
    VEC_OF(struct gpu_known) known; /* of each kernel */
    unsigned n_pages;
    VEC_OF(struct gpu_listing) listings;
    VEC_OF(struct str) ptx; /* the text of each module */
    size_t values;          /* kept so far */
    uint64_t rows, lost;
};

void gpu_import_free(struct gpu_import *in);

/* The page that a text holds, and where its header begins: what the program printed comes first. */
enum gpu_page gpu_page_of(struct str text, size_t *header);

/* Reads one file. ST_UNSUPPORTED when it is no such page, ST_FORMAT when it holds no launch. */
enum status gpu_ncu_read(struct gpu_import *in, const char *path, struct str text, struct diag *d);

#endif
