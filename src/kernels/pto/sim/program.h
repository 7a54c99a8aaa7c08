/*
 * program - a kernel compiled for one core: steps for the scalar unit, sites for the pipes.
 *
 * Control flow becomes jumps, calls are copied in, and every value gets a slot: a number, a tile
 * or a view. An operation that runs on a pipe becomes a site, which knows its pipe, its operands
 * and, as far as the text tells, the bytes it touches; the step that executes it only names it.
 * Beside the steps stands the same program as a tree of loops and branches (struct pto_node): that
 * is what the inserter of synchronisation walks (kernels/pto/sim/program.h), and where it hangs its
 * flags.
 *
 * A program refers to its module and is const once compiled; cores share it.
 */
#ifndef STRATA_KERNELS_PTO_SIM_PROGRAM_H
#define STRATA_KERNELS_PTO_SIM_PROGRAM_H

#include "kernels/pto/cost/cost.h"
#include "kernels/pto/sim/queues.h"
#include "kernels/pto/text/ir.h"
#include "kernels/pto/values/arith.h"
#include "kernels/pto/values/func.h"

/* Steps: an arithmetic or view operation has the opcode of the text, the others are these. */
enum pto_step_code {
    PTO_STEP_END = PTO_OP_COUNT,
    PTO_STEP_JUMP,   /* to target */
    PTO_STEP_UNLESS, /* number a is 0: to target */
    PTO_STEP_FOR,    /* a = iv, b = upper, c = step: done: to target */
    PTO_STEP_NEXT,   /* iv += step, to target */
    PTO_STEP_COPY,   /* number a to dst */
    PTO_STEP_COPY_TILE,
    PTO_STEP_COPY_GM,
    PTO_STEP_SITE, /* a = site */
    PTO_STEP_SYNC, /* a = sync */
};

struct pto_step {
    uint16_t code;
    uint8_t dtype, from; /* of the result; of the operand of a cast */
    uint8_t flag;        /* predicate of a comparison; something of the step's own */
    uint8_t cycles;      /* enum pto_step_cycles */
    uint32_t dst, a, b, c;
    uint32_t target;
    uint32_t op; /* in the module */
};

enum pto_step_cycles { PTO_CYCLES_NONE, PTO_CYCLES_PLAIN, PTO_CYCLES_DIVISION };

/* What a slot holds. A pointer is a view without dimensions. */
enum pto_slot_kind { PTO_SLOT_NONE, PTO_SLOT_NUMBER, PTO_SLOT_TILE, PTO_SLOT_GM, PTO_SLOT_ARRAY };

/* A pointer or view of global memory. */
struct pto_gm {
    struct pto_view view;
    int32_t root; /* number of the pointer argument it comes from; negative: unknown */
};

/* An operand of a site. */
struct pto_use {
    uint32_t slot;
    uint8_t kind; /* enum pto_slot_kind */
    uint8_t role; /* enum pto_role */
    bool is_read, is_written;
    uint8_t dtype;   /* of a number, or of the elements */
    int32_t bytes;   /* of a tile */
    int32_t element; /* bytes of one of its elements */
};

/* Bytes a site may touch, as the text tells: for the inserter. */
struct pto_access {
    uint8_t space;
    bool is_write;
    bool is_known;   /* false: anywhere in the space, or behind the pointer */
    bool is_scratch; /* read and written: a tmp operand */
    int32_t root;    /* pointer argument of gm; negative: any */
    int64_t lo, hi;
};

/* Whether two accesses may touch the same byte. */
static inline bool pto_accesses_meet(const struct pto_access *a, const struct pto_access *b)
{
    if (a->space != b->space)
        return false;
    if (a->space == PTO_GM && a->root >= 0 && b->root >= 0 && a->root != b->root)
        return false;
    return !a->is_known || !b->is_known || (a->lo < b->hi && b->lo < a->hi);
}

enum { PTO_PHASES = 4, PTO_FIFOS = 16 };

struct pto_site {
    uint32_t op, line, col;
    enum pto_opcode code;
    uint8_t phases[PTO_PHASES]; /* pipes, one after the other */
    uint8_t n_phases;
    uint8_t split;        /* of FIFO operations */
    uint8_t fifo;         /* its number */
    bool to_vector;       /* its direction */
    bool is_view;         /* its entry is a view of a slot in global memory */
    bool is_known_repeat; /* `repeat` holds */
    bool has_unit_flag;   /* a product and the store of it: they wait for each other unasked */
    bool is_fixed;        /* its operands are tiles that keep their place and shape */
    enum pto_form form;
    struct pto_attrs attrs;
    uint32_t use_first, use_count;
    uint32_t access_first, access_count;
    uint32_t result; /* slot of a result (tgetval, load_scalar, tpop); PTO_NONE */
    uint8_t result_dtype;
    int64_t repeat; /* 256-byte repeats of the destination */
};

/* One node of the tree. Children of a node are a list through `next`. */
enum pto_node_kind { PTO_NODE_SITE, PTO_NODE_LOOP, PTO_NODE_IF, PTO_NODE_ARM };

struct pto_node {
    enum pto_node_kind kind;
    uint32_t parent, next, previous, child, last; /* PTO_NONE; a loop and an arm have children */
    uint32_t site;
    uint32_t first_step, end_step;
    uint32_t before, after; /* syncs hung here: first of a list through pto_sync.next; PTO_NONE */
};

enum pto_sync_kind { PTO_INSERT_SET, PTO_INSERT_WAIT, PTO_INSERT_BARRIER };

struct pto_sync {
    uint8_t kind, a, b, id; /* barrier: a */
    uint32_t next;
    uint32_t site; /* of the instruction that needs it */
};

/* An array on the stack of the scalar unit. */
struct pto_array {
    uint32_t count, first; /* elements, and the first one's place among all arrays */
    uint8_t dtype;
    uint32_t rank;
    int64_t dims[PTO_MAX_RANK];
};

struct pto_program {
    const struct pto_module *module;
    const struct pto_function *function;
    enum pto_kind kind; /* of the core; PTO_KIND_NONE: it has the pipes of both */
    enum pto_arch arch;
    VEC_OF(struct pto_step) steps;
    VEC_OF(struct pto_site) sites;
    VEC_OF(struct pto_use) uses;
    VEC_OF(struct pto_access) accesses;
    VEC_OF(struct pto_node) nodes; /* 0 is the body: an arm */
    VEC_OF(struct pto_sync) syncs;
    VEC_OF(struct pto_number) numbers; /* slots as they are before the first step */
    VEC_OF(struct pto_tile) tiles;
    VEC_OF(struct pto_gm) gms;
    VEC_OF(struct pto_array) arrays;
    VEC_OF(uint32_t) arg_slots; /* of the function's arguments, in order */
    uint64_t gm_shared;         /* bit per argument: accesses behind it may depend on each other */
    bool has_fifos;
    bool has_products;   /* matrix products */
    bool has_scalar_gm;  /* the scalar unit reads or writes global memory */
    bool has_flags;      /* the text synchronises itself: nothing is inserted, bytes do not wait */
    bool has_jumps;      /* cf.*: no tree */
    uint32_t n_unfilled; /* syncs that did not get an event */
    bool is_flagged;   /* set by the caller: the text synchronises itself, also without any flag */
    bool ignore_reuse; /* set by the caller: no flags for bytes that are written again (what-if) */
};

void pto_program_free(struct pto_program *p);

/* The nth of some uses that is of that kind and role, PTO_ROLE_COUNT: of any role; NULL when there
 * are fewer. */
static inline const struct pto_use *pto_use_find(const struct pto_use *at, uint32_t n,
                                                 enum pto_slot_kind kind, enum pto_role role,
                                                 uint32_t nth)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i].kind == kind && (role == PTO_ROLE_COUNT || at[i].role == role) && nth-- == 0)
            return &at[i];
    return NULL;
}

/*
 * Compiles `f` for a cube core (without its vector sections), a vector core, or one with the pipes
 * of both (PTO_KIND_NONE). Fails with the
 * operation and line named when something in it cannot be executed. `is_synchronised` inserts what
 * the compiler would (kernels/pto/sim/program.h).
 */
enum status pto_program_compile(struct pto_program *p, const struct pto_module *m,
                                const struct pto_function *f, enum pto_kind kind,
                                enum pto_arch arch, bool is_synchronised, const char *path,
                                struct diag *diag);

/*
 * sync - the flags and barriers that the compiler would insert into a program without any.
 *
 * For every instruction the inserter looks backwards for instructions whose bytes it meets, until
 * all pipes are known to be in order: through the branches before it, around the loops it is in,
 * and out of them. A pair on two pipes becomes a set and a wait, hung where both stand side by
 * side in the tree (so a wait leaves a loop that its set is not in); a pair carried by a loop gets
 * a first set before the loop and a last wait behind it. A pair on one pipe becomes a barrier.
 * Eight events serve each ordered pair of pipes; when they run out, a barrier of all pipes takes
 * the place of a set and wait. A barrier of all pipes ends the function.
 */

enum { PTO_EVENTS = 8 };

/* Hangs syncs on the nodes of a compiled tree. Gives up, with every instruction behind a barrier of
 * all pipes, on programs beyond `max_work` comparisons; returns false then. */
bool pto_sync_insert(struct pto_program *p, uint64_t max_work);

/* Hangs a barrier of all pipes before every instruction: for programs without a tree. */
void pto_sync_everywhere(struct pto_program *p);

#endif
