/*
 * arch_draw - the pictures of an architecture report, line by line: kernel trees, the pipeline of
 * streams, the model as a box, the timeline of a pass. Markdown prints them, JSON carries them.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_DRAW_H
#define STRATA_ANALYSIS_ARCH_ARCH_DRAW_H

#include "analysis/arch/arch.h"

struct drawing {
    struct str *lines;
    size_t n;
};

/* What happens in the representative layer of a type, in order. */
struct drawing arch_draw_tree(struct study *st, const struct arch *a, const struct arch_type *type,
                              enum lang lang);

/* One line a stream, to scale, from the representative layer on. */
struct drawing arch_draw_pipeline(struct study *st, const struct arch *a, enum lang lang);

struct drawing arch_draw_model(struct study *st, const struct arch *a, enum lang lang);
struct drawing arch_draw_timeline(struct study *st, const struct arch *a, enum lang lang);

/* Milliseconds with three significant digits: "11.1", "0.903", "28". */
struct str arch_ms(struct arena *arena, double ns);

/* Stream of a lane as the profile names it. */
struct str arch_stream_name(struct study *st, uint32_t lane);

/* "Dense", "MoE+GMM, prefill", "MoE, MLA, backward". */
struct str arch_type_title(struct arena *arena, const struct arch_type *type, enum lang lang);

#endif
