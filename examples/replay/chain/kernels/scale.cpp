// t = factor x
#include "block.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    float factor;
    Block in(data_of(args[0])), out(data_of(args[1]));
    Part a;
    __builtin_memcpy(&factor, &args[2], sizeof(factor));
    TASSIGN(a, 0);
    TLOAD(a, in);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(a, a, factor);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, a);
}
