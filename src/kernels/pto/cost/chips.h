/*
 * chips - the Ascend chips that kernels are timed for: cores and clock (data/pto/chips.csv).
 */
#ifndef STRATA_KERNELS_PTO_COST_CHIPS_H
#define STRATA_KERNELS_PTO_COST_CHIPS_H

#include "base/diag.h"
#include "kernels/pto/text/types.h"

struct pto_chip {
    struct str name; /* "Ascend910B1" */
    enum pto_arch arch;
    int32_t aic; /* cores; 0: not published */
    double mhz;
    double trace_mhz; /* the clock its profiler turns cycles into time with */
};

/* The chip of that name (the word Ascend may be left out), or, for an empty name, the first one of
 * the architecture. ST_NOT_FOUND, with the known names as hints. */
enum status pto_chip_find(struct str name, enum pto_arch arch, struct pto_chip *out,
                          struct diag *d);

#endif
