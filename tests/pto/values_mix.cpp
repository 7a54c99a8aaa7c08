// Cube and vector cores together (values.py has the models): scores go to the vector cores, which
// send weights back to the cube core: out = relu(a b) b', and what each lane saw. Then out goes
// through a FIFO of two slots three times, as views of global memory.
#include <pto/pto-inst.hpp>

#include "intrinsic.h"
#include "tensor.h"

using namespace pto;

constexpr int kM = 32, kN = 32, kSlot = kM * kN * (int)sizeof(float);

template <class E> static E *data_of(int64_t slot)
{
    auto *t = reinterpret_cast<ChipTensor *>(slot);
    return reinterpret_cast<E *>(t->buffer.addr) + t->start_offset;
}

static void step()
{
    pipe_barrier(PIPE_ALL);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    using Both = TPipe<0, DIR_BOTH, kSlot, 2>;
    Both pipe(data_of<float>(args[4]), 0x0, 0x20000);
    using Slots = TPipe<4, DIR_C2V, kSlot, 2>;
    Slots slots(data_of<float>(args[5]), 0x10000, 0x0);
    static_assert(Slots::RingFiFo::SLOT_NUM == 2, "as it was given");

#ifdef __DAV_CUBE__
    using View = GlobalTensor<float, Shape<1, 1, 1, kM, kN>, Stride<1, 1, 1, kN, 1>>;
    using Mat = Tile<TileType::Mat, float, kM, kN, BLayout::ColMajor, kM, kN, SLayout::RowMajor, 512>;
    Mat a1, b1, back;
    TileLeft<float, kM, kN> left;
    TileRight<float, kN, kN> right;
    TileAcc<float, kM, kN> c;
    View a(data_of<float>(args[0])), b(data_of<float>(args[1])), to(data_of<float>(args[2]));

    TASSIGN(a1, 0x0);
    TASSIGN(b1, 0x4000);
    TASSIGN(left, 0x0);
    TASSIGN(right, 0x0);
    TASSIGN(c, 0x0);
    TLOAD(a1, a);
    TLOAD(b1, b);
    step();
    TMOV(left, a1);
    TMOV(right, b1);
    step();
    TMATMUL(c, left, right);
    step();
    TPUSH<Both, decltype(c), TileSplitAxis::TILE_UP_DOWN>(pipe, c);
    TPOP<Both, Mat, TileSplitAxis::TILE_UP_DOWN>(pipe, back);
    step();
    TMOV(left, back);
    step();
    TMATMUL(c, left, right);
    step();
    TSTORE(to, c);
    TFREE<Both, TileSplitAxis::TILE_UP_DOWN>(pipe);
    for (int i = 0; i < 3; i++) {
        View slot;
        TALLOC<Slots, View, TileSplitAxis::TILE_UP_DOWN>(slots, slot);
        TSTORE(slot, c);
        TPUSH<Slots, View, TileSplitAxis::TILE_UP_DOWN>(slots, slot);
    }
#endif
#ifdef __DAV_VEC__
    using Vec = Tile<TileType::Vec, float, kM / 2, kN>;
    using Boxed = Tile<TileType::Vec, float, kM / 2, kN, BLayout::ColMajor, kM / 2, kN, SLayout::RowMajor, 512>;
    using View = GlobalTensor<float, Shape<1, 1, 1, kM / 2, kN>, Stride<1, 1, 1, kN, 1>>;
    Vec x, y;
    Boxed boxed;
    View seen(data_of<float>(args[3]) + get_sub_block_id(args) * kM / 2 * kN);

    TASSIGN(y, 0x8000);
    TASSIGN(boxed, 0xc000);
    TPOP<Both, Vec, TileSplitAxis::TILE_UP_DOWN>(pipe, x);
    step();
    TRELU(y, x);
    step();
    TSTORE(seen, y);
    TMOV(boxed, y);
    TFREE<Both, TileSplitAxis::TILE_UP_DOWN>(pipe);
    step();
    TPUSH<Both, Boxed, TileSplitAxis::TILE_UP_DOWN>(pipe, boxed);
    for (int i = 0; i < 3; i++) {
        View half, copy(data_of<float>(args[6]) + (i * 2 + get_sub_block_id(args)) * kM / 2 * kN);
        TPOP<Slots, View, TileSplitAxis::TILE_UP_DOWN>(slots, half);
        TLOAD(y, half);
        step();
        TSTORE(copy, y);
        TFREE<Slots, View, TileSplitAxis::TILE_UP_DOWN>(slots, half);
        step();
    }
#endif
}
