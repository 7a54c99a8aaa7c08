/*
 * host_in - between the parts of kernels/pto/sim/host.h.
 */
#ifndef STRATA_KERNELS_PTO_SIM_HOST_IN_H
#define STRATA_KERNELS_PTO_SIM_HOST_IN_H

#include <ucontext.h>

#include "base/tables/intern.h"
#include "kernels/pto/sim/core.h"
#include "kernels/pto/sim/fifo_ring.h"
#include "kernels/pto/sim/host.h"
#include "kernels/pto/values/func.h"

enum { PTO_HOST_FIFOS = 16 };

/* What a core did, as text of the dialect: names are defined when they are first used. */
struct pto_host_script {
    struct text body;
    struct intern names;                    /* of values that are defined */
    VEC_OF(struct strata_pto_place) places; /* of each line */
    uint32_t n_values;
};

struct pto_host_store {
    const unsigned char *at; /* NULL: none */
    size_t buffer, n;        /* SIZE_MAX: on the chip */
};

/* The memory right of a product, in blocks whose pairs lie one way (host_pairs.c). */
enum { PTO_HOST_RIGHT_BLOCK = 512, PTO_HOST_RIGHT_BLOCKS = 128 };

struct pto_host_core {
    struct pto_host *host;
    uint32_t number;
    struct strata_pto_host table;
    struct pto_host_object object;
    int64_t *args;
    ucontext_t context;
    unsigned char *stack;
    unsigned char *space[PTO_SPACE_COUNT];
    bool right_down[PTO_HOST_RIGHT_BLOCKS]; /* pairs along K there, else along N */
    struct pto_host_script script;
    size_t pushed[PTO_HOST_FIFOS][2], popped[PTO_HOST_FIFOS][2];
    size_t allocated[PTO_HOST_FIFOS][2], freed[PTO_HOST_FIFOS][2];
    struct strata_pto_fifo fifo[PTO_HOST_FIFOS];
    struct strata_pto_place fifo_place[PTO_HOST_FIFOS];
    struct str entry[PTO_HOST_FIFOS][2]; /* "%v.3 : type": the slot that was taken last as a view */
    uint64_t sets[PTO_SEMAPHORES], waits[PTO_SEMAPHORES]; /* tokens between cores */
    struct pto_host_store stored; /* the last scalar store, until its value is there */
    const void *polled;           /* the address that was read last */
    uint32_t n_polls;
    bool is_waiting, is_done;
    bool has_vector; /* tiles or the pipe of a vector core were used */
};

struct pto_host {
    struct pto_host_setup setup;
    struct diag diag;
    struct arena arena;
    struct pto_host_core *cores[PTO_CORES];
    struct pto_ring rings[PTO_HOST_FIFOS][2]; /* [1] to the vector cores */
    ucontext_t main;
    uint64_t calls, clock;
    bool has_counts; /* of merged lists: an argument that the text needs */
};

/* Lets the other cores run; returns when it is this one's turn again. Fails when it waits and none
 * of the others can go on. */
void pto_host_yield(struct pto_host_core *c, bool is_waiting, struct strata_pto_place place);

/* Ends the run. */
void pto_host_fail(struct pto_host_core *c, const char *code, struct strata_pto_place place,
                   const char *format, ...) __attribute__((format(printf, 4, 5), noreturn));

/* Notes where the kernel is, and counts; the second only counts. */
void pto_host_mark_call(struct pto_host_core *c, const char *op, struct strata_pto_place place);
void pto_host_count(struct pto_host_core *c, struct strata_pto_place place);

/* The tile as the engine sees it; fails when it has no address or is none. */
struct pto_tile pto_host_tile(struct pto_host_core *c, const struct strata_pto_tile *t,
                              struct strata_pto_place place, const char *op);

/* ---- the script ---- */

void pto_host_line(struct pto_host_core *c, struct strata_pto_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct str pto_host_tile_name(struct pto_host_core *c, const struct pto_tile *t);
struct str pto_host_view_name(struct pto_host_core *c, const struct pto_view *v, size_t buffer,
                              struct str *type);
struct str pto_host_value_name(struct pto_host_core *c, enum pto_dtype dtype, uint64_t bits);
/* "(%r, %c : index, index)": the valid part of a tile of which not all is; else empty. */
struct str pto_host_valid(struct pto_host_core *c, const struct pto_tile *t);
struct str pto_host_tile_type(struct pto_host_core *c, const struct pto_tile *t);

struct str pto_host_pointer_name(struct pto_host_core *c, enum pto_dtype dtype, int64_t offset,
                                 size_t buffer);

/* The tensor around an address; SIZE_MAX: none. */
size_t pto_host_buffer_at(const struct pto_host_core *c, const void *data);

/* ---- scalar accesses (host_scalar.c) ---- */

void pto_host_access(void *core, const void *at, int64_t n, int is_store);
/* Writes down a store that is not yet. */
void pto_host_settle(struct pto_host_core *c);

/* ---- values of four bits (host_pairs.c) ---- */

/* Whether shapes in C++ count halves of what the dialect counts, for this type and instruction. */
bool pto_host_has_pairs(enum pto_dtype t, const char *op);
/* From values to pairs; the run ends where one would be torn. The third is for a row or a column
 * at which part of a tile begins. */
void pto_host_pair_tile(struct pto_host_core *c, struct pto_tile_type *t, int64_t addr,
                        struct strata_pto_place place, const char *op);
void pto_host_pair_view(struct pto_host_core *c, struct pto_view *v, struct strata_pto_place place,
                        const char *op);
void pto_host_pair_index(struct pto_host_core *c, const struct pto_tile *t, bool is_row,
                         uint64_t *index, struct strata_pto_place place, const char *op);
/* Before a tile is moved to the right of a product. */
void pto_host_pair_right(struct pto_host_core *c, const struct pto_tile *from,
                         const struct strata_pto_tile *to);

/* ---- FIFOs and tokens (host_fifo.c) ---- */

void pto_host_fifo(void *core, const struct strata_pto_fifo *fifo, struct strata_pto_place place);
void pto_host_push(void *core, int id, const struct strata_pto_tile *tile, int split,
                   struct strata_pto_place place);
int64_t pto_host_pop(void *core, int id, const struct strata_pto_tile *tile, int split,
                     struct strata_pto_place place);
void pto_host_release(void *core, int id, int split, struct strata_pto_place place);
void *pto_host_slot(void *core, const char *what, int id, const struct strata_pto_view *view,
                    int split, struct strata_pto_place place);
/* The lines that set up the FIFOs of a core; false: the number has none. */
bool pto_host_fifo_text(const struct pto_host_core *c, int id, struct text *out);
void pto_host_cross(void *core, const char *what, int64_t pipe, int64_t id,
                    struct strata_pto_place place);

#endif
