/*
 * insight_lanes - what MindStudio Insight knows of pipes and cores by their names: colours, places.
 */
#ifndef STRATA_RENDER_INSIGHT_LANES_H
#define STRATA_RENDER_INSIGHT_LANES_H

#include "capture/kinds.h"

#include <stdint.h>

/* The colour of a slice on a lane. */
const char *insight_color(struct str lane, enum slice_kind kind);

/* The place of a lane in the viewer; false when it has none. */
bool insight_order(struct str lane, int64_t *out);

/* core<N>.cubecore<M> is 3N+1, core<N>.veccore<M> is 3N+2+M; others go by their number. */
int64_t insight_core_order(struct str name, size_t number);

/* Whether Insight pairs B and E under this name. */
bool insight_is_pair(struct str name);

#endif
