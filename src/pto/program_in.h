/*
 * program_in - what the parts of the compiler share: program.c (control flow), program_values.c
 * (views, tiles, numbers) and program_sites.c (instructions).
 */
#ifndef STRATA_PTO_PROGRAM_IN_H
#define STRATA_PTO_PROGRAM_IN_H

#include "pto/program.h"

/* A value of one copy of a function: where it lives. */
struct slot {
    uint8_t kind; /* enum pto_slot_kind */
    uint32_t at;
};

/* A jump to a block that may not be compiled yet. */
struct jump {
    uint32_t step, block;
};

/* One function being compiled into the program: the kernel, or a copy of a helper. */
struct frame {
    const struct pto_function *f;
    struct slot *slots; /* by value */
    bool *reshaped;     /* by value: some set_validshape names it */
    const struct frame *caller;
    uint32_t depth;
    const struct slot *results; /* where `return` puts its values */
    VEC_OF(uint32_t) returns;   /* jumps to the end, to be filled in */
    VEC_OF(uint32_t) labels;    /* step of each block of the body, for cf.* */
    VEC_OF(struct jump) jumps;
};

/* Where the terminator of a region puts its values. */
struct target {
    const struct slot *slots;
    uint32_t count;
};

/* What the text alone tells about slots. */
struct number_fact {
    bool is_known;
};

struct tile_fact {
    bool is_known;  /* the bytes: [lo, hi) */
    bool is_placed; /* the slot has the address and window it will have */
    bool is_valid_known;
    int64_t lo, hi;
};

struct gm_fact {
    bool is_known; /* the whole value, but for where the buffer is */
};

struct compiler {
    struct pto_program *p;
    const struct pto_module *m;
    const char *path;
    struct diag *diag;
    struct arena arena; /* frames */
    VEC_OF(struct number_fact) numbers;
    VEC_OF(struct tile_fact) tiles;
    VEC_OF(struct gm_fact) gms;
    uint32_t arm;                        /* node that gets the next child */
    struct tile_fact fifo[PTO_FIFOS][2]; /* ring of the consumer, by number and direction */
    int64_t bump[PTO_SPACE_COUNT];       /* tiles without an address: where the next one goes */
    struct frame *frame;
    struct target target; /* of the region being compiled */
    uint32_t n_values;    /* of all calls copied in */
    bool has_large_arrays;
    bool has_unknown_roots; /* a loop mixes a pointer that cannot be told */
    int32_t same_root[64];  /* pointer arguments that a loop mixes up: another of the group */
};

enum status compile_fail(struct compiler *c, const struct pto_op *op, const char *code,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* program_slots.c */
enum { PTO_ARRAY_ELEMENTS = 1 << 20 }; /* of all local arrays */

struct slot new_number(struct compiler *c);
struct slot new_constant(struct compiler *c, int64_t value);
struct slot new_tile(struct compiler *c, struct pto_tile tile);
struct slot new_gm(struct compiler *c, struct pto_gm gm);
struct slot new_slot(struct compiler *c, const struct pto_type *type);

/* The step that comes next. */
static inline uint32_t here(const struct compiler *c)
{
    return (uint32_t)c->p->steps.n;
}

static inline uint32_t op_number(const struct compiler *c, const struct pto_op *op)
{
    return (uint32_t)(op - c->m->ops.at);
}

uint32_t emit(struct compiler *c, struct pto_step step);
uint32_t emit_jump(struct compiler *c, uint32_t target);
uint32_t emit_unless(struct compiler *c, const struct pto_op *op, struct slot condition);

/* A jump that was emitted leads to the step that comes next. */
static inline void land(struct compiler *c, uint32_t jump)
{
    c->p->steps.at[jump].target = here(c);
}

void emit_copy(struct compiler *c, struct slot from, struct slot to);

static inline struct slot slot_of(const struct compiler *c, uint32_t value)
{
    return c->frame->slots[value];
}

/* The slot of the operand with that role; kind PTO_SLOT_NONE when there is none. */
struct slot role_slot(const struct compiler *c, const struct pto_op *op, enum pto_role role,
                      uint32_t nth);

/* The nth operand that lives in that kind of slot, whatever its role. */
struct slot kind_slot(const struct compiler *c, const struct pto_op *op, enum pto_slot_kind kind,
                      uint32_t nth);

/* The slot of the nth result, made on first use. */
struct slot result_slot(struct compiler *c, const struct pto_op *op, uint32_t nth);
const struct pto_type *result_type(const struct compiler *c, const struct pto_op *op, uint32_t nth);

/* Appends the operands to the program's uses and returns the first. */
uint32_t add_uses(struct compiler *c, const struct pto_op *op, uint32_t *count);

bool is_known(const struct compiler *c, struct slot number, int64_t *value);

/* A node of the tree around the steps that follow, until it is closed. */
uint32_t open_node(struct compiler *c, enum pto_node_kind kind);
void close_node(struct compiler *c, uint32_t node);

/* program_finish.c. A loop hands `from` back to where `to` was: pointers of the two are one for who
 * tells accesses apart. */
void mix_roots(struct compiler *c, const struct slot *from, const struct slot *to, uint32_t n);

/* Accesses through pointers that loops mix up become accesses through one of them. Finds which
 * pointers need watching. */
void group_roots(struct compiler *c);

/* Puts the syncs that hang on nodes between the steps. */
void weave_syncs(struct compiler *c);

/* program_values.c, program_sites.c: one operation of a class. */
typedef enum status compile_fn(struct compiler *c, const struct pto_op *op);

compile_fn compile_constant, compile_arith, compile_view, compile_alloc, compile_subview,
    compile_retyped, compile_simple, compile_reserve, compile_site;

#endif
