/*
 * kernel_families - what kind of work each kernel does, as the accounting has it.
 *
 * The family of a kernel needs its launch, the operators around that and their types, which the
 * tasks of the accounting know. Tables by family ask here.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_KERNEL_FAMILIES_H
#define STRATA_ANALYSIS_DIAGNOSE_KERNEL_FAMILIES_H

#include <stdint.h>

struct study;

struct kernel_families {
    const uint8_t *of_slice; /* enum kernel_family; FAMILY_OTHER of what is no compute kernel */
};

/* Of all devices; use study_kernel_families(), which remembers it. */
const struct kernel_families *kernel_families_find(struct study *st);

#endif
