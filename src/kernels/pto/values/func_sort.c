/*
 * Sorting of {value, index} records of 8 bytes: f32 value and index word, or f16 value, two zero
 * bytes and index word. Larger values first; equal values keep their order.
 */
#include <string.h>

#include "kernels/pto/values/func_call.h"

enum { RECORD = 8, BLOCK = 32, LISTS = 4 };

struct sort_record {
    float value;
    uint32_t index;
    uint64_t bits; /* of the value */
};

/* A row of records in memory, which must lie side by side. */
static enum status records_of(struct func_call *c, struct pto_tile *t, int32_t r,
                              unsigned char **at)
{
    if (t->type.slayout != PTO_NONE_BOX || t->type.blayout != PTO_ROW_MAJOR ||
        pto_dtype_size(t->type.dtype) > 4)
        return func_bad_shape(c, "records need a row-major tile of 16- or 32-bit elements");
    *at = t->base + pto_tile_offset(t, r, 0);
    return ST_OK;
}

static enum status check_value_type(struct func_call *c, enum pto_dtype t)
{
    if (t == PTO_F32 || t == PTO_F16 || t == PTO_BF16)
        return ST_OK;
    return diag_fail(c->diag, ST_UNSUPPORTED, "pto-run.func-dtype", c->args->where,
                     "%s does not sort %s", pto_op_name(c->op), pto_dtype_name(t));
}

/* Insertion keeps equal records in order of their index. */
static void sort_block(struct sort_record *list, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        struct sort_record x = list[i];
        int32_t k = i;
        for (; k > 0 && (list[k - 1].value < x.value ||
                         (list[k - 1].value == x.value && list[k - 1].index > x.index));
             k--)
            list[k] = list[k - 1];
        list[k] = x;
    }
}

enum status func_sort32(struct func_call *c)
{
    struct pto_tile dst, src, idx;
    TRY(func_out(c, 0, &dst));
    TRY(func_in(c, 0, &src));
    enum pto_dtype type = src.type.dtype;
    TRY(check_value_type(c, type));
    if (src.v_row == 0 || src.v_col == 0)
        return ST_OK;
    if (!func_has_tile(c, 1))
        return func_bad_operand(c, "the index tile is missing");
    bool one_row = c->args->ins[1].u.tile->type.rows < src.v_row;
    TRY(func_in_as_number(c, 1, one_row ? 1 : src.v_row, src.v_col, false, &idx));
    TRY(func_physical(c, &dst));
    int64_t room = (int64_t)dst.type.cols * pto_dtype_size(dst.type.dtype) / RECORD;
    if (room < src.v_col || dst.type.rows < src.v_row)
        return func_bad_shape(c, "the destination has no room for the records");
    for (int32_t r = 0; r < src.v_row; r++) {
        unsigned char *out;
        TRY(records_of(c, &dst, r, &out));
        for (int32_t from = 0; from < src.v_col; from += BLOCK) {
            struct sort_record list[BLOCK];
            int32_t n = func_min(BLOCK, src.v_col - from);
            for (int32_t i = 0; i < n; i++) {
                uint64_t bits = func_at(&src, r, from + i);
                list[i] =
                    (struct sort_record){pto_elem_f32(bits, type),
                                         (uint32_t)func_at(&idx, one_row ? 0 : r, from + i), bits};
            }
            sort_block(list, n);
            for (int32_t i = 0; i < n; i++, out += RECORD) {
                pto_elem_store(out, PTO_U32, list[i].bits);
                pto_elem_store(out + 4, PTO_U32, list[i].index);
            }
        }
    }
    return ST_OK;
}

/* Sorted lists of records and how far each is used up. */
struct lists {
    const unsigned char *at[LISTS];
    int64_t n[LISTS], used[LISTS];
    size_t count;
    enum pto_dtype type;
};

/* Takes the largest head, the first list's among equals; NULL when all are used up, or when one
 * is and `stop_early`. */
static const unsigned char *next_record(struct lists *l, bool stop_early)
{
    size_t best = LISTS;
    float most = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (l->used[i] == l->n[i]) {
            if (stop_early)
                return NULL;
            continue;
        }
        const unsigned char *head = l->at[i] + l->used[i] * RECORD;
        float value = pto_elem_f32(pto_elem_load(head, l->type), l->type);
        if (best == LISTS || value > most) {
            best = i;
            most = value;
        }
    }
    return best == LISTS ? NULL : l->at[best] + l->used[best]++ * RECORD;
}

/* Groups of four sorted runs of `run` elements become one run each. */
static enum status merge_runs(struct func_call *c)
{
    struct pto_tile dst, src;
    struct pto_scalar length;
    unsigned char *in, *out;
    TRY(func_out(c, 0, &dst));
    TRY(func_in(c, 0, &src));
    TRY(func_value(c, 1, &length));
    TRY(check_value_type(c, src.type.dtype));
    int64_t run = pto_elem_i64(length.bits, length.dtype), size = pto_dtype_size(src.type.dtype);
    if (run < 64 || run % 64 != 0 || run > INT32_MAX)
        return func_bad_shape(c, "the block length is not a multiple of 64");
    if (dst.v_row < src.v_row || dst.v_col < src.v_col ||
        pto_dtype_size(dst.type.dtype) != (uint32_t)size)
        return func_bad_shape(c, "the destination is smaller than the source");
    int64_t records = run * size / RECORD;
    for (int32_t r = 0; r < src.v_row; r++)
        for (int64_t from = 0; from + 4 * run <= src.v_col; from += 4 * run) {
            TRY(records_of(c, &src, r, &in));
            TRY(records_of(c, &dst, r, &out));
            struct lists l = {.count = LISTS, .type = src.type.dtype};
            for (size_t i = 0; i < LISTS; i++) {
                l.at[i] = in + (from + (int64_t)i * run) * size;
                l.n[i] = records;
            }
            const unsigned char *record;
            for (out += from * size; (record = next_record(&l, false)) != NULL; out += RECORD)
                memcpy(out, record, RECORD);
        }
    return ST_OK;
}

/* Two to four lists, one a tile, into one. `executed` counts the records taken of each. */
static enum status merge_lists(struct func_call *c)
{
    struct pto_tile dst, src[LISTS];
    struct lists l = {0};
    unsigned char *out, *in;
    TRY(func_out(c, 0, &dst));
    for (size_t i = 0; i < LISTS && func_has_tile(c, i); i++) {
        TRY(func_in(c, i, &src[i]));
        TRY(check_value_type(c, src[i].type.dtype));
        TRY(records_of(c, &src[i], 0, &in));
        int64_t bytes = (int64_t)src[i].v_col * pto_dtype_size(src[i].type.dtype);
        l.at[i] = in;
        l.n[i] = src[i].v_row > 0 ? bytes / RECORD : 0;
        l.type = src[i].type.dtype;
        l.count = i + 1;
    }
    if (l.count < 2)
        return func_bad_operand(c, "two to four lists are merged");
    TRY(records_of(c, &dst, 0, &out));
    int64_t room = (int64_t)dst.v_col * pto_dtype_size(dst.type.dtype) / RECORD;
    if (dst.v_row == 0)
        room = 0;
    for (int64_t i = 0; i < room; i++) {
        const unsigned char *record = next_record(&l, c->attrs->exhausted);
        if (record == NULL)
            break;
        memcpy(out + i * RECORD, record, RECORD);
    }
    uint64_t executed = 0;
    for (size_t i = 0; i < l.count; i++)
        executed |= ((uint64_t)l.used[i] & 0xffff) << (16 * i);
    for (size_t i = 0; i < c->args->n_outs; i++)
        if (c->args->outs[i].kind == PTO_OPERAND_VALUE && c->args->outs[i].u.value != NULL)
            *c->args->outs[i].u.value = (struct pto_scalar){PTO_I64, executed};
    return ST_OK;
}

enum status func_merge_sort(struct func_call *c)
{
    return func_has_value(c, 1) ? merge_runs(c) : merge_lists(c);
}
