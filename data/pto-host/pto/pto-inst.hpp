// The instructions of PTO kernels, for running them on a host with strata
// (docs/howto/replay-cpp-kernel.md). Each is one call of strata/pto_host.h; what it does and costs
// is strata's matter.
#ifndef STRATA_PTO_INST_HPP
#define STRATA_PTO_INST_HPP

#include <pto/comm/pto_comm_inst.hpp>
#include <pto/common/constants.hpp>
#include <pto/common/element.hpp>
#include <pto/common/event.hpp>
#include <pto/common/fifo.hpp>
#include <pto/common/host.hpp>
#include <pto/common/intrinsics.hpp>
#include <pto/common/pto_tile.hpp>

namespace pto
{

using strata_pto::instruction;
using strata_pto::place;

// ---- addresses ----

template <class T, class A, class = std::enable_if_t<std::is_integral<A>::value>>
inline auto TASSIGN(T &tile, A addr) -> decltype(tile.set_address(0))
{
    tile.set_address(addr);
}
template <class G, class E> inline auto TASSIGN(G &view, E *p) -> decltype(view.SetAddr(nullptr))
{
    view.SetAddr((typename G::RawDType *)p);
}
template <std::size_t Addr, class T> inline void TASSIGN(T &tile)
{
    static_assert(Addr % 32 == 0, "addresses of tiles are multiples of 32");
    tile.set_address(static_cast<int64_t>(Addr));
}

// ---- moves ----

template <class T, class G> inline RecordEvent TLOAD(T &tile, const G &view, place at = place())
{
    instruction("pto.tload", at).in(view).out(tile).run();
    return {};
}
template <class T, class G> inline RecordEvent TPREFETCH(T &tile, const G &view, place at = place())
{
    instruction("pto.tprefetch", at).in(view).out(tile).run();
    return {};
}

template <class T, class G, AtomicType Atomic = AtomicType::AtomicNone>
inline RecordEvent TSTORE(G &view, const T &tile, place at = place())
{
    instruction store("pto.tstore", at);
    store.in(tile).out(view);
    if (Atomic != AtomicType::AtomicNone)
        store.attr("atomicType", Atomic);
    store.run();
    return {};
}
template <class T, class G, AtomicType Atomic, ReluPreMode Relu>
inline RecordEvent TSTORE(G &view, const T &tile, place at = place())
{
    instruction("pto.tstore", at)
        .in(tile)
        .out(view)
        .attr("atomicType", Atomic)
        .attr("reluPreMode", Relu)
        .run();
    return {};
}
template <STPhase Phase, class G, class T>
inline RecordEvent TSTORE(G &view, const T &tile, place at = place())
{
    instruction("pto.tstore", at).in(tile).out(view).attr("stPhase", Phase).run();
    return {};
}
template <class T, class G, AtomicType Atomic = AtomicType::AtomicNone>
inline RecordEvent TSTORE(G &view, const T &tile, uint64_t quant, place at = place())
{
    instruction("pto.tstore", at)
        .in(tile)
        .bits(STRATA_PTO_I64, quant)
        .out(view)
        .attr("atomicType", Atomic)
        .run();
    return {};
}
template <class G, class T, class F>
inline RecordEvent TSTORE_FP(G &view, const T &tile, const F &fp, place at = place())
{
    instruction("pto.tstore", at).in(tile).in(fp).out(view).run();
    return {};
}

template <class D, class S, class R = int, class C = int>
inline RecordEvent TEXTRACT(D &d, const S &s, R row = 0, C col = 0, place at = place())
{
    instruction("pto.textract", at).in(s).index(row).index(col).out(d).run();
    return {};
}
template <class D, class S, class R, class C>
inline RecordEvent TINSERT(D &d, const S &s, R row, C col, place at = place())
{
    instruction("pto.tinsert", at).in(s).index(row).index(col).out(d).run();
    return {};
}

template <class D, class S> inline RecordEvent TMOV(D &d, const S &s, place at = place())
{
    instruction("pto.tmov", at).in(s).out(d).run();
    return {};
}
template <class D, class S, AccToVecMode Mode>
inline RecordEvent TMOV(D &d, const S &s, place at = place())
{
    instruction("pto.tmov", at).in(s).out(d).attr("accToVecMode", Mode).run();
    return {};
}
template <class D, class S, AccToVecMode Mode, ReluPreMode Relu>
inline RecordEvent TMOV(D &d, const S &s, place at = place())
{
    instruction("pto.tmov", at)
        .in(s)
        .out(d)
        .attr("accToVecMode", Mode)
        .attr("reluPreMode", Relu)
        .run();
    return {};
}
template <class D, class S, ReluPreMode Relu>
inline RecordEvent TMOV(D &d, const S &s, place at = place())
{
    instruction("pto.tmov", at).in(s).out(d).attr("reluPreMode", Relu).run();
    return {};
}
template <class D, class S, class F>
inline RecordEvent TMOV_FP(D &d, const S &s, const F &fp, place at = place())
{
    instruction("pto.tmov", at).in(s).in(fp).out(d).run();
    return {};
}

template <class D, class S> inline RecordEvent TRESHAPE(D &d, const S &s, place at = place())
{
    d.set_address(s.described()->addr);
    instruction("pto.treshape", at).in(s).out(d).run();
    return {};
}

// A part of a tile: the same bytes from an element on.
template <class D, class S, class R, class C>
inline RecordEvent TSUBVIEW(D &d, const S &s, R row, C col)
{
    d.set_address(s.described()->addr +
                  (row * S::RowStride + col * S::ColStride) * (int64_t)sizeof(typename S::DType));
    return {};
}

// ---- families: destination first; a scratch tile may follow ----

#define STRATA_PTO_UNARY(NAME, OP)                                                                 \
    template <class D, class A> inline RecordEvent NAME(D &d, const A &a, place at = place())      \
    {                                                                                              \
        instruction(OP, at).in(a).out(d).run();                                                    \
        return {};                                                                                 \
    }                                                                                              \
    template <auto Precision, class D, class A>                                                    \
    inline RecordEvent NAME(D &d, const A &a, place at = place())                                  \
    {                                                                                              \
        return NAME(d, a, at);                                                                     \
    }                                                                                              \
    STRATA_PTO_EVENTS(NAME)

#define STRATA_PTO_BINARY(NAME, OP)                                                                \
    template <class D, class A, class B>                                                           \
    inline RecordEvent NAME(D &d, const A &a, const B &b, place at = place())                      \
    {                                                                                              \
        instruction(OP, at).in(a).in(b).out(d).run();                                              \
        return {};                                                                                 \
    }                                                                                              \
    template <class D, class A, class B, class T>                                                  \
    inline auto NAME(D &d, const A &a, const B &b, T &tmp, place at = place())                     \
        ->decltype(tmp.described(), RecordEvent())                                                 \
    {                                                                                              \
        instruction(OP, at).in(a).in(b).in(tmp).out(d).run();                                      \
        return {};                                                                                 \
    }                                                                                              \
    template <auto Precision, class D, class A, class B>                                           \
    inline RecordEvent NAME(D &d, const A &a, const B &b, place at = place())                      \
    {                                                                                              \
        return NAME(d, a, b, at);                                                                  \
    }                                                                                              \
    template <auto Precision, class D, class A, class B, class T>                                  \
    inline auto NAME(D &d, const A &a, const B &b, T &tmp, place at = place())                     \
        ->decltype(tmp.described(), RecordEvent())                                                 \
    {                                                                                              \
        return NAME(d, a, b, tmp, at);                                                             \
    }                                                                                              \
    STRATA_PTO_EVENTS(NAME)

#define STRATA_PTO_SCALAR(NAME, OP)                                                                \
    template <class D, class A, class X>                                                           \
    inline RecordEvent NAME(D &d, const A &a, X x, place at = place())                             \
    {                                                                                              \
        instruction(OP, at).in(a).template value<typename A::DType>(x).out(d).run();               \
        return {};                                                                                 \
    }                                                                                              \
    template <class D, class A, class X, class T>                                                  \
    inline auto NAME(D &d, const A &a, X x, T &tmp, place at = place())                            \
        ->decltype(tmp.described(), RecordEvent())                                                 \
    {                                                                                              \
        instruction(OP, at).in(a).template value<typename A::DType>(x).in(tmp).out(d).run();       \
        return {};                                                                                 \
    }                                                                                              \
    template <auto Precision, class D, class A, class X>                                           \
    inline RecordEvent NAME(D &d, const A &a, X x, place at = place())                             \
    {                                                                                              \
        return NAME(d, a, x, at);                                                                  \
    }                                                                                              \
    template <auto Precision, class D, class A, class X, class T>                                  \
    inline auto NAME(D &d, const A &a, X x, T &tmp, place at = place())                            \
        ->decltype(tmp.described(), RecordEvent())                                                 \
    {                                                                                              \
        return NAME(d, a, x, tmp, at);                                                             \
    }                                                                                              \
    STRATA_PTO_EVENTS(NAME)

STRATA_PTO_EVENTS(TLOAD)
STRATA_PTO_EVENTS(TSTORE)
STRATA_PTO_EVENTS(TMOV)
STRATA_PTO_EVENTS(TEXTRACT)

STRATA_PTO_UNARY(TFILLPAD, "pto.tfillpad")
STRATA_PTO_UNARY(TFILLPAD_INPLACE, "pto.tfillpad_inplace")
STRATA_PTO_UNARY(TFILLPAD_EXPAND, "pto.tfillpad_expand")
STRATA_PTO_BINARY(TTRANS, "pto.ttrans")
STRATA_PTO_BINARY(TCONCAT, "pto.tconcat")

STRATA_PTO_BINARY(TADD, "pto.tadd")
STRATA_PTO_BINARY(TSUB, "pto.tsub")
STRATA_PTO_BINARY(TMUL, "pto.tmul")
STRATA_PTO_BINARY(TDIV, "pto.tdiv")
STRATA_PTO_BINARY(TMAX, "pto.tmax")
STRATA_PTO_BINARY(TMIN, "pto.tmin")
STRATA_PTO_BINARY(TREM, "pto.trem")
STRATA_PTO_BINARY(TFMOD, "pto.tfmod")
STRATA_PTO_BINARY(TPOW, "pto.tpow")
STRATA_PTO_BINARY(TAND, "pto.tand")
STRATA_PTO_BINARY(TOR, "pto.tor")
STRATA_PTO_BINARY(TXOR, "pto.txor")
STRATA_PTO_BINARY(TSHL, "pto.tshl")
STRATA_PTO_BINARY(TSHR, "pto.tshr")
STRATA_PTO_BINARY(TPRELU, "pto.tprelu")
STRATA_PTO_BINARY(TADDRELU, "pto.taddrelu")
STRATA_PTO_BINARY(TPARTADD, "pto.tpartadd")
STRATA_PTO_BINARY(TPARTMUL, "pto.tpartmul")
STRATA_PTO_BINARY(TPARTMAX, "pto.tpartmax")
STRATA_PTO_BINARY(TPARTMIN, "pto.tpartmin")

// The larger or smaller of two parts, with its index.
#define STRATA_PTO_PART_INDEX(NAME, OP)                                                            \
    template <class D, class A, class B, class Di, class Ai, class Bi>                             \
    inline RecordEvent NAME(D &d, const A &a, const B &b, Di &d_index, const Ai &a_index,          \
                            const Bi &b_index, place at = place())                                 \
    {                                                                                              \
        instruction(OP, at).in(a).in(b).in(a_index).in(b_index).out(d).out(d_index).run();         \
        return {};                                                                                 \
    }                                                                                              \
    STRATA_PTO_EVENTS(NAME)

STRATA_PTO_PART_INDEX(TPARTARGMAX, "pto.tpartargmax")
STRATA_PTO_PART_INDEX(TPARTARGMIN, "pto.tpartargmin")

STRATA_PTO_SCALAR(TADDS, "pto.tadds")
STRATA_PTO_SCALAR(TSUBS, "pto.tsubs")
STRATA_PTO_SCALAR(TMULS, "pto.tmuls")
STRATA_PTO_SCALAR(TMAXS, "pto.tmaxs")
STRATA_PTO_SCALAR(TMINS, "pto.tmins")
STRATA_PTO_SCALAR(TREMS, "pto.trems")
STRATA_PTO_SCALAR(TFMODS, "pto.tfmods")
STRATA_PTO_SCALAR(TPOWS, "pto.tpows")
STRATA_PTO_SCALAR(TANDS, "pto.tands")
STRATA_PTO_SCALAR(TORS, "pto.tors")
STRATA_PTO_SCALAR(TXORS, "pto.txors")
STRATA_PTO_SCALAR(TSHLS, "pto.tshls")
STRATA_PTO_SCALAR(TSHRS, "pto.tshrs")
STRATA_PTO_SCALAR(TAXPY, "pto.taxpy")
STRATA_PTO_SCALAR(TLRELU, "pto.tlrelu")

// a / x, or x / a.
template <class D, class A, class X>
inline auto TDIVS(D &d, const A &a, X x, place at = place())
    -> decltype(a.described(), static_cast<float>(x), RecordEvent())
{
    instruction("pto.tdivs", at).in(a).template value<typename A::DType>(x).out(d).run();
    return {};
}
template <class D, class A, class X>
inline auto TDIVS(D &d, X x, const A &a, place at = place())
    -> decltype(a.described(), static_cast<float>(x), RecordEvent())
{
    instruction("pto.tdivs", at).template value<typename A::DType>(x).in(a).out(d).run();
    return {};
}

template <auto Precision, class D, class A, class B>
inline RecordEvent TDIVS(D &d, const A &a, const B &b, place at = place())
{
    return TDIVS(d, a, b, at);
}

STRATA_PTO_UNARY(TABS, "pto.tabs")
STRATA_PTO_UNARY(TNEG, "pto.tneg")
STRATA_PTO_UNARY(TEXP, "pto.texp")
STRATA_PTO_UNARY(TLOG, "pto.tlog")
STRATA_PTO_UNARY(TSQRT, "pto.tsqrt")
STRATA_PTO_UNARY(TRECIP, "pto.trecip")
STRATA_PTO_UNARY(TRELU, "pto.trelu")
STRATA_PTO_UNARY(TNOT, "pto.tnot")
STRATA_PTO_UNARY(TRSQRT, "pto.trsqrt")
template <class D, class A, class T>
inline auto TRSQRT(D &d, const A &a, T &tmp, place at = place())
    -> decltype(tmp.described(), RecordEvent())
{
    instruction("pto.trsqrt", at).in(a).in(tmp).out(d).run();
    return {};
}

template <class D, class A>
inline RecordEvent TCVT(D &d, const A &a, RoundMode mode, place at = place())
{
    instruction("pto.tcvt", at).in(a).out(d).attr("rmode", mode).run();
    return {};
}
template <class D, class A>
inline RecordEvent TCVT(D &d, const A &a, RoundMode mode, SaturationMode sat, place at = place())
{
    instruction("pto.tcvt", at).in(a).out(d).attr("rmode", mode).attr("satMode", sat).run();
    return {};
}
template <class D, class A, class T>
inline auto TCVT(D &d, const A &a, T &tmp, RoundMode mode, SaturationMode sat, place at = place())
    -> decltype(tmp.described(), RecordEvent())
{
    return TCVT(d, a, mode, sat, at);
}
STRATA_PTO_EVENTS(TCVT)

// Integers with a scale and an offset for each row; the scratch tile is not needed here.
template <class D, class A, class S, class O>
inline RecordEvent TDEQUANT(D &d, const A &a, const S &scale, const O &offset, place at = place())
{
    instruction("pto.tdequant", at).in(a).in(scale).in(offset).out(d).run();
    return {};
}
template <QuantType Kind, class D, class A, class S, class... Scratch>
inline auto TQUANT(D &d, const A &a, const S &scale, const Scratch &...)
    -> std::enable_if_t<Kind == QuantType::INT8_SYM, RecordEvent>
{
    const place at;
    instruction("pto.tquant", at).in(a).in(scale).out(d).run();
    return {};
}
template <QuantType Kind, class D, class A, class S, class Scratch, class O>
inline auto TQUANT(D &d, const A &a, const S &scale, Scratch &, O *offset, place at = place())
    -> std::enable_if_t<Kind == QuantType::INT8_ASYM, RecordEvent>
{
    instruction("pto.tquant", at).in(a).in(scale).in(*offset).out(d).run();
    return {};
}
STRATA_PTO_EVENTS(TDEQUANT)

template <class D, class X> inline RecordEvent TEXPANDS(D &d, X x, place at = place())
{
    instruction("pto.texpands", at).template value<typename D::DType>(x).out(d).run();
    return {};
}
template <class D, class T, int Descending = 0>
inline RecordEvent TCI(D &d, T start, place at = place())
{
    instruction("pto.tci", at)
        .template value<typename D::DType>(start)
        .out(d)
        .attr("descending", Descending)
        .run();
    return {};
}
template <class D, class Scratch, class T, int Descending>
inline RecordEvent TCI(D &d, T start, Scratch &, place at = place())
{
    return TCI<D, T, Descending>(d, start, at);
}
template <class D, int Upper = 0, class N>
inline RecordEvent TTRI(D &d, N diagonal, place at = place())
{
    instruction("pto.ttri", at)
        .template value<int32_t>(diagonal)
        .out(d)
        .attr("upperOrLower", Upper)
        .run();
    return {};
}

template <class D, class A, class B>
inline RecordEvent TCMP(D &d, const A &a, const B &b, CmpMode mode, place at = place())
{
    instruction("pto.tcmp", at).in(a).in(b).out(d).attr("cmpMode", mode).run();
    return {};
}
template <class D, class A, class X>
inline RecordEvent TCMPS(D &d, const A &a, X x, CmpMode mode, place at = place())
{
    instruction("pto.tcmps", at)
        .in(a)
        .template value<typename A::DType>(x)
        .out(d)
        .attr("cmpMode", mode)
        .run();
    return {};
}
template <class D, class M, class A, class B>
inline RecordEvent TSEL(D &d, const M &mask, const A &a, const B &b, place at = place())
{
    instruction("pto.tsel", at).in(mask).in(a).in(b).out(d).run();
    return {};
}
template <class D, class M, class A, class B, class T>
inline auto TSEL(D &d, const M &mask, const A &a, const B &b, T &tmp, place at = place())
    -> decltype(tmp.described(), RecordEvent())
{
    instruction("pto.tsel", at).in(mask).in(a).in(b).in(tmp).out(d).run();
    return {};
}
template <class D, class M, class A, class T, class X>
inline RecordEvent TSELS(D &d, const M &mask, const A &a, T &tmp, X x, place at = place())
{
    instruction("pto.tsels", at)
        .in(mask)
        .in(a)
        .in(tmp)
        .template value<typename A::DType>(x)
        .out(d)
        .run();
    return {};
}

STRATA_PTO_EVENTS(TDIVS)
STRATA_PTO_EVENTS(TEXPANDS)
STRATA_PTO_EVENTS(TCMP)
STRATA_PTO_EVENTS(TCMPS)
STRATA_PTO_EVENTS(TSEL)
STRATA_PTO_EVENTS(TSELS)

// ---- reductions and broadcasts ----

#define STRATA_PTO_REDUCE(NAME, OP)                                                                \
    template <class D, class A> inline RecordEvent NAME(D &d, const A &a, place at = place())      \
    {                                                                                              \
        instruction(OP, at).in(a).out(d).run();                                                    \
        return {};                                                                                 \
    }                                                                                              \
    template <class D, class A, class T>                                                           \
    inline auto NAME(D &d, const A &a, T &tmp, place at = place())                                 \
        ->decltype(tmp.described(), RecordEvent())                                                 \
    {                                                                                              \
        instruction(OP, at).in(a).in(tmp).out(d).run();                                            \
        return {};                                                                                 \
    }                                                                                              \
    STRATA_PTO_EVENTS(NAME)

STRATA_PTO_REDUCE(TROWSUM, "pto.trowsum")
STRATA_PTO_REDUCE(TROWMAX, "pto.trowmax")
STRATA_PTO_REDUCE(TROWMIN, "pto.trowmin")
STRATA_PTO_REDUCE(TROWPROD, "pto.trowprod")
STRATA_PTO_REDUCE(TROWARGMAX, "pto.trowargmax")
STRATA_PTO_REDUCE(TROWARGMIN, "pto.trowargmin")
STRATA_PTO_REDUCE(TCOLMAX, "pto.tcolmax")
STRATA_PTO_REDUCE(TCOLMIN, "pto.tcolmin")
STRATA_PTO_REDUCE(TCOLPROD, "pto.tcolprod")
STRATA_PTO_REDUCE(TCOLARGMAX, "pto.tcolargmax")
STRATA_PTO_REDUCE(TCOLARGMIN, "pto.tcolargmin")
STRATA_PTO_REDUCE(TCOLSUM, "pto.tcolsum")
template <class D, class A, class T>
inline RecordEvent TCOLSUM(D &d, const A &a, T &tmp, bool is_binary, place at = place())
{
    instruction("pto.tcolsum", at).in(a).in(tmp).out(d).attr("isBinary", is_binary).run();
    return {};
}

STRATA_PTO_UNARY(TROWEXPAND, "pto.trowexpand")
STRATA_PTO_UNARY(TCOLEXPAND, "pto.tcolexpand")
STRATA_PTO_BINARY(TROWEXPANDADD, "pto.trowexpandadd")
STRATA_PTO_BINARY(TROWEXPANDSUB, "pto.trowexpandsub")
STRATA_PTO_BINARY(TROWEXPANDMUL, "pto.trowexpandmul")
STRATA_PTO_BINARY(TROWEXPANDDIV, "pto.trowexpanddiv")
STRATA_PTO_BINARY(TROWEXPANDMAX, "pto.trowexpandmax")
STRATA_PTO_BINARY(TROWEXPANDMIN, "pto.trowexpandmin")
STRATA_PTO_BINARY(TROWEXPANDEXPDIF, "pto.trowexpandexpdif")
STRATA_PTO_BINARY(TCOLEXPANDADD, "pto.tcolexpandadd")
STRATA_PTO_BINARY(TCOLEXPANDSUB, "pto.tcolexpandsub")
STRATA_PTO_BINARY(TCOLEXPANDMUL, "pto.tcolexpandmul")
STRATA_PTO_BINARY(TCOLEXPANDDIV, "pto.tcolexpanddiv")
STRATA_PTO_BINARY(TCOLEXPANDMAX, "pto.tcolexpandmax")
STRATA_PTO_BINARY(TCOLEXPANDMIN, "pto.tcolexpandmin")
STRATA_PTO_BINARY(TCOLEXPANDEXPDIF, "pto.tcolexpandexpdif")

// ---- gather, scatter, sort ----

template <class D, class S, class I, class T>
inline RecordEvent TGATHER(D &d, const S &s, const I &index, T &tmp, place at = place())
{
    instruction("pto.tgather", at).in(s).in(index).in(tmp).out(d).run();
    return {};
}
template <class D, class S, MaskPattern Mask>
inline RecordEvent TGATHER(D &d, const S &s, place at = place())
{
    instruction("pto.tgather", at).in(s).out(d).attr("maskPattern", Mask).run();
    return {};
}
template <class D, class S, class I>
inline RecordEvent TGATHERB(D &d, const S &s, const I &offsets, place at = place())
{
    instruction("pto.tgatherb", at).in(s).in(offsets).out(d).run();
    return {};
}
template <class D, class S, class I>
inline RecordEvent TSCATTER(D &d, const S &s, const I &index, place at = place())
{
    instruction("pto.tscatter", at).in(s).in(index).out(d).run();
    return {};
}
template <Coalesce Way = Coalesce::Row, GatherOOB Oob = GatherOOB::Undefined, class D, class G,
          class I>
inline RecordEvent MGATHER(D &d, const G &view, const I &index, place at = place())
{
    instruction("pto.mgather", at)
        .in(view)
        .in(index)
        .out(d)
        .attr("coalesce", Way)
        .attr("gatherOob", Oob)
        .run();
    return {};
}
template <Coalesce Way = Coalesce::Row, ScatterAtomicOp Atomic = ScatterAtomicOp::None,
          ScatterOOB Oob = ScatterOOB::Undefined, class G, class S, class I>
inline RecordEvent MSCATTER(G &view, const S &s, const I &index, place at = place())
{
    instruction("pto.mscatter", at)
        .in(s)
        .in(index)
        .out(view)
        .attr("coalesce", Way)
        .attr("scatterAtomicOp", Atomic)
        .attr("scatterOob", Oob)
        .run();
    return {};
}

template <class D, class S, class I>
inline RecordEvent TSORT32(D &d, const S &s, const I &index, place at = place())
{
    instruction("pto.tsort32", at).in(s).in(index).out(d).run();
    return {};
}
template <class D, class S, class I, class T>
inline auto TSORT32(D &d, const S &s, const I &index, T &tmp, place at = place())
    -> decltype(tmp.described(), RecordEvent())
{
    instruction("pto.tsort32", at).in(s).in(index).in(tmp).out(d).run();
    return {};
}

struct MrgSortExecutedNumList {
    uint16_t mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3;
};

template <class D, class S, class N, class = std::enable_if_t<std::is_integral<N>::value>>
inline RecordEvent TMRGSORT(D &d, const S &s, N block, place at = place())
{
    instruction("pto.tmrgsort", at).in(s).template value<int32_t>(block).out(d).run();
    return {};
}
template <class D, class T, class... S>
inline void merge_lists(bool exhausted, const place &at, D &d, MrgSortExecutedNumList &executed,
                        T &tmp, const S &...lists)
{
    uint64_t counts = 0;
    instruction i("pto.tmrgsort", at);
    (i.in(lists), ...);
    i.out(d).out(tmp).result(STRATA_PTO_I64, &counts).attr("exhausted", exhausted).run();
    executed.mrgSortList0 = (uint16_t)counts;
    executed.mrgSortList1 = (uint16_t)(counts >> 16);
    executed.mrgSortList2 = (uint16_t)(counts >> 32);
    executed.mrgSortList3 = (uint16_t)(counts >> 48);
}
template <class D, class T, class A, class B, bool Exhausted>
inline RecordEvent TMRGSORT(D &d, MrgSortExecutedNumList &executed, T &tmp, const A &a, const B &b,
                            place at = place())
{
    merge_lists(Exhausted, at, d, executed, tmp, a, b);
    return {};
}
template <class D, class T, class A, class B, class C, bool Exhausted>
inline RecordEvent TMRGSORT(D &d, MrgSortExecutedNumList &executed, T &tmp, const A &a, const B &b,
                            const C &c, place at = place())
{
    merge_lists(Exhausted, at, d, executed, tmp, a, b, c);
    return {};
}
template <class D, class T, class A, class B, class C, class E, bool Exhausted>
inline RecordEvent TMRGSORT(D &d, MrgSortExecutedNumList &executed, T &tmp, const A &a, const B &b,
                            const C &c, const E &e, place at = place())
{
    merge_lists(Exhausted, at, d, executed, tmp, a, b, c, e);
    return {};
}

// ---- matrix products ----

#define STRATA_PTO_PRODUCT(NAME, OP)                                                               \
    template <class D, class A, class B>                                                           \
    inline RecordEvent NAME(D &c, const A &a, const B &b, place at = place())                      \
    {                                                                                              \
        instruction("pto." OP, at).in(a).in(b).out(c).run();                                       \
        return {};                                                                                 \
    }                                                                                              \
    template <AccPhase Phase, class D, class A, class B>                                           \
    inline RecordEvent NAME(D &c, const A &a, const B &b, place at = place())                      \
    {                                                                                              \
        instruction("pto." OP, at).in(a).in(b).out(c).attr("accPhase", Phase).run();               \
        return {};                                                                                 \
    }                                                                                              \
    template <class D, class C, class A, class B>                                                  \
    inline RecordEvent NAME##_ACC(D &c, const C &from, const A &a, const B &b, place at = place()) \
    {                                                                                              \
        instruction("pto." OP ".acc", at).in(from).in(a).in(b).out(c).run();                       \
        return {};                                                                                 \
    }                                                                                              \
    template <AccPhase Phase, class D, class C, class A, class B>                                  \
    inline RecordEvent NAME##_ACC(D &c, const C &from, const A &a, const B &b, place at = place()) \
    {                                                                                              \
        instruction("pto." OP ".acc", at)                                                          \
            .in(from)                                                                              \
            .in(a)                                                                                 \
            .in(b)                                                                                 \
            .out(c)                                                                                \
            .attr("accPhase", Phase)                                                               \
            .run();                                                                                \
        return {};                                                                                 \
    }                                                                                              \
    template <class D, class A, class B>                                                           \
    inline RecordEvent NAME##_ACC(D &c, const A &a, const B &b, place at = place())                \
    {                                                                                              \
        return NAME##_ACC(c, c, a, b, at);                                                         \
    }                                                                                              \
    template <AccPhase Phase, class D, class A, class B>                                           \
    inline RecordEvent NAME##_ACC(D &c, const A &a, const B &b, place at = place())                \
    {                                                                                              \
        return NAME##_ACC<Phase>(c, c, a, b, at);                                                  \
    }                                                                                              \
    template <class D, class A, class B, class S>                                                  \
    inline RecordEvent NAME##_BIAS(D &c, const A &a, const B &b, const S &bias,                    \
                                   place at = place())                                             \
    {                                                                                              \
        instruction("pto." OP ".bias", at).in(a).in(b).in(bias).out(c).run();                      \
        return {};                                                                                 \
    }                                                                                              \
    template <class D, class A, class As, class B, class Bs>                                       \
    inline RecordEvent NAME##_MX(D &c, const A &a, const As &a_scale, const B &b,                  \
                                 const Bs &b_scale, place at = place())                            \
    {                                                                                              \
        instruction("pto." OP ".mx", at).in(a).in(a_scale).in(b).in(b_scale).out(c).run();         \
        return {};                                                                                 \
    }                                                                                              \
    template <class D, class A, class As, class B, class Bs, class S>                              \
    inline auto NAME##_MX(D &c, const A &a, const As &a_scale, const B &b, const Bs &b_scale,      \
                          const S &bias, place at = place())                                       \
        ->std::enable_if_t<S::Loc == TileType::Bias, RecordEvent>                                  \
    {                                                                                              \
        instruction("pto." OP ".mx.bias", at)                                                      \
            .in(a)                                                                                 \
            .in(a_scale)                                                                           \
            .in(b)                                                                                 \
            .in(b_scale)                                                                           \
            .in(bias)                                                                              \
            .out(c)                                                                                \
            .run();                                                                                \
        return {};                                                                                 \
    }                                                                                              \
    template <class D, class C, class A, class As, class B, class Bs>                              \
    inline auto NAME##_MX(D &c, const C &from, const A &a, const As &a_scale, const B &b,          \
                          const Bs &b_scale, place at = place())                                   \
        ->std::enable_if_t<C::Loc == TileType::Acc, RecordEvent>                                   \
    {                                                                                              \
        instruction("pto." OP ".mx.acc", at)                                                       \
            .in(from)                                                                              \
            .in(a)                                                                                 \
            .in(a_scale)                                                                           \
            .in(b)                                                                                 \
            .in(b_scale)                                                                           \
            .out(c)                                                                                \
            .run();                                                                                \
        return {};                                                                                 \
    }                                                                                              \
    STRATA_PTO_EVENTS(NAME)                                                                        \
    STRATA_PTO_EVENTS(NAME##_BIAS)                                                                 \
    STRATA_PTO_EVENTS(NAME##_ACC)

STRATA_PTO_PRODUCT(TMATMUL, "tmatmul")
STRATA_PTO_PRODUCT(TGEMV, "tgemv")

// ---- others ----

template <class... A> inline void TPRINT(const A &...) {}
template <class... E> inline void TSYNC(const E &...events)
{
    (strata_pto::wait_for(events), ...);
}

template <SyncAllMode Mode = SyncAllMode::Hard, SyncCoreType Core = SyncCoreType::AIVOnly>
inline void SYNCALL(place at = place())
{
    strata_pto::host->cross(strata_pto::host->core, "syncall", (int64_t)Mode, (int64_t)Core, at);
}
template <SyncCoreType Core> inline void SYNCALL(place at = place())
{
    SYNCALL<SyncAllMode::Hard, Core>(at);
}
template <SyncAllMode Mode = SyncAllMode::Hard, SyncCoreType Core = SyncCoreType::AIVOnly, class G,
          class... N>
inline void SYNCALL(const G &, const N &...)
{
    const place at;
    strata_pto::host->cross(strata_pto::host->core, "syncall", (int64_t)Mode, (int64_t)Core, at);
}

// ---- elements of tiles ----

template <TileType L, class E, int R, int C, BLayout BL, int VR, int VC, SLayout SL, int F, auto P,
          CompactMode M>
template <class I, class N>
void Tile<L, E, R, C, BL, VR, VC, SL, F, P, M>::SetValue(I index, N value, place at)
{
    instruction("pto.tsetval", at).index(index).template value<E>(value).out(*this).run();
}

template <TileType L, class E, int R, int C, BLayout BL, int VR, int VC, SLayout SL, int F, auto P,
          CompactMode M>
template <class I>
E Tile<L, E, R, C, BL, VR, VC, SL, F, P, M>::GetValue(I index, place at) const
{
    return strata_pto::element_of<E>(strata_pto::host->get(strata_pto::host->core, described(),
                                                           static_cast<int64_t>(index), at));
}

} // namespace pto

#endif
