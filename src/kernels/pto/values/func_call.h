/*
 * func_call - one operation under way: its operands, checked, and rows of elements as numbers.
 *
 * For the files func_*.c only. A handler takes its destinations first, then its sources: a source
 * that shares bytes with a destination is copied aside when it is taken, so that handlers never
 * read what they wrote.
 */
#ifndef STRATA_KERNELS_PTO_VALUES_FUNC_CALL_H
#define STRATA_KERNELS_PTO_VALUES_FUNC_CALL_H

#include "base/arena.h"
#include "kernels/pto/values/func.h"

enum { FUNC_OUTS = 4, FUNC_PIECE = 512 /* elements handled at a time */ };

struct func_call {
    enum pto_opcode op;
    int how; /* the variant of the handler that is wanted, from funcs.def */
    const struct pto_args *args;
    const struct pto_attrs *attrs;
    struct diag *diag;
    struct arena scratch;
    struct pto_tile taken[FUNC_OUTS]; /* destinations so far */
    size_t n_taken;
};

typedef enum status func_fn(struct func_call *c);

#define PTO_FUNC(code, handler, how) func_fn func_##handler;
#include "kernels/pto/values/funcs.def"
#undef PTO_FUNC

/* Variants of handlers. */
enum func_join { FUNC_SUM, FUNC_MAX, FUNC_MIN, FUNC_PROD, FUNC_ARGMAX, FUNC_ARGMIN };
enum func_product { FUNC_ACCUMULATE = 1, FUNC_BIAS = 2, FUNC_SCALED = 4 };
enum func_quant { FUNC_QUANT, FUNC_DEQUANT };
enum func_collective { FUNC_BROADCAST, FUNC_GATHER, FUNC_SCATTER, FUNC_REDUCTION };

/* Fails with the operation's name in front of `text`. */
static inline enum status func_fail(struct func_call *c, enum status st, const char *code,
                                    const char *text)
{
    return diag_fail(c->diag, st, code, c->args->where, "%s: %s", pto_op_name(c->op), text);
}

static inline enum status func_bad_shape(struct func_call *c, const char *text)
{
    return func_fail(c, ST_FORMAT, "pto-run.func-shape", text);
}

static inline enum status func_bad_operand(struct func_call *c, const char *text)
{
    return func_fail(c, ST_FORMAT, "pto-run.func-operand", text);
}

bool func_has_tile(const struct func_call *c, size_t i); /* operand i of the ins is a tile */
bool func_has_value(const struct func_call *c, size_t i);
bool func_has_out(const struct func_call *c, size_t i); /* tile i of the outs is there */

/* Destination i: a checked copy of the descriptor. */
enum status func_out(struct func_call *c, size_t i, struct pto_tile *t);
enum status func_out_view(struct func_call *c, size_t i, struct pto_view *v);

/* Source tile i as it was given. */
enum status func_given(struct func_call *c, size_t i, const struct pto_tile **t);

/* Source i with its own valid rectangle; always apart from the destinations. */
enum status func_in(struct func_call *c, size_t i, struct pto_tile *t);
enum status func_in_view(struct func_call *c, size_t i, struct pto_view *v);

/* Source i as rows x cols elements, which its physical shape must hold. A source that is the
 * destination itself, element by element, is not copied aside when `is_elementwise`. */
enum status func_in_as(struct func_call *c, size_t i, int32_t rows, int32_t cols,
                       bool is_elementwise, struct pto_tile *t);

/* Checks a source tile and copies it aside where it shares bytes with a destination; the calls
 * above do. */
enum status func_copy_aside(struct func_call *c, struct pto_tile *t, bool is_elementwise);

/* Value i of the ins; fails when it is not one. */
enum status func_value(struct func_call *c, size_t i, struct pto_scalar *v);

/* The destination grown to its physical shape, checked. */
enum status func_physical(struct func_call *c, struct pto_tile *t);

/* The element type has one lane and is a number that arithmetic is defined for. */
enum status func_number(struct func_call *c, const struct pto_tile *t);

/* Operands that must be numbers. */
static inline enum status func_out_number(struct func_call *c, size_t i, struct pto_tile *t)
{
    TRY(func_out(c, i, t));
    return func_number(c, t);
}

static inline enum status func_in_number(struct func_call *c, size_t i, struct pto_tile *t)
{
    TRY(func_in(c, i, t));
    return func_number(c, t);
}

static inline enum status func_in_as_number(struct func_call *c, size_t i, int32_t rows,
                                            int32_t cols, bool is_elementwise, struct pto_tile *t)
{
    TRY(func_in_as(c, i, rows, cols, is_elementwise, t));
    return func_number(c, t);
}

/* Elements of the two types have one size; moves keep bits. */
enum status func_same_size(struct func_call *c, enum pto_dtype a, enum pto_dtype b);

/* a `how` b; integers are compared exactly. */
bool func_compare(enum pto_cmp how, uint64_t a, enum pto_dtype a_type, uint64_t b,
                  enum pto_dtype b_type);

/* The element sum in type t: floats in f32 and rounded, integers wrapping. */
uint64_t func_add(uint64_t a, uint64_t b, enum pto_dtype t);

/* Sum, product, the larger or the smaller; of two equal ones the first. */
uint64_t func_joined(enum func_join how, uint64_t a, uint64_t b, enum pto_dtype t);

/* Elements c .. c + n of row r. The tile was checked. */
void func_f32(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, float *out);
void func_i64(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, int64_t *out);
void func_bits(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, uint64_t *out);
void func_put_f32(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, const float *in);
void func_put_i64(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, const int64_t *in);
void func_put_bits(const struct pto_tile *t, int32_t r, int32_t c, int32_t n, const uint64_t *in);

uint64_t func_at(const struct pto_tile *t, int32_t r, int32_t c);
void func_set(const struct pto_tile *t, int32_t r, int32_t c, uint64_t bits);
uint64_t func_view_at(const struct pto_view *v, int64_t r, int64_t c);
void func_view_set(const struct pto_view *v, int64_t r, int64_t c, uint64_t bits);

/* A row-major tile of `rows` x `cols` in the scratch arena, all valid. */
struct pto_tile func_scratch(struct func_call *c, enum pto_dtype dtype, int32_t rows, int32_t cols);

/* Copies the valid rectangle of `src` into equally typed `dst`, element by element. */
void func_copy(const struct pto_tile *src, const struct pto_tile *dst, int32_t rows, int32_t cols);

/* rows x cols elements between a tile and a view of the same element size. Where the shapes differ
 * but the counts are equal, elements are paired in row-major order. */
void func_copy_view(const struct pto_tile *t, const struct pto_view *v, bool to_view);

/* Rows and columns swapped: the same bytes seen the other way. */
struct pto_tile func_flip(const struct pto_tile *t);

/* Makes long rows of `n` tiles that are walked element by element over the same rectangle: column
 * vectors are flipped, dense tiles become one row. */
void func_straighten(struct pto_tile *tiles, size_t n);

/* The bits that fill a tile outside of its valid part; false when its type asks for none. */
bool func_pad(const struct pto_tile_type *type, uint64_t *bits);

/* A number of type `from` as a move out of the accumulator stores it in type `to`. */
uint64_t func_cast(uint64_t bits, enum pto_dtype from, enum pto_dtype to);

static inline int32_t func_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

#endif
