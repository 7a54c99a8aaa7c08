/*
 * trace_links - arrows from launches to their kernels where a trace has none.
 *
 * PyTorch's traces name the launch of every piece of device work twice: by an arrow and by the
 * number of its call (correlation). Tools that cut or filter traces drop the arrows, and all
 * kernels of a CUDA graph share the number of one launch; so work without an arrow gets one from
 * the first call of its number.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_LINKS_H
#define STRATA_INPUT_TRACE_TRACE_LINKS_H

#include "capture/capture.h"

/* Looks at the slices from `first` on, and at all arrows so far. */
void trace_links_add(struct capture *cap, size_t first);

#endif
