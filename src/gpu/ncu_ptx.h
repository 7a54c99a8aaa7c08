/*
 * ncu_ptx - the PTX page of Nsight Compute: the text that each module was compiled from.
 *
 * Two columns, "Line No" and "Source", one listing a module; rows that name a file or a kernel may
 * stand before it.
 */
#ifndef STRATA_GPU_NCU_PTX_H
#define STRATA_GPU_NCU_PTX_H

#include "base/diag.h"
#include "base/vec.h"

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

#endif
