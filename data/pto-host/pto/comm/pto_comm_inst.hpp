// Instructions between ranks. A run is of one rank, so that every address is its own; what needs
// another engine ends the run with the reason.
#ifndef STRATA_PTO_COMM_INST_HPP
#define STRATA_PTO_COMM_INST_HPP

#include <pto/comm/comm_types.hpp>

namespace pto
{

struct PrefetchAsyncContext {
    comm::AsyncSession session;
    template <class... A> explicit PrefetchAsyncContext(A...) {}
};

namespace comm
{

inline void no_other_rank(const char *name, strata_pto::place at)
{
    strata_pto::host->stop(strata_pto::host->core, name, at);
}

template <class S, class V>
inline void TNOTIFY(const S &signal, V value, NotifyOp op,
                    strata_pto::place at = strata_pto::place())
{
    strata_pto::instruction("pto.comm.tnotify", at)
        .in(signal)
        .template value<int32_t>(value)
        .attr("notifyOp", op)
        .run();
}
template <class S, class V>
inline void TWAIT(const S &signal, V value, WaitCmp cmp, strata_pto::place at = strata_pto::place())
{
    strata_pto::instruction("pto.comm.twait", at)
        .in(signal)
        .template value<int32_t>(value)
        .attr("cmp", cmp)
        .run();
}
template <class S, class V>
inline bool TTEST(const S &signal, V value, WaitCmp cmp, strata_pto::place at = strata_pto::place())
{
    uint64_t met = 0;

    strata_pto::instruction("pto.comm.ttest", at)
        .in(signal)
        .template value<int32_t>(value)
        .result(STRATA_PTO_I1, &met)
        .attr("cmp", cmp)
        .run();
    return met != 0;
}
template <AtomicType A = AtomicType::AtomicNone, class D, class S, class T>
inline void TPUT(const D &to, const S &from, const T &stage,
                 strata_pto::place at = strata_pto::place())
{
    strata_pto::instruction("pto.comm.tput", at)
        .in(to)
        .in(from)
        .in(stage)
        .attr("atomicType", A)
        .run();
}
template <AtomicType A = AtomicType::AtomicNone, class D, class S, class T>
inline void TPUT(const D &to, const S &from, const T &ping, const T &pong,
                 strata_pto::place at = strata_pto::place())
{
    strata_pto::instruction("pto.comm.tput", at)
        .in(to)
        .in(from)
        .in(ping)
        .in(pong)
        .attr("atomicType", A)
        .run();
}
template <class D, class S, class T>
inline void TGET(const D &to, const S &from, const T &stage,
                 strata_pto::place at = strata_pto::place())
{
    strata_pto::instruction("pto.comm.tget", at).in(to).in(from).in(stage).run();
}
template <class D, class S, class N>
inline AsyncEvent TPUT_ASYNC(const D &, const S &, const N &,
                             strata_pto::place at = strata_pto::place())
{
    no_other_rank("TPUT_ASYNC needs other ranks", at);
    return {};
}
template <class D, class S, class N>
inline AsyncEvent TGET_ASYNC(const D &, const S &, const N &,
                             strata_pto::place at = strata_pto::place())
{
    no_other_rank("TGET_ASYNC needs other ranks", at);
    return {};
}

} // namespace comm

template <class G, class C>
inline comm::AsyncEvent TPREFETCH_ASYNC(const G &, const C &,
                                        strata_pto::place at = strata_pto::place())
{
    comm::no_other_rank("TPREFETCH_ASYNC needs the runtime's DMA engine", at);
    return {};
}

} // namespace pto

#endif
