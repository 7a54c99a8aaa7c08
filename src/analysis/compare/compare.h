/*
 * compare - what changed from one program's runs to another's, and how sure that is.
 *
 * The one comparer: profiles of both sides go in, one result comes out, which `diff`, `check`, the
 * page and the library render. Kinds of units that do the same work are matched; their lengths are
 * judged by analysis/compare/noise; their time is divided among operators and kernels, which add up
 * to the whole. What does other work is not comparable, and then nothing is called slower or
 * faster. Formulas: docs/analyses/compare.md.
 */
#ifndef STRATA_ANALYSIS_COMPARE_COMPARE_H
#define STRATA_ANALYSIS_COMPARE_COMPARE_H

#include "analysis/compare/noise.h"
#include "analysis/compare/profile.h"

struct report;
struct compare_rows;

enum side { SIDE_A, SIDE_B, SIDES };

/* How alike the two are in one respect. */
enum likeness_state { LIKENESS_SAME, LIKENESS_DIFFERENT, LIKENESS_UNKNOWN };

struct likeness_part {
    const char *name;       /* "device", "operators", ... */
    struct str text[SIDES]; /* what either is; empty: a share alone */
    double share;           /* 0 to 1; NAN: not known, or no share */
    enum likeness_state state;
};

enum { LIKENESS_PARTS = 7 };

struct likeness {
    struct likeness_part parts[LIKENESS_PARTS];
    double work;        /* of a unit, what is common of it; NAN: not known */
    double score;       /* mean of the known shares, 0 to 1 */
    bool is_comparable; /* they do the same work */
    bool is_same_setup; /* same device, software and profiler options, as far as known */
};

/* Why a kernel or operator takes another share of a unit. */
enum part_change {
    CHANGE_SAME,
    CHANGE_ADDED,
    CHANGE_REMOVED,
    CHANGE_CALLS,   /* more or fewer calls */
    CHANGE_KERNELS, /* an operator runs other kernels, as often */
    CHANGE_SLOWER,
    CHANGE_FASTER,
    CHANGE_EXPOSED,  /* less of it is hidden behind other work */
    CHANGE_HIDDEN,   /* more of it is */
    CHANGE_WAITED,   /* a collective waited longer */
    CHANGE_HASTENED, /* or shorter */
    CHANGE_IDLE,
};

/* Nanoseconds of a unit. Parts of one list add up to what they are of. */
struct compare_part {
    struct str name; /* an operator, or a kernel of it; "X / Y": X in A is Y in B */
    enum part_class class;
    nanos time[SIDES], busy[SIDES];
    nanos delta;         /* B less A, of time */
    double calls[SIDES]; /* of a unit */
    enum part_change change;
    struct compare_part *kernels; /* of an operator, by size of the change */
    size_t n_kernels;
};

struct compare_kind {
    struct str name, label; /* "g0", "step" */
    size_t units[SIDES];
    double similarity;          /* kernels that both run, 0 to 1 */
    struct noise_change change; /* of a unit's length */
    struct noise_change metrics[UNIT_METRICS];
    nanos time[SIDES];          /* of a unit: the sum of its parts */
    struct compare_part *parts; /* operators and causes of idle time, by size of the change */
    size_t n_parts;
    struct wording reason; /* what moved most; empty: nothing did */
};

/* Calls of one family; where there are no units. */
struct compare_family {
    const char *name;
    double rate[SIDES]; /* calls a second */
    double each[SIDES]; /* nanoseconds a call */
};

enum compare_method { METHOD_STEPS, METHOD_UNITS, METHOD_RATES, METHOD_NONE };

struct compare_options {
    double min_ratio;      /* smaller changes are not shown: in relation to A */
    nanos min_time;        /* and in time */
    double between, limit; /* of analysis/compare/noise */
    int by;                /* 0, or 1 and an enum op_by: what to compare by besides */
};

struct comparison {
    struct str name[SIDES];
    int64_t rank;
    int64_t kernels[SIDES], steps[SIDES];
    size_t runs[SIDES];
    struct compare_options options;
    struct likeness likeness;
    enum compare_method method;
    struct compare_kind *kinds; /* by time of A */
    size_t n_kinds;
    struct str *unmatched[SIDES]; /* kinds without a partner */
    size_t n_unmatched[SIDES];
    struct compare_family families[KERNEL_FAMILIES];
    size_t n_families;
    double relative; /* of all units, those of A at B's pace; NAN: not compared */
    enum noise_verdict verdict;
    enum gate_verdict gate;
    const struct compare_kind *worst; /* that decides the gate; NULL: none */
    bool is_equal;                    /* every unit lasts equally long: the same recording */
    struct wording text;              /* the result in one sentence */
    struct wording record;            /* what to record, where the gate cannot tell; or empty */
    const struct compare_rows *by;    /* NULL: not asked for */
};

/* From 1 % and 10 us on; an allowance for noise of 1 %, a limit of 5 %. */
struct compare_options compare_defaults(void);

/* Runs of one rank of both sides, at least one each. The result lives in `arena`. */
struct comparison *compare_find(struct profile_list a, struct profile_list b,
                                struct compare_options options, struct arena *arena);

const char *compare_method_name(enum compare_method method);
const char *likeness_state_name(enum likeness_state state);
const char *part_change_name(enum part_change change);

/* What a metric did in the kind where it grew most, in one kind or in any (S("")): beyond `limit`
 * and not by chance is a failure, too few units is unknown. */
enum gate_verdict compare_metric_gate(const struct comparison *c, struct str kind,
                                      enum unit_metric metric, double limit,
                                      const struct compare_kind **which);

/* As a report; and the object of the list "comparisons" of strata.diff/2. */
void compare_describe(const struct comparison *c, struct report *r);
extern const struct record comparison_record, compare_kind_record, compare_part_record,
    compare_family_record;

/* Parts of analysis/compare, for each other. */
struct likeness likeness_of(const struct profile *a, const struct profile *b,
                            const struct profile_kind *unit_a, const struct profile_kind *unit_b,
                            double work, struct arena *arena);
double likeness_of_kernels(const struct profile_kind *a, const struct profile_kind *b);
void compare_explain(struct comparison *c, struct arena *arena);

/* "+12.0 %", and from twice as long on "13.9 times"; an interval of it. */
struct wording compare_share(struct arena *arena, double by);
struct wording compare_interval(struct arena *arena, double low, double high);

/* A part as reports name it: "idle (launch)". */
struct wording compare_part_name(struct arena *arena, const struct compare_part *p);

/* Calls of a unit: "12", "0.33". */
struct str compare_calls(struct arena *arena, double calls);

/* A kind of one side: those of all its runs. */
struct runs_kind {
    const struct profile_kind **runs;
    size_t n;
};

/* Fills the parts of a kind and its times. */
void compare_divide(struct arena *arena, struct arena *scratch, const struct runs_kind *sides,
                    struct compare_kind *out);

#endif
