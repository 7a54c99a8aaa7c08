// What wrappers call of the device's functions.
#pragma once
#include <cstdint>
enum event_t { EVENT_ID0 };
enum pipe_t { PIPE_S };
inline int64_t get_block_idx()
{
    return 0;
}
inline int64_t get_subblockdim()
{
    return 2;
}
inline int64_t get_subblockid()
{
    return 0;
}
