// Caches of the processor that runs an orchestration: nothing to do on this machine.
#ifndef STRATA_PTO_CACHE_MAINTENANCE_H
#define STRATA_PTO_CACHE_MAINTENANCE_H

#include <cstddef>

inline void cache_invalidate_range(const void *, size_t) {}
inline void cache_flush_range(const void *, size_t) {}

#endif
