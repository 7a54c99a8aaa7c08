/*
 * to_capture - a cleaned trace as a capture, for everything that draws or asks captures.
 */
#ifndef STRATA_INCORE_TO_CAPTURE_H
#define STRATA_INCORE_TO_CAPTURE_H

#include "incore/flags.h"

struct capture;

/* A lane for each row that is drawn, in the order of the rows, with its instructions, and an arrow
 * for each pair of flags. Sealed; capture_free() it. */
struct capture *incore_to_capture(const struct incore_trace *t, const struct incore_lanes *lanes,
                                  const struct incore_arrows *arrows);

#endif
