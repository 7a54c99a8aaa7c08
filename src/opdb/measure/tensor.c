/*
 * Element types and their conversions. See tensor.h.
 */
#include "opdb/measure/tensor.h"

#include <math.h>

#include "base/text/num.h"

/* What tensor_load() and tensor_store() know. */
static bool tensor_holds(enum dtype type)
{
    static const bool holds[DTYPES] = {
        [DTYPE_F32] = true,    [DTYPE_F16] = true, [DTYPE_BF16] = true, [DTYPE_F64] = true,
        [DTYPE_F8E4M3] = true, [DTYPE_I8] = true,  [DTYPE_U8] = true,   [DTYPE_I16] = true,
        [DTYPE_I32] = true,    [DTYPE_I64] = true, [DTYPE_BOOL] = true,
    };

    return holds[type];
}

enum dtype tensor_dtype_of(struct str name)
{
    enum dtype type = dtype_of(name);

    return tensor_holds(type) ? type : DTYPE_NONE;
}

size_t tensor_element(enum dtype type)
{
    return dtype_bits(type) / 8;
}

int64_t tensor_count(const struct tensor *t)
{
    int64_t n = 1;

    for (size_t i = 0; i < t->rank; i++)
        if (t->dim[i] < 0 || __builtin_mul_overflow(n, t->dim[i], &n) || n > INT64_MAX / 16)
            return -1;
    return n;
}

int64_t tensor_bytes(const struct tensor *t)
{
    int64_t n = tensor_count(t);

    return n < 0 ? -1 : n * (int64_t)tensor_element(t->dtype);
}

int64_t tensor_back(const struct tensor *t, size_t from_end)
{
    return from_end < t->rank ? t->dim[t->rank - 1 - from_end] : 1;
}

int64_t tensor_rows(const struct tensor *t)
{
    struct tensor head = *t;

    head.rank = t->rank > 0 ? t->rank - 1 : 0;
    return tensor_count(&head);
}

/* A small float of `exponent` and `mantissa` bits, given by its bits. */
static double small_float(uint32_t bits, int exponent, int mantissa)
{
    int bias = (1 << (exponent - 1)) - 1;
    uint32_t e = bits >> mantissa & ((1U << exponent) - 1), m = bits & ((1U << mantissa) - 1);
    double value = e == 0 ? ldexp(m, 1 - bias - mantissa)
                          : ldexp((double)(m | 1U << mantissa), (int)e - bias - mantissa);

    return bits >> (exponent + mantissa) & 1 ? -value : value;
}

static double from_f16(uint16_t bits)
{
    if ((bits & 0x7c00) == 0x7c00)
        return bits & 0x3ff ? NAN : bits & 0x8000 ? -INFINITY : INFINITY;
    return small_float(bits, 5, 10);
}

/* The bits of the nearest small float; `most` are those of the largest, `beyond` of what is more.
 */
static uint32_t to_small(double value, int exponent, int mantissa, uint32_t most, uint32_t beyond)
{
    uint32_t sign = signbit(value) ? 1U << (exponent + mantissa) : 0;
    int bias = (1 << (exponent - 1)) - 1, e;
    double a = fabs(value);

    if (isnan(value))
        return sign | beyond | 1;
    if (a == 0 || isinf(a))
        return sign | (a == 0 ? 0 : beyond);
    frexp(a, &e);
    if (e - 1 < 1 - bias)
        e = 2 - bias; /* subnormal: the unit of the smallest exponent */
    double units = nearbyint(ldexp(a, mantissa - (e - 1)));
    if (ldexp(units, e - 1 - mantissa) >= ldexp(2, bias + 1)) /* far out of the exponent */
        return sign | beyond;
    uint32_t bits = (uint32_t)((e - 2 + bias) * (1 << mantissa)) + (uint32_t)units;
    return sign | (bits > most ? beyond : bits);
}

static uint16_t to_bf16(double value)
{
    uint32_t bits = num_bits_of_float((float)value);

    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define LOAD(type, expression)                                                                     \
    {                                                                                              \
        const type *x = (const type *)t->data + from;                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = (expression);                                                                 \
        return;                                                                                    \
    }

void tensor_load(const struct tensor *t, int64_t from, int64_t n, double *out)
{
    switch (t->dtype) {
    case DTYPE_F32:
        LOAD(float, (double)x[i])
    case DTYPE_F16:
        LOAD(uint16_t, from_f16(x[i]))
    case DTYPE_BF16:
        LOAD(uint16_t, (double)num_float_of_bits((uint32_t)x[i] << 16))
    case DTYPE_F64:
        LOAD(double, x[i])
    case DTYPE_F8E4M3:
        LOAD(uint8_t, (x[i] & 0x7f) == 0x7f ? NAN : small_float(x[i], 4, 3))
    case DTYPE_I8:
        LOAD(int8_t, (double)x[i])
    case DTYPE_U8:
        LOAD(uint8_t, (double)x[i])
    case DTYPE_I16:
        LOAD(int16_t, (double)x[i])
    case DTYPE_I32:
        LOAD(int32_t, (double)x[i])
    case DTYPE_I64:
        LOAD(int64_t, (double)x[i])
    case DTYPE_BOOL:
        LOAD(uint8_t, x[i] != 0 ? 1.0 : 0.0)
    default:
        break;
    }
}

void tensor_load_f32(const struct tensor *t, int64_t from, int64_t n, float *out)
{
    switch (t->dtype) {
    case DTYPE_F32:
        LOAD(float, x[i])
    case DTYPE_F16:
        LOAD(uint16_t, (float)from_f16(x[i]))
    case DTYPE_BF16:
        LOAD(uint16_t, num_float_of_bits((uint32_t)x[i] << 16))
    case DTYPE_I8:
        LOAD(int8_t, (float)x[i])
    default:
        for (int64_t i = 0; i < n; i++)
            out[i] = (float)tensor_at(t, from + i);
    }
}

/* The nearest whole number between the ends; ties to even. */
static double tensor_whole(double value, double least, double most)
{
    double r = nearbyint(value);

    return isnan(r) ? 0 : r < least ? least : r > most ? most : r;
}

#define STORE(type, expression)                                                                    \
    {                                                                                              \
        type *x = (type *)t->data + from;                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            x[i] = (type)(expression);                                                             \
        return;                                                                                    \
    }

void tensor_store(const struct tensor *t, int64_t from, int64_t n, const double *in)
{
    switch (t->dtype) {
    case DTYPE_F32:
        STORE(float, in[i])
    case DTYPE_F16:
        STORE(uint16_t, to_small(in[i], 5, 10, 0x7bff, 0x7c00))
    case DTYPE_BF16:
        STORE(uint16_t, to_bf16(in[i]))
    case DTYPE_F64:
        STORE(double, in[i])
    case DTYPE_F8E4M3:
        STORE(uint8_t, to_small(in[i], 4, 3, 0x7e, 0x7e))
    case DTYPE_I8:
        STORE(int8_t, tensor_whole(in[i], INT8_MIN, INT8_MAX))
    case DTYPE_U8:
        STORE(uint8_t, tensor_whole(in[i], 0, UINT8_MAX))
    case DTYPE_I16:
        STORE(int16_t, tensor_whole(in[i], INT16_MIN, INT16_MAX))
    case DTYPE_I32:
        STORE(int32_t, tensor_whole(in[i], INT32_MIN, INT32_MAX))
    case DTYPE_I64:
        STORE(int64_t, tensor_whole(in[i], -0x1p62, 0x1p62))
    case DTYPE_BOOL:
        STORE(uint8_t, in[i] != 0)
    default:
        break;
    }
}

double tensor_at(const struct tensor *t, int64_t i)
{
    double value = 0;

    tensor_load(t, i, 1, &value);
    return value;
}

void tensor_put(const struct tensor *t, int64_t i, double value)
{
    tensor_store(t, i, 1, &value);
}

void tensor_fill(const struct tensor *t, uint64_t seed, int64_t below, int64_t from, int64_t n)
{
    enum { CHUNK = 256 };
    double part[CHUNK];
    uint64_t end = below > 0 ? (uint64_t)below : t->dtype == DTYPE_BOOL ? 2 : 8;

    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t m = n - i < CHUNK ? n - i : CHUNK;
        for (int64_t k = 0; k < m; k++) {
            uint64_t r = tensor_random(seed, (uint64_t)(from + i + k));
            part[k] = dtype_is_float(t->dtype) ? (double)(r >> 40) * 0x1p-23 - 1
                                               : (double)((r >> 16) % end);
        }
        tensor_store(t, from + i, m, part);
    }
}
