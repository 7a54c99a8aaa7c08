// sij = qi * kj^T for one tile: the shell of a cube kernel, enough for a replay workspace.
#include <stdint.h>

extern "C" void kernel_entry(int64_t *args)
{
    const int64_t qi = args[0], kj = args[1], sij = args[2];
    const uint64_t head_dim = static_cast<uint64_t>(args[4]);
    const uint64_t block_size = static_cast<uint64_t>(args[5]);
    (void)qi, (void)kj, (void)sij, (void)head_dim, (void)block_size;
}
