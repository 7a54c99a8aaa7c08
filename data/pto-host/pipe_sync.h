// The end of a kernel: the scalar unit waits for the last output.
#ifndef STRATA_PTO_PIPE_SYNC_H
#define STRATA_PTO_PIPE_SYNC_H

#include <pto/common/intrinsics.hpp>

inline void pipe_sync(strata_pto::place at = strata_pto::place())
{
#ifdef __DAV_CUBE__
    constexpr pipe_t last = PIPE_FIX;
#else
    constexpr pipe_t last = PIPE_MTE3;
#endif
    set_flag(last, PIPE_S, EVENT_ID7, at);
    wait_flag(last, PIPE_S, EVENT_ID7, at);
}

#endif
