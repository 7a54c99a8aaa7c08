#include "kernels/pto/values/func.h"

#include <math.h>

#include "base/testing.h"

enum { SPACE = 1 << 16 };

static unsigned char space[SPACE];

static struct pto_tile tile_at(enum pto_dtype t, int32_t rows, int32_t cols, int64_t addr)
{
    struct pto_tile_type type = {.space = PTO_VEC,
                                 .dtype = t,
                                 .rows = rows,
                                 .cols = cols,
                                 .v_row = rows,
                                 .v_col = cols,
                                 .fractal = 512};
    return pto_tile_make(&type, space, SPACE, addr);
}

static struct pto_arg as_tile(struct pto_tile *t)
{
    return (struct pto_arg){PTO_OPERAND_TILE, {.tile = t}};
}

static struct pto_arg as_view(struct pto_view *v)
{
    return (struct pto_arg){PTO_OPERAND_VIEW, {.view = v}};
}

static struct pto_arg as_value(struct pto_scalar *v)
{
    return (struct pto_arg){PTO_OPERAND_VALUE, {.value = v}};
}

static enum status func_run(enum pto_opcode op, const struct pto_arg *ins, size_t n_ins,
                            const struct pto_arg *outs, size_t n_outs,
                            const struct pto_attrs *attrs)
{
    struct pto_args args = {
        .ins = ins, .n_ins = n_ins, .outs = outs, .n_outs = n_outs, .attrs = attrs};
    struct diag d;
    diag_init(&d);
    enum status st = pto_func(op, &args, &d);
    assert_int_equal(st == ST_OK, d.entries.n == 0); /* a failure says why, success says nothing */
    diag_fini(&d);
    return st;
}

static float get(const struct pto_tile *t, int32_t r, int32_t c)
{
    return pto_elem_f32(pto_elem_load(t->base + pto_tile_offset(t, r, c), t->type.dtype),
                        t->type.dtype);
}

static void count_up(const struct pto_tile *t)
{
    for (int32_t r = 0; r < t->v_row; r++)
        for (int32_t c = 0; c < t->v_col; c++)
            pto_elem_store(t->base + pto_tile_offset(t, r, c), t->type.dtype,
                           pto_elem_from_i64(r * t->v_col + c, t->type.dtype));
}

TEST(sources_that_overlap_are_read_before_anything_is_written)
{
    struct pto_tile src = tile_at(PTO_F32, 4, 16, 0), dst = tile_at(PTO_F32, 4, 16, 64);
    count_up(&src);
    struct pto_arg in[] = {as_tile(&src), as_tile(&src)}, out = as_tile(&dst);
    assert_int_equal(func_run(PTO_TADD, in, 2, &out, 1, NULL), ST_OK);
    for (int32_t r = 0; r < 4; r++)
        for (int32_t c = 0; c < 16; c++)
            assert_true(get(&dst, r, c) == (float)(2 * (r * 16 + c)));
}

TEST(a_window_is_computed_in_its_parent)
{
    struct pto_tile parent = tile_at(PTO_F32, 8, 16, 0), window, dst = tile_at(PTO_F32, 4, 8, 4096);
    count_up(&parent);
    assert_true(pto_tile_window(&parent, 2, 4, 4, 8, &window));
    struct pto_arg in = as_tile(&window), out = as_tile(&dst);
    assert_int_equal(func_run(PTO_TNEG, &in, 1, &out, 1, NULL), ST_OK);
    assert_true(get(&dst, 1, 3) == -(float)(3 * 16 + 7));
    assert_int_equal(func_run(PTO_TNEG, &out, 1, &in, 1, NULL), ST_OK);
    assert_true(get(&parent, 3, 7) == 3 * 16 + 7);
    assert_true(get(&parent, 3, 3) == 3 * 16 + 3);
}

TEST(a_fifo_copy_changes_layout_and_type)
{
    struct pto_tile acc = tile_at(PTO_F32, 32, 32, 0), vec = tile_at(PTO_BF16, 16, 32, 16384);
    acc.type.space = PTO_ACC;
    acc.type.blayout = PTO_COL_MAJOR;
    acc.type.slayout = PTO_BOX_ROW;
    acc.type.fractal = 1024;
    count_up(&acc);
    struct pto_tile half = pto_tile_half(&acc, 1, 1);
    struct diag d;
    diag_init(&d);
    assert_int_equal(pto_func_copy(&half, &vec, (struct where){0}, &d), ST_OK);
    diag_fini(&d);
    uint64_t want = pto_elem_from_f32(17 * 32 + 5, PTO_BF16);
    assert_true(get(&vec, 1, 5) == pto_elem_f32(want, PTO_BF16));
}

TEST(sums_are_fused_and_ascending)
{
    struct pto_tile a = tile_at(PTO_F32, 3, 50, 0), b = tile_at(PTO_F32, 50, 37, 4096);
    struct pto_tile c = tile_at(PTO_F32, 3, 37, 32768);
    count_up(&a);
    count_up(&b);
    for (int32_t r = 0; r < 50; r++)
        for (int32_t k = 0; k < 37; k++)
            pto_elem_store(b.base + pto_tile_offset(&b, r, k), PTO_F32,
                           pto_elem_from_f32(1.0f / (float)(1 + r * 37 + k), PTO_F32));
    struct pto_arg in[] = {as_tile(&a), as_tile(&b)}, out = as_tile(&c);
    assert_int_equal(func_run(PTO_TMATMUL, in, 2, &out, 1, NULL), ST_OK);
    for (int32_t r = 0; r < 3; r++)
        for (int32_t k = 0; k < 37; k++) {
            float sum = 0;
            for (int32_t i = 0; i < 50; i++)
                sum = fmaf(get(&a, r, i), get(&b, i, k), sum);
            assert_true(get(&c, r, k) == sum);
        }
}

TEST(signals_and_transfers_work_in_one_rank)
{
    unsigned char gm[256] = {0};
    struct pto_view v[4];
    for (int i = 0; i < 4; i++)
        v[i] = (struct pto_view){.base = gm,
                                 .limit = sizeof(gm),
                                 .offset = 8 * i,
                                 .dtype = PTO_I32,
                                 .ndim = 1,
                                 .shape = {4},
                                 .stride = {1}};
    struct pto_scalar five = {PTO_I32, 5}, met = {PTO_I1, 0};
    struct pto_arg signal[] = {as_view(&v[0]), as_value(&five)}, out = as_value(&met);
    struct pto_attrs attrs = PTO_ATTRS;
    assert_int_equal(func_run(PTO_COMM_TNOTIFY, signal, 2, NULL, 0, &attrs), ST_OK);
    assert_int_equal(func_run(PTO_COMM_TNOTIFY, signal, 2, NULL, 0, &attrs), ST_OK);
    assert_int_equal(gm[0], 10);
    attrs.wait_cmp = PTO_WAIT_GE;
    assert_int_equal(func_run(PTO_COMM_TTEST, signal, 2, &out, 1, &attrs), ST_OK);
    assert_int_equal(met.bits, 1);
    attrs.notify = PTO_NOTIFY_SET;
    assert_int_equal(func_run(PTO_COMM_TNOTIFY, signal, 2, NULL, 0, &attrs), ST_OK);
    assert_int_equal(gm[0], 5);
    struct pto_arg pair[] = {as_view(&v[1]), as_view(&v[0])};
    assert_int_equal(func_run(PTO_COMM_TPUT, pair, 2, NULL, 0, NULL), ST_OK);
    assert_int_equal(gm[32], 5);
    struct pto_arg group[] = {as_view(&v[3]), as_view(&v[0]), as_view(&v[1])};
    assert_int_equal(func_run(PTO_COMM_TREDUCE, group, 3, NULL, 0, NULL), ST_OK);
    assert_int_equal(gm[96], 10);
    struct pto_arg all[] = {as_view(&v[0]), as_view(&v[2])};
    assert_int_equal(func_run(PTO_COMM_TBROADCAST, all, 2, NULL, 0, NULL), ST_OK);
    assert_int_equal(gm[64], 5);
    v[2].shape[0] = 8;
    struct pto_arg parts[] = {as_view(&v[2]), as_view(&v[0]), as_view(&v[1])};
    gm[32] = 9;
    assert_int_equal(func_run(PTO_COMM_TGATHER, parts, 3, NULL, 0, NULL), ST_OK);
    assert_int_equal(gm[64], 5);
    assert_int_equal(gm[80], 9);
    gm[80] = 7;
    assert_int_equal(func_run(PTO_COMM_TSCATTER, parts, 3, NULL, 0, NULL), ST_OK);
    assert_int_equal(gm[32], 7);
}

static uint32_t func_next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Mostly sensible tiles, now and then one with a number far off. */
static struct pto_tile any_tile(uint32_t *seed)
{
    static const int32_t sizes[] = {1, 2, 8, 16, 17, 32, 64, INT32_MAX, 0, -1};
    struct pto_tile t =
        tile_at((enum pto_dtype)(func_next(seed) % PTO_DTYPE_COUNT), 0, 0, func_next(seed) % 4096);
    size_t most = func_next(seed) % 8 == 0 ? ARRAY_LEN(sizes) : 7;
    t.type.rows = sizes[func_next(seed) % most];
    t.type.cols = sizes[func_next(seed) % most];
    t.v_row = func_next(seed) % 2 ? t.type.rows : sizes[func_next(seed) % 7];
    t.v_col = func_next(seed) % 2 ? t.type.cols : sizes[func_next(seed) % 7];
    t.type.blayout = (enum pto_blayout)(func_next(seed) % 2);
    t.type.slayout = (enum pto_slayout)(func_next(seed) % 3);
    t.type.fractal = (int32_t[]){512, 512, 1024, 32, 0}[func_next(seed) % 5];
    t.type.compact = (int32_t)(func_next(seed) % 4);
    t.type.pad = func_next(seed) % 4;
    if (func_next(seed) % 16 == 0)
        t.addr = func_next(seed) % 2 ? SPACE - 7 : INT64_MAX;
    return t;
}

static struct pto_view any_view(uint32_t *seed)
{
    struct pto_view v = {.base = space,
                         .limit = SPACE,
                         .offset = func_next(seed) % 64,
                         .dtype = (enum pto_dtype)(func_next(seed) % PTO_DTYPE_COUNT),
                         .ndim = (int32_t)(func_next(seed) % 7),
                         .layout = (enum pto_layout)(func_next(seed) % 5)};
    for (int i = 0; i < PTO_VIEW_RANK; i++) {
        v.shape[i] = func_next(seed) % 9;
        v.stride[i] = (int64_t)(func_next(seed) % 40) - 3;
    }
    return v;
}

/* Whatever the operands are, an operation ends with a result or a diagnostic. */
TEST(no_operand_can_do_harm)
{
    uint32_t seed = 3;
    size_t good = 0;
    for (int round = 0; round < 400; round++)
        for (int op = 1; op < PTO_OP_COUNT; op++) {
            struct pto_tile tiles[8];
            struct pto_view views[8];
            struct pto_scalar values[8];
            struct pto_arg operands[8];
            struct pto_attrs attrs = PTO_ATTRS;
            if (!pto_func_knows((enum pto_opcode)op))
                continue;
            for (int i = 0; i < 8; i++) {
                tiles[i] = any_tile(&seed);
                if (i > 0 && func_next(&seed) % 2)
                    tiles[i] = tiles[0];
                if (func_next(&seed) % 8 == 0)
                    pto_tile_window(&tiles[i], 1, 1, tiles[i].type.rows - 1, tiles[i].type.cols - 1,
                                    &tiles[i]);
                views[i] = any_view(&seed);
                values[i] = (struct pto_scalar){
                    (enum pto_dtype)(func_next(&seed) % PTO_DTYPE_COUNT),
                    func_next(&seed) % 4 ? func_next(&seed) % 70
                                         : (uint64_t) - (int64_t)func_next(&seed)};
                uint32_t kind = func_next(&seed) % 8;
                operands[i] = kind < 5   ? as_tile(&tiles[i])
                              : kind < 7 ? as_view(&views[i])
                                         : as_value(&values[i]);
            }
            attrs.mask_pattern = func_next(&seed) % 3 == 0 ? (int32_t)(func_next(&seed) % 9) : 0;
            attrs.cmp = (enum pto_cmp)(func_next(&seed) % 6);
            attrs.round = (enum pto_round)(func_next(&seed) % 8);
            attrs.saturation = (enum pto_saturation)(func_next(&seed) % 3);
            attrs.gather_oob = (enum pto_gather_oob)(func_next(&seed) % 4);
            attrs.scatter_oob = (enum pto_scatter_oob)(func_next(&seed) % 4);
            attrs.scatter_op = (enum pto_scatter_op)(func_next(&seed) % 4);
            attrs.coalesce = (enum pto_coalesce)((int)(func_next(&seed) % 3) - 1);
            attrs.atomic = (int32_t)(func_next(&seed) % 2);
            attrs.pad_mode = (enum pto_pad_mode)(func_next(&seed) % 3);
            attrs.exhausted = func_next(&seed) % 2;
            size_t outs = func_next(&seed) % 4;
            good += func_run((enum pto_opcode)op, operands + outs, func_next(&seed) % 5, operands,
                             outs, &attrs) == ST_OK;
        }
    assert_true(good > 1000); /* the operands are not all nonsense */
}

TEST(operations_without_data_are_not_known)
{
    assert_true(pto_func_knows(PTO_TADD));
    assert_false(pto_func_knows(PTO_BARRIER));
    assert_int_equal(func_run(PTO_BARRIER, NULL, 0, NULL, 0, NULL), ST_UNSUPPORTED);
}

TEST_MAIN("kernels/pto/values/func", T(sources_that_overlap_are_read_before_anything_is_written),
          T(a_window_is_computed_in_its_parent), T(a_fifo_copy_changes_layout_and_type),
          T(sums_are_fused_and_ascending), T(signals_and_transfers_work_in_one_rank),
          T(no_operand_can_do_harm), T(operations_without_data_are_not_known))
