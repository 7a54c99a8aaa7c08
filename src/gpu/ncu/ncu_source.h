/*
 * ncu_source - the source pages of Nsight Compute: instructions with their samples, and the lines
 * of source they come from.
 */
#ifndef STRATA_GPU_NCU_NCU_SOURCE_H
#define STRATA_GPU_NCU_NCU_SOURCE_H

#include "base/diag.h"
#include "base/files/sink.h"
#include "base/formats/csv.h"
#include "base/tables/vec.h"
#include "gpu/judge/kernel.h"

enum {
    GPU_SASS_CELLS = 16,  /* columns of sass/<kernel>.csv between line and the stalls */
    GPU_SASS_INST = 2,    /* the one with the executed instructions */
    GPU_SASS_STALLS = 64, /* stall columns, both forms together */
    GPU_SASS_ROWS = 1 << 20,
};

struct gpu_sass {
    uint64_t pc;
    struct str text, file;
    uint64_t line; /* 0: not known */
    size_t order;  /* of its row in the page */
    struct str cells[GPU_SASS_CELLS];
    const double *stalls; /* GPU_SASS_STALLS of them, by the listing's names; NAN: missing */
    double samples;
};

struct gpu_line {
    struct str file, text;
    uint64_t line;
    double samples, inst;
    struct str stall; /* the most frequent reason */
};

/* One launch of one kernel. */
struct gpu_listing {
    struct str kernel;
    VEC_OF(struct gpu_sass) sass;   /* by pc after gpu_listing_finish() */
    VEC_OF(struct gpu_line) lines;  /* in the order of the page */
    VEC_OF(struct str) stall_names; /* "stall_wait", "stall_wait_not_issued" */
    double samples;                 /* of all instructions */
};

struct gpu_import;

/* Reads a whole source page; `line_base` lines of the file stand before it. */
void gpu_source_read(struct gpu_import *in, const char *path, struct str text, uint64_t line_base,
                     struct diag *d);

/* The name of a column, below GPU_SASS_CELLS. */
struct str gpu_sass_cell(size_t i);

/* Percent of the listing's samples; the main one of GPU_SASS_STALLS reasons, or an empty text; its
 * lines, those with most samples first. */
double gpu_listing_share(const struct gpu_listing *l, double samples);
struct str gpu_listing_stall(const struct gpu_listing *l, const double *stalls);
const struct gpu_line **gpu_hot_lines(struct arena *arena, const struct gpu_listing *l);

/* Hangs the ten hottest instructions and lines of a listing on a kernel. */
void gpu_listing_attach(struct arena *arena, const struct gpu_listing *l, struct gpu_kernel *k);

/* The same for each listing and its kernel. */
void gpu_source_attach(struct gpu_import *in);

/* sass/<kernel>.csv. */
bool gpu_sass_write(const struct gpu_listing *l, struct sink sink);

/* The lines of one file with a margin `samples% | inst | stall`. */
bool gpu_annotated_write(const struct gpu_listing *l, struct str file, struct sink sink);

void gpu_listing_free(struct gpu_listing *l);

/*
 * The PTX page of Nsight Compute: the text that each module was compiled from.
 *
 * Two columns, "Line No" and "Source", one listing a module; rows that name a file or a kernel may
 * stand before it.
 */

enum { GPU_PTX_MODULES = 4096 };

struct gpu_import;
struct gpu_run;

/* Whether this line is the header of such a listing. */
bool gpu_ptx_is_header(struct str line);

/* Reads a whole page, of which `line_base` lines stand before; equal modules are kept once. */
void gpu_ptx_read(struct gpu_import *in, const char *path, struct str text, uint64_t line_base,
                  struct diag *d);

/* The kernels of the modules, where no other page has brought any. */
void gpu_ptx_attach(struct gpu_import *in);

/* ptx/<kernel>.ptx for every kernel of the run that a module has. */
enum status gpu_ptx_write(const char *dir, const struct gpu_import *in, const struct gpu_run *run,
                          struct diag *d);

/*
 * What the tools of the CUDA toolkit print of compiled code: instructions with their
 * source lines (nvdisasm -g -c) and PTX (cuobjdump -ptx).
 */

/* The instructions of one function, by its mangled name; the listing's kernel stays as it is.
 * `text` must outlive it. False when there are none. */
bool gpu_disasm_sass(struct str text, struct str function, struct gpu_listing *out);

/* The part of `text` that is the PTX of the module with this kernel; empty: none. */
struct str gpu_disasm_ptx(struct str text, struct str kernel);

#endif
