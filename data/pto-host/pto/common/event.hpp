// Events between instructions as objects: `ev = TLOAD(..)` sets a flag, a trailing event waits for
// it.
#ifndef STRATA_PTO_EVENT_HPP
#define STRATA_PTO_EVENT_HPP

#include <pto/common/constants.hpp>
#include <pto/common/host.hpp>
#include <tuple>
#include <utility>

namespace pto
{

enum class Op : uint16_t {
    SCALAR,
    TLOAD,
    TSTORE_VEC,
    TSTORE_ACC,
    TSTORE_MAT,
    TMOV_M2L,
    TMOV_M2B,
    TMOV_M2S,
    TMOV_A2V,
    TMOV_A2M,
    TMOV_V2V,
    TMOV_V2M,
    TEXTRACT_M2LR,
    TMATMUL,
    TVEC,
    TADD,
    TSUB,
    TMUL,
    TDIV,
    TMAX,
    TMIN,
    TEXP,
    TCVT,
    TADDS,
    TMULS,
    TROWSUM,
    TROWMAX,
    TROWEXPAND,
    TCOLSUM,
    TEXPANDS,
    TSEL,
    TTRANS,
    TGATHER,
    TRESHAPE,
    VECTOR,
    TAXPY,
    TDIVS,
    TMINS,
    TAND,
    TOR,
    TSHL,
    TSHR,
    TSELS,
    TSQRT,
    TRSQRT,
    TEXPANDS_MAT,
    TPARTADD,
    TPARTMUL,
    TPARTMAX,
    TPARTMIN,
    TPOW,
    TPOWS,
    TCMPS,
    TMRGSORT,
    TSORT32,
    TCI,
    TGATHERB,
    TROWPROD,
    TROWMIN,
    TRANDOM,
    TCOLPROD,
    TCOLMAX,
    TCOLMIN,
    TTRI,
    TREM,
    TFMOD,
    TREMS,
    TFMODS,
    TSUBS,
    TMAXS,
    TLRELU,
    TPRELU,
    TEXTRACT_V2M,
    TMOV_M2R,
    TGEMV,
    TANDS,
    TORS,
    TSHLS,
    TSHRS,
    TXOR,
    TXORS,
    TEXTRACT_A2M,
    TINSERT_A2M,
    TCONCAT,
    TDEQUANT,
    TABS,
    TNEG,
    TRELU,
    TNOT,
    TLOG,
    TRECIP,
    TCMP,
    TSCATTER,
    TCOLEXPAND,
    TCOLEXPANDDIV,
    TCOLEXPANDMUL,
    TCOLEXPANDADD,
    TCOLEXPANDMAX,
    TCOLEXPANDMIN,
    TCOLEXPANDSUB,
    TCOLEXPANDEXPDIF,
    TROWEXPANDDIV,
    TROWEXPANDMUL,
    TROWEXPANDSUB,
    TROWEXPANDADD,
    TROWEXPANDMAX,
    TROWEXPANDMIN,
    TROWEXPANDEXPDIF,
    TPARTARGMAX,
    TPARTARGMIN,
    TQUANT,
    TFILLPAD,
};

constexpr int pipe_of(Op op)
{
    switch (op) {
    case Op::SCALAR:
    case Op::TRESHAPE:
    case Op::TCI:
        return PIPE_S;
    case Op::TLOAD:
    case Op::TEXPANDS_MAT:
        return PIPE_MTE2;
    case Op::TSTORE_VEC:
    case Op::TSTORE_MAT:
    case Op::TMOV_V2M:
    case Op::TEXTRACT_V2M:
        return PIPE_MTE3;
    case Op::TSTORE_ACC:
    case Op::TMOV_M2S:
    case Op::TMOV_A2V:
    case Op::TMOV_A2M:
    case Op::TEXTRACT_A2M:
    case Op::TINSERT_A2M:
        return PIPE_FIX;
    case Op::TMOV_M2L:
    case Op::TMOV_M2R:
    case Op::TMOV_M2B:
    case Op::TEXTRACT_M2LR:
        return PIPE_MTE1;
    case Op::TMATMUL:
    case Op::TGEMV:
        return PIPE_M;
    default:
        return PIPE_V;
    }
}

struct RecordEvent {
};

template <Op Src, Op Dst> class Event
{
  public:
    Event() : id_(next()++ % 8) {}
    Event(const RecordEvent &) : Event() { Init(); }
    Event &operator=(const RecordEvent &) { return Init(); }
    Event &Init(strata_pto::place at = strata_pto::place())
    {
        flag(0, at);
        return *this;
    }
    void Wait(strata_pto::place at = strata_pto::place()) const { flag(1, at); }

  private:
    static int &next()
    {
        static int n = 0;
        return n;
    }
    void flag(int is_wait, const strata_pto::place &at) const
    {
        if (pipe_of(Src) == pipe_of(Dst)) {
            if (is_wait)
                strata_pto::host->barrier(strata_pto::host->core, pipe_of(Dst), at);
        } else {
            strata_pto::host->flag(strata_pto::host->core, is_wait, pipe_of(Src), pipe_of(Dst), id_,
                                   at);
        }
    }
    int id_;
};

template <pipe_t Src, pipe_t Dst>
inline void PtoSetWaitFlag(event_t set = EVENT_ID0, event_t wait = EVENT_ID0,
                           strata_pto::place at = strata_pto::place())
{
    strata_pto::host->flag(strata_pto::host->core, 0, Src, Dst, set, at);
    strata_pto::host->flag(strata_pto::host->core, 1, Src, Dst, wait, at);
}

} // namespace pto

namespace strata_pto
{

template <class T> struct is_event : std::false_type {
};
template <pto::Op Src, pto::Op Dst> struct is_event<pto::Event<Src, Dst>> : std::true_type {
};
template <class... T>
constexpr int events_among = (0 + ... + (is_event<std::decay_t<T>>::value ? 1 : 0));

template <class T> void wait_for(const T &x)
{
    if constexpr (is_event<T>::value)
        x.Wait();
}

// What an instruction was given, tiles to be written included.
template <class T> T &operand(const T &x)
{
    return const_cast<T &>(x);
}

// Waits for the events at the end and hands the operands before them to `f`.
template <class F, class Tuple, std::size_t... I>
auto without_events(F f, const Tuple &all, std::index_sequence<I...>)
{
    return f(std::get<I>(all)...);
}

} // namespace strata_pto

// An instruction with events after its operands.
#define STRATA_PTO_EVENTS(NAME)                                                                    \
    template <class... A>                                                                          \
    inline std::enable_if_t<(strata_pto::events_among<A...> > 0), RecordEvent> NAME(const A &...a) \
    {                                                                                              \
        (strata_pto::wait_for(a), ...);                                                            \
        return strata_pto::without_events(                                                         \
            [](const auto &...x) { return NAME(strata_pto::operand(x)...); }, std::tie(a...),      \
            std::make_index_sequence<sizeof...(A) - strata_pto::events_among<A...>>());            \
    }

#endif
