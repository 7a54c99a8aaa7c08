/*
 * disasm - what the tools of the CUDA toolkit print of compiled code: instructions with their
 * source lines (nvdisasm -g -c) and PTX (cuobjdump -ptx).
 */
#ifndef STRATA_GPU_DISASM_H
#define STRATA_GPU_DISASM_H

#include "gpu/ncu_source.h"

/* The instructions of one function, by its mangled name; the listing's kernel stays as it is.
 * `text` must outlive it. False when there are none. */
bool gpu_disasm_sass(struct str text, struct str function, struct gpu_listing *out);

/* The part of `text` that is the PTX of the module with this kernel; empty: none. */
struct str gpu_disasm_ptx(struct str text, struct str kernel);

#endif
