/*
 * incore_clock - the clock that traces and logs of a core are read with: --mhz, or that of --chip.
 */
#ifndef STRATA_CLI_KERNEL_INCORE_CLOCK_H
#define STRATA_CLI_KERNEL_INCORE_CLOCK_H

#include "cli/session.h"

struct incore_clock {
    double mhz; /* 0: not given */
    const char *chip;
};

#define INCORE_CLOCK_MHZ(struct_, member)                                                          \
    OPT_DOUBLE(0, "clock-mhz", "MHZ", struct_, member.mhz,                                         \
               "core clock in MHz (default: of --chip, else 1850)", .alias = "mhz")
#define INCORE_CLOCK_CHIP(struct_, member)                                                         \
    OPT_STRING(0, "chip", "NAME", struct_, member.chip, "chip that was simulated, for its clock",  \
               .alias = "soc")

/* The clock in MHz; 0: not known. CODE_DONE, or what to return: a wrong number, a chip that is not
 * in the table. */
int incore_clock(struct session *s, const struct incore_clock *c, double *mhz);

#endif
