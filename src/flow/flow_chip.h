/*
 * flow_chip - the chip of a capture that does not name its own (text exports of Ascend).
 */
#ifndef STRATA_FLOW_FLOW_CHIP_H
#define STRATA_FLOW_FLOW_CHIP_H

#include "base/diag.h"
#include "capture/capture.h"

/* What analyses then compare kernels with; NULL: as named by the capture. */
enum status flow_chip(struct capture *cap, const char *chip, struct diag *d);

#endif
