// pij, mij and lij of one tile of sij: the shell of a vector kernel, enough for a replay workspace.
#include <stdint.h>

extern "C" void kernel_entry(int64_t *args)
{
    const int64_t sij = args[0], pij = args[1], mij = args[2], lij = args[3];
    const uint32_t scale_bits = static_cast<uint32_t>(args[4]);
    (void)sij, (void)pij, (void)mij, (void)lij, (void)scale_bits;
}
