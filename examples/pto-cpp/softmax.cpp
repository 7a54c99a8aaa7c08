// y = softmax(x) over rows of 128 numbers. How many rows there are is in the tensor's shape.
#include <pto/pto-inst.hpp>

#include "pipe_sync.h"
#include "tensor.h"

using namespace pto;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    constexpr int kRows = 32, kCols = 128, kBytes = kRows * kCols * sizeof(float);
    using View = GlobalTensor<float, Shape<1, 1, 1, -1, kCols>, Stride<1, 1, 1, kCols, 1>>;
    using Vec = Tile<TileType::Vec, float, kRows, kCols, BLayout::RowMajor, -1, kCols>;
    using Column = Tile<TileType::Vec, float, kRows, 1, BLayout::ColMajor, -1, 1>;

    auto *x_tensor = reinterpret_cast<ChipTensor *>(args[0]);
    auto *y_tensor = reinterpret_cast<ChipTensor *>(args[1]);
    auto *x = reinterpret_cast<float *>(x_tensor->buffer.addr) + x_tensor->start_offset;
    auto *y = reinterpret_cast<float *>(y_tensor->buffer.addr) + y_tensor->start_offset;
    const int rows = static_cast<int>(x_tensor->shapes[0]);

    for (int first = 0; first < rows; first += kRows) {
        const int n = rows - first < kRows ? rows - first : kRows;
        View from(x + first * kCols, n), to(y + first * kCols, n);
        Vec value(n), scratch(n);
        Column most(n), sum(n);
        TASSIGN(value, 0);
        TASSIGN(scratch, kBytes);
        TASSIGN(most, 2 * kBytes);
        TASSIGN(sum, 2 * kBytes + kRows * (int)sizeof(float));

        TLOAD(value, from);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TROWMAX(most, value, scratch);
        pipe_barrier(PIPE_V);
        TROWEXPANDSUB(value, value, most);
        pipe_barrier(PIPE_V);
        TEXP(value, value);
        pipe_barrier(PIPE_V);
        TROWSUM(sum, value, scratch);
        pipe_barrier(PIPE_V);
        TROWEXPANDDIV(value, value, sum);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(to, value);
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    }
    pipe_sync();
}
