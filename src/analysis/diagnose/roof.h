/*
 * roof - how long work takes at the rates that good kernels reach: a part of a device's peak, or of
 * its bandwidth (analysis/diagnose/limits.h).
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_ROOF_H
#define STRATA_ANALYSIS_DIAGNOSE_ROOF_H

#include "device/device.h"
#include "ops/tensor_shapes.h"

enum roof_kind { ROOF_PRODUCT, ROOF_CONVOLUTION, ROOF_ATTENTION };

/* Nanoseconds at `percent` of a peak, or of the bandwidth; 0 when it is not known. */
double roof_flops_time(const struct device *d, double flops, enum peak peak, int percent);
double roof_bytes_time(const struct device *d, double bytes, int percent);

/* The peak of tensor cores for inputs of this type; doubles count as floats. */
enum peak roof_peak(struct tensor_type type);

/* Percent of that peak that good kernels reach. `head` is the size of a head of attention. */
int roof_percent(enum roof_kind kind, enum peak peak, double head);

#endif
