// Types of the communication between ranks.
#ifndef STRATA_PTO_COMM_TYPES_HPP
#define STRATA_PTO_COMM_TYPES_HPP

#include <pto/common/pto_tile.hpp>

namespace pto
{
namespace comm
{

enum class NotifyOp { AtomicAdd, Set };
enum class WaitCmp { EQ, NE, GT, GE, LT, LE };

using Signal = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>>;

struct AsyncSession {
};
struct AsyncEvent {
    template <class Session> bool Wait(const Session &) const { return true; }
};

} // namespace comm
} // namespace pto

#endif
