/*
 * pto_kernel - one kernel of a PTO text, bound to arguments and run; what the command line and the
 * library share.
 *
 *     struct pto_kernel k;
 *     pto_kernel_init(&k);
 *     TRY(pto_kernel_load(&k, &setup, diag));    read, verified, compiled
 *     TRY(pto_kernel_bind(&k, &setup, diag));    arguments, inputs, buffers
 *     TRY(pto_kernel_run(&k, costs, &setup, diag));
 *     ... k.outcome, k.blocks
 *     pto_kernel_free(&k);
 *
 * A kernel is used for one text after the other and keeps its memory.
 */
#ifndef STRATA_KERNELS_PTO_PTO_KERNEL_H
#define STRATA_KERNELS_PTO_PTO_KERNEL_H

#include "base/files/mapfile.h"
#include "kernels/pto/judge/outcome.h"
#include "kernels/pto/text/parse.h"
#include "kernels/pto/text/text_params.h"
#include "kernels/pto/values/gm_size.h"

/* What a scalar argument counts as that nobody gives, at every door; those of the launch
 * (__pypto_spmd_*) have its values. */
enum { PTO_ASSUMED = 1 };

struct pto_setup {
    const char *path;      /* of the text; for messages when `text` is set */
    struct str text;       /* .at NULL: read from `path` */
    const uint32_t *lines; /* by line of the text: that of `path` it comes from; NULL: the same */
    size_t n_lines;
    struct str source; /* what those are lines of */
    bool is_flagged;   /* what synchronises it is in the text, also when that is nothing */
    const struct text_param *params;
    size_t n_params;
    struct str func; /* empty: the only one */
    struct str chip; /* empty: the first of the architecture */
    int target;      /* enum pto_arch, or -1: as the text says */
    bool is_dep;
    bool has_memory;    /* execute the operations on data */
    bool watches_races; /* warn of races, where the text has flags of its own */
    int64_t blocks;     /* at least 1 */
    int64_t cores;      /* AI cores that work at a time; 0: as many as the blocks need */
    bool has_l2_hit;    /* `l2_hit` of the bytes are in the L2; else the addresses tell */
    double l2_hit;
    uint64_t max_steps; /* 0: the default */
    size_t max_records; /* a core; 0: the default */
    bool is_kept;       /* the sim holds the run, with its steps, also after it was judged */
    /* by the name of an argument, or its number */
    const struct text_param *args, *inputs, *fills;
    size_t n_args, n_inputs, n_fills;
    uint64_t seed;
};

/* What an argument is bound to, besides its struct pto_binding. */
struct pto_bound_arg {
    struct str name;
    bool is_given; /* by an argument, an input or a fill */
    struct pto_gm_size size;
};

struct pto_kernel {
    const char *path;
    struct arena arena;
    struct mapfile map;
    struct str text; /* with its placeholders replaced */
    struct pto_parser *parser;
    struct pto_module module;
    struct pto_sim sim;
    struct pto_options options; /* of the last run */
    struct pto_chip chip;
    enum pto_arch arch;
    VEC_OF(struct pto_bound_arg) args;
    VEC_OF(struct pto_binding) bindings;
    struct pto_outcome outcome; /* of the longest block */
    VEC_OF(int64_t) blocks;     /* cycles of each */
    int64_t longest;            /* which one the outcome is of */
    bool has_longest;           /* the sim holds that run */
    int64_t total;              /* cycles until the last core is done */
    double total_us;
    int64_t cores;  /* that the blocks were spread over */
    uint64_t races; /* that were warned of */
};

extern const struct record pto_kernel_record;

void pto_kernel_init(struct pto_kernel *k);
void pto_kernel_free(struct pto_kernel *k);

/* Frees what another run would need; what the last one came to stays. */
void pto_kernel_trim(struct pto_kernel *k);

/* Problems of the text are told and give ST_FORMAT. */
enum status pto_kernel_load(struct pto_kernel *k, const struct pto_setup *setup, struct diag *d);
enum status pto_kernel_bind(struct pto_kernel *k, const struct pto_setup *setup, struct diag *d);
enum status pto_kernel_run(struct pto_kernel *k, const struct pto_costs *costs,
                           const struct pto_setup *setup, struct diag *d);

/* Runs one block again, as the options say, with the kernel's own sim or another one of the same
 * module; the buffers of arguments are as they were before afterwards. */
enum status pto_kernel_again(struct pto_kernel *k, struct pto_sim *sim,
                             const struct pto_costs *costs, const struct pto_options *options,
                             struct diag *d);

/* Brings the run of the outcome back into the sim, with all its records. */
enum status pto_kernel_restore(struct pto_kernel *k, const struct pto_costs *costs, struct diag *d);

/* The argument of that name (with or without %) or number; -1, with the story in `d`. */
int64_t pto_kernel_arg(const struct pto_kernel *k, struct str name, const char *path,
                       struct diag *d);

#endif
