/*
 * arith - the scalar operations of control flow and addresses.
 *
 * A number is an integer, sign-extended from its type (i1 is 0 or 1, unsigned types are
 * zero-extended below 64 bits), or a float kept as the double of equal value. `taint` tells that
 * it comes from something nobody supplied; 0 is none.
 */
#ifndef STRATA_KERNELS_PTO_VALUES_ARITH_H
#define STRATA_KERNELS_PTO_VALUES_ARITH_H

#include "kernels/pto/text/types.h"

struct pto_number {
    union {
        int64_t i;
        double f;
    } v;
    uint32_t taint;
};

enum pto_arith_result { PTO_ARITH_OK, PTO_ARITH_UNKNOWN, PTO_ARITH_DIV_ZERO };

/* Division and remainder, which scalar units take long for. */
bool pto_arith_is_division(enum pto_opcode op);

/*
 * Computes `op` on numbers of type `from` into type `to` (equal but for casts and comparisons).
 * `predicate` is that of cmpi and cmpf. `high` takes the second result of the extended operations.
 */
enum pto_arith_result pto_arith(enum pto_opcode op, enum pto_dtype from, enum pto_dtype to,
                                uint8_t predicate, const struct pto_number *a,
                                const struct pto_number *b, const struct pto_number *c,
                                struct pto_number *out, struct pto_number *high);

/* An integer cut to the width of its type, a float rounded to it. */
int64_t pto_wrap(int64_t value, enum pto_dtype t);
double pto_round_to(double value, enum pto_dtype t);

/* A number as the bits of an element, and back; its taint stays. */
uint64_t pto_number_bits(const struct pto_number *n, enum pto_dtype t);
void pto_number_set(struct pto_number *n, uint64_t bits, enum pto_dtype t);

#endif
