// Frequency of get_sys_cnt().
#ifndef STRATA_PTO_PLATFORM_CONFIG_H
#define STRATA_PTO_PLATFORM_CONFIG_H

#include <pto/common/constants.hpp>

#ifdef PTO_NPU_ARCH_A5
#define PLATFORM_PROF_SYS_CNT_FREQ 1000000000
#else
#define PLATFORM_PROF_SYS_CNT_FREQ 50000000
#endif

#endif
