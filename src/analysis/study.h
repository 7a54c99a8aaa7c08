/*
 * study - one look at one capture: its options, its scratch memory, and the facts that several
 * analyses share, each computed once, on first use, and handed out as const.
 */
#ifndef STRATA_ANALYSIS_STUDY_H
#define STRATA_ANALYSIS_STUDY_H

#include "base/tables/interval.h"
#include "capture/capture.h"

struct arch;
struct op_names;
struct sql_table_rows;
struct structures;

/* Facts that several analyses share. study_X(st) gives what X_find(st) found the first time; of
 * evidence there is one entry for each bubble of study_bubbles(). */
#define STUDY_FACTS(FACT)                                                                          \
    FACT(steps)                                                                                    \
    FACT(step_units)                                                                               \
    FACT(bubbles)                                                                                  \
    FACT(evidence)                                                                                 \
    FACT(waits)                                                                                    \
    FACT(boundary)                                                                                 \
    FACT(groups)                                                                                   \
    FACT(aicpu)                                                                                    \
    FACT(judgement)                                                                                \
    FACT(accounting)                                                                               \
    FACT(kernel_families)                                                                          \
    FACT(diagnosis)                                                                                \
    FACT(op_tree)                                                                                  \
    FACT(module_tree)

#define STUDY_DECLARE(name)                                                                        \
    struct study;                                                                                  \
    struct name;                                                                                   \
    const struct name *study_##name(struct study *st);
STUDY_FACTS(STUDY_DECLARE)
#undef STUDY_DECLARE

/* Where steps may come from, and whose clock cuts them. */
enum step_choice {
    STEP_CHOICE_AUTO,    /* the first source that has marks */
    STEP_CHOICE_MARKERS, /* marks of the timeline alone, not the kernel table's ids */
    STEP_CHOICE_PASSES,  /* forward passes of the model, given as `passes` */
    STEP_CHOICE_FOUND,   /* as STEP_CHOICE_AUTO; without marks what repeats */
    STEP_CHOICE_NONE,    /* the whole device span is one step */
};

struct study_options {
    nanos min_bubble;   /* idle windows at least this long are listed */
    size_t max_bubbles; /* and at most this many of them */
    enum step_choice step_choice;
    const char *step_marker;    /* regular expression of host ranges that are steps; NULL: none */
    bool device_windows;        /* a step begins with the first kernel launched in it */
    struct interval_set passes; /* for STEP_CHOICE_PASSES */
    size_t top;                 /* rows of the tables in the text; 0: as many as fit a screen */
    /* As the documents of anomaly and arch are defined: one step where none are marked, and copies
     * of an Ascend device are idle time, unless `busy_copies`. */
    bool is_contract, busy_copies;
};

/* Slice numbers of the kernels of all lanes, by begin. */
struct kernel_order {
    const uint32_t *at;
    size_t n;
};

/* Places in a kernel_order, the last one excluded. */
struct kernel_range {
    size_t from, to;
};

struct study {
    const struct capture *cap;
    struct study_options options;
    struct arena scratch;
    /* Filled on first use; ask through the functions below. */
    struct kernel_order kernels;
    struct interval_set busy;
    const struct op_names *op_names;
#define STUDY_MEMBER(name) const struct name *name;
    STUDY_FACTS(STUDY_MEMBER)
#undef STUDY_MEMBER
    bool has_kernels, has_busy;
    struct study *judged; /* that the diagnosis is of, where the contract has other steps */
    struct study_account *accounts;     /* of each device that was asked for */
    const struct sql_table_rows *table; /* of data/tables, the one that was asked for last */
};

/* The listing rules of the anomaly report: from 100 us on, at most 200. */
struct study_options study_defaults(void);

/* The same, and without step marks what repeats is the steps. */
struct study_options study_with_passes(void);

/* The same as the contracts of anomaly and arch have it. */
struct study_options study_contract(void);

/* `cap` is sealed and outlives the study. */
void study_begin(struct study *st, const struct capture *cap, struct study_options options);
void study_end(struct study *st);

/* The accounting of one of several devices, computed once each; study_accounting() is that of the
 * first. */
const struct accounting *study_account(struct study *st, int32_t device);

/* A copy of the elements of a vec that lives in an arena. */
#define STUDY_KEEP(arena, vec) study_keep((arena), (vec).at, sizeof(*(vec).at), (vec).n)
void *study_keep(struct arena *arena, const void *at, size_t size, size_t n);

/* An attribute by its name, of the slice itself or of those like it; ATTR_NONE for name 0. */
struct attr study_attr(const struct capture *cap, size_t slice, strid key);

/* For qsort_r() of slice numbers, with the capture's slices: by begin, then by number. */
int study_by_begin(const void *a, const void *b, void *slices);

struct kernel_order study_kernels(struct study *st);
bool study_is_kernel(const struct study *st, size_t slice);

/* Place in study_kernels() of the first kernel that begins at or after `t`. */
size_t study_first_kernel(struct study *st, nanos t);

/* The kernels that begin in a step; the last step takes all that follow. */
struct kernel_range study_step_kernels(struct study *st, size_t step);

/* The union of the kernels that are wanted, of all lanes; NULL wants all of them. Merged. */
typedef bool study_wants(const struct capture *cap, size_t slice);
struct interval_set study_gather(struct study *st, study_wants *wanted);

bool study_is_comm(const struct capture *cap, size_t slice);
bool study_is_compute(const struct capture *cap, size_t slice); /* the AICPU's work included */

/* The union of all kernels of all lanes and classes: when the device was busy. Merged. */
struct interval_set study_busy(struct study *st);

#endif
