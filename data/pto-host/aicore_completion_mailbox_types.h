// Tokens by which a kernel tells the runtime what its task still waits for.
#ifndef STRATA_PTO_COMPLETION_TYPES_H
#define STRATA_PTO_COMPLETION_TYPES_H

#include <cstdint>

enum { COMPLETION_ENGINE_SDMA, COMPLETION_ENGINE_URMA, COMPLETION_ENGINE_NOTIFY };
enum { COMPLETION_TYPE_COUNTER, COMPLETION_TYPE_EVENT };
constexpr int32_t MAX_COMPLETIONS_PER_TASK = 64;
constexpr int32_t PTO2_ERROR_ASYNC_COMPLETION_INVALID = 101;

struct CompletionToken {
    uint64_t addr;
    uint32_t expected;
    uint32_t engine, type, flags;
};

#endif
