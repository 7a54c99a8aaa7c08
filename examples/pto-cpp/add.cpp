// c = a + b, 64 rows of 128 numbers: two tiles at a time, so that loads, sums and stores overlap.
#include <pto/pto-inst.hpp>

#include "pipe_sync.h"
#include "tensor.h"

using namespace pto;

static float *data_of(int64_t slot)
{
    auto *t = reinterpret_cast<ChipTensor *>(slot);
    return reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    constexpr int kRows = 16, kCols = 128, kTiles = 4, kBytes = kRows * kCols * sizeof(float);
    using View = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
    using Vec = Tile<TileType::Vec, float, kRows, kCols>;

    float *a = data_of(args[0]), *b = data_of(args[1]), *c = data_of(args[2]);
    Vec left[2], right[2];
    for (int i = 0; i < 2; i++) {
        TASSIGN(left[i], 2 * i * kBytes);
        TASSIGN(right[i], (2 * i + 1) * kBytes);
        set_flag(PIPE_MTE3, PIPE_MTE2, i);
    }
    for (int i = 0; i < kTiles; i++) {
        const int k = i % 2, at = i * kRows * kCols;
        View from_a(a + at), from_b(b + at), to(c + at);
        wait_flag(PIPE_MTE3, PIPE_MTE2, k);
        TLOAD(left[k], from_a);
        TLOAD(right[k], from_b);
        set_flag(PIPE_MTE2, PIPE_V, k);
        wait_flag(PIPE_MTE2, PIPE_V, k);
        TADD(left[k], left[k], right[k]);
        set_flag(PIPE_V, PIPE_MTE3, k);
        wait_flag(PIPE_V, PIPE_MTE3, k);
        TSTORE(to, left[k]);
        set_flag(PIPE_MTE3, PIPE_MTE2, k);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
    pipe_sync();
}
