/*
 * summary_file - a rank's summary as bytes, for caches and other processes.
 *
 *     "strataRS", version, length of the rest (8 bytes each), CRC32C of the rest (4), the rest
 *
 * The rest is numbers of variable length and counted texts. A reader checks every length and every
 * place that refers to another; what is not exactly right is refused as a whole.
 */
#ifndef STRATA_ANALYSIS_RANKS_SUMMARY_FILE_H
#define STRATA_ANALYSIS_RANKS_SUMMARY_FILE_H

#include "analysis/ranks/rank_summary.h"

enum { SUMMARY_VERSION = 2 };

/* At most SUMMARY_MOST bytes; calls of the last steps are cut for that, which is counted in the
 * summary written and in `s`. */
struct str summary_encode(struct rank_summary *s, struct arena *arena);

/* False: the bytes are no summary of this version. Texts live in the arena. */
bool summary_decode(struct str bytes, struct arena *arena, struct rank_summary *out);

#endif
