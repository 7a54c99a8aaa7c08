// What kernels hand to the runtime to be finished later; there is no runtime behind a host run.
#ifndef STRATA_PTO_ASYNC_KERNEL_API_H
#define STRATA_PTO_ASYNC_KERNEL_API_H

#include <pto/comm/pto_comm_inst.hpp>

#include "aicore_completion_mailbox_types.h"
#include "intrinsic.h"

template <class A> inline AsyncCtx get_async_ctx(A *args)
{
    return reinterpret_cast<const LocalContext *>(args[48])->async_ctx;
}

template <class... A> inline bool register_completion_condition(AsyncCtx &, const A &...)
{
    pto::comm::no_other_rank("register_completion_condition needs the runtime",
                             strata_pto::place());
    return true;
}
template <class P, class V>
inline void send_notification(P *, V, pto::comm::NotifyOp,
                              strata_pto::place at = strata_pto::place())
{
    pto::comm::no_other_rank("send_notification needs other ranks", at);
}
template <class... A> inline void save_expected_notification_counter(const A &...)
{
    pto::comm::no_other_rank("save_expected_notification_counter needs the runtime",
                             strata_pto::place());
}
template <class... A> inline bool send_request_entry(AsyncCtx &, const A &...)
{
    pto::comm::no_other_rank("send_request_entry needs the runtime", strata_pto::place());
    return true;
}

namespace pto2
{
namespace detail
{
template <class... A> inline void defer_error(const A &...)
{
    pto::comm::no_other_rank("defer_error needs the runtime", strata_pto::place());
}
template <class... A> inline void defer_flush(const A &...)
{
    pto::comm::no_other_rank("defer_flush needs the runtime", strata_pto::place());
}
} // namespace detail
} // namespace pto2

#endif
