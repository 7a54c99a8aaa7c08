// Which block and lane a kernel is, from its argument slots 48 and 49.
#ifndef STRATA_PTO_INTRINSIC_H
#define STRATA_PTO_INTRINSIC_H

#include <cstdint>

#include "common/dma_workspace.h"

struct AsyncCtx {
    uint64_t word[8];
};
struct LocalContext {
    int32_t s_block_idx, s_block_num;
    AsyncCtx async_ctx;
};
struct GlobalContext {
    int32_t sub_block_id;
    uint8_t *dma_workspace[8];
};

template <class A> inline int32_t get_block_idx(A *args)
{
    return reinterpret_cast<const LocalContext *>(args[48])->s_block_idx;
}
template <class A> inline int32_t get_block_num(A *args)
{
    return reinterpret_cast<const LocalContext *>(args[48])->s_block_num;
}
template <class A> inline int32_t get_sub_block_id(A *args)
{
    return reinterpret_cast<const GlobalContext *>(args[49])->sub_block_id;
}
template <class A, class K> inline uint8_t *get_dma_workspace(A *args, K kind)
{
    return reinterpret_cast<const GlobalContext *>(args[49])->dma_workspace[static_cast<int>(kind)];
}

#endif
