/*
 * sql_view - several captures seen as one, and the orders in which queries want to walk it.
 *
 * Slices of all captures are numbered through: those of the second capture follow those of the
 * first. The captures' own order is by lane and time. Two more orders, by name and by time, and
 * the step of each slice are built when a query first asks for them; they are lists of numbers,
 * the columns stay where they are.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_VIEW_H
#define STRATA_ANALYSIS_SQL_SQL_VIEW_H

#include "analysis/steps/step_table.h"
#include "base/diag.h"

struct sql_accounts;
struct sql_steps;

/* Which slices a table shows. */
enum sql_set { SET_ALL, SET_KERNELS, SET_HOST, SQL_SETS };

/* One capture. */
struct sql_part {
    const struct capture *cap;
    uint32_t base, lane_base; /* numbers of its first slice and lane */
    struct sql_steps *steps;  /* these two are filled when a query first asks for them */
    struct sql_accounts *accounts;
    uint32_t *name_rank; /* of each string that names a slice; NULL until names are ranked */
};

/* A step as its slices tell it: a number, or a text that is none. */
struct sql_step {
    bool is_number;
    int64_t number;
    struct str text;
};

/* Slice numbers in some order. `first` cuts a name order: name r has [first[r], first[r + 1]). */
struct sql_order {
    uint32_t *at, *first;
    nanos *dur; /* durations in that order; NULL until asked for */
    uint32_t n;
    bool is_built;
};

struct sql_view {
    struct sql_part *parts;
    size_t part_count;
    uint32_t slices, lanes; /* in all captures */
    uint32_t counts[SQL_SETS];
    VEC_OF(struct str) names; /* of slices, sorted, each once */
    struct sql_order by_name[SQL_SETS], by_time[SQL_SETS];
    VEC_OF(struct sql_step) steps; /* 0 is "none" */
    uint32_t *step_of;             /* by slice; NULL until asked for */
    bool (*is_over)(void *ctx);    /* should a long scan end? NULL: never */
    void *ctx;
    bool is_declaring; /* tables are being made known: nobody wants their rows yet */
    uint32_t skipped;  /* rows since the start, for asking now and then */
};

enum status sql_view_init(struct sql_view *v, const struct capture *const *caps, size_t n,
                          struct diag *d);
void sql_view_fini(struct sql_view *v);

static inline bool sql_set_has(enum sql_set set, enum slice_kind kind)
{
    switch (set) {
    case SET_KERNELS:
        return slice_is_kernel(kind);
    case SET_HOST:
        return kind >= SLICE_HOST_OP && kind <= SLICE_STEP;
    default:
        return true;
    }
}

/* The capture that slice number `g`, or lane number `lane`, is of. */
const struct sql_part *sql_part_of(const struct sql_view *v, uint32_t g);
const struct sql_part *sql_part_of_lane(const struct sql_view *v, uint32_t lane);

const struct sql_order *sql_by_name(struct sql_view *v, enum sql_set set); /* then by number */
const struct sql_order *sql_by_time(struct sql_view *v, enum sql_set set); /* then by number */

/* Durations in order of name: rows of one name lie far apart in memory, and summing them up would
 * wait for each. */
const nanos *sql_dur_by_name(struct sql_view *v, enum sql_set set);

/* The steps of one capture. */
const struct step_table *sql_steps_of(const struct sql_part *p);

/* Fills step_of. */
void sql_need_steps(struct sql_view *v);

/* The number of a name among `names`, which are ranked by then; false when no slice has it. */
bool sql_find_name(const struct sql_view *v, struct str name, uint32_t *rank);

#endif
