// What a communication kernel finds behind its context argument.
#ifndef STRATA_PTO_COMM_CONTEXT_H
#define STRATA_PTO_COMM_CONTEXT_H

#include <cstdint>

struct CommContext {
    uint64_t workSpace, workSpaceSize;
    uint32_t rankId, rankNum;
    uint64_t winSize;
    uint64_t windowsIn[64], windowsOut[64];
};
static_assert(sizeof(CommContext) == 1056, "the runtime's context has 1056 bytes");

#endif
