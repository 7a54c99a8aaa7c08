/*
 * program_in - what the parts of the compiler share: program.c (control flow), program_values.c
 * (views, tiles, numbers) and program_sites.c (instructions).
 */
#ifndef STRATA_KERNELS_PTO_SIM_PROGRAM_IN_H
#define STRATA_KERNELS_PTO_SIM_PROGRAM_IN_H

#include "kernels/pto/sim/program.h"

/* A value of one copy of a function: where it lives. */
struct pto_slot {
    uint8_t kind; /* enum pto_slot_kind */
    uint32_t at;
};

/* A jump to a block that may not be compiled yet. */
struct pto_jump {
    uint32_t step, block;
};

/* One function being compiled into the program: the kernel, or a copy of a helper. */
struct pto_frame {
    const struct pto_function *f;
    struct pto_slot *slots; /* by value */
    bool *reshaped;         /* by value: some set_validshape names it */
    const struct pto_frame *caller;
    uint32_t depth;
    const struct pto_slot *results; /* where `return` puts its values */
    VEC_OF(uint32_t) returns;       /* jumps to the end, to be filled in */
    VEC_OF(uint32_t) labels;        /* step of each block of the body, for cf.* */
    VEC_OF(struct pto_jump) jumps;
};

/* Where the terminator of a region puts its values. */
struct pto_target {
    const struct pto_slot *slots;
    uint32_t count;
};

/* What the text alone tells about a tile. */
struct pto_tile_fact {
    bool is_known;  /* the bytes: [lo, hi) */
    bool is_placed; /* the slot has the address and window it will have */
    bool is_valid_known;
    int64_t lo, hi;
};

struct pto_compiler {
    struct pto_program *p;
    const struct pto_module *m;
    const char *path;
    struct diag *diag;
    struct arena arena;         /* frames */
    VEC_OF(bool) known_numbers; /* by slot */
    VEC_OF(bool) known_gms;     /* by slot: all of it, but for where the buffer is */
    VEC_OF(struct pto_tile_fact) tiles;
    uint32_t arm;                            /* node that gets the next child */
    struct pto_tile_fact fifo[PTO_FIFOS][2]; /* ring of the consumer, by number and direction */
    int64_t bump[PTO_SPACE_COUNT];           /* tiles without an address: where the next one goes */
    struct pto_frame *frame;
    struct pto_target target; /* of the region being compiled */
    uint32_t n_values;        /* of all calls copied in */
    bool has_large_arrays;
    bool has_unknown_roots; /* a loop mixes a pointer that cannot be told */
    int32_t same_root[64];  /* pointer arguments that a loop mixes up: another of the group */
};

enum status program_fail(struct pto_compiler *c, const struct pto_op *op, const char *code,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* program_slots.c */
enum { PTO_ARRAY_ELEMENTS = 1 << 20 }; /* of all local arrays */

struct pto_slot program_number(struct pto_compiler *c);
struct pto_slot program_constant(struct pto_compiler *c, int64_t value);
struct pto_slot program_tile(struct pto_compiler *c, struct pto_tile tile);
struct pto_slot program_gm(struct pto_compiler *c, struct pto_gm gm);
struct pto_slot program_slot(struct pto_compiler *c, const struct pto_type *type);

/* The step that comes next. */
static inline uint32_t program_here(const struct pto_compiler *c)
{
    return (uint32_t)c->p->steps.n;
}

static inline uint32_t program_op(const struct pto_compiler *c, const struct pto_op *op)
{
    return (uint32_t)(op - c->m->ops.at);
}

uint32_t program_emit(struct pto_compiler *c, struct pto_step step);
uint32_t program_jump(struct pto_compiler *c, uint32_t target);
uint32_t program_unless(struct pto_compiler *c, const struct pto_op *op, struct pto_slot condition);

/* A jump that was emitted leads to the step that comes next. */
static inline void program_land(struct pto_compiler *c, uint32_t jump)
{
    c->p->steps.at[jump].target = program_here(c);
}

void program_copy(struct pto_compiler *c, struct pto_slot from, struct pto_slot to);

static inline struct pto_slot program_slot_of(const struct pto_compiler *c, uint32_t value)
{
    return c->frame->slots[value];
}

/* The slot of the operand with that role; kind PTO_SLOT_NONE when there is none. */
struct pto_slot program_role(const struct pto_compiler *c, const struct pto_op *op,
                             enum pto_role role, uint32_t nth);

/* The nth operand that lives in that kind of slot, whatever its role. */
struct pto_slot program_kind(const struct pto_compiler *c, const struct pto_op *op,
                             enum pto_slot_kind kind, uint32_t nth);

/* The slot of the nth result, made on first use. */
struct pto_slot program_result(struct pto_compiler *c, const struct pto_op *op, uint32_t nth);
const struct pto_type *program_result_type(const struct pto_compiler *c, const struct pto_op *op,
                                           uint32_t nth);

/* Appends the operands to the program's uses and returns the first. */
uint32_t program_uses(struct pto_compiler *c, const struct pto_op *op, uint32_t *count);

bool program_is_known(const struct pto_compiler *c, struct pto_slot number, int64_t *value);

/* A node of the tree around the steps that follow, until it is closed. */
uint32_t program_open(struct pto_compiler *c, enum pto_node_kind kind);
void program_close(struct pto_compiler *c, uint32_t node);

/* program_finish.c. A loop hands `from` back to where `to` was: pointers of the two are one for who
 * tells accesses apart. */
void program_mix_roots(struct pto_compiler *c, const struct pto_slot *from,
                       const struct pto_slot *to, uint32_t n);

/* Accesses through pointers that loops mix up become accesses through one of them. Finds which
 * pointers need watching. */
void program_group_roots(struct pto_compiler *c);

/* Puts the syncs that hang on nodes between the steps. */
void program_weave_syncs(struct pto_compiler *c);

/* program_values.c, program_sites.c: one operation of a class. */
typedef enum status program_fn(struct pto_compiler *c, const struct pto_op *op);

program_fn program_compile_constant, program_compile_arith, program_compile_view,
    program_compile_alloc, program_compile_subview, program_compile_retyped, program_compile_simple,
    program_compile_reserve, program_compile_site;

#endif
