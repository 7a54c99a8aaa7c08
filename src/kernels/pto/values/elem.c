/*
 * Elements loaded, stored and read as numbers.
 */
#include "kernels/pto/values/elem.h"

#include <string.h>

#include "base/text/num.h"
#include "kernels/pto/values/elem_in.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are copied as they are");

uint32_t pto_elem_lanes(enum pto_dtype t)
{
    return t == PTO_F4E1M2X2 || t == PTO_F4E2M1X2 || t == PTO_HIF8X2 || t == PTO_BF16X2 ? 2 : 1;
}

enum pto_dtype pto_elem_lane_type(enum pto_dtype t)
{
    return t == PTO_HIF8X2 ? PTO_HIF8 : t == PTO_BF16X2 ? PTO_BF16 : t;
}

static uint32_t lane_bits(enum pto_dtype t)
{
    return pto_dtype_size(t) * 8 / 2;
}

uint64_t pto_elem_lane(uint64_t bits, enum pto_dtype t, uint32_t lane)
{
    if (pto_elem_lanes(t) == 1)
        return bits;
    uint32_t width = lane_bits(t);
    return bits >> (lane != 0 ? width : 0) & ((1ull << width) - 1);
}

uint64_t pto_elem_join(uint64_t low, uint64_t high, enum pto_dtype t)
{
    return pto_elem_lanes(t) == 1 ? low : low | high << lane_bits(t);
}

static inline float f16_to_f32(uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16;
    uint32_t code = h & 0x7fff;
    if (code >= 0x7c00)
        return num_float_of_bits(sign | 0x7f800000 | (code & 0x3ff) << 13);
    /* Shifted into place the exponent is 112 too small; the product is exact, subnormals too. */
    float size = num_float_of_bits(code << 13) * 0x1p112f;
    return num_float_of_bits(sign | num_bits_of_float(size));
}

static inline uint32_t f32_to_f16(float value)
{
    uint32_t bits = num_bits_of_float(value);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t code = bits & 0x7fffffff;
    if (code >= 0x47800000) /* 65536 and more */
        return sign | (code > 0x7f800000 ? 0x7e00 : 0x7c00);
    if (code < 0x38800000) { /* below 2^-14: adding 2^-1 leaves the code in the low bits */
        float size = num_float_of_bits(code) + 0.5f;
        return sign | (num_bits_of_float(size) - 0x3f000000);
    }
    code += 0xfff + (code >> 13 & 1); /* nearest even at bit 13 */
    return sign | ((code - 0x38000000) >> 13);
}

static inline uint32_t f32_to_bf16(float value)
{
    uint32_t bits = num_bits_of_float(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (bits >> 16 & 0x8000) | 0x7fc0;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

float pto_elem_f32(uint64_t bits, enum pto_dtype t)
{
    switch (t) {
    case PTO_F32:
        return num_float_of_bits((uint32_t)bits);
    case PTO_F16:
        return f16_to_f32((uint32_t)bits);
    case PTO_BF16:
        return num_float_of_bits((uint32_t)bits << 16);
    default:
        return num_float_of_bits((uint32_t)pto_elem_convert(bits, t, PTO_F32, nearest));
    }
}

int64_t pto_elem_i64(uint64_t bits, enum pto_dtype t)
{
    return (int64_t)(elem_is_integer(t) ? bits : pto_elem_convert(bits, t, PTO_I64, toward_zero));
}

uint64_t pto_elem_from_f32(float value, enum pto_dtype t)
{
    switch (t) {
    case PTO_F32:
        return num_bits_of_float(value);
    case PTO_F16:
        return f32_to_f16(value);
    case PTO_BF16:
        return f32_to_bf16(value);
    default:
        return pto_elem_convert(num_bits_of_float(value), PTO_F32, t,
                                elem_is_integer(t) ? toward_zero : nearest);
    }
}

uint64_t pto_elem_from_i64(int64_t value, enum pto_dtype t)
{
    if (elem_is_integer(t))
        return elem_wrap((uint64_t)value, t);
    return pto_elem_convert((uint64_t)value, PTO_I64, t, nearest);
}

uint64_t pto_elem_load(const unsigned char *at, enum pto_dtype t)
{
    uint64_t bits = 0;
    switch (pto_dtype_size(t)) {
    case 1:
        bits = *at;
        break;
    case 2:
        memcpy(&bits, at, 2);
        break;
    case 4:
        memcpy(&bits, at, 4);
        break;
    case 8:
        memcpy(&bits, at, 8);
        break;
    default:
        break;
    }
    if (t == PTO_I1)
        return bits & 1;
    return elem_is_signed(t) ? elem_wrap(bits, t) : bits;
}

void pto_elem_store(unsigned char *at, enum pto_dtype t, uint64_t bits)
{
    switch (pto_dtype_size(t)) {
    case 1:
        *at = (unsigned char)bits;
        break;
    case 2:
        memcpy(at, &bits, 2);
        break;
    case 4:
        memcpy(at, &bits, 4);
        break;
    case 8:
        memcpy(at, &bits, 8);
        break;
    default:
        break;
    }
}

static inline uint32_t half_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static inline void put_half(unsigned char *at, uint32_t v)
{
    at[0] = (unsigned char)v;
    at[1] = (unsigned char)(v >> 8);
}

/* Common types have loops of their own, without a switch for each element. */
void pto_elem_read_f32(void *to, const unsigned char *at, enum pto_dtype t, size_t n)
{
    float *out = to;
    uint32_t size = pto_dtype_size(t);
    switch (t) {
    case PTO_F32:
        memcpy(out, at, n * sizeof(*out));
        break;
    case PTO_F16:
        for (size_t i = 0; i < n; i++)
            out[i] = f16_to_f32(half_at(at + 2 * i));
        break;
    case PTO_BF16:
        for (size_t i = 0; i < n; i++)
            out[i] = num_float_of_bits(half_at(at + 2 * i) << 16);
        break;
    case PTO_I8:
        for (size_t i = 0; i < n; i++)
            out[i] = (float)(int8_t)at[i];
        break;
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = pto_elem_f32(pto_elem_load(at + i * size, t), t);
    }
}

void pto_elem_write_f32(unsigned char *at, const void *from, enum pto_dtype t, size_t n)
{
    const float *in = from;
    uint32_t size = pto_dtype_size(t);
    switch (t) {
    case PTO_F32:
        memcpy(at, in, n * sizeof(*in));
        break;
    case PTO_F16:
        for (size_t i = 0; i < n; i++)
            put_half(at + 2 * i, f32_to_f16(in[i]));
        break;
    case PTO_BF16:
        for (size_t i = 0; i < n; i++)
            put_half(at + 2 * i, f32_to_bf16(in[i]));
        break;
    default:
        for (size_t i = 0; i < n; i++)
            pto_elem_store(at + i * size, t, pto_elem_from_f32(in[i], t));
    }
}

void pto_elem_read_i64(void *to, const unsigned char *at, enum pto_dtype t, size_t n)
{
    int64_t *out = to;
    uint32_t size = pto_dtype_size(t);
    switch (t) {
    case PTO_I8:
        for (size_t i = 0; i < n; i++)
            out[i] = (int64_t)(int8_t)at[i];
        break;
    case PTO_I32:
        for (size_t i = 0; i < n; i++) {
            int32_t x;
            memcpy(&x, at + 4 * i, sizeof(x));
            out[i] = x;
        }
        break;
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = pto_elem_i64(pto_elem_load(at + i * size, t), t);
    }
}

void pto_elem_write_i64(unsigned char *at, const void *from, enum pto_dtype t, size_t n)
{
    const int64_t *in = from;
    uint32_t size = pto_dtype_size(t);
    if (elem_is_integer(t) && t != PTO_I1) {
        for (size_t i = 0; i < n; i++)
            memcpy(at + i * size, &in[i], size);
        return;
    }
    for (size_t i = 0; i < n; i++)
        pto_elem_store(at + i * size, t, pto_elem_from_i64(in[i], t));
}
