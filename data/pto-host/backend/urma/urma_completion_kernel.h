#ifndef STRATA_PTO_URMA_H
#define STRATA_PTO_URMA_H

#include "common/dma_workspace.h"
#include "pto_async_kernel_api.h"

struct UrmaTget {
    template <class... A> explicit UrmaTget(const A &...) {}
};
struct UrmaTput {
    template <class... A> explicit UrmaTput(const A &...) {}
};

namespace pto2
{
namespace urma_backend
{
template <class T> inline T *peer_mr_ptr(uint8_t *, uint32_t, uint64_t)
{
    pto::comm::no_other_rank("peer_mr_ptr needs other ranks", strata_pto::place());
    return nullptr;
}
} // namespace urma_backend
} // namespace pto2

#endif
