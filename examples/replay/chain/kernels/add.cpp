// y = y + t
#include "block.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    Block in(data_of(args[0])), sum(data_of(args[1]));
    Part a, b;
    TASSIGN(a, 0);
    TASSIGN(b, 64 * 64 * sizeof(float));
    TLOAD(a, in);
    TLOAD(b, sum);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(b, a, b);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(sum, b);
}
