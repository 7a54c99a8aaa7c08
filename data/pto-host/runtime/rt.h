// What launchers ask the host's runtime for.
#ifndef STRATA_PTO_RT_H
#define STRATA_PTO_RT_H

#include <cstdint>

using rtStream_t = void *;
using rtError_t = int;

// The flags between cores need no memory here.
inline rtError_t rtGetC2cCtrlAddr(uint64_t *addr, uint32_t *size)
{
    *addr = 0;
    *size = 0;
    return 0;
}

#endif
