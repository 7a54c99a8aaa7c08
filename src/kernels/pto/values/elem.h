/*
 * elem - number formats of tile elements: loads, stores and exact conversions.
 *
 * An element travels as its bits: the bytes in memory, little endian, in the low end of a 64-bit
 * word; signed integers are sign-extended, everything else is zero-extended. Conversions are done
 * on integers (sign, significand, exponent), so they round exactly once and do not depend on the
 * rounding mode of the machine. The x2 types hold two values of their lane type; as one element
 * they can only be moved.
 */
#ifndef STRATA_KERNELS_PTO_VALUES_ELEM_H
#define STRATA_KERNELS_PTO_VALUES_ELEM_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/pto/text/types.h"

/* Numbers of the dialect's round_mode. */
enum pto_round {
    PTO_ROUND_NONE, /* = RINT where precision is lost */
    PTO_ROUND_RINT, /* nearest, ties to even */
    PTO_ROUND_AWAY, /* "ROUND": nearest, ties away from zero */
    PTO_ROUND_FLOOR,
    PTO_ROUND_CEIL,
    PTO_ROUND_TRUNC,
    PTO_ROUND_ODD,
    PTO_ROUND_CAST_RINT, /* = RINT */
};

/*
 * What happens to a value beyond the range of the target. ON and OFF are the dialect's 0 and 1;
 * an operation without the attribute uses AUTO: integers and floats of 8 bits or less saturate,
 * f16, bf16 and f32 overflow to infinity.
 */
enum pto_saturation {
    PTO_SATURATION_ON,
    PTO_SATURATION_OFF, /* integers keep the low bits, floats become infinity or NaN */
    PTO_SATURATION_AUTO,
};

struct pto_convert {
    enum pto_round round;
    enum pto_saturation saturation;
    bool reference; /* float to narrower float always to nearest even, as the public model does */
};

/* A scalar operand or result. */
struct pto_scalar {
    enum pto_dtype dtype;
    uint64_t bits;
};

uint64_t pto_elem_load(const unsigned char *at, enum pto_dtype t);
void pto_elem_store(unsigned char *at, enum pto_dtype t, uint64_t bits);

/* 2 for the x2 types, else 1; and the type of one lane. */
uint32_t pto_elem_lanes(enum pto_dtype t);
enum pto_dtype pto_elem_lane_type(enum pto_dtype t);

/* The bits of lane 0 (low half) or 1 of an x2 element; and two lanes joined. */
uint64_t pto_elem_lane(uint64_t bits, enum pto_dtype t, uint32_t lane);
uint64_t pto_elem_join(uint64_t low, uint64_t high, enum pto_dtype t);

/* The value: exact, but for 64-bit integers, which round to nearest. */
float pto_elem_f32(uint64_t bits, enum pto_dtype t);
double pto_elem_f64(uint64_t bits, enum pto_dtype t);

/* Integers as they are; floats toward zero, saturating; NaN gives 0. */
int64_t pto_elem_i64(uint64_t bits, enum pto_dtype t);

/* Nearest even for floats; for integer targets toward zero, saturating. */
uint64_t pto_elem_from_f32(float value, enum pto_dtype t);
uint64_t pto_elem_from_f64(double value, enum pto_dtype t);

/* Integer targets wrap; float targets round to nearest even. */
uint64_t pto_elem_from_i64(int64_t value, enum pto_dtype t);

/* tcvt of one value between any two types of one lane. */
uint64_t pto_elem_convert(uint64_t bits, enum pto_dtype from, enum pto_dtype to,
                          struct pto_convert how);

/* Most negative and most positive value of a type (infinities where it has them). */
uint64_t pto_elem_lowest(enum pto_dtype t);
uint64_t pto_elem_highest(enum pto_dtype t);

/* Whole runs, for the hot loops: `n` elements side by side in memory. */
typedef void pto_elem_read_fn(void *out, const unsigned char *at, enum pto_dtype t, size_t n);
typedef void pto_elem_write_fn(unsigned char *at, const void *in, enum pto_dtype t, size_t n);
pto_elem_read_fn pto_elem_read_f32, pto_elem_read_i64;    /* to float, to int64_t */
pto_elem_write_fn pto_elem_write_f32, pto_elem_write_i64; /* from the same */

#endif
