/*
 * clean - the cleaned trace as a document: rows, instructions, arrows
 * (docs/formats/incore-clean.md).
 */
#ifndef STRATA_INCORE_CLEAN_H
#define STRATA_INCORE_CLEAN_H

#include "base/sink.h"
#include "incore/flags.h"

/* Writes trace.clean.json; false when the sink failed. */
bool incore_clean_write(const struct incore_trace *t, const struct incore_lanes *lanes,
                        const struct incore_arrows *arrows, struct incore_watch watch,
                        struct sink sink);

#endif
