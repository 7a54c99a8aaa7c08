/*
 * roof - how long work takes at the rates that good kernels reach: a part of a device's peak, or of
 * its bandwidth (analysis/diagnose/limits.h).
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_ROOF_H
#define STRATA_ANALYSIS_DIAGNOSE_ROOF_H

#include "device/device.h"

enum roof_kind { ROOF_PRODUCT, ROOF_CONVOLUTION, ROOF_ATTENTION };

/* The device of a capture: a row of the table, or what the recording says of it; an Ascend capture
 * that does not name its device is compared with one of them (`is_assumed`, may be NULL). NULL:
 * nothing is known. It lives in the study. */
struct study;
const struct device *roof_device(struct study *st, bool *is_assumed);

/* Nanoseconds at `percent` of a peak, or of the bandwidth; 0 when it is not known. */
double roof_flops_time(const struct device *d, double flops, enum peak peak, int percent);
double roof_bytes_time(const struct device *d, double bytes, int percent);

/* Whether TF32 makes products of floats faster: parts before Ampere have none, and on GeForce parts
 * it is as fast as fp32. */
bool roof_has_tf32(const struct device *d);

/* The peak of tensor cores that products of floats could use: TF32, or half precision where that
 * is no faster. And how many times faster than plain fp32 good kernels are there. */
enum peak roof_float_peak(const struct device *d);
double roof_float_gain(const struct device *d);

/* Percent of that peak that good kernels reach on a device. `head` is the size of a head of
 * attention. */
int roof_percent(const struct device *d, enum roof_kind kind, enum peak peak, double head);

#endif
