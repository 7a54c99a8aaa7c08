/*
 * plant - programs with one problem of known cause, and their repaired twins.
 *
 * A program is a training, prefill or decode step with sizes, rates and small troubles of its seed.
 * A machine (synth/machine.h) executes it twice, with the problem and without it, so what the
 * repair saves is measured and not computed. docs/synth.md lists the causes.
 */
#ifndef STRATA_SYNTH_PLANT_H
#define STRATA_SYNTH_PLANT_H

#include "synth/machine.h"

enum plant_cause {
#define PLANT(code, id, program, machines, change, also, planted, repaired) PLANT_##code,
#include "synth/plants.def"
#undef PLANT
    PLANT_COUNT
};

enum plant_program { PLANT_TRAIN, PLANT_PREFILL, PLANT_DECODE };

struct plant_kind {
    const char *id;
    enum plant_program program;
    unsigned machines;  /* bit per enum machine_kind */
    const char *change; /* of `strata whatif` that is the repair; "": none is */
    const char *also;   /* other right answers, "a|b" */
    const char *planted, *repaired;
};

extern const struct plant_kind plant_kinds[PLANT_COUNT];
extern const char *const plant_names[PLANT_COUNT + 1]; /* ends with NULL */

static inline bool plant_is_healthy(enum plant_cause cause)
{
    return cause == PLANT_COMPUTE_BOUND || cause == PLANT_MEMORY_BOUND;
}

/* Matrix products of a layer, the head, and what else has a share of a peak of its own. */
enum plant_slot {
    SLOT_QKV,
    SLOT_OUT,
    SLOT_UP,
    SLOT_DOWN,
    SLOT_HEAD,
    SLOT_SCORES,
    SLOT_VALUES,
    SLOT_ATTENTION,
    SLOT_MEMORY,
    SLOT_ADAM,
    SLOT_SORT,
    SLOT_TOPK,
    SLOT_TOPK_START,
    SLOT_REPAIRED, /* + a slot above: of the kernel that replaces it */
};

/* One program, ready to run steps on a machine. */
struct plant {
    struct machine *m;
    enum plant_cause cause;
    bool is_sick;
    uint64_t seed;
    int steps, first; /* number of steps, number of the first */
    int64_t layers, tokens, hidden, vocab, head;
    int64_t amount, size; /* how often, how much: what they mean depends on the cause */
    nanos pause;          /* likewise */
    int64_t odd_step;     /* the one that is slow */
    bool has_comm, logs_loss;
    int64_t comm_rate, pinned_rate, pageable_rate; /* MB/s */
    nanos fused_host, fused_parameter;
    int64_t slow;     /* durations of kernels at the lower clock, per mille */
    bool is_pageable; /* what is copied to the host */
};

/* Draws sizes and rates of a seed; the same for both twins. */
void plant_draw(struct plant *p, struct machine *m, enum plant_cause cause, bool is_sick,
                uint64_t seed, int64_t steps);

/* Runs all steps. `marks` gets the begin of each; `done` is called after each, while the machine's
 * rank holds its record, and may be NULL. */
enum status plant_execute(struct plant *p, nanos *marks, void (*done)(void *ctx), void *ctx);

/* Executes the twins that the options ask for and writes their files and the truth. */
enum status plant_run(const struct synth_options *o, struct arena *arena, struct diag *d,
                      struct synth_result *out);

/* ---- for the files of the programs ---- */

static inline bool plant_has(const struct plant *p, enum plant_cause cause)
{
    return p->cause == cause;
}

/* The problem is there and not repaired. */
static inline bool plant_is(const struct plant *p, enum plant_cause cause)
{
    return p->cause == cause && p->is_sick;
}

/* Share of a peak, per mille, that stays the same over the run. */
int64_t plant_share(const struct plant *p, int slot, int64_t low, int64_t high);

/* "8,16;16": numbers, with -1 between shapes. */
const char *plant_shape(struct plant *p, const int64_t *dims, size_t n);
#define SHAPE(p, ...)                                                                              \
    plant_shape((p), (const int64_t[]){__VA_ARGS__},                                               \
                sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
enum { NEXT = -1 };

void plant_linear(struct plant *p, enum plant_slot slot, int64_t rows, int64_t in, int64_t out);
void plant_linear_grad(struct plant *p, enum plant_slot slot, int64_t rows, int64_t in,
                       int64_t out);
void plant_attention(struct plant *p);
void plant_attention_grad(struct plant *p);

/* One kernel that reads and writes so many tensors of these elements. */
struct plant_simple {
    const char *op;
    enum op_code code;
    int64_t rows, columns, tensors;
    int width; /* bytes of an element; 0: two */
    const char *types;
    const char *shape; /* NULL: rows and columns */
};
void plant_simple(struct plant *p, const struct plant_simple *s);

void plant_optimizer(struct plant *p);
void plant_all_reduce(struct plant *p, int64_t bytes);

/* A copy between host and device at the machine's rate, and a value read by the host. */
void plant_copy(struct plant *p, struct machine_copy copy);
void plant_item(struct plant *p);

/* What the host does besides: hooks of the causes that live there. */
void plant_host(struct plant *p, int step);
void plant_input(struct plant *p, int step);

#endif
