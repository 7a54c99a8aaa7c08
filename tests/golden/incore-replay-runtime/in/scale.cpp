// y = x * factor, 16 rows at a time: the shell of a vector kernel, enough for a replay workspace.
#include <stdint.h>

extern "C" void kernel_entry(int64_t *args)
{
    const int64_t x = args[0], y = args[1], factor_bits = args[2], rounds = args[3];
    (void)x, (void)y, (void)factor_bits, (void)rounds;
}
