// Instructions between ranks; each ends the run with the reason.
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
inline void TNOTIFY(const S &, V, NotifyOp, strata_pto::place at = strata_pto::place())
{
    no_other_rank("TNOTIFY needs other ranks", at);
}
template <class S, class V>
inline void TWAIT(const S &, V, WaitCmp, strata_pto::place at = strata_pto::place())
{
    no_other_rank("TWAIT needs other ranks", at);
}
template <class S, class V>
inline bool TTEST(const S &, V, WaitCmp, strata_pto::place at = strata_pto::place())
{
    no_other_rank("TTEST needs other ranks", at);
    return true;
}
template <AtomicType A = AtomicType::AtomicNone, class D, class S, class T>
inline void TPUT(const D &, const S &, const T &, strata_pto::place at = strata_pto::place())
{
    no_other_rank("TPUT needs other ranks", at);
}
template <AtomicType A = AtomicType::AtomicNone, class D, class S, class T>
inline void TPUT(const D &, const S &, const T &, const T &,
                 strata_pto::place at = strata_pto::place())
{
    no_other_rank("TPUT needs other ranks", at);
}
template <class D, class S, class T>
inline void TGET(const D &, const S &, const T &, strata_pto::place at = strata_pto::place())
{
    no_other_rank("TGET needs other ranks", at);
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
