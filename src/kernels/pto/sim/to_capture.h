/*
 * to_capture - a run of the simulator as a capture, for everything that draws or asks captures.
 *
 * A lane for each pipe of each core, named as the operator simulator names them
 * ("core0.cubecore0" MTE2), a slice for each instruction from its issue to its result, sets and
 * waits of flags with arrows between them. render/insight.h describes the form. Times are cycles.
 */
#ifndef STRATA_KERNELS_PTO_SIM_TO_CAPTURE_H
#define STRATA_KERNELS_PTO_SIM_TO_CAPTURE_H

#include "kernels/pto/cost/chips.h"
#include "kernels/pto/sim/sim.h"

struct capture;

/* The source of the kernel goes along: `path` and `text`. Sealed; capture_free() it. */
struct capture *pto_to_capture(const struct pto_sim *sim, const struct pto_chip *chip,
                               const char *path, struct str text);

#endif
