// A stand-in for the runtime's tensor descriptor.
#pragma once
#include <cstdint>
enum class DataType {
    FLOAT16,
    FLOAT32,
    BFLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64
};
struct Tensor {
    void *data;
    uint32_t shape[8], ndims;
    DataType type;
};
inline Tensor make_tensor_external(void *data, const uint32_t *shape, uint32_t ndims, DataType type)
{
    Tensor t = {data, {}, ndims, type};
    for (uint32_t i = 0; i < ndims; ++i)
        t.shape[i] = shape[i];
    return t;
}
