// What a kernel finds in its argument slots.
#ifndef STRATA_PTO_TENSOR_H
#define STRATA_PTO_TENSOR_H

#include <cstdint>
#include <cstring>

struct PTO2TaskId {
    uint64_t raw;
};

enum class DataType : uint8_t {
    FLOAT32,
    FLOAT16,
    INT32,
    INT16,
    INT8,
    UINT8,
    BFLOAT16,
    INT64,
    UINT64,
    UINT16,
    UINT32,
    BOOL,
    FP8E4M3FN,
    FP8E8M0,
    FP4E2M1,
};

struct TensorBuffer {
    uint64_t addr; // of the first byte
    uint64_t size; // in bytes
};

struct alignas(64) ChipTensor {
    TensorBuffer buffer;
    PTO2TaskId owner_task_id;
    uint64_t start_offset; // in elements
    int32_t version;
    uint32_t ndims;
    DataType dtype;
    uint8_t manual_dep, is_contiguous, address_space;
    uint32_t shapes[5];
    uint64_t extent;
    uint32_t strides[5]; // in elements
};
static_assert(sizeof(ChipTensor) == 128, "the runtime's descriptor has 128 bytes");

using Tensor = ChipTensor; // its name before

template <class T> inline T from_u64(uint64_t bits)
{
    T x;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
}
template <class T> inline uint64_t to_u64(T x)
{
    uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof(x));
    return bits;
}

#endif
