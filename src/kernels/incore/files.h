/*
 * files - what `strata incore clean` writes of a trace (docs/formats/incore-clean.md): the cleaned
 * trace, and the whole raw trace in a form that Perfetto draws. Its job adds a summary.
 */
#ifndef STRATA_KERNELS_INCORE_FILES_H
#define STRATA_KERNELS_INCORE_FILES_H

#include "kernels/incore/study.h"

/* Writes trace.clean.json; false when the sink failed. */
bool incore_clean_write(const struct incore_trace *t, const struct incore_lanes *lanes,
                        const struct incore_arrows *arrows, struct incore_watch watch,
                        struct sink sink);

/* The raw trace: nothing is left out, only rows are added where instructions overlap. Complete
 * events of cores, and pairs of B and E as complete events, are spread over the rows they need;
 * arrows go to the row of their flag. All other bytes of the text are copied. */
struct incore_lossless {
    uint64_t slices, pairs; /* complete events of cores, and pairs that became one */
    uint64_t unpaired;      /* begins and ends that stay as they are */
    uint64_t rows;          /* drawn */
};

/* Writes `text`, a whole trace. ST_FORMAT with `reason` (a literal) when it is no trace; nothing is
 * written then. What the sink makes of it is its own story. */
enum status incore_lossless_write(struct str text, struct sink sink, struct incore_lossless *told,
                                  const char **reason);

/* Where a trace came from; NULL: not told. */
struct incore_origin {
    const char *kernel, *source, *workload, *soc, *target, *simulator, *command;
    struct words patched; /* control tensors that were replaced */
};

#endif
