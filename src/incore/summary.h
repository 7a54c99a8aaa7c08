/*
 * summary - where a trace came from and what was found in it, as lines of key=value.
 */
#ifndef STRATA_INCORE_SUMMARY_H
#define STRATA_INCORE_SUMMARY_H

#include "incore/study.h"

/* NULL: not told. */
struct incore_origin {
    const char *kernel, *source, *workload, *soc, *target, *simulator, *command;
    struct words patched; /* control tensors that were replaced */
};

/* `date` as it is to be read. */
void incore_summary_write(const struct incore_study *s, const struct incore_origin *origin,
                          const char *date, struct text *out);

#endif
