/*
 * pto_host - what a PTO kernel in C++ calls when it runs on this machine instead of a core.
 *
 * The headers under pto-host/ turn each instruction of a kernel into one call of this table, with
 * the operands as plain structs. strata executes it on its own copy of the on-chip memory, so that
 * control flow and scalar code see real data, and writes it down for the simulator. A call that
 * cannot be executed does not return.
 *
 * Numbers of element types, spaces and layouts are those of the dialect (docs/pto.md).
 */
#ifndef STRATA_PTO_HOST_H
#define STRATA_PTO_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STRATA_PTO_HOST_VERSION = 1 };

/* On-chip memory of a core: byte `at` of a space is at `chip` + (space << 32) + at, so that the low
 * half of a pointer is the address on the chip. */
enum { STRATA_PTO_CHIP_BITS = 36 };

enum strata_pto_dtype {
    STRATA_PTO_NO_DTYPE,
    STRATA_PTO_I1,
    STRATA_PTO_I8,
    STRATA_PTO_I16,
    STRATA_PTO_I32,
    STRATA_PTO_I64,
    STRATA_PTO_U8,
    STRATA_PTO_U16,
    STRATA_PTO_U32,
    STRATA_PTO_U64,
    STRATA_PTO_INDEX,
    STRATA_PTO_F16,
    STRATA_PTO_BF16,
    STRATA_PTO_F32,
    STRATA_PTO_F8E4M3,
    STRATA_PTO_F8E5M2,
    STRATA_PTO_HIF8,
    STRATA_PTO_F8E8M0,
    STRATA_PTO_F4E1M2X2,
    STRATA_PTO_F4E2M1X2,
};

enum strata_pto_space {
    STRATA_PTO_MAT = 2,
    STRATA_PTO_LEFT,
    STRATA_PTO_RIGHT,
    STRATA_PTO_ACC,
    STRATA_PTO_VEC,
    STRATA_PTO_BIAS,
    STRATA_PTO_SCALING,
};

enum strata_pto_layout {
    STRATA_PTO_ND,
    STRATA_PTO_DN,
    STRATA_PTO_NZ,
    STRATA_PTO_MX_A,
    STRATA_PTO_MX_B
};

struct strata_pto_tile {
    int32_t space, dtype;
    int32_t blayout, slayout; /* row-major 0, column-major 1; no boxes 0, rows 1, columns 2 */
    int32_t rows, cols, v_row, v_col;
    int32_t fractal, compact;
    int64_t pad;  /* 0..3, or bit 32 and a value in the low word */
    int64_t addr; /* in its space; negative: none was assigned */
};

struct strata_pto_view {
    void *data;
    int32_t dtype, layout;       /* enum strata_pto_layout; negative: none of them */
    int64_t shape[5], stride[5]; /* in elements */
};

enum strata_pto_kind { STRATA_PTO_TILE, STRATA_PTO_VIEW, STRATA_PTO_VALUE, STRATA_PTO_RESULT };

struct strata_pto_operand {
    int32_t kind;
    int32_t dtype; /* of a value */
    union {
        const struct strata_pto_tile *tile;
        const struct strata_pto_view *view;
        uint64_t bits;    /* of a value, in the low bytes */
        uint64_t *result; /* of an output that is a value */
    } u;
};

struct strata_pto_attr {
    const char *key; /* as the text of the dialect has it */
    int64_t value;
};

/* Where the kernel calls. */
struct strata_pto_place {
    const char *file;
    int32_t line;
};

struct strata_pto_call {
    const char *op; /* "pto.tadd" */
    struct strata_pto_place place;
    int32_t n_outs, n_ins, n_attrs;
    const struct strata_pto_operand *outs, *ins; /* in the order of the dialect's text */
    const struct strata_pto_attr *attrs;
};

/* A FIFO between the cube and the vector cores. */
struct strata_pto_fifo {
    int32_t id, direction; /* bits: 1 to the vector cores, 2 to the cube core */
    int32_t slot_size, slots, local_slots, is_whole;
    void *gm;
    int64_t to_vector, to_cube; /* offsets of the rings in the consumers' memory */
};

struct strata_pto_host {
    int32_t version;
    int32_t sub_block; /* 0 or 1 on a vector core */
    int32_t block, blocks;
    void *core;
    void (*call)(void *core, const struct strata_pto_call *call);
    /* pto.tgetval: the bits of an element. */
    uint64_t (*get)(void *core, const struct strata_pto_tile *tile, int64_t index,
                    struct strata_pto_place place);
    void (*flag)(void *core, int is_wait, int from, int to, int64_t id,
                 struct strata_pto_place place);
    void (*barrier)(void *core, int pipe, struct strata_pto_place place);
    void (*fifo)(void *core, const struct strata_pto_fifo *fifo, struct strata_pto_place place);
    void (*push)(void *core, int id, const struct strata_pto_tile *tile, int split,
                 struct strata_pto_place place);
    /* The address of the slot that was taken. */
    int64_t (*pop)(void *core, int id, const struct strata_pto_tile *tile, int split,
                   struct strata_pto_place place);
    void (*release)(void *core, int id, int split, struct strata_pto_place place);
    /* Cross-core synchronisation: SYNCALL, ffts and their like; `what` as in the dialect. */
    void (*cross)(void *core, const char *what, int64_t pipe, int64_t id,
                  struct strata_pto_place place);
    uint64_t (*clock)(void *core);
    /* Called before a scalar access to a tensor; n -1: its cache line is dropped, 0: all are. */
    void (*access)(void *core, const void *at, int64_t n, int is_store);
    uintptr_t gm_begin, gm_bytes; /* all tensors are in here */
    uintptr_t chip;               /* 0: on-chip memory has no pointers */
    /* Something the host cannot do; ends the run with this reason. */
    void (*stop)(void *core, const char *reason, struct strata_pto_place place);
    /* A slot as a view of global memory: "talloc", "tpush", "tpop" or "tfree". Its address, for the
     * first and the third. */
    void *(*entry)(void *core, const char *what, int id, const struct strata_pto_view *view,
                   int split, struct strata_pto_place place);
};

/* Every compiled kernel has these; the host calls the first before anything else, and
 * kernel_entry() by way of the second. */
void strata_pto_attach(const struct strata_pto_host *host);
void strata_pto_enter(void (*entry)(int64_t *args), int64_t *args);

#ifdef __cplusplus
}
#endif

#endif
