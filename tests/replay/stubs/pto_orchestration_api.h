// A stand-in for the runtime's tensor descriptor, called ChipTensor since August 2026 and Tensor
// before (STUB_OLD): what generated files use of it, at the places where kernels read it.
#pragma once
#include <cstdint>
#ifdef STUB_OLD
#define ChipTensor Tensor
#endif
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
    FP4E2M1
};
struct alignas(64) ChipTensor {
    struct {
        uint64_t addr, size;
    } buffer;
    uint64_t owner, start_offset;
    int32_t version;
    uint32_t ndims;
    DataType dtype;
    bool manual_dep, is_contiguous;
    uint8_t space;
    uint32_t shapes[5];
    uint64_t extent_elem_cache;
#ifndef STUB_NO_STRIDES
    uint32_t strides[5];
#endif
};
inline ChipTensor make_tensor_external(void *data, const uint32_t *shape, uint32_t ndims,
                                       DataType type, bool manual_dep = false, int32_t version = 0)
{
    ChipTensor t{};
    t.buffer.addr = reinterpret_cast<uintptr_t>(data);
    t.ndims = ndims;
    t.dtype = type;
    t.manual_dep = manual_dep;
    t.is_contiguous = true;
    t.version = version;
    for (uint32_t i = 0; i < ndims; ++i)
        t.shapes[i] = shape[i];
    return t;
}
#ifdef STUB_OLD
#undef ChipTensor
#endif
