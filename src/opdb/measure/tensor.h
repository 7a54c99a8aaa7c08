/*
 * tensor - the operands of an operator: element types, shapes, contents.
 *
 * Elements are read and written as doubles, which hold every value of every type here but the
 * largest 64-bit integers; storing rounds to the nearest, ties to even, and integers saturate.
 */
#ifndef STRATA_OPDB_MEASURE_TENSOR_H
#define STRATA_OPDB_MEASURE_TENSOR_H

#include <stdint.h>

#include "base/arena.h"
#include "ops/dtype.h"

enum { TENSOR_RANK = 8 };

/* DTYPE_NONE for a name that is no type here. */
enum dtype tensor_dtype_of(struct str name);
size_t tensor_element(enum dtype type); /* bytes of an element */

struct tensor {
    enum dtype dtype;
    size_t rank;
    int64_t dim[TENSOR_RANK];
    void *data;
};

/* Elements and bytes; -1 when that does not fit 62 bits or a dimension is negative. */
int64_t tensor_count(const struct tensor *t);
int64_t tensor_bytes(const struct tensor *t);

/* The dimension counted from the end: 0 is the last; 1 beyond the first. */
int64_t tensor_back(const struct tensor *t, size_t from_end);

/* Elements without the last dimension: the rows of a matrix. */
int64_t tensor_rows(const struct tensor *t);

/* `n` elements from `from` on. */
void tensor_load(const struct tensor *t, int64_t from, int64_t n, double *out);
void tensor_store(const struct tensor *t, int64_t from, int64_t n, const double *in);
double tensor_at(const struct tensor *t, int64_t i);
void tensor_put(const struct tensor *t, int64_t i, double value);

/* Into floats, for a matrix product. */
void tensor_load_f32(const struct tensor *t, int64_t from, int64_t n, float *out);

/* splitmix64 (Steele, Lea and Flood 2014): the number of element `i` in the stream of a seed, so
 * that any part of a tensor can be filled alone. */
static inline uint64_t tensor_random(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Floating point uniform in [-1, 1), integers below `below` (0: 8), truth values 0 or 1. */
void tensor_fill(const struct tensor *t, uint64_t seed, int64_t below, int64_t from, int64_t n);

#endif
