// What a kernel finds in its argument slots, and what an orchestration makes of tensors.
#ifndef STRATA_PTO_TENSOR_H
#define STRATA_PTO_TENSOR_H

#include <cstdint>
#include <cstring>

struct PTO2TaskId {
    uint64_t raw;

    static constexpr PTO2TaskId make(uint8_t ring, uint32_t local)
    {
        return {static_cast<uint64_t>(ring) << 32 | local};
    }
    static constexpr PTO2TaskId invalid() { return {UINT64_MAX}; }
    constexpr uint8_t ring() const { return static_cast<uint8_t>(raw >> 32); }
    constexpr uint32_t local() const { return static_cast<uint32_t>(raw); }
    constexpr bool is_valid() const { return raw != UINT64_MAX; }
    constexpr bool is_invalid() const { return raw == UINT64_MAX; }
    constexpr bool operator==(const PTO2TaskId &other) const { return raw == other.raw; }
    constexpr bool operator!=(const PTO2TaskId &other) const { return raw != other.raw; }
};

constexpr int MAX_TENSOR_DIMS = 5;

enum class AddressSpace : uint8_t { HOST, DEVICE };

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
    DATA_TYPE_NUM,
};

namespace strata_pto
{
struct data_type {
    const char *name;
    uint64_t bytes;
};
constexpr data_type data_types[] = {
    {"FLOAT32", 4}, {"FLOAT16", 2},  {"INT32", 4},     {"INT16", 2},   {"INT8", 1},
    {"UINT8", 1},   {"BFLOAT16", 2}, {"INT64", 8},     {"UINT64", 8},  {"UINT16", 2},
    {"UINT32", 4},  {"BOOL", 1},     {"FP8E4M3FN", 1}, {"FP8E8M0", 1}, {"FP4E2M1", 1},
};
} // namespace strata_pto

inline uint64_t get_element_size(DataType t)
{
    return t < DataType::DATA_TYPE_NUM ? strata_pto::data_types[static_cast<int>(t)].bytes : 0;
}
inline const char *get_dtype_name(DataType t)
{
    return t < DataType::DATA_TYPE_NUM ? strata_pto::data_types[static_cast<int>(t)].name
                                       : "UNKNOWN";
}

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
    bool manual_dep, is_contiguous;
    AddressSpace address_space;
    uint32_t shapes[MAX_TENSOR_DIMS];
    uint64_t extent_elem_cache;        // from the first element to behind the last
    uint32_t strides[MAX_TENSOR_DIMS]; // in elements

    uint64_t numel() const
    {
        uint64_t n = 1;
        for (uint32_t i = 0; i < ndims; i++)
            n *= shapes[i];
        return n;
    }
    uint64_t extent_elem() const { return is_contiguous ? numel() : extent_elem_cache; }
    uint64_t nbytes() const { return numel() * get_element_size(dtype); }
    bool is_device_memory() const { return address_space == AddressSpace::DEVICE; }
    template <class T> T *data_as() const
    {
        return reinterpret_cast<T *>(static_cast<uintptr_t>(buffer.addr));
    }
    uint64_t compute_flat_offset(const uint32_t index[], uint32_t n) const
    {
        uint64_t at = start_offset;
        for (uint32_t i = 0; i < n; i++)
            at += static_cast<uint64_t>(index[i]) * strides[i];
        return at;
    }
    void copy(const ChipTensor &other) { *this = other; }
    void init_from(const ChipTensor &other) { *this = other; }

    // Other ways to look at the same memory.
    ChipTensor view(const uint32_t shape[], const uint32_t offset[], bool manual = false) const
    {
        ChipTensor t = *this;
        bool is_empty = false;
        for (uint32_t i = 0; i < ndims; i++)
            is_empty = is_empty || shape[i] == 0;
        for (uint32_t i = 0; i < ndims; i++) {
            t.start_offset += is_empty ? 0 : static_cast<uint64_t>(offset[i]) * strides[i];
            t.shapes[i] = shape[i];
        }
        return t.derived(manual);
    }
    ChipTensor transpose(uint32_t a, uint32_t b, bool manual = false) const
    {
        ChipTensor t = *this;
        t.shapes[a] = shapes[b], t.shapes[b] = shapes[a];
        t.strides[a] = strides[b], t.strides[b] = strides[a];
        return t.derived(manual);
    }
    ChipTensor permute(const uint32_t order[], bool manual = false) const
    {
        ChipTensor t = *this;
        for (uint32_t i = 0; i < ndims; i++) {
            t.shapes[i] = shapes[order[i]];
            t.strides[i] = strides[order[i]];
        }
        return t.derived(manual);
    }
    ChipTensor slice(uint32_t dim, uint32_t from, uint32_t to, uint32_t step = 1,
                     bool manual = false) const
    {
        ChipTensor t = *this;
        t.start_offset += static_cast<uint64_t>(from) * strides[dim];
        t.shapes[dim] = (to - from + step - 1) / step;
        t.strides[dim] = strides[dim] * step;
        return t.derived(manual);
    }
    ChipTensor reshape(const uint32_t shape[], uint32_t n, bool manual = false) const
    {
        ChipTensor t = *this;
        t.set_shape(shape, n);
        return t.derived(manual);
    }

    // For the functions that make tensors: a row-major shape, and what follows from shape and
    // strides.
    void set_shape(const uint32_t shape[], uint32_t n)
    {
        uint32_t step = 1;
        ndims = n < MAX_TENSOR_DIMS ? n : MAX_TENSOR_DIMS;
        for (uint32_t i = ndims; i-- > 0; step *= shape[i]) {
            shapes[i] = shape[i];
            strides[i] = step;
        }
    }
    ChipTensor derived(bool manual)
    {
        uint64_t step = 1;
        bool is_empty = false;
        manual_dep = manual;
        is_contiguous = true;
        extent_elem_cache = 1;
        for (uint32_t i = ndims; i-- > 0; step *= shapes[i]) {
            is_contiguous = is_contiguous && strides[i] == step;
            is_empty = is_empty || shapes[i] == 0;
            extent_elem_cache += shapes[i] > 0 ? (shapes[i] - 1) * uint64_t{strides[i]} : 0;
        }
        if (is_empty)
            is_contiguous = true, extent_elem_cache = 0;
        return *this;
    }
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
