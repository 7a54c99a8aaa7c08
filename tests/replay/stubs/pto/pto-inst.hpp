// What stand-alone cases need of the instructions' header: types and empty marks.
#pragma once
#include <stdint.h>
#define AICORE
#define __global__
#define __gm__
struct half {
    uint16_t bits;
};
struct bfloat16_t {
    uint16_t bits;
};
