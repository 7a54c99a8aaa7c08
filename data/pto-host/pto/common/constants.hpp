// Names of pipes, events and modes that kernels use.
#ifndef STRATA_PTO_CONSTANTS_HPP
#define STRATA_PTO_CONSTANTS_HPP

#include <cstddef>
#include <cstdint>

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef AICORE
#define AICORE
#endif
#undef __global__
#define __global__ __attribute__((strata_kernel)) // strata looks for it
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __tf__
#define __in__
#define __out__
#define PTO_INTERNAL inline
#define PTO_INST     inline
#define PTO_INLINE   inline
#define PTO_ASSERT(...)
#define PTO_CPU_ASSERT(...)

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#if __NPU_ARCH__ == 3510 || __NPU_ARCH__ == 3101
#define PTO_NPU_ARCH_A5
#else
#define PTO_NPU_ARCH_A2A3
#endif

// Numbers of pipes are those of the dialect. Some sources define the last one as a macro.
#undef PIPE_FIX
enum pipe_t {
    PIPE_S = 0,
    PIPE_V = 1,
    PIPE_M = 2,
    PIPE_MTE1 = 3,
    PIPE_MTE2 = 4,
    PIPE_MTE3 = 5,
    PIPE_ALL = 6,
    PIPE_MTE4 = 7,
    PIPE_MTE5 = 8,
    PIPE_V2 = 9,
    PIPE_FIX = 10,
};

enum event_t {
    EVENT_ID0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7,
};

enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum atomic_type_t { ATOMIC_NONE, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8 };
enum atomic_op_t { ATOMIC_SUM };
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };

namespace pto
{

constexpr int DYNAMIC = -1;
constexpr int C0_SIZE_BYTE = 32;
constexpr int BLOCK_BYTE_SIZE = 32;
constexpr int BLOCK_LEN = 16;
constexpr int REPEAT_BYTE = 256;
constexpr int REPEAT_MAX = 255;
constexpr int BLOCK_MAX_PER_REPEAT = 8;
constexpr int FRACTAL_NZ_ROW = 16;
constexpr int CUBE_BLOCK_SIZE = 512;
constexpr int SHAPE_DIM2 = 2;
constexpr int SHAPE_DIM5 = 5;

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, Scaling, ScaleLeft, ScaleRight, Ctrl };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor, ColMajor };
enum class Layout {
    ND,
    DN,
    NZ,
    SCALE,
    MX_A_ND,
    MX_A_DN,
    MX_A_ZZ,
    MX_B_ND,
    MX_B_DN,
    MX_B_NN,
    NC1HWC0,
    FRACTAL_Z,
};
enum class PadValue { Null, Zero, Max, Min };
enum class CompactMode { Null, Normal, RowPlusOne, RowAlignedPadding };
enum class RoundMode {
    CAST_NONE,
    CAST_RINT,
    CAST_ROUND,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_TRUNC,
    CAST_ODD,
};
enum class SaturationMode { ON, OFF };
enum class CmpMode { EQ, NE, LT, LE, GT, GE };
enum class MaskPattern { P0101 = 1, P1010, P0001, P0010, P0100, P1000, P1111 };
enum class STPhase { Unspecified = 0, Unknown = 0, Partial = 2, Final = 3 };
enum class AccPhase { Unspecified = 0, Unknown = 0, Partial = 2, Final = 3 };
enum class AtomicType { AtomicNone, AtomicAdd };
enum class ReluPreMode { NoRelu, NormalRelu };
enum class AccToVecMode { SingleModeVec0, SingleModeVec1, DualModeSplitM, DualModeSplitN };
enum class TileSplitAxis {
    TILE_NO_SPLIT,
    TILE_UP_DOWN,
    TILE_LEFT_RIGHT,
    TILE_UP_DOWN_ODD,
    TILE_LEFT_RIGHT_ODD,
};
enum Direction : uint8_t {
    DIR_C2V = 1,
    DIR_V2C = 2,
    DIR_BOTH = 3,
    DIR_V2C_CTRL = 4,
    DIR_C2V_GM = 5,
    DIR_V2C_GM = 6,
    DIR_BOTH_GM = 7,
};
enum class SyncAllMode { Hard, Soft };
enum class SyncCoreType { AIVOnly, AICOnly, Mix };
enum class Coalesce { Row, Elem };
enum class ScatterAtomicOp { None, Add, Max, Min };
enum class ScatterOOB { Undefined, Skip, Clamp, Wrap };
enum class GatherOOB { Undefined, Clamp, Wrap, Zero };
enum class DivAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class ExpAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class LogAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class PowAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RemAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RemSAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class FmodAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class FmodSAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RecipAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class SqrtAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RsqrtAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
namespace GlobalTensorDim
{
enum { DIM_0, DIM_1, DIM_2, DIM_3, DIM_4, TOTAL_DIM };
}
enum class QuantType { INT8_SYM, INT8_ASYM, MXFP8, MXFP4 };

#ifdef PTO_NPU_ARCH_A5
constexpr int PTO_UBUF_SIZE_BYTES = 256 << 10;
#else
constexpr int PTO_UBUF_SIZE_BYTES = 192 << 10;
#endif

// Bytes and elements of the fractals that tiles are made of.
namespace TileConfig
{
constexpr int alignedSize = 32;
constexpr int fixedRowSize = 16;
constexpr int fixedColSize = 16;
constexpr int fixedMxRowSize = 16;
constexpr int fixedMxColSize = 2;
constexpr int fractalABSize = 512;
constexpr int fractalCSize = 1024;
constexpr int fractalMxSize = 32;
} // namespace TileConfig

constexpr int32_t SYNCALL_SOFT_WORKSPACE_INT32 = 16; // words of a soft SYNCALL's tensor

template <class N> constexpr N PTO_CEIL(N n, N step)
{
    return (n + step - 1) / step * step;
}

} // namespace pto

// The chip's own.
template <class A, class B> constexpr auto min(A a, B b)
{
    return b < a ? b : a;
}
template <class A, class B> constexpr auto max(A a, B b)
{
    return a < b ? b : a;
}

#endif
