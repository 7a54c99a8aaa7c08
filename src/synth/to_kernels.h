/*
 * to_kernels - the kernel tables: kernel_details.csv in its generations and levels, op_summary.
 */
#ifndef STRATA_SYNTH_TO_KERNELS_H
#define STRATA_SYNTH_TO_KERNELS_H

#include "synth/to.h"

void to_kernels_head(struct put *p, const struct dialect *d, bool is_summary);
void to_kernels_row(struct put *p, const struct dialect *d, bool is_summary, const struct rank *r,
                    const struct task *t);

#endif
