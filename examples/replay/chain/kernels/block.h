// A block of 64 x 64 numbers that a slot names.
#pragma once
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

using Block = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<1, 1, 1, 64, 1>>;
using Part = Tile<TileType::Vec, float, 64, 64>;

static __aicore__ __gm__ float *data_of(int64_t slot)
{
    __gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(slot);
    return reinterpret_cast<__gm__ float *>(t->buffer.addr) + t->start_offset;
}
