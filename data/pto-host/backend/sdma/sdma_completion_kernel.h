#ifndef STRATA_PTO_SDMA_H
#define STRATA_PTO_SDMA_H

#include "common/dma_workspace.h"
#include "pto_async_kernel_api.h"

constexpr int SDMA_SCRATCH_ALIGNMENT = 256;

struct SdmaTget {
    template <class... A> explicit SdmaTget(const A &...) {}
};
struct SdmaTput {
    template <class... A> explicit SdmaTput(const A &...) {}
};

#endif
