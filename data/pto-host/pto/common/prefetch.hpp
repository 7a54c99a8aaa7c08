// A kernel that brings a tensor into the cache before another one needs it: one is simulated at a
// time, so there is nothing to do.
#ifndef STRATA_PTO_PREFETCH_HPP
#define STRATA_PTO_PREFETCH_HPP

#include <acl/acl.h>
#include <pto/pto-inst.hpp>

namespace pto
{
template <class... A> inline void PTO_PREFETCH(A &&...) {}
} // namespace pto

#endif
