// Element types of tiles: the size of the chip's, converted from and to float with one rounding.
#ifndef STRATA_PTO_ELEMENT_HPP
#define STRATA_PTO_ELEMENT_HPP

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <strata/pto_host.h>

namespace strata_pto
{

inline uint32_t float_bits(float x)
{
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    return bits;
}

inline float float_of(uint32_t bits)
{
    float x;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
}

// A binary float of 1 + Exponent + Mantissa bits with the bias of its width; to nearest even.
// Without infinities the largest pattern is the only NaN and large values saturate.
template <int Exponent, int Mantissa, bool HasInfinity> struct small_float {
    static constexpr int bias = (1 << (Exponent - 1)) - 1;
    static constexpr uint32_t top = (1u << Exponent) - 1;

    static uint32_t pack(float x)
    {
        const uint32_t bits = float_bits(x), sign = bits >> 31 << (Exponent + Mantissa);
        const uint32_t magnitude = bits & 0x7fffffffu;

        if (magnitude > 0x7f800000u)
            return sign | (HasInfinity ? top << Mantissa | 1u << (Mantissa - 1)
                                       : (1u << (Exponent + Mantissa)) - 1);
        int exponent = (int)(magnitude >> 23) - 127 + bias;
        uint64_t fraction = (magnitude & 0x7fffffu) | (magnitude >> 23 ? 0x800000u : 0);
        int shift = 23 - Mantissa;
        if (exponent < 1) {
            shift += 1 - exponent;
            exponent = 1;
        }
        if (shift > 40)
            return sign;
        uint64_t kept = fraction >> shift, half = 1ull << (shift - 1);
        uint64_t rest = fraction & ((1ull << shift) - 1);
        kept += rest > half || (rest == half && (kept & 1));
        uint64_t value = kept + ((uint64_t)(exponent - 1) << Mantissa);
        uint64_t limit =
            HasInfinity ? (uint64_t)top << Mantissa : (1ull << (Exponent + Mantissa)) - 2;
        return sign | (uint32_t)(value > limit ? limit : value);
    }

    static float unpack(uint32_t bits)
    {
        const bool negative = bits >> (Exponent + Mantissa) & 1;
        const uint32_t exponent = bits >> Mantissa & top, fraction = bits & ((1u << Mantissa) - 1);
        float x;

        if (HasInfinity && exponent == top)
            x = float_of(0x7f800000u | (fraction ? 0x400000u : 0));
        else if (!HasInfinity && exponent == top && fraction == (1u << Mantissa) - 1)
            x = float_of(0x7fc00000u);
        else if (exponent == 0)
            x = (float)fraction * float_of((uint32_t)(127 + 1 - bias - Mantissa) << 23);
        else
            x = float_of((exponent + 127 - bias) << 23 | fraction << (23 - Mantissa));
        return negative ? -x : x;
    }
};

struct brain_float {
    static uint32_t pack(float x)
    {
        const uint32_t bits = float_bits(x);
        if ((bits & 0x7fffffffu) > 0x7f800000u)
            return bits >> 16 | 0x40;
        return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
    static float unpack(uint32_t bits) { return float_of(bits << 16); }
};

// A power of two.
struct exponent_only {
    static uint32_t pack(float x) { return float_bits(x) >> 23 & 0xff; }
    static float unpack(uint32_t bits)
    {
        return bits == 0 ? float_of(0x400000u) : float_of(bits << 23);
    }
};

// Kept as bits; scalar arithmetic with them is not offered by the chip either.
struct bits_only {
    static uint32_t pack(float x) { return (uint32_t)x; }
    static float unpack(uint32_t bits) { return (float)bits; }
};

template <class Bits, class Form, int Dtype> struct element {
    Bits bits = 0;

    element() = default;
    element(float x) : bits((Bits)Form::pack(x)) {}
    template <class Number, class = std::enable_if_t<std::is_arithmetic<Number>::value>>
    element(Number x) : bits((Bits)Form::pack((float)x))
    {
    }
    operator float() const { return Form::unpack(bits); }
};

template <class E, class = void> struct dtype_of;
template <class Bits, class Form, int Dtype> struct dtype_of<element<Bits, Form, Dtype>> {
    static constexpr int32_t value = Dtype;
};
template <> struct dtype_of<float> {
    static constexpr int32_t value = STRATA_PTO_F32;
};
template <> struct dtype_of<bool> {
    static constexpr int32_t value = STRATA_PTO_I8;
};
template <class E>
struct dtype_of<E, std::enable_if_t<std::is_integral<E>::value && !std::is_same<E, bool>::value>> {
    static constexpr int32_t first = std::is_signed<E>::value ? STRATA_PTO_I8 : STRATA_PTO_U8;
    static constexpr int32_t value = first + (sizeof(E) == 1   ? 0
                                              : sizeof(E) == 2 ? 1
                                              : sizeof(E) == 4 ? 2
                                                               : 3);
};
template <class E> struct dtype_of<const E> : dtype_of<E> {
};

// The bits of x as an element of type E.
template <class E, class Number> inline uint64_t bits_of(Number x)
{
    const E as = static_cast<E>(x);
    uint64_t bits = 0;
    std::memcpy(&bits, &as, sizeof(as));
    return bits;
}

template <class E> inline E element_of(uint64_t bits)
{
    E x;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
}

} // namespace strata_pto

using half = strata_pto::element<uint16_t, strata_pto::small_float<5, 10, true>, STRATA_PTO_F16>;
using float16_t = half;
using bfloat16_t = strata_pto::element<uint16_t, strata_pto::brain_float, STRATA_PTO_BF16>;
using float32_t = float;
using float8_e4m3_t =
    strata_pto::element<uint8_t, strata_pto::small_float<4, 3, false>, STRATA_PTO_F8E4M3>;
using float8_e5m2_t =
    strata_pto::element<uint8_t, strata_pto::small_float<5, 2, true>, STRATA_PTO_F8E5M2>;
using float8_e8m0_t = strata_pto::element<uint8_t, strata_pto::exponent_only, STRATA_PTO_F8E8M0>;
using hifloat8_t = strata_pto::element<uint8_t, strata_pto::bits_only, STRATA_PTO_HIF8>;
using float4_e2m1x2_t = strata_pto::element<uint8_t, strata_pto::bits_only, STRATA_PTO_F4E2M1X2>;
using float4_e1m2x2_t = strata_pto::element<uint8_t, strata_pto::bits_only, STRATA_PTO_F4E1M2X2>;

#endif
