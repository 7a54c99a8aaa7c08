/*
 * testing_random - valid kernels out of random bytes.
 *
 * The text is written with a note of the bytes that each of its lines touches, so that the checker
 * of testing_properties.h knows the dependences without the simulator.
 */
#ifndef STRATA_PTO_TESTING_RANDOM_H
#define STRATA_PTO_TESTING_RANDOM_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pto/sim/sim.h"
#include "kernels/pto/text/parse.h"
#include "kernels/pto/text/verify.h"

enum {
    RANDOM_LINES = 900,
    RANDOM_TOUCHES = 4,
    RANDOM_DEPTH = 3,
    RANDOM_CELL = 256,                  /* bytes; everything is a multiple of it */
    RANDOM_CELLS = 48,                  /* of each space and of each buffer */
    RANDOM_AREAS = PTO_SPACE_COUNT + 2, /* the spaces, and two buffers */
};

/* Cells an instruction reads or writes: rows of `width` cells every `stride`. */
struct random_touch {
    uint8_t area;
    bool is_write, is_scratch;
    uint16_t first, rows, width, stride;
    uint16_t per_round; /* cells that `first` moves on with each round of the innermost loop */
};

struct random_line {
    uint8_t n;
    uint32_t rounds; /* of the innermost loop around it; 1 outside */
    uint32_t repeat; /* of its destination */
    bool is_load;
    struct random_touch touches[RANDOM_TOUCHES];
};

struct random_kernel {
    const uint8_t *bytes; /* the choices */
    size_t n_bytes, at;
    char text[200000];
    size_t n;
    uint32_t line;   /* of the text, from 1 */
    uint32_t budget; /* operations still to be written */
    uint32_t names;
    uint32_t rounds; /* of the innermost loop */
    uint32_t iv;     /* its variable is %i<iv>; 0 outside */
    uint32_t depth;
    bool is_cube, is_a5;
    bool has_flags;      /* flags of its own: nothing is inserted */
    uint32_t barrier_at; /* before this operation stands one more barrier; UINT32_MAX: none */
    uint32_t barrier_pipe;
    uint32_t pair_from, pair_to; /* one pair of flags more, around these operations of the outermost
                                    level; UINT32_MAX: none */
    uint32_t ops;
    struct random_line lines[RANDOM_LINES];
};

static inline uint32_t random_pick(struct random_kernel *k, uint32_t n)
{
    uint32_t byte = k->at < k->n_bytes ? k->bytes[k->at] : (uint32_t)(k->at * 37 + 11) & 0xff;

    k->at++;
    return byte % n;
}

static inline void random_write(struct random_kernel *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One line of text. */
static inline void random_write(struct random_kernel *k, const char *format, ...)
{
    va_list args;
    size_t room = sizeof(k->text) - k->n;

    va_start(args, format);
    int n = vsnprintf(k->text + k->n, room, format, args);
    va_end(args);
    if (n < 0 || (size_t)n + 2 > room)
        abort();
    k->n += (size_t)n;
    k->text[k->n++] = '\n';
    k->line++;
}

/* The line that comes next is an instruction. */
static inline struct random_line *random_note(struct random_kernel *k, uint32_t repeat)
{
    struct random_line *l = &k->lines[k->line];

    memset(l, 0, sizeof(*l));
    l->rounds = k->rounds;
    l->repeat = repeat;
    return l;
}

static inline void random_add(struct random_line *l, struct random_touch t)
{
    l->touches[l->n++] = t;
}

/* A vec tile of 16x64 (16 cells, 16 repeats) or 4x64 (4 cells) f32 at some cell. */
struct random_tile {
    uint32_t name, rows;
    uint16_t first, cells;
    uint8_t area;
    const char *type;
};

static inline struct random_touch random_whole(const struct random_tile *t, bool is_write)
{
    return (struct random_touch){.area = t->area,
                                 .is_write = is_write,
                                 .first = t->first,
                                 .rows = 1,
                                 .width = t->cells,
                                 .stride = t->cells};
}

static inline struct random_tile random_vec(struct random_kernel *k)
{
    static const char *const types[] = {"!pto.tile_buf<vec, 4x64xf32>",
                                        "!pto.tile_buf<vec, 16x64xf32>"};
    uint32_t large = random_pick(k, 2);
    struct random_tile t = {.name = k->names++,
                            .rows = large ? 16 : 4,
                            .cells = large ? 16 : 4,
                            .area = PTO_VEC,
                            .type = types[large]};

    t.first = (uint16_t)(random_pick(k, 6) * 4);
    random_write(k, "%%p%u = arith.constant %u : i64", t.name, t.first * RANDOM_CELL);
    random_write(k, "%%t%u = pto.alloc_tile addr = %%p%u : %s", t.name, t.name, t.type);
    return t;
}

/* A window of buffer 0 or 1, `rows` rows of 64 f32 (one cell) in a matrix of 2 x 64 columns. */
static inline uint32_t random_window(struct random_kernel *k, uint32_t rows, uint32_t *buffer,
                                     struct random_touch *touch)
{
    uint32_t name = k->names++, row = random_pick(k, 3) * 2, col = random_pick(k, 2);
    bool moves = k->iv != 0 && random_pick(k, 2) == 0;

    *buffer = random_pick(k, 2);
    random_write(k, "%%w%u = arith.constant %u : index", name, row);
    if (moves)
        random_write(k, "%%r%u = arith.addi %%w%u, %%i%u : index", name, name, k->iv);
    random_write(
        k,
        "%%v%u = pto.partition_view %%g%u, offsets = [%%%c%u, %%c%u], sizes = [%%c%u, %%c64]"
        " : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<%ux64xf32>",
        name, *buffer, moves ? 'r' : 'w', name, col * 64, rows, rows);
    *touch = (struct random_touch){.area = (uint8_t)(PTO_SPACE_COUNT + *buffer),
                                   .first = (uint16_t)(row * 2 + col),
                                   .rows = (uint16_t)rows,
                                   .width = 1,
                                   .stride = 2,
                                   .per_round = moves ? 2 : 0};
    return name;
}

static inline void random_load_or_store(struct random_kernel *k, const struct random_tile *t,
                                        bool is_store)
{
    struct random_touch window;
    uint32_t buffer = 0, v = random_window(k, t->rows, &buffer, &window);
    struct random_line *l = random_note(k, t->cells);

    window.is_write = is_store;
    l->is_load = !is_store;
    random_add(l, random_whole(t, !is_store));
    random_add(l, window);
    if (is_store)
        random_write(k,
                     "pto.tstore ins(%%t%u : %s) outs(%%v%u : "
                     "!pto.partition_tensor_view<%ux64xf32>)",
                     t->name, t->type, v, t->rows);
    else
        random_write(k,
                     "pto.tload ins(%%v%u : !pto.partition_tensor_view<%ux64xf32>) "
                     "outs(%%t%u : %s)",
                     v, t->rows, t->name, t->type);
}

static inline void random_vector_op(struct random_kernel *k)
{
    uint32_t what = random_pick(k, 8);
    struct random_tile a = random_vec(k), b, c;
    struct random_line *l;

    switch (what) {
    case 0:
    case 1:
        random_load_or_store(k, &a, false);
        return;
    case 2:
        random_load_or_store(k, &a, true);
        return;
    case 3: /* in place */
        l = random_note(k, a.cells);
        random_add(l, random_whole(&a, false));
        random_add(l, random_whole(&a, true));
        random_write(k, "pto.tadds ins(%%t%u, %%f : %s, f32) outs(%%t%u : %s)", a.name, a.type,
                     a.name, a.type);
        return;
    case 4:
        l = random_note(k, a.cells);
        random_add(l, random_whole(&a, true));
        random_write(k, "pto.texpands ins(%%f : f32) outs(%%t%u : %s)", a.name, a.type);
        return;
    case 5:
        l = random_note(k, 1);
        random_add(l, random_whole(&a, true));
        random_write(k, "pto.tsetval ins(%%c0, %%f : index, f32) outs(%%t%u : %s)", a.name, a.type);
        return;
    case 6: /* with scratch */
        b = random_vec(k);
        c = (struct random_tile){.name = k->names++, .first = 40, .cells = 1, .area = PTO_VEC};
        random_write(k, "%%p%u = arith.constant %u : i64", c.name, c.first * RANDOM_CELL);
        random_write(k,
                     "%%t%u = pto.alloc_tile addr = %%p%u valid_row = %%c%u : !pto.tile_buf<vec, "
                     "64x1xf32, valid=?x1, blayout=col_major>",
                     c.name, c.name, a.rows);
        l = random_note(k, 1);
        random_add(l, random_whole(&a, false));
        random_add(l, random_whole(&b, false));
        random_add(l, random_whole(&b, true));
        random_add(l, random_whole(&c, true));
        l->touches[1].is_scratch = l->touches[2].is_scratch = true;
        random_write(k,
                     "pto.trowsum ins(%%t%u, %%t%u : %s, %s) outs(%%t%u : !pto.tile_buf<vec, "
                     "64x1xf32, valid=?x1, blayout=col_major>)",
                     a.name, b.name, a.type, b.type, c.name);
        return;
    default:
        b = a;
        b.name = k->names++;
        b.first = (uint16_t)(random_pick(k, 6) * 4);
        random_write(k, "%%p%u = arith.constant %u : i64", b.name, b.first * RANDOM_CELL);
        random_write(k, "%%t%u = pto.alloc_tile addr = %%p%u : %s", b.name, b.name, b.type);
        l = random_note(k, b.cells);
        random_add(l, random_whole(&a, false));
        random_add(l, random_whole(&b, true));
        random_write(k, "pto.texp ins(%%t%u : %s) outs(%%t%u : %s)", a.name, a.type, b.name,
                     b.type);
        return;
    }
}

#define RANDOM_MAT   "!pto.tile_buf<mat, 16x64xf32, blayout=col_major, slayout=row_major>"
#define RANDOM_LEFT2 "!pto.tile_buf<left, 16x64xf32, slayout=row_major>"
#define RANDOM_LEFT5 "!pto.tile_buf<left, 16x64xf32, blayout=col_major, slayout=row_major>"
#define RANDOM_RIGHT "!pto.tile_buf<right, 64x16xf32, slayout=col_major>"
#define RANDOM_MATB  "!pto.tile_buf<mat, 64x16xf32, slayout=col_major>"
#define RANDOM_ACC                                                                                 \
    "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"

/* A tile of the cube core at one of three places; acc has 4 cells, the others 16. */
static inline struct random_tile random_place(struct random_kernel *k, const char *type,
                                              enum pto_space space)
{
    struct random_tile t = {.name = k->names++,
                            .rows = 16,
                            .area = (uint8_t)space,
                            .type = type,
                            .cells = space == PTO_ACC ? 4 : 16};

    t.first = (uint16_t)(random_pick(k, 3) * (space == PTO_ACC ? 4 : 16));
    random_write(k, "%%p%u = arith.constant %u : i64", t.name, t.first * RANDOM_CELL);
    random_write(k, "%%t%u = pto.alloc_tile addr = %%p%u : %s", t.name, t.name, t.type);
    return t;
}

static inline void random_product(struct random_kernel *k, bool is_acc)
{
    const char *left = k->is_a5 ? RANDOM_LEFT5 : RANDOM_LEFT2;
    struct random_tile a = random_place(k, left, PTO_LEFT),
                       b = random_place(k, RANDOM_RIGHT, PTO_RIGHT);
    struct random_tile c = random_place(k, RANDOM_ACC, PTO_ACC);
    struct random_line *l = random_note(k, 4);

    random_add(l, random_whole(&a, false));
    random_add(l, random_whole(&b, false));
    if (is_acc)
        random_add(l, random_whole(&c, false));
    random_add(l, random_whole(&c, true));
    if (is_acc)
        random_write(k, "pto.tmatmul.acc ins(%%t%u, %%t%u, %%t%u : %s, %s, %s) outs(%%t%u : %s)",
                     c.name, a.name, b.name, c.type, a.type, b.type, c.name, c.type);
    else
        random_write(k, "pto.tmatmul ins(%%t%u, %%t%u : %s, %s) outs(%%t%u : %s)", a.name, b.name,
                     a.type, b.type, c.name, c.type);
}

static inline void random_extract(struct random_kernel *k, bool is_left)
{
    const char *type = !is_left ? RANDOM_RIGHT : k->is_a5 ? RANDOM_LEFT5 : RANDOM_LEFT2;
    struct random_tile a = random_place(k, is_left ? RANDOM_MAT : RANDOM_MATB, PTO_MAT);
    struct random_tile b = random_place(k, type, is_left ? PTO_LEFT : PTO_RIGHT);
    struct random_line *l = random_note(k, 16);

    random_add(l, random_whole(&a, false));
    random_add(l, random_whole(&b, true));
    random_write(k, "pto.textract ins(%%t%u, %%c0, %%c0 : %s, index, index) outs(%%t%u : %s)",
                 a.name, a.type, b.name, b.type);
}

static inline void random_store_acc(struct random_kernel *k)
{
    struct random_tile a = random_place(k, RANDOM_ACC, PTO_ACC);
    uint32_t v = k->names++;

    random_write(k,
                 "%%v%u = pto.partition_view %%g1, offsets = [%%c0, %%c64], sizes = [%%c16, %%c16]"
                 " : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>",
                 v);
    struct random_line *l = random_note(k, 4);
    random_add(l, random_whole(&a, false));
    random_add(l, (struct random_touch){.area = PTO_SPACE_COUNT + 1,
                                        .is_write = true,
                                        .first = 1,
                                        .rows = 16,
                                        .width = 1,
                                        .stride = 2});
    random_write(k,
                 "pto.tstore ins(%%t%u : %s) outs(%%v%u : !pto.partition_tensor_view<16x16xf32>)",
                 a.name, a.type, v);
}

static inline void random_cube_op(struct random_kernel *k)
{
    uint32_t what = random_pick(k, 7);

    if (what < 2) {
        struct random_tile a = random_place(k, RANDOM_MAT, PTO_MAT);
        random_load_or_store(k, &a, false);
    } else if (what < 4) {
        random_extract(k, what == 2);
    } else if (what < 6) {
        random_product(k, what == 5);
    } else {
        random_store_acc(k);
    }
}

static const char *const random_pipes[2][4] = {{"MTE2", "V", "MTE3", "V"},
                                               {"MTE2", "MTE1", "M", "FIX"}};

static inline void random_ops(struct random_kernel *k);

static inline void random_loop(struct random_kernel *k)
{
    uint32_t rounds = k->rounds, iv = k->iv;

    k->iv = k->names++;
    k->rounds = random_pick(k, 4);
    random_write(k, "scf.for %%i%u = %%c0 to %%c%u step %%c1 {", k->iv, k->rounds);
    k->depth++;
    random_ops(k);
    k->depth--;
    random_write(k, "}");
    k->iv = iv;
    k->rounds = rounds;
}

static inline void random_branch(struct random_kernel *k)
{
    uint32_t name = k->names++;

    random_write(k, "%%b%u = arith.cmpi eq, %%n, %%n%u : i32", name, random_pick(k, 2));
    random_write(k, "scf.if %%b%u {", name);
    k->depth++;
    random_ops(k);
    if (random_pick(k, 2) == 0) {
        random_write(k, "} else {");
        random_ops(k);
    }
    random_write(k, "}");
    k->depth--;
}

static inline void random_one(struct random_kernel *k)
{
    uint32_t what = random_pick(k, 8);

    if (k->ops == k->barrier_at)
        random_write(k, "pto.barrier <PIPE_%s>",
                     k->barrier_pipe < 4 ? random_pipes[k->is_cube][k->barrier_pipe] : "ALL");
    k->ops++;
    if (what == 0 && k->depth < RANDOM_DEPTH)
        random_loop(k);
    else if (what == 1 && k->depth < RANDOM_DEPTH)
        random_branch(k);
    else if (k->is_cube)
        random_cube_op(k);
    else
        random_vector_op(k);
}

static inline void random_ops(struct random_kernel *k)
{
    uint32_t n = 1 + random_pick(k, 5);

    for (uint32_t i = 0; i < n && k->budget > 0; i++) {
        k->budget--;
        random_one(k);
    }
}

static inline void random_flag(struct random_kernel *k, const char *what, uint32_t from,
                               uint32_t to, uint32_t id)
{
    random_write(k, "pto.%s[<PIPE_%s>, <PIPE_%s>, <EVENT_ID%u>]", what,
                 random_pipes[k->is_cube][from], random_pipes[k->is_cube][to], id);
}

/* With flags of its own, a pair stands around every operation of the outermost level. */
static inline void random_top(struct random_kernel *k, uint32_t nth)
{
    if (k->has_flags)
        random_flag(k, "set_flag", nth % 3, nth % 3 + 1, nth % 7);
    if (k->has_flags && nth == k->pair_from)
        random_flag(k, "set_flag", 0, 2, 7);
    random_one(k);
    if (k->has_flags)
        random_flag(k, "wait_flag", nth % 3, nth % 3 + 1, nth % 7);
    if (k->has_flags && nth == k->pair_to)
        random_flag(k, "wait_flag", 0, 2, 7);
}

/* Writes the kernel that `bytes` stand for. Equal bytes make equal kernels but for what is asked
 * in addition: `barrier_at`, `pair_from`. */
static inline void random_kernel(struct random_kernel *k, const uint8_t *bytes, size_t n)
{
    k->bytes = bytes;
    k->n_bytes = n;
    k->at = k->n = k->ops = k->depth = k->iv = 0;
    k->line = 1;
    k->rounds = 1;
    memset(k->lines, 0, sizeof(k->lines));
    uint32_t kind = random_pick(k, 4);
    k->is_cube = kind % 2 == 1;
    k->is_a5 = kind >= 2;
    k->budget = 8 + 18 * random_pick(k, 4);
    k->names = 1;
    random_write(k, "module attributes {pto.target_arch = \"%s\"} {", k->is_a5 ? "a5" : "a2a3");
    random_write(k,
                 "func.func @k(%%a: !pto.ptr<f32>, %%b: !pto.ptr<f32>, %%n: i32) attributes "
                 "{pto.kernel_kind = #pto.kernel_kind<%s>} {",
                 k->is_cube ? "cube" : "vector");
    static const uint32_t constants[] = {0, 1, 2, 3, 4, 16, 64, 128};
    for (size_t i = 0; i < ARRAY_LEN(constants); i++)
        random_write(k, "%%c%u = arith.constant %u : index", constants[i], constants[i]);
    random_write(k, "%%f = arith.constant 1.0 : f32");
    random_write(k, "%%n0 = arith.constant 0 : i32");
    random_write(k, "%%n1 = arith.constant 1 : i32");
    for (int i = 0; i < 2; i++)
        random_write(k,
                     "%%g%d = pto.make_tensor_view %%%c, shape = [%%c64, %%c128], strides = "
                     "[%%c128, %%c1] : !pto.tensor_view<?x?xf32>",
                     i, "ab"[i]);
    for (uint32_t top = 0; k->budget > 0; top++) {
        k->budget--;
        random_top(k, top);
    }
    random_write(k, "return");
    random_write(k, "}");
    random_write(k, "}");
}

#endif
