// All requests in one launch: the shell of a mixed kernel, enough for a replay workspace.
#include <stdint.h>

extern "C" void kernel_entry(int64_t *args)
{
    const int64_t query = args[0], out = args[5], blocks = args[15], q_tile = args[16];
    const int64_t local = args[48], global = args[49];
    (void)query, (void)out, (void)blocks, (void)q_tile, (void)local, (void)global;
}
