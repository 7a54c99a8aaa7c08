/*
 * cost - what one instruction costs: cycles of its queue, and cycles until its result is there.
 *
 * Every cost is a pair. `occupied` is the time the instruction holds its queue (repeats, bytes over
 * bandwidth, cube cycles); `latency` is what passes after that until a flag, a barrier or another
 * pipe sees the result. A queue starts the next independent instruction when the first part is
 * over, so a stream pays the latency once and a serial chain pays it every time; a wait more can
 * never make a program shorter. Both are finite, not negative, and fractions: whoever adds them up
 * rounds.
 *
 * The constants come from data/pto/cost.csv and the fitted tables beside it, which are compiled in;
 * pto_costs_load() replaces single ones from a file with the same keys. docs/cost-model.md says
 * where each one is from and how far it can be trusted.
 *
 *     struct pto_costs *costs = pto_costs_new();
 *     TRY(pto_costs_load(costs, "my-chip.csv", diag));   (optional)
 *     struct pto_cost cost = pto_cost_of(costs, &(struct pto_work){.op = PTO_TADD, ...});
 *
 * After loading, a struct pto_costs is only read and may be shared between threads.
 */
#ifndef STRATA_KERNELS_PTO_COST_COST_H
#define STRATA_KERNELS_PTO_COST_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "kernels/pto/text/types.h"

struct arena;
struct pto_costs;

struct pto_cost {
    double occupied, latency; /* cycles of the core's clock */
};

/* Variants of an operation that cost differently; zero is the usual one. */
enum pto_form {
    PTO_FORM_PLAIN,
    PTO_FORM_MASK,    /* tgather, tscatter: by mask pattern instead of by index */
    PTO_FORM_COMPARE, /* tgather: indices of the elements that satisfy a comparison */
};

/*
 * What decides the cost of one instruction. Zero means "does not apply" everywhere, so callers fill
 * only what their operation has:
 *
 * - Vector operations: src_dtype (of the first source tile; of the destination when there is none),
 *   dst_dtype (differs for tcvt and the like), rows, cols, v_row, v_col. The shape is the source's
 *   for reductions, tgather with a mask, ttrans, tsort32 and tmrgsort, and the destination's for
 *   the others. A valid shape of 0 x 0 costs nothing but the issue.
 * - Transfers (tload, tstore, tmov, textract, tinsert, FIFO pushes and pops): src_space, dst_space,
 *   bytes; with GM also row_bytes, n_rows, is_transposed, cores and is_panel. From acc to gm, bytes
 *   are those that arrive. FIFOs of A2/A3 run through GM: a
 *   push is acc or vec to gm, a pop is gm to vec or mat. On A5 a push is acc to vec or vec to mat.
 *   Moves from vec to vec are vector operations.
 * - Matrix products: m, k, n and src_dtype of the left operand.
 * - Scalar operations: only op; tci on PIPE_S also the shape.
 */
struct pto_work {
    enum pto_opcode op;
    enum pto_arch arch;
    enum pto_pipe pipe; /* where it runs: tells tci with and without scratch apart */
    enum pto_form form;
    enum pto_space src_space, dst_space;
    enum pto_dtype src_dtype, dst_dtype;
    int32_t rows, cols;   /* physical */
    int32_t v_row, v_col; /* valid, as known at run time */
    int32_t m, k, n;
    bool is_apart;      /* vector operations: the second source lies in other banks of UB */
    int64_t bytes;      /* moved */
    int64_t row_bytes;  /* contiguous bytes in GM; 0 when the whole window is contiguous */
    int64_t n_rows;     /* number of such rows */
    bool is_transposed; /* a load into mat whose tile runs the other way than the view: nd into Zn,
                         * dn into Nz */
    int32_t cores;      /* AI cores that stream at the same time; 0 and 1: no contention */
    bool is_panel;      /* operand of a product that is spread over the cores: a row or column of
                         * them reads the same bytes */
    bool is_high_precision; /* trecip on A5 */
    /* What the text says besides; no published figure depends on these. */
};

/* Plain numbers that a scheduler needs besides the costs of instructions; see cost_keys.def. */
enum pto_cost_key {
#define PTO_COST_KEY(code, key) PTO_COST_##code,
#include "kernels/pto/cost/cost_keys.def"
#undef PTO_COST_KEY
    PTO_COST_KEY_COUNT,
};

/* The compiled-in constants. */
struct pto_costs *pto_costs_new(void);
void pto_costs_free(struct pto_costs *c);

/*
 * Replaces constants by those of a CSV table with the columns `key` and `value`; other columns are
 * notes. An unknown key, a key given twice, or a value outside the key's range is an error that
 * names the line. An operation whose law is replaced is no longer looked up in the fitted table.
 * After an error some constants may have been replaced. `text` is read, not kept; `path` is for
 * messages.
 */
enum status pto_costs_read(struct pto_costs *c, struct str text, const char *path,
                           struct diag *diag);
enum status pto_costs_load(struct pto_costs *c, const char *path, struct diag *diag);

double pto_costs_get(const struct pto_costs *c, enum pto_cost_key key);

/* The cost of one instruction. Never fails: what no rule covers costs the issue of one cycle. */
struct pto_cost pto_cost_of(const struct pto_costs *c, const struct pto_work *w);

/*
 * What bytes of a GM transfer cost that the L2 does not hold, besides pto_cost_of(). Memory itself
 * is shared by all cores: `service` is how long it is busy for a byte that this core reads,
 * `written` for one that it writes.
 */
struct pto_miss {
    double occupied; /* cycles a byte, */
    double covered;  /* but for so many that short rows take in any case */
    double latency;  /* cycles, once */
    double service;  /* cycles a byte; 0: nobody else uses it */
    double written;  /* cycles a byte that goes back to memory */
    double part; /* of the bytes that this core brings in, not another one that needs them too */
};

struct pto_miss pto_miss_of(const struct pto_costs *c, const struct pto_work *w);

/* The law of an operation with the numbers in use: "binary: 2.11 x units + 24"; empty for one that
 * takes no time of its own. docs/cost-model.md explains the terms. */
struct str pto_cost_words(const struct pto_costs *c, enum pto_arch arch, enum pto_opcode op,
                          struct arena *arena);

#endif
