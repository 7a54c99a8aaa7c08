/*
 * incore_perfetto - a cleaned trace in Perfetto's own format.
 */
#ifndef STRATA_FLOW_INCORE_PERFETTO_H
#define STRATA_FLOW_INCORE_PERFETTO_H

#include "incore/study.h"

/* False: the sink failed. */
bool incore_perfetto_write(const struct incore_study *s, struct sink out);

#endif
