// Tiles in on-chip memory and views of global memory.
#ifndef STRATA_PTO_TILE_HPP
#define STRATA_PTO_TILE_HPP

#include <pto/common/constants.hpp>
#include <pto/common/element.hpp>
#include <pto/common/host.hpp>

namespace pto
{

// ---- global memory ----

// The numbers of a shape or a stride: those that are not -1 as they are, the others as given.
template <int64_t... Fixed> struct FiveNumbers {
    template <class... Numbers> static void fill(int64_t (&at)[5], Numbers... numbers)
    {
        constexpr int64_t fixed[5] = {Fixed...};
        constexpr int n = sizeof...(Numbers), unknown = (0 + ... + (Fixed < 0));
        static_assert(n == 0 || n == 5 || n == unknown,
                      "give all five values, or one for each dimension that is -1");
        const int64_t given[6] = {static_cast<int64_t>(numbers)...};
        for (int i = 0, next = 0; i < 5; i++) {
            const int64_t value = n == 0 ? 1 : n == 5 ? given[i] : given[next];
            next += fixed[i] < 0;
            at[i] = fixed[i] < 0 ? value : fixed[i];
        }
    }
};

template <class... Numbers>
using if_numbers = std::enable_if_t<(sizeof...(Numbers) <= 5) &&
                                    (std::is_convertible<Numbers, int64_t>::value && ...)>;

template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC,
          int64_t N5 = DYNAMIC>
struct Shape {
    static constexpr int64_t staticShape[5] = {N1, N2, N3, N4, N5};
    int64_t shape[5];

    template <class... Numbers, class = if_numbers<Numbers...>> Shape(Numbers... numbers)
    {
        FiveNumbers<N1, N2, N3, N4, N5>::fill(shape, numbers...);
    }
};

template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC,
          int64_t N5 = DYNAMIC>
struct Stride {
    static constexpr int64_t staticStride[5] = {N1, N2, N3, N4, N5};
    int64_t stride[5];

    template <class... Numbers, class = if_numbers<Numbers...>> Stride(Numbers... numbers)
    {
        FiveNumbers<N1, N2, N3, N4, N5>::fill(stride, numbers...);
    }
};

template <class E, int64_t R = DYNAMIC, int64_t C = DYNAMIC, Layout L = Layout::ND>
struct TileShape2D : Shape<1, 1, 1, R, C> {
    using Shape<1, 1, 1, R, C>::Shape;
    template <class Rows, class Cols, class = if_numbers<Rows, Cols>>
    TileShape2D(Rows rows, Cols cols) : Shape<1, 1, 1, R, C>(1, 1, 1, rows, cols)
    {
    }
};
template <class E, int64_t R, int64_t C>
struct TileShape2D<E, R, C, Layout::NZ>
    : Shape<1, C / (C0_SIZE_BYTE / sizeof(E)), R / FRACTAL_NZ_ROW, FRACTAL_NZ_ROW,
            C0_SIZE_BYTE / sizeof(E)> {
    using Shape<1, C / (C0_SIZE_BYTE / sizeof(E)), R / FRACTAL_NZ_ROW, FRACTAL_NZ_ROW,
                C0_SIZE_BYTE / sizeof(E)>::Shape;
};
template <class E, int64_t R, int64_t C>
struct TileShape2D<E, R, C, Layout::MX_A_ZZ> : Shape<1, R / 16, C / 2, 16, 2> {
    using Shape<1, R / 16, C / 2, 16, 2>::Shape;
};
template <class E, int64_t R, int64_t C>
struct TileShape2D<E, R, C, Layout::MX_B_NN> : Shape<1, C / 16, R / 2, 16, 2> {
    using Shape<1, C / 16, R / 2, 16, 2>::Shape;
};

// A matrix by rows or by columns, of which both sizes may be known later.
template <int64_t R, int64_t C> constexpr int64_t all_of = R < 0 || C < 0 ? DYNAMIC : R *C;
template <int64_t R, int64_t C, bool ByColumns>
struct PlainStride
    : Stride<all_of<R, C>, all_of<R, C>, all_of<R, C>, ByColumns ? 1 : C, ByColumns ? R : 1> {
    using Stride<all_of<R, C>, all_of<R, C>, all_of<R, C>, ByColumns ? 1 : C,
                 ByColumns ? R : 1>::Stride;
    template <class Rows, class Cols, class = if_numbers<Rows, Cols>>
    PlainStride(Rows rows, Cols cols)
    {
        const int64_t r = R < 0 ? static_cast<int64_t>(rows) : R;
        const int64_t c = C < 0 ? static_cast<int64_t>(cols) : C;
        const int64_t values[5] = {r * c, r * c, r * c, ByColumns ? 1 : c, ByColumns ? r : 1};
        for (int i = 0; i < 5; i++)
            this->stride[i] = values[i];
    }
};

template <class E, int64_t R = DYNAMIC, int64_t C = DYNAMIC, Layout L = Layout::ND>
struct BaseShape2D : PlainStride<R, C, false> {
    using PlainStride<R, C, false>::PlainStride;
};
template <class E, int64_t R, int64_t C>
struct BaseShape2D<E, R, C, Layout::DN> : PlainStride<R, C, true> {
    using PlainStride<R, C, true>::PlainStride;
};
template <class E, int64_t R, int64_t C>
struct BaseShape2D<E, R, C, Layout::MX_A_DN> : BaseShape2D<E, R, C, Layout::DN> {
    using BaseShape2D<E, R, C, Layout::DN>::BaseShape2D;
};
template <class E, int64_t R, int64_t C>
struct BaseShape2D<E, R, C, Layout::MX_B_DN> : BaseShape2D<E, R, C, Layout::DN> {
    using BaseShape2D<E, R, C, Layout::DN>::BaseShape2D;
};
template <class E, int64_t R, int64_t C>
struct BaseShape2D<E, R, C, Layout::NZ>
    : Stride<R * C, R *(C0_SIZE_BYTE / sizeof(E)), FRACTAL_NZ_ROW *(C0_SIZE_BYTE / sizeof(E)),
             C0_SIZE_BYTE / sizeof(E), 1> {
    using Stride<R * C, R *(C0_SIZE_BYTE / sizeof(E)), FRACTAL_NZ_ROW *(C0_SIZE_BYTE / sizeof(E)),
                 C0_SIZE_BYTE / sizeof(E), 1>::Stride;
};
template <class E, int64_t R, int64_t C>
struct BaseShape2D<E, R, C, Layout::MX_A_ZZ> : Stride<R * C, C * 16, 32, 2, 1> {
    using Stride<R * C, C * 16, 32, 2, 1>::Stride;
};
template <class E, int64_t R, int64_t C>
struct BaseShape2D<E, R, C, Layout::MX_B_NN> : Stride<R * C, R * 16, 32, 2, 1> {
    using Stride<R * C, R * 16, 32, 2, 1>::Stride;
};

template <class E, class Shape_, class Stride_, Layout L = Layout::ND> class GlobalTensor
{
  public:
    using Shape = Shape_;
    using Stride = Stride_;
    using RawDType = E;
    using DType = E;
    static constexpr Layout layout = L;

    GlobalTensor() = default;
    GlobalTensor(E *p, const Shape &shape = Shape(), const Stride &stride = Stride())
        : data_(p), shape_(shape), stride_(stride)
    {
    }

    E *data() const { return data_; }
    void SetAddr(E *p) { data_ = p; }
    int64_t GetShape(int i) const { return shape_.shape[i]; }
    int64_t GetStride(int i) const { return stride_.stride[i]; }
    template <int I> int64_t GetShape() const { return shape_.shape[I]; }
    template <int I> int64_t GetStride() const { return stride_.stride[I]; }

  private:
    E *data_ = nullptr;
    Shape shape_;
    Stride stride_;
};

// ---- on-chip memory ----

template <uint32_t Bits> constexpr uint64_t PadCustom = (1ull << 32) | Bits;
constexpr uint64_t PadValueCustom(float x)
{
    return (1ull << 32) | __builtin_bit_cast(uint32_t, x);
}

template <TileType Loc_, class E, int Rows_, int Cols_, BLayout BL = BLayout::RowMajor,
          int ValidRow_ = Rows_, int ValidCol_ = Cols_, SLayout SL = SLayout::NoneBox,
          int Fractal = 512, auto Pad = PadValue::Null, CompactMode Compact_ = CompactMode::Null>
class Tile
{
  public:
    using DType = E;
    using TileDType = E *;
    static constexpr TileType Loc = Loc_;
    static constexpr int Rows = Rows_, Cols = Cols_;
    static constexpr int ValidRow = ValidRow_, ValidCol = ValidCol_;
    static constexpr int Numel = Rows * Cols;
    static constexpr BLayout BFractal = BL;
    static constexpr SLayout SFractal = SL;
    static constexpr int SFractalSize = Fractal;
    static constexpr auto PadVal = Pad;
    static constexpr CompactMode Compact = Compact_;
    static constexpr bool isRowMajor = BL == BLayout::RowMajor;
    static constexpr bool isBoxedLayout = SL != SLayout::NoneBox;
    static constexpr int C0 = C0_SIZE_BYTE / (int)sizeof(E);
    static constexpr int InnerRows = !isBoxedLayout            ? 1
                                     : Fractal == 1024         ? 16
                                     : Fractal == 32           ? (SL == SLayout::RowMajor ? 16 : 2)
                                     : SL == SLayout::RowMajor ? 16
                                                               : C0;
    static constexpr int InnerCols = !isBoxedLayout            ? 1
                                     : Fractal == 1024         ? 16
                                     : Fractal == 32           ? (SL == SLayout::RowMajor ? 2 : 16)
                                     : SL == SLayout::RowMajor ? C0
                                                               : 16;
    static constexpr int RowStride = isRowMajor ? Cols : 1;
    static constexpr int ColStride = isRowMajor ? 1 : Rows;

    static_assert(ValidRow <= Rows && ValidCol <= Cols,
                  "the valid part of a tile is at most its shape");
    static_assert(Fractal == 32 || Fractal == 512 || Fractal == 1024,
                  "boxes have 32, 512 or 1024 bytes");
    static_assert(isBoxedLayout || (isRowMajor ? Cols : Rows) * sizeof(E) % 32 == 0,
                  "a row (of a column-major tile: a column) is a multiple of 32 bytes");

    Tile() { tile_.addr = -1, SetValidShape(Rows, Cols); }
    Tile(const Tile &) = default;
    // A new valid shape for a tile that has its address: a tile without one does not take it away.
    Tile &operator=(const Tile &other)
    {
        const int64_t addr = other.tile_.addr >= 0 ? other.tile_.addr : tile_.addr;
        tile_ = other.tile_;
        tile_.addr = addr;
        return *this;
    }
    template <class R, class C,
              class = std::enable_if_t<std::is_convertible<R, int64_t>::value &&
                                       std::is_convertible<C, int64_t>::value>>
    Tile(R rows, C cols)
    {
        tile_.addr = -1;
        SetValidShape(rows, cols);
    }
    template <class N, class = std::enable_if_t<std::is_convertible<N, int64_t>::value &&
                                                (ValidRow < 0) != (ValidCol < 0)>>
    explicit Tile(N n)
    {
        tile_.addr = -1;
        SetValidShape(n, n);
    }

    int GetValidRow() const { return ValidRow >= 0 ? ValidRow : tile_.v_row; }
    int GetValidCol() const { return ValidCol >= 0 ? ValidCol : tile_.v_col; }
    template <class R, class C> void SetValidShape(R rows, C cols)
    {
        SetValidRow(rows);
        SetValidCol(cols);
    }
    template <class R> void SetValidRow(R rows)
    {
        tile_.v_row = ValidRow >= 0 ? ValidRow : static_cast<int32_t>(rows);
    }
    template <class C> void SetValidCol(C cols)
    {
        tile_.v_col = ValidCol >= 0 ? ValidCol : static_cast<int32_t>(cols);
    }

    template <class I, class N>
    void SetValue(I index, N value, strata_pto::place at = strata_pto::place());
    template <class I> E GetValue(I index, strata_pto::place at = strata_pto::place()) const;

    // A pointer to what the tile holds; the low half is its address on the chip.
    E *data() const
    {
        uintptr_t at = static_cast<uintptr_t>(tile_.addr);
        if (strata_pto::host && strata_pto::host->chip && tile_.addr >= 0)
            at += strata_pto::host->chip + (static_cast<uintptr_t>(space()) << 32);
        return reinterpret_cast<E *>(at);
    }
    void assignData(E *p) { set_address(reinterpret_cast<uintptr_t>(p)); }

    // Hints to the cube that change no number here.
    template <class N> void SetKAligned(N) {}
    template <class N> void SetMadTF32Mode(N) {}
    template <class N> void ResetMadMode(N) {}
    void ResetMadMode() {}

    // For the instructions.
    template <class A> void set_address(A addr) { tile_.addr = strata_pto::chip_address(addr); }
    const strata_pto_tile *described() const
    {
        tile_.space = space();
        tile_.dtype = strata_pto::dtype_of<E>::value;
        tile_.blayout = static_cast<int32_t>(BL);
        tile_.slayout = static_cast<int32_t>(SL);
        tile_.rows = Rows;
        tile_.cols = Cols;
        tile_.fractal = Fractal;
        tile_.compact = static_cast<int32_t>(Compact_);
        tile_.pad = static_cast<int64_t>(Pad);
        return &tile_;
    }

  private:
    static constexpr int32_t space()
    {
        switch (Loc_) {
        case TileType::Mat:
            return STRATA_PTO_MAT;
        case TileType::Left:
            return STRATA_PTO_LEFT;
        case TileType::Right:
            return STRATA_PTO_RIGHT;
        case TileType::Acc:
            return STRATA_PTO_ACC;
        case TileType::Bias:
            return STRATA_PTO_BIAS;
        case TileType::Scaling:
        case TileType::ScaleLeft:
        case TileType::ScaleRight:
            return STRATA_PTO_SCALING;
        default:
            return STRATA_PTO_VEC;
        }
    }

    mutable strata_pto_tile tile_{};
};

#ifdef PTO_NPU_ARCH_A5
constexpr BLayout LeftBLayout = BLayout::ColMajor;
#else
constexpr BLayout LeftBLayout = BLayout::RowMajor;
#endif

template <class E, int R, int C, int VR = R, int VC = C>
using TileLeft = Tile<TileType::Left, E, R, C, LeftBLayout, VR, VC, SLayout::RowMajor, 512>;
template <class E, int R, int C, int VR = R, int VC = C>
using TileRight = Tile<TileType::Right, E, R, C, BLayout::RowMajor, VR, VC, SLayout::ColMajor, 512>;
template <class E, int R, int C, int VR = R, int VC = C>
using TileAcc = Tile<TileType::Acc, E, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 1024>;
template <class E, int R, int C, int VR = R, int VC = C>
using TileLeftScale =
    Tile<TileType::ScaleLeft, E, R, C, BLayout::RowMajor, VR, VC, SLayout::RowMajor, 32>;
template <class E, int R, int C, int VR = R, int VC = C>
using TileRightScale =
    Tile<TileType::ScaleRight, E, R, C, BLayout::ColMajor, VR, VC, SLayout::ColMajor, 32>;
template <class E, int R, int C, int VR = R, int VC = C>
using TileLeftScaleCompact = Tile<TileType::ScaleLeft, E, R, C, BLayout::RowMajor, VR, VC,
                                  SLayout::RowMajor, 32, PadValue::Null, CompactMode::Normal>;
template <class E, int R, int C, int VR = R, int VC = C>
using TileRightScaleCompact = Tile<TileType::ScaleRight, E, R, C, BLayout::ColMajor, VR, VC,
                                   SLayout::ColMajor, 32, PadValue::Null, CompactMode::Normal>;
template <class E, int R, int C, int VR = R, int VC = C>
using TileLeftCompact = Tile<TileType::Left, E, R, C, LeftBLayout, VR, VC, SLayout::RowMajor, 512,
                             PadValue::Null, CompactMode::Normal>;
template <class E, int R, int C, int VR = R, int VC = C>
using TileRightCompact = Tile<TileType::Right, E, R, C, BLayout::RowMajor, VR, VC,
                              SLayout::ColMajor, 512, PadValue::Null, CompactMode::Normal>;
template <class E, int R, int C, int VR = R, int VC = C>
using TileAccCompact = Tile<TileType::Acc, E, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor,
                            1024, PadValue::Null, CompactMode::Normal>;

// The four bits of an address that the scale registers take.
template <class P> inline uint64_t GetScaleAddr(P p)
{
    return static_cast<uint64_t>(strata_pto::chip_address(reinterpret_cast<uintptr_t>(p))) >> 4;
}

} // namespace pto

#endif
