/*
 * lossless - the whole raw trace in a form that Perfetto draws: nothing is left out, only rows are
 * added where instructions overlap (docs/formats/incore-clean.md).
 *
 * Complete events of cores, and pairs of B and E as complete events, are spread over the rows they
 * need; arrows go to the row of their flag. All other bytes of the text are copied.
 */
#ifndef STRATA_INCORE_LOSSLESS_H
#define STRATA_INCORE_LOSSLESS_H

#include "base/intern.h"
#include "base/sink.h"
#include "base/status.h"

struct incore_lossless {
    uint64_t slices, pairs; /* complete events of cores, and pairs that became one */
    uint64_t unpaired;      /* begins and ends that stay as they are */
    uint64_t rows;          /* drawn */
};

/* Writes `text`, a whole trace. ST_FORMAT with `reason` (a literal) when it is no trace; nothing is
 * written then. What the sink makes of it is its own story. */
enum status incore_lossless_write(struct str text, struct sink sink, struct incore_lossless *told,
                                  const char **reason);

#endif
