// Types of the host's interface that kernels and their launchers name.
#ifndef STRATA_PTO_ACL_H
#define STRATA_PTO_ACL_H

#include <pto/common/element.hpp>

using aclFloat16 = uint16_t; // the bits of a half
using aclError = int;
using aclrtStream = void *;
using aclrtContext = void *;

#endif
