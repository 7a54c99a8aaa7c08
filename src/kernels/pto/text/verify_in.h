/*
 * verify_in - what the files of the verifier share; not for others (they include
 * kernels/pto/text/verify.h).
 */
#ifndef STRATA_KERNELS_PTO_TEXT_VERIFY_IN_H
#define STRATA_KERNELS_PTO_TEXT_VERIFY_IN_H

#include "kernels/pto/text/ir.h"

struct pto_check {
    struct pto_module *m;
    const struct pto_function *f;
    const struct pto_op *op; /* being checked */
};

typedef void pto_check_fn(const struct pto_check *c);

/* Tells a problem of the operation; returns false. */
bool pto_bad(const struct pto_check *c, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The type of an operand; a type of kind OPAQUE for PTO_NONE. */
const struct pto_type *pto_check_type_of(const struct pto_check *c, uint32_t value);
const struct pto_type *pto_check_role(const struct pto_check *c, enum pto_role role, uint32_t nth);

/* The integer constant behind a value; false when it is none. */
bool pto_constant(const struct pto_check *c, uint32_t value, int64_t *out);

/* Structure: regions, block arguments, terminators, calls, dominance. */
bool pto_check_structure(const struct pto_check *c);
void pto_check_function(const struct pto_check *c);
void pto_check_calls(struct pto_module *m);

/* Scalars, views, tiles; then operations on tiles. */
void pto_check_value(const struct pto_check *c);
void pto_check_tile_op(const struct pto_check *c);

/* Bytes of a tile, all slots of a multi tile. */
uint64_t pto_check_footprint(const struct pto_type *t);

/* Tiles without an address that are in use together fit. */
void pto_check_room(const struct pto_check *c);

/* FIFOs and flags of the function. */
void pto_check_fifos(const struct pto_check *c);

#endif
