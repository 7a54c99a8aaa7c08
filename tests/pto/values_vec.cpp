// Small kernels of a vector core, one after the other: each writes what it computes to its own
// part of an output (values.py has the models, in the same order).
#include <cmath>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

constexpr int kRows = 16, kCols = 64, kArea = kRows * kCols;

template <class E> using Whole = GlobalTensor<E, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
template <class E> using Part = GlobalTensor<E, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>>;
template <class E> using Vec = Tile<TileType::Vec, E, kRows, kCols>;
template <class E> using Some = Tile<TileType::Vec, E, kRows, kCols, BLayout::RowMajor, -1, -1>;
using Column = Tile<TileType::Vec, float, kRows, 1, BLayout::ColMajor>;
using Row = Tile<TileType::Vec, float, 1, kCols>;

template <class E> static E *data_of(int64_t slot)
{
    auto *t = reinterpret_cast<ChipTensor *>(slot);
    return reinterpret_cast<E *>(t->buffer.addr) + t->start_offset;
}

static int64_t *slots;
static int n_floats, n_ints, n_halves, n_bfloats, n_bytes;

static void step()
{
    pipe_barrier(PIPE_ALL);
}

template <class E, class T> static void put(int slot, int &n, const T &tile, int rows, int cols)
{
    Part<E> to(data_of<E>(slots[slot]) + n++ * kArea, {rows, cols}, {cols});
    step();
    TSTORE(to, tile);
    step();
}
template <class T> static void put(const T &tile, int rows = kRows, int cols = kCols)
{
    using E = typename T::DType;
    if constexpr (std::is_same_v<E, float>)
        put<E>(6, n_floats, tile, rows, cols);
    else if constexpr (std::is_same_v<E, int32_t>)
        put<E>(7, n_ints, tile, rows, cols);
    else if constexpr (std::is_same_v<E, half>)
        put<E>(8, n_halves, tile, rows, cols);
    else if constexpr (std::is_same_v<E, bfloat16_t>)
        put<E>(9, n_bfloats, tile, rows, cols);
    else
        put<E>(10, n_bytes, tile, rows, cols);
}

// Tiles that every kernel may use.
struct Tiles {
    Vec<float> a, b, p, d, t;
    Vec<int32_t> i, j, e;
    Vec<half> h, g;
    Vec<bfloat16_t> f;
    Vec<int8_t> c;
    Column col, other;
    Row row;

    Tiles()
    {
        int at = 0;
        auto place = [&](auto &tile) {
            TASSIGN(tile, at);
            at += 4096;
        };
        place(a), place(b), place(p), place(d), place(t), place(i), place(j), place(e);
        place(h), place(g), place(f), place(c), place(col), place(other), place(row);
    }
    void load()
    {
        Whole<float> from_a(data_of<float>(slots[0])), from_b(data_of<float>(slots[1])),
            from_p(data_of<float>(slots[2]));
        Whole<int32_t> from_i(data_of<int32_t>(slots[3])), from_j(data_of<int32_t>(slots[4]));
        Whole<half> from_h(data_of<half>(slots[5]));
        TLOAD(a, from_a), TLOAD(b, from_b), TLOAD(p, from_p);
        TLOAD(i, from_i), TLOAD(j, from_j), TLOAD(h, from_h);
        step();
    }
};

#define KERNEL(CALL, RESULT)                                                                       \
    do {                                                                                           \
        CALL;                                                                                      \
        put(RESULT);                                                                               \
    } while (0)

static void elements(Tiles &x)
{
    KERNEL(TADD(x.d, x.a, x.b), x.d);
    KERNEL(TSUB(x.d, x.a, x.b), x.d);
    KERNEL(TMUL(x.d, x.a, x.b), x.d);
    KERNEL(TDIV(x.d, x.a, x.p), x.d);
    KERNEL(TMAX(x.d, x.a, x.b), x.d);
    KERNEL(TMIN(x.d, x.a, x.b), x.d);
    KERNEL(TADDS(x.d, x.a, 1.5f), x.d);
    KERNEL(TSUBS(x.d, x.a, 1.5f), x.d);
    KERNEL(TMULS(x.d, x.a, 1.5f), x.d);
    KERNEL(TDIVS(x.d, x.a, 1.5f), x.d);
    KERNEL(TDIVS(x.d, 1.5f, x.p), x.d);
    KERNEL(TMAXS(x.d, x.a, 0.25f), x.d);
    KERNEL(TMINS(x.d, x.a, 0.25f), x.d);
    KERNEL(TEXP(x.d, x.a), x.d);
    KERNEL(TLOG(x.d, x.p), x.d);
    KERNEL(TSQRT(x.d, x.p), x.d);
    KERNEL(TRSQRT(x.d, x.p), x.d);
    KERNEL(TRECIP(x.d, x.p), x.d);
    KERNEL(TABS(x.d, x.a), x.d);
    KERNEL(TNEG(x.d, x.a), x.d);
    KERNEL(TRELU(x.d, x.a), x.d);
    KERNEL(TLRELU(x.d, x.a, 0.125f), x.d);
    KERNEL(TEXPANDS(x.d, 2.5f), x.d);
    KERNEL((TEXPANDS(x.d, 1.0f), TAXPY(x.d, x.a, 3.0f)), x.d);
    KERNEL(TADD(x.e, x.i, x.j), x.e);
    KERNEL(TMUL(x.e, x.i, x.j), x.e);
    KERNEL(TMAX(x.e, x.i, x.j), x.e);
    KERNEL(TADDS(x.e, x.i, -7), x.e);
    KERNEL(TADD(x.g, x.h, x.h), x.g);
    KERNEL(TMULS(x.g, x.h, half(0.5f)), x.g);
}

static void reductions(Tiles &x)
{
    auto rows = [&](Column &c) {
        put<float>(6, n_floats, c, kRows, 1);
    };
    auto columns = [&](Row &r) { put(r, 1, kCols); };
    TROWSUM(x.col, x.a, x.t), rows(x.col);
    TROWMAX(x.col, x.a, x.t), rows(x.col);
    TROWMIN(x.col, x.a, x.t), rows(x.col);
    TCOLSUM(x.row, x.a), columns(x.row);
    TCOLMAX(x.row, x.a), columns(x.row);
    TCOLMIN(x.row, x.a), columns(x.row);
    TROWMAX(x.col, x.p, x.t);
    KERNEL(TROWEXPAND(x.d, x.col), x.d);
    KERNEL(TROWEXPANDADD(x.d, x.a, x.col), x.d);
    KERNEL(TROWEXPANDSUB(x.d, x.a, x.col), x.d);
    KERNEL(TROWEXPANDMUL(x.d, x.a, x.col), x.d);
    KERNEL(TROWEXPANDDIV(x.d, x.a, x.col), x.d);
    KERNEL(TROWEXPANDDIV(x.d, x.col, x.p), x.d); // the column comes first
    TCOLMAX(x.row, x.p);
    KERNEL(TCOLEXPAND(x.d, x.row), x.d);
    KERNEL(TCOLEXPANDADD(x.d, x.a, x.row), x.d);
    KERNEL(TCOLEXPANDSUB(x.d, x.a, x.row), x.d);
    KERNEL(TCOLEXPANDMUL(x.d, x.a, x.row), x.d);
    KERNEL(TCOLEXPANDDIV(x.d, x.a, x.row), x.d);
}

static void conversions(Tiles &x)
{
    TMULS(x.d, x.a, 10.0f);
    KERNEL(TCVT(x.e, x.d, RoundMode::CAST_RINT), x.e);
    KERNEL(TCVT(x.e, x.d, RoundMode::CAST_ROUND), x.e);
    KERNEL(TCVT(x.e, x.d, RoundMode::CAST_FLOOR), x.e);
    KERNEL(TCVT(x.e, x.d, RoundMode::CAST_CEIL), x.e);
    KERNEL(TCVT(x.e, x.d, RoundMode::CAST_TRUNC), x.e);
    KERNEL(TCVT(x.g, x.a, RoundMode::CAST_RINT), x.g);
    KERNEL(TCVT(x.f, x.a, RoundMode::CAST_RINT), x.f);
    KERNEL(TCVT(x.d, x.f, RoundMode::CAST_NONE), x.d);
    KERNEL(TCVT(x.d, x.h, RoundMode::CAST_NONE), x.d);
    KERNEL(TCVT(x.d, x.i, RoundMode::CAST_RINT), x.d);
    TMULS(x.g, x.h, half(100.0f));
    KERNEL(TCVT(x.c, x.g, RoundMode::CAST_RINT, SaturationMode::ON), x.c);
    // fp32 to int8 with a scale, as quantising kernels do: by way of int32 and half
    TMULS(x.d, x.a, 40.0f);
    TCVT(x.e, x.d, RoundMode::CAST_RINT);
    TCVT(x.d, x.e, RoundMode::CAST_RINT);
    TCVT(x.g, x.d, RoundMode::CAST_RINT);
    KERNEL(TCVT(x.c, x.g, RoundMode::CAST_TRUNC, SaturationMode::ON), x.c);
}

static void shapes(Tiles &x)
{
    const int rows = 10, cols = 50;
    Some<float> some(rows, cols), more(rows, cols);
    TASSIGN(some, 0x20000);
    TASSIGN(more, 0x21000);

    // Part of a tile, from a part of a tensor.
    Part<float> corner(data_of<float>(slots[0]) + 2 * kCols + 3, {rows, cols}, {kCols});
    TLOAD(some, corner);
    step();
    TADDS(more, some, 1.0f);
    put(more, rows, cols);
    more.SetValidShape(3, 7);
    TMULS(more, some, 2.0f);
    put(more, 3, 7);

    // What is outside of the valid part.
    Tile<TileType::Vec, float, kRows, kCols, BLayout::RowMajor, kRows, kCols, SLayout::NoneBox, 512, PadValue::Zero>
        zeros;
    Tile<TileType::Vec, float, kRows, kCols, BLayout::RowMajor, kRows, kCols, SLayout::NoneBox, 512, PadValue::Min>
        least;
    TASSIGN(zeros, 0x22000);
    TASSIGN(least, 0x22000);
    KERNEL(TFILLPAD(zeros, some), zeros);
    TFILLPAD(least, some);
    TMAXS(x.d, least, -100.0f);
    put(x.d);
    TASSIGN(zeros, 0x20000);
    KERNEL(TFILLPAD_INPLACE(zeros, some), zeros);

    // A column is a row of the same bytes.
    Tile<TileType::Vec, float, 1, kRows> as_row;
    TROWSUM(x.col, x.a, x.t);
    step();
    TRESHAPE(as_row, x.col);
    TADDS(as_row, as_row, 1.0f);
    put(as_row, 1, kRows);

    // Rows far apart; columns one after the other.
    GlobalTensor<float, Shape<1, 1, 1, 8, kCols>, Stride<1, 1, 1, 2 * kCols, 1>> every_other(
        data_of<float>(slots[0]));
    Tile<TileType::Vec, float, 8, kCols> eight;
    TASSIGN(eight, 0x23000);
    TLOAD(eight, every_other);
    put(eight, 8, kCols);
    GlobalTensor<float, Shape<1, 1, 1, kCols, kRows>, Stride<1, 1, 1, 1, kCols>, Layout::DN> turned(
        data_of<float>(slots[0]));
    Tile<TileType::Vec, float, kCols, kRows, BLayout::ColMajor> as_columns;
    TASSIGN(as_columns, 0x24000);
    TLOAD(as_columns, turned);
    step();
    TADDS(as_columns, as_columns, 1.0f);
    step();
    GlobalTensor<float, Shape<1, 1, 1, kCols, kRows>, Stride<1, 1, 1, 1, kCols>, Layout::DN> back(
        data_of<float>(slots[6]) + n_floats++ * kArea);
    TSTORE(back, as_columns);
    step();

    Tile<TileType::Vec, float, kCols, kRows> flipped, scratch;
    TASSIGN(flipped, 0x25000);
    TASSIGN(scratch, 0x26000);
    TTRANS(flipped, x.a, scratch);
    put(flipped, kCols, kRows);

    Tile<TileType::Vec, float, kRows, 32> half_of, other_half;
    TASSIGN(half_of, 0x27000);
    TASSIGN(other_half, 0x28000);
    TEXTRACT(half_of, x.a, 0, 32);
    put(half_of, kRows, 32);
    TEXTRACT(other_half, x.a, 0, 0);
    KERNEL(TCONCAT(x.d, half_of, other_half), x.d);
}

static void choices(Tiles &x)
{
    // Elements by number, and every second one.
    KERNEL(TGATHER(x.d, x.a, x.j, x.t), x.d);
    Tile<TileType::Vec, float, 1, 64> line, numbers;
    Tile<TileType::Vec, float, 1, 32> second;
    TASSIGN(line, 0x20000);
    TASSIGN(second, 0x20200);
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>> first(data_of<float>(slots[0]));
    TLOAD(line, first);
    step();
    TGATHER<decltype(second), decltype(line), MaskPattern::P0101>(second, line);
    put(second, 1, 32);

    // 64 values with their numbers, sorted by 32, then merged: pairs of value and number.
    Tile<TileType::Vec, uint32_t, 1, 64> index;
    Tile<TileType::Vec, float, 1, 128> sorted, merged;
    TASSIGN(index, 0x20400);
    TASSIGN(sorted, 0x20600);
    TASSIGN(merged, 0x20a00);
    for (int n = 0; n < 64; n++)
        index.SetValue(n, n);
    step();
    TSORT32(sorted, line, index);
    put(sorted, 1, 128);
    Tile<TileType::Vec, float, 1, 64> lower, upper;
    Tile<TileType::Vec, float, 1, 128> scratch;
    TASSIGN(lower, 0x20600);
    TASSIGN(upper, 0x20700);
    TASSIGN(scratch, 0x20e00);
    MrgSortExecutedNumList done;
    TMRGSORT<decltype(merged), decltype(scratch), decltype(lower), decltype(upper), false>(merged, done, scratch,
                                                                                            lower, upper);
    put(merged, 1, 128);
    Tile<TileType::Vec, int32_t, 1, 64> counted;
    TASSIGN(counted, 0x21200);
    TCI<decltype(counted), int32_t, 0>(counted, 5);
    put(counted, 1, 64);

    // Values one by one.
    TMOV(x.d, x.a);
    step();
    x.d.SetValue(3, x.d.GetValue(0) + 1.0f);
    put(x.d);
}

// Several instructions together, as kernels have them.
static void combinations(Tiles &x)
{
    auto softmax = [&] {
        TROWMAX(x.col, x.a, x.t);
        TROWEXPANDSUB(x.d, x.a, x.col);
        TEXP(x.d, x.d);
        TROWSUM(x.other, x.d, x.t);
        TROWEXPANDDIV(x.d, x.d, x.other);
    };
    KERNEL(softmax(), x.d);
    auto norm = [&] { // RMS over a row, with a weight for each column
        TMUL(x.t, x.a, x.a);
        TROWSUM(x.col, x.t, x.d);
        TMULS(x.col, x.col, 1.0f / kCols);
        TADDS(x.col, x.col, 1e-5f);
        TRSQRT(x.other, x.col);
        TROWEXPANDMUL(x.d, x.a, x.other);
        TCOLMAX(x.row, x.p);
        TCOLEXPANDMUL(x.d, x.d, x.row);
    };
    KERNEL(norm(), x.d);
    auto silu = [&] {
        TNEG(x.t, x.a);
        TEXP(x.t, x.t);
        TADDS(x.t, x.t, 1.0f);
        TDIV(x.d, x.a, x.t);
    };
    KERNEL(silu(), x.d);
    auto quantise = [&] { // symmetric, a scale for each row
        TABS(x.t, x.a);
        TROWMAX(x.col, x.t, x.d);
        TMULS(x.col, x.col, 1.0f / 127.0f);
        TROWEXPANDDIV(x.d, x.a, x.col);
        TCVT(x.e, x.d, RoundMode::CAST_RINT);
    };
    KERNEL(quantise(), x.e);
    auto online = [&] { // the running maximum and sum of two blocks
        TROWMAX(x.col, x.a, x.t);
        TROWMAX(x.other, x.b, x.t);
        TMAX(x.col, x.col, x.other);
        TROWEXPANDSUB(x.d, x.a, x.col);
        TEXP(x.d, x.d);
        TROWEXPANDSUB(x.t, x.b, x.col);
        TEXP(x.t, x.t);
        TADD(x.d, x.d, x.t);
    };
    KERNEL(online(), x.d);
    auto sums = [&] { // two additions into one place of global memory
        GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>> to(
            data_of<float>(slots[6]) + n_floats++ * kArea);
        TSTORE(to, x.a);
        step();
        TSTORE<Vec<float>, decltype(to), AtomicType::AtomicAdd>(to, x.b);
        step();
    };
    sums();
}

// Between ranks, of which there is one: a copy by way of a tile, a sum, and a signal.
static void ranks(Tiles &x)
{
    using View = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
    View from(data_of<float>(slots[0])), to(data_of<float>(slots[6]) + n_floats++ * kArea);
    comm::Signal signal(data_of<int32_t>(slots[7]) + n_ints++ * kArea);
    comm::TPUT(to, from, x.t);
    step();
    comm::TPUT<AtomicType::AtomicAdd>(to, from, x.t);
    comm::TNOTIFY(signal, 5, comm::NotifyOp::Set);
    comm::TNOTIFY(signal, 2, comm::NotifyOp::AtomicAdd);
    comm::TWAIT(signal, 7, comm::WaitCmp::EQ);
    int32_t *next = data_of<int32_t>(slots[7]) + n_ints++ * kArea;
    next[0] = comm::TTEST(signal, 6, comm::WaitCmp::GT) ? 1 : -1;
    next[1] = comm::TTEST(signal, 7, comm::WaitCmp::GT) ? 1 : -1;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    slots = args;
    Tiles x;
    x.load();
    set_atomic_none();
    SYNCALL();
    static_assert(TileConfig::fractalABSize == CUBE_BLOCK_SIZE, "one name more for it");
    elements(x);
    reductions(x);
    conversions(x);
    shapes(x);
    choices(x);
    combinations(x);
    ranks(x);
}
