/*
 * machine - what this machine has left.
 */
#ifndef STRATA_BASE_MACHINE_H
#define STRATA_BASE_MACHINE_H

#include <stdint.h>

/* Bytes that a program can still get: what is free and what caches would give back, within the
 * limit of the control group that it runs in. 0: nobody tells. */
int64_t machine_memory(void);

#endif
