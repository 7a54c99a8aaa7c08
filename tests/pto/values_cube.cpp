// Small kernels of a cube core, one after the other (values.py has the models, in the same order).
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

constexpr int kM = 32, kK = 64, kN = 32, kArea = kM * kN;

template <class E> static E *data_of(int64_t slot)
{
    auto *t = reinterpret_cast<ChipTensor *>(slot);
    return reinterpret_cast<E *>(t->buffer.addr) + t->start_offset;
}

static int64_t *slots;
static int done[5]; // results by type: float, int32, half, bfloat16, int8

static void step()
{
    pipe_barrier(PIPE_ALL);
}

template <class E> static E *next()
{
    const int i = std::is_same_v<E, float> ? 0
                  : std::is_same_v<E, int32_t> ? 1
                  : std::is_same_v<E, half> ? 2
                  : std::is_same_v<E, bfloat16_t> ? 3
                                                  : 4;
    return data_of<E>(slots[8 + i]) + done[i]++ * kArea;
}

// Both factors in L1 and L0, and the product.
template <class E, class A, int M = kM, int N = kN> struct Product {
    using ViewA = GlobalTensor<E, Shape<1, 1, 1, M, kK>, Stride<1, 1, 1, kK, 1>>;
    using ViewB = GlobalTensor<E, Shape<1, 1, 1, kK, N>, Stride<1, 1, 1, kN, 1>>;
    Tile<TileType::Mat, E, kM, kK, BLayout::ColMajor, M, kK, SLayout::RowMajor, 512> a1;
    Tile<TileType::Mat, E, kK, kN, BLayout::ColMajor, kK, N, SLayout::RowMajor, 512> b1;
    TileLeft<E, kM, kK, M, kK> a0;
    TileRight<E, kK, kN, kK, N> b0;
    TileAcc<A, kM, kN, M, N> c;

    Product(int slot_a, int slot_b)
    {
        TASSIGN(a1, 0x0);
        TASSIGN(b1, 0x8000);
        TASSIGN(a0, 0x0);
        TASSIGN(b0, 0x0);
        TASSIGN(c, 0x0);
        ViewA from_a(data_of<E>(slots[slot_a]));
        ViewB from_b(data_of<E>(slots[slot_b]));
        step();
        TLOAD(a1, from_a);
        TLOAD(b1, from_b);
        step();
        TMOV(a0, a1);
        TMOV(b0, b1);
        step();
        TMATMUL(c, a0, b0);
        step();
    }
    template <class Out> auto view()
    {
        return GlobalTensor<Out, Shape<1, 1, 1, M, N>, Stride<1, 1, 1, N, 1>>(next<Out>());
    }
    template <class Out> void store()
    {
        auto to = view<Out>();
        TSTORE(to, c);
        step();
    }
};

// K in two halves that are taken out of the tiles in L1.
static void halves()
{
    Product<half, float> x(0, 1);
    TileLeft<half, kM, kK / 2> a;
    TileRight<half, kK / 2, kN> b;
    TASSIGN(a, 0x4000);
    TASSIGN(b, 0x4000);
    for (int k = 0; k < kK; k += kK / 2) {
        TEXTRACT(a, x.a1, 0, k);
        TEXTRACT(b, x.b1, k, 0);
        step();
        if (k == 0)
            TMATMUL(x.c, a, b);
        else
            TMATMUL_ACC(x.c, x.c, a, b);
        step();
    }
    x.store<float>();
}

// b is stored by columns.
static void turned()
{
    Product<half, float> x(0, 1);
    GlobalTensor<half, Shape<1, 1, 1, kK, kN>, Stride<1, 1, 1, 1, kK>, Layout::DN> from(data_of<half>(slots[1]));
    Tile<TileType::Mat, half, kK, kN, BLayout::RowMajor, kK, kN, SLayout::ColMajor, 512> b1;
    TASSIGN(b1, 0x10000);
    TLOAD(b1, from);
    step();
    TMOV(x.b0, b1);
    step();
    TMATMUL(x.c, x.a0, x.b0);
    step();
    x.store<float>();
}

static void biased()
{
    Product<half, float> x(0, 1);
    GlobalTensor<float, Shape<1, 1, 1, 1, kN>, Stride<1, 1, 1, kN, 1>> from(data_of<float>(slots[4]));
    Tile<TileType::Mat, float, 1, kN> bias1;
    Tile<TileType::Bias, float, 1, kN> bias0;
    TASSIGN(bias1, 0x20000);
    TASSIGN(bias0, 0x0);
    TLOAD(bias1, from);
    step();
    TMOV(bias0, bias1);
    step();
    TMATMUL_BIAS(x.c, x.a0, x.b0, bias0);
    step();
    x.store<float>();
}

// (a b) b': the first product goes back to L1 as half.
static void chain()
{
    Product<half, float> x(0, 1);
    Tile<TileType::Mat, half, kM, kN, BLayout::ColMajor, kM, kN, SLayout::RowMajor, 512> product;
    TileLeft<half, kM, kN> left;
    TileRight<half, kN, kN> right;
    TileAcc<float, kM, kN> c;
    TASSIGN(product, 0x20000);
    TASSIGN(left, 0x4000);
    TASSIGN(right, 0x4000);
    TASSIGN(c, 0x4000);
    TMOV(product, x.c);
    step();
    TMOV(left, product);
    TEXTRACT(right, x.b1, 0, 0);
    step();
    TMATMUL(c, left, right);
    step();
    auto to = x.view<float>();
    TSTORE(to, c);
    step();
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    slots = args;
    Product<half, float>(0, 1).store<float>();
    Product<bfloat16_t, float>(2, 3).store<float>();
    Product<float, float>(4, 5).store<float>();
    Product<int8_t, int32_t>(6, 7).store<int32_t>();
    Product<half, float, 10, 20>(0, 1).store<float>();
    Product<half, float>(0, 1).store<half>();
    Product<half, float>(0, 1).store<bfloat16_t>();
    halves();
    turned();
    biased();
    chain();
    {
        Product<half, float> x(0, 1); // twice into the accumulator
        TMATMUL_ACC(x.c, x.a0, x.b0);
        step();
        x.store<float>();
    }
    {
        Product<half, float> x(0, 1); // no negative numbers
        auto to = x.view<float>();
        TSTORE<decltype(x.c), decltype(to), AtomicType::AtomicNone, ReluPreMode::NormalRelu>(to, x.c);
        step();
    }
    {
        Product<half, float> x(0, 1); // added to what is there
        auto to = x.view<float>();
        TSTORE(to, x.c);
        step();
        TSTORE<decltype(x.c), decltype(to), AtomicType::AtomicAdd>(to, x.c);
        step();
    }
    {
        Product<int8_t, int32_t> x(6, 7); // scaled on the way out
        auto to = x.view<half>();
        const float scale = 0.0078125f;
        uint32_t bits;
        memcpy(&bits, &scale, 4);
        TSTORE<decltype(x.c), decltype(to)>(to, x.c, (uint64_t)bits);
        step();
    }
    {
        Product<half, float> x(0, 1); // by boxes of 16 rows
        GlobalTensor<float, TileShape2D<float, kM, kN, Layout::NZ>, BaseShape2D<float, kM, kN, Layout::NZ>, Layout::NZ>
            to(next<float>());
        TSTORE(to, x.c);
        step();
    }
}
