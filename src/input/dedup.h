/*
 * dedup - one collective counts once, however many rows tell of it.
 *
 * Works on a capture that is not sealed yet. Three rules, described in docs/formats/bundles.md: a
 * collective listed on two streams becomes one slice; the device halves of a collective are told
 * from collectives of their own; the AICPU twin of a fused operator is communication. Time is near
 * linear in the number of kernels.
 */
#ifndef STRATA_INPUT_TRACE_DEDUP_H
#define STRATA_INPUT_TRACE_DEDUP_H

#include "capture/capture.h"

/* Also sets cap->kernels_read, the number of kernels before. Gives the number of slices joined. */
size_t dedup_kernels(struct capture *cap);

/* Removes the slices whose keep[i] is not i; arrows to them lead to slice keep[i] from then on, or
 * go with them when that is UINT32_MAX. */
void dedup_drop(struct capture *cap, const uint32_t *keep);

#endif
