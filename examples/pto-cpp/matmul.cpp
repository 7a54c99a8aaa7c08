// c = a b for a 64 x 256 and b 256 x 64, half in and float out. K goes by slices of 64 with two
// buffers of each kind, so that the next slice is loaded while this one is multiplied.
#include <pto/pto-inst.hpp>

#include "pipe_sync.h"
#include "tensor.h"

using namespace pto;

template <class T> static T *data_of(int64_t slot)
{
    auto *t = reinterpret_cast<ChipTensor *>(slot);
    return reinterpret_cast<T *>(t->buffer.addr) + t->start_offset;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    constexpr int kM = 64, kN = 64, kK = 256, kSlice = 64, kBytes = kM * kSlice * sizeof(half);
    using ViewA = GlobalTensor<half, Shape<1, 1, 1, kM, kSlice>, Stride<1, 1, 1, kK, 1>>;
    using ViewB = GlobalTensor<half, Shape<1, 1, 1, kSlice, kN>, Stride<1, 1, 1, kN, 1>>;
    using ViewC = GlobalTensor<float, Shape<1, 1, 1, kM, kN>, Stride<1, 1, 1, kN, 1>>;
    using Mat = Tile<TileType::Mat, half, kM, kSlice, BLayout::ColMajor, kM, kSlice,
                     SLayout::RowMajor, 512>;

    half *a = data_of<half>(args[0]), *b = data_of<half>(args[1]);
    Mat a1[2], b1[2];
    TileLeft<half, kM, kSlice> a0[2];
    TileRight<half, kSlice, kN> b0[2];
    TileAcc<float, kM, kN> sum;

    TASSIGN(sum, 0);
    for (int i = 0; i < 2; i++) {
        TASSIGN(a1[i], 2 * i * kBytes);
        TASSIGN(b1[i], (2 * i + 1) * kBytes);
        TASSIGN(a0[i], i * kBytes);
        TASSIGN(b0[i], i * kBytes);
        set_flag(PIPE_MTE1, PIPE_MTE2, i);
        set_flag(PIPE_M, PIPE_MTE1, i);
    }
    for (int i = 0; i < kK / kSlice; i++) {
        const int k = i % 2;
        ViewA from_a(a + i * kSlice);
        ViewB from_b(b + i * kSlice * kN);
        wait_flag(PIPE_MTE1, PIPE_MTE2, k);
        TLOAD(a1[k], from_a);
        TLOAD(b1[k], from_b);
        set_flag(PIPE_MTE2, PIPE_MTE1, k);
        wait_flag(PIPE_MTE2, PIPE_MTE1, k);
        wait_flag(PIPE_M, PIPE_MTE1, k);
        TMOV(a0[k], a1[k]);
        TMOV(b0[k], b1[k]);
        set_flag(PIPE_MTE1, PIPE_MTE2, k);
        set_flag(PIPE_MTE1, PIPE_M, k);
        wait_flag(PIPE_MTE1, PIPE_M, k);
        if (i == 0)
            TMATMUL(sum, a0[k], b0[k]);
        else
            TMATMUL_ACC(sum, sum, a0[k], b0[k]);
        set_flag(PIPE_M, PIPE_MTE1, k);
    }
    set_flag(PIPE_M, PIPE_FIX, 0);
    wait_flag(PIPE_M, PIPE_FIX, 0);
    ViewC to(data_of<float>(args[2]));
    TSTORE(to, sum);
    for (int i = 0; i < 2; i++) {
        wait_flag(PIPE_MTE1, PIPE_MTE2, i);
        wait_flag(PIPE_M, PIPE_MTE1, i);
    }
    pipe_sync();
}
