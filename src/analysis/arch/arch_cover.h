/*
 * arch_cover - the reports of several ranks side by side: the same ten sections, one row a rank.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_COVER_H
#define STRATA_ANALYSIS_ARCH_ARCH_COVER_H

#include "base/arena.h"
#include "base/text/num.h"
#include "base/text/text.h"
#include "report/message.h"

struct arch;
struct study;

/* What the cover says of one rank. Texts live in the arena given to arch_cover_row_of(). */
struct arch_cover_row {
    int64_t rank;
    const char *file; /* of its own report, beside the cover */
    const char *method, *marker, *types;
    size_t kernels, streams, passes, partial, layers, decode_markers, checks, failed;
    double confidence, hidden_fraction;
    nanos span, exposed;
    double pass_wall, layer_wall; /* medians, in nanoseconds */
};

struct arch_cover_row arch_cover_row_of(struct study *st, const struct arch *a, enum lang lang,
                                        struct arena *arena);

void arch_cover_write(struct arena *arena, enum lang lang, const char *name,
                      const struct arch_cover_row *rows, size_t n, struct text *out);

#endif
